//! Nothing pushes from outside: a flying, wobbling solid keeps its momentum and angular momentum, alone or with a
//! rigid body grown onto it.

use stiction::coords::{BodyId, SoftId};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{MassMatrix, NodeSelection, SoftBody};
use stiction::{Body, Geometry, Scene, Scheme, SimSettings, Simulation, Vec3};

const SOFT: Material = Material { law: Law::StableNeoHookean, young: 2e4, poisson: 0.4, density: 1000.0 };

fn block(law: Law) -> SoftBody {
    let mesh = shapes::block([4, 2, 2], Vec3::new(0.2, 0.1, 0.1));
    let mut b = SoftBody::new("block", mesh, Material { law, ..SOFT });
    (b.velocity, b.spin) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(1.0, 2.0, -3.0));
    b
}

/// Momentum [kg·m/s] and angular momentum about the origin [kg·m²/s].
fn momenta(sim: &Simulation) -> (Vec3, Vec3) {
    let (model, state) = (sim.model(), sim.state());
    let (mut p, mut l) = (Vec3::ZERO, Vec3::ZERO);
    for n in &model.nodes {
        let (x, v) = (n.position(state), n.velocity(state));
        p += n.mass * v;
        l += x.cross(n.mass * v);
    }
    for (i, b) in model.bodies.iter().enumerate() {
        let (pose, (v, w)) =
            (model.com_pose(state, BodyId(i as u32)), model.com_velocity(state, BodyId(i as u32)));
        p += b.mass * v;
        l += pose.translation.cross(b.mass * v) + b.world_inertia(pose.rotation) * w;
    }
    (p, l)
}

#[test]
fn a_flying_solid_keeps_its_momentum() {
    for law in [Law::Corotated, Law::StVenantKirchhoff, Law::StableNeoHookean] {
        for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
            let scene = Scene { solids: vec![block(law)], ..Scene::default() };
            let mut sim =
                Simulation::new(scene.compile().unwrap(), SimSettings { scheme, ..SimSettings::default() });
            let (p0, _) = momenta(&sim);
            for _ in 0..50 {
                sim.step(0.01).unwrap();
            }
            let (p, _) = momenta(&sim);
            assert!((p - p0).length() < 1e-12 * p0.length(), "{law:?} {scheme:?}: {p0} → {p}");
        }
    }
}

/// The midpoint rule keeps quadratic invariants: with its non-linear equations solved, L stays to rounding.
#[test]
fn a_flying_solid_keeps_its_angular_momentum() {
    for law in [Law::Corotated, Law::StVenantKirchhoff, Law::StableNeoHookean] {
        let scene = Scene { solids: vec![block(law)], ..Scene::default() };
        let settings = SimSettings { scheme: Scheme::Midpoint, linearizations: 60, ..SimSettings::default() };
        let mut sim = Simulation::new(scene.compile().unwrap(), settings);
        let (_, l0) = momenta(&sim);
        for _ in 0..50 {
            sim.step(0.005).unwrap();
        }
        let (_, l) = momenta(&sim);
        assert!((l - l0).length() < 1e-12 * l0.length(), "{law:?}: {l0} → {l}");
    }
}

#[test]
fn a_body_grown_onto_a_solid_shares_its_momentum() {
    let mut head = Body::new("head", Geometry::Sphere { radius: 0.05 }).at(0.15, 0.0, 0.05);
    head.shapes.clear();
    head.mass = stiction::scene::MassSpec::Given {
        mass: 0.7,
        inertia: stiction::Mat3::from_diagonal(Vec3::new(1e-3, 2e-3, 2.5e-3)),
        com: Vec3::ZERO,
    };
    let face = NodeSelection::Box { min: Vec3::new(0.1 - 1e-9, -1.0, -1.0), max: Vec3::splat(1.0) };
    let solid = SoftBody { spin: Vec3::ZERO, ..block(Law::Corotated).attached(face, "head") };
    let scene = Scene { bodies: vec![head], solids: vec![solid], ..Scene::default() };
    let model = scene.compile().unwrap();
    assert_eq!(model.nodes.len(), 36, "nine of 45 nodes are held");
    let held: f64 =
        model.solids[0].mass.iter().sum::<f64>() - model.nodes.iter().map(|n| n.mass).sum::<f64>();
    assert!((model.bodies[0].mass - 0.7 - held).abs() < 1e-12, "the body carries the nodes that it holds");
    let mut sim = Simulation::new(model, SimSettings::default());
    let (p0, _) = momenta(&sim);
    for _ in 0..50 {
        let r = sim.step(0.01).unwrap();
        assert!(r.status.is_solved());
    }
    let (p, _) = momenta(&sim);
    assert!((p - p0).length() < 1e-12 * p0.length(), "{p0} → {p}");
    // Held nodes stay on the body.
    let solid = &sim.model().solids[0];
    let pose = sim.model().body_pose(sim.state(), BodyId(0));
    for (i, rest) in solid.rest.iter().enumerate().filter(|(_, r)| r.x > 0.1 - 1e-9) {
        let x = sim.kinematics().vertex_position(SoftId(0), i);
        let expected = pose.transform_point(*rest - Vec3::new(0.15, 0.0, 0.05));
        assert!((x - expected).length() < 1e-12);
    }
}

#[test]
fn damping_takes_energy_and_leaves_momentum() {
    for damping in
        [Damping { stiffness: 0.02, ..Damping::default() }, Damping { viscosity: 50.0, ..Damping::default() }]
    {
        let run = |damping: Damping| {
            let mut solid = SoftBody { damping, spin: Vec3::ZERO, ..block(Law::Corotated) };
            solid.mass = MassMatrix::Consistent;
            let scene = Scene { solids: vec![solid], ..Scene::default() };
            let settings = SimSettings { scheme: Scheme::Midpoint, ..SimSettings::default() };
            let mut sim = Simulation::new(scene.compile().unwrap(), settings);
            // Stretched by a tenth, then let go.
            let mut state = sim.state().clone();
            for n in &sim.model().nodes {
                state.q[n.q] *= 1.1;
            }
            sim.set_state(state);
            let p0 = momenta(&sim).0;
            for _ in 0..40 {
                sim.step(0.005).unwrap();
            }
            assert!((momenta(&sim).0 - p0).length() < 1e-12 * p0.length());
            sim.energy().total()
        };
        let (free, damped) = (run(Damping::default()), run(damping));
        assert!(damped < 0.97 * free, "{damping:?}: {damped} of {free} J are left");
    }
}
