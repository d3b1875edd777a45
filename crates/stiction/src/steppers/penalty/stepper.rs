//! Steps of a simulation by the penalty solver.

use super::bdf::Phase;
use super::{Settings, System};
use crate::clock::Clock;
use crate::error::StepError;
use crate::kinematics::{Frames, Kinematics};
use crate::model::{Model, World};
use crate::solvers::{Trace, TraceRecord};
use crate::steppers::velocity::count_turns;
use crate::steppers::{Acts, Memory, StageTimes, StepOutput, StepReport, Stepper};
use std::sync::Arc;

/// Whose past a memory holds.
const KIND: &str = "penalty";

/// Takes steps of the penalty solver. The past that BDF2 looks back on is in the memory.
pub struct PenaltyStepper {
    settings: Settings,
    /// For the time step that was asked for last.
    system: Option<Box<System>>,
    phase: Phase,
    next: Phase,
}

impl PenaltyStepper {
    /// With these settings.
    pub fn new(settings: Settings) -> PenaltyStepper {
        PenaltyStepper { settings, system: None, phase: Phase::default(), next: Phase::default() }
    }

    /// Reads the phase from a memory: h, then w, e and u, then the sites that stuck. Without such a past, or with that of
    /// another time step, it is as if nothing had acted before.
    fn recall(&mut self, model: &Model, memory: &Memory, h: f64) {
        let (n, past) = (model.layout.nv(), memory.history.of(KIND));
        if past.len() <= 3 * n || past[0] != h {
            self.phase = Phase::start(model, &memory.state, h);
            return;
        }
        let part = |k: usize| &past[1 + k * n..1 + (k + 1) * n];
        let Phase { state, w, e, u, stuck } = &mut self.phase;
        state.clone_from(&memory.state);
        for (to, k) in [(w, 0), (e, 1), (u, 2)] {
            to.clear();
            to.extend_from_slice(part(k));
        }
        stuck.clear();
        stuck.extend(past[1 + 3 * n..].iter().map(|site| *site as u32));
    }

    /// Writes the phase into a memory.
    fn remember(&self, memory: &mut Memory, h: f64) {
        let Phase { state, w, e, u, stuck } = &self.next;
        memory.state.clone_from(state);
        let past = memory.history.start(KIND);
        past.push(h);
        [w, e, u].into_iter().for_each(|part| past.extend_from_slice(part));
        past.extend(stuck.iter().map(|site| f64::from(*site)));
    }
}

impl Stepper for PenaltyStepper {
    fn step(
        &mut self,
        world: World<'_>,
        frames: &mut Frames,
        memory: &mut Memory,
        h: f64,
        out: &mut StepOutput,
        trace: &mut dyn Trace,
    ) -> Result<(), StepError> {
        let model = world.model;
        if !(h.is_finite() && h > 0.0) {
            return Err(StepError::TimeStep(h));
        }
        if self.system.as_ref().is_none_or(|s| s.time_step() != h) {
            self.system = Some(Box::new(System::new(Arc::clone(model), self.settings, h)?));
        }
        self.recall(model, memory, h);
        let Some(system) = &mut self.system else { return Ok(()) };
        system.command(world.controls);
        let clock = Clock::start();
        let newton = system.step(&self.phase, memory.step as usize, &mut self.next)?;
        for (i, residual) in newton.history.iter().enumerate() {
            let residual = residual / newton.target;
            trace.record(TraceRecord { stage: "newton", iteration: i, factorizations: i, residual });
        }
        let solve = clock.seconds();
        self.remember(memory, h);
        frames.update(model, &memory.state);
        let kin = Kinematics::new(model, &memory.state, frames);
        let Some(system) = &self.system else { return Ok(()) };
        out.clear();
        let residuals = system.read(&mut out.contacts, &mut out.forces);
        out.acts.extend(out.contacts.iter().map(|c| Acts::at(kin, c, c.point)));
        system.read_joints(&mut out.joints);
        let joint_error = system.joint_error();
        count_turns(kin, &mut memory.joints);
        let measure = clock.seconds() - solve;
        out.report = StepReport {
            t: kin.state.t,
            contacts: out.contacts.len(),
            joints: model.joints.len(),
            joint_error,
            iterations: newton.iterations,
            factorizations: newton.iterations,
            status: newton.status.judged(residuals.are_finite()),
            residuals,
            overlap: residuals.penetration,
            times: StageTimes { solve, measure, ..StageTimes::default() },
            ..StepReport::default()
        };
        Ok(())
    }
}
