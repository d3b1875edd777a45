//! What is constant in a run: a JSON header, and meshes as binary arrays.

use super::Mesh;
use serde::{Deserialize, Serialize};
use stiction::Vec3;
use stiction::elastic::Material;

/// What is constant in a run. SI units, world axes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the scene.
    pub name: String,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Bodies in the order of the poses.
    pub bodies: Vec<BodyInfo>,
    /// Particles in the order of the points.
    pub particles: Vec<ParticleInfo>,
    /// Deformable solids and sheets; their vertices follow the particles among the points.
    pub solids: Vec<SolidInfo>,
    /// Shapes of bodies and particles.
    pub shapes: Vec<ShapeInfo>,
    /// Joints.
    pub joints: Vec<JointInfo>,
    /// Rods, whose links are bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rods: Vec<RodInfo>,
    /// Springs; their ends follow the vertices of solids among the points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<SpringInfo>,
    /// Meshes of shapes and solids.
    pub meshes: Vec<Mesh>,
    /// Names of the numbers that every frame carries.
    pub columns: Vec<String>,
    /// Whatever the writer adds: solver, time step, …
    pub extra: serde_json::Value,
}

/// A body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Name in the scene.
    pub name: String,
    /// `free`, `fixed` or `kinematic`.
    pub motion: String,
    /// Mass [kg]; absent where it does not move freely.
    pub mass: Option<f64>,
    /// Centre of mass in the body frame [m].
    pub center_of_mass: Vec3,
}

/// A particle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleInfo {
    /// Name in the scene.
    pub name: String,
    /// Mass [kg].
    pub mass: f64,
}

/// A deformable solid, or a sheet: then its mesh has no tetrahedra.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolidInfo {
    /// Name in the scene.
    pub name: String,
    /// Mass [kg].
    pub mass: f64,
    /// Its shape at rest, an index of [`Header::meshes`].
    pub mesh: u32,
    /// What it is made of, where that is known.
    pub material: Option<Material>,
    /// The surface that is shown in place of its own, an index of [`Header::meshes`]; its vertices are carried by
    /// tetrahedra ([`Mesh::hosts`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visual: Option<u32>,
}

/// A rod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RodInfo {
    /// Name in the scene.
    pub name: String,
    /// Its first link, an index of [`Header::bodies`].
    pub first: u32,
    /// How many links it has.
    pub links: u32,
}

/// A spring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpringInfo {
    /// Name in the scene.
    pub name: String,
}

/// A shape, in the frame of its body or about its particle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShapeInfo {
    /// To whom it belongs.
    pub owner: ShapeOwner,
    /// Where it stands in the frame of its owner [m].
    pub position: Vec3,
    /// How it is turned there: quaternion w, x, y, z.
    pub rotation: [f64; 4],
    /// What it looks like.
    pub geometry: ShapeGeometry,
}

/// To whom a shape belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeOwner {
    /// An index of [`Header::bodies`].
    Body(u32),
    /// An index of [`Header::particles`].
    Particle(u32),
}

/// Geometry in the frame of the shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ShapeGeometry {
    /// Everything below z = 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A box.
    Box {
        /// Full sizes [m].
        size: Vec3,
    },
    /// A cylinder with round ends along z.
    Capsule {
        /// Length of the straight part [m].
        length: f64,
        /// Radius [m].
        radius: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Full height [m].
        height: f64,
        /// Radius [m].
        radius: f64,
    },
    /// Triangles; hulls are given by theirs.
    Mesh {
        /// An index of [`Header::meshes`].
        mesh: u32,
    },
    /// A shape that this version has no words for.
    Other,
}

/// A joint: its frame as each of its bodies holds it; the first axis is that of the joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointInfo {
    /// Name in the scene.
    pub name: String,
    /// `hinge`, `ball`, …
    pub kind: String,
    /// First body, an index of [`Header::bodies`]; absent for the world.
    pub a: Option<u32>,
    /// Second body.
    pub b: u32,
    /// Anchor in the body frame of a, or in the world [m].
    pub anchor_a: Vec3,
    /// Axes of the joint in those of a: quaternion w, x, y, z.
    pub frame_a: [f64; 4],
    /// Anchor in the body frame of b [m].
    pub anchor_b: Vec3,
    /// Axes of the joint in those of b.
    pub frame_b: [f64; 4],
}

/// Something that touches: what the indices of contacts mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An index of [`Header::bodies`].
    Body(usize),
    /// An index of [`Header::particles`].
    Particle(usize),
    /// An index of [`Header::solids`].
    Solid(usize),
}

impl Header {
    /// How many points a frame has: particles, then vertices of solids, then two ends per spring.
    pub fn points(&self) -> usize {
        let vertices: usize = self.solids.iter().map(|s| self.mesh_size(s)).sum();
        self.particles.len() + vertices + 2 * self.springs.len()
    }

    /// Where the vertices of each solid stand among the points.
    pub fn solid_points(&self) -> Vec<std::ops::Range<usize>> {
        let mut at = self.particles.len();
        let range = |s| {
            let first = at;
            at += self.mesh_size(s);
            first..at
        };
        self.solids.iter().map(range).collect()
    }

    fn mesh_size(&self, s: &SolidInfo) -> usize {
        self.meshes.get(s.mesh as usize).map_or(0, |m| m.vertices.len())
    }

    /// What the index of a contact means; `None` past the end.
    pub fn part(&self, index: u32) -> Option<Part> {
        let (i, bodies, particles) = (index as usize, self.bodies.len(), self.particles.len());
        if i < bodies {
            Some(Part::Body(i))
        } else if i < bodies + particles {
            Some(Part::Particle(i - bodies))
        } else {
            (i - bodies - particles < self.solids.len()).then(|| Part::Solid(i - bodies - particles))
        }
    }

    /// Name of the part with this index.
    pub fn part_name(&self, index: u32) -> Option<&str> {
        Some(match self.part(index)? {
            Part::Body(i) => &self.bodies[i].name,
            Part::Particle(i) => &self.particles[i].name,
            Part::Solid(i) => &self.solids[i].name,
        })
    }

    /// The index of a column by name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c == name)
    }

    /// The arrays of all meshes, one after the other.
    pub(super) fn mesh_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.meshes.iter().for_each(|m| m.put(&mut out));
        out
    }

    /// Fills in the meshes and checks that everything the header names exists.
    pub(super) fn take_meshes(&mut self, mut rest: &[u8]) -> Result<(), &'static str> {
        for m in &mut self.meshes {
            m.take(&mut rest).ok_or("its meshes do not fit its header")?;
        }
        if !rest.is_empty() {
            return Err("its meshes do not fit its header");
        }
        let body = |i: u32| (i as usize) < self.bodies.len();
        let mesh = |i: u32| (i as usize) < self.meshes.len();
        let shape = |s: &ShapeInfo| {
            let owner = match s.owner {
                ShapeOwner::Body(b) => body(b),
                ShapeOwner::Particle(p) => (p as usize) < self.particles.len(),
            };
            owner && !matches!(s.geometry, ShapeGeometry::Mesh { mesh: m } if !mesh(m))
        };
        if !self.shapes.iter().all(shape) {
            return Err("a shape names a body, particle or mesh that is not there");
        }
        if !self.solids.iter().all(|s| mesh(s.mesh)) {
            return Err("a solid names a mesh that is not there");
        }
        if !self.solids.iter().all(|s| self.visual_makes_sense(s)) {
            return Err("a surface that is shown is not carried by the tetrahedra of its solid");
        }
        let link = |r: &RodInfo| r.first as usize + r.links as usize <= self.bodies.len();
        if !self.rods.iter().all(link) {
            return Err("a rod names a body that is not there");
        }
        if !self.joints.iter().all(|j| body(j.b) && j.a.is_none_or(body)) {
            return Err("a joint names a body that is not there");
        }
        Ok(())
    }

    /// Every vertex of the surface that is shown has a tetrahedron that carries it.
    fn visual_makes_sense(&self, s: &SolidInfo) -> bool {
        let Some(v) = s.visual else { return true };
        let tets = self.meshes[s.mesh as usize].tets.len();
        let carried =
            |m: &Mesh| m.hosts.len() == m.vertices.len() && m.hosts.iter().all(|&t| (t as usize) < tets);
        self.meshes.get(v as usize).is_some_and(carried)
    }
}
