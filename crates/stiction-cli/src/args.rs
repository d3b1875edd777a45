//! Arguments that several commands share.

use crate::failure::{Result, error};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::Path;
use stiction::scene::bounds::{LONGEST_RUN, LONGEST_STEP, SHORTEST_STEP};
use stiction::{Model, Scheme, SimSettings, SolverKind};
use stiction_io::gallery;
use stiction_io::scene::{self, LoadedScene};

/// Which scene, and changes to it.
#[derive(Args, Clone, Debug)]
pub struct SceneArgs {
    /// Name of a built-in scene (see `stiction scenes`) or path of a .toml file; `view` and `movie` take recordings, too
    pub scene: String,

    /// Change a value of the scene before it is built, such as `gravity=[0,0,-1.62]`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    pub overrides: Vec<(String, String)>,

    /// Time step [s], from 1e-9 to 1000; the scene has its own
    #[arg(long, value_name = "S", value_parser = time_step, allow_hyphen_values = true)]
    pub dt: Option<f64>,
}

/// How to step and solve.
#[derive(Args, Clone, Debug, Default)]
pub struct StepArgs {
    /// Contact solver; the scene has its own, which is usually `exact`
    #[arg(long, value_name = "NAME", value_parser = solver())]
    pub solver: Option<SolverKind>,

    /// Tolerance of the solver: velocity error relative to the velocity scale
    #[arg(long, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    pub tol: Option<f64>,

    /// Most iterations (sweeps) per solve
    #[arg(long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true)]
    pub max_iter: Option<usize>,

    /// Time-stepping scheme
    #[arg(long, value_name = "NAME", value_parser = scheme())]
    pub scheme: Option<Scheme>,

    /// Threads to use; results do not depend on it. All cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), allow_negative_numbers = true)]
    pub threads: Option<u16>,
}

/// A scene that compiled, with the arguments applied.
pub struct Prepared {
    /// What the file says, with the arguments applied.
    pub loaded: LoadedScene,
    /// The compiled scene.
    pub model: Model,
    /// Name for reports: the gallery name or the path.
    pub name: String,
}

impl SceneArgs {
    /// Reads and compiles the scene.
    pub fn prepare(&self, step: &StepArgs) -> Result<Prepared> {
        let mut loaded = self.load()?;
        if let Some(dt) = self.dt {
            loaded.dt = dt;
        }
        step.apply(&mut loaded)?;
        let mut model = loaded.compile()?;
        model.warnings.extend(without_effect(&loaded.settings));
        Ok(Prepared { loaded, model, name: self.scene.clone() })
    }

    /// Refuses arguments that change a scene where `path` is a recording, which they cannot change.
    pub fn refuse_changes(&self, step: &StepArgs, path: &Path) -> Result<()> {
        let given = [
            ("--set", !self.overrides.is_empty()),
            ("--dt", self.dt.is_some()),
            ("--solver", step.solver.is_some()),
            ("--tol", step.tol.is_some()),
            ("--max-iter", step.max_iter.is_some()),
            ("--scheme", step.scheme.is_some()),
            ("--threads", step.threads.is_some()),
        ];
        match given.iter().find(|g| g.1) {
            Some((flag, _)) => Err(error(
                format!("{flag} changes a scene, and {} is a recording", path.display()),
                format!("leave {flag} out, or give the scene"),
            )),
            None => Ok(()),
        }
    }

    fn load(&self) -> Result<LoadedScene> {
        if let Some(entry) = gallery::find(&self.scene) {
            return Ok(entry.load(&self.overrides)?);
        }
        let path = Path::new(&self.scene);
        if path.exists() || path.extension().is_some() || path.components().count() > 1 {
            return Ok(scene::load(path, &self.overrides)?);
        }
        let e = gallery::unknown(&self.scene);
        Err(error(
            &e,
            format!("{}; run `stiction scenes` for the list, or give the path of a .toml file", e.remedy()),
        ))
    }
}

impl StepArgs {
    /// Replaces what the scene says by what the arguments say.
    fn apply(&self, loaded: &mut LoadedScene) -> Result<()> {
        let s = &mut loaded.settings;
        s.solver = self.solver.unwrap_or(s.solver);
        s.scheme = self.scheme.unwrap_or(s.scheme);
        s.solver_settings.tolerance = self.tol.or(s.solver_settings.tolerance);
        s.solver_settings.max_iterations = self.max_iter.or(s.solver_settings.max_iterations);
        if self.scheme == Some(Scheme::Midpoint) && has_own_scheme(s.solver) {
            return Err(error(
                format!(
                    "--scheme midpoint has no effect on the solver {}, which has its own",
                    s.solver.name()
                ),
                "leave --scheme out, or choose another --solver; `[penalty] bdf = 2` is of second order",
            ));
        }
        Ok(())
    }

    /// Starts the threads; returns how many there are.
    pub fn start_threads(&self) -> Result<usize> {
        if let Some(n) = self.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(n.into())
                .build_global()
                .map_err(|e| error(format!("--threads {n}: {e}"), "ask for fewer threads"))?;
        }
        Ok(rayon::current_num_threads())
    }
}

/// Whether a solver takes steps of its own, without the schemes and options of the others.
fn has_own_scheme(kind: SolverKind) -> bool {
    matches!(kind, SolverKind::Penalty | SolverKind::NonlinearNewton)
}

/// Options of a scene that its solver does not know.
fn without_effect(s: &SimSettings) -> Vec<String> {
    if !has_own_scheme(s.solver) {
        return Vec::new();
    }
    let options = [
        ("`scheme = \"midpoint\"`", s.scheme == Scheme::Midpoint),
        ("`linearizations`", s.linearizations > 1),
        ("`intersection_free`", s.intersection_free),
        ("`sleep`", s.sleep.is_some()),
    ];
    let given = options.iter().filter(|o| o.1);
    given.map(|(name, _)| format!("{name} has no effect on the solver {}", s.solver.name())).collect()
}

/// A solver by name.
pub fn solver() -> impl TypedValueParser<Value = SolverKind> {
    PossibleValuesParser::new(SolverKind::STEPPING.map(SolverKind::name)).map(|name| {
        SolverKind::STEPPING.into_iter().find(|k| k.name() == name).expect("only these names pass the parser")
    })
}

/// The law that the answers of a solver satisfy, as reports name it.
pub fn law(kind: SolverKind) -> &'static str {
    kind.method().obeys.name()
}

/// What the answers of a solver that does not solve Coulomb's law are.
pub fn other_law(kind: SolverKind) -> &'static str {
    match kind {
        SolverKind::Apgd => "the convex relaxation: sliding contacts are biased",
        SolverKind::Cond => "contacts that give way by their impulse over the gain of virtual nodes",
        SolverKind::Penalty => {
            "penalty forces: contacts overlap by force over stiffness, and sticking friction may creep"
        }
        _ => "Coulomb's law, but its contacts and its dynamics agree only as far as it converged",
    }
}

const SCHEMES: [Scheme; 2] = [Scheme::ImplicitEuler, Scheme::Midpoint];

fn scheme() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(SCHEMES.map(Scheme::name))
        .map(|name| SCHEMES.into_iter().find(|s| s.name() == name).expect("only these names pass the parser"))
}

/// A positive, finite number.
pub fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        Ok(_) => Err("it must be positive and finite".into()),
        Err(_) => Err("it is not a number".into()),
    }
}

/// A time step [s] within the bounds of scenes.
pub fn time_step(text: &str) -> std::result::Result<f64, String> {
    let dt = positive(text)?;
    if (SHORTEST_STEP..=LONGEST_STEP).contains(&dt) {
        return Ok(dt);
    }
    Err(format!("it must be from {SHORTEST_STEP:e} to {LONGEST_STEP} s"))
}

/// A positive time within the bounds of scenes [s].
pub fn time_span(text: &str) -> std::result::Result<f64, String> {
    let time = positive(text)?;
    if time <= LONGEST_RUN { Ok(time) } else { Err(format!("it must be at most {LONGEST_RUN:e} s")) }
}

/// A whole number, 0 or more.
pub fn count<T: std::str::FromStr>(text: &str) -> std::result::Result<T, String> {
    text.parse().map_err(|_| "it must be a whole number, 0 or more".into())
}

fn key_value(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("it must look like key=value, such as gravity=[0,0,-1.62]".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_must_be_positive_and_finite() {
        assert_eq!(positive("1e-3"), Ok(1e-3));
        for bad in ["0", "-1", "nan", "inf", "x"] {
            assert!(positive(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn laws_are_named_for_what_they_are() {
        for kind in SolverKind::STEPPING {
            assert_eq!(law(kind) == "coulomb", kind.solves_coulomb(), "{}", kind.name());
        }
    }

    #[test]
    fn overrides_need_a_key() {
        assert_eq!(key_value("a.b = 1"), Ok(("a.b".into(), "1".into())));
        assert!(key_value("=1").is_err() && key_value("a").is_err());
    }
}
