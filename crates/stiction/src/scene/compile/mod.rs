//! Scene → Model: checks, numbering, mass properties. Every error names the item and the remedy.

mod geometry;
pub(super) mod heightfield;
mod joint;
mod mass;
mod rod;
mod rod_path;
mod sheet;
mod soft;
mod spring;

use super::{Body, Geometry, MassSpec, Particle, Reads, Scene, Shape};
use crate::coords::{BlockKind, BodyId, Layout, NodeId, Pose, ShapeId, SoftId, State};
use crate::error::{NameError, NameKind, SceneError};
use crate::linalg::{Mat3, Vec3};
use crate::model::{
    ContactSettings, Model, ModelBody, ModelForce, ModelNode, ModelPair, ModelSensor, ModelShape, Motion,
    Names, Owner, SensorKind, SurfaceFriction, Table,
};
use mass::{MassProps, principal};
use parry3d_f64::shape::SharedShape;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Masses below this [kg] are probably a wrong unit.
const TINY_MASS: f64 = 1e-6;
/// Ratios of masses, or of the moments of one body, above this are worth a word.
const EXTREME_RATIO: f64 = 1e6;
/// By how much the largest moment may exceed the sum of the others, as a share: room for rounded input.
const TRIANGLE: f64 = 1e-6;
/// By how much a given inertia may differ from its transpose, as a share of its largest entry.
const SYMMETRY: f64 = 1e-9;

impl Scene {
    /// Checks the scene and makes its model.
    pub fn compile(&self) -> Result<Model, SceneError> {
        self.check_lengths()?;
        match self.rods.is_empty() {
            true => self.compile_with_links(),
            false => self.with_links()?.compile_with_links(),
        }
    }

    /// Rods have their links among the bodies by now.
    fn compile_with_links(&self) -> Result<Model, SceneError> {
        let names = self.names()?;
        vector("the scene", "gravity", self.gravity)?;
        settings(&self.contact)?;
        let mut model = Model {
            name: self.name.clone(),
            gravity: self.gravity,
            layout: Layout::new().into(),
            bodies: Table::default(),
            nodes: Table::default(),
            solids: Table::default(),
            springs: Table::default(),
            rods: Table::default(),
            sheets: Table::default(),
            shapes: Table::default(),
            joints: Table::default(),
            forces: Table::default(),
            sensors: Table::default(),
            contact: self.contact.clone(),
            pairs: Table::default(),
            initial: State::default().into(),
            warnings: Table::default(),
            names: Names::default(),
        };
        let held = self.held_masses(&names)?;
        for (i, body) in self.bodies.iter().enumerate() {
            add_body(&mut model, BodyId(i as u32), body, &held[i])?;
        }
        for (i, particle) in self.particles.iter().enumerate() {
            add_particle(&mut model, NodeId(i as u32), particle)?;
        }
        for solid in &self.solids {
            solid.add_to(&mut model, &names)?;
        }
        for sheet in &self.sheets {
            sheet.add_to(&mut model, &names)?;
        }
        for rod in &self.rods {
            rod.add_to(&mut model, &names)?;
        }
        self.add_springs(&mut model, &names)?;
        self.add_forces(&mut model, &names)?;
        self.add_pairs(&mut model, &names)?;
        self.add_joints(&mut model, &names)?;
        self.add_sensors(&mut model, &names)?;
        warn_about_masses(&mut model);
        model.names = Names::of(&model);
        Ok(model)
    }

    /// Owners by name; names are unique and not empty.
    fn names(&self) -> Result<HashMap<&str, Owner>, SceneError> {
        let mut names = HashMap::new();
        let bodies =
            self.bodies.iter().enumerate().map(|(i, b)| ("body", &b.name, Owner::Body(BodyId(i as u32))));
        let particles = self
            .particles
            .iter()
            .enumerate()
            .map(|(i, p)| ("particle", &p.name, Owner::Node(NodeId(i as u32))));
        let solids = self
            .solids
            .iter()
            .enumerate()
            .map(|(i, s)| ("soft body", &s.name, Owner::Solid(SoftId(i as u32))));
        let sheets = self
            .sheets
            .iter()
            .enumerate()
            .map(|(i, s)| ("cloth", &s.name, Owner::Solid(SoftId((self.solids.len() + i) as u32))));
        for (kind, name, owner) in bodies.chain(particles).chain(solids).chain(sheets) {
            if name.is_empty() {
                let (Owner::Body(BodyId(i)) | Owner::Node(NodeId(i)) | Owner::Solid(SoftId(i))) = owner;
                return err(format!("{kind} number {}", i + 1), "the name is empty; give it one");
            }
            if names.insert(name.as_str(), owner).is_some() {
                return err(
                    format!("{kind} `{name}`"),
                    "the name is taken; names of bodies, soft bodies and particles are unique",
                );
            }
        }
        Ok(names)
    }

    fn add_forces(&self, model: &mut Model, names: &HashMap<&str, Owner>) -> Result<(), SceneError> {
        for f in &self.forces {
            let item = format!("force on `{}`", f.target);
            let target = find(names, &item, &f.target)?;
            vector(&item, "force", f.force)?;
            vector(&item, "torque", f.torque)?;
            if f.from.is_nan() || f.until.is_nan() || f.from > f.until {
                let window =
                    format!("it acts from {} s until {} s; from must not exceed until", f.from, f.until);
                return err(item, window);
            }
            let mut at = Vec3::ZERO;
            match target {
                Owner::Solid(_) => {
                    if f.torque != Vec3::ZERO || f.at.is_some() {
                        return err(
                            item,
                            "a soft body takes a force without torque or point of attack, shared among its nodes",
                        );
                    }
                }
                Owner::Node(_) => {
                    if f.torque != Vec3::ZERO {
                        return err(item, "a particle takes no torque; put it on a body");
                    }
                    if f.at.is_some_and(|p| p != Vec3::ZERO) {
                        return err(item, "a particle has no extent; leave out the point of attack");
                    }
                }
                Owner::Body(b) => {
                    let body = &model.bodies[b.index()];
                    if let Some(p) = f.at {
                        vector(&item, "the point of attack", p)?;
                        at = p - body.com;
                    }
                    if body.block.is_none() {
                        model
                            .warnings
                            .push(format!("{item}: the body does not move freely, so it has no effect"));
                    }
                }
            }
            let (force, torque) = (f.force, f.torque);
            model.forces.push(ModelForce { target, force, torque, at, from: f.from, until: f.until });
        }
        Ok(())
    }

    fn add_sensors(&self, model: &mut Model, names: &HashMap<&str, Owner>) -> Result<(), SceneError> {
        let mut seen = HashSet::new();
        for (i, s) in self.sensors.iter().enumerate() {
            if s.name.is_empty() {
                return err(format!("sensor number {}", i + 1), "the name is empty; give it one");
            }
            let item = format!("sensor `{}`", s.name);
            if !seen.insert(&s.name) {
                return err(item, "the name is taken; names of sensors are unique");
            }
            let owner = |name: &str| find(names, &item, name);
            let kind = match &s.reads {
                Reads::Pose(a) => SensorKind::Pose(owner(a)?),
                Reads::Velocity(a) => SensorKind::Velocity(owner(a)?),
                Reads::ContactForce(a) => SensorKind::ContactForce(owner(a)?),
                Reads::PairForce(a, b) if a == b => {
                    return err(item, format!("it reads the force of `{a}` on itself; name two bodies"));
                }
                Reads::PairForce(a, b) => SensorKind::PairForce(owner(a)?, owner(b)?),
                Reads::Point { body, at } => {
                    vector(&item, "the point", *at)?;
                    let Owner::Solid(solid) = owner(body)? else {
                        return err(item, format!("`{body}` is not a soft body; read its pose instead"));
                    };
                    let (vertices, weights) = model.solids[solid.index()].find(*at);
                    SensorKind::Point { solid, vertices, weights }
                }
                Reads::Joint(name) => {
                    let joint = find_joint(model, &item, name)?;
                    if model.joints[joint].coordinate().is_none() {
                        let kind = model.joints[joint].kind.name();
                        return err(item, format!("a {kind} joint has no single position; read its force"));
                    }
                    SensorKind::Joint(joint)
                }
                Reads::JointForce(name) => SensorKind::JointForce(find_joint(model, &item, name)?),
                Reads::Energy => SensorKind::Energy,
            };
            model.sensors.push(ModelSensor { name: s.name.clone(), kind });
        }
        Ok(())
    }

    fn add_pairs(&self, model: &mut Model, names: &HashMap<&str, Owner>) -> Result<(), SceneError> {
        for p in &self.pairs {
            let item = format!("pair `{}`, `{}`", p.a, p.b);
            let body = |name: &str| match find(names, &item, name)? {
                Owner::Node(_) => err(&item, format!("`{name}` is a particle; pairs are of bodies")),
                owner => Ok(owner),
            };
            let (a, b) = (body(&p.a)?, body(&p.b)?);
            if a == b {
                return err(item, "a body never touches itself; name two bodies");
            }
            if let Some(mu) = p.friction {
                friction_coefficient(&item, mu)?;
            }
            if let Some(e) = p.restitution {
                restitution(&item, e)?;
            }
            let (a, b) = (a.min(b), a.max(b));
            if model.pairs.iter().any(|q| (q.a, q.b) == (a, b)) {
                return err(item, "the pair has two rules; keep one");
            }
            let (friction, restitution) = (p.friction, p.restitution);
            model.pairs.push(ModelPair { a, b, collide: p.collide, friction, restitution });
        }
        model.pairs.sort_by_key(|p| (p.a, p.b));
        Ok(())
    }
}

/// `held` are the masses of soft nodes that the body carries, in its frame.
fn add_body(model: &mut Model, id: BodyId, body: &Body, held: &[MassProps]) -> Result<(), SceneError> {
    let item = format!("body `{}`", body.name);
    let start = pose(&item, "the pose", &body.pose)?;
    vector(&item, "the velocity", body.velocity)?;
    vector(&item, "the spin", body.spin)?;
    let motion = motion(&item, &body.motion)?;
    let free = motion == Motion::Free;

    let first = model.shapes.len();
    for (k, shape) in body.shapes.iter().enumerate() {
        let item = if body.shapes.len() == 1 { item.clone() } else { format!("{item}, shape {}", k + 1) };
        add_shape(model, Owner::Body(id), &item, shape, free)?;
    }
    let mass = match (free, held.is_empty()) {
        (false, _) => MassProps::ZERO,
        (true, true) => mass(&item, body)?,
        (true, false) => MassProps::sum(&[&[mass(&item, body)?], held].concat()),
    };
    // Poses of shapes were relative to the body frame up to here.
    for s in &mut model.shapes[first..] {
        s.local.translation -= mass.com;
        s.reach = geometry::reach(&s.geometry, &s.local);
        s.scale = s.reach;
    }

    let mut out = ModelBody {
        name: body.name.clone(),
        block: None,
        dof: 0,
        q: 0,
        motion,
        start,
        mass: f64::INFINITY,
        com: mass.com,
        moments: Vec3::INFINITY,
        principal: crate::linalg::Quat::IDENTITY,
        shapes: first..model.shapes.len(),
        link: None,
        groups: body.groups,
        mask: body.mask,
    };
    if free {
        (out.moments, out.principal) = principal(mass.inertia);
        out.mass = mass.mass;
        let block = Arc::make_mut(&mut model.layout).push(BlockKind::Rigid);
        let b = model.layout.blocks()[block];
        (out.block, out.q, out.dof) = (Some(block), b.q, b.v);
        let com = start.transform_point(mass.com);
        let (r, v, w) = (start.rotation, body.velocity, body.spin);
        let initial = Arc::make_mut(&mut model.initial);
        initial.q.extend([com.x, com.y, com.z, r.w, r.x, r.y, r.z]);
        initial.v.extend([v.x, v.y, v.z, w.x, w.y, w.z]);
    } else if body.velocity != Vec3::ZERO || body.spin != Vec3::ZERO {
        model
            .warnings
            .push(format!("{item}: it does not move freely, so its initial velocity has no effect"));
    }
    model.bodies.push(out);
    Ok(())
}

fn add_particle(model: &mut Model, id: NodeId, p: &Particle) -> Result<(), SceneError> {
    let item = format!("particle `{}`", p.name);
    positive(&item, "mass", p.mass)?;
    if !(p.radius.is_finite() && p.radius >= 0.0) {
        return err(item, format!("the radius must be finite and not negative; got {}", p.radius));
    }
    vector(&item, "the position", p.position)?;
    vector(&item, "the velocity", p.velocity)?;
    friction_coefficient(&item, p.friction)?;
    restitution(&item, p.restitution)?;
    let shape = ShapeId(model.shapes.len() as u32);
    model.shapes.push(ModelShape {
        owner: Owner::Node(id),
        geometry: SharedShape::ball(p.radius),
        local: Pose::IDENTITY,
        friction: SurfaceFriction::Isotropic(p.friction),
        restitution: p.restitution,
        reach: p.radius,
        scale: p.radius,
    });
    let block = Arc::make_mut(&mut model.layout).push(BlockKind::Node);
    let b = model.layout.blocks()[block];
    let initial = Arc::make_mut(&mut model.initial);
    initial.q.extend(p.position.to_array());
    initial.v.extend(p.velocity.to_array());
    let (shape, solid) = (Some(shape), None);
    model.nodes.push(ModelNode { name: p.name.clone(), block, dof: b.v, q: b.q, mass: p.mass, shape, solid });
    Ok(())
}

fn add_shape(
    model: &mut Model,
    owner: Owner,
    item: &str,
    shape: &Shape,
    free: bool,
) -> Result<(), SceneError> {
    if free && shape.geometry == Geometry::Plane {
        return err(item, "a plane has no mass; make the body fixed or kinematic, or use a box");
    }
    if free && matches!(&shape.geometry, Geometry::Heightfield(f) if f.base.is_none()) {
        return err(
            item,
            "a height field without a base has no volume; give it a base, or make the body fixed",
        );
    }
    let local = pose(item, "the pose of the shape", &shape.pose)?;
    restitution(item, shape.restitution)?;
    let compiled = geometry::compile(&shape.geometry).map_err(|problem| SceneError::new(item, problem))?;
    if let Some(warning) = compiled.warning {
        model.warnings.push(format!("{item}: {warning}"));
    }
    let friction = match shape.friction {
        SurfaceFriction::Isotropic(mu) => {
            friction_coefficient(item, mu)?;
            shape.friction
        }
        SurfaceFriction::Elliptic { mu1, mu2, direction } => {
            positive(item, "each coefficient of elliptic friction", mu1)?;
            positive(item, "each coefficient of elliptic friction", mu2)?;
            vector(item, "the direction of elliptic friction", direction)?;
            let Some(unit) = direction.try_normalize() else {
                return err(item, "the direction of elliptic friction has zero length; give it one");
            };
            // Into the frame of parry's shape.
            SurfaceFriction::Elliptic { mu1, mu2, direction: compiled.turn.conjugate() * unit }
        }
    };
    model.shapes.push(ModelShape {
        owner,
        geometry: compiled.shape,
        local: local * Pose::from_rotation(compiled.turn),
        friction,
        restitution: shape.restitution,
        reach: 0.0,
        scale: 0.0,
    });
    Ok(())
}

/// Mass properties of a free body in its body frame.
fn mass(item: &str, body: &Body) -> Result<MassProps, SceneError> {
    let of_shapes = || -> Result<MassProps, SceneError> {
        if body.shapes.is_empty() {
            return err(item, "it has no shapes to take the mass from; add one, or give mass and inertia");
        }
        let mut parts = Vec::with_capacity(body.shapes.len());
        for shape in &body.shapes {
            let part = MassProps::of(&shape.geometry);
            if let Geometry::TriMesh { vertices, triangles } = &shape.geometry {
                if !geometry::is_closed(vertices, triangles) {
                    return err(
                        item,
                        "its mesh is not closed, so it has no volume; close the holes and orient all faces alike, \
                         or give mass and inertia",
                    );
                }
                if part.mass <= 0.0 {
                    return err(
                        item,
                        "its mesh has no positive volume; turn the faces outwards (counter-clockwise seen from \
                         outside), or give mass and inertia",
                    );
                }
            }
            parts.push(part.transformed(&normalised(&shape.pose)));
        }
        Ok(MassProps::sum(&parts))
    };
    let props = match &body.mass {
        MassSpec::Density(density) => {
            positive(item, "density", *density)?;
            of_shapes()?.scaled(*density)
        }
        MassSpec::Mass(mass) => {
            positive(item, "mass", *mass)?;
            let unit = of_shapes()?;
            MassProps { mass: *mass, ..unit.scaled(mass / unit.mass) }
        }
        MassSpec::Given { mass, inertia, com } => {
            positive(item, "mass", *mass)?;
            vector(item, "the centre of mass", *com)?;
            MassProps { mass: *mass, com: *com, inertia: given_inertia(item, inertia)? }
        }
    };
    let ok = |x: f64| x.is_finite() && x > 0.0;
    let (moments, _) = principal(props.inertia);
    if !(ok(props.mass) && props.com.is_finite() && moments.to_array().into_iter().all(ok)) {
        let problem = format!(
            "its size and density give mass {} kg and moments {moments} kg·m², which are out of range; check the units",
            props.mass
        );
        return err(item, problem);
    }
    Ok(props)
}

/// An inertia that a real body can have: symmetric, positive, no moment larger than the sum of the others.
fn given_inertia(item: &str, inertia: &Mat3) -> Result<Mat3, SceneError> {
    if !inertia.is_finite() {
        return err(item, "the inertia is not finite");
    }
    let largest = inertia.to_cols_array().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let skew = (*inertia - inertia.transpose()).to_cols_array().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if skew > SYMMETRY * largest {
        return err(item, "the inertia is not symmetric; entries across the diagonal must be equal");
    }
    let symmetric = (*inertia + inertia.transpose()) * 0.5;
    let mut m = principal(symmetric).0.to_array();
    m.sort_by(f64::total_cmp);
    if m[0] <= 0.0 {
        let problem = format!("the inertia is impossible: its principal moment {} must be positive", m[0]);
        return err(item, problem);
    }
    if m[2] > (m[0] + m[1]) * (1.0 + TRIANGLE) {
        let problem = format!(
            "the inertia is impossible: its principal moment {} exceeds the sum of the other two, {} + {}",
            m[2], m[0], m[1]
        );
        return err(item, problem);
    }
    Ok(symmetric)
}

fn motion(item: &str, motion: &Motion) -> Result<Motion, SceneError> {
    match motion {
        Motion::Free | Motion::Fixed => {}
        Motion::Constant { velocity, spin } => {
            vector(item, "the velocity of its motion", *velocity)?;
            vector(item, "the spin of its motion", *spin)?;
        }
        Motion::Keyframes { keys, ease } => {
            if keys.is_empty() {
                return err(item, "it has no keyframes; give at least one, or make it fixed");
            }
            let mut keys = keys.clone();
            for (k, key) in keys.iter_mut().enumerate() {
                let which = format!("keyframe {}", k + 1);
                if !key.time.is_finite() {
                    return err(item, format!("{which}: the time is not finite"));
                }
                key.pose = pose(item, &format!("{which}: the pose"), &key.pose)?;
            }
            if let Some(k) = keys.windows(2).position(|w| w[0].time >= w[1].time) {
                let problem = format!(
                    "keyframe {} at {} s does not come after keyframe {} at {} s; times must increase",
                    k + 2,
                    keys[k + 1].time,
                    k + 1,
                    keys[k].time
                );
                return err(item, problem);
            }
            return Ok(Motion::Keyframes { keys, ease: *ease });
        }
    }
    Ok(motion.clone())
}

fn settings(c: &ContactSettings) -> Result<(), SceneError> {
    let check = |what: &str, x: f64| match x.is_finite() && x >= 0.0 {
        true => Ok(()),
        false => err("contact", format!("{what} must be finite and not negative; got {x}")),
    };
    check("margin", c.margin.unwrap_or(0.0))?;
    check("thickness", c.thickness)?;
    check("recovery speed", c.recovery_speed)?;
    check("restitution threshold", c.restitution_threshold)
}

fn warn_about_masses(model: &mut Model) {
    let mut warnings = Vec::new();
    let bodies =
        model.bodies.iter().filter(|b| b.block.is_some()).map(|b| (format!("body `{}`", b.name), b.mass));
    let particles = model.nodes.iter().filter(|n| n.solid.is_none());
    let nodes = particles.map(|n| (format!("particle `{}`", n.name), n.mass));
    let masses: Vec<(String, f64)> = bodies.chain(nodes).collect();
    for (item, mass) in &masses {
        if *mass < TINY_MASS {
            warnings.push(format!("{item}: its mass is only {mass:e} kg; check the units"));
        }
    }
    let lightest = masses.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let heaviest = masses.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    if let (Some(light), Some(heavy)) = (lightest, heaviest)
        && heavy.1 > EXTREME_RATIO * light.1
    {
        let ratio = heavy.1 / light.1;
        warnings.push(format!("{} is {ratio:.1e} times as heavy as {}; check the units", heavy.0, light.0));
    }
    for b in model.bodies.iter().filter(|b| b.block.is_some()) {
        let ratio = b.moments.max_element() / b.moments.min_element();
        if ratio > EXTREME_RATIO {
            warnings.push(format!("body `{}`: its principal moments differ by a factor {ratio:.1e}", b.name));
        }
    }
    model.warnings.extend(warnings);
}

pub(super) fn err<T>(item: impl Into<String>, problem: impl Into<String>) -> Result<T, SceneError> {
    Err(SceneError::new(item, problem))
}

fn find_joint(model: &Model, item: &str, name: &str) -> Result<usize, SceneError> {
    model.joints.iter().position(|j| j.name == name).ok_or_else(|| {
        let known = model.joints.iter().map(|j| j.name.as_str());
        SceneError::new(item, NameError::new(NameKind::Joint, name, known).to_string())
    })
}

pub(super) fn find(names: &HashMap<&str, Owner>, item: &str, name: &str) -> Result<Owner, SceneError> {
    names.get(name).copied().ok_or_else(|| {
        let mut known: Vec<&str> = names.keys().copied().collect();
        known.sort_unstable();
        SceneError::new(item, NameError::new(NameKind::Owner, name, known).to_string())
    })
}

pub(super) fn positive(item: &str, what: &str, x: f64) -> Result<(), SceneError> {
    match x.is_finite() && x > 0.0 {
        true => Ok(()),
        false => err(item, format!("{what} must be positive and finite; got {x}")),
    }
}

pub(super) fn vector(item: &str, what: &str, x: Vec3) -> Result<(), SceneError> {
    match x.is_finite() {
        true => Ok(()),
        false => err(item, format!("{what} must be finite; got {x}")),
    }
}

pub(super) fn friction_coefficient(item: &str, mu: f64) -> Result<(), SceneError> {
    match mu.is_finite() && mu >= 0.0 {
        true => Ok(()),
        false => err(item, format!("friction must be finite and not negative; got {mu}")),
    }
}

pub(super) fn restitution(item: &str, e: f64) -> Result<(), SceneError> {
    match (0.0..=1.0).contains(&e) {
        true => Ok(()),
        false => err(item, format!("restitution must lie between 0 and 1; got {e}")),
    }
}

/// The pose with its quaternion made a unit.
pub(super) fn pose(item: &str, what: &str, pose: &Pose) -> Result<Pose, SceneError> {
    vector(item, &format!("the position of {what}"), pose.translation)?;
    let length = pose.rotation.length();
    if !(length.is_finite() && length > 1e-9) {
        let problem = format!("the quaternion of {what} cannot be made a unit; got {}", pose.rotation);
        return err(item, problem);
    }
    Ok(normalised(pose))
}

/// Quaternions within rounding of a unit stay as they are, bit for bit.
fn normalised(pose: &Pose) -> Pose {
    let mut pose = *pose;
    if (pose.rotation.length_squared() - 1.0).abs() > 4.0 * f64::EPSILON {
        pose.rotation = pose.rotation.normalize();
    }
    pose
}
