//! Mechanisms in maximal coordinates go where their closed forms say. A crank with a rod moves a slider to
//! x = r cos φ + √(l² − r² sin² φ), whatever φ its motor reached; the rocker of a four-bar linkage stands at the angle of
//! Freudenstein's equation; both to 1e-9 of their size at every step. A ring of six hinges, which states some things
//! twice, falls and swings for 2 s without blowing up, its anchors together to 1e-9 m. A light chain holds a thousand
//! times its weight.

use crate::stage::{empty, orientation, position, run, spin, start};
use stiction::scene::{Joint, JointKind, MassSpec, Motor};
use stiction::{Body, Geometry, Mat3, Quat, Scene, Scheme, Simulation, Vec3};

/// A bar of 1 kg/m between two points of the x-z plane; its x axis runs along it.
fn bar(name: &str, from: Vec3, to: Vec3) -> Body {
    let mut b = Body::new(name, Geometry::Sphere { radius: 0.01 });
    b.shapes.clear();
    let (along, length) = ((to - from).normalize(), (to - from).length());
    b.pose.translation = 0.5 * (from + to);
    b.pose.rotation = Quat::from_rotation_y((-along.z).atan2(along.x));
    let i = length * length * length / 12.0;
    let inertia = Mat3::from_diagonal(Vec3::new(0.1 * i, i, i));
    b.mass = MassSpec::Given { mass: length, inertia, com: Vec3::ZERO };
    b
}

/// A hinge about y at a point of the x-z plane.
fn hinge(name: &str, a: Option<&str>, b: &str, at: Vec3) -> Joint {
    let joint = match a {
        Some(a) => Joint::new(name, JointKind::Hinge, a, b),
        None => Joint::to_world(name, JointKind::Hinge, b),
    };
    joint.at(at).about(Vec3::Y)
}

/// Angle of a bar in the x-z plane, from +x towards +z.
fn angle(sim: &Simulation, name: &str) -> f64 {
    let x = orientation(sim, name) * Vec3::X;
    x.z.atan2(x.x)
}

#[test]
fn a_crank_moves_its_slider_as_the_closed_form_says() {
    let (r, l) = (0.3, 1.0);
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        let mut scene = empty();
        let (pin, end) = (Vec3::new(r, 0.0, 0.0), Vec3::new(r + l, 0.0, 0.0));
        scene.bodies.push(bar("crank", Vec3::ZERO, pin));
        scene.bodies.push(bar("rod", pin, end));
        scene.bodies.push(
            Body::new("slider", Geometry::Box { half: Vec3::splat(0.05) }).with_mass(2.0).at(end.x, 0.0, 0.0),
        );
        let mut drive = hinge("drive", None, "crank", Vec3::ZERO);
        drive.motor = Some(Motor::velocity(5.0, 100.0));
        scene.joints.push(drive);
        scene.joints.push(hinge("pin", Some("crank"), "rod", pin));
        scene.joints.push(hinge("wrist", Some("rod"), "slider", end));
        scene.joints.push(Joint::to_world("guide", JointKind::Prismatic, "slider").at(end).about(Vec3::X));
        let mut sim = start(&scene, scheme);
        for _ in 0..200 {
            run(&mut sim, 0.01, 1);
            assert!(sim.report().joint_error < 1e-9, "{scheme:?}: {:e}", sim.report().joint_error);
            let phi = angle(&sim, "crank");
            let x = r * phi.cos() + (l * l - r * r * phi.sin().powi(2)).sqrt();
            let slider = position(&sim, "slider");
            assert!((slider - Vec3::new(x, 0.0, 0.0)).length() < 1e-9, "{scheme:?}: {slider} and {x}");
            assert!((sim.joint_position(3).0 - (x - r - l)).abs() < 1e-9);
        }
        let (turned, rate) = sim.joint_position(0);
        assert!(
            turned > 9.0 && (rate - 5.0).abs() < 0.3,
            "{scheme:?}: it turned {turned} rad, now at {rate} rad/s"
        );
    }
}

#[test]
fn a_four_bar_linkage_obeys_its_closure() {
    // Ground 1.2, crank 0.4, coupler 1.0, rocker 0.9; the crank turns fully (Grashof).
    let (ground, crank, coupler, rocker) = (1.2_f64, 0.4_f64, 1.0_f64, 0.9_f64);
    // Rocker end for a crank angle: intersection of two circles, above the ground.
    let closure = |phi: f64| {
        let a = crank * Vec3::new(phi.cos(), 0.0, phi.sin());
        let o = Vec3::new(ground, 0.0, 0.0);
        let (d, u) = ((o - a).length(), (o - a).normalize());
        let x = (coupler * coupler - rocker * rocker + d * d) / (2.0 * d);
        a + x * u + (coupler * coupler - x * x).sqrt() * Vec3::new(-u.z, 0.0, u.x)
    };
    let start_angle = 1.0_f64;
    let (a, b) = (crank * Vec3::new(start_angle.cos(), 0.0, start_angle.sin()), closure(start_angle));
    let o = Vec3::new(ground, 0.0, 0.0);
    let mut scene = empty();
    scene.bodies.push(bar("crank", Vec3::ZERO, a));
    scene.bodies.push(bar("coupler", a, b));
    scene.bodies.push(bar("rocker", o, b));
    let mut drive = hinge("drive", None, "crank", Vec3::ZERO);
    drive.motor = Some(Motor::velocity(-6.0, 50.0));
    scene.joints.push(drive);
    scene.joints.push(hinge("crank–coupler", Some("crank"), "coupler", a));
    scene.joints.push(hinge("coupler–rocker", Some("coupler"), "rocker", b));
    scene.joints.push(hinge("rocker–ground", None, "rocker", o));
    let mut sim = start(&scene, Scheme::Midpoint);
    let mut span = (f64::INFINITY, f64::NEG_INFINITY);
    for _ in 0..300 {
        run(&mut sim, 0.005, 1);
        let end = closure(angle(&sim, "crank"));
        let at = angle(&sim, "rocker");
        span = (span.0.min(at), span.1.max(at));
        let off = (o + rocker * Vec3::new(at.cos(), 0.0, at.sin()) - end).length();
        assert!(off < 1e-9, "off by {off:e} m at {:?}", sim.state().t);
    }
    assert!(span.1 - span.0 > 0.5, "the rocker rocks: {span:?}");
}

#[test]
fn a_ring_of_hinges_states_things_twice_and_stays_together() {
    // Six bars, held at one corner of the world.
    let corner = |k: usize| {
        let a = std::f64::consts::TAU * k as f64 / 6.0;
        Vec3::new(a.cos(), 0.0, a.sin())
    };
    for (scheme, h) in [(Scheme::ImplicitEuler, 0.01), (Scheme::Midpoint, 0.005)] {
        let mut scene = empty();
        for k in 0..6 {
            scene.bodies.push(bar(&format!("bar {k}"), corner(k), corner(k + 1)));
        }
        for k in 0..6 {
            let (a, b) = (format!("bar {k}"), format!("bar {}", (k + 1) % 6));
            scene.joints.push(hinge(&format!("hinge {k}"), Some(&a), &b, corner(k + 1)));
        }
        scene.joints.push(hinge("hook", None, "bar 0", corner(1)));
        let mut sim = start(&scene, scheme);
        let energy = |sim: &Simulation| sim.energy().kinetic + sim.energy().potential;
        let before = energy(&sim);
        for _ in 0..(2.0 / h) as usize {
            run(&mut sim, h, 1);
            assert!(sim.report().joint_error < 1e-9, "{scheme:?}: {:e}", sim.report().joint_error);
        }
        let gained = energy(&sim) - before;
        // Implicit Euler may lose some of the 60 J, but nothing gains.
        let least = if scheme == Scheme::Midpoint { -0.01 } else { -12.0 };
        assert!((least..0.01).contains(&gained), "{scheme:?}: {gained} J");
    }
}

#[test]
fn a_light_chain_holds_a_thousand_times_its_weight() {
    // Ten links of 0.1 kg and 0.1 m, a load of 1000 kg, pushed aside and let go, at a large step.
    let mut scene: Scene = empty();
    let link = |k: usize| Vec3::new(0.0, 0.0, -0.1 * k as f64);
    let swing = Vec3::new(0.1, 0.5, 0.0);
    for k in 0..10 {
        let mut b = bar(&format!("link {k}"), link(k), link(k + 1));
        let i = 0.1 * 0.01 / 12.0;
        b.mass = MassSpec::Given {
            mass: 0.1,
            inertia: Mat3::from_diagonal(Vec3::new(0.1 * i, i, i)),
            com: Vec3::ZERO,
        };
        (b.velocity, b.spin) = (swing.cross(b.pose.translation), swing);
        scene.bodies.push(b);
        let name = format!("joint {k}");
        let joint = match k {
            0 => Joint::to_world(name, JointKind::Ball, "link 0"),
            _ => Joint::new(name, JointKind::Ball, format!("link {}", k - 1), format!("link {k}")),
        };
        scene.joints.push(joint.at(link(k)));
    }
    let mut load = Body::new("load", Geometry::Box { half: Vec3::splat(0.2) }).with_mass(1000.0);
    load.pose.translation = link(10) - 0.2 * Vec3::Z;
    (load.velocity, load.spin) = (swing.cross(load.pose.translation), swing);
    scene.bodies.push(load);
    scene.joints.push(Joint::new("hook", JointKind::Ball, "link 9", "load").at(link(10)));
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for h in [0.01, 0.002] {
            let mut sim = start(&scene, scheme);
            let energy = |sim: &Simulation| sim.energy().kinetic + sim.energy().potential;
            let before = energy(&sim);
            for _ in 0..(1.0 / h) as usize {
                run(&mut sim, h, 1);
                assert!(sim.report().joint_error < 1e-9, "{scheme:?}, {h} s: {:e}", sim.report().joint_error);
                let gained = energy(&sim) - before;
                let least = if scheme == Scheme::Midpoint { -0.01 } else { -15.0 };
                assert!((least..0.01).contains(&gained), "{scheme:?}, {h} s: {gained} J of 190 J");
            }
            // Links turn with the load.
            let spin = spin(&sim, "link 4").length();
            assert!((0.3..0.6).contains(&spin), "{scheme:?}, {h} s: {spin} rad/s");
        }
    }
}
