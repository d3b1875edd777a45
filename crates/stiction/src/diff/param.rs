//! Numbers of a scene by which motions are differentiated.

use crate::coords::{Anchor, BodyId, SoftId, State};
use crate::elastic::{Damping, Elements};
use crate::error::SceneError;
use crate::linalg::Vec3;
use crate::linalg::rotation;
use crate::model::{Model, Owner};
use crate::steppers::penalty::bdf::left_jacobian;
use crate::steppers::penalty::{FrictionModel, System};
use std::sync::Arc;

/// A number of a scene. Axes count 0, 1, 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param {
    /// Young's modulus of a solid [Pa].
    Young(SoftId),
    /// Poisson's ratio of a solid.
    Poisson(SoftId),
    /// Density of a solid [kg/m³].
    Density(SoftId),
    /// Viscosity of a solid [Pa·s].
    Viscosity(SoftId),
    /// Mass-proportional damping of a solid [1/s].
    MassDamping(SoftId),
    /// Coordinate of a vertex of a solid at rest [m].
    RestNode(SoftId, u32, usize),
    /// Friction of a pair of owners, by its place in [`Sites::pairs`](crate::steppers::penalty::site::Sites::pairs). Both
    /// coefficients of elliptic friction change by the same number.
    Friction(usize),
    /// Normal stiffness of contacts [N/m].
    ContactStiffness,
    /// Normal damping of contacts: what decides restitution [s/m or N·s/m].
    ContactDamping,
    /// Mass of a body [kg].
    Mass(BodyId),
    /// Principal moment of inertia of a body [kg·m²].
    Moment(BodyId, usize),
    /// Coordinate of the centre of mass at t = 0 [m].
    Position(Owner, usize),
    /// Component of a rotation vector by which the owner is turned at t = 0 [rad], about world axes through its centre.
    Orientation(Owner, usize),
    /// Velocity at t = 0 [m/s].
    Velocity(Owner, usize),
    /// Spin at t = 0 [rad/s].
    Spin(Owner, usize),
    /// Gravity [m/s²].
    Gravity(usize),
    /// Component of a force of the scene [N], by its place in the scene.
    Force(usize, usize),
    /// What the motor of a joint aims at, beyond its path.
    MotorTarget(usize),
    /// Stiffness of a spring [N/m].
    SpringStiffness(usize),
    /// Rest length of a spring [m].
    SpringRest(usize),
    /// Value of a control in a step: (control, step).
    Control(usize, usize),
}

impl Param {
    /// Name for tables, such as "young of `block`" or "velocity y of `ball`".
    pub fn describe(&self, system: &System) -> String {
        let model = system.model();
        let axis = |k: usize| ["x", "y", "z"][k.min(2)];
        let solid = |s: SoftId| format!("`{}`", model.solids[s.index()].name);
        let owner = |o: Owner| format!("`{}`", model.name_of(o));
        let body = |b: BodyId| format!("`{}`", model.bodies[b.index()].name);
        match *self {
            Param::Young(s) => format!("young of {}", solid(s)),
            Param::Poisson(s) => format!("poisson of {}", solid(s)),
            Param::Density(s) => format!("density of {}", solid(s)),
            Param::Viscosity(s) => format!("viscosity of {}", solid(s)),
            Param::MassDamping(s) => format!("mass damping of {}", solid(s)),
            Param::RestNode(s, v, k) => format!("rest {} of vertex {v} of {}", axis(k), solid(s)),
            Param::Friction(p) => {
                let (a, b) = system.sites().pairs[p].owners;
                format!("friction {}–{}", owner(a), owner(b))
            }
            Param::ContactStiffness => "contact stiffness".to_string(),
            Param::ContactDamping => "contact damping".to_string(),
            Param::Mass(b) => format!("mass of {}", body(b)),
            Param::Moment(b, k) => format!("moment {} of {}", k + 1, body(b)),
            Param::Position(o, k) => format!("position {} of {}", axis(k), owner(o)),
            Param::Orientation(o, k) => format!("turn {} of {}", axis(k), owner(o)),
            Param::Velocity(o, k) => format!("velocity {} of {}", axis(k), owner(o)),
            Param::Spin(o, k) => format!("spin {} of {}", axis(k), owner(o)),
            Param::Gravity(k) => format!("gravity {}", axis(k)),
            Param::Force(f, k) => format!("force {f} {}", axis(k)),
            Param::MotorTarget(j) => format!("target of joint `{}`", model.joints[j].name),
            Param::SpringStiffness(s) => format!("stiffness of spring `{}`", model.springs[s].name),
            Param::SpringRest(s) => format!("rest length of spring `{}`", model.springs[s].name),
            Param::Control(c, step) => format!("control {c} at step {step}"),
        }
    }

    /// It sets the initial state and acts nowhere else.
    pub fn is_initial(&self) -> bool {
        matches!(self, Param::Position(..) | Param::Orientation(..) | Param::Velocity(..) | Param::Spin(..))
    }
}

/// Parameters with the state that they start from.
#[derive(Clone, Debug)]
pub struct ParamSet {
    /// The parameters, in the order of all vectors.
    pub params: Vec<Param>,
    base: State,
    /// Masses of nodes at the start: weights of centres, which stay the same whatever parameters do to masses.
    masses: Vec<f64>,
    /// Values at the start.
    pub start: Vec<f64>,
    values: Vec<f64>,
}

fn nodes_of(model: &Model, masses: &[f64], owner: Owner) -> Vec<(usize, usize, f64)> {
    let nodes = match owner {
        Owner::Node(n) => n.index()..n.index() + 1,
        Owner::Solid(s) => model.solids[s.index()].nodes.clone(),
        Owner::Body(_) => 0..0,
    };
    nodes.map(|i| (model.nodes[i].q, model.nodes[i].dof, masses[i])).collect()
}

fn mean(nodes: &[(usize, usize, f64)], of: impl Fn(usize, usize) -> Vec3) -> Vec3 {
    let mass: f64 = nodes.iter().map(|n| n.2).sum();
    nodes.iter().map(|n| of(n.0, n.1) * (n.2 / mass)).sum()
}

impl ParamSet {
    /// Checks that each parameter exists in the system and takes its present value.
    pub fn new(system: &System, params: Vec<Param>) -> Result<ParamSet, SceneError> {
        let model = system.model();
        if system.settings().friction == FrictionModel::Sqp {
            let text = "hard constraints have no derivatives; choose linear, tanh or hybrid";
            return Err(SceneError::new("friction model `sqp`", text));
        }
        for p in &params {
            let problem = match *p {
                Param::Young(s)
                | Param::Poisson(s)
                | Param::Density(s)
                | Param::Viscosity(s)
                | Param::MassDamping(s)
                | Param::RestNode(s, ..) => match model.solids.get(s.index()) {
                    None => Some("there is no such soft body"),
                    Some(s) if s.tets.is_empty() => {
                        Some("a sheet has no material; use the springs of a mesh")
                    }
                    Some(s) if (0..s.tets.len()).any(|t| !s.elements.element(t).fibres.is_empty()) => {
                        Some("soft bodies with fibres cannot change their material here")
                    }
                    Some(_) => None,
                },
                Param::Friction(i) if i >= system.sites().pairs.len() => Some("there is no such pair"),
                Param::Mass(b) | Param::Moment(b, _)
                    if model.bodies.get(b.index()).is_none_or(|b| b.block.is_none()) =>
                {
                    Some("only free bodies have one")
                }
                Param::Position(Owner::Body(b), _)
                | Param::Orientation(Owner::Body(b), _)
                | Param::Velocity(Owner::Body(b), _)
                | Param::Spin(Owner::Body(b), _)
                    if model.bodies.get(b.index()).is_none_or(|b| b.block.is_none()) =>
                {
                    Some("only free bodies start anywhere")
                }
                Param::Force(f, _) if f >= model.forces.len() => Some("there is no such force"),
                Param::MotorTarget(j) if model.joints.get(j).is_none_or(|j| j.motor.is_none()) => {
                    Some("the joint has no motor")
                }
                Param::SpringStiffness(s) | Param::SpringRest(s) if s >= model.springs.len() => {
                    Some("there is no such spring")
                }
                Param::Control(c, k) if system.controls.get(c).is_none_or(|c| k >= c.values.len()) => {
                    Some("there is no such control or step")
                }
                _ => None,
            };
            if let Some(text) = problem {
                return Err(SceneError::new(format!("parameter {p:?}"), text));
            }
        }
        let mut set = ParamSet {
            params,
            base: State::clone(&model.initial),
            masses: model.nodes.iter().map(|n| n.mass).collect(),
            start: Vec::new(),
            values: Vec::new(),
        };
        set.values = set.params.iter().map(|p| set.value(system, p)).collect();
        set.start.clone_from(&set.values);
        Ok(set)
    }

    /// Where a parameter stands.
    pub(super) fn indices(&self, param: &Param) -> impl Iterator<Item = usize> {
        self.params.iter().enumerate().filter(move |(_, p)| *p == param).map(|(k, _)| k)
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.params.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// Values set last.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    fn value(&self, system: &System, p: &Param) -> f64 {
        let model = system.model();
        let material = |s: SoftId| model.solids[s.index()].elements.materials()[0];
        let damping = |s: SoftId| model.solids[s.index()].elements.damping();
        let base = &self.base;
        match *p {
            Param::Young(s) => material(s).young,
            Param::Poisson(s) => material(s).poisson,
            Param::Density(s) => material(s).density,
            Param::Viscosity(s) => damping(s).viscosity,
            Param::MassDamping(s) => damping(s).mass,
            Param::RestNode(s, v, k) => model.solids[s.index()].rest[v as usize][k],
            Param::Friction(i) => system.sites().pairs[i].mu1,
            Param::ContactStiffness => system.settings().stiffness,
            Param::ContactDamping => system.settings().damping.coefficient(),
            Param::Mass(b) => model.bodies[b.index()].mass,
            Param::Moment(b, k) => model.bodies[b.index()].moments[k],
            Param::Position(Owner::Body(b), k) => base.q[model.bodies[b.index()].q + k],
            Param::Position(o, k) => {
                mean(&nodes_of(model, &self.masses, o), |q, _| Vec3::from_slice(&base.q[q..]))[k]
            }
            Param::Velocity(Owner::Body(b), k) => base.v[model.bodies[b.index()].dof + k],
            Param::Velocity(o, k) => {
                mean(&nodes_of(model, &self.masses, o), |_, v| Vec3::from_slice(&base.v[v..]))[k]
            }
            Param::Spin(Owner::Body(b), k) => base.v[model.bodies[b.index()].dof + 3 + k],
            // Spin of a solid is what is added to its motion at the start.
            Param::Spin(..) | Param::Orientation(..) => 0.0,
            Param::Gravity(k) => model.gravity[k],
            Param::Force(f, k) => model.forces[f].force[k],
            Param::MotorTarget(j) => system.motor_offset(j),
            Param::SpringStiffness(s) => model.springs[s].spring.stiffness,
            Param::SpringRest(s) => model.springs[s].spring.rest_length,
            Param::Control(c, k) => system.controls[c].values[k],
        }
    }

    /// Sets all values in the system.
    pub fn apply(&mut self, system: &mut System, values: &[f64]) -> Result<(), SceneError> {
        assert_eq!(values.len(), self.params.len(), "one value per parameter");
        if let Some(i) = values.iter().position(|x| !x.is_finite()) {
            let item = self.params[i].describe(system);
            return Err(SceneError::new(item, format!("{} is not a number it can have", values[i])));
        }
        self.values = values.to_vec();
        let params = self.params.clone();
        // Initial conditions always start from the same state, so that values mean the same whatever came before.
        let mut initial = self.base.clone();
        for (p, &x) in params.iter().zip(values) {
            let change = x - self.value(system, p);
            if let Param::Position(o, k) = *p {
                for q in self.places(system, o) {
                    initial.q[q.0 + k] += change;
                }
            }
        }
        for owner in self.owners() {
            let turn = self.vector(owner, Param::Orientation).unwrap_or_default();
            if turn != Vec3::ZERO {
                let r = rotation::exp(turn);
                if let Owner::Body(b) = owner {
                    let q = system.model.bodies[b.index()].q;
                    let mut pose = initial.rigid_pose(q);
                    pose.rotation = (r * pose.rotation).normalize();
                    initial.set_rigid_pose(q, &pose);
                } else {
                    let nodes = nodes_of(&system.model, &self.masses, owner);
                    let centre = mean(&nodes, |q, _| Vec3::from_slice(&initial.q[q..]));
                    for (q, ..) in nodes {
                        let x = centre + r * (Vec3::from_slice(&initial.q[q..]) - centre);
                        x.write_to_slice(&mut initial.q[q..q + 3]);
                    }
                }
            }
        }
        for (p, &x) in params.iter().zip(values) {
            match *p {
                Param::Velocity(o, k) => {
                    let change = x - self.value(system, p);
                    for q in self.places(system, o) {
                        initial.v[q.1 + k] += change;
                    }
                }
                Param::Spin(Owner::Body(b), k) => initial.v[system.model.bodies[b.index()].dof + 3 + k] = x,
                Param::Spin(o, k) => {
                    let nodes = nodes_of(&system.model, &self.masses, o);
                    let centre = mean(&nodes, |q, _| Vec3::from_slice(&initial.q[q..]));
                    for (q, v, _) in nodes {
                        let add = (Vec3::AXES[k] * x).cross(Vec3::from_slice(&initial.q[q..]) - centre);
                        for c in 0..3 {
                            initial.v[v + c] += add[c];
                        }
                    }
                }
                _ => {}
            }
        }
        Arc::make_mut(&mut system.model).initial = initial.into();
        let mut solids: Vec<SoftId> = Vec::new();
        for (p, &x) in params.iter().zip(values) {
            match *p {
                Param::Young(s)
                | Param::Poisson(s)
                | Param::Density(s)
                | Param::Viscosity(s)
                | Param::MassDamping(s)
                | Param::RestNode(s, ..)
                    if !solids.contains(&s) =>
                {
                    solids.push(s);
                }
                Param::Friction(i) => {
                    let pair = &mut system.sites.pairs[i];
                    let change = x - pair.mu1;
                    pair.mu1 = x;
                    pair.mu2 += change;
                }
                Param::ContactStiffness => system.settings.stiffness = x,
                Param::ContactDamping => system.settings.damping = system.settings.damping.with(x),
                Param::Mass(b) => Arc::make_mut(&mut system.model).bodies[b.index()].mass = x,
                Param::Moment(b, k) => Arc::make_mut(&mut system.model).bodies[b.index()].moments[k] = x,
                Param::Gravity(k) => Arc::make_mut(&mut system.model).gravity[k] = x,
                Param::Force(f, k) => Arc::make_mut(&mut system.model).forces[f].force[k] = x,
                Param::MotorTarget(j) => system.set_motor_offset(j, x),
                Param::SpringStiffness(s) => Arc::make_mut(&mut system.model).springs[s].spring.stiffness = x,
                Param::SpringRest(s) => Arc::make_mut(&mut system.model).springs[s].spring.rest_length = x,
                Param::Control(c, k) => system.controls[c].values[k] = x,
                _ => {}
            }
        }
        for s in solids {
            self.rebuild(system, s)?;
        }
        system.fill_mass();
        Ok(())
    }

    /// Elements and masses of a solid with the values set.
    fn rebuild(&self, system: &mut System, s: SoftId) -> Result<(), SceneError> {
        let model = Arc::make_mut(&mut system.model);
        let solid = &mut model.solids[s.index()];
        let mut material = solid.elements.materials()[0];
        let mut damping: Damping = solid.elements.damping();
        for (p, &x) in self.params.iter().zip(&self.values) {
            match *p {
                Param::Young(i) if i == s => material.young = x,
                Param::Poisson(i) if i == s => material.poisson = x,
                Param::Density(i) if i == s => material.density = x,
                Param::Viscosity(i) if i == s => damping.viscosity = x,
                Param::MassDamping(i) if i == s => damping.mass = x,
                Param::RestNode(i, v, k) if i == s => solid.rest[v as usize][k] = x,
                _ => {}
            }
        }
        let mut materials = solid.elements.materials().to_vec();
        materials[0] = material;
        let of = solid.elements.material_of().to_vec();
        solid.elements = Elements::new(&solid.rest, &solid.tets, &materials, &of, damping)
            .map_err(|e| SceneError::new(format!("soft body `{}`", solid.name), e.to_string()))?
            .into();
        solid.mass = solid.elements.masses().to_vec().into();
        for (anchor, mass) in solid.vertices.iter().zip(&solid.mass) {
            if let Anchor::Node(n) = anchor {
                model.nodes[n.index()].mass = *mass;
            }
        }
        Ok(())
    }

    /// Owners of parameters of the initial state.
    fn owners(&self) -> Vec<Owner> {
        let mut all: Vec<Owner> = Vec::new();
        for p in &self.params {
            if let Param::Position(o, _)
            | Param::Orientation(o, _)
            | Param::Velocity(o, _)
            | Param::Spin(o, _) = *p
                && !all.contains(&o)
            {
                all.push(o);
            }
        }
        all
    }

    /// The three values of a kind of parameter of an owner, zero where it is none.
    fn vector(&self, owner: Owner, kind: impl Fn(Owner, usize) -> Param) -> Option<Vec3> {
        let mut v = Vec3::ZERO;
        let mut any = false;
        for k in 0..3 {
            if let Some(i) = self.params.iter().position(|p| *p == kind(owner, k)) {
                v[k] = self.values[i];
                any = true;
            }
        }
        any.then_some(v)
    }

    /// First places in q and v of what an owner moves.
    fn places(&self, system: &System, o: Owner) -> Vec<(usize, usize)> {
        match o {
            Owner::Body(b) => {
                let b = &system.model().bodies[b.index()];
                vec![(b.q, b.dof)]
            }
            _ => nodes_of(system.model(), &self.masses, o).iter().map(|n| (n.0, n.1)).collect(),
        }
    }

    /// ∂(q, v)/∂p of the initial state: calls `sink(parameter, dof, of q, of v)`.
    pub(super) fn initial(&self, system: &System, mut sink: impl FnMut(usize, usize, f64, f64)) {
        let model = system.model();
        let initial = &model.initial;
        for (i, p) in self.params.iter().enumerate() {
            match *p {
                Param::Position(o, k) => {
                    for (_, v) in self.places(system, o) {
                        sink(i, v + k, 1.0, 0.0);
                    }
                }
                Param::Velocity(o, k) => {
                    for (_, v) in self.places(system, o) {
                        sink(i, v + k, 0.0, 1.0);
                    }
                }
                Param::Orientation(o, k) => {
                    let theta = self.vector(o, Param::Orientation).unwrap_or_default();
                    let turn = left_jacobian(theta).col(k);
                    if let Owner::Body(b) = o {
                        for c in 0..3 {
                            sink(i, model.bodies[b.index()].dof + 3 + c, turn[c], 0.0);
                        }
                        continue;
                    }
                    let spin = self.vector(o, Param::Spin).unwrap_or_default();
                    let nodes = nodes_of(model, &self.masses, o);
                    let centre = mean(&nodes, |q, _| Vec3::from_slice(&initial.q[q..]));
                    for (q, v, _) in nodes {
                        let moved = turn.cross(Vec3::from_slice(&initial.q[q..]) - centre);
                        let faster = spin.cross(moved);
                        for c in 0..3 {
                            sink(i, v + c, moved[c], faster[c]);
                        }
                    }
                }
                Param::Spin(Owner::Body(b), k) => sink(i, model.bodies[b.index()].dof + 3 + k, 0.0, 1.0),
                Param::Spin(o, k) => {
                    let nodes = nodes_of(model, &self.masses, o);
                    let centre = mean(&nodes, |q, _| Vec3::from_slice(&initial.q[q..]));
                    for (q, v, _) in nodes {
                        let faster = Vec3::AXES[k].cross(Vec3::from_slice(&initial.q[q..]) - centre);
                        for c in 0..3 {
                            sink(i, v + c, 0.0, faster[c]);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
