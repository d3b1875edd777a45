//! A cable over a drum: friction multiplies its tension by exp(μ θ) (Euler–Eytelwein).
//!
//! One end is held, a force pulls at the other, and the drum turns below the cable, so that every contact slips: the
//! tension at the held end is exp(±μ θ) times the pull, within 2 %. And without turning the cable holds a weight ratio just
//! below that, and slips above it.

use crate::stage::{position, run, start};
use std::f64::consts::PI;
use stiction::elastic::Section;
use stiction::scene::{Body, Fixing, Force, Geometry, Motion, Rod, RodHold, Scene};
use stiction::{Quat, Scheme, Simulation, Vec3};

const RADIUS: f64 = 0.1;
const ROPE: f64 = 0.001;
const MU: f64 = 0.4;

/// A cable over the upper half of a drum along y; `down` is how far both ends hang below its axis.
fn drum(segments: usize, down: f64, motion: Motion) -> Scene {
    let mut scene = Scene::default();
    // Loads come at once: look ahead farther than a thin cable asks for.
    scene.contact.margin = Some(2e-3);
    let mut drum =
        Body::new("drum", Geometry::Capsule { half_height: 0.2, radius: RADIUS }).with_friction(MU);
    drum.pose.rotation = Quat::from_rotation_x(0.5 * PI);
    drum.motion = motion;
    scene.bodies.push(drum);
    // The middle of a link touches, its ends stand off.
    let r = RADIUS + ROPE;
    let chord = (PI * r + 2.0 * down) / segments as f64;
    let r = r.hypot(0.5 * chord);
    let corners = [(-r, -down), (-r, r), (r, r), (r, -down)];
    let section = Section { radius: ROPE, young: 2e7, poisson: 0.3 };
    let mut rod = Rod::new("cable", Vec3::ZERO, Vec3::X, segments, section);
    rod.points = corners.map(|(x, z)| Vec3::new(x, 0.0, z)).to_vec();
    rod.corner_radius = r;
    rod.friction = MU;
    rod.damping = 2e-3;
    scene.rods.push(rod);
    scene
}

fn pull(link: String, force: f64) -> Force {
    Force {
        target: link,
        force: -Vec3::Z * force,
        torque: Vec3::ZERO,
        at: None,
        from: 0.0,
        until: f64::INFINITY,
    }
}

/// Tension in the rod at its first joint [N].
fn held_tension(sim: &Simulation) -> f64 {
    let joint = &sim.model().rods[0].joints[0];
    joint.element.force(&sim.kinematics().rod_frames(joint)).length()
}

#[test]
fn a_turning_drum_multiplies_the_tension_by_the_capstan_ratio() {
    for spin in [2.0, -2.0] {
        let n = 60;
        let mut scene = drum(n, 0.06, Motion::Constant { velocity: Vec3::ZERO, spin: Vec3::Y * spin });
        scene.rods[0].ends[0] = Some(RodHold { to: None, fixing: Fixing::Pinned });
        scene.forces.push(pull(scene.rods[0].link(n - 1), 1.0));
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        for _ in 0..150 {
            let r = sim.step(0.01).unwrap();
            assert!(r.status.is_solved(), "{:?} {:?}", r.status, r.residuals);
        }
        let tension = held_tension(&sim);
        let expected = (MU * PI * spin.signum()).exp();
        assert!((tension / expected - 1.0).abs() < 0.02, "{tension} of {expected} N");
    }
}

#[test]
fn a_cable_holds_below_the_capstan_ratio_and_slips_above_it() {
    let slip = |share: f64| {
        let n = 60;
        let mut scene = drum(n, 0.06, Motion::Fixed);
        let ratio = share * (MU * PI).exp();
        scene.forces.push(pull(scene.rods[0].link(0), ratio));
        scene.forces.push(pull(scene.rods[0].link(n - 1), 1.0));
        let mut sim = start(&scene, Scheme::ImplicitEuler);
        let mut sink = |steps: usize| {
            let before = position(&sim, "cable[0]").z;
            run(&mut sim, 0.002, steps);
            before - position(&sim, "cable[0]").z
        };
        sink(40);
        sink(20)
    };
    let (below, above) = (slip(0.98), slip(1.02));
    assert!(below.abs() < 1e-7, "creeps by {below} m");
    assert!(above > 1e-3, "moves by {above} m");
}
