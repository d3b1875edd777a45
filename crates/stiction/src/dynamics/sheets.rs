//! Sheets of cloth in the equations of motion.

use super::slender::{Step, block_of};
use crate::coords::{Part, add_stiffness};
use crate::elastic::{Bend, HessianKind};
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::model::{Model, ModelSheet};

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
pub(super) fn energy(kin: Kinematics<'_>) -> f64 {
    let model = kin.model;
    let mut sum = 0.0;
    for sheet in &model.sheets {
        let at = |v: u32| kin.vertex_position(sheet.solid, v as usize);
        sum += sheet.springs.iter().map(|([a, b], s)| s.energy(at(*b) - at(*a))).sum::<f64>();
        sum += sheet.bends.iter().map(|(v, b)| b.energy(&v.map(at))).sum::<f64>();
    }
    sum
}

/// Where a vertex is, how it moves and how easily.
#[derive(Clone, Copy)]
struct Vertex {
    x: Vec3,
    part: Option<Part>,
    driven: Vec3,
    mobility: f64,
}

fn add_force(v: &Vertex, f: Vec3, b: &mut [f64]) {
    if let Some(part) = v.part {
        part.add_force(f, b);
    }
}

/// Adds the stiffness between two vertices that dofs move.
fn couple(a: &mut BlockMat, one: &Vertex, two: &Vertex, k: &Mat3) {
    if let (Some(p), Some(q)) = (one.part, two.part) {
        add_stiffness(a, &p, &q, k);
    }
}

/// Buffers of the vertices of one sheet.
#[derive(Default)]
pub(super) struct Sheets {
    vertices: Vec<Vertex>,
}

impl Sheets {
    /// Adds stiffness and damping to `a`, and the impulse of the forces to `b`.
    pub fn add_to(&mut self, step: &Step, a: &mut BlockMat, b: &mut [f64]) {
        for sheet in &step.kin.model.sheets {
            self.place(step, sheet);
            let half = if crate::mutant::on("half-cloth-damping") { 0.5 } else { 1.0 };
            let weight = step.stiffness + step.damping * half * sheet.damping;
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
                add_force(&ends[0], push, b);
                add_force(&ends[1], -push, b);
                for (i, j, sign) in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, -1.0), (1, 0, -1.0)] {
                    couple(a, &ends[i], &ends[j], &(block * sign));
                }
            }
            for (v, bend) in &sheet.bends {
                let ends = v.map(|v| self.vertices[v as usize]);
                let force = bend.gradient(&ends.map(|e| e.x));
                let driven: Vec3 = (0..4).map(|j| Bend::WEIGHTS[j] * ends[j].driven).sum();
                for i in 0..4 {
                    let moved = driven * (weight * bend.stiffness * Bend::WEIGHTS[i]);
                    add_force(&ends[i], -(force[i] * step.impulse + moved), b);
                    for j in 0..4 {
                        let k = Mat3::from_diagonal(Vec3::splat(weight * bend.hessian(i, j)));
                        couple(a, &ends[i], &ends[j], &k);
                    }
                }
            }
        }
    }

    fn place(&mut self, step: &Step, sheet: &ModelSheet) {
        self.vertices.clear();
        self.vertices.extend(step.kin.model.solids[sheet.solid.index()].vertices.iter().map(|anchor| {
            Vertex {
                x: step.kin.position(anchor),
                part: step.kin.part(anchor),
                driven: step.driven(anchor),
                mobility: step.mobility(anchor),
            }
        }));
    }
}
