//! The work of a step is bounded by its size. A rod thicker than it is long and a cloth that overlaps all of it have far more contacts
//! than dofs, which contradict each other: such a step ends in `budget` after some hundred factorisations, counted over all of its
//! solves. A bare problem that is solved once may take as long as it needs.

use stiction::contact::samples;
use stiction::elastic::Section;
use stiction::scene::{Rod, Sheet};
use stiction::solvers::Status;
use stiction::solvers::exact::{Exact, Settings};
use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};

/// A sheet of 25 nodes over a rod of six links.
fn thick_rod(radius: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed().with_friction(0.5));
    let mut sheet = Sheet::new("cloth", [4, 4], [1.0, 1.0]);
    sheet.pose.translation = Vec3::new(0.03, 0.02, 0.05);
    (sheet.area_density, sheet.stretch, sheet.shear, sheet.bend) = (0.3, 500.0, 50.0, 2e-4);
    (sheet.damping, sheet.thickness, sheet.friction) = (0.01, 0.008, 0.4);
    scene.sheets.push(sheet);
    let section = Section { radius, young: 2.954e6, poisson: 0.49 };
    let mut rod = Rod::new("cable", Vec3::new(-0.2, 0.0, 0.02), Vec3::new(0.2, 0.0, 0.02), 6, section);
    (rod.density, rod.friction) = (1259.0, 1.3);
    scene.rods.push(rod);
    scene
}

#[test]
fn a_step_that_contradicts_itself_ends_in_budget_at_a_bounded_cost() {
    for radius in [1e3, 9e8] {
        let mut sim = Simulation::new(thick_rod(radius).compile().unwrap(), SimSettings::default());
        let report = sim.step(0.01).unwrap();
        assert_eq!(report.status, Status::Budget, "radius {radius} m");
        // 5000 to 6400 without the bound, on 170 to 180 contacts.
        assert!(report.contacts > 150, "{}", report.contacts);
        assert!(report.factorizations < 1000, "radius {radius} m: {}", report.factorizations);
    }
}

#[test]
fn work_is_counted_and_bounded_per_step() {
    let p = samples::heavy_stack(6);
    let solve = |most_work: f64| {
        let mut solver = Exact::new(Settings { most_work, ..Settings::stepping() });
        let mut x = crate::common::cold(&p);
        use stiction::solvers::ContactSolver;
        solver.start_step();
        let first = solver.solve(&p, &mut x, &mut ());
        // The same again from nothing: what is left of the step counts for it.
        let mut x = crate::common::cold(&p);
        let second = solver.solve(&p, &mut x, &mut ());
        solver.start_step();
        let mut x = crate::common::cold(&p);
        let next = solver.solve(&p, &mut x, &mut ());
        [first, second, next]
    };
    let [free, again, next] = solve(f64::INFINITY);
    assert!(free.status.is_solved() && free.work > 0.0 && free == again && free == next, "{free:?}");
    // Room for one and a half of them.
    let unknowns = 6.0 * p.a.block_rows() as f64 + 3.0 * p.contacts() as f64;
    let [first, second, next] = solve(1.5 * free.work / (unknowns * unknowns));
    assert_eq!(first, free);
    assert_eq!(second.status, Status::Budget);
    // One factorisation may pass the bound before it is noticed.
    let one = free.work / free.factorizations as f64;
    assert!(second.work > 0.0 && second.work <= 0.5 * free.work + one, "{} of {}", second.work, free.work);
    assert_eq!(next, free);
}
