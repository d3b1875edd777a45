//! The JSON header: what is constant in a run.

use serde::{Deserialize, Serialize};
use stiction::coords::{Anchor, Pose};
use stiction::scene::{Model, ModelShape, ModelSolid, Motion, Owner};
use stiction::{Quat, Vec3};

/// What is constant in a run. SI units, z up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Name of the scene.
    pub name: String,
    /// Gravity [m/s²].
    pub gravity: Vec3,
    /// Bodies in the order of the poses.
    pub bodies: Vec<BodyInfo>,
    /// Particles in the order of the positions.
    pub particles: Vec<ParticleInfo>,
    /// Deformable solids, whose free nodes are among the particles.
    #[serde(default)]
    pub solids: Vec<SolidInfo>,
    /// Shapes of bodies and particles.
    pub shapes: Vec<ShapeInfo>,
    /// Whatever the writer adds: solver, time step, command line, …
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

/// A deformable solid: its vertices are particles, or points of bodies or of the world that hold them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolidInfo {
    /// Name in the scene.
    pub name: String,
    /// What moves each vertex.
    pub vertices: Vec<Vertex>,
    /// Triangles of the surface, by vertex, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Tetrahedra, by vertex.
    pub tets: Vec<[u32; 4]>,
    /// The surface that is drawn instead of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visual: Option<VisualInfo>,
}

/// A surface that moves with the tetrahedra of a solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisualInfo {
    /// The tetrahedron of each vertex.
    pub tets: Vec<u32>,
    /// Weights of its four vertices.
    pub weights: Vec<[f64; 4]>,
    /// Triangles, by vertex of this surface.
    pub triangles: Vec<[u32; 3]>,
}

/// What moves a vertex of a solid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vertex {
    /// An index of [`Header::particles`].
    Particle(u32),
    /// A point of a body.
    Body {
        /// An index of [`Header::bodies`].
        body: u32,
        /// Where it is in the body frame [m].
        position: Vec3,
    },
    /// A fixed point.
    World {
        /// Where it is [m].
        position: Vec3,
    },
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        /// Vertices [m].
        vertices: Vec<Vec3>,
        /// Corners of each triangle.
        triangles: Vec<[u32; 3]>,
    },
    /// A shape that this version has no words for.
    Other,
}

impl Header {
    /// The header of a model.
    pub fn new(model: &Model, extra: serde_json::Value) -> Header {
        Header {
            name: model.name.clone(),
            gravity: model.gravity,
            bodies: model
                .bodies
                .iter()
                .map(|b| BodyInfo {
                    name: b.name.clone(),
                    motion: match b.motion {
                        Motion::Free => "free",
                        Motion::Fixed => "fixed",
                        Motion::Constant { .. } | Motion::Keyframes { .. } => "kinematic",
                    }
                    .into(),
                    mass: b.mass.is_finite().then_some(b.mass),
                    center_of_mass: b.com,
                })
                .collect(),
            particles: model
                .nodes
                .iter()
                .map(|n| ParticleInfo { name: n.name.clone(), mass: n.mass })
                .collect(),
            solids: model.solids.iter().map(|s| solid(model, s)).collect(),
            shapes: model.shapes.iter().map(|s| shape(model, s)).collect(),
            extra,
        }
    }
}

fn solid(model: &Model, s: &ModelSolid) -> SolidInfo {
    let vertex = |a: &Anchor| match *a {
        Anchor::Node(n) => Vertex::Particle(n.0),
        Anchor::Rigid { body, local } | Anchor::Kinematic { body, local } => {
            Vertex::Body { body: body.0, position: local + model.bodies[body.index()].com }
        }
        _ => Vertex::World { position: a.position(model, &model.initial) },
    };
    SolidInfo {
        name: s.name.clone(),
        vertices: s.vertices.iter().map(vertex).collect(),
        triangles: s.surface.clone(),
        tets: s.tets.clone(),
        visual: s.visual.as_ref().map(|v| VisualInfo {
            tets: v.vertices.iter().map(|e| e.tet).collect(),
            weights: v.vertices.iter().map(|e| e.weights).collect(),
            triangles: v.triangles.clone(),
        }),
    }
}

fn shape(model: &Model, s: &ModelShape) -> ShapeInfo {
    let mut pose: Pose = s.local;
    let owner = match s.owner {
        Owner::Body(b) => {
            // The model places shapes relative to the centre of mass, recordings relative to the body frame.
            pose.translation += model.bodies[b.index()].com;
            ShapeOwner::Body(b.0)
        }
        Owner::Node(n) => ShapeOwner::Particle(n.0),
        Owner::Solid(_) => unreachable!("shapes of solids belong to their nodes"),
    };
    let g = &s.geometry;
    let geometry = if g.as_halfspace().is_some() {
        ShapeGeometry::Plane
    } else if let Some(x) = g.as_ball() {
        ShapeGeometry::Sphere { radius: x.radius }
    } else if let Some(x) = g.as_cuboid() {
        ShapeGeometry::Box { size: 2.0 * x.half_extents }
    } else if let Some(x) = g.as_capsule() {
        ShapeGeometry::Capsule { length: 2.0 * x.half_height(), radius: x.radius }
    } else if let Some(x) = g.as_cylinder() {
        // The model's cylinders stand along y of their frame; those of recordings along z.
        pose.rotation *= Quat::from_rotation_x(-std::f64::consts::FRAC_PI_2);
        ShapeGeometry::Cylinder { height: 2.0 * x.half_height, radius: x.radius }
    } else if let Some(x) = g.as_convex_polyhedron() {
        let (vertices, triangles) = x.to_trimesh();
        ShapeGeometry::Mesh { vertices, triangles }
    } else if let Some(x) = g.as_trimesh() {
        ShapeGeometry::Mesh { vertices: x.vertices().to_vec(), triangles: x.indices().to_vec() }
    } else {
        ShapeGeometry::Other
    };
    let r = pose.rotation;
    ShapeInfo { owner, position: pose.translation, rotation: [r.w, r.x, r.y, r.z], geometry }
}
