//! NSN-stickslip: the threshold of sliding, its acceleration, and the same stopping distance in all directions.

use crate::runs::{GRAVITY, on_floor, simulate, take_steps};
use crate::{Context, Experiment, Row};
use std::f64::consts::TAU;
use stiction::scene::{Ease, Keyframe, Motion, SpringEnd, SpringSpec};
use stiction::sim::BodyView;
use stiction::{Body, Geometry, Pose, Scheme, SimSettings, Simulation, SolverKind, Vec3};
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-stickslip",
    title: "exact Coulomb stick and slip, isotropy",
    claim: "Non-smooth Newton (Macklin et al. 2019), Fig. 5: stick and slip without bias by direction",
    run,
};

/// Both forms of the paper's method, and ours.
const SOLVERS: [SolverKind; 3] =
    [SolverKind::Exact, SolverKind::NonsmoothNewton, SolverKind::NonlinearNewton];
const MU: f64 = 0.5;
/// Directions of the launch.
const DIRECTIONS: usize = 36;
/// Launch speed [m/s].
const SPEED: f64 = 1.0;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut excess = [0.0; SOLVERS.len()];
    for (kind, excess) in SOLVERS.into_iter().zip(&mut excess) {
        inclines(ctx, &mut rows, kind, excess)?;
    }
    pulled(ctx, &mut rows, &mut excess)?;
    launches(ctx, &mut rows, &mut excess)?;
    for (kind, excess) in SOLVERS.into_iter().zip(excess) {
        let name = kind.name();
        rows.push(
            Row::new(
                format!("cone/{name}/excess"),
                format!("(d) {name}: friction over μ λ_n − 1, worst"),
                excess,
                "",
            )
            .against("0 (Coulomb's cone)")
            .at_most(1e-3),
        );
    }
    Ok(rows)
}

/// Something of a body of the experiment.
fn read<T>(sim: &Simulation, body: &str, what: impl Fn(BodyView<'_>) -> T) -> T {
    what(sim.body(body).expect("a body of the experiment"))
}

/// (a) A block below and above the friction angle.
fn inclines(ctx: &mut Context, rows: &mut Vec<Row>, kind: SolverKind, excess: &mut f64) -> Result<()> {
    let block =
        || Body::new("block", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(0.5);
    let dt = 0.01;
    let limit = MU.atan();
    let name = kind.name();

    let mut sim = simulate(&on_floor(limit - 1f64.to_radians(), MU, [block()]), kind)?;
    let steps = ctx.pick(200, 1000);
    let time = steps as f64 * dt;
    take_steps(&mut sim, steps, dt, |s| *excess = excess.max(cone_excess(s)))?;
    let drift = read(&sim, "block", |b| b.position()).x.abs();
    rows.push(
        Row::new(
            format!("incline/{name}/drift"),
            format!("(a) {name}: drift in {time} s at atan μ − 1°"),
            drift,
            "m",
        )
        .against("0 (sticks)")
        .at_most(1e-4),
    );

    let angle = limit + 1f64.to_radians();
    let mut sim = simulate(&on_floor(angle, MU, [block()]), kind)?;
    let steps = 200;
    take_steps(&mut sim, steps, dt, |s| *excess = excess.max(cone_excess(s)))?;
    let closed = GRAVITY * (angle.sin() - MU * angle.cos());
    let ours = read(&sim, "block", |b| b.velocity()).x / (steps as f64 * dt);
    let error = (ours / closed - 1.0).abs();
    rows.push(
        Row::new(
            format!("incline/{name}/acceleration"),
            format!("(a) {name}: acceleration at atan μ + 1°"),
            ours,
            "m/s²",
        )
        .against(format!("{closed:.6} = g (sin − μ cos)"))
        .accept("within 1 %", error <= 0.01),
    );
    Ok(())
}

/// The pulled block [kg] and its spring [N/m].
const MASS: f64 = 1.0;
const STIFFNESS: f64 = 200.0;

/// Where a hand is at given times: straight in between.
struct Hand(Vec<(f64, f64)>);

impl Hand {
    /// Pulls at this speed [m/s] for so long [s].
    fn steady(speed: f64, time: f64) -> Hand {
        Hand(vec![(0.0, 0.0), (time, speed * time)])
    }

    /// Slows down to rest within `time`, in stages.
    fn slowing(speed: f64, time: f64, stages: usize) -> Hand {
        let (mut x, stage) = (0.0, time / stages as f64);
        let ends = (1..=stages).map(|k| {
            x += speed * stage * (stages + 1 - k) as f64 / stages as f64;
            (stage * k as f64, x)
        });
        Hand([(0.0, 0.0)].into_iter().chain(ends).collect())
    }

    fn time(&self) -> f64 {
        self.0.last().map_or(0.0, |k| k.0)
    }

    fn at(&self, t: f64) -> f64 {
        let i = self.0.partition_point(|k| k.0 < t).clamp(1, self.0.len() - 1);
        let ((ta, a), (tb, b)) = (self.0[i - 1], self.0[i]);
        a + (b - a) * ((t - ta) / (tb - ta)).min(1.0)
    }

    fn body(&self) -> Body {
        let at = |&(time, x)| Keyframe { time, pose: Pose::from_translation(Vec3::new(1.0 + x, 0.0, 0.1)) };
        let mut hand = Body::new("hand", Geometry::Sphere { radius: 0.01 }).at(1.0, 0.0, 0.1);
        hand.motion = Motion::Keyframes { keys: self.0.iter().map(at).collect(), ease: Ease::Linear };
        hand
    }
}

/// What a pulled block did.
#[derive(Default)]
struct Pulled {
    /// Time and force of the spring.
    curve: Vec<(f64, f64)>,
    /// Force of the spring whenever the block began to move [N].
    slips: Vec<f64>,
    /// Times that it stopped again.
    sticks: usize,
    moves: bool,
}

impl Pulled {
    fn look(&mut self, t: f64, v: f64, force: f64) {
        self.curve.push((t, force));
        let moves = v > 1e-3 * PULL;
        if moves && !self.moves {
            self.slips.push(force);
        }
        self.sticks += usize::from(self.moves && !moves);
        self.moves = moves;
    }

    /// The largest deviation of the slips from μ m g, relative; not a number where it never slipped.
    fn error(&self) -> f64 {
        let limit = MU * MASS * GRAVITY;
        self.slips.iter().map(|f| (f / limit - 1.0).abs()).reduce(f64::max).unwrap_or(f64::NAN)
    }

    /// By the equation of motion in one dimension, in steps of 10 µs.
    fn by_ode(hand: &Hand) -> Pulled {
        let (dt, limit) = (1e-5, MU * MASS * GRAVITY);
        let (mut x, mut v, mut done) = (0.0, 0.0_f64, Pulled::default());
        for k in 0..(hand.time() / dt).round() as usize {
            let t = k as f64 * dt;
            let force = STIFFNESS * (hand.at(t) - x);
            done.look(t, v, force);
            // The hand never pulls back so hard that the block would move towards the other side.
            v = (v + dt * (force - limit) / MASS).max(0.0);
            x += dt * v;
        }
        done
    }

    fn simulated(hand: &Hand, kind: SolverKind, scheme: Scheme, dt: f64, excess: &mut f64) -> Result<Pulled> {
        let block =
            Body::new("block", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(MASS);
        let mut scene = on_floor(0.0, MU, [block, hand.body()]);
        let ends = [SpringEnd::on("block", Vec3::ZERO), SpringEnd::on("hand", Vec3::ZERO)];
        scene.springs.push(SpringSpec::new("spring", ends, STIFFNESS));
        let model =
            scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
        let settings = SimSettings { scheme, solver: kind, ..SimSettings::default() };
        let mut sim = Simulation::new(model, settings);
        let mut done = Pulled::default();
        take_steps(&mut sim, (hand.time() / dt).round() as usize, dt, |s| {
            *excess = excess.max(cone_excess(s));
            let t = s.state().t;
            let (x, v) = read(s, "block", |b| (b.position().x, b.velocity().x));
            done.look(t, v, STIFFNESS * (hand.at(t) - x));
        })?;
        Ok(done)
    }
}

/// Speed of the hand at first [m/s].
const PULL: f64 = 0.05;

/// (b) A spring pulls a block: it sticks until the spring reaches μ m g, slips past it, and sticks again. With one coefficient
/// for stick and slip a steady hand leaves it at v (1 − cos ω t): it stops for an instant once a swing, which only a scheme that
/// keeps the energy meets. Where the hand slows down, the swing is larger than the hand is fast, and the block sticks for good.
fn pulled(ctx: &mut Context, rows: &mut Vec<Row>, excess: &mut [f64; SOLVERS.len()]) -> Result<()> {
    let dt = 1e-3;
    let limit = MU * MASS * GRAVITY;
    for (what, name, hand, schemes) in [
        ("hand slows down", "slowing", Hand::slowing(PULL, 4.0, 16), [Scheme::ImplicitEuler; SOLVERS.len()]),
        (
            "steady hand",
            "steady",
            Hand::steady(PULL, 2.0),
            [Scheme::Midpoint, Scheme::Midpoint, Scheme::ImplicitEuler],
        ),
    ] {
        let ode = Pulled::by_ode(&hand);
        let mut plot = Plot::new(&format!("A spring pulls a block: {what}"), "t [s]", "spring force [N]");
        let mut table = Vec::new();
        let slows = name == "slowing";
        for ((kind, scheme), excess) in SOLVERS.into_iter().zip(schemes).zip(excess.iter_mut()) {
            let done = Pulled::simulated(&hand, kind, scheme, dt, excess)?;
            let case = format!("(b) {what}, {}", kind.name());
            let id = format!("{name}/{}", kind.name());
            let first = done.slips.first().copied().unwrap_or(f64::NAN);
            rows.push(
                Row::new(
                    format!("{id}/first-slip"),
                    format!("{case}: spring force when it slips first"),
                    first,
                    "N",
                )
                .against(format!("{limit:.4} N = μ m g"))
                .accept("within 1 %", (first / limit - 1.0).abs() <= 0.01),
            );
            rows.push(
                Row::new(
                    format!("{id}/worst-slip"),
                    format!("{case}: worst force of {} slips", done.slips.len()),
                    done.error(),
                    "of μ m g",
                )
                .against("0")
                .at_most(0.01),
            );
            let again = Row::new(
                format!("{id}/sticks-again"),
                format!("{case}: times it sticks again in {} s", hand.time()),
                done.sticks as f64,
                "",
            )
            .against(format!("{} (by its ODE)", ode.sticks));
            rows.push(if slows || scheme == Scheme::Midpoint {
                again.at_least(2.0)
            } else {
                again.because("it steps by implicit Euler alone, which damps the swing by π ω h a turn: the block slows down and does not stop")
            });
            table.extend(
                done.curve.iter().map(|&(t, f)| vec![kind.name().into(), csv_number(t), csv_number(f)]),
            );
            plot.add(kind.name(), Mark::Line, done.curve);
        }
        // Every millisecond of it.
        let ode: Vec<(f64, f64)> = ode.curve.into_iter().step_by(100).collect();
        table.extend(ode.iter().map(|&(t, f)| vec!["ode".into(), csv_number(t), csv_number(f)]));
        plot.add("ODE", Mark::Dashes, ode);
        ctx.csv(name, &["solver", "t_s", "spring_force_n"], &table)?;
        ctx.plot(name, &plot)?;
    }
    Ok(())
}

/// (c) A disc launched in 36 directions.
fn launches(ctx: &mut Context, rows: &mut Vec<Row>, excess: &mut [f64; SOLVERS.len()]) -> Result<()> {
    let dt = ctx.pick(2e-3, 1e-3);
    let disc = Geometry::Cylinder { half_height: 0.05, radius: 0.2 };
    let closed = SPEED * SPEED / (2.0 * MU * GRAVITY);
    let angles: Vec<f64> = (0..DIRECTIONS).map(|k| TAU * k as f64 / DIRECTIONS as f64).collect();
    let mut plot = Plot::new("Stopping distance by direction", "direction [°]", "distance [m]");
    let mut columns = vec![angles.iter().map(|a| (a.to_degrees(), a.to_degrees())).collect()];
    for (kind, excess) in SOLVERS.into_iter().zip(excess) {
        let mut ours = Vec::new();
        for &angle in &angles {
            let mut body = Body::new("disc", disc.clone()).at(0.0, 0.0, 0.05).with_mass(1.0);
            body.velocity = SPEED * Vec3::new(angle.cos(), angle.sin(), 0.0);
            let mut sim = simulate(&on_floor(0.0, MU, [body]), kind)?;
            // Twice the time that it needs to stop.
            let steps = (2.0 * SPEED / (MU * GRAVITY * dt)) as usize;
            take_steps(&mut sim, steps, dt, |s| *excess = excess.max(cone_excess(s)))?;
            let x = read(&sim, "disc", |b| b.position());
            ours.push((angle.to_degrees(), x.x.hypot(x.y)));
        }
        let (mean, spread) = mean_and_spread(&ours);
        let name = kind.name();
        rows.push(
            Row::new(
                format!("disc/{name}/spread"),
                format!("(c) {name}: spread of the stopping distance"),
                spread,
                "of the mean",
            )
            .against("0 (isotropic)")
            .at_most(5e-3),
        );
        rows.push(
            Row::new(
                format!("disc/{name}/distance"),
                format!("(c) {name}: mean stopping distance"),
                mean,
                "m",
            )
            .against(format!("{closed:.6} m = v²/(2 μ g)"))
            .accept("within 1 %", (mean / closed - 1.0).abs() <= 0.01),
        );
        plot.add(kind.name(), Mark::Dots, ours.clone());
        columns.push(ours);
    }
    let pyramid: Vec<(f64, f64)> = angles.iter().map(|&a| (a.to_degrees(), pyramid_distance(a))).collect();
    rows.push(
        Row::new(
            "disc/pyramid/spread",
            "(c) the same with an 8-sided pyramid, by its ODE",
            mean_and_spread(&pyramid).1,
            "of the mean",
        )
        .against("> 3 % bias")
        .at_least(0.03),
    );
    plot.add("8-sided pyramid", Mark::Line, pyramid.clone());
    plot.add("v²/(2 μ g)", Mark::Dashes, angles.iter().map(|a| (a.to_degrees(), closed)).collect());
    columns.push(pyramid);
    let table: Vec<Vec<String>> =
        (0..DIRECTIONS).map(|k| columns.iter().map(|c| csv_number(c[k].1)).collect()).collect();
    let header = ["angle_deg", "exact_m", "nsn_m", "nsn_nonlinear_m", "pyramid_m"];
    ctx.csv("directions", &header, &table)?;
    ctx.plot("directions", &plot)
}

/// |λ_t|/(μ λ_n) − 1 of the worst contact that carries load; all are with the floor, whose normal is z.
fn cone_excess(sim: &Simulation) -> f64 {
    let forces: Vec<Vec3> = sim.contacts().map(|(_, f)| f).collect();
    let largest = forces.iter().map(|f| f.z.abs()).fold(0.0, f64::max);
    let loaded = forces.iter().filter(|f| f.z.abs() > 1e-6 * largest);
    loaded.map(|f| f.x.hypot(f.y) / (MU * f.z.abs()) - 1.0).fold(0.0, f64::max)
}

/// Mean, and (max − min)/mean.
fn mean_and_spread(points: &[(f64, f64)]) -> (f64, f64) {
    let (mut least, mut most, mut sum) = (f64::INFINITY, 0.0f64, 0.0);
    for &(_, d) in points {
        least = least.min(d);
        most = most.max(d);
        sum += d;
    }
    let mean = sum / points.len() as f64;
    (mean, (most - least) / mean)
}

/// Distance at which friction inside an octagonal pyramid (corners on the cone) stops the disc: the corner of
/// maximal dissipation acts, by small explicit steps.
fn pyramid_distance(angle: f64) -> f64 {
    let (dt, mut v, mut x) = (1e-5, [SPEED * angle.cos(), SPEED * angle.sin()], [0.0, 0.0]);
    let corners: Vec<[f64; 2]> = (0..8).map(|k| TAU * k as f64 / 8.0).map(|a| [a.cos(), a.sin()]).collect();
    let dot = |a: &[f64; 2], b: &[f64; 2]| a[0] * b[0] + a[1] * b[1];
    while dot(&v, &v).sqrt() > MU * GRAVITY * dt {
        let d =
            corners.iter().max_by(|a, b| dot(a, &v).total_cmp(&dot(b, &v))).expect("there are eight corners");
        for k in 0..2 {
            v[k] -= MU * GRAVITY * dt * d[k];
            x[k] += v[k] * dt;
        }
    }
    dot(&x, &x).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pyramid_is_exact_at_its_corners_and_biased_between() {
        let round = SPEED * SPEED / (2.0 * MU * GRAVITY);
        assert!((pyramid_distance(0.0) / round - 1.0).abs() < 1e-3);
        let between = pyramid_distance(TAU / 16.0) / round;
        assert!((between * (TAU / 16.0).cos() - 1.0).abs() < 1e-3, "cos 22.5° less friction: {between}");
    }
}
