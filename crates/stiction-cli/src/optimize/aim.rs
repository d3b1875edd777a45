//! The objective of a task: what its `[objective]` table says, as terms of a motion.

use super::MOST_BYTES;
use super::synthetic::Synthetic;
use super::task::{axis_of, owner};
use crate::failure::{Result, error};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use stiction::coords::{Anchor, NodeId, SoftId};
use stiction::diff::{
    CloudTarget, ForceTarget, Markers, NearestTarget, Objective, PathTarget, PointTarget, PoseTarget,
    UprightTarget,
};
use stiction::scene::{Model, Owner};
use stiction::{Quat, State, Vec3};
use stiction_io::read;

/// What is aimed at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// The centre at `target` after `step`.
    #[default]
    Point,
    /// The centre on the line along `axis` through `target`, from step `from` to step `to`.
    Line,
    /// The centre at `places`, or at the rows of `file`: step, x, y, z.
    Path,
    /// The centre as near as it comes to `target` between `from` and `to`.
    Nearest,
    /// Centre at `target` and orientation `turn` (a rotation vector) after `step`; of soft bodies all nodes at where the body at
    /// the start would then have them.
    Pose,
    /// `points` at the rows `step, point, x, y, z` of `file`; what was not seen has no row.
    Markers,
    /// The surface at the points `step, x, y, z` of `file`.
    Cloud,
    /// The z axis of a body upright from step `from` to step `to`; a radian counts `turn_weight`.
    Upright,
    /// Contact force along `direction` equal to `force`, from step `from` to step `to`.
    Force,
}

/// The `[objective]` table, or one of `[[also]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aim {
    #[serde(default)]
    kind: Kind,
    of: String,
    with: Option<String>,
    target: Option<[f64; 3]>,
    #[serde(default = "ones")]
    weight: [f64; 3],
    step: Option<usize>,
    from: Option<usize>,
    to: Option<usize>,
    axis: Option<String>,
    turn: Option<[f64; 3]>,
    #[serde(default = "tenth")]
    turn_weight: f64,
    #[serde(default = "hundred")]
    sharpness: f64,
    direction: Option<[f64; 3]>,
    force: Option<f64>,
    file: Option<PathBuf>,
    /// Only while the centre falls (`nearest`).
    #[serde(default)]
    descending: bool,
    /// What it counts beside the others.
    #[serde(default = "one")]
    pub share: f64,
    /// Measurements are made by a run with the truth, instead of read.
    pub synthetic: Option<Synthetic>,
    /// What was measured so.
    #[serde(skip)]
    measured: Vec<Vec<f64>>,
    #[serde(default)]
    places: Vec<[f64; 4]>,
    /// In the frame of a body [m], or nothing but numbers of vertices of a soft body.
    #[serde(default)]
    points: Vec<Place>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Place {
    Vertex(usize),
    Local([f64; 3]),
}

fn ones() -> [f64; 3] {
    [1.0; 3]
}

fn one() -> f64 {
    1.0
}

fn tenth() -> f64 {
    0.1
}

fn hundred() -> f64 {
    100.0
}

/// Rows of numbers of a CSV file, with `columns` each; a first line of words is skipped.
fn rows(path: &Path, columns: usize) -> Result<Vec<Vec<f64>>> {
    let bad = |what: String| {
        error(
            format!("{}: {what}", path.display()),
            format!("give lines of {columns} numbers, divided by commas"),
        )
    };
    let text = read::text(path, MOST_BYTES, "leave rows out")?;
    let mut out = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|l| !l.1.trim().is_empty()) {
        let cells: std::result::Result<Vec<f64>, _> = line.split(',').map(|c| c.trim().parse()).collect();
        match cells {
            Ok(cells) if cells.len() == columns && cells.iter().all(|c: &f64| c.is_finite()) => {
                out.push(cells)
            }
            Err(_) if i == 0 => {}
            _ => return Err(bad(format!("line {}", i + 1))),
        }
    }
    if out.is_empty() { Err(bad("it has no data".to_string())) } else { Ok(out) }
}

impl Aim {
    /// The objective of a motion of `steps` steps; files are looked for beside the task.
    pub fn objective(&self, model: &Model, steps: usize, folder: &Path) -> Result<Box<dyn Objective>> {
        let missing = |key: &str| {
            let kind = format!("{:?}", self.kind).to_lowercase();
            error(format!("the objective `{kind}` needs `{key}`"), "add it to [objective]")
        };
        let of = owner(model, &self.of)?;
        let target = || match self.target.map(Vec3::from_array) {
            Some(x) if x.is_finite() => Ok(x),
            Some(x) => Err(error(format!("`target` is {x}"), "give three finite numbers")),
            None => Err(missing("target")),
        };
        let within = |all: Vec<Vec<f64>>| -> Result<Vec<Vec<f64>>> {
            match all.iter().find(|r| r[0] < 0.0 || r[0] as usize > steps) {
                Some(r) => Err(error(
                    format!("the objective looks at step {}, and the motion has {steps}", r[0]),
                    "raise `steps`, or leave these rows out",
                )),
                None => Ok(all),
            }
        };
        let file = |columns: usize| -> Result<Vec<Vec<f64>>> {
            if !self.measured.is_empty() {
                return Ok(self.measured.clone());
            }
            let name = self.file.as_ref().ok_or_else(|| missing("file"))?;
            within(rows(&folder.join(name), columns)?)
        };
        let step = self.step.unwrap_or(steps);
        let window = self.from.unwrap_or(0)..=self.to.unwrap_or(steps);
        if step > steps || *window.end() > steps || window.is_empty() {
            let text = "the objective looks at a step after the last one, or at none";
            return Err(error(text, "raise `steps`, or change `step`, `from` and `to`"));
        }
        let point = |r: &[f64]| Vec3::new(r[0], r[1], r[2]);
        Ok(match self.kind {
            Kind::Point => {
                let weight = Vec3::from_array(self.weight);
                Box::new(PointTarget { owner: of, step, target: target()?, weight })
            }
            Kind::Line => {
                let along = axis_of(self.axis.as_deref().ok_or_else(|| missing("axis"))?)?;
                Box::new(PathTarget::line(of, window, target()?, along))
            }
            Kind::Path => {
                let rows = match self.places.is_empty() {
                    true => file(4)?,
                    false => within(self.places.iter().map(|p| p.to_vec()).collect())?,
                };
                let places = rows.iter().map(|r| (r[0] as usize, point(&r[1..]))).collect();
                Box::new(PathTarget { owner: of, places, weight: Vec3::from_array(self.weight) })
            }
            Kind::Nearest => Box::new(NearestTarget {
                owner: of,
                steps: window,
                target: target()?,
                descending: self.descending,
                sharpness: self.sharpness,
            }),
            Kind::Pose => {
                let turn =
                    Quat::from_scaled_axis(Vec3::from_array(self.turn.ok_or_else(|| missing("turn"))?));
                let mut pose = PoseTarget { step, turn_weight: self.turn_weight, ..PoseTarget::default() };
                match of {
                    Owner::Body(body) => pose.bodies.push((body, target()?, turn)),
                    Owner::Solid(s) => pose.nodes = posed(model, s, target()?, turn),
                    Owner::Node(_) => return Err(error("a particle has no pose", "use `point`")),
                }
                Box::new(pose)
            }
            Kind::Upright => {
                let Owner::Body(body) = of else {
                    return Err(error("`upright` is of rigid bodies", "use `pose` for soft bodies"));
                };
                let weight = self.turn_weight;
                Box::new(UprightTarget { body, axis: Vec3::Z, up: Vec3::Z, steps: window, weight })
            }
            Kind::Markers => {
                let points = self.anchors(model, of)?;
                let seen: Vec<(usize, usize, Vec3)> =
                    file(5)?.iter().map(|r| (r[0] as usize, r[1] as usize, point(&r[2..]))).collect();
                if let Some(s) = seen.iter().find(|s| s.1 >= points.len()) {
                    return Err(error(format!("there is no point {}", s.1), "`points` counts from 0"));
                }
                Box::new(Markers { points, seen })
            }
            Kind::Cloud => {
                let Owner::Solid(solid) = of else {
                    return Err(error("a cloud is of soft bodies", "use `markers` for rigid bodies"));
                };
                let mut clouds: Vec<(usize, Vec<Vec3>)> = Vec::new();
                for r in file(4)? {
                    let (step, p) = (r[0] as usize, point(&r[1..]));
                    match clouds.iter_mut().find(|c| c.0 == step) {
                        Some(c) => c.1.push(p),
                        None => clouds.push((step, vec![p])),
                    }
                }
                Box::new(CloudTarget { solid, clouds })
            }
            Kind::Force => {
                let by = self.with.as_ref().map(|n| owner(model, n)).transpose()?;
                let direction = Vec3::from_array(self.direction.ok_or_else(|| missing("direction"))?);
                let target = self.force.ok_or_else(|| missing("force"))?;
                Box::new(ForceTarget { on: of, by, steps: window, direction, target })
            }
        })
    }

    /// Makes the measurements of a synthetic objective from a motion.
    pub fn measure(&mut self, model: &Model, states: &[State]) -> Result<()> {
        let Some(synthetic) = &self.synthetic else { return Ok(()) };
        let of = owner(model, &self.of)?;
        self.measured = match (self.kind, of) {
            (Kind::Markers, _) => synthetic.markers(model, states, &self.anchors(model, of)?)?,
            (Kind::Cloud, Owner::Solid(s)) => synthetic.cloud(model, states, s)?,
            _ => {
                let text = "[objective.synthetic] is of `markers`, and of `cloud` of a soft body";
                return Err(error(text, "leave it out, or change `kind`"));
            }
        };
        if self.measured.is_empty() {
            return Err(error("the synthetic measurements see nothing", "lower `dropout`, move `camera`"));
        }
        Ok(())
    }

    fn anchors(&self, model: &Model, of: Owner) -> Result<Vec<Anchor>> {
        let wrong = |text: &str| error(text, "a body has points [x, y, z], a soft body numbers of vertices");
        self.points
            .iter()
            .map(|p| match (of, p) {
                (Owner::Body(b), Place::Local(x)) => {
                    Ok(Anchor::Body { body: b, local: Vec3::from_array(*x) })
                }
                (Owner::Node(n), _) => Ok(Anchor::Node(n)),
                (Owner::Solid(s), Place::Vertex(v)) => {
                    let solid = &model.solids[s.index()];
                    solid.vertices.get(*v).copied().ok_or_else(|| wrong("there is no such vertex"))
                }
                _ => Err(wrong("these points do not fit what they are on")),
            })
            .collect::<Result<Vec<Anchor>>>()
            .and_then(
                |all| if all.is_empty() { Err(wrong("the objective has no `points`")) } else { Ok(all) },
            )
    }
}

/// Where the nodes of a soft body are when it is turned and moved as a whole from where it starts.
fn posed(model: &Model, solid: SoftId, target: Vec3, turn: Quat) -> Vec<(NodeId, Vec3)> {
    let range = model.solids[solid.index()].nodes.clone();
    let at = |i: usize| model.nodes[i].position(&model.initial);
    let mass: f64 = range.clone().map(|i| model.nodes[i].mass).sum();
    let centre = range.clone().map(|i| at(i) * model.nodes[i].mass).sum::<Vec3>() / mass;
    range.map(|i| (NodeId(i as u32), target + turn * (at(i) - centre))).collect()
}
