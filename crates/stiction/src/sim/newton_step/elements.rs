//! Elements of a step: strains of tetrahedra with their activation, fibres, and what both push on particles.

use super::ElementRows;
use super::bilateral::activate;
use super::motion::{Motion, add};
use crate::coords::Anchor;
use crate::elastic::{CorotatedStretch, PrincipalStretch, Rows};
use crate::linalg::Vec3;
use crate::scene::Model;
use crate::solvers::newton::schur::Schur;

impl Motion {
    /// Strains of tet `k`, its vertices' places, and a call with them.
    pub(super) fn with_tet<R>(
        &self,
        model: &Model,
        k: usize,
        three: impl FnOnce(&PrincipalStretch, [Vec3; 4]) -> R,
        six: impl FnOnce(&CorotatedStretch, [Vec3; 4]) -> R,
    ) -> R {
        let (solid, t) = self.tets[k];
        let solid = &model.solids[solid as usize];
        let vertices = solid.tets[t as usize];
        let x = vertices.map(|v| solid.vertices[v as usize].position(model, &self.there));
        let (tet, material) = (solid.elements.element(t as usize).tet, solid.elements.material(t as usize));
        match self.settings.elements {
            ElementRows::Principal => {
                let mut rows = PrincipalStretch::new(tet, material, &x);
                activate(&mut rows, tet.volume, self.pressure[k]);
                three(&rows, x)
            }
            ElementRows::Corotated => {
                let mut rows = CorotatedStretch::new(tet, material, &x);
                activate(&mut rows, tet.volume, self.pressure[k]);
                six(&rows, x)
            }
        }
    }

    /// Green's strain along fibre `i`, its gradients by the vertices of its tet, and its stress and modulus times volume.
    pub(super) fn fibre(&self, model: &Model, i: usize) -> ([Vec3; 4], f64, f64) {
        let (k, f) = self.fibres[i];
        let (solid, t) = self.tets[k as usize];
        let solid = &model.solids[solid as usize];
        let element = solid.elements.element(t as usize);
        let (tet, fibre) = (element.tet, &element.fibres[f as usize]);
        let x = solid.tets[t as usize].map(|v| solid.vertices[v as usize].position(model, &self.there));
        let fa = tet.deformation(&x) * fibre.direction;
        let strain = 0.5 * (fa.length_squared() - 1.0);
        let by = tet.gradients.map(|g| fa * fibre.direction.dot(g));
        let modulus = tet.volume * fibre.stiffness;
        (by, modulus * strain + tet.volume * fibre.tension, modulus)
    }

    /// Anchors of the tet of fibre `i`.
    pub(super) fn fibre_anchors<'m>(&self, model: &'m Model, i: usize) -> [&'m Anchor; 4] {
        let (solid, t) = self.tets[self.fibres[i].0 as usize];
        let solid = &model.solids[solid as usize];
        solid.tets[t as usize].map(|v| &solid.vertices[v as usize])
    }

    /// Jᵀλ of springs and elements with the rows of `s`; contacts with fixed normals do not change on particles.
    pub(super) fn particle_forces(&self, s: &Schur<f64>, lambda: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.is_particle.len(), 0.0);
        for i in 3 * self.held.len()..lambda.len() {
            if lambda[i] != 0.0 {
                s.j.add_row(i, lambda[i], out);
            }
        }
    }

    /// Jᵀλ of springs and elements at the configuration of `u`, on particles.
    pub(super) fn element_forces(&mut self, model: &Model, u: &[f64], lambda: &[f64], out: &mut Vec<f64>) {
        self.place(model, u);
        out.clear();
        out.resize(u.len(), 0.0);
        let width = self.strain_rows_per_tet();
        let first = 3 * self.held.len() + self.bilateral;
        let at = |k: usize| first + width * k;
        for k in 0..self.tets.len() {
            let (solid, t) = self.tets[k];
            let solid = &model.solids[solid as usize];
            let vertices = solid.tets[t as usize];
            let mut push = |v: usize, f: Vec3| {
                if let Anchor::Node(n) = solid.vertices[vertices[v] as usize] {
                    add(out, model.nodes[n.index()].dof, f);
                }
            };
            let l = &lambda[at(k)..at(k) + width];
            let sum3 = |rows: &PrincipalStretch| transposed(rows, l);
            let sum6 = |rows: &CorotatedStretch| transposed(rows, l);
            let forces = self.with_tet(model, k, |r, _| sum3(r), |r, _| sum6(r));
            for v in 0..4 {
                push(v, forces[v]);
            }
        }
        for i in 0..self.fibres.len() {
            let l = lambda[self.first_fibre() + i];
            let (by, ..) = self.fibre(model, i);
            for (anchor, by) in self.fibre_anchors(model, i).into_iter().zip(by) {
                if let Anchor::Node(n) = *anchor {
                    add(out, model.nodes[n.index()].dof, l * by);
                }
            }
        }
        let springs = first - model.springs.len();
        for (i, s) in model.springs.iter().enumerate() {
            let n = s.span(model, &self.there).try_normalize().unwrap_or(Vec3::ZERO);
            for (end, sign) in s.ends.iter().zip([-1.0, 1.0]) {
                for (anchor, w) in end {
                    if let Anchor::Node(node) = *anchor {
                        add(out, model.nodes[node.index()].dof, sign * *w * lambda[springs + i] * n);
                    }
                }
            }
        }
    }
}

/// Bᵀλ by vertex.
fn transposed<const M: usize>(rows: &Rows<M>, lambda: &[f64]) -> [Vec3; 4] {
    std::array::from_fn(|a| (0..M).map(|r| rows.b[r][a] * lambda[r]).sum())
}

/// Residual and compliance of the strain rows of an element.
pub(super) fn put_strains<const M: usize>(
    s: &mut Schur<f64>,
    at: usize,
    rows: &Rows<M>,
    lambda: &[f64],
    h: f64,
) {
    let force: [f64; M] = std::array::from_fn(|k| lambda[k] / h);
    for (k, r) in rows.residual(&force).into_iter().enumerate() {
        s.h[at + k] = r / h;
        s.value[at + k] = r / h;
    }
    let (e, n) = (rows.e.map(|row| row.map(|e| e / (h * h))), rows.n.map(|row| row.map(|n| n * h * h)));
    s.compliance.push_block(at, &e, &n);
}
