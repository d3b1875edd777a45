//! NSN-F16 and NSN-F17: what the complementarity preconditioner is worth.

use super::beam;
use super::steps::{H, Steps, curve, looks, paper, stepping};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use stiction::Vec3;
use stiction::contact::ContactProblem;
use stiction::contact::samples::{self, Assembly, Rng};
use stiction::solvers::newton::{
    ConeGuard, LinearMethod, Look, NewtonSettings, Regularization, Scaling, StepRule,
};

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
    title: "identity, h² and effective-mass scaling on arch, wall and heavy stack, one step",
    claim: "Macklin et al. 2019, Fig. 17: identity often fails; h² suffers from mass ratios; effective mass is reliable",
    run: strategies,
};

const SCALINGS: [(Scaling, &str); 3] =
    [(Scaling::Identity, "identity"), (Scaling::TimeStep, "h²"), (Scaling::EffectiveMass, "effective mass")];

fn quartiles(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // The beam's steps: each is solved with both scalings from the same state; the run goes on with the better.
    let steps = ctx.pick(20, 132);
    let n = ctx.pick(40, 100);
    beam_steps(ctx, (steps, n), "40 iterations of PCR", &mut rows)?;
    beam_steps(ctx, (steps, n), "exact solves", &mut rows)?;
    units_of_force(ctx.pick(20, 132), &mut rows)?;
    random_contacts(&mut rows);
    Ok(rows)
}

/// With so many times the masses and stiffness the beam moves alike, and all forces are so many times larger: effective-mass
/// scaling does not feel that, the identity does. Beside it W as printed, without our guard. Exact solves, every step from the
/// states of one run.
fn units_of_force(steps: usize, rows: &mut Vec<Row>) -> Result<()> {
    let mut run = Steps::new(&beam::insertion(), stepping(paper(12, LinearMethod::Llt, 0)))?;
    for _ in 0..60 {
        run.step(H)?;
    }
    let mut states = Vec::new();
    for _ in 0..steps {
        states.push(run.state.clone());
        run.step(H)?;
    }
    let cases = [
        (1.0, ConeGuard::Project, "forces × 1"),
        (1e3, ConeGuard::Project, "forces × 1000"),
        (1e6, ConeGuard::Project, "forces × 1000000"),
        (1.0, ConeGuard::Off, "W without guard"),
    ];
    for (times, cone_guard, name) in cases {
        let what = format!("beam, exact solves, {name}");
        let scene = beam::insertion_of(times);
        let mut shares = Vec::new();
        let mut medians = Vec::new();
        for scaling in [Scaling::EffectiveMass, Scaling::Identity] {
            let newton = NewtonSettings {
                scaling,
                cone_guard,
                step: StepRule::Fixed(1.0),
                regularization: Regularization::Relative(1e-9),
                ..paper(60, LinearMethod::Llt, 0)
            };
            let mut finals = Vec::new();
            for state in &states {
                let mut sim = Steps::new(&scene, stepping(newton))?;
                sim.state = state.clone();
                // A step that breaks counts as not converged.
                let broke = sim.step(H).is_err();
                let last = sim.stepper.looks().last().map_or(f64::INFINITY, |l| l.error);
                finals.push(if broke { f64::INFINITY } else { last });
            }
            shares.push(finals.iter().filter(|e| **e <= 1e-6).count() as f64 / steps as f64);
            medians.push(median(&mut finals));
        }
        for (share, name) in shares.iter().zip(["effective mass", "identity"]) {
            rows.push(Row::new(format!("{what}, {name}: steps at 1e-6 after 60"), *share, "of all"));
        }
        let ratio = medians[1] / medians[0];
        rows.push(Row::new(format!("{what}: final median error, identity over effective mass"), ratio, "×"));
        let ratio = shares[1] / shares[0];
        rows.push(Row::new(format!("{what}: steps at 1e-6, identity over effective mass"), ratio, "×"));
    }
    Ok(())
}

/// Full steps (N8), as given with forty iterations of PCR, and beside it with exact linear solves: forty iterations leave errors
/// in the joints that hide those of the contacts.
fn beam_steps(ctx: &mut Context, (steps, n): (usize, usize), how: &str, rows: &mut Vec<Row>) -> Result<()> {
    let given = how != "exact solves";
    let full_steps = |scaling| {
        let step = StepRule::Fixed(1.0);
        if given {
            return NewtonSettings { scaling, step, ..paper(n, LinearMethod::ConjugateResidual, 40) };
        }
        let regularization = Regularization::Relative(1e-9);
        NewtonSettings { scaling, step, regularization, ..paper(n, LinearMethod::Llt, 0) }
    };
    let scene = beam::insertion();
    let mut full = Steps::new(&scene, stepping(full_steps(Scaling::EffectiveMass)))?;
    let mut identity = Steps::new(&scene, stepping(full_steps(Scaling::Identity)))?;
    let mut finals = [Vec::new(), Vec::new()];
    let mut curves: [Vec<Vec<f64>>; 2] = [Vec::new(), Vec::new()];
    let mut factors = Vec::new();
    // The first half second is free of contacts.
    for _ in 0..60 {
        full.step(H)?;
    }
    for _ in 0..steps {
        identity.state = full.state.clone();
        full.step(H)?;
        // A step that breaks counts as not converged.
        let broke = identity.step(H).is_err();
        for (k, run) in [&full, &identity].into_iter().enumerate() {
            let errors: Vec<f64> = run.stepper.looks().iter().map(|l| l.error).collect();
            let last = errors.last().copied().unwrap_or(f64::INFINITY);
            finals[k].push(if k == 1 && broke { f64::INFINITY } else { last });
            curves[k].push(errors);
        }
        // h² times the diagonal of W: how far the two choices of r are apart.
        let w = full.stepper.system().w_diagonal();
        factors.extend((0..full.stepper.report().contacts).map(|c| 1.0 / (H * H * w[3 * c])));
    }
    let [a, b] = &mut finals;
    let (median_full, median_identity) = (median(a), median(b));
    let solved = |x: &[f64]| x.iter().filter(|e| **e <= 1e-6).count() as f64 / x.len() as f64;
    let apart = median(&mut factors);
    rows.push(Row::new("beam: r of the identity over r of the effective mass, median", apart, "×"));
    let errors_at = |k: usize, i: usize| {
        curves[k].iter().filter_map(|c| c.get(i).or(c.last())).copied().collect::<Vec<f64>>()
    };
    for (share, median, name) in
        [(solved(a), median_full, "effective mass"), (solved(b), median_identity, "identity")]
    {
        let what = format!("beam, {how}, {name}: median error after {n}");
        rows.push(Row::new(what, median, "of the velocity scale"));
        rows.push(Row::new(format!("beam, {how}, {name}: steps at 1e-6 after {n}"), share, "of all"));
    }
    let (full_share, identity_share) = (solved(a), solved(b));
    let ratio = Row::new(
        format!("beam, {how}: final median error, identity over effective mass"),
        median_identity / median_full,
        "×",
    )
    .against("often an order of magnitude for the same count");
    let share = Row::new(
        format!("beam, {how}: steps at 1e-6, identity over effective mass"),
        identity_share / full_share,
        "×",
    )
    .against("significantly fewer");
    let same = format!(
        "for segments of 3 g r = 1 m/N is only {apart:.0} times what their mass asks for: with exact solves both scalings solve \
         the same steps, and with 40 iterations of PCR the joints decide. Without our guard \
         of W it is no worse either. With forces a million times larger and the same motion the identity solves fewer steps, \
         effective mass as many (rows below)"
    );
    let (lower, fewer) = (median_identity >= 10.0 * median_full, 2.0 * identity_share <= full_share);
    if given {
        let ratio = ratio.at_least(10.0);
        rows.push(if lower { ratio } else { ratio.because(same.clone()) });
        let share = share.accept("at most ½", fewer && full_share > 0.0);
        rows.push(if fewer && full_share > 0.0 { share } else { share.because(same) });
    } else {
        let rounding = "given many full steps and exact solves both end at rounding";
        rows.push(ratio.because(rounding));
        rows.push(share.because(rounding));
        // On the way there: where effective mass has brought half of the steps to 1e-6.
        let reached = (0..=n).find(|&i| median(&mut errors_at(0, i)) <= 1e-6).unwrap_or(n);
        let [full_then, identity_then] = [0, 1].map(|k| median(&mut errors_at(k, reached)));
        let what =
            format!("beam, {how}: median error after {reached} iterations, identity over effective mass");
        rows.push(Row::new(what, identity_then / full_then, "×"));
    }
    let mut plot = Plot::new(
        "Beam insertion: median error over the steps",
        "Newton iteration",
        "error / velocity scale",
    );
    plot.y_scale = Scale::Log;
    let mut table = Vec::new();
    for (k, name) in ["effective mass", "identity"].into_iter().enumerate() {
        let at = |i: usize, share: f64| {
            let mut all: Vec<f64> = curves[k].iter().filter_map(|c| c.get(i).or(c.last())).copied().collect();
            quantile(&mut all, share)
        };
        let points: Vec<(f64, f64)> = (0..=n).map(|i| (i as f64, at(i, 0.5).max(1e-17))).collect();
        for i in 0..=n {
            table.push(vec![
                name.to_string(),
                i.to_string(),
                csv_number(at(i, 0.25)),
                csv_number(at(i, 0.5)),
                csv_number(at(i, 0.75)),
            ]);
        }
        plot.add(name, Mark::Line, points);
    }
    ctx.csv(
        &format!("beam-{}", how.replace(' ', "-")),
        &["scaling", "iteration", "lower_quartile", "median", "upper_quartile"],
        &table,
    )?;
    ctx.plot(&format!("beam-{}", how.replace(' ', "-")), &plot)
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
    for guard in [ConeGuard::Off, ConeGuard::Project] {
        let mut shares = Vec::new();
        for (scaling, name) in SCALINGS {
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
            let what = if guard == ConeGuard::Off { "as printed" } else { "guarded W" };
            let row = Row::new(
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
                    "400 contacts, as printed: identity over effective mass",
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
        ("arch", samples::arch(10, 0.6)),
        ("wall", samples::wall_with_speed(5, 5, 0.6, 0.0, 1)),
        ("heavy stack", samples::heavy_stack(5)),
    ];
    let mut table = Vec::new();
    for (scene, p) in scenes {
        let mut plot =
            Plot::new(&format!("Complementarity error, {scene}"), "Newton iteration", "max |φ| [m/s]");
        let mut steps = Plot::new(&format!("Step size, {scene}"), "Newton iteration", "max |Δ|");
        (plot.y_scale, steps.y_scale) = (Scale::Log, Scale::Log);
        let mut all = Vec::new();
        for (guard, how) in [(ConeGuard::Off, "as printed"), (ConeGuard::Project, "guarded W")] {
            for (scaling, name) in SCALINGS {
                let settings = NewtonSettings {
                    scaling,
                    step: StepRule::Fixed(1.0),
                    cone_guard: guard,
                    regularization: Regularization::Relative(1e-9),
                    ..paper(50, LinearMethod::Llt, 0)
                };
                let (iterates, _) = looks(&p, settings);
                plot.add(&format!("{name}, {how}"), Mark::Line, curve(&iterates, |l| l.error));
                steps.add(&format!("{name}, {how}"), Mark::Line, curve(&iterates, |l| l.step));
                for l in &iterates {
                    let numbers = [l.error, l.rows, l.step].map(csv_number);
                    let words = [scene.to_string(), name.into(), how.into(), l.iteration.to_string()];
                    table.push(words.into_iter().chain(numbers).collect());
                }
                let best = iterates.iter().map(|l| l.error).fold(f64::INFINITY, f64::min);
                let last = iterates.last().map_or(f64::INFINITY, |l| l.error);
                let failed = last.is_nan() || last > 1e-3 * iterates[0].error;
                let printed = guard == ConeGuard::Off;
                failures += usize::from(printed && scaling == Scaling::Identity && failed);
                let to =
                    iterates.iter().find(|l| l.error < 1e-6).map_or(f64::INFINITY, |l| l.iteration as f64);
                let what = format!("{scene}, {how}, {name}: iterations to 1e-6 (best error {best:.1e})");
                let row = Row::new(what, to, "");
                rows.push(match scaling {
                    Scaling::EffectiveMass if !printed => row.against("most reliable").at_most(50.0),
                    Scaling::EffectiveMass if to.is_infinite() => {
                        row.because("full steps over the pole of W (N5); with the guard it converges")
                    }
                    _ => row,
                });
                all.push(iterates);
            }
        }
        if scene == "heavy stack" {
            let what = "error of h² over effective mass, where the latter reaches 1e-6";
            rows.push(
                Row::new(format!("heavy stack: {what}"), behind(&all[1], &all[2]), "×")
                    .against("h² suffers from mass ratios")
                    .at_least(10.0),
            );
            let absolute = |scaling| {
                let step = StepRule::Fixed(1.0);
                looks(&p, NewtonSettings { scaling, step, ..paper(50, LinearMethod::Llt, 0) }).0
            };
            let ratio = behind(&absolute(Scaling::TimeStep), &absolute(Scaling::EffectiveMass));
            rows.push(Row::new(format!("heavy stack, ε = 1e-6/kg: {what}"), ratio, "×").because(
                "that ε is 3 % of the diagonal under 32768 kg, and leaves so much of the error per iteration with any scaling",
            ));
        }
        ctx.plot(&format!("error-{}", scene.replace(' ', "-")), &plot)?;
        ctx.plot(&format!("step-{}", scene.replace(' ', "-")), &steps)?;
    }
    let row =
        Row::new("scenes on which identity fails (no 1e-3 reduction in 50 iterations)", failures as f64, "")
            .against("often fails")
            .at_least(1.0);
    rows.push(if failures > 0 {
        row
    } else {
        row.because("at rest and with exact linear solves it is only slow, two to three times; in motion it fails (NSN-F16)")
    });
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
