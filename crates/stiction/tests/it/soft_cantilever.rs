//! A beam clamped at one end sags under its own weight by what Timoshenko says, up to the locking of linear
//! tetrahedra, which vanishes with the square of their size.

use stiction::coords::SoftId;
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{NodeSelection, SoftBody};
use stiction::{Scene, SimSettings, Simulation, Vec3};

const LENGTH: f64 = 0.2;
const HEIGHT: f64 = 0.04;
const YOUNG: f64 = 2e6;
const POISSON: f64 = 0.3;
const DENSITY: f64 = 1000.0;
const G: f64 = 9.81;

/// Mean sag of the tip [m], measured by Timoshenko's, after `steps` steps of `h`.
fn sag(law: Law, cells: [usize; 3], h: f64, steps: usize) -> f64 {
    let material = Material { law, young: YOUNG, poisson: POISSON, density: DENSITY };
    let clamped =
        NodeSelection::Box { min: Vec3::splat(-1.0), max: Vec3::new(-0.5 * LENGTH + 1e-9, 1.0, 1.0) };
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() };
    let mesh = shapes::block(cells, Vec3::new(LENGTH, HEIGHT, HEIGHT));
    scene.solids.push(SoftBody::new("beam", mesh, material).pinned(clamped));
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    for _ in 0..steps {
        assert!(sim.step(h).unwrap().status.is_solved());
    }
    let beam = &sim.model().solids[0];
    let tip: Vec<usize> = (0..beam.rest.len()).filter(|&i| beam.rest[i].x > 0.5 * LENGTH - 1e-9).collect();
    let fall = |&i: &usize| beam.rest[i].z - sim.kinematics().vertex_position(SoftId(0), i).z;
    let mean = tip.iter().map(fall).sum::<f64>() / tip.len() as f64;
    let bending = 1.5 * DENSITY * G * LENGTH.powi(4) / (YOUNG * HEIGHT * HEIGHT);
    let shear = DENSITY * G * LENGTH * LENGTH / 2.0 / (5.0 / 6.0 * YOUNG / (2.0 * (1.0 + POISSON)));
    mean / (bending + shear)
}

#[test]
fn sag_converges_to_timoshenko() {
    // Long steps of implicit Euler damp the swing within 2 s.
    let [coarse, middle, fine] =
        [[10, 2, 2], [20, 4, 4], [40, 8, 8]].map(|cells| sag(Law::Linear, cells, 0.05, 40));
    assert!((middle - 0.7793).abs() < 1e-4, "{middle}");
    assert!((fine - 0.9181).abs() < 1e-4, "{fine}");
    // Locking adds stiffness: 1/sag = (1 + c size^p)/limit, and three meshes give the limit.
    let [a, b, c] = [coarse, middle, fine].map(f64::recip);
    let limit = 1.0 / (c - (c - b).powi(2) / ((c - b) - (b - a)));
    assert!((limit - 1.0).abs() < 0.02, "{limit}");
}

#[test]
fn laws_agree_where_strains_are_small() {
    let linear = sag(Law::Linear, [10, 2, 2], 0.05, 60);
    for law in
        [Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean { threshold: 0.5 }, Law::StableNeoHookean]
    {
        let other = sag(law, [10, 2, 2], 0.05, 60);
        assert!((other / linear - 1.0).abs() < 2e-3, "{law:?}: {other}, linear {linear}");
    }
}
