//! Impacts act when bodies touch, wherever within a step that is, in both schemes.
//!
//! A dropped ball or box bounces to e² of its height, each time, to rounding: free flight and the time of touch are exact, as long as
//! it leaves faster than g h/2 (what would meet again within the step rests). A ball with spin that drops on friction
//! leaves with μ (1 + e) of its speed across, or with what makes it grip, to rounding, and comes to rest on the floor to the same
//! values. Two balls or boxes that meet off-centre keep linear and angular momentum to 1e-12 wherever in the step they
//! meet, until boxes that stick together have turned into an overlap; head on and elastic, they keep the energy. A tumbling box that strikes the floor is off by O(h²).

use crate::stage;

use crate::stage::{G, ball, cube, empty, floor, position, run, slope, spin, start, velocity};
use stiction::kinematics::BodyFrame;
use stiction::{Body, Geometry, Scheme, Simulation, Vec3};

const SCHEMES: [Scheme; 2] = [Scheme::ImplicitEuler, Scheme::Midpoint];

/// Heights of the tops of the first `n` bounces of a body dropped from `height`, from its energy at the step nearest to the top.
fn tops(mut body: Body, e: f64, height: f64, scheme: Scheme, h: f64, n: usize) -> Vec<f64> {
    let mut scene = floor(0.5);
    let rest = body.pose.translation.z;
    body.pose.translation.z += height;
    body.shapes[0].restitution = e;
    scene.bodies.push(body);
    let mut sim = start(&scene, scheme);
    let (mut out, mut before) = (Vec::new(), -1.0);
    while out.len() < n {
        run(&mut sim, h, 1);
        let (z, v) = (position(&sim, "it").z - rest, velocity(&sim, "it").z);
        if before > 0.0 && v <= 0.0 {
            out.push(z + v * v / (2.0 * G));
        }
        before = v;
    }
    out
}

#[test]
fn tops_are_e_squared_times_as_high() {
    for scheme in SCHEMES {
        for e in [0.5f64, 0.8, 0.9, 1.0] {
            for h in [1e-2, 5e-3, 2.5e-3] {
                // Phases of the gap.
                for height in [1.0, 1.0037, 1.0081, 1.0124] {
                    for it in [ball("it", 0.1, 0.5), cube("it", 0.1, 0.5)] {
                        for (k, top) in tops(it, e, height, scheme, h, 3).iter().enumerate() {
                            let exact = height * e.powi(2 * (k as i32 + 1));
                            let error = top / exact - 1.0;
                            assert!(error.abs() < 1e-12, "{scheme:?}, e {e}, h {h}, bounce {k}: {error}");
                        }
                    }
                }
            }
        }
    }
}

/// A ball with spin about y, dropped: `e`, friction, spin.
fn spinning(e: f64, mu: f64, w: f64, height: f64, scheme: Scheme) -> Simulation {
    let mut scene = floor(mu);
    let mut it = ball("it", 0.1, mu);
    it.pose.translation.z += height;
    it.spin = Vec3::Y * w;
    it.shapes[0].restitution = e;
    scene.bodies.push(it);
    start(&scene, scheme)
}

#[test]
fn spin_and_speed_after_bounces_are_those_of_sliding_and_gripping_impacts() {
    let (r, h) = (0.1, 5e-3);
    for scheme in SCHEMES {
        for e in [0.0, 0.5, 0.8] {
            for (mu, w) in [(0.5, 10.0), (0.1, 40.0), (0.3, 100.0)] {
                for height in [0.5, 0.503, 0.5071] {
                    let mut sim = spinning(e, mu, w, height, scheme);
                    let (mut v, mut spins, mut struck) = (0.0f64, w, (2.0 * G * height).sqrt());
                    for k in 0..10 {
                        // The first impact of e = 0, and rebounds that gravity would take back within a few steps, end at rest.
                        if k > 0 && e * struck < 2.0 * G * h {
                            break;
                        }
                        let before = velocity(&sim, "it").z;
                        let mut z = before;
                        // To the step that holds the impact.
                        while z <= before.min(0.0) || z < 0.0 {
                            run(&mut sim, h, 1);
                            let now = velocity(&sim, "it").z;
                            if now > z {
                                break;
                            }
                            z = now;
                        }
                        // Slip v − ω r; friction makes it vanish with 2/7 of it, or gives μ (1 + e) struck.
                        let slip = v - spins * r;
                        let impulse = (2.0 / 7.0 * slip.abs()).min(mu * (1.0 + e) * struck) * slip.signum();
                        v -= impulse;
                        spins += 2.5 * impulse / r;
                        struck *= e;
                        if e > 0.0 {
                            let got = (velocity(&sim, "it").x, spin(&sim, "it").y);
                            let off = (got.0 - v).abs().max(r * (got.1 - spins).abs());
                            assert!(
                                off < 1e-9 * w * r,
                                "{scheme:?} e {e} mu {mu} w {w} bounce {k}: {got:?}, not {v} {spins}"
                            );
                            while velocity(&sim, "it").z > 0.0 {
                                run(&mut sim, h, 1);
                            }
                        }
                    }
                    if e <= 0.5 {
                        // It comes to rest on the floor and slides on until it rolls: with 2/7 of the spin, whatever the impacts were.
                        run(&mut sim, h, 2000);
                        let got = (velocity(&sim, "it").x, spin(&sim, "it").y);
                        let exact = 2.0 / 7.0 * w;
                        assert!((got.1 / exact - 1.0).abs() < 1e-9, "{scheme:?} mu {mu} w {w}: {got:?}");
                        assert!(
                            (got.0 / (exact * r) - 1.0).abs() < 1e-9,
                            "{scheme:?} mu {mu} w {w}: {got:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Linear and angular momentum about the origin, and kinetic energy, of all free bodies.
fn momenta(sim: &Simulation) -> (Vec3, Vec3, f64) {
    let mut out = (Vec3::ZERO, Vec3::ZERO, 0.0);
    for (id, b) in sim.model().free_bodies() {
        let BodyFrame { com: pose, v, w } = *sim.kinematics().body(id);
        let l = b.world_inertia(pose.rotation) * w;
        out.0 += b.mass * v;
        out.1 += pose.translation.cross(b.mass * v) + l;
        out.2 += 0.5 * (b.mass * v.dot(v) + w.dot(l));
    }
    out
}

fn pair(shape: Geometry, e: f64, phase: f64, offset: Vec3, spins: [Vec3; 2], scheme: Scheme) -> Simulation {
    let mut scene = empty();
    scene.gravity = Vec3::ZERO;
    for (name, x, v, mass, w, off) in [
        ("one", -0.15 - phase, Vec3::new(2.0, 0.0, 0.1), 1.0, spins[0], Vec3::ZERO),
        ("two", 0.15, Vec3::new(-1.0, 0.3, 0.0), 2.5, spins[1], offset),
    ] {
        let mut b = Body::new(name, shape.clone()).with_mass(mass).with_friction(0.3).at(
            x + off.x,
            off.y,
            1.0 + off.z,
        );
        (b.velocity, b.spin) = (v, w);
        b.shapes[0].restitution = e;
        scene.bodies.push(b);
    }
    start(&scene, scheme)
}

#[test]
fn a_free_pair_keeps_its_momenta() {
    let spins = [Vec3::new(3.0, -20.0, 10.0), Vec3::new(-15.0, 5.0, 8.0)];
    let shapes = [Geometry::Sphere { radius: 0.1 }, Geometry::Box { half: Vec3::new(0.1, 0.08, 0.12) }];
    let mut worst = 0.0_f64;
    // By scheme and shape.
    let mut pushed = [[0; 2]; 2];
    for (i, scheme) in SCHEMES.into_iter().enumerate() {
        for (j, shape) in shapes.iter().enumerate() {
            for e in [0.0, 0.3, 0.7, 1.0] {
                for k in 0..12 {
                    let phase = 0.015 * f64::from(k) / 12.0;
                    let mut sim = pair(shape.clone(), e, phase, Vec3::new(0.0, 0.06, 0.03), spins, scheme);
                    let before = momenta(&sim);
                    let mut met = false;
                    for _ in 0..40 {
                        run(&mut sim, 5e-3, 1);
                        // Overlaps that boxes turn into are pushed out by a motion without momentum.
                        if sim.report().overlap > 1e-4 * 0.08 {
                            pushed[i][j] += 1;
                            break;
                        }
                        met |= sim.contacts().any(|(_, f)| f != Vec3::ZERO);
                        let now = momenta(&sim);
                        let off = (now.0 - before.0).length().max((now.1 - before.1).length());
                        worst = worst.max(off);
                        assert!(off < 1e-12, "{scheme:?} {shape:?} e {e} phase {k}: off by {off}");
                        let limit = before.2 * (1.0 + 1e-9);
                        assert!(matches!(shape, Geometry::Box { .. }) || now.2 <= limit, "e {e}: {}", now.2);
                    }
                    assert!(met, "they never meet");
                }
            }
        }
    }
    println!("momenta are kept to {worst}");
    // Spheres never; corners of boxes turn into each other within a step.
    assert_eq!(pushed, [[0, 9], [0, 9]], "of 48 runs each end in an overlap");
}

#[test]
fn head_on_and_elastic_a_pair_keeps_its_energy() {
    for scheme in SCHEMES {
        for k in 0..12 {
            let phase = 0.015 * f64::from(k) / 12.0;
            let still = [Vec3::ZERO; 2];
            let mut sim = pair(Geometry::Sphere { radius: 0.1 }, 1.0, phase, Vec3::ZERO, still, scheme);
            let mut state = sim.state().clone();
            state.v.fill(0.0);
            (state.v[0], state.v[6]) = (2.0, -1.0);
            sim.set_state(state);
            let before = momenta(&sim).2;
            run(&mut sim, 5e-3, 40);
            assert!((momenta(&sim).2 / before - 1.0).abs() < 1e-12, "{scheme:?}, phase {k}");
            assert!(velocity(&sim, "one").x < 0.0);
        }
    }
}

/// State of a tumbling box a while after it has struck the floor with a corner.
fn tumbled(e: f64, phase: f64, h: f64, scheme: Scheme) -> (Vec3, Vec3) {
    let mut scene = floor(0.3);
    let mut it =
        Body::new("it", Geometry::Box { half: Vec3::new(0.1, 0.15, 0.2) }).with_mass(1.0).with_friction(0.3);
    it = it.at(0.0, 0.0, 0.6 + phase);
    it.pose.rotation = stage::tilt(0.7) * stiction::linalg::rotation::exp(Vec3::X * 0.5);
    (it.velocity, it.spin) = (Vec3::new(0.5, 0.2, -2.0), Vec3::new(2.0, -1.0, 3.0));
    it.shapes[0].restitution = e;
    scene.bodies.push(it);
    let mut sim = start(&scene, scheme);
    run(&mut sim, h, stage::steps(0.24, h));
    (position(&sim, "it"), spin(&sim, "it"))
}

#[test]
fn a_tumbling_box_strikes_the_floor_to_second_order() {
    for scheme in SCHEMES {
        let phases = [0.0, 0.003, 0.007, 0.011, 0.016, 0.022];
        let errors: Vec<(f64, f64)> = [1e-2, 5e-3, 2.5e-3, 1.25e-3]
            .into_iter()
            .map(|h| {
                let off = |&phase: &f64| {
                    let (exact, got) = (tumbled(0.6, phase, 1e-4, scheme), tumbled(0.6, phase, h, scheme));
                    (exact.0 - got.0).length().max(0.1 * (exact.1 - got.1).length())
                };
                (h, phases.iter().map(off).sum::<f64>() / phases.len() as f64)
            })
            .collect();
        println!("{scheme:?} {errors:?} slope {}", slope(&errors));
        assert!(slope(&errors) > 1.7, "{scheme:?}: {errors:?}");
    }
}
