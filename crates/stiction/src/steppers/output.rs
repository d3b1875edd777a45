//! The record of a step that every read-out reads, whichever stepper took the step.

use super::StepReport;
use crate::collide::Contact;
use crate::coords::{Anchor, Pose};
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;

/// What the last step did. Each stepper fills all of it, so that no read-out answers for a stepper that did not run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepOutput {
    /// Counts, residuals, times and energies.
    pub report: StepReport,
    /// Contacts, those of sleeping bodies last. Gaps are those that the step was solved with: at its start, and at its end for
    /// steppers that are implicit in them (`penalty`). Points are where the sides are near each other: at the start of the step,
    /// at the touch of an impact, or where the step met them ([`Acts::met`]).
    pub contacts: Vec<Contact>,
    /// Force on side a of each contact [N], world axes.
    pub forces: Vec<Vec3>,
    /// Where and when each of these forces acts.
    pub acts: Vec<Acts>,
    /// Where the owners of both shapes are when they meet, of the contacts that the step found on its way: frames at the centre of
    /// mass of a body. Point, frame and arms of such a contact are those of this place; its gap is that of its row, taken back to the
    /// start of the step.
    pub meetings: Vec<[Pose; 2]>,
    /// Force [N] and moment about the anchor [N·m] of each joint on its body b, world axes.
    pub joints: Vec<(Vec3, Vec3)>,
}

/// Where and when the force of a contact acts. Most act where the step finds the contact; those of impacts where the sides touch,
/// those of contacts that are met on the way where they are met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Acts {
    /// From the centre of mass of side a, and of side b, to the force as it acts [m], world axes; zero where a side is no free
    /// rigid body.
    pub arms: [Vec3; 2],
    /// Time within the step at which it acts as an impact [s]; nothing for forces that act over the whole step.
    pub touch: Option<f64>,
    /// Its place in [`StepOutput::meetings`]; nothing for contacts that are found where the step starts.
    pub met: Option<u32>,
}

impl Acts {
    /// At the places that anchors have in a state, or for rigid sides at `point`.
    pub(crate) fn at(kin: Kinematics<'_>, c: &Contact, point: Vec3) -> Acts {
        let Kinematics { model, state, .. } = kin;
        let arm = |anchor: &Anchor| match *anchor {
            Anchor::Body { body, .. } if model.is_free(body) => {
                point - Vec3::from_slice(&state.q[model.bodies[body.index()].q..])
            }
            _ => Vec3::ZERO,
        };
        Acts { arms: [arm(&c.a), arm(&c.b)], touch: None, met: None }
    }
}

impl StepOutput {
    /// Forgets contacts and joint forces, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.contacts.clear();
        self.forces.clear();
        self.acts.clear();
        self.meetings.clear();
        self.joints.clear();
    }
}
