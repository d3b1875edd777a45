//! ADD-F7, ADD-F8 and ADD-F9: material, friction and start of a thrown sphere and cube from markers that a camera sees, and of
//! a ball from clouds of points. The truth is a motion with hidden numbers, noise and dropouts.

use super::common::{Problem, foam, ground, system};
use crate::{Context, Experiment, Row};
use stiction::coords::{Anchor, BodyId, NodeId, SoftId};
use stiction::diff::optimize::{Bounds, LevenbergSettings, levenberg_marquardt};
use stiction::diff::{CloudTarget, Markers, Objective, Param};
use stiction::kinematics::position_at;
use stiction::linalg::Rng;
use stiction::mesh::{TetMesh, shapes};
use stiction::scene::Owner;
use stiction::steppers::penalty::{Bdf, FrictionModel, Settings};
use stiction::{State, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

/// The registry entry.
pub const SPHERE: Experiment = Experiment {
    id: "ADD-F7",
    title: "parameter estimation of a foam sphere from six markers",
    claim: "ADD, Fig. 7: stiffness, viscosity and friction from motion capture at 120 Hz, in three phases",
    run: |ctx| estimate(ctx, &FOAM_SPHERE),
};

/// The registry entry.
pub const CUBE: Experiment = Experiment {
    id: "ADD-F8",
    title: "parameter estimation of a foam cube from six markers",
    claim: "ADD, Fig. 8: as Fig. 7, with growing time horizons",
    run: |ctx| estimate(ctx, &FOAM_CUBE),
};

/// The registry entry.
pub const CLOUD: Experiment = Experiment {
    id: "ADD-F9",
    title: "fitting a ball to clouds of points of its visible half",
    claim: "ADD, Fig. 9: closest points of a Kinect's cloud at 30 Hz; no rotation is seen",
    run: cloud,
};

const BODY: Owner = Owner::Solid(SoftId(0));
/// Frames per second.
const RATE: f64 = 120.0;
/// How far the viscosity may be off.
const VISCOSITY: f64 = 0.25;
/// What backward differences may add to the viscosity in the lowest mode, as a share of it: where it is twice as fast, four times as much.
const NUMERICAL: f64 = VISCOSITY / 4.0;
/// The truth has a time step that is this many times smaller.
const FINER: usize = 2;
/// Of a marker [m].
const NOISE: f64 = 5e-4;
const DROPOUT: f64 = 0.1;
/// Residuals up to this many times the noise are no more than noise.
const ABOVE_NOISE: f64 = 1.2;
/// Where fits of the material begin, from the guess: logarithms of Young's modulus and viscosity, and friction.
const STARTS: [[f64; 3]; 4] = [[0.0; 3], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.2], [-1.0, 2.0, 0.2]];
/// Young, viscosity, friction; then position, velocity, spin.
const MATERIAL: usize = 3;
const START: [usize; 9] = [3, 4, 5, 6, 7, 8, 9, 10, 11];

struct Specimen {
    cube: bool,
    density: f64,
    /// Young's modulus [Pa], viscosity [Pa·s] and friction: guessed and hidden.
    guess: [f64; 3],
    truth: [f64; 3],
    /// Hidden start: velocity [m/s] and spin [rad/s].
    throw: [f64; 6],
}

const FOAM_SPHERE: Specimen = Specimen {
    cube: false,
    density: 86.0,
    guess: [2.1e5, 0.025, 0.4],
    truth: [3.3e4, 6.225, 0.47],
    throw: [2.0, 0.2, -0.8, 1.0, 4.0, -2.0],
};
/// Thrown twice as fast as the sphere: at 2 m/s its nodes stick in 83 % of what they touch, and friction hardly shows.
const FOAM_CUBE: Specimen = Specimen {
    cube: true,
    density: 77.0,
    guess: [2e4, 0.525, 0.4],
    truth: [1.5e4, 0.7183, 0.6],
    throw: [4.0, 0.2, -0.8, 1.0, 4.0, -2.0],
};

/// Side of the cube and radius of the sphere [m].
const SIDE: f64 = 0.1;
const RADIUS: f64 = 0.06;

impl Specimen {
    /// Steps from one frame to the next. BDF2 damps a mode of frequency ω by the ratio (ω h)³/4, a viscosity η by ω η/(2 E), so that
    /// the steps themselves count as a viscosity E ω² h³/2. In the lowest mode, ω = π √(E/ρ)/L, it is to be small beside what is
    /// looked for, or that could not be found from a motion with other steps.
    fn per_frame(&self) -> usize {
        let [young, viscosity, _] = self.truth;
        let length = if self.cube { SIDE } else { 2.0 * RADIUS };
        let omega = std::f64::consts::PI * (young / self.density).sqrt() / length;
        let h = (2.0 * NUMERICAL * viscosity / (young * omega * omega)).cbrt();
        8 * (1.0 / (8.0 * RATE * h)).ceil() as usize
    }

    /// Time step [s].
    fn dt(&self) -> f64 {
        1.0 / (RATE * self.per_frame() as f64)
    }

    fn mesh(&self, cells: usize) -> TetMesh {
        if self.cube { shapes::block([cells; 3], Vec3::splat(SIDE)) } else { shapes::sphere(RADIUS, cells) }
    }

    fn problem(
        &self,
        [young, viscosity, mu]: [f64; 3],
        dt: f64,
        cells: usize,
        steps: usize,
    ) -> Result<Problem> {
        let mut scene = ground(mu);
        let mut body = foam("specimen", self.mesh(cells), young, self.density, viscosity, mu);
        body.pose.translation = Vec3::new(0.0, 0.0, 0.25);
        scene.solids.push(body);
        // Hybrid: friction (17) has k_t = k_n h, so that a truth with a smaller step would have another law. k_n is the default of
        // the paper.
        let friction = FrictionModel::Hybrid;
        let settings = Settings { scheme: Bdf::Two, friction, ..Settings::default() };
        let (ground, specimen) = (Owner::Body(BodyId(0)), BODY);
        let friction_of = Param::friction(ground, specimen);
        let mut params = vec![Param::Young(SoftId(0)), Param::Viscosity(SoftId(0)), friction_of];
        for k in 0..3 {
            params.push(Param::Position(BODY, k));
        }
        params.extend((0..3).map(|k| Param::Velocity(BODY, k)));
        params.extend((0..3).map(|k| Param::Spin(BODY, k)));
        let mut problem = Problem::new(system(&scene, settings, dt)?, params, steps)?;
        problem.log[..2].fill(true);
        Ok(problem)
    }

    /// Six vertices, one in each direction.
    fn markers(&self, problem: &Problem) -> Vec<Anchor> {
        let rest = &problem.system.model().solids[0].rest;
        let middle = rest.iter().sum::<Vec3>() / rest.len() as f64;
        let farthest = |d: Vec3| {
            let score = |x: Vec3| (x - middle).dot(d) - 0.5 * (x - middle - d * (x - middle).dot(d)).length();
            (0..rest.len()).max_by(|a, b| score(rest[*a]).total_cmp(&score(rest[*b]))).unwrap_or(0)
        };
        let directions = Vec3::AXES.into_iter().flat_map(|a| [a, -a]);
        directions.map(|d| Anchor::Node(NodeId(farthest(d) as u32))).collect()
    }
}

/// Fits those of x that are free; returns the root of the mean square of the terms, and deviations.
fn fit(
    problem: &mut Problem,
    x: &mut [f64],
    free: &[usize],
    objective: &dyn Objective,
    evaluations: usize,
) -> (f64, Vec<f64>) {
    let start: Vec<f64> = free.iter().map(|&i| x[i]).collect();
    let mut bounds = Bounds::none(free.len());
    for (k, &i) in free.iter().enumerate() {
        if problem.log[i] {
            // Young's modulus twenty times up and down, viscosity a thousand times.
            let far = if i == 0 { 3.0 } else { 7.0 };
            (bounds.lo[k], bounds.hi[k]) = (-far, far);
        } else if i < MATERIAL {
            (bounds.lo[k], bounds.hi[k]) = (-0.39, 1.5);
        }
    }
    let settings = LevenbergSettings { evaluations, goal: 0.0, change: 1e-5 };
    let mut count = 1;
    let (m, spread) = levenberg_marquardt(&start, &bounds, &settings, |y| {
        let mut all = x.to_vec();
        free.iter().zip(y).for_each(|(&i, y)| all[i] = *y);
        let out = problem.rows(&all, objective, free);
        count = out.0.len();
        out
    });
    free.iter().zip(&m.x).for_each(|(&i, y)| x[i] = *y);
    ((2.0 * m.value / count as f64).sqrt(), spread)
}

/// Hidden start of a second motion: velocity and spin.
const SECOND: [f64; 6] = [0.8, -0.3, -1.2, -2.0, 1.0, 1.0];

fn observe(
    specimen: &Specimen,
    throw: [f64; 6],
    cells: usize,
    steps: usize,
) -> Result<(Markers, Vec<State>)> {
    let mut truth = specimen.problem(specimen.truth, specimen.dt() / FINER as f64, cells, FINER * steps)?;
    let mut x = vec![0.0; 12];
    x[6..].copy_from_slice(&throw);
    let states: Vec<State> = truth.states(&x)?.into_iter().step_by(FINER).collect();
    let points = specimen.markers(&truth);
    let mut rng = Rng::new(11);
    let mut normal = || (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
    let mut seen = Vec::new();
    for i in (0..=steps).step_by(specimen.per_frame()) {
        for (k, p) in points.iter().enumerate() {
            let noise = Vec3::new(normal(), normal(), normal()) * NOISE;
            let lost = normal().abs() > 1.645 && DROPOUT > 0.0;
            if !lost {
                seen.push((i, k, position_at(truth.system.model(), &states[i], p) + noise));
            }
        }
    }
    Ok((Markers { points, seen }, states))
}

fn until(m: &Markers, step: usize) -> Markers {
    Markers { points: m.points.clone(), seen: m.seen.iter().filter(|s| s.0 <= step).copied().collect() }
}

/// First step in which it touches, less a little.
fn first_contact(problem: &Problem, states: &[State]) -> usize {
    let nodes = &problem.system.model().nodes;
    let touches = |s: &State| nodes.iter().any(|n| n.position(s).z < 0.0);
    states.iter().position(touches).unwrap_or(states.len()).saturating_sub(2)
}

/// A fit: the problem, its numbers, their deviations, and the true motion.
struct Fitted {
    problem: Problem,
    x: Vec<f64>,
    spread: Vec<f64>,
    states: Vec<State>,
}

/// Fits a motion that was observed with a smaller time step, in three phases.
fn identify(ctx: &Context, specimen: &Specimen, cells: usize, steps: usize) -> Result<Fitted> {
    let (markers, states) = observe(specimen, specimen.throw, cells, steps)?;
    let mut problem = specimen.problem(specimen.guess, specimen.dt(), cells, steps)?;
    let flight = first_contact(&problem, &states);
    let mut x = vec![0.0; 12];
    // The guess of the start is what two frames show.
    x[6..9].copy_from_slice(&[1.0, 0.0, -0.5]);
    // Phase 1: the start alone, until it touches.
    problem.steps = flight;
    let (off, _) = fit(&mut problem, &mut x, &START, &until(&markers, flight), 15);
    ctx.note(&format!("flight ({flight} steps): {:.2} mm per coordinate", 1e3 * off));
    // Phase 2: the material on the first bounce, then with the start; phase 3: all of it, over the whole motion. Where points begin to
    // slide the objective has kinks: a bounce that is left with more than noise is fitted from elsewhere.
    let bounce = (flight + specimen.per_frame() * ctx.pick(14, 16)).min(steps);
    let (seen, all) = (until(&markers, bounce), (0..12).collect::<Vec<usize>>());
    problem.steps = bounce;
    let (flown, mut least) = (x.clone(), f64::INFINITY);
    for start in STARTS {
        let mut y = flown.clone();
        y[..MATERIAL].copy_from_slice(&start);
        fit(&mut problem, &mut y, &[0, 1, 2], &seen, ctx.pick(20, 30));
        let (off, _) = fit(&mut problem, &mut y, &all, &seen, ctx.pick(15, 25));
        ctx.note(&format!("bounce: {:.2} mm per coordinate, {:?}", 1e3 * off, &problem.params(&y)[..3]));
        if off < least {
            (least, x) = (off, y);
        }
        if least < ABOVE_NOISE * NOISE {
            break;
        }
    }
    problem.steps = steps;
    let (off, spread) = fit(&mut problem, &mut x, &all, &markers, ctx.pick(15, 25));
    ctx.note(&format!("{steps} steps: {:.2} mm per coordinate, {:?}", 1e3 * off, &problem.params(&x)[..3]));
    Ok(Fitted { problem, x, spread, states })
}

fn estimate(ctx: &mut Context, specimen: &Specimen) -> Result<Vec<Row>> {
    let cells = ctx.pick(1, 2) + usize::from(specimen.cube);
    let (dt, steps) = (specimen.dt(), specimen.per_frame() * ctx.pick(48, 60));
    let mut rows = Vec::new();
    let Fitted { mut problem, mut x, spread, states } = identify(ctx, specimen, cells, steps)?;
    let found = problem.params(&x);
    let names = [
        ("young", "Young's modulus", "Pa", 0.1),
        ("viscosity", "viscosity", "Pa·s", VISCOSITY),
        ("friction", "friction", "", 0.1),
    ];
    for (k, (id, name, unit, bound)) in names.into_iter().enumerate() {
        let off = (found[k] / specimen.truth[k] - 1.0).abs();
        let deviation = if problem.log[k] { spread[k] * found[k] } else { spread[k] };
        rows.push(
            Row::new(id, name, found[k], unit)
                .against(format!("{} hidden, {} guessed", specimen.truth[k], specimen.guess[k]))
                .accept(format!("within {:.0} %", 100.0 * bound), off <= bound)
                .because(format!(
                    "{:.1} % off, from a motion with half the time step; deviation {deviation:.2e} from the scatter of residuals",
                    100.0 * off
                )),
        );
    }
    let rms = |problem: &mut Problem, x: &[f64], states: &[State]| -> Result<f64> {
        let ours = problem.states(x)?;
        let points = specimen.markers(problem);
        let model = problem.system.model();
        let mut sum = (0.0, 0);
        for (a, b) in ours.iter().zip(states) {
            for p in &points {
                sum =
                    (sum.0 + position_at(model, a, p).distance_squared(position_at(model, b, p)), sum.1 + 1);
            }
        }
        Ok((sum.0 / f64::from(sum.1)).sqrt())
    };
    rows.push(
        Row::new("markers", "markers, root mean square", 1e3 * rms(&mut problem, &x, &states)?, "mm")
            .at_most(2.0),
    );
    // A second motion: the start alone is fitted again, to its flight.
    let (markers, states) = observe(specimen, SECOND, cells, steps)?;
    let flight = first_contact(&problem, &states);
    x[MATERIAL..].fill(0.0);
    x[6..9].copy_from_slice(&[1.0, 0.0, -0.5]);
    problem.steps = flight;
    fit(&mut problem, &mut x, &START, &until(&markers, flight), 15);
    problem.steps = steps;
    rows.push(
        Row::new(
            "second-motion",
            "second motion, root mean square",
            1e3 * rms(&mut problem, &x, &states)?,
            "mm",
        )
        .at_most(5.0),
    );
    rows.push(Row::new("runs", "runs", problem.runs as f64, "").against(if specimen.cube {
        "500"
    } else {
        "690"
    }));
    let mut plot = Plot::new("Height of a marker", "t [s]", "z [m]");
    let place = |m: &Markers, k: usize| {
        m.seen.iter().filter(|s| s.1 == k).map(|s| (s.0 as f64 * dt, s.2.z)).collect()
    };
    plot.add("seen", Mark::Dots, place(&markers, 0));
    let ours = problem.states(&x)?;
    let model = problem.system.model();
    let path =
        ours.iter().enumerate().map(|(i, s)| (i as f64 * dt, position_at(model, s, &markers.points[0]).z));
    plot.add("fitted", Mark::Line, path.collect());
    ctx.plot("marker", &plot)?;
    let table: Vec<Vec<String>> =
        (0..3).map(|k| [specimen.guess[k], specimen.truth[k], found[k]].map(csv_number).to_vec()).collect();
    ctx.csv("material", &["guess", "truth", "found"], &table)?;
    Ok(rows)
}

fn cloud(ctx: &mut Context) -> Result<Vec<Row>> {
    let specimen = &FOAM_SPHERE;
    let per_frame = specimen.per_frame();
    let (cells, steps) = (ctx.pick(1, 2), 48 * per_frame);
    let mut truth = specimen.problem(specimen.truth, specimen.dt() / FINER as f64, cells, FINER * steps)?;
    let mut hidden = vec![0.0; 12];
    hidden[6..].copy_from_slice(&specimen.throw);
    let states: Vec<State> = truth.states(&hidden)?.into_iter().step_by(FINER).collect();
    let model = truth.system.model();
    let solid = &model.solids[0];
    let mut rng = Rng::new(4);
    let mut clouds = Vec::new();
    let eye = Vec3::new(0.3, -2.0, 0.5);
    // 30 Hz; only faces that look at the camera are seen.
    for i in (0..=steps).step_by(4 * per_frame) {
        let x: Vec<Vec3> = solid.vertices.iter().map(|a| position_at(model, &states[i], a)).collect();
        let mut points = Vec::new();
        while points.len() < 60 {
            let t =
                solid.surface[(rng.uniform() * solid.surface.len() as f64) as usize % solid.surface.len()];
            let [a, b, c] = t.map(|v| x[v as usize]);
            let (u, v) = (rng.uniform(), rng.uniform());
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            if (b - a).cross(c - a).dot(eye - a) > 0.0 {
                let mut normal = || (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
                let noise = Vec3::new(normal(), normal(), normal()) * 3e-3;
                points.push(a + (b - a) * u + (c - a) * v + noise);
            }
        }
        clouds.push((i, points));
    }
    let mut problem = specimen.problem([6e4, 2.0, 0.4], specimen.dt(), cells, steps)?;
    let flight = first_contact(&problem, &states);
    let until = |step: usize| CloudTarget {
        solid: SoftId(0),
        clouds: clouds.iter().filter(|c| c.0 <= step).cloned().collect(),
    };
    let mut x = vec![0.0; 12];
    x[3..9].copy_from_slice(&[0.02, 0.02, -0.02, 1.0, 0.0, -0.5]);
    // No rotation is seen: spin enters only with the bounce.
    let stages: [(usize, Vec<usize>); 4] = [
        (flight, (3..9).collect()),
        ((flight + 14 * per_frame).min(steps), vec![0, 1, 2]),
        ((flight + 14 * per_frame).min(steps), (0..12).collect()),
        (steps, (0..12).collect()),
    ];
    for (horizon, free) in stages {
        problem.steps = horizon;
        let (off, _) = fit(&mut problem, &mut x, &free, &until(horizon), ctx.pick(12, 20));
        ctx.note(&format!("{horizon} steps, {} numbers: {off:.2e}", free.len()));
    }
    let ours = problem.states(&x)?;
    let model = problem.system.model();
    let mass: f64 = model.nodes.iter().map(|n| n.mass).sum();
    let centre = |s: &State| model.nodes.iter().map(|n| n.position(s) * n.mass).sum::<Vec3>() / mass;
    let errors: Vec<Vec3> = ours.iter().zip(&states).map(|(a, b)| (centre(a) - centre(b)).abs()).collect();
    let mean = errors.iter().map(|e| (e.x + e.y + e.z) / 3.0).sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().map(|e| e.max_element()).fold(0.0, f64::max);
    Ok(vec![
        Row::new("mean-error", "mean error of a coordinate of the centre", 1e3 * mean, "mm")
            .against("a good match")
            .at_most(5.0),
        Row::new("largest-error", "largest error", 1e3 * worst, "mm"),
        Row::new("runs", "runs", problem.runs as f64, ""),
    ])
}
