//! Reactions equal statics to 1e-6. A hanging chain carries at each joint what hangs below; an arm on a fixed joint
//! gives its weight and the moment weight × lever; a beam on a hinge and a rod shares its load by the lever rule; a
//! loop of five bars that holds things twice still balances every bar.

use crate::stage::{G, empty, run, start};
use stiction::scene::{Force, Joint, JointKind};
use stiction::{Body, Geometry, Scene, Scheme, Simulation, Vec3};

fn block(name: &str, mass: f64, x: f64, z: f64) -> Body {
    Body::new(name, Geometry::Box { half: Vec3::splat(0.05) }).with_mass(mass).at(x, 0.0, z)
}

fn settled(scene: &Scene, scheme: Scheme) -> Simulation {
    let mut sim = start(scene, scheme);
    run(&mut sim, 0.01, 30);
    sim
}

fn near(what: &str, x: Vec3, y: Vec3, scale: f64) {
    assert!((x - y).length() < 1e-6 * scale, "{what}: {x}, not {y}");
}

#[test]
fn a_hanging_chain_carries_what_hangs_below() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut scene = empty();
        for k in 0..8 {
            let z = -0.2 * k as f64;
            scene.bodies.push(block(&format!("{k}"), 1.0 + k as f64, 0.0, z - 0.1));
            let joint = match k {
                0 => Joint::to_world("0", JointKind::Ball, "0"),
                _ => Joint::new(format!("{k}"), JointKind::Ball, format!("{}", k - 1), format!("{k}")),
            };
            scene.joints.push(joint.at(Vec3::new(0.0, 0.0, z)));
        }
        let sim = settled(&scene, scheme);
        for k in 0..8 {
            let below: f64 = (k..8).map(|i| 1.0 + i as f64).sum();
            let (force, moment) = sim.joint_force(k);
            near("force", force, Vec3::new(0.0, 0.0, below * G), below * G);
            near("moment", moment, Vec3::ZERO, below * G);
        }
    }
}

#[test]
fn a_fixed_joint_carries_force_and_moment() {
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut scene = empty();
        scene.bodies.push(block("arm", 2.0, 0.7, 0.3));
        scene.joints.push(Joint::to_world("wall", JointKind::Fixed, "arm").at(Vec3::ZERO));
        scene.forces.push(Force {
            target: "arm".into(),
            force: Vec3::new(0.0, 5.0, 0.0),
            torque: Vec3::new(0.0, 0.0, 1.5),
            at: None,
            from: 0.0,
            until: f64::INFINITY,
        });
        let sim = settled(&scene, scheme);
        let load = Vec3::new(0.0, 5.0, -2.0 * G);
        let (force, moment) = sim.joint_force(0);
        near("force", force, -load, 2.0 * G);
        let lever = Vec3::new(0.7, 0.0, 0.3);
        near("moment", moment, -(lever.cross(load) + Vec3::new(0.0, 0.0, 1.5)), 2.0 * G);
    }
}

#[test]
fn a_beam_shares_its_load_by_the_lever_rule() {
    // Hinged at the left end, hung on a rod at three quarters of its length.
    let mut scene = empty();
    let mut beam = block("beam", 4.0, 1.0, 0.0);
    beam.shapes[0].geometry = Geometry::Box { half: Vec3::new(1.0, 0.05, 0.05) };
    scene.bodies.push(beam);
    scene.joints.push(Joint::to_world("hinge", JointKind::Hinge, "beam").at(Vec3::ZERO).about(Vec3::Y));
    let rod = Joint::to_world("rod", JointKind::Distance { length: None }, "beam");
    scene.joints.push(rod.between(Vec3::new(1.5, 0.0, 2.0), Vec3::new(0.5, 0.0, 0.0)));
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let sim = settled(&scene, scheme);
        let rod = 4.0 * G / 1.5;
        near("rod", sim.joint_force(1).0, Vec3::new(0.0, 0.0, rod), 4.0 * G);
        near("hinge", sim.joint_force(0).0, Vec3::new(0.0, 0.0, 4.0 * G - rod), 4.0 * G);
    }
}

#[test]
fn redundant_frames_balance_bar_by_bar() {
    // A square of four blocks on fixed joints, hung at two corners: statically indeterminate, but all in balance.
    let mut scene = empty();
    for (k, (x, z)) in [(0.0, 0.0), (1.0, 0.0), (1.0, -1.0), (0.0, -1.0)].into_iter().enumerate() {
        scene.bodies.push(block(&format!("{k}"), 1.0 + k as f64, x, z));
    }
    for k in 0..4 {
        scene.joints.push(Joint::new(
            format!("{k}"),
            JointKind::Fixed,
            format!("{k}"),
            format!("{}", (k + 1) % 4),
        ));
    }
    scene.joints.push(Joint::to_world("left", JointKind::Fixed, "0"));
    scene.joints.push(Joint::to_world("right", JointKind::Ball, "1"));
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let sim = settled(&scene, scheme);
        let mut sum = [Vec3::ZERO; 4];
        for (i, j) in sim.model().joints.iter().enumerate() {
            sum[j.b.index()] += sim.joint_force(i).0;
            if let Some(a) = j.a {
                sum[a.index()] -= sim.joint_force(i).0;
            }
        }
        for (k, f) in sum.into_iter().enumerate() {
            near("block", f, Vec3::new(0.0, 0.0, (1.0 + k as f64) * G), 10.0 * G);
        }
    }
}
