//! Contact points and what they may touch: fixed for a run, so that forces are smooth in q and the matrix keeps its pattern.
//!
//! Points: nodes and particles; of rigid bodies the centres of spheres, the ends of capsules, the corners of boxes, hulls and
//! meshes, points around the rims of cylinders. Obstacles: the shapes of all bodies, free or not, as signed distances. Edges
//! against edges do not touch. How soft surfaces touch each other is in `patch.rs`.

use super::Settings;
use super::assembly::{DualFrame, Frame};
use super::law::{Coefficients, ContactLaw};
use crate::collide::{Distance, SignedDistance};
use crate::coords::{BodyId, NodeId, Pose, ShapeId};
use crate::linalg::dual::{Dual, DualVec};
use crate::linalg::{Mat3, Vec3};
use crate::model::{Model, Owner, Param, SurfaceFriction};
use parry3d_f64::shape::{Shape, TypedShape};

/// Points around each rim of a cylinder.
const RIM_POINTS: usize = 16;

/// A point of one owner that may touch a shape of another.
#[derive(Clone, Debug)]
pub struct Site {
    /// Owner of the point.
    pub a: Owner,
    /// The point in the frame of the centre of mass of its owner [m].
    pub local: Vec3,
    /// Radius about the point [m].
    pub radius: f64,
    /// Owner of the obstacle.
    pub b: Owner,
    /// Where the obstacle stands in the frame of the centre of mass of its owner.
    pub pose: Pose,
    /// The obstacle, as a place in [`Sites::obstacles`].
    pub obstacle: usize,
    /// The obstacle is a plane.
    pub flat: bool,
    /// Which pair of owners, as a place in [`Sites::pairs`].
    pub pair: usize,
    /// Direction of μ₁ where friction is elliptic: by which side it is held (false a, true b), in the frame of that side.
    pub direction: Option<(bool, Vec3)>,
    /// Shapes of point and obstacle, and which point of its shape it is.
    pub name: ((ShapeId, ShapeId), usize),
}

/// Coefficients of a pair of owners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SitePair {
    /// Owners as a whole, the smaller first.
    pub owners: (Owner, Owner),
    /// μ₁, or μ where friction is round.
    pub mu1: f64,
    /// μ₂.
    pub mu2: f64,
}

impl SitePair {
    /// Its coefficient as a parameter.
    pub fn friction(&self) -> Param {
        Param::friction(self.owners.0, self.owners.1)
    }
}

/// All contact points of a model.
#[derive(Default)]
pub struct Sites {
    /// The points.
    pub all: Vec<Site>,
    /// Pairs with their coefficients.
    pub pairs: Vec<SitePair>,
    /// Signed distances of the shapes that can be touched.
    pub obstacles: Vec<SignedDistance>,
}

/// Is the shape known by its own points alone?
fn is_round(shape: &dyn Shape) -> bool {
    matches!(shape.as_typed_shape(), TypedShape::Ball(_) | TypedShape::Capsule(_))
}

/// Points of a shape with their radii, in its frame.
fn points(shape: &dyn Shape) -> Vec<(Vec3, f64)> {
    match shape.as_typed_shape() {
        TypedShape::Ball(b) => vec![(Vec3::ZERO, b.radius)],
        TypedShape::Cuboid(c) => (0..8)
            .map(|k| {
                let s = |bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                (c.half_extents * Vec3::new(s(0), s(1), s(2)), 0.0)
            })
            .collect(),
        TypedShape::Capsule(c) => vec![(c.segment.a, c.radius), (c.segment.b, c.radius)],
        TypedShape::Cylinder(c) => (0..2 * RIM_POINTS)
            .map(|k| {
                let angle = std::f64::consts::TAU * (k / 2) as f64 / RIM_POINTS as f64;
                let y = if k % 2 == 0 { c.half_height } else { -c.half_height };
                (Vec3::new(c.radius * angle.cos(), y, c.radius * angle.sin()), 0.0)
            })
            .collect(),
        TypedShape::ConvexPolyhedron(p) => p.points().iter().map(|&p| (p, 0.0)).collect(),
        TypedShape::TriMesh(m) => m.vertices().iter().map(|&p| (p, 0.0)).collect(),
        _ => Vec::new(),
    }
}

/// One number for friction that may be elliptic.
pub(super) fn mean(f: &SurfaceFriction) -> f64 {
    match *f {
        SurfaceFriction::Isotropic(mu) => mu,
        SurfaceFriction::Elliptic { mu1, mu2, .. } => (mu1 * mu2).sqrt(),
    }
}

impl Sites {
    /// Of a model: every point against every obstacle of another owner, unless a rule of the scene or a joint forbids it.
    pub fn of(model: &Model) -> Sites {
        let mut sites = Sites::default();
        let free = |o: Owner| match o {
            Owner::Body(b) => model.bodies[b.index()].block.is_some(),
            _ => true,
        };
        let mut places = vec![None; model.shapes.len()];
        for (i, a) in model.shapes.iter().enumerate() {
            for (j, b) in model.shapes.iter().enumerate() {
                let (oa, ob) = (model.whole(a.owner), model.whole(b.owner));
                let soft_b = !matches!(b.owner, Owner::Body(_));
                let apart = oa == ob || soft_b || !(free(a.owner) || free(b.owner));
                if apart || model.are_near_links(a.owner, b.owner) {
                    continue;
                }
                let rule = model.pair_rule(oa, ob);
                if rule.is_some_and(|r| !r.collide) {
                    continue;
                }
                let (round_a, round_b) = (is_round(&*a.geometry.0), is_round(&*b.geometry.0));
                let rigid_a = matches!(a.owner, Owner::Body(_));
                // A round shape touches by its own points; two round ones by those of the first.
                if rigid_a && round_b && (!round_a || i > j) {
                    continue;
                }
                let combine = |x: f64, y: f64| model.contact.combine_friction.apply(x, y);
                let fixed = rule.and_then(|r| r.friction);
                let mut mu = (combine(mean(&a.friction), mean(&b.friction)), 0.0);
                mu.1 = mu.0;
                let mut direction = None;
                if let Some(f) = fixed {
                    mu = (f, f);
                } else if let SurfaceFriction::Elliptic { mu1, mu2, direction: d } = b.friction {
                    mu = (combine(mu1, mean(&a.friction)), combine(mu2, mean(&a.friction)));
                    direction = Some((true, b.local.rotation * d));
                } else if let SurfaceFriction::Elliptic { mu1, mu2, direction: d } = a.friction {
                    mu = (combine(mu1, mean(&b.friction)), combine(mu2, mean(&b.friction)));
                    direction = Some((false, a.local.rotation * d));
                }
                let pair = sites.pair_of(oa, ob, mu);
                let obstacle = places[j].unwrap_or_else(|| {
                    sites.obstacles.push(SignedDistance::new(b));
                    sites.obstacles.len() - 1
                });
                places[j] = Some(obstacle);
                let flat = matches!(b.geometry.as_typed_shape(), TypedShape::HalfSpace(_));
                let shapes = (ShapeId(i as u32), ShapeId(j as u32));
                for (point, (p, radius)) in points(&*a.geometry.0).into_iter().enumerate() {
                    let local = a.local.transform_point(p);
                    let (a, b, pose) = (a.owner, b.owner, b.local);
                    let name = (shapes, point);
                    sites.all.push(Site { a, local, radius, b, pose, obstacle, flat, pair, direction, name });
                }
            }
        }
        sites
    }

    /// The pair with these coefficients.
    pub(super) fn pair_of(&mut self, a: Owner, b: Owner, (mu1, mu2): (f64, f64)) -> usize {
        let owners = if a <= b { (a, b) } else { (b, a) };
        let pair = SitePair { owners, mu1, mu2 };
        self.pairs.iter().position(|p| *p == pair).unwrap_or_else(|| {
            self.pairs.push(pair);
            self.pairs.len() - 1
        })
    }

    /// Pairs of blocks that sites couple.
    pub fn pattern(&self, model: &Model) -> Vec<(u32, u32)> {
        let block = |o: Owner| match o {
            Owner::Body(BodyId(b)) => model.bodies[b as usize].block,
            Owner::Node(NodeId(n)) => Some(model.nodes[n as usize].block),
            Owner::Solid(_) => None,
        };
        let mut pairs: Vec<(u32, u32)> =
            self.all.iter().filter_map(|s| Some((block(s.a)? as u32, block(s.b)? as u32))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

impl Site {
    /// Gap [m] at plain frames.
    pub fn gap(&self, distance: &SignedDistance, a: &Frame, b: &Frame) -> f64 {
        let x = a.x + a.r * self.local;
        let r = b.r * Mat3::from_quat(self.pose.rotation);
        let y = r.transpose() * (x - b.x - b.r * self.pose.translation);
        distance.at(y).d - self.radius
    }

    /// Outward normal of the obstacle [world axes] at plain frames.
    pub fn normal(&self, distance: &SignedDistance, a: &Frame, b: &Frame) -> Vec3 {
        let x = a.x + a.r * self.local;
        let r = b.r * Mat3::from_quat(self.pose.rotation);
        r * distance.at(r.transpose() * (x - b.x - b.r * self.pose.translation)).n
    }

    /// The law of all sites.
    pub fn law(settings: &Settings, h: f64) -> ContactLaw {
        let Settings { friction, damping, onset, .. } = *settings;
        ContactLaw { friction, damping, h, onset, frictionless: false }
    }

    /// Gap, normal and place with their derivatives.
    pub fn place<const N: usize>(
        &self,
        distance: &SignedDistance,
        (fa, a): (&Frame, &DualFrame<N>),
        (fb, b): (&Frame, &DualFrame<N>),
    ) -> Place<N> {
        let x = a.x + a.turned(fa.r * self.local);
        let r = fb.r * Mat3::from_quat(self.pose.rotation);
        // In the frame of the obstacle: y = Rᵀ (x − o).
        let o = b.x + b.turned(fb.r * self.pose.translation);
        let y = b.turned_back(&(x - o)).transformed(&r.transpose());
        let Distance { d, n, h: hessian } = distance.at(y.value());
        let mut gap = Dual::constant(d - self.radius);
        for i in 0..N {
            gap.d[i] = n.dot(y.by(i));
        }
        let normal = b.turned_vec(&y.map(n, |dy| hessian * dy).transformed(&r));
        let point = x - normal.scaled(Dual::constant(self.radius));
        Place { gap, normal, point }
    }

    /// Force on the point with the moments on both owners about their centres; nothing where they are apart.
    pub fn evaluate<const N: usize>(
        &self,
        distance: &SignedDistance,
        law: &ContactLaw,
        c: &Coefficients<N>,
        (fa, a): (&Frame, &DualFrame<N>),
        (fb, b): (&Frame, &DualFrame<N>),
    ) -> Option<SiteForce<N>> {
        let Place { gap: g, normal: n, point: p } = self.place(distance, (fa, a), (fb, b));
        let (arm_a, arm_b) = (p - a.x, p - b.x);
        let u = a.v + a.w.cross(&arm_a) - b.v - b.w.cross(&arm_b);
        let direction =
            self.direction.map(|(on_b, d)| if on_b { b.turned(fb.r * d) } else { a.turned(fa.r * d) });
        let force = law.force(c, g, &n, &u, direction)?;
        Some(SiteForce { moment_a: arm_a.cross(&force), moment_b: -arm_b.cross(&force), force })
    }
}

/// Where a site touches.
pub struct Place<const N: usize> {
    /// Gap [m].
    pub gap: Dual<N>,
    /// Outward normal of the obstacle [world axes].
    pub normal: DualVec<N>,
    /// Where they touch [m]: on the surface about the point.
    pub point: DualVec<N>,
}

/// Force of a site on its point, and moments about the centres of both owners.
pub struct SiteForce<const N: usize> {
    /// On the owner of the point [N]; the other feels the opposite.
    pub force: DualVec<N>,
    /// On the owner of the point [N·m].
    pub moment_a: DualVec<N>,
    /// On the owner of the obstacle [N·m].
    pub moment_b: DualVec<N>,
}
