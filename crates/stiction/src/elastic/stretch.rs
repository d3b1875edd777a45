//! dP/dF of an isotropic law from its energy in principal stretches, and its projection.

use super::principal::{Principal, outer};
use super::svd::{Svd, eigen_symmetric};
use super::{HessianKind, Lame};
use crate::linalg::{Mat3, Vec3};

/// The fourth-order tensor dP/dF in its eigen-structure.
///
/// In the frame F̂ = Uᵀ F V it acts on the diagonal by a symmetric 3×3 matrix and on every pair of off-diagonal
/// entries by a flip and a twist modulus (see [`Principal`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tangent {
    /// World axes.
    pub u: Mat3,
    /// Rest axes.
    pub v: Mat3,
    /// On the stretches [Pa].
    pub stretch: Mat3,
    /// On shears; entry k for the axes (k+1, k+2) mod 3 [Pa].
    pub flip: Vec3,
    /// On turns; same order [Pa].
    pub twist: Vec3,
}

impl Tangent {
    /// Of the named kind at the principal frame of `svd`.
    pub fn new(svd: &Svd, psi: &Principal, kind: HessianKind) -> Tangent {
        let (stretch, flip, twist) = match kind {
            HessianKind::Exact => (psi.hessian, psi.flip, psi.twist),
            HessianKind::GaussNewton => (positive(&psi.hessian), psi.flip.max(Vec3::ZERO), Vec3::ZERO),
            HessianKind::Projected => {
                (positive(&psi.hessian), psi.flip.max(Vec3::ZERO), psi.twist.max(Vec3::ZERO))
            }
        };
        Tangent { u: svd.u, v: svd.v, stretch, flip, twist }
    }

    /// Of linear elasticity turned by `r`.
    pub fn linear(Lame { lambda, mu }: Lame, r: Mat3) -> Tangent {
        Tangent {
            u: r,
            v: Mat3::IDENTITY,
            stretch: Mat3::from_diagonal(Vec3::splat(2.0 * mu)) + outer(Vec3::splat(lambda), Vec3::ONE),
            flip: Vec3::splat(2.0 * mu),
            twist: Vec3::ZERO,
        }
    }

    /// dP for a change dF.
    pub fn apply(&self, df: &Mat3) -> Mat3 {
        let hat = self.u.transpose() * *df * self.v;
        let mut dp = Mat3::from_diagonal(self.stretch * Vec3::new(hat.x_axis.x, hat.y_axis.y, hat.z_axis.z));
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let (a, b) = (hat.col(j)[i], hat.col(i)[j]);
            let (shear, turn) = (0.5 * self.flip[k] * (a + b), 0.5 * self.twist[k] * (a - b));
            dp.col_mut(j)[i] = shear + turn;
            dp.col_mut(i)[j] = shear - turn;
        }
        self.u * dp * self.v.transpose()
    }

    /// The 3×3 matrix k with k·y = (dP : y gᵦᵀ) gₐ: the stiffness between two vertices with shape gradients `ga`
    /// and `gb`, per volume.
    pub fn block(&self, ga: Vec3, gb: Vec3) -> Mat3 {
        let vt = self.v.transpose();
        self.u * self.principal_block(vt * ga, vt * gb) * self.u.transpose()
    }

    /// The same with gradients and result in principal axes.
    pub(super) fn principal_block(&self, a: Vec3, b: Vec3) -> Mat3 {
        let m = 0.5 * (self.flip + self.twist);
        let n = 0.5 * (self.flip - self.twist);
        let ab = a * b;
        let s = &self.stretch;
        let diagonal = Vec3::new(
            s.x_axis.x * ab.x + m.z * ab.y + m.y * ab.z,
            s.y_axis.y * ab.y + m.x * ab.z + m.z * ab.x,
            s.z_axis.z * ab.z + m.y * ab.x + m.x * ab.y,
        );
        let (xy, yz, zx) = (s.y_axis.x, s.z_axis.y, s.x_axis.z);
        Mat3::from_cols(
            Vec3::new(diagonal.x, xy * a.y * b.x + n.z * a.x * b.y, zx * a.z * b.x + n.y * a.x * b.z),
            Vec3::new(xy * a.x * b.y + n.z * a.y * b.x, diagonal.y, yz * a.z * b.y + n.x * a.y * b.z),
            Vec3::new(zx * a.x * b.z + n.y * a.z * b.x, yz * a.y * b.z + n.x * a.z * b.y, diagonal.z),
        )
    }
}

/// The symmetric matrix nearest to `a` without negative eigenvalues.
fn positive(a: &Mat3) -> Mat3 {
    // Leading minors, with a margin for rounding: most matrices need nothing.
    let size = a.x_axis.x.max(a.y_axis.y).max(a.z_axis.z);
    let minor = a.x_axis.x * a.y_axis.y - a.x_axis.y * a.x_axis.y;
    let margin = 1e-12 * size;
    let definite = a.x_axis.x > margin && minor > margin * size && a.determinant() > margin * size * size;
    if definite || !a.is_finite() {
        return *a;
    }
    let (w, q) = eigen_symmetric(a);
    let clamped = q * Mat3::from_diagonal(w.max(Vec3::ZERO)) * q.transpose();
    (clamped + clamped.transpose()) * 0.5
}

#[cfg(test)]
mod tests {
    use super::super::svd::svd;
    use super::super::{Law, Material};
    use super::*;

    const LAWS: [Law; 5] = [
        Law::Linear,
        Law::Corotated,
        Law::StVenantKirchhoff,
        Law::NeoHookean { threshold: 0.6 },
        Law::StableNeoHookean,
    ];

    fn shapes() -> Vec<Mat3> {
        let turn = Mat3::from_rotation_y(0.8) * Mat3::from_rotation_z(-0.5);
        let other = Mat3::from_rotation_x(1.1);
        [
            (1.0, 1.0, 1.0),
            (1.3, 1.3, 0.7),
            (1.5, 0.9, 0.6),
            (1.2, 0.8, -0.3),
            (0.9, 0.9, 1e-7),
            (0.4, 0.3, 0.2),
        ]
        .iter()
        .map(|&(a, b, c)| turn * Mat3::from_diagonal(Vec3::new(a, b, c)) * other)
        .collect()
    }

    #[test]
    fn dp_df_is_the_derivative_of_p_also_inverted_and_where_stretches_coincide() {
        let lame = Material { law: Law::Linear, young: 1.0, poisson: 0.3, density: 1.0 }.lame();
        for law in LAWS {
            for f in shapes() {
                let (_, _, tangent) = law.tangent(lame, 0.1, &f, HessianKind::Exact);
                for k in 0..9 {
                    let mut unit = [0.0; 9];
                    unit[k] = 1.0;
                    let df = Mat3::from_cols_array(&unit);
                    let h = 1e-5;
                    let p = |t: f64| law.stress(lame, 0.1, &(f + df * t)).1;
                    let slope = (p(h) - p(-h)) * (0.5 / h);
                    let error = (tangent.apply(&df) - slope)
                        .to_cols_array()
                        .iter()
                        .fold(0.0, |m: f64, x| m.max(x.abs()));
                    assert!(error < 1e-8, "{law:?} {:?}: {error:e}", svd(&f).s);
                    let (ga, gb) = (Vec3::new(0.3, -0.5, 1.0), Vec3::new(0.7, 0.2, -0.4));
                    let y = df.x_axis;
                    let direct = tangent.apply(&outer(y, gb)) * ga;
                    assert!((tangent.block(ga, gb) * y - direct).length() < 1e-14 * 10.0);
                }
            }
        }
    }

    #[test]
    fn projection_leaves_nothing_negative_and_changes_nothing_positive() {
        let lame = Material { law: Law::Linear, young: 1.0, poisson: 0.45, density: 1.0 }.lame();
        for law in LAWS {
            for f in shapes() {
                let (_, _, exact) = law.tangent(lame, 0.0, &f, HessianKind::Exact);
                for kind in [HessianKind::Projected, HessianKind::GaussNewton] {
                    let (_, _, t) = law.tangent(lame, 0.0, &f, kind);
                    let (w, _) = eigen_symmetric(&t.stretch);
                    assert!(
                        w.min_element() > -1e-13
                            && t.flip.min_element() >= 0.0
                            && t.twist.min_element() >= 0.0
                    );
                    let (w, _) = eigen_symmetric(&exact.stretch);
                    if w.min_element() > 1e-9 {
                        assert!(t.stretch.abs_diff_eq(exact.stretch, 1e-13));
                    }
                }
            }
        }
    }
}
