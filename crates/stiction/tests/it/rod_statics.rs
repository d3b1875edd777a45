//! Rods against closed forms: the tip of a cantilever sinks by Timoshenko's formula, an end moment rolls a rod into a circle, a
//! column buckles at Euler's load, a rope hangs in a catenary, a twisted rod turns by M L/(G J), and a drawn rest shape is
//! free of load. Found by steps so long that inertia does not count.

use crate::stage;

use crate::stage::{G, empty, position, start};
use std::f64::consts::PI;
use stiction::elastic::Section;
use stiction::scene::{Fixing, Force, RestShape, Rod, RodHold, Scene};
use stiction::{Scheme, Simulation, Vec3};

/// Long enough that a step is a step of Newton's method for the equilibrium [s].
const LONG: f64 = 1e4;

fn section() -> Section {
    Section { radius: 0.01, young: 1e7, poisson: 0.3 }
}

fn clamped() -> Option<RodHold> {
    Some(RodHold { to: None, fixing: Fixing::Clamped })
}

fn pinned() -> Option<RodHold> {
    Some(RodHold { to: None, fixing: Fixing::Pinned })
}

/// A rod along x from the origin, clamped there, without gravity.
fn cantilever(segments: usize, length: f64) -> Scene {
    let mut scene = Scene::default();
    let mut rod = Rod::new("rod", Vec3::ZERO, Vec3::X * length, segments, section());
    rod.ends[0] = clamped();
    scene.rods.push(rod);
    scene
}

/// Pushes or turns the last link, at its far end.
fn load(scene: &mut Scene, force: Vec3, torque: Vec3) {
    let rod = &scene.rods[0];
    let (last, length) = (rod.segments - 1, rod.points[0].distance(rod.points[1]));
    let at = Some(Vec3::Z * (0.5 * length / rod.segments as f64));
    let (from, until) = (0.0, f64::INFINITY);
    scene.forces.push(Force { target: rod.link(last), force, torque, at, from, until });
}

/// Steps until nothing moves.
fn settle(sim: &mut Simulation) {
    for _ in 0..300 {
        let before = sim.state().q.clone();
        sim.step(LONG).unwrap();
        let moved = sim.state().q.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let mut state = sim.state().clone();
        state.v.fill(0.0);
        sim.set_state(state);
        if moved < 1e-12 {
            return;
        }
    }
    panic!("still moves");
}

/// The far end of the last link.
fn tip(sim: &Simulation) -> Vec3 {
    let rod = &sim.model().rods[0];
    let [_, frame] = sim.kinematics().rod_frames(&rod.joints[rod.joints.len() - 1]);
    frame.point - 2.0 * frame.arm
}

#[test]
fn a_cantilever_sinks_by_timoshenko() {
    let (length, f): (f64, f64) = (0.5, 1e-3);
    let s = section();
    let expected = f * length.powi(3) / (3.0 * s.bend_stiffness().x) + f * length / s.stretch_stiffness().x;
    let error = |segments: usize| {
        let mut scene = cantilever(segments, length);
        load(&mut scene, -Vec3::Z * f, Vec3::ZERO);
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        settle(&mut sim);
        -tip(&sim).z / expected - 1.0
    };
    let (coarse, fine) = (error(10), error(40));
    // Rigid links bent at their joints: 1/(2 n²) too much.
    assert!((coarse * 200.0 - 1.0).abs() < 0.1, "{coarse}");
    assert!(fine.abs() < 5e-4, "{fine}");
}

#[test]
fn an_end_moment_rolls_a_rod_into_a_circle() {
    let gap = |segments: usize| {
        let length = 1.0;
        let mut scene = cantilever(segments, length);
        let moment = 2.0 * PI * section().bend_stiffness().x / length;
        load(&mut scene, Vec3::ZERO, -Vec3::Y * moment);
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        // From straight to a circle in pieces: a rod is wound up, not thrown.
        let full = sim.model().clone();
        for k in 1..=20 {
            let mut model = stiction::Model::clone(&full);
            model.forces[0].torque *= f64::from(k) / 20.0;
            let state = sim.state().clone();
            sim = Simulation::new(model, Default::default());
            sim.set_state(state);
            settle(&mut sim);
        }
        let widest = (0..segments).map(|i| position(&sim, &format!("rod[{i}]")).z).fold(0.0, f64::max);
        assert!((widest * PI / length - 1.0).abs() < 0.05, "{widest} m across");
        tip(&sim).length() / length
    };
    let (coarse, fine) = (gap(20), gap(40));
    // The last half link does not bend: the circle stays open by about π/n of the last link's turn.
    assert!(coarse < 0.03 && fine < 0.52 * coarse, "{coarse} {fine}");
}

#[test]
fn a_column_buckles_at_eulers_load() {
    let length = 0.5;
    let euler = PI * PI * section().bend_stiffness().x / (4.0 * length * length);
    // Deflection under a load and a hair of a side push: it grows like 1/(1 − P/P_cr).
    let deflection = |share: f64| {
        let mut scene = cantilever(24, length);
        load(&mut scene, Vec3::new(-share * euler, 0.0, 1e-7), Vec3::ZERO);
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        settle(&mut sim);
        tip(&sim).z
    };
    let (a, b) = (deflection(0.7), deflection(0.9));
    // Two inverse deflections on a line give the load where it is zero.
    let critical = 0.7 + 0.2 / (1.0 - a / b);
    assert!((critical - 1.0).abs() < 0.03, "{critical} of Euler's load");
    assert!(deflection(1.1) > 0.1 * length, "beyond it the column gives way");
}

#[test]
fn a_rope_hangs_in_a_catenary() {
    // 1.2 m of rope between hooks 1 m apart: a sinh(d/2a) = L/2.
    let (span, length, n) = (1.0, 1.2, 60);
    let mut scene = empty();
    let soft = Section { radius: 0.002, young: 5e6, poisson: 0.3 };
    // Drawn as a V of the right length, bent nearly freely: EI is 1e-5 of weight times length².
    let depth = 0.5 * f64::sqrt(length * length - span * span);
    let mut rope = Rod::new("rope", Vec3::ZERO, Vec3::X * span, n, soft);
    rope.points = vec![Vec3::ZERO, Vec3::new(0.5 * span, 0.0, -depth), Vec3::X * span];
    rope.ends = [pinned(), pinned()];
    scene.rods.push(rope);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    for _ in 0..200 {
        sim.step(0.05).unwrap();
    }
    settle(&mut sim);
    let (mut low, mut high) = (0.1f64, 10.0f64);
    while high - low > 1e-12 {
        let a = 0.5 * (low + high);
        if a * (span / (2.0 * a)).sinh() > 0.5 * length { low = a } else { high = a }
    }
    let sag = low * ((span / (2.0 * low)).cosh() - 1.0);
    let lowest = (0..n).map(|i| -position(&sim, &format!("rope[{i}]")).z).fold(0.0, f64::max);
    assert!((lowest / sag - 1.0).abs() < 5e-3, "{lowest} of {sag} m");
    // The hooks carry the weight: half of it each.
    let weight = 1000.0 * soft.area() * length * G;
    let joints = &sim.model().rods[0].joints;
    for joint in [&joints[0], &joints[n]] {
        let f = joint.element.force(&sim.kinematics().rod_frames(joint));
        assert!((f.z.abs() / (0.5 * weight) - 1.0).abs() < 1e-6, "{f}");
    }
}

#[test]
fn a_rod_twists_by_its_moment() {
    let (length, n, moment) = (0.5, 10, 2e-3);
    let mut scene = cantilever(n, length);
    load(&mut scene, Vec3::ZERO, Vec3::X * moment);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    let before = stage::orientation(&sim, "rod[9]");
    settle(&mut sim);
    // The moment acts on the middle of the last link as well as on its end.
    let expected = moment * (length - 0.5 * length / n as f64) / section().bend_stiffness().z;
    let turned = stage::turned(&sim, "rod[9]", before);
    assert!((turned / expected - 1.0).abs() < 1e-9, "{turned} of {expected} rad");
}

#[test]
fn a_drawn_rest_shape_is_free_of_load() {
    let mut scene = Scene::default();
    let mut rod = Rod::new("hook", Vec3::ZERO, Vec3::X, 30, section());
    rod.points = vec![Vec3::ZERO, Vec3::X * 0.5, Vec3::new(0.5, 0.5, 0.0), Vec3::new(0.5, 0.5, 0.5)];
    rod.corner_radius = 0.1;
    rod.rest = RestShape::AsDrawn;
    scene.rods.push(rod);
    let mut sim = start(&scene, Scheme::ImplicitEuler);
    assert!(sim.energy().elastic < 1e-20);
    sim.step(0.01).unwrap();
    assert!(sim.state().v.iter().all(|v| v.abs() < 1e-9), "it stays as it is drawn");
    scene.rods[0].rest = RestShape::Straight;
    let mut bent = start(&scene, Scheme::ImplicitEuler);
    assert!(bent.energy().elastic > 1e-3);
    bent.step(0.01).unwrap();
    assert!(bent.state().v.iter().any(|v| v.abs() > 1e-2), "it springs open");
}
