//! The laws know no favourite frame, direction or unit. A body thrown with spin onto a floor, which lands on a corner,
//! slides and comes to rest, and a second one that it runs into, do the same
//!
//! - on a floor that moves uniformly, seen from the floor;
//! - in a scene that is turned as a whole, gravity included;
//! - in any units of length, time and mass. Powers of two change no bit, so that there the answers are equal exactly:
//!   no length, speed or mass is hidden in the code.

use crate::common::scenes;

use stiction::scene::{MassSpec, Motion};
use stiction::{Body, Geometry, Pose, Quat, Scene, Scheme, SimSettings, Simulation, SolverSettings, Vec3};

const H: f64 = 0.005;

/// What is thrown at what.
#[derive(Clone, Copy, Debug)]
enum Shapes {
    Boxes,
    Tetrahedra,
}

/// How long and how exactly to run, and the difference [m, m/s, rad/s] that rounding and solver may make.
#[derive(Clone, Copy)]
struct Demand {
    shapes: Shapes,
    steps: usize,
    tolerance: Option<f64>,
    difference: f64,
}

/// Until the boxes have met and landed on their edges: solved to rounding.
const FLIGHT: Demand = Demand { shapes: Shapes::Boxes, steps: 60, tolerance: Some(1e-12), difference: 1e-10 };
/// Until rest, with the default tolerance. On three corners: how a box that slides and turns loads its four is not
/// determined by the law, and so nor is where it comes to rest.
const REST: Demand = Demand { shapes: Shapes::Tetrahedra, steps: 240, tolerance: None, difference: 1e-8 };
/// Every case in which the answers are compared.
const CASES: [(Scheme, Demand); 4] = [
    (Scheme::ImplicitEuler, FLIGHT),
    (Scheme::Midpoint, FLIGHT),
    (Scheme::ImplicitEuler, REST),
    (Scheme::Midpoint, REST),
];

/// Two bodies above a floor; the first is thrown at the second.
fn thrown(shapes: Shapes) -> Scene {
    let hull = |p: [[f64; 3]; 4]| Geometry::ConvexHull { points: p.map(Vec3::from_array).to_vec() };
    let (first, second) = match shapes {
        Shapes::Boxes => (
            Geometry::Box { half: Vec3::new(0.2, 0.15, 0.1) },
            Geometry::Box { half: Vec3::new(0.1, 0.2, 0.15) },
        ),
        Shapes::Tetrahedra => (
            hull([[-0.2, -0.15, -0.1], [0.2, -0.1, -0.1], [0.0, 0.2, -0.1], [0.05, 0.0, 0.1]]),
            hull([[-0.15, -0.2, -0.15], [0.2, 0.05, -0.15], [-0.1, 0.2, -0.15], [-0.05, 0.0, 0.15]]),
        ),
    };
    let mut first = Body::new("first", first).at(-0.6, 0.05, 0.35).with_mass(3.0);
    first.velocity = Vec3::new(3.0, 0.3, 0.5);
    first.spin = Vec3::new(1.0, 2.0, -1.5);
    let mut scene = scenes::ground();
    scene.bodies.push(first);
    scene.bodies.push(Body::new("second", second).at(0.31, -0.03, 0.15).with_mass(5.0));
    scene
}

/// Poses and velocities (centre of mass, then spin) of both boxes at every step.
fn run(scene: &Scene, h: f64, scheme: Scheme, demand: Demand) -> Vec<[(Pose, Vec3, Vec3); 2]> {
    let solver_settings = SolverSettings { tolerance: demand.tolerance, ..SolverSettings::default() };
    let settings = SimSettings { scheme, solver_settings, ..SimSettings::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), settings);
    (0..demand.steps)
        .map(|step| {
            let status = sim.step(h).unwrap().status.clone();
            assert!(status.is_solved(), "step {step}: {status:?}");
            ["first", "second"].map(|name| {
                let id = sim.model().names.find(name).expect("the story knows its bodies");
                let frame = sim.kinematics().body(id);
                (frame.com, frame.v, frame.w)
            })
        })
        .collect()
}

/// Largest difference of positions, rotations, velocities and spins over the run.
fn difference(a: &[[(Pose, Vec3, Vec3); 2]], b: &[[(Pose, Vec3, Vec3); 2]]) -> f64 {
    let mut worst = 0.0f64;
    for ((p, v, w), (q, u, s)) in a.iter().flatten().zip(b.iter().flatten()) {
        let turn = (p.rotation.inverse() * q.rotation).xyz().length();
        for d in [p.translation.distance(q.translation), turn, v.distance(*u), w.distance(*s)] {
            worst = worst.max(d);
        }
    }
    worst
}

/// They hit, slide and come to rest, or the scene would say little.
#[test]
fn the_bodies_meet_slide_and_come_to_rest() {
    for (scheme, shapes) in [Scheme::ImplicitEuler, Scheme::Midpoint]
        .map(|s| [(s, Shapes::Boxes), (s, Shapes::Tetrahedra)])
        .concat()
    {
        let demand = Demand { shapes, ..REST };
        let all = run(&thrown(shapes), H, scheme, demand);
        let start = all[0][1].0.translation.x;
        assert!(all[FLIGHT.steps - 1][1].0.translation.x > start + 0.01, "{shapes:?}: the second is pushed");
        for (_, v, w) in all[demand.steps - 1] {
            assert!(v.length() < 1e-6 && w.length() < 1e-6, "{shapes:?}: they rest again: {v} {w}");
        }
    }
}

#[test]
fn uniform_motion_of_everything_changes_nothing() {
    for (scheme, demand) in CASES {
        let velocity = Vec3::new(3.0, -2.0, 0.7);
        let mut scene = thrown(demand.shapes);
        scene.bodies[0].motion = Motion::Constant { velocity, spin: Vec3::ZERO };
        for b in &mut scene.bodies[1..] {
            b.velocity += velocity;
        }
        let mut moving = run(&scene, H, scheme, demand);
        for (step, bodies) in moving.iter_mut().enumerate() {
            for (pose, v, _) in bodies {
                pose.translation -= velocity * (H * (step + 1) as f64);
                *v -= velocity;
            }
        }
        let d = difference(&run(&thrown(demand.shapes), H, scheme, demand), &moving);
        assert!(d < demand.difference, "{scheme:?}: {d}");
    }
}

#[test]
fn turning_everything_turns_the_answer() {
    for (scheme, demand) in CASES {
        let turn = Quat::from_axis_angle(Vec3::new(0.3, -0.8, 0.5).normalize(), 2.1);
        let mut scene = thrown(demand.shapes);
        scene.gravity = turn * scene.gravity;
        for b in &mut scene.bodies {
            b.pose = Pose::from_rotation(turn) * b.pose;
            b.velocity = turn * b.velocity;
            b.spin = turn * b.spin;
        }
        let mut turned = run(&scene, H, scheme, demand);
        for (pose, v, w) in turned.iter_mut().flatten() {
            *pose = Pose::from_rotation(turn.inverse()) * *pose;
            (*v, *w) = (turn.inverse() * *v, turn.inverse() * *w);
        }
        let d = difference(&run(&thrown(demand.shapes), H, scheme, demand), &turned);
        assert!(d < demand.difference, "{scheme:?}: {d}");
    }
}

/// Lengths times `length`, times times `time`, masses times `mass`; the answer in the old units.
fn in_units(
    length: f64,
    time: f64,
    mass: f64,
    scheme: Scheme,
    demand: Demand,
) -> Vec<[(Pose, Vec3, Vec3); 2]> {
    let speed = length / time;
    let mut scene = thrown(demand.shapes);
    scene.gravity *= length / (time * time);
    scene.contact.recovery_speed *= speed;
    scene.contact.restitution_threshold *= speed;
    for b in &mut scene.bodies {
        b.pose.translation *= length;
        b.velocity *= speed;
        b.spin /= time;
        if let MassSpec::Mass(m) = &mut b.mass {
            *m *= mass;
        }
        match &mut b.shapes[0].geometry {
            Geometry::Box { half } => *half *= length,
            Geometry::ConvexHull { points } => points.iter_mut().for_each(|p| *p *= length),
            _ => {}
        }
    }
    let mut all = run(&scene, H * time, scheme, demand);
    for (pose, v, w) in all.iter_mut().flatten() {
        pose.translation /= length;
        *v /= speed;
        *w *= time;
    }
    all
}

#[test]
fn size_time_and_mass_scale_out() {
    for (scheme, demand) in CASES {
        let plain = run(&thrown(demand.shapes), H, scheme, demand);
        // From millimetres to a hundred metres at the same gravity; millimetres and tonnes; light dust, heavy rock.
        for (length, mass) in [(1e-3, 1.0), (1e-3, 1e-9), (0.1, 1e3), (10.0, 1e-3), (100.0, 1e6)] {
            let d = difference(&plain, &in_units(length, f64::sqrt(length), mass, scheme, demand));
            assert!(d < demand.difference, "{scheme:?}, lengths × {length}, masses × {mass}: {d}");
        }
        for (length, mass) in [(1e3, 1e-3), (1e-3, 1e3)] {
            let d = difference(&plain, &in_units(length, 1.0, mass, scheme, demand));
            assert!(d < demand.difference, "{scheme:?}, unit of length / {length}, of mass / {mass}: {d}");
        }
    }
}

#[test]
fn powers_of_two_change_no_bit() {
    let boxes = Demand { shapes: Shapes::Boxes, ..REST };
    for (scheme, demand) in
        [(Scheme::ImplicitEuler, boxes), (Scheme::Midpoint, boxes)].into_iter().chain(CASES)
    {
        let plain = run(&thrown(demand.shapes), H, scheme, demand);
        for (length, time, mass) in [(-10, -5, 0), (-10, -5, -30), (6, 3, 20), (10, 0, -10), (0, 0, 40)] {
            let two = |k| 2f64.powi(k);
            let scaled = in_units(two(length), two(time), two(mass), scheme, demand);
            let first = plain.iter().zip(&scaled).position(|(a, b)| a != b);
            assert_eq!(first, None, "{scheme:?}, powers {length} {time} {mass}");
        }
    }
}
