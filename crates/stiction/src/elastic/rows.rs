//! Compliance rows: the same energy for methods that carry stress as a multiplier (NSN 75–84).
//!
//! With strains s(x), B = ∂s/∂x, σ = V Ψ_s and N = V Ψ_ss the force is f = −Bᵀσ; with λ = −σ and E = N⁻¹ Newton's rows
//! read B Δx + E Δλ = −E (σ + λ) (80).

use super::material::{Law, Material};
use super::principal::Principal;
use super::svd::{Svd, eigen_symmetric, svds};
use super::tet::Tet;
use crate::linalg::{Mat3, Vec3};

/// Smallest eigenvalue of N per volume, as part of the shear modulus at rest. Below it the compliance E = N⁻¹ would
/// lose its meaning (and its sign); NSN 9.2.2 asks for the same projection.
const STIFFNESS_FLOOR: f64 = 1e-3;

/// Strain rows of one tet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows<const M: usize> {
    /// Strains s.
    pub strain: [f64; M],
    /// B = ∂s/∂x: for each row its four vertex gradients [1/m].
    pub b: [[Vec3; 4]; M],
    /// σ = V Ψ_s [J].
    pub stress: [f64; M],
    /// N, symmetric positive definite [J].
    pub n: [[f64; M]; M],
    /// E = N⁻¹ [1/J].
    pub e: [[f64; M]; M],
}

/// Six rows: three stretches sᵢ and three shears γₖ = uᵢᵀF vⱼ + uⱼᵀF vᵢ in the principal frame, which is held while
/// differentiating; (i, j) = (k+1, k+2) mod 3. Shears are engineering shears, so that N is V μ for them at rest
/// (correction N11) and simple shear γ has the energy V μ γ²/2. Bᵀ N B is the Gauss–Newton stiffness.
pub type CorotatedStretch = Rows<6>;

/// Three rows as NSN 9.2.2 prints them: the principal stretches alone. Bᵀ N B has no stiffness against shear in the
/// principal frame; for comparison with the paper.
pub type PrincipalStretch = Rows<3>;

impl CorotatedStretch {
    /// Rows of a tet at positions `x`.
    pub fn new(tet: &Tet, material: &Material, x: &[Vec3; 4]) -> CorotatedStretch {
        let [frame] = frames([(tet, material, x)]);
        CorotatedStretch::in_frame(tet, material, &frame)
    }

    /// The same where the frame is known.
    pub(crate) fn in_frame(tet: &Tet, material: &Material, frame: &Svd) -> CorotatedStretch {
        let mut rows = Rows::ZERO;
        let along = along(tet, frame);
        let psi = rows.put_stretches(tet, material, frame, &along);
        for i in 0..3 {
            // The frame diagonalises F: shears vanish where they are measured, and with them their stress.
            let (p, q) = ((i + 1) % 3, (i + 2) % 3);
            let (up, uq) = (frame.u.col(p), frame.u.col(q));
            rows.b[3 + i] = along.map(|v| up * v[q] + uq * v[p]);
            let flip = psi.flip[i].max(STIFFNESS_FLOOR * material.lame().mu);
            rows.n[3 + i][3 + i] = 0.5 * tet.volume * flip;
            rows.e[3 + i][3 + i] = 2.0 / (tet.volume * flip);
        }
        rows
    }
}

impl PrincipalStretch {
    /// Rows of a tet at positions `x`.
    pub fn new(tet: &Tet, material: &Material, x: &[Vec3; 4]) -> PrincipalStretch {
        let [frame] = frames([(tet, material, x)]);
        PrincipalStretch::in_frame(tet, material, &frame)
    }

    /// The same where the frame is known.
    pub(crate) fn in_frame(tet: &Tet, material: &Material, frame: &Svd) -> PrincipalStretch {
        let mut rows = Rows::ZERO;
        rows.put_stretches(tet, material, frame, &along(tet, frame));
        rows
    }
}

/// Principal frames of tets at their positions, side by side.
pub(crate) fn frames<const L: usize>(tets: [(&Tet, &Material, &[Vec3; 4]); L]) -> [Svd; L] {
    let f = tets.map(|(tet, _, x)| tet.deformation(x));
    let mut frames = svds(&f);
    for (l, (_, material, _)) in tets.into_iter().enumerate() {
        if material.law == Law::Linear {
            // Small strain knows no rotation: the frame is that of the symmetric part.
            frames[l] = small_strain_frame(&f[l]);
        }
    }
    frames
}

/// Gradients of the shape functions along the principal axes at rest: Vᵀ∇Nₐ.
fn along(tet: &Tet, frame: &Svd) -> [[f64; 3]; 4] {
    tet.gradients.map(|g| [0, 1, 2].map(|i| frame.v.col(i).dot(g)))
}

/// A symmetric matrix with its eigenvalues raised to `least`, and the inverse of that.
fn definite(h: &Mat3, least: f64) -> (Mat3, Mat3) {
    // Where elimination shows that H − least is positive definite, H stays as it is.
    let (a, b, c) = (h.x_axis.x - least, h.x_axis.y, h.x_axis.z);
    let (d, f) = (h.y_axis.y - least - b * b / a, h.y_axis.z - b * c / a);
    if a > 0.0 && d > 0.0 && h.z_axis.z - least - c * c / a - f * f / d > 0.0 {
        return (*h, h.inverse());
    }
    let (w, q) = eigen_symmetric(h);
    let w = w.max(Vec3::splat(least));
    (q * Mat3::from_diagonal(w) * q.transpose(), q * Mat3::from_diagonal(w.recip()) * q.transpose())
}

/// (F + Fᵀ)/2 = Q diag(s) Qᵀ written as an SVD with U = V = Q.
fn small_strain_frame(f: &Mat3) -> Svd {
    let (s, q) = eigen_symmetric(&((*f + f.transpose()) * 0.5));
    Svd { u: q, s, v: q }
}

impl<const M: usize> Rows<M> {
    const ZERO: Rows<M> = Rows {
        strain: [0.0; M],
        b: [[Vec3::ZERO; 4]; M],
        stress: [0.0; M],
        n: [[0.0; M]; M],
        e: [[0.0; M]; M],
    };

    /// Writes the first three rows, the stretches, and returns the energy that they come from.
    fn put_stretches(
        &mut self,
        tet: &Tet,
        material: &Material,
        frame: &Svd,
        along: &[[f64; 3]; 4],
    ) -> Principal {
        let lame = material.lame();
        let psi = material.law.principal(lame, 0.0, frame.s);
        let (n, e) = definite(&psi.hessian, STIFFNESS_FLOOR * lame.mu);
        let (n, e) = (n * tet.volume, e * (1.0 / tet.volume));
        for i in 0..3 {
            self.strain[i] = frame.s[i];
            self.b[i] = along.map(|v| frame.u.col(i) * v[i]);
            self.stress[i] = psi.gradient[i] * tet.volume;
            self.n[i][..3].copy_from_slice(&n.row(i).to_array());
            self.e[i][..3].copy_from_slice(&e.row(i).to_array());
        }
        psi
    }

    /// f = −Bᵀσ [N].
    pub fn forces(&self) -> [Vec3; 4] {
        std::array::from_fn(|a| -(0..M).map(|r| self.b[r][a] * self.stress[r]).sum::<Vec3>())
    }

    /// E (σ + λ), the residual of (80); zero when the multipliers carry the stress, λ = −σ.
    pub fn residual(&self, lambda: &[f64; M]) -> [f64; M] {
        std::array::from_fn(|r| (0..M).map(|c| self.e[r][c] * (self.stress[c] + lambda[c])).sum())
    }

    /// Block (a, b) of Bᵀ N B [N/m].
    pub fn stiffness_block(&self, a: usize, b: usize) -> Mat3 {
        let mut k = Mat3::ZERO;
        for r in 0..M {
            let nb: Vec3 = (0..M).map(|c| self.b[c][b] * self.n[r][c]).sum();
            k += super::principal::outer(self.b[r][a], nb);
        }
        k
    }
}
