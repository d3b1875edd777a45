//! Sharp features: spikes on wedges, spikes in cracks, cliff edges, and floors of many triangles. Nothing sinks in (by
//! the signed distance of every corner, measured apart from collision), nothing gains energy, and edges between
//! triangles of one plane are not felt: what slides or rolls over 10,000 of them keeps its exact speed to 1e-6.

use stiction::collide::SignedDistance;
use stiction::coords::BodyId;
use stiction::scene::Heightfield;
use stiction::{Body, Geometry, Quat, Scene, SimSettings, Simulation, Vec3};

const G: f64 = 9.81;

/// A flat floor of 10,000 triangles, turned a little so that nothing runs along its edges.
fn floor() -> Body {
    let field = Heightfield { heights: vec![0.0; 101 * 51], columns: 101, size: [4.0, 2.0], base: None };
    assert_eq!(field.triangles().1.len(), 10_000);
    let mut b = Body::new("floor", Geometry::Heightfield(field)).fixed();
    b.pose.rotation = Quat::from_rotation_z(0.3);
    b
}

fn run(bodies: Vec<Body>) -> Simulation {
    let scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), bodies, ..Scene::default() };
    Simulation::new(scene.compile().unwrap(), SimSettings::default())
}

fn velocity(sim: &Simulation, body: u32) -> (Vec3, Vec3) {
    sim.model().com_velocity(sim.state(), BodyId(body))
}

fn as_mesh(half: Vec3) -> Geometry {
    let vertices = (0..8)
        .map(|k| half * (Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0))
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Geometry::TriMesh { vertices, triangles }
}

#[test]
fn a_box_slides_over_many_triangles_as_over_a_plane() {
    let half = Vec3::new(0.15, 0.1, 0.05);
    let cases = [
        ("box", Geometry::Box { half }, 0.0),
        ("box with friction", Geometry::Box { half }, 0.05),
        ("mesh", as_mesh(half), 0.05),
        ("lying cylinder", Geometry::Cylinder { half_height: 0.05, radius: 0.1 }, 0.05),
    ];
    for (what, geometry, mu) in cases {
        let mut it = Body::new("it", geometry).at(-0.5, 0.0, 0.05);
        it.velocity = Vec3::X;
        it.pose.rotation = Quat::from_rotation_z(0.7);
        let mut sim = run(vec![floor().with_friction(mu), it.with_friction(mu)]);
        for k in 1..=100 {
            sim.step(0.01).unwrap();
            let (v, w) = velocity(&sim, 1);
            let want = Vec3::X * (1.0 - mu * G * 0.01 * f64::from(k));
            assert!((v - want).length() < 1e-6, "{what}, step {k}: {v} instead of {want}");
            assert!(w.length() < 1e-6, "{what}, step {k}: turns at {w}");
        }
    }
}

#[test]
fn a_ball_rolls_over_many_triangles_as_over_a_plane() {
    let mut ball = Body::new("ball", Geometry::Sphere { radius: 0.1 }).at(-0.5, 0.05, 0.1);
    (ball.velocity, ball.spin) = (Vec3::X, Vec3::Y * 10.0);
    let mut sim = run(vec![floor(), ball]);
    for k in 0..100 {
        sim.step(0.01).unwrap();
        let (v, w) = velocity(&sim, 1);
        assert!((v - Vec3::X).length() < 1e-6, "step {k}: {v}");
        assert!((w - Vec3::Y * 10.0).length() < 1e-5, "step {k}: {w}");
    }
}

/// How far corners of the body (in its frame) reach into the ground at most; negative: all stand off.
fn sunk(sim: &Simulation, ground: u32, body: u32, corners: &[Vec3]) -> f64 {
    let (model, state) = (sim.model(), sim.state());
    let pose = model.body_pose(state, BodyId(body));
    let shape = &model.shapes[ground as usize];
    let field = SignedDistance::new(shape);
    let place = model.com_pose(state, BodyId(ground)) * shape.local;
    corners
        .iter()
        .map(|c| -field.at_world(&place, pose.transform_point(*c)).d)
        .fold(f64::NEG_INFINITY, f64::max)
}

fn energy(sim: &Simulation) -> f64 {
    let e = sim.energy();
    e.kinetic + e.potential
}

/// Runs, and asserts at every step that no corner sinks in deeper than `depth` and no energy appears.
fn watch(what: &str, sim: &mut Simulation, corners: &[Vec3], steps: usize, depth: f64) {
    let mut before = energy(sim);
    let scale = before.abs().max(1.0);
    for k in 0..steps {
        let report = sim.step(0.005).unwrap();
        assert!(report.status.is_solved(), "{what}, step {k}: {:?}", report.status);
        let deep = sunk(sim, 0, 1, corners);
        assert!(deep < depth, "{what}, step {k}: {deep} m deep");
        let now = energy(sim);
        assert!(now < before + 1e-6 * scale, "{what}, step {k}: energy {before} → {now}");
        before = now;
    }
}

/// A spike: four corners above, one tip below the origin.
fn spike() -> Vec<Vec3> {
    let top = |x: f64, y: f64| Vec3::new(x, y, 0.15);
    vec![top(0.04, 0.04), top(-0.04, 0.04), top(-0.04, -0.04), top(0.04, -0.04), Vec3::new(0.0, 0.0, -0.15)]
}

/// A roof along y with its ridge at the origin.
fn wedge() -> Vec<Vec3> {
    [-0.5, 0.5]
        .iter()
        .flat_map(|y| [Vec3::new(-0.3, *y, -0.4), Vec3::new(0.3, *y, -0.4), Vec3::new(0.0, *y, 0.0)])
        .collect()
}

#[test]
fn spikes_on_a_wedge() {
    let hull = |points: &[Vec3]| Geometry::ConvexHull { points: points.to_vec() };
    let grounds = [
        ("hull", hull(&wedge())),
        (
            "mesh",
            Geometry::TriMesh {
                vertices: wedge(),
                triangles: vec![
                    [0, 1, 2],
                    [3, 5, 4],
                    [0, 4, 1],
                    [0, 3, 4],
                    [1, 5, 2],
                    [1, 4, 5],
                    [2, 3, 0],
                    [2, 5, 3],
                ],
            },
        ),
    ];
    for (name, ground) in grounds {
        for (dx, tilt) in [(0.0, 0.0), (1e-9, 0.0), (0.002, 0.05), (-0.01, 0.4)] {
            let mut it = Body::new("spike", hull(&spike())).at(dx, 0.02, 0.2);
            it.pose.rotation = Quat::from_rotation_y(tilt);
            let mut sim = run(vec![Body::new("wedge", ground.clone()).fixed(), it]);
            let corners = spike();
            watch(&format!("spike at {dx} on a {name}"), &mut sim, &corners, 120, 1e-4);
        }
    }
}

#[test]
fn spikes_in_a_crack() {
    // Two heights of a V along y, steeper than the spike is sharp: it hangs between the walls.
    let heights: Vec<f64> = (0..9 * 5).map(|k: i32| 0.6 * f64::from((k % 9 - 4).abs()) * 0.1).collect();
    let crack = Heightfield { heights, columns: 9, size: [0.8, 1.0], base: Some(-0.2) };
    for (shift, tilt) in [(0.0, 0.0), (0.03, 0.2), (-0.02, 0.7)] {
        let mut it = Body::new("spike", Geometry::ConvexHull { points: spike() }).at(shift, 0.01, 0.3);
        it.pose.rotation = Quat::from_rotation_y(tilt);
        let ground = Body::new("crack", Geometry::Heightfield(crack.clone())).fixed();
        let mut sim = run(vec![ground, it]);
        watch(&format!("spike in a crack at {shift}"), &mut sim, &spike(), 200, 1e-4);
    }
    // A crack narrower than the block that falls on it: the edges carry it.
    let half = Vec3::new(0.15, 0.1, 0.05);
    let corners: Vec<Vec3> = (0..8)
        .map(|k| half * (Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0))
        .collect();
    let gap = Heightfield {
        heights: (0..9 * 2).map(|k: i32| if k % 9 == 4 { -0.3 } else { 0.0 }).collect(),
        columns: 9,
        size: [0.8, 1.0],
        base: Some(-0.5),
    };
    let it = Body::new("block", Geometry::Box { half }).at(0.01, 0.0, 0.1);
    let mut sim = run(vec![Body::new("gap", Geometry::Heightfield(gap)).fixed(), it]);
    watch("block over a gap", &mut sim, &corners, 150, 1e-4);
    let rest = sim.model().com_pose(sim.state(), BodyId(1)).translation;
    assert!((rest.z - 0.05).abs() < 1e-3 && velocity(&sim, 1).0.length() < 1e-3, "rests at {rest}");
}

#[test]
fn a_box_slides_over_a_cliff() {
    let half = Vec3::splat(0.1);
    let corners: Vec<Vec3> = (0..8)
        .map(|k| half * (Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0))
        .collect();
    let slab = Vec3::new(0.5, 0.5, 0.5);
    for (what, ground) in [("box", Geometry::Box { half: slab }), ("mesh", as_mesh(slab))] {
        let mut it = Body::new("it", Geometry::Box { half }).at(0.1, 0.05, 0.1);
        it.velocity = Vec3::X;
        it.pose.rotation = Quat::from_rotation_z(0.4);
        let cliff = Body::new("cliff", ground).fixed().at(0.0, 0.0, -0.5);
        let mut sim = run(vec![cliff.with_friction(0.02), it.with_friction(0.02)]);
        watch(what, &mut sim, &corners, 200, 2e-4);
        let end = sim.model().com_pose(sim.state(), BodyId(1)).translation;
        assert!(end.x > 0.5 && end.z < -0.1, "{what}: it fell off, {end}");
    }
}

#[test]
fn a_ball_in_a_valley_touches_both_sides() {
    let heights = (0..9 * 5).map(|k: i32| 0.05 * f64::from((k % 9 - 4).abs())).collect();
    let valley = Heightfield { heights, columns: 9, size: [0.8, 0.8], base: None };
    let ball = Body::new("ball", Geometry::Sphere { radius: 0.05 }).at(0.001, 0.0, 0.1);
    let mut sim = run(vec![Body::new("valley", Geometry::Heightfield(valley)).fixed(), ball]);
    for _ in 0..200 {
        sim.step(0.005).unwrap();
    }
    // Slope one half: the centre stands r √(1 + 1/4) above the bottom.
    let z = sim.model().com_pose(sim.state(), BodyId(1)).translation.z;
    assert!((z - 0.05 * 1.25_f64.sqrt()).abs() < 1e-5, "{z}");
    let mut normals: Vec<f64> =
        sim.contacts().filter(|(_, f)| f.length() > 1e-9).map(|(c, _)| c.normal().x).collect();
    normals.sort_by(f64::total_cmp);
    let lean = 1.0 / 5.0_f64.sqrt();
    assert!(
        (normals[0] + lean).abs() < 1e-6 && (normals[normals.len() - 1] - lean).abs() < 1e-6,
        "{normals:?}"
    );
}
