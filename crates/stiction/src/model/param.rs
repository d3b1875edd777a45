//! Numbers of a scene: what a gradient, a sweep or one world of many may change.

use super::{Model, ModelPair, Owner, SurfaceFriction, Table, Target, start};
use crate::coords::{Anchor, BodyId, JointId, SoftId, SpringId};
use crate::elastic::Elements;
use crate::error::{NameError, SceneError, spelling};

/// A number of a scene. Axes count 0, 1, 2.
///
/// Its text form is that of [`parse`](Param::parse).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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
    /// Friction of a pair of owners, the smaller first: see [`friction`](Param::friction).
    Friction(Owner, Owner),
    /// Normal stiffness of contacts [N/m] (penalty).
    ContactStiffness,
    /// Normal damping of contacts: what decides restitution [s/m or N·s/m] (penalty).
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
    /// Spin at t = 0 [rad/s]; that of a solid is added to its motion.
    Spin(Owner, usize),
    /// Gravity [m/s²].
    Gravity(usize),
    /// Component of a force of the scene [N], by its place in the scene.
    Force(usize, usize),
    /// What the motor of a joint aims at, beyond its path [m, rad, m/s or rad/s].
    MotorTarget(JointId),
    /// Stiffness of the motor of a joint [N/m or N·m/rad].
    MotorStiffness(JointId),
    /// Damping of the motor of a joint [N·s/m or N·m·s/rad].
    MotorDamping(JointId),
    /// Largest force or moment of the motor of a joint [N or N·m].
    MotorLimit(JointId),
    /// Stiffness of a spring [N/m].
    SpringStiffness(SpringId),
    /// Rest length of a spring [m].
    SpringRest(SpringId),
    /// Value of a control of a penalty [`System`](crate::steppers::penalty::System) in a step: (control, step).
    Control(usize, usize),
}

/// Fields of the text form that take an axis.
const WITH_AXIS: [&str; 4] = ["position", "orientation", "velocity", "spin"];
/// Those that take none.
const PLAIN: [&str; 13] = [
    "young",
    "poisson",
    "density",
    "viscosity",
    "mass_damping",
    "mass",
    "target",
    "motor_stiffness",
    "motor_damping",
    "motor_limit",
    "stiffness",
    "rest_length",
    "moment",
];
const AXES: [&str; 3] = ["x", "y", "z"];

impl Param {
    /// Friction of a pair of owners, in whatever order they come.
    pub fn friction(a: Owner, b: Owner) -> Param {
        if a <= b { Param::Friction(a, b) } else { Param::Friction(b, a) }
    }

    /// Reads a parameter: `egg.young`, `crate.position.z`, `crate.moment.1` (principal moments count from 1), `egg.rest.12.x`,
    /// `elbow.target`, `friction(egg, floor)`, `gravity.z`, `force.0.x`, `contact.stiffness`. The last dots count, so names
    /// may have dots.
    ///
    /// ```
    /// use stiction::model::Param;
    /// use stiction::{Body, Geometry, Scene};
    ///
    /// let mut scene = Scene::default();
    /// scene.bodies.push(Body::new("crate", Geometry::Sphere { radius: 0.1 }).with_mass(2.0));
    /// let model = scene.compile()?;
    /// let mass = Param::parse(&model, "crate.mass")?;
    /// assert_eq!(model.value(mass)?, 2.0);
    /// let heavier = model.with(&[(mass, 3.0)])?;
    /// assert_eq!((model.value(mass)?, heavier.value(mass)?), (2.0, 3.0));
    /// let typo = Param::parse(&model, "crate.mas").unwrap_err().to_string();
    /// assert!(typo.contains("did you mean `mass`?"), "{typo}");
    /// # Ok::<(), stiction::SceneError>(())
    /// ```
    pub fn parse(model: &Model, text: &str) -> Result<Param, SceneError> {
        let item = || format!("parameter `{text}`");
        let refuse = |problem: String| SceneError::new(item(), problem);
        let named = |e: NameError| refuse(e.to_string());
        let axis = |t: &str| {
            let known = || refuse(format!("`{t}` is no axis; it is x, y or z"));
            AXES.iter().position(|a| *a == t).ok_or_else(known)
        };
        if let Some(pair) = text.strip_prefix("friction(").and_then(|t| t.strip_suffix(')')) {
            // Names may have commas: the first split that both sides know counts.
            let splits = pair.match_indices(',').map(|(i, _)| (pair[..i].trim(), pair[i + 1..].trim()));
            let mut first = None;
            for (a, b) in splits {
                match (model.names.owner(a), model.names.owner(b)) {
                    (Ok(a), Ok(b)) => return Ok(Param::friction(a, b)),
                    (Err(e), _) | (_, Err(e)) => first = first.or(Some(e)),
                }
            }
            return Err(first.map_or_else(|| refuse("it needs two names: `friction(a, b)`".into()), named));
        }
        match text {
            "contact.stiffness" => return Ok(Param::ContactStiffness),
            "contact.damping" => return Ok(Param::ContactDamping),
            _ => {}
        }
        if let Some(k) = text.strip_prefix("gravity.") {
            return Ok(Param::Gravity(axis(k)?));
        }
        let (head, last) = text
            .rsplit_once('.')
            .ok_or_else(|| refuse("it needs a name and a field, such as `crate.mass`".into()))?;
        if let Some((name, field)) = head.rsplit_once('.') {
            if WITH_AXIS.contains(&field) && model.names.owner(name).is_ok() {
                let (owner, k) = (model.names.owner(name).map_err(named)?, axis(last)?);
                return Ok(match field {
                    "position" => Param::Position(owner, k),
                    "orientation" => Param::Orientation(owner, k),
                    "velocity" => Param::Velocity(owner, k),
                    _ => Param::Spin(owner, k),
                });
            }
            if field == "moment" {
                let k = ["1", "2", "3"].iter().position(|k| *k == last);
                let k = k.ok_or_else(|| refuse(format!("`{last}` is no moment; it is 1, 2 or 3")))?;
                return Ok(Param::Moment(model.names.find(name).map_err(named)?, k));
            }
            if name == "force" && model.names.owner(head).is_err() {
                let place = field.parse().map_err(|_| refuse(format!("`{field}` counts no force")))?;
                return Ok(Param::Force(place, axis(last)?));
            }
            if let Some((soft, "rest")) = name.rsplit_once('.')
                && let Ok(vertex) = field.parse()
            {
                return Ok(Param::RestNode(model.names.find(soft).map_err(named)?, vertex, axis(last)?));
            }
        }
        let soft = || model.names.find(head).map_err(named);
        let joint = || model.names.find(head).map_err(named);
        let spring = || model.names.find(head).map_err(named);
        Ok(match last {
            "young" => Param::Young(soft()?),
            "poisson" => Param::Poisson(soft()?),
            "density" => Param::Density(soft()?),
            "viscosity" => Param::Viscosity(soft()?),
            "mass_damping" => Param::MassDamping(soft()?),
            "mass" => Param::Mass(model.names.find(head).map_err(named)?),
            "target" => Param::MotorTarget(joint()?),
            "motor_stiffness" => Param::MotorStiffness(joint()?),
            "motor_damping" => Param::MotorDamping(joint()?),
            "motor_limit" => Param::MotorLimit(joint()?),
            "stiffness" => Param::SpringStiffness(spring()?),
            "rest_length" => Param::SpringRest(spring()?),
            "moment" => return Err(refuse("it needs a number: `NAME.moment.1`".into())),
            field if WITH_AXIS.contains(&field) => {
                model.names.owner(head).map_err(named)?;
                return Err(refuse(format!("it needs an axis: `{head}.{field}.x`")));
            }
            field => {
                let known = WITH_AXIS.into_iter().chain(PLAIN).collect::<Vec<_>>();
                let hint = spelling::known_names(field, "fields", known);
                return Err(refuse(format!("there is no field `{field}`; {hint}")));
            }
        })
    }

    /// Name for tables, such as "young of `block`" or "velocity y of `ball`".
    pub fn describe(&self, model: &Model) -> String {
        let axis = |k: usize| AXES[k.min(2)];
        let solid = |s: SoftId| format!("`{}`", model.solids[s.index()].name);
        let owner = |o: Owner| format!("`{}`", model.name_of(o));
        let body = |b: BodyId| format!("`{}`", model.bodies[b.index()].name);
        let joint = |j: JointId| format!("joint `{}`", model.joints[j.index()].name);
        let spring = |s: SpringId| format!("spring `{}`", model.springs[s.index()].name);
        match *self {
            Param::Young(s) => format!("young of {}", solid(s)),
            Param::Poisson(s) => format!("poisson of {}", solid(s)),
            Param::Density(s) => format!("density of {}", solid(s)),
            Param::Viscosity(s) => format!("viscosity of {}", solid(s)),
            Param::MassDamping(s) => format!("mass damping of {}", solid(s)),
            Param::RestNode(s, v, k) => format!("rest {} of vertex {v} of {}", axis(k), solid(s)),
            Param::Friction(a, b) => format!("friction {}–{}", owner(a), owner(b)),
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
            Param::MotorTarget(j) => format!("target of {}", joint(j)),
            Param::MotorStiffness(j) => format!("motor stiffness of {}", joint(j)),
            Param::MotorDamping(j) => format!("motor damping of {}", joint(j)),
            Param::MotorLimit(j) => format!("motor limit of {}", joint(j)),
            Param::SpringStiffness(s) => format!("stiffness of {}", spring(s)),
            Param::SpringRest(s) => format!("rest length of {}", spring(s)),
            Param::Control(c, step) => format!("control {c} at step {step}"),
        }
    }

    /// A typical size of it, by which differences are taken: its value, or for one that may well be zero what stands beside it.
    pub(crate) fn scale(&self, model: &Model, value: f64) -> f64 {
        let beside = match *self {
            Param::Gravity(_) => model.gravity.length(),
            Param::Force(f, _) => model.forces[f].force.length(),
            Param::RestNode(s, ..) => model.solids[s.index()].edge,
            _ => 0.0,
        };
        let size = value.abs().max(beside);
        if size > 0.0 && size.is_finite() { size } else { 1.0 }
    }

    /// It sets the initial state and acts nowhere else.
    pub fn is_initial(&self) -> bool {
        matches!(self, Param::Position(..) | Param::Orientation(..) | Param::Velocity(..) | Param::Spin(..))
    }

    /// The solid of whose elements it is a number.
    fn of_elements(&self) -> Option<SoftId> {
        match *self {
            Param::Young(s)
            | Param::Poisson(s)
            | Param::Density(s)
            | Param::Viscosity(s)
            | Param::MassDamping(s)
            | Param::RestNode(s, ..) => Some(s),
            _ => None,
        }
    }

    /// Why a model has no such number; `Ok` where it has one, or where a penalty system may have one.
    pub(crate) fn check(&self, model: &Model) -> Result<(), SceneError> {
        let free = |b: BodyId| model.bodies.get(b.index()).is_some_and(|b| b.block.is_some());
        let has = |o: Owner| match o {
            Owner::Body(b) => free(b),
            Owner::Node(n) => n.index() < model.nodes.len(),
            Owner::Solid(s) => s.index() < model.solids.len(),
        };
        let exists = |o: Owner| has(o) || matches!(o, Owner::Body(b) if b.index() < model.bodies.len());
        let axis = match *self {
            Param::RestNode(_, _, k)
            | Param::Moment(_, k)
            | Param::Position(_, k)
            | Param::Orientation(_, k)
            | Param::Velocity(_, k)
            | Param::Spin(_, k)
            | Param::Gravity(k)
            | Param::Force(_, k) => k,
            _ => 0,
        };
        let problem = match *self {
            _ if axis > 2 => Some("axes count 0, 1, 2"),
            _ if self.of_elements().is_some() => {
                let solid = self.of_elements().and_then(|s| model.solids.get(s.index()));
                match (solid, self) {
                    (None, _) => Some("there is no such soft body"),
                    (Some(s), _) if s.tets.is_empty() => {
                        Some("a sheet has no material; use the springs of a mesh")
                    }
                    (Some(s), _) if (0..s.tets.len()).any(|t| !s.elements.element(t).fibres.is_empty()) => {
                        Some("soft bodies with fibres cannot change their material here")
                    }
                    (Some(s), Param::RestNode(_, v, _)) if *v as usize >= s.rest.len() => {
                        Some("the soft body has no such vertex")
                    }
                    _ => None,
                }
            }
            Param::Friction(a, b) if !(exists(a) && exists(b)) => Some("there is no such pair"),
            Param::Mass(b) | Param::Moment(b, _) if !free(b) => Some("only free bodies have one"),
            Param::Position(o, _) | Param::Orientation(o, _) | Param::Velocity(o, _) | Param::Spin(o, _)
                if !has(o) =>
            {
                Some("only free bodies start anywhere")
            }
            Param::Force(f, _) if f >= model.forces.len() => Some("there is no such force"),
            Param::MotorTarget(j)
            | Param::MotorStiffness(j)
            | Param::MotorDamping(j)
            | Param::MotorLimit(j)
                if model.joints.get(j.index()).is_none_or(|j| j.motor.is_none()) =>
            {
                Some("the joint has no motor")
            }
            Param::SpringStiffness(s) | Param::SpringRest(s) if s.index() >= model.springs.len() => {
                Some("there is no such spring")
            }
            _ => None,
        };
        problem.map_or(Ok(()), |text| Err(SceneError::new(format!("parameter {self:?}"), text)))
    }
}

impl Model {
    /// Present value of a number. Zero for what is added to what is there: [`Param::Orientation`], the spin of a solid and
    /// [`Param::MotorTarget`]. An error where the model has no such number, as it is with those of the penalty method.
    pub fn value(&self, p: Param) -> Result<f64, SceneError> {
        p.check(self)?;
        let elements = |s: SoftId| &self.solids[s.index()].elements;
        let motor = |j: JointId| self.joints[j.index()].motor.as_ref();
        Ok(match p {
            Param::Young(s) => elements(s).materials()[0].young,
            Param::Poisson(s) => elements(s).materials()[0].poisson,
            Param::Density(s) => elements(s).materials()[0].density,
            Param::Viscosity(s) => elements(s).damping().viscosity,
            Param::MassDamping(s) => elements(s).damping().mass,
            Param::RestNode(s, v, k) => self.solids[s.index()].rest[v as usize][k],
            Param::Friction(a, b) => self.friction_of_pair(a, b)?,
            Param::Mass(b) => self.bodies[b.index()].mass,
            Param::Moment(b, k) => self.bodies[b.index()].moments[k],
            Param::Position(..) | Param::Orientation(..) | Param::Velocity(..) | Param::Spin(..) => {
                start::value(self, &self.initial, p)
            }
            Param::Gravity(k) => self.gravity[k],
            Param::Force(f, k) => self.forces[f].force[k],
            Param::MotorTarget(_) => 0.0,
            Param::MotorStiffness(j) => motor(j).map_or(0.0, |m| m.stiffness),
            Param::MotorDamping(j) => motor(j).map_or(0.0, |m| m.damping),
            Param::MotorLimit(j) => motor(j).map_or(0.0, |m| m.limit),
            Param::SpringStiffness(s) => self.springs[s.index()].spring.stiffness,
            Param::SpringRest(s) => self.springs[s.index()].spring.rest_length,
            Param::ContactStiffness | Param::ContactDamping | Param::Control(..) => {
                let text = "it is a number of the penalty method, not of the scene";
                return Err(SceneError::new(p.describe(self), text));
            }
        })
    }

    /// A copy with other numbers; it shares all lists that hold none of them. What follows from a number (masses of nodes from
    /// a density) follows in the copy. Where a body or solid starts is counted from where it starts here.
    pub fn with(&self, values: &[(Param, f64)]) -> Result<Model, SceneError> {
        let mut model = self.clone();
        model.write(values)?;
        if values.iter().any(|(p, _)| p.is_initial()) {
            model.initial = start::state(self, values).into();
        }
        Ok(model)
    }

    /// Writes numbers other than those of the initial state.
    pub(crate) fn write(&mut self, values: &[(Param, f64)]) -> Result<(), SceneError> {
        for &(p, x) in values {
            p.check(self)?;
            let no_limit = matches!(p, Param::MotorLimit(_)) && x == f64::INFINITY;
            if !x.is_finite() && !no_limit {
                return Err(SceneError::new(p.describe(self), format!("{x} is not a number it can have")));
            }
            let positive = matches!(p, Param::Mass(_) | Param::Moment(..));
            let not_negative = matches!(
                p,
                Param::Friction(..)
                    | Param::MotorStiffness(_)
                    | Param::MotorDamping(_)
                    | Param::MotorLimit(_)
                    | Param::SpringStiffness(_)
                    | Param::SpringRest(_)
            );
            if (positive && x <= 0.0) || (not_negative && x < 0.0) {
                let wanted = if positive { "positive" } else { "zero or more" };
                return Err(SceneError::new(p.describe(self), format!("{x}: it must be {wanted}")));
            }
        }
        let mut solids: Vec<SoftId> = Vec::new();
        for &(p, x) in values {
            match p {
                Param::Friction(a, b) => self.set_friction_of_pair(a, b, x),
                Param::Mass(b) => self.bodies[b.index()].mass = x,
                Param::Moment(b, k) => self.bodies[b.index()].moments[k] = x,
                Param::Gravity(k) => self.gravity[k] = x,
                Param::Force(f, k) => self.forces[f].force[k] = x,
                Param::MotorTarget(j) => {
                    if let Some(motor) = &mut self.joints[j.index()].motor {
                        let (Target::Position(path) | Target::Velocity(path)) = &mut motor.target;
                        path.keys.iter_mut().for_each(|k| k[1] += x);
                    }
                }
                Param::MotorStiffness(j) | Param::MotorDamping(j) | Param::MotorLimit(j) => {
                    if let Some(motor) = &mut self.joints[j.index()].motor {
                        match p {
                            Param::MotorStiffness(_) => motor.stiffness = x,
                            Param::MotorDamping(_) => motor.damping = x,
                            _ => motor.limit = x,
                        }
                    }
                }
                Param::SpringStiffness(s) => self.springs[s.index()].spring.stiffness = x,
                Param::SpringRest(s) => self.springs[s.index()].spring.rest_length = x,
                Param::ContactStiffness | Param::ContactDamping | Param::Control(..) => {
                    self.value(p)?;
                }
                _ => solids.extend(p.of_elements().filter(|s| !solids.contains(s))),
            }
        }
        solids.into_iter().try_for_each(|s| self.rebuild(s, values))
    }

    /// Elements and masses of a solid with the values set.
    fn rebuild(&mut self, s: SoftId, values: &[(Param, f64)]) -> Result<(), SceneError> {
        let solid = &mut self.solids[s.index()];
        let mut materials = solid.elements.materials().to_vec();
        let mut damping = solid.elements.damping();
        for &(p, x) in values.iter().filter(|(p, _)| p.of_elements() == Some(s)) {
            match p {
                Param::Young(_) => materials[0].young = x,
                Param::Poisson(_) => materials[0].poisson = x,
                Param::Density(_) => materials[0].density = x,
                Param::Viscosity(_) => damping.viscosity = x,
                Param::MassDamping(_) => damping.mass = x,
                Param::RestNode(_, v, k) => solid.rest[v as usize][k] = x,
                _ => {}
            }
        }
        let of = solid.elements.material_of().to_vec();
        solid.elements = Elements::new(&solid.rest, &solid.tets, &materials, &of, damping)
            .map_err(|e| SceneError::new(format!("soft body `{}`", solid.name), e.to_string()))?
            .into();
        let mass = solid.elements.masses();
        if mass != &solid.mass[..] {
            solid.mass = Table::from(mass.to_vec());
            for (anchor, mass) in solid.vertices.iter().zip(&solid.mass) {
                if let Anchor::Node(n) = anchor {
                    self.nodes[n.index()].mass = *mass;
                }
            }
        }
        Ok(())
    }

    /// The coefficient of all contacts of a pair; an error where they have several.
    fn friction_of_pair(&self, a: Owner, b: Owner) -> Result<f64, SceneError> {
        if let Some(mu) = self.pair_rule(a, b).and_then(|r| r.friction) {
            return Ok(mu);
        }
        let surfaces = |o: Owner| {
            let mut all: Vec<SurfaceFriction> = Vec::new();
            for s in self.shapes.iter().filter(|s| self.whole(s.owner) == o) {
                if !all.contains(&s.friction) {
                    all.push(s.friction);
                }
            }
            all
        };
        match (&surfaces(a)[..], &surfaces(b)[..]) {
            ([SurfaceFriction::Isotropic(x)], [SurfaceFriction::Isotropic(y)]) => {
                Ok(self.contact.combine_friction.apply(*x, *y))
            }
            _ => {
                let text =
                    "its contacts have several coefficients, or none; state one for the pair in the scene";
                Err(SceneError::new(Param::friction(a, b).describe(self), text))
            }
        }
    }

    fn set_friction_of_pair(&mut self, a: Owner, b: Owner, mu: f64) {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        match self.pairs.binary_search_by(|p| (p.a, p.b).cmp(&(a, b))) {
            Ok(i) => self.pairs[i].friction = Some(mu),
            Err(i) => {
                let mut all = self.pairs.to_vec();
                all.insert(i, ModelPair { a, b, collide: true, friction: Some(mu), restitution: None });
                self.pairs = all.into();
            }
        }
    }
}
