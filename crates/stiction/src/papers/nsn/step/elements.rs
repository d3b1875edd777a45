//! Elements of a step: strains of tetrahedra with their activation, fibres, and what both push on particles.

use super::ElementRows;
use super::bilateral::activate;
use super::motion::{Motion, add};
use super::row_builder::RowBuilder;
use crate::coords::Anchor;
use crate::elastic::svd::Svd;
use crate::elastic::{CorotatedStretch, Material, PrincipalStretch, Rows, Tet, frames};
use crate::linalg::{SparseRows, Vec3};
use crate::model::Model;
use crate::papers::nsn::solve::schur::Schur;

/// Tets whose frames are found side by side.
pub(super) const SIDE_BY_SIDE: usize = 4;

impl Motion {
    /// Principal frames of the tets from `first` on, side by side; after the last tet its own again.
    pub(super) fn frames(&self, model: &Model, first: usize) -> [Svd; SIDE_BY_SIDE] {
        let tets: [_; SIDE_BY_SIDE] = std::array::from_fn(|l| (first + l).min(self.tets.len() - 1));
        let x = tets.map(|k| self.vertices(model, k));
        frames(std::array::from_fn(|l| {
            let (tet, material) = self.tet(model, tets[l]);
            (tet, material, &x[l])
        }))
    }

    /// Positions of the vertices of tet `k` [m].
    fn vertices(&self, model: &Model, k: usize) -> [Vec3; 4] {
        match &self.corners[k] {
            Some(corners) => corners.map(|(q, _)| Vec3::from_slice(&self.there.state.q[q..])),
            None => self.anchors(model, k).map(|a| self.there.kinematics(model).position(a)),
        }
    }

    /// Anchors of the vertices of tet `k`.
    pub(super) fn anchors<'m>(&self, model: &'m Model, k: usize) -> [&'m Anchor; 4] {
        let (solid, t) = self.tets[k];
        let solid = &model.solids[solid as usize];
        solid.tets[t as usize].map(|v| &solid.vertices[v as usize])
    }

    /// Adds rows with gradients by the vertices of tet `k`, (85) and 9.2.2 for strains.
    pub(super) fn push_rows_of_tet(
        &self,
        model: &Model,
        k: usize,
        by: &[[Vec3; 4]],
        row: &mut RowBuilder,
        j: &mut SparseRows<f64>,
    ) {
        if let Some(corners) = &self.corners[k] {
            for by in by {
                for ((_, dof), by) in corners.iter().zip(by) {
                    j.push3(*dof, by.to_array());
                }
                j.end_row();
            }
            return;
        }
        let (anchors, x) = (self.anchors(model, k), self.vertices(model, k));
        for by in by {
            for a in 0..4 {
                row.add(self.there.kinematics(model), anchors[a], x[a], by[a]);
            }
            row.end(j);
        }
    }

    /// Rest shape and material of tet `k`.
    fn tet<'m>(&self, model: &'m Model, k: usize) -> (&'m Tet, &'m Material) {
        let (solid, t) = self.tets[k];
        let elements = &model.solids[solid as usize].elements;
        (elements.element(t as usize).tet, elements.material(t as usize))
    }

    /// Three strains of tet `k`.
    pub(super) fn three(&self, model: &Model, k: usize, frame: &Svd) -> PrincipalStretch {
        let (tet, material) = self.tet(model, k);
        let mut rows = PrincipalStretch::in_frame(tet, material, frame);
        activate(&mut rows, tet.volume, self.pressure[k]);
        rows
    }

    /// Six strains of tet `k`.
    pub(super) fn six(&self, model: &Model, k: usize, frame: &Svd) -> CorotatedStretch {
        let (tet, material) = self.tet(model, k);
        let mut rows = CorotatedStretch::in_frame(tet, material, frame);
        activate(&mut rows, tet.volume, self.pressure[k]);
        rows
    }

    /// Rows of tet `k` from `at` on: J, E (σ + λ)/h, and E/h² in C (80), (84).
    pub(super) fn put_strains<const M: usize>(
        &self,
        model: &Model,
        (k, at): (usize, usize),
        rows: &Rows<M>,
        lambda: &[f64],
        row: &mut RowBuilder,
        s: &mut Schur<f64>,
    ) {
        self.push_rows_of_tet(model, k, &rows.b, row, &mut s.j);
        let h = self.h;
        let force: [f64; M] = std::array::from_fn(|k| lambda[at + k] / h);
        for (k, r) in rows.residual(&force).into_iter().enumerate() {
            s.h[at + k] = r / h;
            s.value[at + k] = r / h;
        }
        let (e, n) = (rows.e.map(|row| row.map(|e| e / (h * h))), rows.n.map(|row| row.map(|n| n * h * h)));
        s.compliance.push_block(at, &e, &n);
    }

    /// Green's strain along fibre `i`, its gradients by the vertices of its tet, and its stress and modulus times volume.
    pub(super) fn fibre(&self, model: &Model, i: usize) -> ([Vec3; 4], f64, f64) {
        let (k, f) = self.fibres[i];
        let (solid, t) = self.tets[k as usize];
        let solid = &model.solids[solid as usize];
        let element = solid.elements.element(t as usize);
        let (tet, fibre) = (element.tet, &element.fibres[f as usize]);
        let fa = tet.deformation(&self.vertices(model, k as usize)) * fibre.direction;
        let strain = 0.5 * (fa.length_squared() - 1.0);
        let by = tet.gradients.map(|g| fa * fibre.direction.dot(g));
        let modulus = tet.volume * fibre.stiffness;
        (by, modulus * strain + tet.volume * fibre.tension, modulus)
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
        for first in (0..self.tets.len()).step_by(SIDE_BY_SIDE) {
            let frames = self.frames(model, first);
            for (k, frame) in (first..self.tets.len()).zip(&frames) {
                let l = &lambda[at(k)..at(k) + width];
                let forces = match self.settings.elements {
                    ElementRows::Principal => transposed(&self.three(model, k, frame), l),
                    ElementRows::Corotated => transposed(&self.six(model, k, frame), l),
                };
                for (anchor, f) in self.anchors(model, k).into_iter().zip(forces) {
                    if let Anchor::Node(n) = *anchor {
                        add(out, model.nodes[n.index()].dof, f);
                    }
                }
            }
        }
        for i in 0..self.fibres.len() {
            let l = lambda[self.first_fibre() + i];
            let (by, ..) = self.fibre(model, i);
            for (anchor, by) in self.anchors(model, self.fibres[i].0 as usize).into_iter().zip(by) {
                if let Anchor::Node(n) = *anchor {
                    add(out, model.nodes[n.index()].dof, l * by);
                }
            }
        }
        let springs = first - model.springs.len();
        for (i, s) in model.springs.iter().enumerate() {
            let n = self.there.kinematics(model).span(s).try_normalize().unwrap_or(Vec3::ZERO);
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
