//! Sheets: nodes on a grid, threads along it, diagonals across its cells, and bending.

use super::mass::MassProps;
use super::soft::{Holder, Names, add_node, holders, skin};
use super::spring::not_negative;
use super::{err, friction_coefficient, pose, positive, restitution, vector};
use crate::coords::SoftId;
use crate::elastic::{Action, Bend, Damping, Elements, Spring};
use crate::error::SceneError;
use crate::linalg::Mat3;
use crate::model::{Model, ModelSheet, ModelSolid, Table};
use crate::scene::{Body, Sheet};

/// Most nodes of one sheet.
const MOST_NODES: usize = 1_000_000;

impl Sheet {
    fn check(&self, item: &str) -> Result<(), SceneError> {
        let [nx, ny] = self.cells;
        if nx == 0 || ny == 0 || (nx + 1).saturating_mul(ny + 1) > MOST_NODES {
            return err(
                item,
                format!("{nx} × {ny} cells; give at least one each way, and no more than {MOST_NODES} nodes"),
            );
        }
        for size in self.size {
            positive(item, "each size", size)?;
        }
        positive(item, "the mass per area", self.area_density)?;
        positive(item, "the stretch stiffness", self.stretch)?;
        positive(item, "the shear stiffness", self.shear)?;
        not_negative(item, "the bending rigidity", self.bend)?;
        not_negative(item, "damping", self.damping)?;
        not_negative(item, "thickness", self.thickness)?;
        vector(item, "the velocity", self.velocity)?;
        friction_coefficient(item, self.friction)?;
        restitution(item, self.restitution)
    }

    fn spacing(&self) -> [f64; 2] {
        [0, 1].map(|k| self.size[k] / self.cells[k] as f64)
    }

    /// How much of a cell belongs to line `i` of the grid along axis `k`: half of one at the border.
    fn width(&self, i: usize, k: usize) -> f64 {
        self.spacing()[k] * if i == 0 || i == self.cells[k] { 0.5 } else { 1.0 }
    }

    /// Mass of each node [kg].
    fn masses(&self) -> Vec<f64> {
        let [nx, ny] = self.nodes();
        let mass = |i: usize, j: usize| self.area_density * self.width(i, 0) * self.width(j, 1);
        (0..ny).flat_map(|j| (0..nx).map(move |i| mass(i, j))).collect()
    }

    /// Adds the masses of held nodes to the bodies that hold them.
    pub(super) fn held_masses(
        &self,
        bodies: &[Body],
        names: &Names,
        held: &mut [Vec<MassProps>],
    ) -> Result<(), SceneError> {
        let item = format!("cloth `{}`", self.name);
        self.check(&item)?;
        let place = pose(&item, "the pose", &self.pose)?;
        let (grid, mass) = (self.grid(), self.masses());
        for (i, holder) in holders(&item, &self.attachments, &grid, names)?.into_iter().enumerate() {
            if let Some(Holder::Body(b)) = holder {
                let com = bodies[b.index()].pose.inverse_transform_point(place.transform_point(grid[i]));
                held[b.index()].push(MassProps { mass: mass[i], com, inertia: Mat3::ZERO });
            }
        }
        Ok(())
    }

    pub(super) fn add_to(&self, model: &mut Model, names: &Names) -> Result<(), SceneError> {
        let item = format!("cloth `{}`", self.name);
        let place = pose(&item, "the pose", &self.pose)?;
        let id = SoftId(model.solids.len() as u32);
        let (rest, mass) = (self.grid(), self.masses());
        let [dx, dy] = self.spacing();
        let skin = skin(id, self.thickness, self.friction, self.restitution, dx.min(dy));
        let first = model.nodes.len();
        let mut vertices = Vec::with_capacity(rest.len());
        for (i, holder) in holders(&item, &self.attachments, &rest, names)?.into_iter().enumerate() {
            let x = place.transform_point(rest[i]);
            if let Some(holder) = holder {
                vertices.push(holder.anchor(model, x));
                continue;
            }
            let name = format!("{}[{i}]", self.name);
            vertices.push(add_node(model, name, id, (x, self.velocity), mass[i], Some(&skin)));
        }
        if model.nodes.len() == first {
            model.warnings.push(format!("{item}: every node is held, so it does not deform freely"));
        }
        let elements = Elements::new(&[], &[], &[], &[], Damping::default())
            .map_err(|e| SceneError::new(&item, e.to_string()))?;
        model.solids.push(ModelSolid {
            self_contact: self.self_contact,
            name: self.name.clone(),
            vertices: vertices.into(),
            rest: rest.into(),
            tets: Table::default(),
            surface: self.triangles().into(),
            elements: elements.into(),
            mass: mass.into(),
            consistent_mass: false,
            nodes: first..model.nodes.len(),
            edge: 0.5 * (dx + dy),
            inflations: Table::default(),
            visual: None,
            rigid_edges: self.rigid_edges,
        });
        model.sheets.push(ModelSheet {
            solid: id,
            springs: self.threads(),
            bends: self.bends(),
            damping: self.damping,
        });
        Ok(())
    }

    fn vertex(&self, i: usize, j: usize) -> u32 {
        (j * self.nodes()[0] + i) as u32
    }

    /// Two triangles per cell, counter-clockwise seen from +z; diagonals alternate.
    fn triangles(&self) -> Vec<[u32; 3]> {
        let mut out = Vec::with_capacity(2 * self.cells[0] * self.cells[1]);
        for j in 0..self.cells[1] {
            for i in 0..self.cells[0] {
                let at = |a: usize, b: usize| self.vertex(i + a, j + b);
                let (p, q, r, s) = (at(0, 0), at(1, 0), at(1, 1), at(0, 1));
                out.extend(if (i + j) % 2 == 0 { [[p, q, r], [p, r, s]] } else { [[p, q, s], [q, r, s]] });
            }
        }
        out
    }

    /// Springs along the grid carry stretch; both diagonals of a cell carry shear.
    fn threads(&self) -> Vec<([u32; 2], Spring)> {
        let ([nx, ny], [dx, dy]) = (self.nodes(), self.spacing());
        let spring = |stiffness: f64, rest_length: f64| Spring {
            stiffness,
            rest_length,
            damping: 0.0,
            action: Action::Both,
        };
        let mut out = Vec::new();
        for j in 0..ny {
            for i in 0..nx {
                let here = self.vertex(i, j);
                if i + 1 < nx {
                    let k = self.stretch * self.width(j, 1) / dx;
                    out.push(([here, self.vertex(i + 1, j)], spring(k, dx)));
                }
                if j + 1 < ny {
                    let k = self.stretch * self.width(i, 0) / dy;
                    out.push(([here, self.vertex(i, j + 1)], spring(k, dy)));
                }
                if i + 1 < nx && j + 1 < ny {
                    // A shear γ changes a diagonal by γ dx dy/ℓ: two of them store ½ shear γ² per area.
                    let length = dx.hypot(dy);
                    let k = self.shear * length * length / (2.0 * dx * dy);
                    out.push(([here, self.vertex(i + 1, j + 1)], spring(k, length)));
                    out.push(([self.vertex(i + 1, j), self.vertex(i, j + 1)], spring(k, length)));
                }
            }
        }
        out
    }

    fn bends(&self) -> Vec<([u32; 4], Bend)> {
        let mut out = Vec::new();
        if self.bend == 0.0 {
            return out;
        }
        let ([nx, ny], [dx, dy]) = (self.nodes(), self.spacing());
        for j in 0..ny {
            for i in 0..nx {
                let at = |a: usize, b: usize| self.vertex(i + a, j + b);
                if i + 2 < nx {
                    let four = [at(0, 0), at(1, 0), at(1, 0), at(2, 0)];
                    out.push((four, Bend::along(dx, self.width(j, 1), self.bend)));
                }
                if j + 2 < ny {
                    let four = [at(0, 0), at(0, 1), at(0, 1), at(0, 2)];
                    out.push((four, Bend::along(dy, self.width(i, 0), self.bend)));
                }
                if i + 1 < nx && j + 1 < ny {
                    out.push(([at(0, 0), at(1, 0), at(0, 1), at(1, 1)], Bend::twist([dx, dy], self.bend)));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Vec3;

    #[test]
    fn a_uniform_stretch_or_shear_stores_its_closed_form() {
        let sheet = Sheet { stretch: 50.0, shear: 20.0, ..Sheet::new("s", [6, 4], [0.9, 0.4]) };
        let grid = sheet.grid();
        let energy = |of: &dyn Fn(Vec3) -> Vec3| -> f64 {
            let at = |v: u32| of(grid[v as usize]);
            sheet.threads().iter().map(|([a, b], s)| s.energy(at(*b) - at(*a))).sum()
        };
        let (area, t) = (0.9 * 0.4, 1e-5);
        let shear = energy(&|x| Vec3::new(x.x + t * x.y, x.y, 0.0));
        assert!((shear / (0.5 * 20.0 * t * t * area) - 1.0).abs() < 1e-4);
        // Diagonals help in a stretch: ½ · 2 k (ε dx²/ℓ)² per cell.
        let stretch = energy(&|x| Vec3::new(x.x * (1.0 + t), x.y, 0.0));
        let [dx, dy] = sheet.spacing();
        let diagonal = 20.0 * dx * dx / (dy * dy) * 0.5 * t * t * area;
        assert!((stretch / (0.5 * 50.0 * t * t * area + diagonal) - 1.0).abs() < 1e-4);
        let total: f64 = sheet.masses().iter().sum();
        assert!((total / (0.2 * area) - 1.0).abs() < 1e-12);
    }
}
