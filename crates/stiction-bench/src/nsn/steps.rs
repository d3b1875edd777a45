//! Runs with the non-linear Newton step, as the experiments of the paper need them.

use crate::runs::broke;
use stiction::contact::{ContactProblem, Solution};
use stiction::papers::nsn::solve::{LinearMethod, LinearSettings, Look, NewtonSettings, NonsmoothNewton};
use stiction::papers::nsn::{NonlinearReport, NonlinearSettings, NonlinearStepper};
use stiction::solvers::ContactSolver;
use stiction::{Model, Pose, Scene, SimSettings, Simulation, State, Vec3};
use stiction_cli::failure::{Result, error};

/// The paper's time step: two per frame of 60 Hz [s].
pub const H: f64 = 1.0 / 120.0;

/// A model with its state and stepper.
pub struct Steps {
    pub model: Model,
    pub state: State,
    pub stepper: NonlinearStepper,
}

impl Steps {
    pub fn new(scene: &Scene, settings: NonlinearSettings) -> Result<Steps> {
        let broken = |e| error(format!("the experiment's scene: {e}"), "report this");
        let model = scene.compile().map_err(broken)?;
        let stepper = NonlinearStepper::new(&model, settings).map_err(broken)?;
        let state = State::clone(&model.initial);
        Ok(Steps { model, state, stepper })
    }

    /// With our own settings: every step is solved.
    pub fn robust(scene: &Scene) -> Result<Steps> {
        let model =
            scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
        Steps::new(scene, NonlinearSettings::robust(&model))
    }

    pub fn step(&mut self, h: f64) -> Result<&NonlinearReport> {
        self.stepper.step(&self.model, &mut self.state, h).map_err(broke)
    }

    /// Frame at the centre of mass of free body `i`, in the order of the dofs.
    pub fn pose(&self, i: usize) -> Pose {
        let (body, _) = self.model.free_bodies().nth(i).expect("a body of the experiment");
        self.model.com_pose(&self.state, body)
    }

    /// Position of the centre of mass of free body `i`, in the order of the dofs.
    pub fn position(&self, i: usize) -> Vec3 {
        self.pose(i).translation
    }
}

/// The paper's settings with N Newton and L linear iterations.
pub fn paper(n: usize, method: LinearMethod, l: usize) -> NewtonSettings {
    let linear = LinearSettings::default().with_method(method).with_iterations(l);
    NewtonSettings { iterations: n, linear, ..NewtonSettings::default() }
}

/// The same in time steps.
pub fn stepping(newton: NewtonSettings) -> NonlinearSettings {
    NonlinearSettings { newton, ..NonlinearSettings::default() }
}

/// Solves a frozen problem from zero and returns every iterate and the answer.
pub fn looks(p: &ContactProblem, settings: NewtonSettings) -> (Vec<Look>, Solution) {
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let mut solver = NonsmoothNewton::new(settings);
    solver.solve(p, &mut x, &mut ());
    (solver.looks().to_vec(), x)
}

/// Points of a curve over the iterations, zeros left out so that a logarithmic axis shows it.
pub fn curve(looks: &[Look], of: impl Fn(&Look) -> f64) -> Vec<(f64, f64)> {
    looks.iter().map(|l| (l.iteration as f64, of(l))).filter(|p| p.1 > 0.0 && p.1.is_finite()).collect()
}

/// Measures the mechanical energy of states of a model [J]: kinetic, potential above the origin, elastic.
pub fn energy_of(model: &Model) -> impl FnMut(&State) -> f64 + use<> {
    let mut sim = Simulation::new(model.clone(), SimSettings::default());
    move |state| {
        sim.set_state(state.clone());
        sim.energy().total()
    }
}
