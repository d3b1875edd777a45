//! Two soft blocks stand on each other: aligned node on node, or turned and shifted so that nodes meet faces and rims
//! cross edges. At rest the lower one carries the upper one's weight, the floor carries both, to 1e-6 of it; nothing
//! stands inside the other; and no contact pulls or holds blocks that merely stand beside each other.

use crate::common::intersect;
use stiction::Vec3;
use stiction::coords::{BodyId, SoftId};
use stiction::elastic::{Damping, Law, Material};
use stiction::linalg::Quat;
use stiction::mesh::shapes;
use stiction::methods::SimSettings;
use stiction::scene::{Body, Geometry, Motion, Owner, Scene, SoftBody};
use stiction::sim::Simulation;

const G: f64 = 9.81;
const EDGE: f64 = 0.05;

fn floor() -> Body {
    Body { motion: Motion::Fixed, ..Body::new("floor", Geometry::Plane) }
}

fn block(name: &str, cells: [usize; 3], z: f64) -> SoftBody {
    let material = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 1000.0 };
    let mut b = SoftBody::new(name, shapes::block(cells, Vec3::splat(0.1)), material);
    b.pose.translation.z = z;
    b.damping = Damping { mass: 2.0, stiffness: 0.02, ..Damping::default() };
    b
}

fn weight(sim: &Simulation, s: usize) -> f64 {
    G * sim.model().solids[s].mass.iter().sum::<f64>()
}

/// Sum of the forces of the second on the first.
fn force(sim: &Simulation, on: Owner, of: Owner) -> Vec3 {
    let model = sim.model();
    let whole = |s: stiction::coords::ShapeId| model.whole(model.shapes[s.index()].owner);
    let mut sum = Vec3::ZERO;
    for (c, f) in sim.contacts() {
        let (a, b) = (whole(c.key.shape_a), whole(c.key.shape_b));
        if (a, b) == (on, of) {
            sum += f;
        } else if (a, b) == (of, on) {
            sum -= f;
        }
    }
    sum
}

fn settle(upper: SoftBody) -> Simulation {
    let scene = Scene {
        gravity: Vec3::new(0.0, 0.0, -G),
        bodies: vec![floor()],
        solids: vec![block("lower", [2, 2, 2], 0.0), upper],
        ..Scene::default()
    };
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    for k in 0..250 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved(), "step {k}: {:?}", r.status);
        if k % 10 == 0 {
            let deep = intersect::deepest(&sim);
            assert!(deep < 1e-4 * EDGE, "step {k}: {deep} m deep");
        }
    }
    sim
}

fn check(sim: &Simulation) {
    let (w0, w1) = (weight(sim, 0), weight(sim, 1));
    let up = force(sim, Owner::Solid(SoftId(1)), Owner::Solid(SoftId(0)));
    let all = force(sim, Owner::Solid(SoftId(0)), Owner::Body(BodyId(0)));
    assert!((up - Vec3::Z * w1).length() < 1e-6 * w1, "{up} carries {w1}");
    assert!((all - Vec3::Z * (w0 + w1)).length() < 1e-6 * w0, "{all} carries {}", w0 + w1);
    let fastest = sim.state().v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(fastest < 1e-6, "{fastest} m/s");
}

#[test]
fn node_on_node() {
    check(&settle(block("upper", [2, 2, 2], 0.1)));
}

#[test]
fn turned_and_shifted() {
    let mut upper = block("upper", [3, 3, 2], 0.102);
    upper.pose.rotation = Quat::from_rotation_z(0.5);
    upper.pose.translation.x = 0.011;
    check(&settle(upper));
}

#[test]
fn blocks_beside_each_other_fall_freely() {
    let mut other = block("other", [2, 2, 2], 0.05);
    other.pose.translation.x = 0.1 + 1e-4;
    other.velocity = Vec3::new(0.0, 0.0, 1.0);
    let mut one = block("one", [2, 2, 2], 0.0);
    for b in [&mut one, &mut other] {
        b.damping = Damping::default();
    }
    let scene = Scene { solids: vec![one, other], gravity: Vec3::ZERO, ..Scene::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    for _ in 0..30 {
        sim.step(0.01).unwrap();
        assert!(sim.contacts().all(|(_, f)| f.length() < 1e-9));
    }
    assert!(sim.state().v.iter().step_by(3).all(|v| v.abs() < 1e-10));
}
