//! The built-in soft scenes do what their comments say: what is gripped is held by friction, and forces balance.

use stiction::coords::{BodyId, SoftId};
use stiction::scene::Owner;
use stiction::{Simulation, Vec3};
use stiction_io::gallery;

fn load(name: &str) -> (Simulation, f64, usize) {
    let s = gallery::find(name).unwrap().load(&[]).unwrap();
    let steps = (s.duration / s.dt).round() as usize;
    (Simulation::new(s.scene.compile().unwrap(), s.settings), s.dt, steps)
}

/// Nodes that touch a body with some force, and where they are in its frame.
fn held(sim: &Simulation, body: BodyId) -> Vec<(u32, Vec3)> {
    let owner = |s: stiction::coords::ShapeId| sim.model().shapes[s.index()].owner;
    let pose = sim.model().body_pose(sim.state(), body);
    sim.contacts()
        .filter(|(_, f)| f.length() > 0.0)
        .filter_map(|(c, _)| match (owner(c.key.shape_a), owner(c.key.shape_b)) {
            (Owner::Body(b), Owner::Node(n)) | (Owner::Node(n), Owner::Body(b)) if b == body => Some(n),
            _ => None,
        })
        .map(|n| (n.0, pose.inverse_transform_point(sim.model().node_position(sim.state(), n))))
        .collect()
}

/// Runs a grip: closed at step `closed`, then lifted and held to the end. Returns the largest mean slip [m] on the two
/// gripping bodies, and checks what must hold at every step.
fn grip(name: &str, bodies: [&str; 2], closed: usize) -> (Simulation, f64) {
    let (mut sim, dt, steps) = load(name);
    let bodies = bodies.map(|name| sim.body(name).unwrap().id());
    let solid = Owner::Solid(SoftId(0));
    let mass: f64 = sim.model().solids[0].mass.iter().sum();
    let velocity = |sim: &Simulation| {
        let nodes = &sim.model().nodes;
        nodes.iter().map(|n| n.mass * n.velocity(sim.state())).sum::<Vec3>() / mass
    };
    let mut before = velocity(&sim);
    let mut start = Vec::new();
    for step in 0..steps {
        let r = sim.step(dt).unwrap();
        assert!(r.status.is_solved(), "{name}, step {step}: {:?}", r.status);
        assert!(r.residuals.natural <= 1e-6, "{name}, step {step}: {:e} m/s", r.residuals.natural);
        assert!(r.residuals.penetration.max(r.overlap) <= 1e-5, "{name}, step {step}");
        // Contact forces and weight are what changes the momentum.
        let after = velocity(&sim);
        let inertia = mass * (after - before) / dt;
        let sum = sim.force_on(solid, None) + mass * sim.model().gravity;
        assert!((sum - inertia).length() < 1e-6 * mass * 9.81, "{name}, step {step}: {sum} {inertia}");
        before = after;
        if step + 1 == closed {
            start = bodies.map(|b| held(&sim, b)).to_vec();
        }
    }
    let mut worst = 0.0_f64;
    for (body, start) in bodies.iter().zip(&start) {
        assert!(start.len() > 10, "{name}: {} nodes touch", start.len());
        let pose = sim.model().body_pose(sim.state(), *body);
        let now = |n: u32| {
            pose.inverse_transform_point(sim.model().node_position(sim.state(), stiction::coords::NodeId(n)))
        };
        // Nodes at the very edge of a plate may slide off it; those that touch at both times tell the slip.
        let end: Vec<u32> = held(&sim, *body).iter().map(|(n, _)| *n).collect();
        let both: Vec<&(u32, Vec3)> = start.iter().filter(|(n, _)| end.contains(n)).collect();
        assert!(
            10 * both.len() > 8 * start.len(),
            "{name}: {} of {} nodes still touch",
            both.len(),
            start.len()
        );
        let slip = both.iter().map(|(n, x)| (now(*n) - *x).reject_from(Vec3::X)).sum::<Vec3>();
        worst = worst.max(slip.length() / both.len() as f64);
    }
    (sim, worst)
}

#[test]
fn fingers_lift_the_soft_ball() {
    let (sim, slip) = grip("soft-grasp", ["left finger", "right finger"], 100);
    assert!(slip < 1e-4, "{slip}");
    let x = sim.sensor("ball position").unwrap().values();
    assert!((x[2] - 0.15).abs() < 2e-3, "lifted by 10 cm, less the sag: {x:?}");
    println!("soft-grasp slips by {slip:e} m");
}

#[test]
fn plates_lift_the_soft_block() {
    let (sim, slip) = grip("soft-block-grip", ["left plate", "right plate"], 50);
    assert!(slip < 1e-5, "{slip}");
    assert!(sim.energy().kinetic < 1e-12, "it hangs still");
    println!("soft-block-grip slips by {slip:e} m");
}
