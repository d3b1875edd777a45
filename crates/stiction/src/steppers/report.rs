//! What a step took and reached: the columns of the tables.

use crate::contact::Residuals;
use crate::dynamics::{Slender, Solids};
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::solvers::Status;

/// Report of one step.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct StepReport {
    /// Steps taken, this one included.
    pub step: u64,
    /// Time at the end of the step [s].
    pub t: f64,
    /// Contacts (points) in the problem.
    pub contacts: usize,
    /// Joints in the problem.
    pub joints: usize,
    /// Largest error of a rigid joint at the end of the step [m]; angles count by a length of the joint.
    pub joint_error: f64,
    /// Islands that were solved apart.
    pub islands: usize,
    /// Rigid bodies that sleep.
    pub asleep: usize,
    /// Sweeps or iterations of the solver.
    pub iterations: usize,
    /// Factorisations of the solver.
    pub factorizations: usize,
    /// How the solve ended.
    pub status: Status,
    /// The yardstick on the answer.
    pub residuals: Residuals,
    /// Deepest overlap that was found before the step [m].
    pub overlap: f64,
    /// Impacts that the motion of the step ran into and that became contacts (`intersection_free` only).
    pub impacts: usize,
    /// Largest part of its way that some body was held back because impacts remained (`intersection_free` only): 0 where
    /// all went their whole way.
    pub held_back: f64,
    /// Impacts that remained all the same, because what follows a path cannot be held.
    pub impacts_left: usize,
    /// Contacts that were linearised anew, or removed because they slid off, until the others held (`cr` only).
    pub relinearized: usize,
    /// Largest difference [m] between the gap of a pushing contact at the end of the step and the one it was solved for (`cr` only).
    pub contact_error: f64,
    /// Wall time by stage [s].
    pub times: StageTimes,
}

/// Wall time by stage [s].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct StageTimes {
    /// Finding contacts.
    pub collide: f64,
    /// Building the contact problem.
    pub assemble: f64,
    /// Solving it.
    pub solve: f64,
    /// Measuring the answer with the yardstick.
    pub measure: f64,
    /// Moving the state and reporting.
    pub advance: f64,
}

impl StageTimes {
    /// Names of the stages.
    pub const NAMES: [&'static str; 5] = ["collide", "assemble", "solve", "measure", "advance"];

    /// The times in the order of [`NAMES`](StageTimes::NAMES).
    pub fn to_array(self) -> [f64; 5] {
        [self.collide, self.assemble, self.solve, self.measure, self.advance]
    }

    /// Sum of all stages [s].
    pub fn total(self) -> f64 {
        self.to_array().iter().sum()
    }
}

/// Energies [J].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Energy {
    /// ½ vᵀ M v.
    pub kinetic: f64,
    /// −Σ m g·x, zero at the origin.
    pub potential: f64,
    /// Stored in deformed solids, springs and rods.
    pub elastic: f64,
}

impl Energy {
    /// Sum of all kinds [J].
    pub fn total(self) -> f64 {
        self.kinetic + self.potential + self.elastic
    }
}

/// Energies of a state.
pub fn energy(kin: Kinematics<'_>) -> Energy {
    let Kinematics { model, state, .. } = kin;
    let elastic = Solids::energy(kin) + Slender::energy(kin);
    let mut e = Energy { elastic, ..Energy::default() };
    for b in model.bodies.iter().filter(|b| b.block.is_some()) {
        let v = Vec3::from_slice(&state.v[b.dof..]);
        let pose = state.rigid_pose(b.q);
        let w = (pose.rotation * b.principal).conjugate() * Vec3::from_slice(&state.v[b.dof + 3..]);
        e.kinetic += 0.5 * (b.mass * v.dot(v) + w.dot(b.moments * w));
        e.potential -= b.mass * model.gravity.dot(pose.translation);
    }
    for n in &model.nodes {
        let (x, v) = (Vec3::from_slice(&state.q[n.q..]), Vec3::from_slice(&state.v[n.dof..]));
        e.kinetic += 0.5 * n.mass * v.dot(v);
        e.potential -= n.mass * model.gravity.dot(x);
    }
    e
}
