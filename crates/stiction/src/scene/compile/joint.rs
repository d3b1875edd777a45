//! Joints of the scene → joints of the model: checks, frames, and the rows of each kind.

use super::{err, find, vector};
use crate::coords::BodyId;
use crate::error::SceneError;
use crate::linalg::{Mat3, Quat, Vec3, tangents};
use crate::model::{JointBlock, JointRow, Measure, ModelJoint, Role, coordinate};
use crate::model::{JointKind, Model, ModelPair, Owner, Spring, Target};
use crate::scene::{Joint, JointAnchor, Scene};
use std::collections::{HashMap, HashSet};

/// Anchors that lie apart by more than this share of their arms do not belong together; less is closed by the first step.
const APART: f64 = 1e-4;
/// Axes of a universal joint may miss the right angle by this much [rad].
const SKEW: f64 = 1e-4;
/// The same for positions outside the limits: what decimal numbers leave [m or rad].
const OUTSIDE: f64 = 1e-9;

impl Scene {
    pub(super) fn add_joints(
        &self,
        model: &mut Model,
        names: &HashMap<&str, Owner>,
    ) -> Result<(), SceneError> {
        let mut seen = HashSet::new();
        for (i, joint) in self.joints.iter().enumerate() {
            if joint.name.is_empty() {
                return err(format!("joint number {}", i + 1), "the name is empty; give it one");
            }
            let item = format!("joint `{}`", joint.name);
            if !seen.insert(&joint.name) {
                return err(item, "the name is taken; names of joints are unique");
            }
            let body = |name: &str| match find(names, &item, name)? {
                Owner::Body(b) => Ok(b),
                Owner::Node(_) => err(&item, format!("`{name}` is a particle; joints hold bodies")),
                Owner::Solid(_) => {
                    err(&item, format!("`{name}` is soft; joints hold rigid bodies: attach its nodes to one"))
                }
            };
            let a = joint.a.as_deref().map(body).transpose()?;
            let b = body(&joint.b)?;
            let compiled = compile(model, &item, joint, a, b)?;
            model.joints.push(compiled);
            if let (Some(a), false) = (a, joint.collide) {
                part(model, a.min(b), a.max(b));
            }
        }
        model.pairs.sort_by_key(|p| (p.a, p.b));
        Ok(())
    }
}

/// Bodies that a joint holds pass through each other, unless the scene has a rule for them.
fn part(model: &mut Model, a: BodyId, b: BodyId) {
    let (a, b) = (Owner::Body(a), Owner::Body(b));
    if !model.pairs.iter().any(|p| (p.a, p.b) == (a, b)) {
        model.pairs.push(ModelPair { a, b, collide: false, friction: None, restitution: None });
    }
}

fn compile(
    model: &Model,
    item: &str,
    joint: &Joint,
    a: Option<BodyId>,
    b: BodyId,
) -> Result<ModelJoint, SceneError> {
    if a == Some(b) {
        return err(item, format!("it joins `{}` to itself; name two bodies", joint.b));
    }
    let free = |id: BodyId| model.bodies[id.index()].block.is_some();
    if !free(b) && !a.is_some_and(free) {
        return err(item, "neither side moves freely, so it has nothing to hold; make one of them free");
    }
    check_numbers(item, joint)?;
    let axes = axes(item, joint)?;

    // Anchors in the frames of the centres of mass; the frame of a scene body stands `com` off.
    let pose = |id: BodyId| model.com_pose(&model.initial, id);
    let (pose_a, pose_b) = (a.map_or(crate::coords::Pose::IDENTITY, pose), pose(b));
    let com = |id: BodyId| model.bodies[id.index()].com;
    let (local_a, local_b) = match joint.anchor {
        JointAnchor::World(p) => (pose_a.inverse_transform_point(p), pose_b.inverse_transform_point(p)),
        JointAnchor::OriginOfB => {
            let p = pose_b.transform_point(-com(b));
            (pose_a.inverse_transform_point(p), -com(b))
        }
        JointAnchor::Points { a: p, b: q } => (a.map_or(p, |a| p - com(a)), q - com(b)),
    };
    let mut out = ModelJoint {
        name: joint.name.clone(),
        kind: joint.kind,
        a,
        b,
        local_a,
        local_b,
        frame_a: pose_a.rotation.conjugate() * axes,
        frame_b: pose_b.rotation.conjugate() * axes,
        rest: 0.0,
        length: 1.0,
        size: 0.0,
        blocks: Vec::new(),
        limits: joint.limits,
        motor: joint.motor.clone(),
    };
    out.length = angle_length(model, &out);
    let arm = |id: Option<BodyId>, local: Vec3| if id.is_some_and(free) { local.length() } else { 0.0 };
    out.size = arm(a, local_a) + arm(Some(b), local_b) + out.length;

    let place = out.place([pose_a, pose_b]);
    let distance = (place.anchor_b - place.anchor_a).length();
    if let JointKind::Distance { length } = joint.kind {
        out.rest = length.unwrap_or(distance);
        if distance <= APART * APART * out.size {
            return err(
                item,
                "its anchors coincide, so that their distance has no direction; move them apart",
            );
        }
    }
    let start = coordinate(joint.kind).map(|m| place.measure(m).0);
    if let (Some([lower, upper]), Some(x)) = (joint.limits, start)
        && !(x >= lower - OUTSIDE && x <= upper + OUTSIDE)
    {
        return err(
            item,
            format!("it starts at {x}, outside its limits {lower} to {upper}; move bodies or limits"),
        );
    }
    add_rows(item, joint, start.unwrap_or(0.0), &mut out)?;
    for row in out.blocks.iter().filter(|b| !b.spin).flat_map(|b| b.rows).flatten() {
        if let Role::Hold(at) = row.role {
            let off = place.measure(row.measure).0 - at;
            if off.abs() > APART * out.size {
                return err(
                    item,
                    format!(
                        "its anchors disagree by {:.3e} m at the start; move a body or an anchor",
                        off.abs()
                    ),
                );
            }
        }
    }
    Ok(out)
}

fn check_numbers(item: &str, j: &Joint) -> Result<(), SceneError> {
    let points = match j.anchor {
        JointAnchor::OriginOfB => [Vec3::ZERO; 2],
        JointAnchor::World(p) => [p, p],
        JointAnchor::Points { a, b } => [a, b],
    };
    for p in points {
        vector(item, "its anchor", p)?;
    }
    let not_negative = |what: &str, x: f64| match x.is_finite() && x >= 0.0 {
        true => Ok(()),
        false => err(item, format!("{what} must be finite and not negative; got {x}")),
    };
    let spring = |what: &str, s: Option<Spring>| match s {
        None => Ok(()),
        Some(s) => {
            not_negative(&format!("the stiffness of its {what} spring"), s.stiffness)?;
            not_negative(&format!("the damping of its {what} spring"), s.damping)?;
            match s.stiffness + s.damping > 0.0 {
                true => Ok(()),
                false => err(
                    item,
                    format!("its {what} spring has neither stiffness nor damping; give one or leave it out"),
                ),
            }
        }
    };
    let s = &j.springs;
    for (what, s) in [("linear", s.linear), ("bend", s.bend), ("twist", s.twist), ("slide", s.slide)] {
        spring(what, s)?;
    }
    not_negative("its friction", j.friction)?;
    let has_coordinate = coordinate(j.kind).is_some();
    if !has_coordinate && (j.limits.is_some() || j.motor.is_some() || j.friction > 0.0) {
        let kind = j.kind.name();
        return err(
            item,
            format!("a {kind} joint has no single free direction to limit, drive or rub; use springs"),
        );
    }
    if let Some([lower, upper]) = j.limits
        && !(lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY)
    {
        return err(item, format!("its limits {lower} to {upper} leave nothing; give the lower one first"));
    }
    if let JointKind::Distance { length: Some(l) } = j.kind {
        if !(l.is_finite() && l > 0.0) {
            return err(item, format!("its length must be positive and finite; got {l}"));
        }
        if j.limits.is_some() || j.motor.is_some() {
            return err(item, "a distance has a length, or limits and a motor; leave one out");
        }
    }
    if let Some(m) = &j.motor {
        spring("motor", Some(Spring { stiffness: m.stiffness, damping: m.damping }))?;
        if m.limit.is_nan() || m.limit <= 0.0 {
            return err(item, format!("the limit of its motor must be positive; got {}", m.limit));
        }
        let (path, speed) = match &m.target {
            Target::Position(p) => (p, false),
            Target::Velocity(p) => (p, true),
        };
        if speed && m.stiffness != 0.0 {
            return err(item, "a velocity motor has damping only; set its stiffness to 0");
        }
        let ascending = path.keys.windows(2).all(|k| k[0][0] < k[1][0]);
        if path.keys.is_empty() || !ascending || path.keys.iter().flatten().any(|x| !x.is_finite()) {
            return err(
                item,
                "the target of its motor needs finite keys with ascending times, and at least one",
            );
        }
    }
    Ok(())
}

/// The axes of the joint at the start: its axis first, for universal joints the second axis next.
fn axes(item: &str, j: &Joint) -> Result<Quat, SceneError> {
    let unit = |what: &str, x: Vec3| match x.try_normalize() {
        Some(n) if x.is_finite() => Ok(n),
        _ => err(item, format!("{what} has zero length or is not finite; got {x}")),
    };
    let first = unit("its axis", j.axis)?;
    let second = match j.kind {
        JointKind::Universal { second } => {
            let second = unit("its second axis", second)?;
            if first.dot(second).abs() > SKEW {
                return err(item, "its two axes are not perpendicular; turn one of them");
            }
            second.reject_from(first).normalize()
        }
        _ => tangents(first).0,
    };
    Ok(Quat::from_mat3(&Mat3::from_cols(first, second, first.cross(second))).normalize())
}

/// √((1/m_a + 1/m_b)/(1/I_a + 1/I_b)) with the mean moments of the bodies that move.
fn angle_length(model: &Model, j: &ModelJoint) -> f64 {
    let (mut m, mut i) = (0.0, 0.0);
    for id in [j.a, Some(j.b)].into_iter().flatten() {
        let body = &model.bodies[id.index()];
        if body.block.is_some() {
            m += 1.0 / body.mass;
            i += 3.0 / body.moments.element_sum();
        }
    }
    (m / i).sqrt()
}

/// Which rows may share a block: rows of one block are scaled together.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Rigid,
    Stop,
    Soft,
    Drive,
}

fn add_rows(item: &str, j: &Joint, start: f64, out: &mut ModelJoint) -> Result<(), SceneError> {
    use Measure::{Align, Along, Cross, Distance, Turn, Twist};
    let mut rows: Vec<(bool, Class, JointRow)> = Vec::new();
    let held = |measure: Measure, spring: Option<Spring>, at: f64| match spring {
        None => (Class::Rigid, JointRow { measure, role: Role::Hold(at) }),
        Some(s) => (Class::Soft, JointRow { measure, role: Role::Pull(at, s) }),
    };
    let s = &j.springs;

    // Lengths that are held.
    let lengths: &[Measure] = match j.kind {
        JointKind::Prismatic | JointKind::Cylindrical => &[Along(1), Along(2)],
        JointKind::Distance { .. } if j.limits.is_some() || j.motor.is_some() => &[],
        JointKind::Distance { .. } => &[Distance],
        _ => &[Along(0), Along(1), Along(2)],
    };
    if lengths.is_empty() && s.linear.is_some() {
        return err(item, "a distance with limits or a motor holds no length; leave out the linear spring");
    }
    for &m in lengths {
        let (class, row) = held(m, s.linear, if m == Distance { out.rest } else { 0.0 });
        rows.push((false, class, row));
    }

    // Angles that are held, or free with a spring.
    let free = |spring: Option<Spring>, m: Measure| spring.map(|s| held(m, Some(s), 0.0));
    let angles: Vec<(Class, JointRow)> = match j.kind {
        JointKind::Ball => [free(s.twist, Turn(0)), free(s.bend, Turn(1)), free(s.bend, Turn(2))]
            .into_iter()
            .flatten()
            .collect(),
        JointKind::Universal { .. } => {
            let bends = [free(s.bend, Turn(0)), free(s.bend, Turn(1))];
            std::iter::once(held(Cross, s.twist, 0.0)).chain(bends.into_iter().flatten()).collect()
        }
        JointKind::Hinge | JointKind::Cylindrical => {
            let bends = [held(Align(1), s.bend, 0.0), held(Align(2), s.bend, 0.0)];
            bends.into_iter().chain(free(s.twist, Twist)).collect()
        }
        JointKind::Prismatic | JointKind::Fixed => {
            vec![held(Turn(0), s.twist, 0.0), held(Turn(1), s.bend, 0.0), held(Turn(2), s.bend, 0.0)]
        }
        JointKind::Distance { .. } if s.bend.is_some() || s.twist.is_some() => {
            return err(item, "a distance holds no angles; leave out bend and twist");
        }
        JointKind::Distance { .. } => Vec::new(),
    };
    rows.extend(angles.into_iter().map(|(class, row)| (true, class, row)));

    // The free direction.
    match (s.slide, coordinate(j.kind)) {
        (None, _) => {}
        (Some(spring), Some(Along(k))) => {
            rows.push((false, Class::Soft, JointRow { measure: Along(k), role: Role::Pull(start, spring) }));
        }
        (Some(_), _) => {
            return err(
                item,
                format!("a {} joint does not slide; leave out the slide spring", j.kind.name()),
            );
        }
    }
    if let Some(measure) = coordinate(j.kind) {
        let spin = measure == Twist;
        if let Some([lower, upper]) = j.limits {
            for (limit, role) in [(lower, Role::Lower(lower)), (upper, Role::Upper(upper))] {
                if limit.is_finite() {
                    rows.push((spin, Class::Stop, JointRow { measure, role }));
                }
            }
        }
        if j.friction > 0.0 {
            rows.push((spin, Class::Stop, JointRow { measure, role: Role::Friction(j.friction) }));
        }
        if j.motor.is_some() {
            rows.push((spin, Class::Drive, JointRow { measure, role: Role::Drive }));
        }
    }

    // Up to three rows of one class make a block.
    let mut open: Vec<(bool, Class)> = Vec::new();
    for (spin, class, row) in rows {
        let fits = |b: &JointBlock| b.rows.iter().any(Option::is_none);
        let place = (0..open.len()).find(|&i| open[i] == (spin, class) && fits(&out.blocks[i]));
        let i = place.unwrap_or_else(|| {
            open.push((spin, class));
            out.blocks.push(JointBlock { spin, rows: [None; 3] });
            open.len() - 1
        });
        if let Some(slot) = out.blocks[i].rows.iter_mut().find(|r| r.is_none()) {
            *slot = Some(row);
        }
    }
    Ok(())
}
