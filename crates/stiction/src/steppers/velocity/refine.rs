//! What looks at contacts where a motion has led them, and linearises them anew there.

use crate::collide::{Collider, Contact};
use crate::contact::ContactKey;
use crate::kinematics::Kinematics;
use crate::model::Model;

/// What becomes of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its gap is what it was solved for.
    Holds,
    /// It has slid off its feature.
    SlidOff,
    /// It was linearised anew; its gap is the one at the end of the motion along the new normal.
    Turned,
}

/// A contact as it was solved.
#[derive(Clone, Copy, Debug)]
pub struct Solved {
    /// The gap that it is to have at the end [m].
    pub gap: f64,
    /// It has a force.
    pub pushes: bool,
}

/// Linearises contacts anew until they hold at the end of the step.
pub trait Refine: Send + Sync {
    /// Most passes for impacts and for contacts that have turned, and passes for impacts alone after these.
    fn passes(&self) -> (usize, usize);

    /// Begins a step.
    fn start(&mut self, model: &Model);

    /// Notes an impact.
    fn note_impact(&mut self, key: ContactKey);

    /// Detects the pairs of rigid shapes among the contacts where the motion leads.
    fn look_at_rigid(&mut self, ahead: Kinematics<'_>, contacts: &[Contact], collider: &mut Collider);

    /// Adds contacts of rigid pairs that are not among those given and overlap where the motion leads.
    fn add_missing(&self, model: &Model, contacts: &[Contact], out: &mut Vec<Contact>);

    /// Judges a contact where a motion leads, from the first state to the second.
    fn judge(
        &mut self,
        ways: (Kinematics<'_>, Kinematics<'_>),
        contact: &mut Contact,
        solved: Solved,
    ) -> Verdict;

    /// Largest |C − clearance| of the contacts last judged [m].
    fn error(&self) -> f64;
}
