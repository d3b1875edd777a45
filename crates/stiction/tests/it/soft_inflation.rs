//! Pressure inside swells a solid by what its bulk modulus allows; a stiff layer on one side turns swelling into
//! bending, as in a pneumatic finger.

use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{FibreLayer, Filling, Inflation, NodeSelection, SoftBody};
use stiction::{Scene, SimSettings, Simulation, Vec3};

const YOUNG: f64 = 1e5;
const POISSON: f64 = 0.3;

fn settled(mut solid: SoftBody) -> Simulation {
    solid.damping = Damping { mass: 20.0, stiffness: 0.01, ..Damping::default() };
    let scene = Scene { solids: vec![solid], ..Scene::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    for _ in 0..200 {
        assert!(sim.step(0.01).unwrap().status.is_solved());
    }
    sim
}

fn everywhere(pressure: Vec<[f64; 2]>) -> Inflation {
    Inflation { min: Vec3::splat(-1.0), max: Vec3::splat(1.0), pressure }
}

#[test]
fn a_cube_swells_by_pressure_over_bulk_modulus() {
    let bulk = YOUNG / (3.0 * (1.0 - 2.0 * POISSON));
    for law in [Law::Corotated, Law::StableNeoHookean] {
        let material = Material { law, young: YOUNG, poisson: POISSON, density: 1000.0 };
        let mut cube = SoftBody::new("cube", shapes::block([3, 3, 3], Vec3::splat(0.1)), material);
        // Rises within half a second.
        cube.inflations = vec![everywhere(vec![[0.0, 0.0], [0.5, 0.01 * bulk]])];
        let sim = settled(cube);
        let corner = |i: usize| sim.kinematics().vertex_position(SoftId(0), i);
        let size = corner(63) - corner(0);
        let volume = size.x * size.y * size.z / 1e-3;
        assert!((volume - 1.01).abs() < 3e-4, "{law:?}: {volume}");
    }
}

#[test]
fn a_finger_bends_towards_its_stiff_layer() {
    let material = Material { law: Law::StableNeoHookean, young: YOUNG, poisson: POISSON, density: 1000.0 };
    let size = Vec3::new(0.2, 0.03, 0.03);
    let mut finger = SoftBody::new("finger", shapes::block([20, 3, 3], size), material)
        .pinned(NodeSelection::Box { min: Vec3::splat(-1.0), max: Vec3::new(-0.1 + 1e-9, 1.0, 1.0) });
    // Woven fabric along the lowest third; pressure above it.
    finger.fibres = vec![FibreLayer {
        min: Vec3::splat(-1.0),
        max: Vec3::new(1.0, 1.0, 0.01),
        direction: Vec3::X,
        stiffness: 50.0 * YOUNG,
        tension: 0.0,
    }];
    let chamber = Inflation {
        min: Vec3::new(-1.0, -1.0, 0.01),
        max: Vec3::splat(1.0),
        pressure: vec![[0.0, 0.0], [0.5, 0.5 * YOUNG]],
    };
    finger.inflations = vec![chamber];
    let sim = settled(finger);
    let solid = &sim.model().solids[0];
    let tip: Vec<Vec3> = (0..solid.rest.len())
        .filter(|&i| solid.rest[i].x > 0.1 - 1e-9)
        .map(|i| sim.kinematics().vertex_position(SoftId(0), i) - solid.rest[i])
        .collect();
    let moved = tip.iter().sum::<Vec3>() / tip.len() as f64;
    // The split of the cells prefers one diagonal, which bends it a little sideways.
    assert!(moved.z < -0.02 && moved.y.abs() < 0.1 * moved.z.abs(), "the tip moves by {moved}");
}

#[test]
fn a_visual_surface_moves_with_the_mesh() {
    let material = Material { law: Law::Corotated, young: YOUNG, poisson: POISSON, density: 1000.0 };
    let mut cube = SoftBody::new("cube", shapes::block([2, 2, 2], Vec3::splat(0.1)), material);
    let mut skin = shapes::cloth([3, 3], [0.08, 0.08]);
    skin.vertices.iter_mut().for_each(|v| v.z += 0.05);
    cube.velocity = Vec3::new(1.0, 2.0, 3.0);
    cube.visual = Some(skin.clone());
    let scene = Scene { solids: vec![cube], ..Scene::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    for _ in 0..10 {
        sim.step(0.01).unwrap();
    }
    let x: Vec<Vec3> = (0..27).map(|i| sim.kinematics().vertex_position(SoftId(0), i)).collect();
    let visual = sim.model().solids[0].visual.as_ref().unwrap();
    assert_eq!(visual.triangles, skin.triangles);
    for (e, start) in visual.vertices.iter().zip(&skin.vertices) {
        let expected = *start + 0.1 * Vec3::new(1.0, 2.0, 3.0);
        assert!((e.position(&x) - expected).length() < 1e-9);
    }
}

/// A bar of two halves between walls: the soft half gives way to the stiff one as two springs in series do.
#[test]
fn a_filling_makes_only_its_part_soft() {
    let material = Material { law: Law::Corotated, young: YOUNG, poisson: 0.0, density: 1000.0 };
    let mut bar = SoftBody::new("bar", shapes::block([8, 2, 2], Vec3::new(0.4, 0.1, 0.1)), material);
    let end = |x: f64| NodeSelection::Box {
        min: Vec3::new(x - 1e-9, -1.0, -1.0),
        max: Vec3::new(x + 1e-9, 1.0, 1.0),
    };
    bar = bar.pinned(end(-0.2)).pinned(end(0.2));
    // The stiff half swells against the soft one: E ε₁ + p = E/9 ε₂ with ε₁ = −ε₂.
    let soft = (Vec3::new(0.0, -1.0, -1.0), Vec3::splat(1.0));
    bar.fillings.push(Filling { min: soft.0, max: soft.1, young: YOUNG / 9.0, poisson: 0.0 });
    let p = 0.01 * YOUNG;
    bar.inflations =
        vec![Inflation { min: Vec3::splat(-1.0), max: Vec3::new(0.0, 1.0, 1.0), pressure: vec![[0.0, p]] }];
    let sim = settled(bar);
    let rest = &sim.model().solids[0].rest;
    let middle = (0..rest.len()).find(|&i| rest[i].x.abs() < 1e-9 && rest[i].y.abs() < 1e-9).unwrap();
    let moved = sim.kinematics().vertex_position(SoftId(0), middle).x;
    let closed = 0.2 * p / (YOUNG * (1.0 + 1.0 / 9.0));
    assert!((moved / closed - 1.0).abs() < 0.02, "{moved} m of {closed} m");
}
