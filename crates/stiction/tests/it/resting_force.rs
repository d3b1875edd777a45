//! Contact force sensors read the weight of what rests on them, and forces explain every change of momentum.
//!
//! A box, a stack of three and a lopsided compound at rest: the floor carries the total weight to 1e-8 of it, each
//! joint of the stack what stands above it; the force of b on a is minus that of a on b, and sideways there is
//! nothing. In motion, with impacts and slip: h Σ F = Δp − m g h to 1e-9 of m·1 m/s, at every step. Both schemes.

use crate::stage;

use crate::stage::{G, cube, floor, force_of, force_on, run, start, velocity};
use stiction::coords::Pose;
use stiction::scene::{Reads, Sensor, Shape};
use stiction::{Body, Geometry, Scene, Scheme, Vec3};

const SCHEMES: [Scheme; 2] = [Scheme::ImplicitEuler, Scheme::Midpoint];

fn assert_weight(force: Vec3, weight: f64, what: &str) {
    let error = (force - Vec3::Z * weight).length() / weight;
    assert!(error < 1e-8, "{what}: {force} instead of {weight} N upwards, off by {error}");
}

#[test]
fn a_resting_box_weighs_what_it_weighs() {
    for scheme in SCHEMES {
        let mut scene = floor(0.5);
        scene.bodies.push(cube("box", 0.1, 0.5).with_mass(3.0).at(0.0, 0.0, 0.15));
        for (name, reads) in [
            ("on box", Reads::ContactForce("box".into())),
            ("on floor", Reads::ContactForce("floor".into())),
            ("pair", Reads::PairForce("floor".into(), "box".into())),
        ] {
            scene.sensors.push(Sensor { name: name.into(), reads });
        }
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 200);
        let read = |i: usize| {
            let mut out = Vec::new();
            sim.read_sensor(i, &mut out);
            Vec3::from_slice(&out)
        };
        assert_weight(read(0), 3.0 * G, "force on the box");
        assert_weight(-read(1), 3.0 * G, "force on the floor");
        assert_eq!(read(1), read(2), "only the box stands on the floor");
    }
}

#[test]
fn each_joint_of_a_stack_carries_what_is_above() {
    for scheme in SCHEMES {
        let mut scene = floor(0.5);
        let masses = [1.0, 7.0, 2.5];
        for (i, m) in masses.into_iter().enumerate() {
            let (name, z) = (format!("box{i}"), 0.1 + 0.2 * i as f64);
            scene.bodies.push(cube(&name, 0.1, 0.5).with_mass(m).at(0.01 * i as f64, 0.0, z));
        }
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 200);
        let names = ["floor", "box0", "box1", "box2"];
        for i in 0..3 {
            let above: f64 = masses[i..].iter().sum::<f64>() * G;
            let (lower, upper) = (names[i], names[i + 1]);
            let up = force_of(&sim, upper, lower);
            assert_weight(up, above, &format!("{scheme:?}: {lower} under {upper}"));
            assert_eq!(up, -force_of(&sim, lower, upper), "action is minus reaction");
            assert_weight(force_on(&sim, upper), masses[i] * G, &format!("{scheme:?}: all on {upper}"));
        }
    }
}

#[test]
fn a_lopsided_compound_weighs_what_it_weighs() {
    for scheme in SCHEMES {
        // A plate with a tower near one corner and a ball on top of the tower.
        let mut chair = Body::new("chair", Geometry::Box { half: Vec3::new(0.3, 0.2, 0.02) })
            .with_mass(4.0)
            .at(0.0, 0.0, 0.03);
        for (geometry, at) in [
            (Geometry::Box { half: Vec3::new(0.03, 0.03, 0.2) }, Vec3::new(0.2, 0.1, 0.22)),
            (Geometry::Sphere { radius: 0.05 }, Vec3::new(0.2, 0.1, 0.45)),
        ] {
            chair.shapes.push(Shape { pose: Pose::from_translation(at), ..Shape::new(geometry) });
        }
        let mut scene = floor(0.5);
        scene.bodies.push(chair);
        let mut sim = start(&scene, scheme);
        run(&mut sim, 0.01, 300);
        assert_weight(force_on(&sim, "chair"), 4.0 * G, &format!("{scheme:?}: chair"));
        assert!(velocity(&sim, "chair").length() < 1e-9);
    }
}

/// Three boxes that are thrown at each other and tumble over the floor.
fn brawl() -> Scene {
    let mut scene = floor(0.4);
    for i in 0..3 {
        let mut b = cube(&format!("box{i}"), 0.1, 0.4).with_mass([1.0, 3.0, 0.5][i]);
        let x = 0.35 * (i as f64 - 1.0);
        b = b.at(x, 0.02 * i as f64, 0.2 + 0.1 * i as f64);
        b.velocity = Vec3::new(-4.0 * x, 0.3, 0.0);
        b.spin = Vec3::new(3.0, 4.0 * x, 1.0);
        scene.bodies.push(b);
    }
    scene
}

#[test]
fn contact_forces_explain_every_change_of_momentum() {
    let h = 5e-3;
    for scheme in SCHEMES {
        let mut sim = start(&brawl(), scheme);
        let names = ["box0", "box1", "box2"];
        let (mut impacts, mut meetings) = (0, 0);
        for _ in 0..300 {
            let before = names.map(|n| velocity(&sim, n));
            run(&mut sim, h, 1);
            for (name, v0) in names.into_iter().zip(before) {
                let mass = sim.model().bodies[stage::id(&sim, name).index()].mass;
                let change = mass * (velocity(&sim, name) - v0 + Vec3::Z * (G * h));
                let force = force_on(&sim, name);
                let error = (force * h - change).length() / mass;
                assert!(error < 1e-9, "{scheme:?}: {name} at {} s is off by {error} m/s", sim.state().t);
                impacts += usize::from(force.length() > 10.0 * mass * G);
                for other in names.into_iter().filter(|o| *o != name) {
                    let (f, r) = (force_of(&sim, name, other), force_of(&sim, other, name));
                    assert_eq!(f, -r, "{scheme:?}: action is minus reaction");
                    meetings += usize::from(f != Vec3::ZERO);
                }
            }
        }
        assert!(impacts > 3 && meetings > 3, "the story needs impacts: {impacts}, {meetings}");
    }
}
