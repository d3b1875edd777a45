//! Contacts for the step: fixed normals, true gaps C_n(q) = gap⁻ + n·(Δa − Δb) (9), slip velocities Dᵀu (31).

use super::row_builder::RowBuilder;
use crate::collide::Contact;
use crate::contact::Law;
use crate::contact::law::RoundLaw;
use crate::coords::{Anchor, State};
use crate::linalg::{Mat3, SparseRows, Vec3};
use crate::scene::Model;

/// A contact as the step holds it.
#[derive(Clone, Copy, Debug)]
pub struct HeldContact {
    /// Material points of both sides, where the forces act.
    sides: [Anchor; 2],
    /// Where they were.
    start: [Vec3; 2],
    /// Rows n, t₁, t₂, with an elliptic cone stretched to a round one.
    frame: Mat3,
    gap: f64,
    /// Velocity of sides that move as prescribed, a less b [m/s].
    driven: Vec3,
    /// Its law, round.
    pub law: RoundLaw,
    /// Factors of the rows.
    pub stretch: Vec3,
}

impl HeldContact {
    /// Holds a contact that was found at `state`.
    pub fn new(model: &Model, state: &State, c: &Contact, h: f64) -> HeldContact {
        // Forces act at one point for both sides, so that they are collinear.
        let hold = |anchor: &Anchor| match *anchor {
            Anchor::Rigid { body, .. } => {
                let pose = model.com_pose(state, body);
                Anchor::Rigid { body, local: pose.rotation.conjugate() * (c.point - pose.translation) }
            }
            Anchor::Kinematic { body, .. } => {
                let pose = model.com_pose(state, body);
                Anchor::Kinematic { body, local: pose.rotation.conjugate() * (c.point - pose.translation) }
            }
            other => other,
        };
        let sides = [hold(&c.a), hold(&c.b)];
        let law = Law::from(c.friction);
        let [a, b] = sides.map(|s| s.driven_velocity(model, state, h));
        HeldContact {
            sides,
            start: sides.map(|s| s.position(model, state)),
            frame: Mat3::from_diagonal(law.stretch()) * c.frame,
            gap: c.gap,
            driven: a - b,
            law: law.round(),
            stretch: law.stretch(),
        }
    }

    /// C_n(q) [m].
    pub fn gap(&self, model: &Model, there: &State) -> f64 {
        let moved = |k: usize| self.sides[k].position(model, there) - self.start[k];
        self.gap + self.frame.row(0).dot(moved(0) - moved(1))
    }

    /// Adds the three rows.
    pub fn add_rows(&self, model: &Model, there: &State, row: &mut RowBuilder, j: &mut SparseRows<f64>) {
        if let [Some(a), Some(b)] = self.sides.map(|s| part(model, there, &s)) {
            // Bodies, particles and what does not move: blocks are known, nothing has to be gathered.
            for r in 0..3 {
                a.push(self.frame.row(r), j);
                b.push(-self.frame.row(r), j);
                j.end_row();
            }
            return;
        }
        let at = self.sides.map(|s| s.position(model, there));
        for r in 0..3 {
            let n = self.frame.row(r);
            row.add(model, there, &self.sides[0], at[0], n);
            row.add(model, there, &self.sides[1], at[1], -n);
            row.end(j);
        }
    }

    /// A force in world axes as multipliers of the rows.
    pub fn multipliers_of(&self, force: Vec3) -> Vec3 {
        self.frame * force / (self.stretch * self.stretch)
    }

    /// Velocity of prescribed sides in the frame of the contact.
    pub fn driven(&self) -> Vec3 {
        self.frame * self.driven
    }
}

/// What one side of a contact moves: a block of dofs, or nothing.
#[derive(Clone, Copy)]
enum Part {
    Nothing,
    Node(usize),
    /// First dof and lever arm.
    Body(usize, Vec3),
}

impl Part {
    /// Adds the entries of the gradient `n`.
    fn push(self, n: Vec3, j: &mut SparseRows<f64>) {
        match self {
            Part::Nothing => {}
            Part::Node(dof) => j.push3(dof, n.to_array()),
            Part::Body(dof, arm) => {
                j.push3(dof, n.to_array());
                j.push3(dof + 3, arm.cross(n).to_array());
            }
        }
    }
}

/// The block that an anchor moves, where it is one; surfaces move several, which both sides may share.
fn part(model: &Model, there: &State, anchor: &Anchor) -> Option<Part> {
    match *anchor {
        Anchor::World { .. } | Anchor::Kinematic { .. } => Some(Part::Nothing),
        Anchor::Node(node) => Some(Part::Node(model.nodes[node.index()].dof)),
        Anchor::Rigid { body, local } => {
            let b = &model.bodies[body.index()];
            Some(Part::Body(b.dof, there.rigid_pose(b.q).rotation * local))
        }
        _ => None,
    }
}
