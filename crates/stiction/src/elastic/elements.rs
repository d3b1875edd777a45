//! Forces and matrix blocks of a tet mesh, gathered block by block.
//!
//! [`Elements`] are the constants of a mesh and are shared by all who compute with it; [`ElementScratch`] is what one of
//! them writes. Elements are evaluated into their own slots, then every vertex sums its forces and every vertex pair its
//! block from a list that is fixed at construction: nothing is cleared, nothing is scattered, each result is written once
//! and its bits do not depend on the number of threads.

use super::damping::Damping;
use super::material::{Lame, Law, Material, Parameter};
use super::pattern::Pattern;
use super::principal::outer;
use super::stretch::Tangent;
use super::tet::{Element, PAIRS, Tet};
use super::{ElasticError, Fibre, HessianKind};
use crate::linalg::parallel::prelude::*;
use crate::linalg::{Mat3, Vec3};

/// Meshes with fewer tets are done by the calling thread.
const PARALLEL_TETS: usize = 10_000;
/// Slots per task.
const CHUNK: usize = 512;
/// Cauchy stress divides by the volume ratio; ratios below this count as this much, so that pictures stay finite.
const SMALLEST_VOLUME_RATIO: f64 = 1e-3;

/// What to make of stiffness and damping: blocks are `stiffness`·K + `damping`·D.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of K [s² for a mass-like matrix].
    pub stiffness: f64,
    /// Of D = βK + viscosity [s].
    pub damping: f64,
}

/// What an element leaves for the gathering.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    energy: f64,
    forces: [Vec3; 4],
    /// √(E V) R ∇Nₐ, for the uniform corotated sum.
    gradients: [Vec3; 4],
}

/// A tet mesh with its materials: all that does not change while it moves.
#[derive(Clone, Debug)]
pub struct Elements {
    tets: Vec<[u32; 4]>,
    shapes: Vec<Tet>,
    materials: Vec<Material>,
    lame: Vec<Lame>,
    material_of: Vec<u32>,
    damping: Damping,
    /// Sorted by tet; `fibre_start` has one entry per tet and one more, or none where there are no fibres.
    fibres: Vec<Fibre>,
    fibre_start: Vec<u32>,
    /// Where the fibre given as number i went.
    fibre_place: Vec<u32>,
    mass: Vec<f64>,
    pattern: Pattern,
    /// Lamé constants per Pa of Young's modulus, where all tets are linear or corotated with one Poisson's ratio.
    uniform: Option<Lame>,
}

/// What the evaluation of [`Elements`] writes, and the pressures at which it is made. Sized at its first use: 200 bytes per tet,
/// 920 where blocks are not sums of dyads.
#[derive(Clone, Debug, Default)]
pub struct ElementScratch {
    /// Activation pressure of each tet [Pa]; empty where there is none.
    pressure: Vec<f64>,
    slots: Vec<Slot>,
    blocks: Vec<[Mat3; 10]>,
}

impl ElementScratch {
    /// Sets the activation pressure of a tet [Pa]; positive swells it.
    pub fn set_pressure(&mut self, tet: usize, pressure: f64) {
        if self.pressure.len() <= tet {
            self.pressure.resize(tet + 1, 0.0);
        }
        self.pressure[tet] = pressure;
    }

    /// Activation pressures of the first tets [Pa]; the others have none.
    pub fn pressures(&self) -> &[f64] {
        &self.pressure
    }

    /// The pressures without the rest.
    pub fn fork(&self) -> ElementScratch {
        ElementScratch { pressure: self.pressure.clone(), ..ElementScratch::default() }
    }
}

impl Elements {
    /// From rest positions, tets (positively oriented), and for each tet the index of its material.
    pub fn new(
        rest: &[Vec3],
        tets: &[[u32; 4]],
        materials: &[Material],
        material_of: &[u32],
        damping: Damping,
    ) -> Result<Elements, ElasticError> {
        damping.check()?;
        for material in materials {
            material.check()?;
        }
        if let Some(i) = rest.iter().position(|x| !x.is_finite()) {
            return Err(ElasticError::Vertex(i));
        }
        if tets.len() != material_of.len() {
            return Err(ElasticError::Count { tets: tets.len(), materials: material_of.len() });
        }
        let mut shapes = Vec::with_capacity(tets.len());
        let mut mass = vec![0.0; rest.len()];
        for (t, (tet, &m)) in tets.iter().zip(material_of).enumerate() {
            for (a, &index) in tet.iter().enumerate() {
                if index as usize >= rest.len() || tet[..a].contains(&index) {
                    return Err(ElasticError::Index { tet: t, what: "vertex", index, count: rest.len() });
                }
            }
            let Some(material) = materials.get(m as usize) else {
                let count = materials.len();
                return Err(ElasticError::Index { tet: t, what: "material", index: m, count });
            };
            let shape = Tet::new(t, tet.map(|i| rest[i as usize]))?;
            for &i in tet {
                mass[i as usize] += shape.lumped_mass(material.density);
            }
            shapes.push(shape);
        }
        if let Some(i) = mass.iter().position(|&m| m == 0.0) {
            return Err(ElasticError::Unused(i));
        }
        Ok(Elements {
            pattern: Pattern::new(rest.len(), tets),
            lame: materials.iter().map(Material::lame).collect(),
            uniform: uniform(materials),
            fibres: Vec::new(),
            fibre_start: Vec::new(),
            fibre_place: Vec::new(),
            tets: tets.to_vec(),
            shapes,
            materials: materials.to_vec(),
            material_of: material_of.to_vec(),
            damping,
            mass,
        })
    }

    /// Lays fibres into the tets; directions need not be unit vectors.
    pub fn with_fibres(mut self, fibres: &[Fibre]) -> Result<Elements, ElasticError> {
        for (i, f) in fibres.iter().enumerate() {
            let direction = f.direction.length();
            let good =
                direction > 0.0 && direction.is_finite() && f.stiffness >= 0.0 && f.stiffness.is_finite();
            if !(good && f.tension.is_finite() && (f.tet as usize) < self.tets.len()) {
                return Err(ElasticError::Fibre {
                    fibre: i,
                    tet: f.tet,
                    direction: f.direction.to_array(),
                    stiffness: f.stiffness,
                    tension: f.tension,
                });
            }
        }
        let mut order: Vec<usize> = (0..fibres.len()).collect();
        order.sort_by_key(|&i| fibres[i].tet);
        self.fibres = order
            .iter()
            .map(|&i| Fibre { direction: fibres[i].direction.normalize(), ..fibres[i] })
            .collect();
        self.fibre_place = vec![0; fibres.len()];
        for (place, &i) in order.iter().enumerate() {
            self.fibre_place[i] = place as u32;
        }
        self.fibre_start = (0..=self.tets.len())
            .map(|t| self.fibres.partition_point(|f| (f.tet as usize) < t) as u32)
            .collect();
        Ok(self)
    }

    /// True where blocks are sums of dyads of rotated gradients.
    fn sums_gradients(&self, kind: HessianKind) -> bool {
        let linear = || self.materials.iter().all(|m| m.law == Law::Linear);
        self.uniform.is_some()
            && self.fibres.is_empty()
            && self.damping.viscosity == 0.0
            && (kind == HessianKind::GaussNewton || linear())
    }

    /// Upper vertex pairs (a ≤ b) in ascending order, every diagonal included: one block each.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pattern.pairs
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.mass.len()
    }

    /// The tets.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Rest shapes of the tets.
    pub fn shapes(&self) -> &[Tet] {
        &self.shapes
    }

    /// The materials.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// The material of each tet.
    pub fn material_of(&self) -> &[u32] {
        &self.material_of
    }

    /// Damping, of which the mass-proportional part is the caller's to add.
    pub fn damping(&self) -> Damping {
        self.damping
    }

    /// Mass lumped to each vertex [kg].
    pub fn masses(&self) -> &[f64] {
        &self.mass
    }

    /// The consistent mass matrix: for each of the pairs the number that multiplies the identity [kg].
    pub fn consistent_masses(&self) -> Vec<f64> {
        let of_pair = |p: usize| {
            let of_tet = |&e: &u32| {
                let (t, a, b) = corners(e);
                let density = self.materials[self.material_of[t] as usize].density;
                self.shapes[t].consistent_mass(density, a, b)
            };
            self.pattern.blocks.of(p).iter().map(of_tet).sum()
        };
        (0..self.pairs().len()).map(of_pair).collect()
    }

    /// The positive semidefinite stiffness fit for the step's matrix: `Projected` where any material asks for it.
    pub fn default_hessian(&self) -> HessianKind {
        let projected = self.materials.iter().any(|m| m.law.default_hessian() == HessianKind::Projected);
        if projected { HessianKind::Projected } else { HessianKind::GaussNewton }
    }

    /// Sets the tension of fibre number `fibre` of the list given to [`with_fibres`](Self::with_fibres) [Pa].
    pub fn set_tension(&mut self, fibre: usize, tension: f64) {
        self.fibres[self.fibre_place[fibre] as usize].tension = tension;
    }

    /// The material of a tet.
    pub fn material(&self, tet: usize) -> &Material {
        &self.materials[self.material_of[tet] as usize]
    }

    /// One tet with all that acts inside it but a pressure.
    pub fn element(&self, tet: usize) -> Element<'_> {
        self.element_at(tet, &[])
    }

    /// The same with the activation pressures of the first tets [Pa].
    pub fn element_at(&self, tet: usize, pressure: &[f64]) -> Element<'_> {
        let m = self.material_of[tet] as usize;
        let fibres = match self.fibre_start.get(tet..tet + 2) {
            Some(range) => &self.fibres[range[0] as usize..range[1] as usize],
            None => &[],
        };
        Element {
            tet: &self.shapes[tet],
            law: self.materials[m].law,
            lame: self.lame[m],
            pressure: pressure.get(tet).copied().unwrap_or(0.0),
            fibres,
        }
    }

    /// Elastic energy with the work of activation at these pressures of the first tets [J].
    pub fn energy(&self, x: &[Vec3], pressure: &[f64]) -> f64 {
        let of_tet = |t: usize| self.element_at(t, pressure).energy(&self.positions(t, x));
        if !self.parallel() {
            return (0..self.tets.len()).map(of_tet).sum();
        }
        let mut energies = vec![0.0; self.tets.len()];
        each(true, &mut energies, |t, energy| *energy = of_tet(t));
        energies.iter().sum()
    }

    /// Overwrites `forces` with the elastic and activation force on each vertex [N]; returns the [`energy`](Self::energy).
    pub fn forces(&self, x: &[Vec3], scratch: &mut ElementScratch, forces: &mut [Vec3]) -> f64 {
        assert!(x.len() == self.vertices() && forces.len() == x.len(), "one position and force per vertex");
        let ElementScratch { pressure, slots, .. } = scratch;
        slots.resize(self.tets.len(), Slot::default());
        each(self.parallel(), slots, |t, slot| {
            let element = self.element_at(t, pressure);
            let (energy, p) = element.stress(&element.tet.deformation(&self.positions(t, x)));
            slot.energy = element.tet.volume * energy;
            slot.forces = element.tet.forces(&p);
        });
        self.gather_forces(slots, forces)
    }

    /// Overwrites `forces` as [`forces`](Self::forces) does, and `blocks` (one per pair, rows of the first vertex) with
    /// `weights.stiffness`·K + `weights.damping`·(βK + viscosity), K of the named kind [N/m, times the weight]. Returns the energy at `x`.
    pub fn assemble(
        &self,
        x: &[Vec3],
        weights: Weights,
        kind: HessianKind,
        scratch: &mut ElementScratch,
        forces: &mut [Vec3],
        blocks: &mut [Mat3],
    ) -> f64 {
        assert!(x.len() == self.vertices() && forces.len() == x.len(), "one position and force per vertex");
        assert_eq!(blocks.len(), self.pairs().len(), "one block per pair");
        let scale = weights.stiffness + weights.damping * self.damping.stiffness;
        match self.uniform {
            Some(lame) if self.sums_gradients(kind) => {
                self.rotate(x, scratch);
                self.gather_dyads(lame, scale, &scratch.slots, blocks);
            }
            _ => {
                self.differentiate(x, kind, scale, weights.damping * self.damping.viscosity, scratch);
                self.gather_blocks(&scratch.blocks, blocks);
            }
        }
        self.gather_forces(&scratch.slots, forces)
    }

    /// Element stage of the uniform sum: rotation, forces, rotated gradients.
    fn rotate(&self, x: &[Vec3], ElementScratch { pressure, slots, .. }: &mut ElementScratch) {
        slots.resize(self.tets.len(), Slot::default());
        each(self.parallel(), slots, |t, slot| {
            let m = self.material_of[t] as usize;
            let shape = &self.shapes[t];
            let f = shape.deformation(&self.positions(t, x));
            let pressure = pressure.get(t).copied().unwrap_or(0.0);
            let (energy, p, Tangent { u: r, .. }) =
                self.materials[m].law.tangent(self.lame[m], pressure, &f, HessianKind::GaussNewton);
            slot.energy = shape.volume * energy;
            slot.forces = shape.forces(&p);
            let r = r * (shape.volume * self.materials[m].young).sqrt();
            slot.gradients = shape.gradients.map(|g| r * g);
        });
    }

    /// Element stage of everything else: forces and ten blocks.
    fn differentiate(
        &self,
        x: &[Vec3],
        kind: HessianKind,
        scale: f64,
        viscosity: f64,
        ElementScratch { pressure, slots, blocks }: &mut ElementScratch,
    ) {
        slots.resize(self.tets.len(), Slot::default());
        blocks.resize(self.tets.len(), [Mat3::ZERO; 10]);
        let one = |t: usize, slot: &mut Slot, blocks: &mut [Mat3; 10]| {
            let element = self.element_at(t, pressure);
            let x = self.positions(t, x);
            let k;
            (slot.energy, slot.forces, k) = element.evaluate(&x, kind);
            *blocks = k.map(|k| k * scale);
            if viscosity != 0.0 {
                let f = element.tet.deformation(&x);
                for (block, (a, b)) in blocks.iter_mut().zip(PAIRS) {
                    *block += element.tet.viscous_block(&f, viscosity, a, b);
                }
            }
        };
        if self.parallel() {
            slots
                .par_iter_mut()
                .zip(blocks)
                .enumerate()
                .with_min_len(CHUNK)
                .for_each(|(t, (s, b))| one(t, s, b));
        } else {
            slots.iter_mut().zip(blocks).enumerate().for_each(|(t, (s, b))| one(t, s, b));
        }
    }

    /// Sums forces per vertex; returns the sum of energies.
    fn gather_forces(&self, slots: &[Slot], forces: &mut [Vec3]) -> f64 {
        each(self.parallel(), forces, |i, force| {
            let corners = self.pattern.corners.of(i).iter();
            *force = corners.map(|&e| slots[e as usize >> 2].forces[e as usize & 3]).sum();
        });
        slots.iter().map(|slot| slot.energy).sum()
    }

    /// Isotropic elasticity needs only G = Σ E V gₐ gᵦᵀ per block: K = λG + μGᵀ + μ tr(G) I (λ, μ per Pa of E).
    fn gather_dyads(&self, Lame { lambda, mu }: Lame, scale: f64, slots: &[Slot], blocks: &mut [Mat3]) {
        let (lambda, mu) = (scale * lambda, scale * mu);
        each(self.parallel(), blocks, |p, block| {
            let mut g = Mat3::ZERO;
            for &e in self.pattern.blocks.of(p) {
                let (t, a, b) = corners(e);
                let gradients = &slots[t].gradients;
                g += outer(gradients[a], gradients[b]);
            }
            let trace = mu * (g.x_axis.x + g.y_axis.y + g.z_axis.z);
            *block = g * lambda + g.transpose() * mu + Mat3::from_diagonal(Vec3::splat(trace));
        });
    }

    fn gather_blocks(&self, of_tets: &[[Mat3; 10]], blocks: &mut [Mat3]) {
        each(self.parallel(), blocks, |p, block| {
            *block = Mat3::ZERO;
            for &e in self.pattern.blocks.of(p) {
                let (t, a, b) = corners(e);
                let of_tet = &of_tets[t];
                if a <= b {
                    *block += of_tet[local(a, b)];
                } else {
                    *block += of_tet[local(b, a)].transpose();
                }
            }
        });
    }

    /// Overwrites `out` with ∂f/∂parameter of material number `material`, at fixed positions.
    pub fn force_derivative(&self, x: &[Vec3], material: usize, by: Parameter, out: &mut [Vec3]) {
        out.fill(Vec3::ZERO);
        for t in (0..self.tets.len()).filter(|&t| self.material_of[t] as usize == material) {
            let forces =
                self.element(t).force_derivative(&self.positions(t, x), &self.materials[material], by);
            for (&i, force) in self.tets[t].iter().zip(forces) {
                out[i as usize] += force;
            }
        }
    }

    /// Deformation gradient of a tet.
    pub fn deformation(&self, tet: usize, x: &[Vec3]) -> Mat3 {
        self.shapes[tet].deformation(&self.positions(tet, x))
    }

    /// Cauchy stress P Fᵀ / J of a tet [Pa]; of the linear law P itself.
    pub fn stress(&self, tet: usize, x: &[Vec3]) -> Mat3 {
        let f = self.deformation(tet, x);
        let element = self.element(tet);
        let (_, p) = element.stress(&f);
        if element.law == Law::Linear {
            return p;
        }
        p * f.transpose() * (1.0 / f.determinant().abs().max(SMALLEST_VOLUME_RATIO))
    }

    /// Von Mises stress √(3/2 s:s) of a tet, s the deviator of the Cauchy stress [Pa].
    pub fn von_mises(&self, tet: usize, x: &[Vec3]) -> f64 {
        let stress = self.stress(tet, x);
        let mean = (stress.x_axis.x + stress.y_axis.y + stress.z_axis.z) / 3.0;
        let s = stress - Mat3::from_diagonal(Vec3::splat(mean));
        let squares = s.x_axis.length_squared() + s.y_axis.length_squared() + s.z_axis.length_squared();
        (1.5 * squares).sqrt()
    }

    fn positions(&self, tet: usize, x: &[Vec3]) -> [Vec3; 4] {
        self.tets[tet].map(|i| x[i as usize])
    }

    fn parallel(&self) -> bool {
        self.tets.len() >= PARALLEL_TETS
    }
}

/// The Lamé constants per Pa of Young's modulus, if all laws are linear in the stretches with one Poisson's ratio.
fn uniform(materials: &[Material]) -> Option<Lame> {
    let first = materials.first()?;
    let same = |m: &Material| matches!(m.law, Law::Linear | Law::Corotated) && m.poisson == first.poisson;
    materials.iter().all(same).then(|| Material { young: 1.0, ..*first }.lame())
}

/// Tet and two corners of an entry of the block lists.
fn corners(entry: u32) -> (usize, usize, usize) {
    (entry as usize >> 4, entry as usize >> 2 & 3, entry as usize & 3)
}

/// Place of the local pair a ≤ b in [`PAIRS`].
fn local(a: usize, b: usize) -> usize {
    a * (7 - a) / 2 + b
}

/// Fills every slot from its index, shared out in fixed chunks where that pays.
fn each<T: Send>(parallel: bool, out: &mut [T], fill: impl Fn(usize, &mut T) + Sync) {
    if parallel {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| {
            for (i, slot) in chunk.iter_mut().enumerate() {
                fill(c * CHUNK + i, slot);
            }
        });
    } else {
        for (i, slot) in out.iter_mut().enumerate() {
            fill(i, slot);
        }
    }
}
