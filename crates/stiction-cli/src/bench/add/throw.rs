//! ADD-F10a: a soft ball thrown to a point with no, one or two bounces; L-BFGS against CMA-ES.

use crate::bench::{Context, Experiment, Row};
use crate::failure::{Result, error};
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use stiction::coords::SoftId;
use stiction::diff::optimize::{Bounds, CmaSettings, LbfgsSettings, cma_es, lbfgs};
use stiction::diff::{Motion, Param, ParamSet, PointTarget, Tape};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Owner, SoftBody};
use stiction::solvers::penalty::{Bdf, Settings, System};
use stiction::{Body, Geometry, Scene, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-F10a",
    title: "throwing a soft ball to a point after 0, 1 and 2 bounces",
    claim: "ADD, Fig. 10a: L-BFGS reaches Φ/Φ₀ < 1e-25 in 4, 24 and 28 runs; CMA-ES needs 1042 for 1e-6",
    run,
};

const BALL: Owner = Owner::Solid(SoftId(0));
const DT: f64 = 1.0 / 60.0;
const STEPS: usize = 60;
const TARGET: Vec3 = Vec3::new(1.5, 0.0, 0.25);

fn system(cells: usize) -> Result<System> {
    let defect = |e: &dyn std::fmt::Display| error(e, "this is a defect");
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(0.4));
    let material =
        Material { law: Law::NeoHookean { threshold: 0.1 }, young: 2e4, poisson: 0.3, density: 150.0 };
    let mut ball = SoftBody::new("ball", shapes::sphere(0.05, cells), material);
    ball.damping = Damping { viscosity: 0.0125, ..Damping::default() };
    ball.friction = 0.4;
    ball.pose.translation = Vec3::new(0.0, 0.0, 0.5);
    ball.spin = Vec3::new(0.0, 5.0, 0.0);
    scene.solids.push(ball);
    let settings = Settings { scheme: Bdf::Two, stiffness: 1e3, ..Settings::default() };
    System::new(scene.compile().map_err(|e| defect(&e))?, settings, DT).map_err(|e| defect(&e))
}

/// Velocity and spin at the start.
fn throw() -> Vec<Param> {
    let axes = 0..3;
    axes.clone().map(|k| Param::Velocity(BALL, k)).chain(axes.map(|k| Param::Spin(BALL, k))).collect()
}

/// Times that the ball leaves the floor again.
fn bounces(system: &mut System, set: &mut ParamSet) -> Result<usize> {
    let motion = Motion::run(system, set, STEPS, Tape::Full).map_err(|e| error(e, "this is a defect"))?;
    let touching: Vec<bool> = motion.newton.iter().map(|n| n.contacts > 0).collect();
    Ok(touching.windows(2).filter(|w| w[0] && !w[1]).count())
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    // 160 and 540 tets; the paper has 451.
    let cells = ctx.pick(2, 3);
    let mut rows = Vec::new();
    let mut plot = Plot::new("Objective over runs", "runs", "Φ/Φ₀");
    plot.y_scale = Scale::Log;
    let mut table = Vec::new();
    let objective = PointTarget { owner: BALL, step: STEPS, target: TARGET, weight: Vec3::ONE };
    let mut two = None;
    for (wanted, start, paper) in [(0, [1.5, 4.8], 4), (1, [1.6, 1.6], 24), (2, [1.6, -1.0], 28)] {
        let mut s = system(cells)?;
        let mut set = ParamSet::new(&s, throw()).map_err(|e| error(e, "this is a defect"))?;
        let mut first = None;
        let settings = LbfgsSettings { evaluations: 60, ..LbfgsSettings::default() };
        let evaluate = |x: &[f64]| {
            let gradient = set.apply(&mut s, x).ok().and_then(|()| {
                Motion::run(&mut s, &mut set, STEPS, Tape::Full).ok()?.gradient(&objective).ok()
            });
            match gradient {
                Some(g) => {
                    let scale = *first.get_or_insert(g.value);
                    (g.value / scale, g.gradient.iter().map(|d| d / scale).collect())
                }
                None => (f64::NAN, vec![f64::NAN; 6]),
            }
        };
        let start = [start[0], 0.0, start[1], 0.0, 5.0, 0.0];
        let m = lbfgs(&start, &Bounds::none(6), &LbfgsSettings { goal: 1e-25, ..settings }, evaluate);
        ctx.note(&format!("{wanted} bounces: {:.1e} after {} runs, {:?}", m.value, m.evaluations, m.end));
        set.apply(&mut s, &m.x).map_err(|e| error(e, "this is a defect"))?;
        let found = bounces(&mut s, &mut set)?;
        rows.push(
            Row::new(format!("{wanted} bounces: Φ/Φ₀ by L-BFGS"), m.value, "")
                .against("< 1e-25")
                .at_most(1e-12),
        );
        let enough = m.history.iter().position(|v| *v <= 1e-12).map_or(m.evaluations, |k| k + 1);
        rows.push(
            Row::new(format!("{wanted} bounces: runs to 1e-12"), enough as f64, "")
                .against(format!("{paper} to 1e-25"))
                .at_most(60.0),
        );
        rows.push(
            Row::new(format!("started for {wanted}: bounces found"), found as f64, "")
                .against(wanted.to_string())
                .because(format!("v = ({:.3}, ·, {:.3}) m/s", m.x[0], m.x[2])),
        );
        for (k, v) in m.history.iter().enumerate() {
            table.push(vec!["L-BFGS".into(), wanted.to_string(), (k + 1).to_string(), csv_number(*v)]);
        }
        plot.add(&format!("L-BFGS, {wanted} bounces"), Mark::Line, curve(&m.history));
        if wanted == 1 {
            two = Some((start, enough, first.unwrap_or(1.0)));
        }
    }
    if let Some((start, runs, scale)) = two {
        let mut s = system(cells)?;
        let mut set = ParamSet::new(&s, throw()).map_err(|e| error(e, "this is a defect"))?;
        // As many as tell ten times the runs of L-BFGS.
        let evaluations = ctx.pick(11, 15) * runs;
        let evaluate = |x: &[f64]| {
            let value = set
                .apply(&mut s, x)
                .ok()
                .and_then(|()| Motion::run(&mut s, &mut set, STEPS, Tape::Full).ok()?.value(&objective).ok());
            value.map_or(f64::NAN, |v| v / scale)
        };
        let settings = CmaSettings { evaluations, goal: 1e-6, seed: 3 };
        let m = cma_es(&start, &[0.3, 0.3, 0.3, 2.0, 2.0, 2.0], &Bounds::none(6), &settings, evaluate);
        let row = Row::new(
            "one bounce: runs of CMA-ES to 1e-6, over those of L-BFGS to 1e-12",
            m.evaluations as f64 / runs as f64,
            "×",
        );
        rows.push(
            row.against("1042/28 = 37 ×")
                .at_least(10.0)
                .because(format!("CMA-ES reached {:.1e} in {} runs", m.value, m.evaluations)),
        );
        for (k, v) in m.history.iter().enumerate() {
            table.push(vec!["CMA-ES".into(), "1".into(), (k + 1).to_string(), csv_number(*v)]);
        }
        plot.add("CMA-ES, one bounce", Mark::Line, curve(&m.history));
    }
    ctx.plot("convergence", &plot)?;
    ctx.csv("convergence", &["method", "bounces", "run", "objective"], &table)?;
    Ok(rows)
}

fn curve(history: &[f64]) -> Vec<(f64, f64)> {
    history.iter().enumerate().map(|(k, v)| ((k + 1) as f64, v.max(1e-30))).collect()
}
