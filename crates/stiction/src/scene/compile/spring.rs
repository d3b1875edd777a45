//! Springs: from names and points to anchors.

use super::soft::Names;
use super::{err, find, positive, vector};
use crate::coords::Anchor;
use crate::elastic::Spring;
use crate::error::SceneError;
use crate::kinematics::Placement;
use crate::model::{Model, ModelSpring, Owner};
use crate::scene::{Scene, SpringEnd, SpringSpec};
use std::collections::HashSet;

impl Scene {
    pub(super) fn add_springs(&self, model: &mut Model, names: &Names) -> Result<(), SceneError> {
        let mut seen = HashSet::new();
        for (i, s) in self.springs.iter().enumerate() {
            if s.name.is_empty() {
                return err(format!("spring number {}", i + 1), "the name is empty; give it one");
            }
            let item = format!("spring `{}`", s.name);
            if !seen.insert(&s.name) {
                return err(item, "the name is taken; names of springs are unique");
            }
            let spring = s.compile(model, names, &item)?;
            model.springs.push(spring);
        }
        Ok(())
    }
}

impl SpringSpec {
    fn compile(&self, model: &mut Model, names: &Names, item: &str) -> Result<ModelSpring, SceneError> {
        positive(item, "stiffness", self.stiffness)?;
        not_negative(item, "damping", self.damping)?;
        let [a, b] = &self.ends;
        let ends = [anchors(a, model, names, item)?, anchors(b, model, names, item)?];
        if a == b || (a.on.is_some() && a.on == b.on && is_rigid(model, &ends[0])) {
            return err(item, "both ends are on the same body, so it does nothing; join two");
        }
        let moves = |(a, _): &(Anchor, f64)| model.block_of(a).is_some();
        if !ends.iter().flatten().any(moves) {
            model.warnings.push(format!("{item}: neither end moves freely, so it does nothing"));
        }
        let mut spring = ModelSpring {
            name: self.name.clone(),
            ends,
            spring: Spring {
                stiffness: self.stiffness,
                rest_length: 0.0,
                damping: self.damping,
                action: self.action,
            },
        };
        spring.spring.rest_length = match self.rest_length {
            Some(length) => {
                not_negative(item, "the rest length", length)?;
                length
            }
            None => {
                let length = Placement::of(model, &model.initial).kinematics(model).span(&spring).length();
                if length == 0.0 {
                    return err(
                        item,
                        "its ends coincide, so they give no rest length; give one (zero is allowed), or move an end",
                    );
                }
                length
            }
        };
        Ok(spring)
    }
}

/// What moves an end, with weights that sum to one.
fn anchors(
    end: &SpringEnd,
    model: &Model,
    names: &Names,
    item: &str,
) -> Result<Vec<(Anchor, f64)>, SceneError> {
    vector(item, "the point of an end", end.at)?;
    let Some(name) = &end.on else { return Ok(vec![(Anchor::World { p: end.at }, 1.0)]) };
    Ok(match find(names, item, name)? {
        Owner::Body(b) => {
            let com = model.bodies[b.index()].com;
            vec![(Anchor::Body { body: b, local: end.at - com }, 1.0)]
        }
        Owner::Node(n) => {
            if end.at != crate::Vec3::ZERO {
                return err(item, format!("particle `{name}` has no extent; leave out the point"));
            }
            vec![(Anchor::Node(n), 1.0)]
        }
        Owner::Solid(s) => {
            let solid = &model.solids[s.index()];
            let (vertices, weights) = solid.find(end.at);
            let part = |(v, w): (u32, f64)| (solid.vertices[v as usize], w);
            vertices.into_iter().zip(weights).filter(|(_, w)| w.abs() > 1e-12).map(part).collect()
        }
    })
}

fn is_rigid(model: &Model, end: &[(Anchor, f64)]) -> bool {
    match end {
        [(Anchor::Body { .. }, _)] => true,
        [(Anchor::Node(n), _)] => model.nodes[n.index()].solid.is_none(),
        _ => false,
    }
}

pub(super) fn not_negative(item: &str, what: &str, x: f64) -> Result<(), SceneError> {
    match x.is_finite() && x >= 0.0 {
        true => Ok(()),
        false => err(item, format!("{what} must be finite and not negative; got {x}")),
    }
}
