//! Errors: a scene that cannot be, a step that cannot be taken, and a name that nobody has.

pub mod spelling;

use thiserror::Error;

/// What a name can be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NameKind {
    /// A rigid body, links of rods included.
    Body,
    /// A particle.
    Particle,
    /// A soft body or cloth.
    Soft,
    /// A cloth.
    Cloth,
    /// A rod.
    Rod,
    /// A spring.
    Spring,
    /// A joint.
    Joint,
    /// A sensor.
    Sensor,
    /// What has a name of its own among bodies, soft bodies and particles.
    Owner,
    /// What contacts can act on: an owner, or a rod as a whole.
    Side,
    /// A column of a sensor.
    Column,
}

impl NameKind {
    /// One of them in words.
    pub fn singular(self) -> &'static str {
        match self {
            NameKind::Body => "body",
            NameKind::Particle => "particle",
            NameKind::Soft => "soft body or cloth",
            NameKind::Cloth => "cloth",
            NameKind::Rod => "rod",
            NameKind::Spring => "spring",
            NameKind::Joint => "joint",
            NameKind::Sensor => "sensor",
            NameKind::Owner => "body, soft body, cloth or particle",
            NameKind::Side => "body, soft body, cloth, particle or rod",
            NameKind::Column => "column",
        }
    }

    /// Several of them in words.
    pub fn plural(self) -> &'static str {
        match self {
            NameKind::Body => "bodies",
            NameKind::Particle => "particles",
            NameKind::Soft => "soft bodies and cloth",
            NameKind::Cloth => "cloth",
            NameKind::Rod => "rods",
            NameKind::Spring => "springs",
            NameKind::Joint => "joints",
            NameKind::Sensor => "sensors",
            NameKind::Owner | NameKind::Side => "names",
            NameKind::Column => "columns",
        }
    }
}

impl std::fmt::Display for NameKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.singular())
    }
}

/// A name that nothing of the kind asked for has.
///
/// ```
/// use stiction::error::{NameError, NameKind};
///
/// let e = NameError::new(NameKind::Body, "crat", ["floor", "crate"]);
/// assert_eq!(e.to_string(), "there is no body `crat`; did you mean `crate`? known bodies: `floor`, `crate`");
/// assert_eq!(e.nearest.as_deref(), Some("crate"));
/// ```
#[derive(Clone, Debug, Error, PartialEq)]
#[error("there is no {kind} `{name}`; {remedy}")]
#[non_exhaustive]
pub struct NameError {
    /// What was asked for.
    pub kind: NameKind,
    /// The name that was asked for.
    pub name: String,
    /// The known name of that kind that was most likely meant: at most a third of its letters differ.
    pub nearest: Option<String>,
    /// What to do: the nearest name, what else has the name, and the known names.
    pub remedy: String,
}

impl NameError {
    /// An error about a name, with the names that are known.
    pub fn new<'a>(kind: NameKind, name: &str, known: impl IntoIterator<Item = &'a str>) -> NameError {
        let known: Vec<&str> = known.into_iter().collect();
        NameError {
            kind,
            name: name.into(),
            nearest: spelling::nearest(name, known.iter().copied()).map(String::from),
            remedy: spelling::known_names(name, kind.plural(), known),
        }
    }

    /// Says that something of another kind has the name.
    pub fn but_is(mut self, other: NameKind) -> NameError {
        let is = match other {
            NameKind::Soft => "a soft body",
            NameKind::Cloth => "cloth",
            _ => &format!("a {other}"),
        };
        self.remedy = format!("`{}` is {is}; {}", self.name, self.remedy);
        self
    }
}

/// A scene that cannot be compiled: names the item and what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{item}: {problem}")]
pub struct SceneError {
    /// The item, such as "body `crate`" or "sensor `grip`".
    pub item: String,
    /// What is wrong, and the remedy.
    pub problem: String,
}

impl SceneError {
    /// An error about one item.
    pub fn new(item: impl Into<String>, problem: impl Into<String>) -> SceneError {
        SceneError { item: item.into(), problem: problem.into() }
    }
}

/// A step that cannot be taken. A step that merely did not converge is not an error: see
/// [`Status`](crate::solvers::Status).
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StepError {
    /// The scene has something that the solver asked for does not know.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The time step is not a positive number.
    #[error("time step {0} s: it must be positive and finite")]
    TimeStep(f64),
    /// Position or velocity of a body is not a number.
    #[error("{item} is not finite at t = {t} s: look for huge forces, velocities or overlaps just before")]
    NotFinite {
        /// Which body or particle.
        item: String,
        /// When [s].
        t: f64,
    },
}
