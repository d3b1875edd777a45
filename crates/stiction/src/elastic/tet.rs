//! The linear tetrahedron: constant F, energy V Ψ(F), forces and matrices between its four vertices.

use super::material::{Lame, Law, Material, Parameter};
use super::principal::outer;
use super::{ElasticError, Fibre, HessianKind};
use crate::linalg::{Mat3, Vec3};

/// A tet whose volume is below this part of its longest edge cubed has no usable shape gradients.
const FLAT: f64 = 1e-12;

/// Upper pairs (a ≤ b) of the four vertices, in the order of all lists of ten blocks.
pub const PAIRS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)];

/// Rest shape of a linear tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tet {
    /// Gradients ∇Nₐ of the four shape functions at rest [1/m]; they sum to zero.
    pub gradients: [Vec3; 4],
    /// Volume at rest [m³].
    pub volume: f64,
}

impl Tet {
    /// From the rest positions, whose volume (x₁−x₀)×(x₂−x₀)·(x₃−x₀)/6 must be positive. `tet` names it in errors.
    pub fn new(tet: usize, rest: [Vec3; 4]) -> Result<Tet, ElasticError> {
        let [x0, x1, x2, x3] = rest;
        let (a, b, c) = (x1 - x0, x2 - x0, x3 - x0);
        let six = a.cross(b).dot(c);
        let volume = six / 6.0;
        let longest = [a, b, c, x2 - x1, x3 - x1, x3 - x2].iter().fold(0.0, |m: f64, e| m.max(e.length()));
        if volume.is_nan() || volume.abs() <= FLAT * longest * longest * longest {
            return Err(ElasticError::Flat { tet, volume });
        }
        if volume < 0.0 {
            return Err(ElasticError::Inverted { tet, volume });
        }
        let (g1, g2, g3) = (b.cross(c) / six, c.cross(a) / six, a.cross(b) / six);
        Ok(Tet { gradients: [-(g1 + g2 + g3), g1, g2, g3], volume })
    }

    /// F = Σ xₐ ∇Nₐᵀ, from differences, so that translation costs no digits.
    pub fn deformation(&self, x: &[Vec3; 4]) -> Mat3 {
        let g = &self.gradients;
        let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        Mat3::from_cols(
            a * g[1].x + b * g[2].x + c * g[3].x,
            a * g[1].y + b * g[2].y + c * g[3].y,
            a * g[1].z + b * g[2].z + c * g[3].z,
        )
    }

    /// Forces −V P ∇Nₐ of a first Piola stress; they sum to zero.
    pub fn forces(&self, p: &Mat3) -> [Vec3; 4] {
        let p = *p * -self.volume;
        let (f1, f2, f3) = (p * self.gradients[1], p * self.gradients[2], p * self.gradients[3]);
        [-(f1 + f2 + f3), f1, f2, f3]
    }

    /// Mass lumped to each vertex: ρV/4 [kg].
    pub fn lumped_mass(&self, density: f64) -> f64 {
        0.25 * density * self.volume
    }

    /// Entry (a, b) of the consistent mass matrix, times the identity: ρV/10 on the diagonal, ρV/20 off it [kg].
    pub fn consistent_mass(&self, density: f64, a: usize, b: usize) -> f64 {
        let (same, other) = if crate::mutant::on("mass-split") { (0.13, 0.04) } else { (0.1, 0.05) };
        density * self.volume * if a == b { same } else { other }
    }

    /// Matrix Dₐᵦ of the viscous force −D v of Green's strain rate Ė = (FᵀḞ + ḞᵀF)/2, P = η F Ė (ADD (19) in the
    /// closed form of correction A4): D = Vη/2 ((gₐ·gᵦ) F Fᵀ + (F gᵦ)(F gₐ)ᵀ).
    ///
    /// `viscosity` η in Pa·s. Symmetric, positive semidefinite, blind to rigid velocities.
    pub fn viscous_block(&self, f: &Mat3, viscosity: f64, a: usize, b: usize) -> Mat3 {
        let (ga, gb) = (self.gradients[a], self.gradients[b]);
        (*f * f.transpose() * ga.dot(gb) + outer(*f * gb, *f * ga)) * (0.5 * self.volume * viscosity)
    }
}

/// A tet with all that acts inside it.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// Rest shape.
    pub tet: &'a Tet,
    /// Isotropic law.
    pub law: Law,
    /// Its constants.
    pub lame: Lame,
    /// Activation that swells the element, like air in its pores [Pa].
    pub pressure: f64,
    /// Fibres through it (unit directions).
    pub fibres: &'a [Fibre],
}

impl<'a> Element<'a> {
    /// A tet of one material and nothing else.
    pub fn plain(tet: &'a Tet, material: &Material) -> Element<'a> {
        Element { tet, law: material.law, lame: material.lame(), pressure: 0.0, fibres: &[] }
    }

    /// Energy density [J/m³] and first Piola stress [Pa] at F.
    pub fn stress(&self, f: &Mat3) -> (f64, Mat3) {
        self.with_fibres(f, self.law.stress(self.lame, self.pressure, f))
    }

    fn with_fibres(&self, f: &Mat3, (mut energy, mut p): (f64, Mat3)) -> (f64, Mat3) {
        for fibre in self.fibres {
            let (e, q) = fibre.stress(f);
            energy += e;
            p += q;
        }
        (energy, p)
    }

    /// Elastic energy with the work of activation [J].
    pub fn energy(&self, x: &[Vec3; 4]) -> f64 {
        self.tet.volume * self.stress(&self.tet.deformation(x)).0
    }

    /// Forces on the four vertices [N].
    pub fn forces(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        self.tet.forces(&self.stress(&self.tet.deformation(x)).1)
    }

    /// Forces [N] and the upper blocks of the stiffness K = −∂f/∂x [N/m] in the order of [`PAIRS`].
    pub fn stiffness(&self, x: &[Vec3; 4], kind: HessianKind) -> ([Vec3; 4], [Mat3; 10]) {
        let (_, forces, blocks) = self.evaluate(x, kind);
        (forces, blocks)
    }

    /// Energy, forces and stiffness in one go.
    pub(super) fn evaluate(&self, x: &[Vec3; 4], kind: HessianKind) -> (f64, [Vec3; 4], [Mat3; 10]) {
        let f = self.tet.deformation(x);
        let g = &self.tet.gradients;
        let (energy, p, tangent) = self.law.tangent(self.lame, self.pressure, &f, kind);
        let (energy, p) = self.with_fibres(&f, (energy, p));
        let (ut, vt) = (tangent.u.transpose(), tangent.v.transpose());
        let hat = g.map(|g| vt * g);
        let u = tangent.u * self.tet.volume;
        let block = |a: usize, b: usize| u * tangent.principal_block(hat[a], hat[b]) * ut;
        let (k11, k12, k13) = (block(1, 1), block(1, 2), block(1, 3));
        let (k22, k23, k33) = (block(2, 2), block(2, 3), block(3, 3));
        // Gradients sum to zero, and so do the blocks of a column: four products saved.
        let k01 = -(k11 + k12.transpose() + k13.transpose());
        let k02 = -(k12 + k22 + k23.transpose());
        let k03 = -(k13 + k23 + k33);
        let k00 = -(k01 + k02 + k03);
        let mut blocks = [k00, k01, k02, k03, k11, k12, k13, k22, k23, k33];
        for fibre in self.fibres {
            let k = fibre.modulus(&f, kind) * self.tet.volume;
            let along = g.map(|g| g.dot(fibre.direction));
            for (block, (a, b)) in blocks.iter_mut().zip(PAIRS) {
                *block += k * (along[a] * along[b]);
            }
        }
        (self.tet.volume * energy, self.tet.forces(&p), blocks)
    }

    /// ∂f/∂parameter of the isotropic part, at fixed positions.
    pub fn force_derivative(&self, x: &[Vec3; 4], material: &Material, by: Parameter) -> [Vec3; 4] {
        let f = self.tet.deformation(x);
        self.tet.forces(&self.law.stress(material.lame_derivative(by), 0.0, &f).1)
    }
}
