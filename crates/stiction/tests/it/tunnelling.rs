//! Nothing passes through a thin soft sheet within a step: a ball of 1 cm, shot at a plate of tetrahedra 5 mm thick and
//! held at its rim, at 25, 100 and 500 m/s with steps of 10 ms, in which it would fly through by up to a thousand times
//! the thickness. It is stopped or thrown back; at no step does it stand behind the sheet.

use stiction::Vec3;
use stiction::coords::{BodyId, SoftId};
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::methods::SimSettings;
use stiction::scene::{Body, Geometry, NodeSelection, Scene, SoftBody};
use stiction::sim::Simulation;

const RADIUS: f64 = 0.005;

fn sheet() -> SoftBody {
    let material = Material { law: Law::StableNeoHookean, young: 1e7, poisson: 0.3, density: 1000.0 };
    let mesh = shapes::block([6, 6, 1], Vec3::new(0.2, 0.2, 0.005));
    let rim = mesh.vertices.iter().enumerate().filter(|(_, x)| x.x.abs().max(x.y.abs()) > 0.0999);
    let rim = rim.map(|(k, _)| k as u32).collect();
    SoftBody::new("sheet", mesh, material).pinned(NodeSelection::Nodes(rim))
}

/// The largest height of the ball's centre below the upper triangles that it stands over; negative above them.
fn behind(sim: &Simulation, p: Vec3) -> f64 {
    let solid = &sim.model().solids[0];
    let x = |k: u32| sim.kinematics().vertex_position(SoftId(0), k as usize);
    let mut depth = f64::NEG_INFINITY;
    for t in solid.surface.iter().filter(|t| t.iter().all(|k| solid.rest[*k as usize].z > 0.004)) {
        let [a, b, c] = t.map(x);
        let n = (b - a).cross(c - a).normalize();
        let over = [(a, b), (b, c), (c, a)].iter().all(|(u, v)| (*v - *u).cross(p - *u).dot(n) >= 0.0);
        if over {
            depth = depth.max(-n.dot(p - a));
        }
    }
    depth
}

fn shoot(speed: f64, side: Vec3) {
    let mut ball = Body::new("ball", Geometry::Sphere { radius: RADIUS });
    // Half a step before the sheet, so that it is far away when it is found.
    let velocity = speed * (side - Vec3::Z).normalize();
    ball.pose.translation = Vec3::new(0.013, 0.021, 0.005) - velocity * 0.006;
    ball.velocity = velocity;
    let scene = Scene { gravity: Vec3::ZERO, bodies: vec![ball], solids: vec![sheet()], ..Scene::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    let mut touched = false;
    for k in 0..20 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved(), "{speed} m/s, step {k}: {:?}", r.status);
        touched |= sim.contacts().any(|(_, f)| f.length() > 0.0);
        let p = sim.model().com_pose(sim.state(), BodyId(0)).translation;
        let depth = behind(&sim, p);
        assert!(depth < 0.0, "{speed} m/s, step {k}: centre {depth} m behind the sheet");
        assert!(p.z > -0.1, "{speed} m/s, step {k}: {p}");
    }
    assert!(touched, "{speed} m/s: they met");
}

#[test]
fn straight() {
    for speed in [25.0, 100.0, 500.0] {
        shoot(speed, Vec3::ZERO);
    }
}

#[test]
fn at_a_slant() {
    for speed in [25.0, 100.0, 500.0] {
        shoot(speed, Vec3::new(0.4, 0.2, 0.0));
    }
}
