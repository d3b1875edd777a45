//! Pulling a body with a spring between its steps: the velocity changes, positions are left to the simulation.

use stiction::coords::{BodyId, NodeId};
use stiction::{Simulation, Vec3};
use stiction_io::recording::{Header, Part};

/// Cycles per second of a body on the spring: weight stretches it by about g/ω² = 1 cm.
const FREQUENCY: f64 = 5.0;

/// Somebody holds a point of something and pulls it somewhere.
pub struct Pull {
    held: Held,
    /// Where it is pulled [m].
    pub to: Vec3,
}

enum Held {
    /// A point of a body, in its centre-of-mass frame.
    Body(BodyId, Vec3),
    /// Nodes with their share of the pull.
    Nodes(Vec<(NodeId, f64)>),
}

impl Pull {
    /// Takes hold of the part with this index at a point; `None` where nothing can move.
    pub fn new(sim: &Simulation, header: &Header, part: u32, point: Vec3) -> Option<Pull> {
        let (model, state) = (sim.model(), sim.state());
        let held = match header.part(part)? {
            Part::Body(b) => {
                let id = BodyId(b as u32);
                model.bodies[b].block?;
                Held::Body(id, model.com_pose(state, id).inverse_transform_point(point))
            }
            Part::Particle(p) => Held::Nodes(vec![(NodeId(p as u32), 1.0)]),
            Part::Solid(s) => {
                let solid = &model.solids[s];
                let reach = 3.0 * solid.edge;
                let share = |i: usize| {
                    let d = model.node_position(state, NodeId(i as u32)).distance(point) / reach;
                    (NodeId(i as u32), (-d * d).exp())
                };
                Held::Nodes(solid.nodes.clone().map(share).filter(|(_, w)| *w > 0.01).collect())
            }
        };
        Some(Pull { held, to: point })
    }

    /// Changes velocities by what a damped spring does within a step of `h` seconds, implicitly: it never overshoots
    /// by itself, whatever the step.
    pub fn act(&self, sim: &mut Simulation, h: f64) {
        let omega = std::f64::consts::TAU * FREQUENCY;
        let gain = |error: Vec3, v: Vec3| {
            (omega * omega * (error - h * v) - 2.0 * omega * v) * h
                / (1.0 + 2.0 * omega * h + (omega * h).powi(2))
        };
        let mut state = sim.state().clone();
        let model = sim.model();
        match &self.held {
            Held::Body(id, local) => {
                let b = &model.bodies[id.index()];
                let pose = model.com_pose(&state, *id);
                let arm = pose.rotation * *local;
                let (v, w) = model.com_velocity(&state, *id);
                let change = gain(self.to - pose.translation - arm, v + w.cross(arm));
                // The mass that the point shows in this direction: 1/m + (r × n)·I⁻¹(r × n).
                let inverse = b.world_inertia_inverse(pose.rotation);
                let turn = arm.cross(change.normalize_or_zero());
                let impulse = change / (1.0 / b.mass + turn.dot(inverse * turn));
                let (dv, dw) = (impulse / b.mass, inverse * arm.cross(impulse));
                for k in 0..3 {
                    state.v[b.dof + k] += dv[k];
                    state.v[b.dof + 3 + k] += dw[k];
                }
            }
            Held::Nodes(nodes) => {
                let total: f64 = nodes.iter().map(|(_, w)| w).sum();
                let mean =
                    |f: &dyn Fn(NodeId) -> Vec3| nodes.iter().map(|(n, w)| *w * f(*n)).sum::<Vec3>() / total;
                let x = mean(&|n| model.node_position(&state, n));
                let v = mean(&|n| model.node_velocity(&state, n));
                let dv = gain(self.to - x, v);
                for (n, w) in nodes {
                    let dof = model.nodes[n.index()].dof;
                    for k in 0..3 {
                        state.v[dof + k] += w * dv[k];
                    }
                }
            }
        }
        sim.set_state(state);
    }
}
