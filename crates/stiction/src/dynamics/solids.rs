//! Deformable solids in the equations of motion: `A += (α_v/α_a) D + (α_q/α_a) K`, `b += f/α_a`.

use super::slender::block_of;
use crate::coords::{self, Anchor};
use crate::elastic::{self, ElementScratch};
use crate::integrate::Weights;
use crate::kinematics::Kinematics;
use crate::linalg::{BlockMat, Mat3, Vec3};
use crate::model::{Model, ModelSolid};

/// Buffers of all solids of a model, and where their blocks go.
#[derive(Default)]
pub struct Solids {
    parts: Vec<Part>,
}

struct Part {
    scratch: ElementScratch,
    x: Vec<Vec3>,
    /// Mean velocity over the step of vertices that move as prescribed [m/s].
    driven: Vec<Vec3>,
    columns: Vec<Option<coords::Part>>,
    forces: Vec<Vec3>,
    blocks: Vec<Mat3>,
    /// Entries (i, j) and (j, i) of the matrix for each pair of free nodes; `NONE` for other pairs.
    entries: Vec<[u32; 2]>,
    /// Consistent mass of each pair [kg].
    mass: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl Solids {
    /// Pairs of blocks that elements couple.
    pub fn pattern(model: &Model) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for s in &model.solids {
            for &(a, b) in s.elements.pairs() {
                if let (Some(i), Some(j)) =
                    (block_of(model, &s.vertices[a as usize]), block_of(model, &s.vertices[b as usize]))
                {
                    pairs.push((i, j));
                }
            }
        }
        pairs
    }

    /// Pairs of blocks that consistent mass matrices couple.
    pub fn mass_pattern(model: &Model) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for s in model.solids.iter().filter(|s| s.consistent_mass) {
            for &(a, b) in s.elements.pairs() {
                if let (Anchor::Node(i), Anchor::Node(j)) = (s.vertices[a as usize], s.vertices[b as usize]) {
                    pairs.push((model.nodes[i.index()].block as u32, model.nodes[j.index()].block as u32));
                }
            }
        }
        pairs
    }

    /// For a model whose matrix `a` has the pattern of all elements.
    pub fn new(model: &Model, a: &BlockMat) -> Solids {
        let part = |s: &ModelSolid| {
            // Sheets have vertices, but no elements here.
            let n = s.elements.vertices();
            let node = |v: u32| matches!(s.vertices[v as usize], Anchor::Node(_));
            let entries = s.elements.pairs().iter().map(|&(v, w)| {
                match (
                    node(v) && node(w),
                    block_of(model, &s.vertices[v as usize]),
                    block_of(model, &s.vertices[w as usize]),
                ) {
                    (true, Some(i), Some(j)) => {
                        let entry = |i, j| a.entry(i as usize, j as usize).map_or(NONE, |e| e as u32);
                        [entry(i, j), entry(j, i)]
                    }
                    _ => [NONE; 2],
                }
            });
            Part {
                x: vec![Vec3::ZERO; n],
                driven: vec![Vec3::ZERO; n],
                columns: vec![None; n],
                forces: vec![Vec3::ZERO; n],
                blocks: vec![Mat3::ZERO; s.elements.pairs().len()],
                entries: entries.collect(),
                mass: s.elements.consistent_masses(),
                scratch: ElementScratch::default(),
            }
        };
        Solids { parts: model.solids.iter().map(part).collect() }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds stiffness and damping to `a` and the impulse of elastic forces at `state` to `b`; with the start and
    /// the length of the step also what prescribed vertices do within it.
    pub fn add_to(
        &mut self,
        kin: Kinematics<'_>,
        w: Weights,
        driven: Option<(Kinematics<'_>, f64)>,
        a: &mut BlockMat,
        b: &mut [f64],
    ) {
        let Kinematics { model, state, .. } = kin;
        let stiffer = if crate::mutant::on("stiffer") { 1.1 } else { 1.0 };
        let weights = elastic::Weights { stiffness: stiffer * w.q / w.a, damping: w.v / w.a };
        for (part, solid) in self.parts.iter_mut().zip(&model.solids) {
            part.place(kin, solid, driven);
            for (inflation, tets) in &solid.inflations {
                let pressure = inflation.at(state.t);
                for &t in tets {
                    part.scratch.set_pressure(t as usize, pressure);
                }
            }
            let elements = &solid.elements;
            let kind = elements.default_hessian();
            let Part { x, scratch, forces, blocks, .. } = part;
            elements.assemble(x, weights, kind, scratch, forces, blocks);
            let half = if crate::mutant::on("half-mass-damping") { 0.5 } else { 1.0 };
            let mass_damping = half * elements.damping().mass * weights.damping;
            if mass_damping > 0.0 {
                for n in &model.nodes[solid.nodes.clone()] {
                    let block = a.diagonal_block_mut(n.block);
                    for k in 0..3 {
                        block[4 * k] += mass_damping * n.mass;
                    }
                }
            }
            for (c, f) in part.columns.iter().zip(&part.forces) {
                add_force(c, *f / w.a, b);
            }
            for (k, &(v, u)) in elements.pairs().iter().enumerate() {
                let block = &part.blocks[k];
                let [e, t] = part.entries[k];
                if e != NONE {
                    add_block(a.entry_mut(e as usize), block, false);
                    if v != u {
                        add_block(a.entry_mut(t as usize), block, true);
                    }
                    continue;
                }
                let (cv, cu) = (part.columns[v as usize], part.columns[u as usize]);
                couple(a, &cv, &cu, block);
                // Stiffness and damping feel how prescribed vertices move within the step.
                add_force(&cv, -(*block * part.driven[u as usize]), b);
                if v != u {
                    couple(a, &cu, &cv, &block.transpose());
                    add_force(&cu, -(block.transpose() * part.driven[v as usize]), b);
                }
            }
        }
    }

    /// Elastic energy of all solids of a model, with the work of their pressures at that time [J].
    pub fn energy(kin: Kinematics<'_>) -> f64 {
        let mut sum = 0.0;
        for solid in &kin.model.solids {
            // Sheets have vertices, but no elements here.
            let vertices = solid.vertices.iter().take(solid.elements.vertices());
            let x: Vec<Vec3> = vertices.map(|a| kin.position(a)).collect();
            let mut pressures = vec![0.0; solid.tets.len()];
            for (inflation, tets) in &solid.inflations {
                tets.iter().for_each(|t| pressures[*t as usize] = inflation.at(kin.state.t));
            }
            sum += solid.elements.energy(&x, &pressures);
        }
        sum
    }

    /// Replaces the lumped masses of solids with consistent mass in `m` by their mass matrices.
    pub fn add_consistent_mass(&self, model: &Model, m: &mut BlockMat) {
        for (part, solid) in self.parts.iter().zip(&model.solids).filter(|(_, s)| s.consistent_mass) {
            for (&(v, u), &mass) in solid.elements.pairs().iter().zip(&part.mass) {
                let (Some(i), Some(j)) = (node(model, solid, v), node(model, solid, u)) else { continue };
                for (i, j) in [(i, j), (j, i)] {
                    let block = m.block_mut(i as usize, j as usize).expect("the pattern holds every pair");
                    block.copy_from_slice(&Mat3::from_diagonal(Vec3::splat(mass)).to_cols_array());
                }
            }
        }
    }
}

impl Part {
    /// Where the vertices are and how they will move.
    fn place(&mut self, kin: Kinematics<'_>, solid: &ModelSolid, driven: Option<(Kinematics<'_>, f64)>) {
        for (i, anchor) in solid.vertices.iter().take(self.x.len()).enumerate() {
            self.x[i] = kin.position(anchor);
            self.columns[i] = kin.part(anchor);
            self.driven[i] = driven.map_or(Vec3::ZERO, |(start, h)| start.prescribed_velocity(anchor, h));
        }
    }
}

fn add_force(part: &Option<coords::Part>, f: Vec3, b: &mut [f64]) {
    if let Some(part) = part {
        part.add_force(f, b);
    }
}

/// Adds the stiffness between two vertices that dofs move.
fn couple(a: &mut BlockMat, one: &Option<coords::Part>, two: &Option<coords::Part>, k: &Mat3) {
    if let (Some(one), Some(two)) = (one, two) {
        coords::add_stiffness(a, one, two, k);
    }
}

/// The block of a vertex that moves freely.
fn node(model: &Model, s: &ModelSolid, vertex: u32) -> Option<u32> {
    match s.vertices[vertex as usize] {
        Anchor::Node(n) => Some(model.nodes[n.index()].block as u32),
        _ => None,
    }
}

/// Adds a 3×3 block, or its transpose, to nine row-major numbers.
fn add_block(to: &mut [f64], block: &Mat3, transposed: bool) {
    let m = if transposed { *block } else { block.transpose() };
    for (x, y) in to.iter_mut().zip(m.to_cols_array()) {
        *x += y;
    }
}
