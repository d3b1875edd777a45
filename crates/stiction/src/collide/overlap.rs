//! Which bodies overlap at a state.

use super::Collider;
use crate::coords::{ShapeId, State};
use crate::kinematics::Placement;
use crate::model::{Model, Owner};

/// Two bodies or particles that overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// The first, by what it is.
    pub a: Owner,
    /// The second.
    pub b: Owner,
    /// Name of the first.
    pub name_a: String,
    /// Name of the second.
    pub name_b: String,
    /// How deep [m].
    pub depth: f64,
}

/// Overlaps shallower than this share of the smaller reach are rounding of a touch.
const TOUCH: f64 = 1e-6;

/// Pairs that overlap at a state, each with its largest depth, in the order of their shapes.
pub fn overlaps(model: &Model, state: &State) -> Vec<Overlap> {
    let mut contacts = Vec::new();
    Collider::new(model).detect(Placement::of(model, state).kinematics(model), 0.0, &mut contacts);
    let shape = |id: ShapeId| &model.shapes[id.index()];
    let name = |owner: Owner| model.name_of(owner).to_string();
    let mut found: Vec<Overlap> = Vec::new();
    for c in &contacts {
        let (sa, sb) = (shape(c.key.shape_a), shape(c.key.shape_b));
        let depth = -c.gap;
        if depth <= TOUCH * sa.scale.min(sb.scale) {
            continue;
        }
        match found.iter_mut().find(|o| (o.a, o.b) == (sa.owner, sb.owner)) {
            Some(o) => o.depth = o.depth.max(depth),
            None => found.push(Overlap {
                a: sa.owner,
                b: sb.owner,
                name_a: name(sa.owner),
                name_b: name(sb.owner),
                depth,
            }),
        }
    }
    found
}
