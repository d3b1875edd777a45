//! COND-theory: propositions, lemma, theorems and remark of the paper as numbers.

use crate::{Context, Experiment, Row};
use stiction::contact::law::cone;
use stiction::contact::samples;
use stiction::contact::soft_samples::SoftBlock;
use stiction::contact::{ContactProblem, Friction, Law, Solution, residual};
use stiction::linalg::Rng;
use stiction::papers::cond::majorant::absolute_column_sums;
use stiction::papers::cond::operators::{Operator, one_shot, project};
use stiction::papers::cond::{Cond, CondSettings, StepSize, Stop};
use stiction::solvers::island::Acceleration;
use stiction::solvers::{ContactSolver, TraceRecord};
use stiction::{Scheme, Vec3};
use stiction_cli::failure::Result;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "COND-theory",
    title: "Propositions 2 and 4–6, Lemma 3, Theorems 1–2, Remark 1",
    claim: "COND (Lee et al. 2022): what is proved there holds in numbers; Propositions 1 and 3 are unit tests of `nodal.rs`",
    run,
};

fn solve(p: &ContactProblem, settings: CondSettings, trace: &mut Vec<TraceRecord>) -> Solution {
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    Cond::new(settings).solve(p, &mut x, trace);
    x
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let samples = ctx.pick(2_000, 20_000);
    let mut rows = Vec::new();
    rows.push(perturbation());
    rows.extend(operators(samples));
    rows.extend(contraction());
    rows.extend(consistency());
    rows.push(dominance(samples));
    Ok(rows)
}

/// Prop. 2: the contact velocity is off by λ/k_v.
fn perturbation() -> Row {
    let p = samples::incline(0.1, 0.5);
    let settings = |gain: f64| CondSettings {
        gain,
        stop: Stop::Update(1e-14),
        max_iterations: 200_000,
        ..Default::default()
    };
    let sink = |gain: f64| -p.j.mul_one(0, &solve(&p, settings(gain), &mut Vec::new()).v).x;
    let slope = (sink(1e5) / sink(1e3)).ln() / 100f64.ln();
    Row::new("prop-2", "Prop. 2: slope of the perturbation over k_v", slope, "")
        .against("-1")
        .accept("-1 ± 0.02", (slope + 1.0).abs() <= 0.02)
}

/// Props. 4–6 and Lemma 3 on random inputs.
fn operators(samples: usize) -> Vec<Row> {
    let mut rng = Rng::new(5);
    let (mut strict, mut glide, mut nearest) = (0.0_f64, 0.0_f64, 0.0_f64);
    let (mut monotone, mut counter) = (0, 0);
    for _ in 0..samples {
        let (x, y) = (2.0 * rng.normal3(), 2.0 * rng.normal3());
        let (mu, gamma) = (rng.range(0.05, 2.0), rng.range(0.1, 3.0));
        let law = Law::Contact(Friction::Isotropic(mu));
        let lambda = one_shot(Operator::Strict, law, gamma, Vec3::ZERO, x);
        strict = strict.max(cone::natural_map(lambda, gamma * lambda + x, mu, gamma).length());
        let lambda = one_shot(Operator::Proximal, law, gamma, Vec3::ZERO, x);
        let u = gamma * lambda + x;
        if lambda.x > 1e-9 {
            glide = glide.max((u.x - mu * cone::tangent_norm(u)).abs());
        }
        // Prop. 6 against brute force over the section.
        let friction = Friction::Elliptic(mu, 0.3 * mu);
        let p = project(Operator::Strict, x, friction);
        let best = (0..720)
            .map(|k| {
                let a = k as f64 * std::f64::consts::TAU / 720.0;
                (Vec3::new(p.x, mu * p.x * a.cos(), 0.3 * mu * p.x * a.sin()) - x).length()
            })
            .fold(f64::INFINITY, f64::min);
        let inside = (x.y / mu).hypot(x.z / (0.3 * mu)) <= p.x;
        if !inside {
            nearest = nearest.max((p - x).length() - best);
        }
        for (operator, count) in [(Operator::Proximal, &mut monotone), (Operator::Strict, &mut counter)] {
            let f = Friction::Isotropic(mu);
            let (p, q) = (project(operator, x, f), project(operator, y, f));
            *count += usize::from(((x - p) - (y - q)).dot(p - q) < -1e-10);
        }
    }
    vec![
        Row::new("prop-4", "Prop. 4: natural map of the strict operator, worst", strict, "")
            .against("0")
            .at_most(1e-10),
        Row::new("prop-5", "Prop. 5: |u_n − μ|u_t|| of the proximal operator, worst", glide, "")
            .against("0")
            .at_most(1e-9),
        Row::new("prop-6", "Prop. 6: distance beyond the best of brute force, worst", nearest, "")
            .against("≤ 0")
            .at_most(1e-9),
        Row::new("lemma-3/proximal", "Lemma 3: pairs that break it, proximal", monotone as f64, "")
            .against("0")
            .at_most(0.0),
        Row::new("lemma-3/strict", "Lemma 3: pairs that break it, strict", counter as f64, "")
            .against("> 0 (Fig. 5)")
            .at_least(1.0),
    ]
}

fn block() -> ContactProblem {
    let mut block = SoftBlock::new([3, 3, 3]).young(1e5);
    block.drive(0);
    block.problem()
}

/// Theorems 1 and 2.
fn contraction() -> Vec<Row> {
    let t = 0.01;
    let w = Scheme::Midpoint.weights(t);
    let settings = CondSettings {
        operator: Operator::Proximal,
        step_size: StepSize::Uniform,
        acceleration: Acceleration::None,
        stop: Stop::Update(1e-12),
        max_iterations: 500,
        ..Default::default()
    };
    let mut trace = Vec::new();
    solve(&block(), settings, &mut trace);
    let ratio = trace.windows(2).map(|w| w[1].residual / w[0].residual).fold(0.0, f64::max);
    let mut strict = Vec::new();
    solve(&block(), CondSettings { operator: Operator::Strict, ..settings }, &mut strict);
    let strict = strict.windows(2).map(|w| w[1].residual / w[0].residual).fold(0.0, f64::max);
    vec![
        Row::new("theorem-1", "Theorem 1: ‖I − M̂⁻¹A‖ over t²‖M⁻¹(JᵀKJ + E)‖", w.q / w.a / (t * t), "")
            .against("1/4 (printed 1/2)")
            .accept("1/4", (w.q / w.a / (t * t) - 0.25).abs() < 1e-12),
        Row::new("theorem-2/proximal", "Theorem 2: largest ratio of updates, proximal, W = α I", ratio, "")
            .against("< 1")
            .at_most(1.0),
        Row::new("theorem-2/strict", "the same with the strict operator", strict, "").against("no promise"),
    ]
}

/// Remark 1: what converges satisfies the dynamics.
fn consistency() -> Vec<Row> {
    let p = block();
    [1e-4, 1e-7, 1e-10]
        .into_iter()
        .map(|theta| {
            let settings =
                CondSettings { stop: Stop::Update(theta), max_iterations: 20_000, ..Default::default() };
            let m = residual::measure(&p, &solve(&p, settings, &mut Vec::new()));
            let row = Row::new(
                format!("remark-1/theta-{theta:e}"),
                format!("Remark 1: momentum error at θ = {theta:.0e}"),
                m.momentum,
                "√kg·m/s",
            )
            .against("→ 0");
            if theta == 1e-10 { row.at_most(1e-7) } else { row }
        })
        .collect()
}

/// E(q) of (9): absolute column sums bound a symmetric matrix.
fn dominance(samples: usize) -> Row {
    const N: usize = 6;
    let mut rng = Rng::new(11);
    let mut worst = f64::INFINITY;
    for _ in 0..samples {
        let mut e = [0.0; N * N];
        for r in 0..N {
            for c in 0..=r {
                let x = rng.range(-1.0, 1.0);
                (e[r * N + c], e[c * N + r]) = (x, x);
            }
        }
        let d = absolute_column_sums(&e, N);
        let x: [f64; N] = std::array::from_fn(|_| rng.range(-1.0, 1.0));
        let bound: f64 = (0..N).map(|i| d[i] * x[i] * x[i]).sum();
        let form: f64 = (0..N * N).map(|k| x[k / N] * e[k] * x[k % N]).sum();
        worst = worst.min((bound - form.abs()) / bound);
    }
    Row::new("majorant", "E(q): least xᵀ(D − |E|)x over xᵀDx, D by absolute column sums", worst, "")
        .against("≥ 0")
        .at_least(0.0)
}
