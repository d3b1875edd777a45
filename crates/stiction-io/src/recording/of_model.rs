//! The header and the frames of a running simulation.

use super::header::{
    BodyInfo, Header, JointInfo, ParticleInfo, RodInfo, ShapeGeometry, ShapeInfo, ShapeOwner, SolidInfo,
    SpringInfo,
};
use super::{ContactRecord, Frame, Mesh, column_names, column_values};
use stiction::coords::{BodyId, NodeId, Pose, ShapeId};
use stiction::scene::{JointKind, Model, ModelJoint, ModelShape, ModelSolid, Motion, Owner};
use stiction::{Quat, Simulation, Vec3};

/// Faces around the side of a cone, which is drawn as a mesh.
const CONE_SEGMENTS: u32 = 48;

impl Header {
    /// The header of a model.
    pub fn new(model: &Model, extra: serde_json::Value) -> Header {
        let mut header = Header {
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
                .filter(|n| n.solid.is_none())
                .map(|n| ParticleInfo { name: n.name.clone(), mass: n.mass })
                .collect(),
            joints: model.joints.iter().map(|j| joint(model, j)).collect(),
            rods: model
                .rods
                .iter()
                .map(|r| RodInfo {
                    name: r.name.clone(),
                    first: r.links.start as u32,
                    links: r.links.len() as u32,
                })
                .collect(),
            springs: model.springs.iter().map(|s| SpringInfo { name: s.name.clone() }).collect(),
            columns: column_names(model),
            extra,
            ..Header::default()
        };
        for s in model.shapes.iter().filter(|s| !is_of_solid(model, s)) {
            let info = shape(model, s, &mut header.meshes);
            header.shapes.push(info);
        }
        for s in &model.solids {
            let info = solid(s, &mut header.meshes);
            header.solids.push(info);
        }
        header
    }
}

/// Writes the present state over `frame`.
pub(super) fn fill(frame: &mut Frame, sim: &Simulation) {
    let (model, state, kin) = (sim.model(), sim.state(), sim.kinematics());
    frame.t = state.t;
    frame.poses.clear();
    frame.poses.extend((0..model.bodies.len() as u32).map(|i| {
        let p = model.body_pose(state, BodyId(i));
        let (x, r) = (p.translation, p.rotation);
        [x.x, x.y, x.z, r.w, r.x, r.y, r.z].map(|v| v as f32)
    }));
    frame.points.clear();
    let single = (0..model.nodes.len()).filter(|&i| model.nodes[i].solid.is_none());
    frame.points.extend(single.map(|i| small(model.node_position(state, NodeId(i as u32)))));
    for s in &model.solids {
        frame.points.extend(s.vertices.iter().map(|a| small(kin.position(a))));
    }
    for end in model.springs.iter().flat_map(|s| &s.ends) {
        let at: Vec3 = end.iter().map(|(a, w)| *w * kin.position(a)).sum();
        frame.points.push(small(at));
    }
    frame.contacts.clear();
    let particles = model.nodes.iter().take_while(|n| n.solid.is_none()).count();
    frame.contacts.extend(sim.contacts().map(|(c, force)| ContactRecord {
        a: part(model, particles, c.key.shape_a),
        b: part(model, particles, c.key.shape_b),
        point: small(c.point),
        normal: small(c.normal()),
        force: small(force),
        friction: c.friction.mean() as f32,
    }));
    column_values(sim, &mut frame.columns);
}

fn small(x: Vec3) -> [f32; 3] {
    x.as_vec3().to_array()
}

/// Bodies, then particles, then solids. Particles come before the nodes of solids in the model, too.
fn part(model: &Model, particles: usize, s: ShapeId) -> u32 {
    let bodies = model.bodies.len();
    let index = match model.whole(model.shapes[s.index()].owner) {
        Owner::Body(b) => b.index(),
        Owner::Node(n) => bodies + n.index(),
        Owner::Solid(s) => bodies + particles + s.index(),
    };
    index as u32
}

fn is_of_solid(model: &Model, s: &ModelShape) -> bool {
    matches!(model.whole(s.owner), Owner::Solid(_))
}

fn quaternion(r: Quat) -> [f64; 4] {
    [r.w, r.x, r.y, r.z]
}

fn solid(s: &ModelSolid, meshes: &mut Vec<Mesh>) -> SolidInfo {
    let rest = s.rest.iter().map(|x| small(*x)).collect();
    let mesh = meshes.len() as u32;
    meshes.push(Mesh::new(rest, s.surface.to_vec(), s.tets.to_vec()));
    let visual = s.visual.as_ref().map(|v| {
        let at = v.vertices.iter().map(|e| small(e.position(&s.rest))).collect();
        let hosts = v.vertices.iter().map(|e| e.tet).collect();
        meshes.push(Mesh::carried(at, v.triangles.clone(), hosts));
        meshes.len() as u32 - 1
    });
    let material = s.elements.materials().first().copied();
    SolidInfo { name: s.name.clone(), mass: s.mass.iter().sum(), mesh, material, visual }
}

fn joint(model: &Model, j: &ModelJoint) -> JointInfo {
    // The model counts from the centre of mass, recordings from the body frame.
    let com = |b: BodyId| model.bodies[b.index()].com;
    JointInfo {
        name: j.name.clone(),
        kind: match j.kind {
            JointKind::Fixed => "fixed",
            JointKind::Hinge => "hinge",
            JointKind::Prismatic => "prismatic",
            JointKind::Cylindrical => "cylindrical",
            JointKind::Ball => "ball",
            JointKind::Universal { .. } => "universal",
            JointKind::Distance { .. } => "distance",
        }
        .into(),
        a: j.a.map(|a| a.0),
        b: j.b.0,
        anchor_a: j.local_a + j.a.map_or(Vec3::ZERO, com),
        frame_a: quaternion(j.frame_a),
        anchor_b: j.local_b + com(j.b),
        frame_b: quaternion(j.frame_b),
    }
}

fn shape(model: &Model, s: &ModelShape, meshes: &mut Vec<Mesh>) -> ShapeInfo {
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
    let mut mesh = |vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>| {
        meshes.push(Mesh::new(vertices.into_iter().map(small).collect(), triangles, Vec::new()));
        ShapeGeometry::Mesh { mesh: meshes.len() as u32 - 1 }
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
    } else if let Some(x) = g.as_cone() {
        let (vertices, triangles) = x.to_trimesh(CONE_SEGMENTS);
        mesh(vertices, triangles)
    } else if let Some(x) = g.as_convex_polyhedron() {
        let (vertices, triangles) = x.to_trimesh();
        mesh(vertices, triangles)
    } else if let Some(x) = g.as_trimesh() {
        mesh(x.vertices().to_vec(), x.indices().to_vec())
    } else {
        ShapeGeometry::Other
    };
    ShapeInfo { owner, position: pose.translation, rotation: quaternion(pose.rotation), geometry }
}
