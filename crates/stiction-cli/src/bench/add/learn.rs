//! ADD-F12: a network that learns, through the simulator alone, how to throw a ball to a target with one bounce.

use crate::bench::{Context, Experiment, Row};
use crate::failure::{Result, error};
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use stiction::contact::samples::Rng;
use stiction::coords::BodyId;
use stiction::diff::optimize::AdamSettings;
use stiction::diff::{Motion, Network, Param, ParamSet, PointTarget, Tape};
use stiction::scene::Owner;
use stiction::solvers::penalty::{Bdf, ContactDamping, Settings, System};
use stiction::{Body, Geometry, Scene, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-F12",
    title: "self-supervised throws: a network trained through the simulator",
    claim: "ADD, Fig. 12–13: 1000 targets, Adam (0.95, 0.999), batches of 5, rate 1e-2 halved per epoch; hits after one bounce",
    run,
};

const BALL: Owner = Owner::Body(BodyId(1));
/// ω h = 0.42 for the ball on its contact: at 1/60 s the rebound would depend on where in a step the ball lands.
const STEPS: usize = 168;
const DT: f64 = 1.0 / 240.0;
const BATCH: usize = 5;
/// Targets: x in [1, 2], y in [−0.5, 0.5], at this height after 0.7 s.
const HEIGHT: f64 = 0.5;

struct Thrower {
    system: System,
    params: ParamSet,
}

impl Thrower {
    fn new(friction: f64) -> Result<Thrower> {
        let defect = |e: &dyn std::fmt::Display| error(e, "this is a defect");
        let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(friction));
        let ball = Body::new("ball", Geometry::Sphere { radius: 0.05 }).at(0.0, 0.0, 0.6).with_mass(0.1);
        scene.bodies.push(ball.with_friction(friction));
        let damping = ContactDamping::HuntCrossley(0.05);
        let settings = Settings { scheme: Bdf::Two, stiffness: 1e3, damping, ..Settings::default() };
        let system =
            System::new(scene.compile().map_err(|e| defect(&e))?, settings, DT).map_err(|e| defect(&e))?;
        let params = ParamSet::new(&system, (0..3).map(|k| Param::Velocity(BALL, k)).collect())
            .map_err(|e| defect(&e))?;
        Ok(Thrower { system, params })
    }

    /// Where the ball is after a throw, and derivatives of ½ |miss|² by its velocity.
    fn throw(&mut self, velocity: &[f64], target: Vec3) -> Option<(Vec3, Vec<f64>)> {
        self.params.apply(&mut self.system, velocity).ok()?;
        let objective = PointTarget { owner: BALL, step: STEPS, target, weight: Vec3::ONE };
        let mut motion = Motion::run(&mut self.system, &mut self.params, STEPS, Tape::Full).ok()?;
        let end = Vec3::from_slice(&motion.state(STEPS).ok()?.q);
        Some((end, motion.gradient(&objective).ok()?.gradient))
    }
}

/// A throw from inputs of the network (targets in [−1, 1]²) and its outputs: changes of a throw that bounces once.
fn velocity(out: &[f64]) -> [f64; 3] {
    [2.3 + out[0], out[1], -2.2 + out[2]]
}

fn target(u: [f64; 2]) -> Vec3 {
    Vec3::new(1.5 + 0.5 * u[0], 0.5 * u[1], HEIGHT)
}

/// Mean and largest miss over targets [m], and the mean vector of all misses.
fn test(net: &Network, thrower: &mut Thrower, targets: &[[f64; 2]]) -> (f64, f64, Vec3) {
    let misses: Vec<Vec3> = targets
        .iter()
        .filter_map(|u| Some(thrower.throw(&velocity(&net.forward(u)), target(*u))?.0 - target(*u)))
        .collect();
    let n = misses.len().max(1) as f64;
    let mean = misses.iter().map(|m| m.length()).sum::<f64>() / n;
    (mean, misses.iter().map(|m| m.length()).fold(0.0, f64::max), misses.iter().sum::<Vec3>() / n)
}

fn train(ctx: &Context, friction: f64, table: &mut Vec<Vec<String>>) -> Result<(Network, f64, f64)> {
    let mut thrower = Thrower::new(friction)?;
    let mut rng = Rng::new(5);
    let mut random = || [2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0];
    let (count, epochs) = ctx.pick((400, 5), (1000, 5));
    let targets: Vec<[f64; 2]> = (0..count).map(|_| random()).collect();
    let mut net = Network::new(&[2, 32, 32, 3], 2);
    let settings = AdamSettings::default();
    let mut rate = 1e-2;
    let (mut first, mut last) = (0.0, 0.0);
    for epoch in 0..epochs {
        let mut sum = 0.0;
        for (b, batch) in targets.chunks(BATCH).enumerate() {
            let mut gradient = vec![0.0; net.weights.len()];
            let mut loss = 0.0;
            for u in batch {
                let out = net.forward(u);
                let Some((end, by_velocity)) = thrower.throw(&velocity(&out), target(*u)) else { continue };
                loss += 0.5 * (end - target(*u)).length_squared() / batch.len() as f64;
                let by_output: Vec<f64> = by_velocity.iter().map(|g| g / batch.len() as f64).collect();
                net.backward(u, &by_output, &mut gradient);
            }
            if epoch == 0 && b == 0 {
                first = loss;
            }
            net.learn(&settings, rate, &gradient);
            sum += loss;
            let place = epoch as f64 + b as f64 * BATCH as f64 / count as f64;
            table.push(vec![csv_number(friction), csv_number(place), csv_number(loss)]);
        }
        last = sum / (count / BATCH) as f64;
        ctx.note(&format!("friction {friction}, epoch {}: loss {last:.2e}", epoch + 1));
        rate *= 0.5;
    }
    Ok((net, first, last))
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut table = Vec::new();
    let mut rng = Rng::new(77);
    let targets: Vec<[f64; 2]> =
        (0..100).map(|_| [2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0]).collect();
    let (net, first, last) = train(ctx, 0.4, &mut table)?;
    let (mean, worst, bias) = test(&net, &mut Thrower::new(0.4)?, &targets);
    let (slick, ..) = train(ctx, 0.0, &mut table)?;
    let (_, _, slick_bias) = test(&slick, &mut Thrower::new(0.4)?, &targets);
    let mut plot = Plot::new("Training", "epochs", "loss [m²]");
    plot.y_scale = Scale::Log;
    for friction in ["0.4", "0"] {
        let points = table.iter().filter(|r| r[0] == friction);
        let points = points.filter_map(|r| Some((r[1].parse().ok()?, r[2].parse().ok()?))).collect();
        plot.add(&format!("friction {friction}"), Mark::Line, points);
    }
    ctx.plot("loss", &plot)?;
    ctx.csv("loss", &["friction", "epoch", "loss"], &table)?;
    Ok(vec![
        Row::new("mean miss of 100 test targets", 100.0 * mean, "% of the region (1 m)")
            .against("lands in the cup")
            .at_most(5.0),
        Row::new("largest miss", 100.0 * worst, "% of the region"),
        Row::new("loss of the first batch over that of the last epoch", first / last, "×").at_least(50.0),
        Row::new(
            "bias of a controller trained without friction, over that of ours",
            slick_bias.length() / bias.length().max(1e-9),
            "×",
        )
        .against("misses systematically")
        .at_least(5.0),
    ])
}
