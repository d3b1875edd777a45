//! Friction, restitution and contact frame of a pair of surfaces.

use crate::contact::Friction;
use crate::linalg::{Mat3, Quat, Vec3, tangents};
use crate::model::{Model, ModelPair, ModelShape, Owner, SurfaceFriction};

/// A direction whose projection onto the tangent plane is shorter than this (of 1) has none.
const ALONG_NORMAL: f64 = 1e-6;

/// The rule of the bodies to which two shapes belong.
pub(super) fn rule(model: &Model, a: Owner, b: Owner) -> Option<&ModelPair> {
    if model.pairs.is_empty() { None } else { model.pair_rule(model.whole(a), model.whole(b)) }
}

/// Coefficients of a pair of shapes; the frame of each contact follows from its normal.
#[derive(Clone, Copy)]
pub(super) struct Material {
    /// Isotropic coefficient: that of the pair, and the fallback for elliptic friction.
    mu: f64,
    /// μ₁, μ₂ and the world direction of the first.
    elliptic: Option<(f64, f64, Vec3)>,
    pub restitution: f64,
}

impl Material {
    /// Of two shapes with the world rotations of their frames.
    pub fn new(model: &Model, (a, ra): (&ModelShape, Quat), (b, rb): (&ModelShape, Quat)) -> Material {
        let rule = rule(model, a.owner, b.owner);
        let combine = |x: f64, y: f64| match crate::mutant::on("other-mu") {
            true => y,
            false => model.contact.combine_friction.apply(x, y),
        };
        let restitution = rule
            .and_then(|r| r.restitution)
            .unwrap_or_else(|| model.contact.combine_restitution.apply(a.restitution, b.restitution));
        if let Some(mu) = rule.and_then(|r| r.friction) {
            return Material { mu, elliptic: None, restitution };
        }
        // The more elongated ellipse gives the direction; the other counts as round.
        let (one, two) = if elongation(&a.friction) >= elongation(&b.friction) {
            ((a.friction, ra), b.friction)
        } else {
            ((b.friction, rb), a.friction)
        };
        let other = mean(&two);
        let mu = combine(mean(&one.0), other);
        let elliptic = match one.0 {
            SurfaceFriction::Elliptic { mu1, mu2, direction } => {
                let (m1, m2) = (combine(mu1, other), combine(mu2, other));
                (m1 != m2 && m1 > 0.0 && m2 > 0.0).then(|| (m1, m2, one.1 * direction))
            }
            SurfaceFriction::Isotropic(_) => None,
        };
        Material { mu, elliptic, restitution }
    }

    /// Frame (rows n, t₁, t₂) and friction at a normal. Elliptic friction becomes round where its direction stands
    /// along the normal, because there it says nothing.
    pub fn at(&self, n: Vec3) -> (Mat3, Friction) {
        if let Some((mu1, mu2, direction)) = self.elliptic {
            let t1 = direction - n * n.dot(direction);
            let length = t1.length();
            if length > ALONG_NORMAL {
                let t1 = t1 / length;
                return (Mat3::from_cols(n, t1, n.cross(t1)).transpose(), Friction::Elliptic(mu1, mu2));
            }
        }
        let (t1, t2) = tangents(n);
        (Mat3::from_cols(n, t1, t2).transpose(), Friction::Isotropic(self.mu))
    }
}

fn mean(f: &SurfaceFriction) -> f64 {
    match *f {
        SurfaceFriction::Isotropic(mu) => mu,
        SurfaceFriction::Elliptic { mu1, mu2, .. } => (mu1 * mu2).sqrt(),
    }
}

fn elongation(f: &SurfaceFriction) -> f64 {
    match *f {
        SurfaceFriction::Isotropic(_) => 1.0,
        SurfaceFriction::Elliptic { mu1, mu2, .. } => mu1.max(mu2) / mu1.min(mu2),
    }
}
