//! NSN-F16 and NSN-F17: what the complementarity preconditioner is worth.

use super::beam;
use super::pile::Case;
use super::steps::{H, Steps, curve, looks, paper, stepping};
use crate::{Context, Experiment, Row};
use stiction::contact::ContactProblem;
use stiction::contact::samples::{self, Assembly};
use stiction::linalg::Rng;
use stiction::papers::nsn::solve::{
    ConeGuard, LinearMethod, Look, NewtonSettings, Regularization, Scaling, StepRule,
};
use stiction::{Scene, State, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// Fig. 16.
pub const QUARTILES: Experiment = Experiment {
    id: "NSN-F16",
    title: "convergence with identity and effective-mass scaling: beam insertion and 400 random contacts",
    claim: "Macklin et al. 2019, Fig. 16: super-linear in significantly more steps; the median error is an order lower",
    run: quartiles,
};

/// Fig. 17.
pub const STRATEGIES: Experiment = Experiment {
    id: "NSN-F17",
    title: "identity, h² and effective-mass scaling on arch, pile and heavy stack, one step",
    claim: "Macklin et al. 2019, Fig. 17: identity often fails; h² suffers from mass ratios; effective mass is reliable",
    run: strategies,
};

/// Scalings, in names of rows and in words.
const SCALINGS: [(Scaling, &str, &str); 3] = [IDENTITY, TIME_STEP, EFFECTIVE_MASS];
const IDENTITY: (Scaling, &str, &str) = (Scaling::Identity, "identity", "identity");
const TIME_STEP: (Scaling, &str, &str) = (Scaling::TimeStep, "h2", "h²");
const EFFECTIVE_MASS: (Scaling, &str, &str) = (Scaling::EffectiveMass, "effective-mass", "effective mass");

/// Steps of the insertion that Fig. 16 looks at: ours are its last, with the most contacts.
const WINDOW: usize = 132;
/// Newton iterations of each.
const ITERATIONS: usize = 100;

fn quartiles(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // The paper's W, kept positive beyond its pole and no more.
    let pcr = NewtonSettings {
        step: StepRule::Fixed(1.0),
        cone_guard: ConeGuard::Pole,
        ..paper(ITERATIONS, LinearMethod::ConjugateResidual, 40)
    };
    let exact = NewtonSettings {
        regularization: Regularization::Relative(1e-9),
        linear: pcr.linear.with_method(LinearMethod::Llt),
        ..pcr
    };
    let with = |cone_guard| NewtonSettings { cone_guard, ..pcr };
    // With so many times the masses and stiffness the beam moves alike, and all forces are so many times larger:
    // effective-mass scaling does not feel that, the identity does.
    for (times, segments, mass) in [(1.0, "3g", GIVEN), (100.0, "0.3kg", "0.3 kg"), (1e4, "30kg", "30 kg")] {
        let states = insertion_states(ctx, times)?;
        let scene = beam::insertion_of(times);
        for (part, how, settings) in [
            ("pcr", JUDGED, pcr),
            ("exact", "exact solves", exact),
            ("unguarded", "W without guard", with(ConeGuard::Off)),
            ("guarded", "our guard of W", with(ConeGuard::Project)),
        ] {
            let id = format!("beam-{segments}/{part}");
            beam_steps(ctx, &scene, &states, (&id, mass, how), settings, &mut rows)?;
        }
    }
    random_contacts(&mut rows);
    Ok(rows)
}

/// What is judged.
const JUDGED: &str = "40 iterations of PCR";
/// A step that none of them solves, and which is not judged.
const MOVING: &str = "pile, in motion";
/// The scene on which mass ratios are told.
const STACK: &str = "heavy stack";
/// Mass of a segment in the paper.
const GIVEN: &str = "3 g";
/// Why the given beam tells nothing of both scalings.
const ALIKE: &str = "h² [J M⁻¹ Jᵀ] of segments of 3 g is within about ten times of 1 m/N, and h [J M⁻¹ Jᵀ] of 1 m/(s N): r = 1 happens \
     to be no bad choice for so light a beam, and r = h² is the worst of the three. The result is the same with 6 to 350 contacts, \
     play of 0.2 to 1 mm, slots 0 to 6 mm off, a grip by friction of two fingers, cubes or slender segments, 0.1 to 3 m/s, \
     friction 0 to 1, exact linear solves, W with and without guard, and with iterates, places and NCP functions in 32-bit numbers. \
     With segments of 0.3 kg, and stiffness to match, the motion is the same and the paper's claim holds (rows below)";

/// States of the last steps of an insertion that is solved by our own settings.
fn insertion_states(ctx: &mut Context, times: f64) -> Result<Vec<State>> {
    ctx.note("the insertion");
    let mut run = Steps::robust(&beam::insertion_of(times))?;
    let every = ctx.pick(12, 1);
    let mut states = Vec::new();
    for k in 0..beam::STEPS {
        if k + WINDOW >= beam::STEPS && k % every == 0 {
            states.push(run.state.clone());
        }
        run.step(H)?;
    }
    Ok(states)
}

/// Each of the steps from `states` on with both scalings from zero, full Newton steps (N8); `id` names the rows.
fn beam_steps(
    ctx: &mut Context,
    scene: &Scene,
    states: &[State],
    (id, mass, how): (&str, &str, &str),
    settings: NewtonSettings,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let name = format!("beam, segments of {mass}, {how}");
    ctx.note(&name);
    let scalings = [EFFECTIVE_MASS, IDENTITY, TIME_STEP];
    let mut plot = Plot::new(
        "Beam insertion: median error over the steps",
        "Newton iteration",
        "error / velocity scale",
    );
    plot.y_scale = Scale::Log;
    let mut table = Vec::new();
    let (mut medians, mut shares, mut apart) = (Vec::new(), Vec::new(), Vec::new());
    for (scaling, part, label) in scalings {
        let mut sim = Steps::new(scene, stepping(NewtonSettings { scaling, ..settings }))?;
        let mut curves: Vec<Vec<f64>> = Vec::new();
        for state in states {
            sim.state = state.clone();
            // A step that breaks counts as not converged.
            let broke = sim.step(H).is_err();
            let mut errors: Vec<f64> = sim.stepper.looks().iter().map(|l| l.error).collect();
            if broke {
                errors.push(f64::INFINITY);
            }
            curves.push(errors);
            // h² times the diagonal of W: how far the two choices of r are apart.
            let w = sim.stepper.system().w_diagonal();
            apart.extend((0..sim.stepper.report().contacts).map(|c| 1.0 / (H * H * w[3 * c])));
        }
        let at = |i: usize, share: f64| {
            let mut all: Vec<f64> = curves.iter().filter_map(|c| c.get(i).or(c.last())).copied().collect();
            quantile(&mut all, share)
        };
        for i in 0..=ITERATIONS {
            let quartiles = [0.25, 0.5, 0.75].map(|share| csv_number(at(i, share)));
            table.push([label.to_string(), i.to_string()].into_iter().chain(quartiles).collect());
        }
        for (share, which) in [(0.25, "lower quartile"), (0.5, "median"), (0.75, "upper quartile")] {
            let mark = if share == 0.5 { Mark::Line } else { Mark::Dashes };
            let points = (0..=ITERATIONS).map(|i| (i as f64, at(i, share).max(1e-17)));
            plot.add(&format!("{label}, {which}"), mark, points.filter(|p| p.1.is_finite()).collect());
        }
        let solved = curves.iter().filter(|c| c.last().is_some_and(|e| *e <= 1e-6)).count();
        let share = solved as f64 / curves.len() as f64;
        rows.push(Row::new(
            format!("{id}/{part}/error"),
            format!("{name}, {label}: median error after {ITERATIONS}"),
            at(ITERATIONS, 0.5),
            "of the velocity scale",
        ));
        rows.push(Row::new(
            format!("{id}/{part}/solved"),
            format!("{name}, {label}: steps at 1e-6"),
            share,
            "of all",
        ));
        medians.push(at(ITERATIONS, 0.5));
        shares.push(share);
    }
    let [full, identity] = [medians[0], medians[1]];
    let lower = Row::new(
        format!("{id}/identity-over-effective-mass/error"),
        format!("{name}: median error, identity over effective mass"),
        identity / full,
        "×",
    )
    .against("often an order of magnitude for the same count");
    let fewer = Row::new(
        format!("{id}/identity-over-effective-mass/solved"),
        format!("{name}: steps at 1e-6, identity over effective mass"),
        shares[1] / shares[0],
        "×",
    )
    .against("significantly fewer");
    if how == JUDGED {
        let what =
            format!("beam, segments of {mass}: r of the identity over that of the effective mass, median");
        rows.push(Row::new(format!("{id}/identity-over-effective-mass/r"), what, median(&mut apart), "×"));
        let (lower, fewer) = (
            lower.at_least(10.0),
            fewer.accept("at most ½", shares[0] > 0.0 && 2.0 * shares[1] <= shares[0]),
        );
        let alike = mass == GIVEN;
        rows.extend([lower, fewer].map(|row| if alike { row.because(ALIKE) } else { row }));
    } else {
        rows.extend([lower, fewer]);
    }
    let file = name.replace(", ", "-").replace(' ', "-");
    ctx.csv(&file, &["scaling", "iteration", "lower_quartile", "median", "upper_quartile"], &table)?;
    ctx.plot(&file, &plot)
}

/// 400 contacts of one particle each: masses 1e-2 to 1e2 kg, speeds 1e-3 to 10 m/s.
fn random_contacts(rows: &mut Vec<Row>) {
    let mut rng = Rng::new(16);
    let problems: Vec<ContactProblem> = (0..400)
        .map(|_| {
            let mut bodies = Assembly::new(Vec3::new(0.0, 0.0, -samples::GRAVITY));
            let mass = 10f64.powf(4.0 * rng.uniform() - 2.0);
            let speed = 10f64.powf(4.0 * rng.uniform() - 3.0);
            // A contact at the centre of mass does not turn the body: it is a particle.
            let at = Vec3::ZERO;
            let body = bodies.add_box(at, Vec3::splat(0.1), mass);
            let angle = std::f64::consts::TAU * rng.uniform();
            bodies.velocity[body] = (speed * Vec3::new(angle.cos(), angle.sin(), -rng.uniform()), Vec3::ZERO);
            bodies.touch(body, None, Vec3::Z, &[at], rng.uniform());
            bodies.problem()
        })
        .collect();
    for (guard, id, what) in [
        (ConeGuard::Off, "unguarded", "W without guard"),
        (ConeGuard::Pole, "positive", "W positive"),
        (ConeGuard::Project, "guarded", "our guard of W"),
    ] {
        let mut shares = Vec::new();
        for (scaling, part, name) in SCALINGS {
            let settings = NewtonSettings {
                scaling,
                cone_guard: guard,
                tolerance: 1e-8,
                step: StepRule::Fixed(1.0),
                regularization: Regularization::Relative(1e-12),
                ..paper(100, LinearMethod::Llt, 0)
            };
            let solved =
                problems.iter().filter(|p| looks(p, settings).0.last().is_some_and(|l| l.error <= 1e-8));
            shares.push(solved.count() as f64 / problems.len() as f64);
            let row = Row::new(
                format!("contacts/{id}/{part}/converged"),
                format!("400 contacts, {what}, {name}: converged"),
                shares[shares.len() - 1],
                "of all",
            );
            rows.push(match (guard, scaling) {
                (ConeGuard::Off, Scaling::EffectiveMass) => row.at_least(0.99),
                _ => row,
            });
        }
        if guard == ConeGuard::Off {
            rows.push(
                Row::new(
                    format!("contacts/{id}/identity-over-effective-mass"),
                    "400 contacts, W without guard: identity over effective mass",
                    shares[0] / shares[2],
                    "×",
                )
                .against("identity is worst")
                .accept("below 0.9", shares[0] < 0.9 * shares[2]),
            );
        }
    }
}

fn strategies(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut failures = 0;
    let scenes = [
        ("arch", "arch", Case::Frozen(Box::new(samples::arch(10, 0.6)))),
        ("pile", "pile", Case::heap(3.0)?),
        ("heavy-stack", STACK, Case::Frozen(Box::new(samples::heavy_stack(5)))),
        ("pile-in-motion", MOVING, Case::heap(0.8)?),
        ("wall", "wall", Case::Frozen(Box::new(samples::wall_with_speed(5, 5, 0.6, 0.0, 1)))),
    ];
    let mut table = Vec::new();
    for (id, scene, case) in scenes {
        let mut plot =
            Plot::new(&format!("Complementarity error, {scene}"), "Newton iteration", "max |φ| [m/s]");
        let mut steps = Plot::new(&format!("Step size, {scene}"), "Newton iteration", "max |Δ|");
        (plot.y_scale, steps.y_scale) = (Scale::Log, Scale::Log);
        // Forty iterations of PCR, as in Figs. 16 and 18. All is judged with one W, that of our default settings; the wall is ours.
        for (guard, way, how) in [
            (ConeGuard::Pole, "positive", "W positive"),
            (ConeGuard::Off, "unguarded", "unguarded"),
            (ConeGuard::Project, "guarded", "our guard"),
        ] {
            let judged = guard == ConeGuard::Project && scene != MOVING;
            let mut all = Vec::new();
            for (scaling, part, name) in SCALINGS {
                let settings = NewtonSettings {
                    scaling,
                    step: StepRule::Fixed(1.0),
                    cone_guard: guard,
                    regularization: Regularization::Relative(1e-9),
                    ..paper(50, LinearMethod::ConjugateResidual, 40)
                };
                let iterates = case.looks(settings)?;
                plot.add(&format!("{name}, {how}"), Mark::Line, curve(&iterates, |l| l.rows));
                steps.add(&format!("{name}, {how}"), Mark::Line, curve(&iterates, |l| l.step));
                for l in &iterates {
                    let numbers = [l.error, l.rows, l.step].map(csv_number);
                    let words = [scene.to_string(), name.into(), how.into(), l.iteration.to_string()];
                    table.push(words.into_iter().chain(numbers).collect());
                }
                let best = iterates.iter().map(|l| l.error).fold(f64::INFINITY, f64::min);
                let last = iterates.last().map_or(f64::INFINITY, |l| l.error);
                let failed = last.is_nan() || last > 1e-3 * iterates[0].error;
                failures += usize::from(judged && scaling == Scaling::Identity && failed);
                let to =
                    iterates.iter().find(|l| l.error < 1e-6).map_or(f64::INFINITY, |l| l.iteration as f64);
                let what = format!("{scene}, {how}, {name}: iterations to 1e-6 (best error {best:.1e})");
                let row = Row::new(format!("{id}/{way}/{part}/iterations"), what, to, "");
                rows.push(match scaling {
                    Scaling::EffectiveMass if judged => row.against("most reliable").at_most(50.0),
                    Scaling::TimeStep if judged && ["arch", "pile"].contains(&scene) => {
                        row.against("good").at_most(50.0)
                    }
                    _ => row,
                });
                all.push(iterates);
            }
            if scene == STACK && judged {
                let what = "error of h² over effective mass, where the latter reaches 1e-6";
                rows.push(
                    Row::new(
                        format!("{id}/h2-over-effective-mass"),
                        format!("{STACK}: {what}"),
                        behind(&all[1], &all[2]),
                        "×",
                    )
                    .against("h² suffers from mass ratios")
                    .at_least(10.0),
                );
                let absolute = |scaling| {
                    let settings = paper(50, LinearMethod::Llt, 0);
                    case.looks(NewtonSettings { scaling, step: StepRule::Fixed(1.0), ..settings })
                };
                let ratio = behind(&absolute(Scaling::TimeStep)?, &absolute(Scaling::EffectiveMass)?);
                let id = format!("{id}/epsilon-1e-6/h2-over-effective-mass");
                rows.push(Row::new(id, format!("{STACK}, ε = 1e-6/kg: {what}"), ratio, "×").because(
                    "that ε is 3 % of the diagonal under 32768 kg, and leaves so much of the error per iteration with any scaling",
                ));
            }
        }
        ctx.plot(&format!("error-{id}"), &plot)?;
        ctx.plot(&format!("step-{id}"), &steps)?;
    }
    rows.push(
        Row::new(
            "identity/failures",
            "scenes on which identity fails (no 1e-3 reduction in 50 iterations)",
            failures as f64,
            "",
        )
        .against("often fails")
        .at_least(1.0),
    );
    ctx.csv("curves", &["scene", "scaling", "w", "iteration", "error", "rows", "step"], &table)?;
    Ok(rows)
}

/// Error of `slower` over that of `faster` where the latter first falls below 1e-6.
fn behind(slower: &[Look], faster: &[Look]) -> f64 {
    let at = faster.iter().position(|l| l.error < 1e-6).unwrap_or(faster.len() - 1);
    let error = |of: &[Look]| of.get(at).or(of.last()).map_or(f64::INFINITY, |l| l.error);
    error(slower) / error(faster)
}

fn median(x: &mut [f64]) -> f64 {
    quantile(x, 0.5)
}

fn quantile(x: &mut [f64], share: f64) -> f64 {
    x.sort_by(f64::total_cmp);
    x.get((share * x.len().saturating_sub(1) as f64).round() as usize).copied().unwrap_or(f64::NAN)
}
