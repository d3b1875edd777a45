//! Sheets of cloth in the equations of motion.

use super::columns::{Columns, add_stiffness};
use super::slender::{Step, block_of};
use crate::coords::State;
use crate::elastic::{Bend, HessianKind};
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::scene::{Model, ModelSheet};

/// Pairs of blocks that sheets couple.
pub(super) fn pattern(model: &Model, pairs: &mut Vec<(u32, u32)>) {
    for sheet in &model.sheets {
        let vertices = &model.solids[sheet.solid.index()].vertices;
        let block = |v: u32| block_of(model, &vertices[v as usize]);
        pairs.extend(sheet.springs.iter().filter_map(|([a, b], _)| block(*a).zip(block(*b))));
        for (four, _) in &sheet.bends {
            pairs.extend(four.iter().flat_map(|a| four.iter().filter_map(|b| block(*a).zip(block(*b)))));
        }
    }
}

/// Energy of all sheets [J].
pub(super) fn energy(model: &Model, state: &State) -> f64 {
    let mut sum = 0.0;
    for sheet in &model.sheets {
        let at = |v: u32| model.vertex_position(state, sheet.solid, v as usize);
        sum += sheet.springs.iter().map(|([a, b], s)| s.energy(at(*b) - at(*a))).sum::<f64>();
        sum += sheet.bends.iter().map(|(v, b)| b.energy(&v.map(at))).sum::<f64>();
    }
    sum
}

/// Where a vertex is, how it moves and how easily.
#[derive(Clone, Copy)]
struct Vertex {
    x: Vec3,
    columns: Columns,
    driven: Vec3,
    mobility: f64,
}

/// Buffers of the vertices of one sheet.
#[derive(Default)]
pub(super) struct Sheets {
    vertices: Vec<Vertex>,
}

impl Sheets {
    /// Adds stiffness and damping to `a`, and the impulse of the forces to `b`.
    pub fn add_to(&mut self, step: &Step, a: &mut BlockMat, b: &mut [f64]) {
        for sheet in &step.model.sheets {
            self.place(step, sheet);
            let weight = step.stiffness + step.damping * sheet.damping;
            for (v, spring) in &sheet.springs {
                let ends = v.map(|v| self.vertices[v as usize]);
                let d = ends[1].x - ends[0].x;
                let line = spring.hessian(d, HessianKind::GaussNewton);
                let across = spring.hessian(d, HessianKind::Projected) - line;
                let pull = spring.gradient(d);
                let mobility = ends[0].mobility + ends[1].mobility;
                let share = step.share(pull.length() / d.length().max(f64::MIN_POSITIVE) * mobility);
                let block = line * weight + across * (step.stiffness * share);
                let push = pull * step.impulse + block * (ends[1].driven - ends[0].driven);
                ends[0].columns.add_force(push, b);
                ends[1].columns.add_force(-push, b);
                for (i, j, sign) in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0), (1, 0, -1.0)] {
                    add_stiffness(a, &ends[i].columns, &ends[j].columns, &(block * sign));
                }
            }
            for (v, bend) in &sheet.bends {
                let ends = v.map(|v| self.vertices[v as usize]);
                let force = bend.gradient(&ends.map(|e| e.x));
                let driven: Vec3 = (0..4).map(|j| Bend::WEIGHTS[j] * ends[j].driven).sum();
                for i in 0..4 {
                    let moved = driven * (weight * bend.stiffness * Bend::WEIGHTS[i]);
                    ends[i].columns.add_force(-(force[i] * step.impulse + moved), b);
                    for j in 0..4 {
                        let k = Mat3::from_diagonal(Vec3::splat(weight * bend.hessian(i, j)));
                        add_stiffness(a, &ends[i].columns, &ends[j].columns, &k);
                    }
                }
            }
        }
    }

    fn place(&mut self, step: &Step, sheet: &ModelSheet) {
        self.vertices.clear();
        self.vertices.extend(step.model.solids[sheet.solid.index()].vertices.iter().map(|anchor| Vertex {
            x: anchor.position(step.model, step.state),
            columns: Columns::of(step.model, step.state, anchor),
            driven: step.driven(anchor),
            mobility: step.mobility(anchor),
        }));
    }
}
