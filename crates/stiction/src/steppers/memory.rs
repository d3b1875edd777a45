//! All that decides how a run goes on.

use super::velocity::{JointMemory, SleepMemory};
use crate::contact::warm::WarmCache;
use crate::coords::State;
use crate::model::Model;

/// Everything that decides how a run goes on. Steppers keep nothing else from step to step, so that a copy is a snapshot from
/// which a run resumes bit for bit, and one stepper can serve many worlds.
#[derive(Debug, Default, PartialEq)]
pub struct Memory {
    /// Time, configuration, velocity.
    pub state: State,
    /// Steps taken.
    pub step: u64,
    /// Contact forces of the last step.
    pub contacts: WarmCache,
    /// Joint forces, angles and curvatures of the last step.
    pub joints: JointMemory,
    /// Which bodies sleep, where sleeping is allowed.
    pub sleep: SleepMemory,
    /// What else a stepper hands to its next step.
    pub history: History,
}

/// Who writes a [`History`]: nobody, and the steppers that look back. The list only grows: files count in it.
pub(super) const KINDS: [&str; 3] = ["", "penalty", "nsn-nonlinear"];

/// What one kind of stepper hands to its next step: the past of BDF2, or multipliers of elements. Another kind takes it for no
/// past at all.
#[derive(Debug, Default, PartialEq)]
pub struct History {
    /// Who wrote it; empty: nobody.
    of: &'static str,
    numbers: Vec<f64>,
}

impl Clone for History {
    fn clone(&self) -> History {
        History { of: self.of, numbers: self.numbers.clone() }
    }

    /// Reuses the buffer.
    fn clone_from(&mut self, other: &History) {
        self.of = other.of;
        self.numbers.clone_from(&other.numbers);
    }
}

impl History {
    /// As it was written.
    pub(super) fn new(of: &'static str, numbers: Vec<f64>) -> History {
        History { of, numbers }
    }

    /// Who wrote it, one of [`KINDS`].
    pub(super) fn kind(&self) -> &'static str {
        self.of
    }

    /// All of it, whoever wrote it.
    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// What a stepper of this kind left; nothing where another one took the last step.
    pub(crate) fn of(&self, kind: &'static str) -> &[f64] {
        if self.of == kind { &self.numbers } else { &[] }
    }

    /// An empty history of this kind, to be filled; keeps the buffer.
    pub(crate) fn start(&mut self, kind: &'static str) -> &mut Vec<f64> {
        debug_assert!(KINDS.contains(&kind), "files do not know the kind {kind}");
        self.of = kind;
        self.numbers.clear();
        &mut self.numbers
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.start("");
    }
}

impl Clone for Memory {
    fn clone(&self) -> Memory {
        let mut memory = Memory::default();
        memory.clone_from(self);
        memory
    }

    /// Reuses the buffers.
    fn clone_from(&mut self, other: &Memory) {
        let Memory { state, step, contacts, joints, sleep, history } = self;
        state.clone_from(&other.state);
        *step = other.step;
        contacts.clone_from(&other.contacts);
        joints.clone_from(&other.joints);
        sleep.clone_from(&other.sleep);
        history.clone_from(&other.history);
    }
}

impl Memory {
    /// At the initial state of a model.
    pub fn new(model: &Model) -> Memory {
        Memory {
            state: State::clone(&model.initial),
            joints: JointMemory::new(model),
            sleep: SleepMemory::new(model),
            ..Memory::default()
        }
    }

    /// Replaces the state. Contact and joint forces stay as guesses; all bodies are awake, and no past is known.
    pub fn set_state(&mut self, state: State) {
        self.sleep.wake_all(&mut self.contacts);
        self.history.clear();
        self.state = state;
    }
}
