//! Balls and boxes that fall into a bin and fill it to the walls: constraints just meet dofs, impulses of the last step are worth
//! little, and Newton alone diverges. Nearly every step is solved all the same, at a cost that is counted in factorisations.

use stiction::linalg::Rng;
use stiction::linalg::rotation;
use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};

const H: f64 = 0.005;

/// A floor and four walls, `half` from the middle.
fn bin(half: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    for (name, out) in [("+x", Vec3::X), ("-x", -Vec3::X), ("+y", Vec3::Y), ("-y", -Vec3::Y)] {
        let mut wall = Body::new(name, Geometry::Plane).fixed();
        wall.pose.rotation = stiction::Quat::from_rotation_arc(Vec3::Z, -out);
        wall.pose.translation = out * half;
        scene.bodies.push(wall);
    }
    scene
}

/// Four layers of 4 × 4 bodies of 1 kg, loosely placed.
fn filled(geometry: impl Fn() -> Geometry, mu: f64, seed: u64) -> Scene {
    let (radius, pitch) = (0.04, 0.1);
    let mut scene = bin(2.0 * pitch);
    let mut rng = Rng::new(seed);
    for k in 0..64 {
        let cell = Vec3::new(f64::from(k % 4) - 1.5, f64::from(k / 4 % 4) - 1.5, f64::from(k / 16));
        let shift =
            Vec3::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), 0.0) * (0.45 * (pitch - 2.0 * radius));
        let at = Vec3::new(pitch * cell.x, pitch * cell.y, 1.5 * radius + 2.06 * radius * cell.z) + shift;
        let mut body = Body::new(format!("{k}"), geometry()).with_mass(1.0).with_friction(mu);
        body.pose.translation = at;
        let turn = Vec3::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), rng.range(-1.0, 1.0));
        body.pose.rotation = rotation::exp(turn * std::f64::consts::PI);
        scene.bodies.push(body);
    }
    scene
}

/// Mean factorisations and unsolved steps of a run.
fn run(scene: &Scene, steps: usize) -> (f64, usize) {
    let mut sim = Simulation::new(scene.compile().expect("the scene compiles"), SimSettings::default());
    let (mut sum, mut unsolved) = (0, 0);
    for _ in 0..steps {
        let r = sim.step(H).expect("the state stays finite");
        sum += r.factorizations;
        unsolved += usize::from(!r.status.is_solved());
    }
    (sum as f64 / steps as f64, unsolved)
}

#[test]
fn filled_bins_are_solved_at_a_bounded_cost() {
    let ball = || Geometry::Sphere { radius: 0.04 };
    let cube = || Geometry::Box { half: Vec3::splat(0.023) };
    let mut all = 0.0;
    for (name, scene) in [
        ("balls, μ 0.4", filled(ball, 0.4, 1)),
        ("balls, μ 0.4, again", filled(ball, 0.4, 2)),
        ("boxes, μ 0.4", filled(cube, 0.4, 1)),
    ] {
        let (mean, unsolved) = run(&scene, 200);
        println!("{name}: {mean:.1} factorisations, {unsolved} unsolved");
        assert!(unsolved <= 2, "{name}: {unsolved} of 200 steps are unsolved");
        all += mean;
    }
    // Bins are chaotic: 218 as they fall here, 411 where the interior point method starts cold and its last point is lost.
    assert!(all < 240.0, "{all} factorisations in the three means");
}
