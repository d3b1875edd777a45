//! Flight at another state, for derivatives: who flies, and how impacts go on, is as it was in the step.

use super::VelocityStepper;
use super::flight::{Flown, Impact, fly_blocks};
use super::touch::{Smooth, Touch};
use crate::contact::ContactKey;
use crate::coords::State;
use crate::integrate::advance;
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::Vec3;
use crate::model::Model;

impl VelocityStepper {
    /// How the last step flew.
    pub(crate) fn flown(&self) -> Flown {
        self.flight.as_ref().map_or_else(Flown::default, |f| f.flown())
    }

    /// The impacts of a step where their sides meet from this state on, with the same impulses; the equations must have been
    /// linearised there. An impact that is missed is left out.
    pub(super) fn find_impacts(
        &mut self,
        (kin, h): (Kinematics<'_>, f64),
        keys: &[ContactKey],
        flown: &Flown,
    ) -> Vec<Impact> {
        let smooth = Smooth { kin, end: &self.smooth, h };
        let again = |i: &Impact| {
            let key = &keys[i.contact as usize];
            let mut touch = Touch::find(smooth, key, i.touch.time, &mut self.collider)?;
            if i.touch.contact.restitution == 0.0 {
                touch.contact.restitution = 0.0;
            }
            Some(Impact { touch, ..*i })
        };
        flown.impacts.iter().filter_map(again).collect()
    }

    /// Gives the blocks of impacts the inertia that they have where they first meet.
    pub(super) fn turn_inertia_to_touch(&mut self, (kin, h): (Kinematics<'_>, f64), impacts: &[Impact]) {
        let smooth = Smooth { kin, end: &self.smooth, h };
        let a = &mut self.problem.a;
        let mut touches = Vec::new();
        super::flight::first_touches(smooth, impacts, &mut touches);
        for (block, time) in touches {
            smooth.write_inertia(block, time, a.diagonal_block_mut(block));
        }
    }

    /// Moves a state by a step with the answer `v` and `lambda` that flew as `flown` says.
    pub(crate) fn advance_flown(
        &mut self,
        model: &Model,
        state: &mut State,
        h: f64,
        (v, lambda): (&[f64], &[Vec3]),
        (keys, flown): (&[ContactKey], &Flown),
    ) {
        if !flown.flies.contains(&true) {
            advance(model, state, v, v, h);
            return;
        }
        let start = Placement::of(model, state);
        let kin = start.kinematics(model);
        self.linearize(kin, h);
        let mut impacts = self.find_impacts((kin, h), keys, flown);
        for i in &mut impacts {
            i.impulse = lambda[i.contact as usize];
        }
        let (mut v_move, mut v_end) = (v.to_vec(), v.to_vec());
        let smooth = Smooth { kin, end: &self.smooth, h };
        let out = (&mut v_move[..], &mut v_end[..]);
        fly_blocks(smooth, &self.mass, &flown.flies, &impacts, &mut Vec::new(), out);
        advance(model, state, &v_move, &v_end, h);
    }
}
