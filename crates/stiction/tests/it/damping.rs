//! Damping takes what its law says, however often a step linearises. Small motions of a spring, a soft body, a rod and
//! a sheet are linear, so that each step of a scheme loses a known energy: C v̂·v̂ h under midpoint, and
//! C v·v h + K v·v h²/2 + M Δv·Δv/2 under implicit Euler. With C = β K both follow from the elastic energy alone, which
//! shares nothing with the assembly. Steps with one, two and five linearisations move alike.

use stiction::coords::State;
use stiction::elastic::{Damping, Law, Material, Section};
use stiction::mesh::shapes;
use stiction::scene::{
    Attachment, Fixing, NodeSelection, Particle, Rod, RodHold, Scene, Sheet, SoftBody, SpringEnd, SpringSpec,
};
use stiction::{Scheme, SimSettings, Simulation, SolverKind, Vec3};

/// Speed of the fastest node [m/s]: the motion is small.
const SPEED: f64 = 1e-4;
const BETA: f64 = 5e-3;
const YOUNG: f64 = 1e5;

/// Elements with C = β K at rest, and their β [s].
fn elements() -> Vec<(&'static str, Scene)> {
    let mut spring = Scene::default();
    spring.particles.push(Particle {
        name: "it".into(),
        mass: 1.0,
        radius: 0.0,
        position: Vec3::ZERO,
        velocity: Vec3::ZERO,
        friction: 0.0,
        restitution: 0.0,
    });
    // Three springs across each other, so that every direction is stiff and damped.
    for (name, axis, k) in [("x", Vec3::X, 400.0), ("y", Vec3::Y, 700.0), ("z", Vec3::Z, 1000.0)] {
        let ends = [SpringEnd::on("it", Vec3::ZERO), SpringEnd::world(axis)];
        spring.springs.push(SpringSpec { damping: BETA * k, ..SpringSpec::new(name, ends, k) });
    }

    let material = Material { law: Law::StVenantKirchhoff, young: YOUNG, poisson: 0.0, density: 1000.0 };
    let bottom = NodeSelection::Box { min: Vec3::new(-1.0, -1.0, -0.01), max: Vec3::new(1.0, 1.0, 0.01) };
    let block = |damping: Damping| {
        let mesh = shapes::block([2, 2, 3], Vec3::splat(0.2));
        let mut body = SoftBody::new("it", mesh, material).pinned(bottom.clone());
        body.damping = damping;
        Scene { solids: vec![body], ..Scene::default() }
    };
    let rayleigh = block(Damping { stiffness: BETA, ..Damping::default() });
    // Without Poisson's effect K v·v = E |ε(v)|² V, and the power of the viscosity is η |ε(v)|² V.
    let viscous = block(Damping { viscosity: BETA * YOUNG, ..Damping::default() });

    let section = Section { radius: 0.02, young: 1e6, poisson: 0.3 };
    let mut rod = Rod::new("it", Vec3::ZERO, Vec3::X * 0.6, 6, section);
    rod.damping = BETA;
    rod.ends[0] = Some(RodHold { to: None, fixing: Fixing::Clamped });
    let rod = Scene { rods: vec![rod], ..Scene::default() };

    let nodes = NodeSelection::Nodes((0..5).collect());
    let sheet = Sheet {
        damping: BETA,
        bend: 0.01,
        attachments: vec![Attachment { nodes, to: None }],
        ..Sheet::new("it", [4, 4], [0.2, 0.2])
    };
    let sheet = Scene { sheets: vec![sheet], ..Scene::default() };
    vec![
        ("spring", spring),
        ("soft body", rayleigh),
        ("viscous body", viscous),
        ("rod", rod),
        ("cloth", sheet),
    ]
}

fn start(scene: &Scene, scheme: Scheme, linearizations: usize) -> Simulation {
    start_with(scene, scheme, linearizations, SolverKind::Exact)
}

fn start_with(scene: &Scene, scheme: Scheme, linearizations: usize, solver: SolverKind) -> Simulation {
    let settings = SimSettings { scheme, linearizations, solver, ..SimSettings::default() };
    let mut sim = Simulation::new(scene.compile().expect("the scene compiles"), settings);
    let mut state = sim.state().clone();
    for (i, v) in state.v.iter_mut().enumerate() {
        *v = SPEED * (1.0 + i as f64 * 0.7).sin();
    }
    sim.set_state(state);
    sim
}

/// Reads K v·v and M v·v of a system at rest from the energies of small displacements.
struct Forms {
    probe: Simulation,
    rest: State,
}

impl Forms {
    fn new(scene: &Scene) -> Forms {
        let probe = Simulation::new(scene.compile().expect("the scene compiles"), SimSettings::default());
        let rest = probe.state().clone();
        Forms { probe, rest }
    }

    fn stiffness(&mut self, v: &[f64]) -> f64 {
        // As far as the fastest node goes in 10 ms.
        const TIME: f64 = 0.01;
        let mut state = self.rest.clone();
        let d: Vec<f64> = v.iter().map(|v| TIME * v).collect();
        state.retract(&self.probe.model().layout, &d);
        self.probe.set_state(state);
        2.0 * self.probe.energy().elastic / (TIME * TIME)
    }

    fn mass(&mut self, v: &[f64]) -> f64 {
        self.probe.set_state(State { v: v.to_vec(), ..self.rest.clone() });
        2.0 * self.probe.energy().kinetic
    }
}

/// Energy that a step from v0 to v1 takes [J], by its damping alone and altogether.
fn loss(forms: &mut Forms, scheme: Scheme, v0: &[f64], v1: &[f64], h: f64) -> (f64, f64) {
    let pairs = || v0.iter().zip(v1);
    match scheme {
        Scheme::Midpoint => {
            let mean: Vec<f64> = pairs().map(|(a, b)| 0.5 * (a + b)).collect();
            let damped = BETA * h * forms.stiffness(&mean);
            (damped, damped)
        }
        Scheme::ImplicitEuler => {
            let change: Vec<f64> = pairs().map(|(a, b)| b - a).collect();
            let k = forms.stiffness(v1);
            let damped = BETA * h * k;
            (damped, damped + 0.5 * h * h * k + 0.5 * forms.mass(&change))
        }
    }
}

#[test]
fn every_step_takes_the_energy_of_its_damping() {
    let h = 2e-3;
    for (name, scene) in elements() {
        let mut forms = Forms::new(&scene);
        for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
            for linearizations in [1, 2, 5] {
                let mut sim = start(&scene, scheme, linearizations);
                let begin = sim.energy().total();
                let (mut damped, mut taken) = (0.0, 0.0);
                for _ in 0..30 {
                    let before = sim.state().v.clone();
                    sim.step(h).expect("small motions stay finite");
                    let (by_damping, all) = loss(&mut forms, scheme, &before, &sim.state().v, h);
                    damped += by_damping;
                    taken += all;
                }
                let case = format!("{name}, {}, {linearizations} linearisations", scheme.name());
                let lost = begin - sim.energy().total();
                assert!((lost / taken - 1.0).abs() < 1e-3, "{case}: {lost:e} J of {taken:e} J");
                assert!(damped > 0.1 * begin, "{case}: damping counts: {damped:e} of {begin:e} J");
            }
        }
    }
}

/// Velocities after 30 steps.
fn end(scene: &Scene, scheme: Scheme, linearizations: usize, solver: SolverKind) -> Vec<f64> {
    let mut sim = start_with(scene, scheme, linearizations, solver);
    for _ in 0..30 {
        sim.step(2e-3).expect("small motions stay finite");
    }
    sim.state().v.clone()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()))
}

#[test]
fn linearisations_of_small_motions_move_alike() {
    for (name, scene) in elements() {
        for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
            let once = end(&scene, scheme, 1, SolverKind::Exact);
            let largest = once.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            // `cr` takes the same equations by a loop of its own.
            for (solver, linearizations) in [
                (SolverKind::Exact, 2),
                (SolverKind::Exact, 5),
                (SolverKind::ConjugateResidual, 1),
                (SolverKind::ConjugateResidual, 2),
                (SolverKind::ConjugateResidual, 5),
            ] {
                let off = apart(&end(&scene, scheme, linearizations, solver), &once);
                let by = solver.name();
                let case = format!("{name}, {}, {by}, {linearizations} linearisations", scheme.name());
                assert!(off < 1e-3 * largest, "{case}: off by {off:e} of {largest:e}");
            }
        }
    }
}
