//! Nothing rigid passes through anything rigid within a step: a sphere of 1 cm at 25, 100 and 500 m/s with steps of
//! 10 ms (up to 5 m per step) against a thin fixed plate, a thin plate that moves, a thin free mesh, and a second plate
//! behind the first after a rebound; a fast spinning bar sweeps into a post. The sphere never gets behind the plate.

use stiction::coords::BodyId;
use stiction::scene::{Motion, Scene};
use stiction::{Body, Geometry, Quat, SimSettings, Simulation, Vec3};

const RADIUS: f64 = 0.005;
const H: f64 = 0.01;

fn plate_mesh(half: Vec3) -> Geometry {
    let vertices = (0..8)
        .map(|k| half * (Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0))
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Geometry::TriMesh { vertices, triangles }
}

fn ball(velocity: Vec3, lead: f64) -> Body {
    let mut b = Body::new("ball", Geometry::Sphere { radius: RADIUS });
    b.pose.translation = Vec3::new(0.03, -0.02, 0.0) - velocity * lead;
    b.velocity = velocity;
    b
}

fn sim(bodies: Vec<Body>) -> Simulation {
    let scene = Scene { gravity: Vec3::ZERO, bodies, ..Scene::default() };
    Simulation::new(scene.compile().unwrap(), SimSettings::default())
}

/// Where body 1 is in the frame of body 0, the plate.
fn place(sim: &Simulation) -> Vec3 {
    let pose = |k| sim.model().com_pose(sim.state(), BodyId(k));
    pose(0).inverse_transform_point(pose(1).translation)
}

/// Did the straight way from one place to the next lead through the plate?
fn crossed(from: Vec3, to: Vec3, half: Vec3) -> bool {
    let at = from + (to - from) * (from.z / (from.z - to.z));
    from.z > 0.0 && to.z < 0.0 && at.x.abs() < half.x && at.y.abs() < half.y
}

/// Steps the ball at the plate (body 0) and asserts that it never crosses it, and that they met.
fn stays_above(what: &str, mut sim: Simulation, half: Vec3) {
    let mut touched = false;
    for k in 0..30 {
        let before = place(&sim);
        let r = sim.step(H).unwrap();
        assert!(r.status.is_solved(), "{what}, step {k}: {:?}", r.status);
        touched |= sim.contacts().any(|(_, f)| f.length() > 0.0);
        assert!(!crossed(before, place(&sim), half), "{what}, step {k}: {before} → {}", place(&sim));
    }
    assert!(touched, "{what}: they met");
}

#[test]
fn a_sphere_against_a_thin_plate() {
    let half = Vec3::new(0.1, 0.1, 0.0005);
    let grounds = [("box", Geometry::Box { half }), ("mesh", plate_mesh(half))];
    for speed in [25.0, 100.0, 500.0] {
        for slant in [Vec3::ZERO, Vec3::new(0.3, 0.2, 0.0), Vec3::new(2.0, 0.0, 0.0)] {
            // Where in the step it meets the plate, from far away to near.
            for lead in [0.0131, 0.0193, 0.0032] {
                for (name, ground) in &grounds {
                    let v = speed * (slant - Vec3::Z).normalize();
                    let what = format!("{speed} m/s along {slant}, {lead} s before a {name}");
                    let plate = Body::new("plate", ground.clone()).fixed();
                    stays_above(&what, sim(vec![plate, ball(v, lead)]), half);
                }
            }
        }
    }
}

#[test]
fn a_sphere_against_a_thin_mesh_that_moves() {
    let half = Vec3::new(0.1, 0.1, 0.0005);
    for speed in [25.0, 100.0, 500.0] {
        // Towards the ball by rule, at its own speed.
        let mut plate = Body::new("plate", plate_mesh(half));
        plate.motion = Motion::Constant { velocity: Vec3::Z * 5.0, spin: Vec3::ZERO };
        stays_above(&format!("{speed} m/s, driven"), sim(vec![plate, ball(-Vec3::Z * speed, 0.0137)]), half);
        // Free and a hundred times as heavy as the ball.
        let mut plate = Body::new("plate", plate_mesh(half));
        plate.velocity = Vec3::Z * 3.0;
        let what = format!("{speed} m/s, free");
        let mut s = sim(vec![plate.with_mass(0.05), ball(-Vec3::Z * speed, 0.0137)]);
        let momentum = |s: &Simulation| {
            let m =
                |k: u32| s.model().bodies[k as usize].mass * s.model().com_velocity(s.state(), BodyId(k)).0;
            m(0) + m(1)
        };
        let before = momentum(&s);
        for k in 0..5 {
            s.step(H).unwrap();
            assert!(place(&s).z > 0.0, "{what}, step {k}: {}", place(&s));
        }
        assert!((momentum(&s) - before).length() < 1e-9 * before.length().max(1.0), "{what}");
    }
}

#[test]
fn what_rebounds_is_stopped_again() {
    // Two plates, 0.2 m apart; the ball starts between them and is elastic.
    for speed in [25.0, 100.0, 500.0] {
        let plate = |name: &str, z: f64| {
            Body::new(name, Geometry::Box { half: Vec3::new(0.2, 0.2, 0.0005) }).fixed().at(0.0, 0.0, z)
        };
        let mut b = ball(Vec3::new(0.0, 0.0, -speed), 0.0);
        b.pose.translation = Vec3::new(0.0, 0.0, 0.11);
        b.shapes[0].restitution = 1.0;
        let mut s = sim(vec![plate("low", 0.0), b, plate("high", 0.2)]);
        for k in 0..40 {
            s.step(H).unwrap();
            let z = s.model().com_pose(s.state(), BodyId(1)).translation.z;
            assert!(z > 0.0 && z < 0.2, "{speed} m/s, step {k}: at {z}");
        }
    }
}

#[test]
fn a_spinning_bar_does_not_sweep_through_a_post() {
    // The tip moves 0.4 m per step, forty times its width; the axis stands still.
    let mut bar = Body::new("bar", Geometry::Box { half: Vec3::new(0.5, 0.005, 0.005) });
    bar.motion = Motion::Constant { velocity: Vec3::ZERO, spin: Vec3::Z * 80.0 };
    bar.pose.rotation = Quat::from_rotation_z(-1.1);
    let post = Body::new("post", Geometry::Cylinder { half_height: 0.1, radius: 0.01 }).at(0.45, 0.0, 0.0);
    let mut s = sim(vec![bar, post]);
    let mut hit = false;
    for _ in 0..3 {
        s.step(H).unwrap();
        hit |= s.contacts().any(|(_, f)| f.length() > 0.0);
    }
    assert!(hit, "the bar struck the post");
    assert!(s.model().com_velocity(s.state(), BodyId(1)).0.y > 1.0, "it flies off ahead of the bar");
}
