//! NSN-stickslip: the threshold of sliding, its acceleration, and the same stopping distance in all directions.

use crate::bench::runs::{GRAVITY, on_floor, simulate, take_steps};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot};
use std::f64::consts::TAU;
use stiction::contact::cone::tangent_norm;
use stiction::scene::{Motion, SpringEnd, SpringSpec};
use stiction::{Body, Geometry, Simulation, SolverKind, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-stickslip",
    title: "exact Coulomb stick and slip, isotropy",
    claim: "Non-smooth Newton (Macklin et al. 2019), Fig. 5: stick and slip without bias by direction",
    run,
};

const MU: f64 = 0.5;
/// Directions of the launch.
const DIRECTIONS: usize = 36;
/// Launch speed [m/s].
const SPEED: f64 = 1.0;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut excess: f64 = 0.0;
    inclines(ctx, &mut rows, &mut excess)?;
    pulled(ctx, &mut rows, &mut excess)?;
    launches(ctx, &mut rows, &mut excess)?;
    rows.push(
        Row::new("(d) friction over μ λ_n − 1, worst", excess, "")
            .against("0 (Coulomb's cone)")
            .at_most(1e-3),
    );
    Ok(rows)
}

/// (a) A block below and above the friction angle.
fn inclines(ctx: &mut Context, rows: &mut Vec<Row>, excess: &mut f64) -> Result<()> {
    let block =
        || Body::new("block", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(0.5);
    let dt = 0.01;
    let limit = MU.atan();

    let mut sim = simulate(&on_floor(limit - 1f64.to_radians(), MU, [block()]), SolverKind::Exact)?;
    let steps = ctx.pick(200, 1000);
    let time = steps as f64 * dt;
    take_steps(&mut sim, steps, dt, |s| *excess = excess.max(cone_excess(s)))?;
    let drift = sim.state().q[0].abs();
    rows.push(
        Row::new(format!("(a) drift in {time} s at atan μ − 1°"), drift, "m")
            .against("0 (sticks)")
            .at_most(1e-4),
    );

    let angle = limit + 1f64.to_radians();
    let mut sim = simulate(&on_floor(angle, MU, [block()]), SolverKind::Exact)?;
    let steps = 200;
    take_steps(&mut sim, steps, dt, |s| *excess = excess.max(cone_excess(s)))?;
    let closed = GRAVITY * (angle.sin() - MU * angle.cos());
    let ours = sim.state().v[0] / (steps as f64 * dt);
    let error = (ours / closed - 1.0).abs();
    rows.push(
        Row::new("(a) acceleration at atan μ + 1°", ours, "m/s²")
            .against(format!("{closed:.6} = g (sin − μ cos)"))
            .accept("within 1 %", error <= 0.01),
    );
    Ok(())
}

/// (b) A spring pulls a block: it sticks until the spring reaches μ m g, slips past it, and sticks again.
fn pulled(ctx: &mut Context, rows: &mut Vec<Row>, excess: &mut f64) -> Result<()> {
    let (mass, stiffness, speed, dt) = (1.0, 200.0, 0.05, ctx.pick(2e-3, 1e-3));
    for kind in [SolverKind::Exact, SolverKind::NonsmoothNewton] {
        let block =
            Body::new("block", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(mass);
        let mut hand = Body::new("hand", Geometry::Sphere { radius: 0.01 }).at(1.0, 0.0, 0.1);
        hand.motion = Motion::Constant { velocity: speed * Vec3::X, spin: Vec3::ZERO };
        let mut scene = on_floor(0.0, MU, [block, hand]);
        let ends = [SpringEnd::on("block", Vec3::ZERO), SpringEnd::on("hand", Vec3::ZERO)];
        scene.springs.push(SpringSpec::new("spring", ends, stiffness));
        let mut sim = simulate(&scene, kind)?;
        let (mut curve, mut slip, mut sticks, mut was) = (Vec::new(), None, 0, false);
        take_steps(&mut sim, (2.0 / dt) as usize, dt, |s| {
            *excess = excess.max(cone_excess(s));
            let (x, v) = (s.state().q[0], s.state().v[0]);
            let force = stiffness * (speed * s.state().t - x);
            curve.push((s.state().t, force));
            let moves = v > 1e-3 * speed;
            if moves && slip.is_none() {
                slip = Some(force);
            }
            sticks += usize::from(was && !moves);
            was = moves;
        })?;
        let closed = MU * mass * GRAVITY;
        let force = slip.unwrap_or(f64::NAN);
        rows.push(
            Row::new(format!("(b) {}: spring force when it slips", kind.name()), force, "N")
                .against(format!("{closed:.4} N = μ m g"))
                .accept("within 1 %", (force / closed - 1.0).abs() <= 0.01),
        );
        rows.push(Row::new(format!("(b) {}: times it stops again in 2 s", kind.name()), sticks as f64, ""));
        if kind == SolverKind::Exact {
            let mut plot = Plot::new("A spring pulls a block", "t [s]", "spring force [N]");
            plot.add("spring", Mark::Line, curve);
            ctx.plot("spring", &plot)?;
        }
    }
    Ok(())
}

/// (c) A disc launched in 36 directions.
fn launches(ctx: &mut Context, rows: &mut Vec<Row>, excess: &mut f64) -> Result<()> {
    let dt = ctx.pick(2e-3, 1e-3);
    let disc = Geometry::Cylinder { half_height: 0.05, radius: 0.2 };
    let (mut ours, mut pyramid) = (Vec::new(), Vec::new());
    for k in 0..DIRECTIONS {
        let angle = TAU * k as f64 / DIRECTIONS as f64;
        let mut body = Body::new("disc", disc.clone()).at(0.0, 0.0, 0.05).with_mass(1.0);
        body.velocity = SPEED * Vec3::new(angle.cos(), angle.sin(), 0.0);
        let mut sim = simulate(&on_floor(0.0, MU, [body]), SolverKind::Exact)?;
        // Twice the time that it needs to stop.
        let steps = (2.0 * SPEED / (MU * GRAVITY * dt)) as usize;
        take_steps(&mut sim, steps, dt, |s| *excess = excess.max(cone_excess(s)))?;
        let q = &sim.state().q;
        ours.push((angle.to_degrees(), q[0].hypot(q[1])));
        pyramid.push((angle.to_degrees(), pyramid_distance(angle)));
    }
    let closed = SPEED * SPEED / (2.0 * MU * GRAVITY);
    let (mean, spread) = mean_and_spread(&ours);
    rows.push(
        Row::new("(c) spread of the stopping distance", spread, "of the mean")
            .against("0 (isotropic)")
            .at_most(5e-3),
    );
    rows.push(
        Row::new("(c) mean stopping distance", mean, "m")
            .against(format!("{closed:.6} m = v²/(2 μ g)"))
            .accept("within 1 %", (mean / closed - 1.0).abs() <= 0.01),
    );
    rows.push(
        Row::new(
            "(c) the same with an 8-sided pyramid, by its ODE",
            mean_and_spread(&pyramid).1,
            "of the mean",
        )
        .against("> 3 % bias"),
    );
    let mut plot = Plot::new("Stopping distance by direction", "direction [°]", "distance [m]");
    let dashed = ours.iter().map(|p| (p.0, closed)).collect();
    let table: Vec<Vec<String>> =
        ours.iter().zip(&pyramid).map(|(a, b)| [a.0, a.1, b.1].map(csv_number).to_vec()).collect();
    plot.add("exact", Mark::Dots, ours);
    plot.add("8-sided pyramid", Mark::Line, pyramid);
    plot.add("v²/(2 μ g)", Mark::Dashes, dashed);
    ctx.csv("directions", &["angle_deg", "distance_m", "pyramid_distance_m"], &table)?;
    ctx.plot("directions", &plot)
}

/// |λ_t|/(μ λ_n) − 1 of the worst contact that carries load.
fn cone_excess(sim: &Simulation) -> f64 {
    let lambda = &sim.solution().lambda;
    let largest = lambda.iter().map(|l| l.x).fold(0.0, f64::max);
    let loaded = lambda.iter().filter(|l| l.x > 1e-6 * largest);
    loaded.map(|l| tangent_norm(*l) / (MU * l.x) - 1.0).fold(0.0, f64::max)
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
