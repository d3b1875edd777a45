//! NSN-S10.5: the floors of error in 32-bit numbers against their prediction (91), (92).

use super::steps::{curve, paper};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::svg::{Mark, Plot, Scale};
use stiction::contact::samples;
use stiction::linalg::Real;
use stiction::solvers::newton::schur::Schur;
use stiction::solvers::newton::{LinearMethod, Look, NewtonSettings, Product, StepRule, solve_in};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-S10.5",
    title: "limiting accuracy of the step and of the residual in 32-bit numbers",
    claim: "Macklin et al. 2019, 10.5: Tisseur's model predicts the observed floors",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (scene, p) in [("arch", samples::arch(10, 0.6)), ("heavy stack", samples::heavy_stack(5))] {
        let settings =
            NewtonSettings { step: StepRule::Fixed(1.0), ..paper(60, LinearMethod::ConjugateResidual, 100) };
        let (single, mut newton, x) = solve_in::<f32>(&p, &settings);
        let (double, ..) = solve_in::<f64>(&p, &settings);
        let floor = |looks: &[Look], of: fn(&Look) -> f64| {
            looks.iter().skip(2).map(of).filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min)
        };
        let delta = f32::EPSILON as f64;
        let within = |a: f64, b: f64| a / b <= 10.0 && b / a <= 10.0;
        // The system that is solved, (59): unknowns λ, residual J H⁻¹ g − h in m/s.
        let step = floor(&single, |l| l.step);
        let mut b = Vec::new();
        newton.system.right_side(&mut b);
        let residual = b.iter().fold(0.0_f64, |m, v| m.max(v.to_f64().abs()));
        let largest = |x: &[f32]| x.iter().fold(0.0_f64, |m, v| m.max(v.to_f64().abs()));
        let reduced = norms(schur_matrix(&mut newton.system), &x.lambda);
        let predicted_step = reduced.inverse * delta * residual + largest(&x.lambda) * delta;
        let predicted_residual = reduced.norm * largest(&x.lambda) * delta;
        for (what, ours, theirs, eq) in
            [("step", step, predicted_step, "(91)"), ("residual", residual, predicted_residual, "(92)")]
        {
            let row = Row::new(format!("{scene}: floor of the {what} of (59) in 32-bit numbers"), ours, "")
                .against(format!("{theirs:.1e} ({eq})"))
                .accept("within ten times", within(ours, theirs));
            rows.push(if within(ours, theirs) {
                row
            } else {
                row.because(
                    "‖S‖ is a row of the light crown and ‖λ‖ a force of the heavy feet, and no product of both is ever \
                     rounded; row by row the model holds (next rows)",
                )
            });
        }
        let over_parts = |what: &str, ours: f64, by_parts: f64| {
            Row::new(
                format!("{scene}: floor of the residual of {what}, over max Σ|a_ij x_j| δ"),
                ours / (by_parts * delta),
                "×",
            )
            .against("(92) by components")
            .accept("within ten times", within(ours, by_parts * delta))
        };
        rows.push(over_parts("(59)", residual, reduced.by_parts));
        // The whole of (56), whose rows are N·s and m/s.
        let all: Vec<f32> = x.u.iter().chain(&x.lambda).copied().collect();
        let whole = norms(whole_matrix(&newton.system, 1e-6), &all);
        let residual = floor(&single, |l| l.rows.max(l.momentum));
        let predicted = whole.norm * largest(&all) * delta;
        rows.push(
            Row::new(format!("{scene}: floor of the residual of (56)"), residual, "")
                .against(format!("{predicted:.1e} ((92))"))
                .because(
                    "as one system of N·s and m/s (92) is no prediction: ‖A‖ is the largest mass and ‖x‖ the largest impulse, \
                     which never meet",
                ),
        );
        rows.push(over_parts("(56)", residual, whole.by_parts));
        rows.push(Row::new(
            format!("{scene}: floor of the residual in 64-bit numbers"),
            floor(&double, |l| l.rows.max(l.momentum)),
            "",
        ));
        let mut plot = Plot::new(
            &format!("Residual in 32- and 64-bit numbers, {scene}"),
            "Newton iteration",
            "max residual",
        );
        plot.y_scale = Scale::Log;
        plot.add("32 bits", Mark::Line, curve(&single, |l| l.rows.max(l.momentum)));
        plot.add("64 bits", Mark::Line, curve(&double, |l| l.rows.max(l.momentum)));
        plot.add("(92)", Mark::Dashes, vec![(0.0, predicted_residual), (60.0, predicted_residual)]);
        ctx.plot(&scene.replace(' ', "-"), &plot)?;
    }
    Ok(rows)
}

/// L∞ norms of a matrix and of its inverse, and the largest Σ|a_ij x_j|.
struct Norms {
    norm: f64,
    inverse: f64,
    by_parts: f64,
}

fn norms(a: Vec<f64>, x: &[f32]) -> Norms {
    let n = x.len();
    let norm =
        |a: &[f64]| a.chunks_exact(n).map(|r| r.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let part = |row: &[f64]| row.iter().zip(x).map(|(a, x)| a.abs() * x.to_f64().abs()).sum::<f64>();
    let by_parts = a.chunks_exact(n).map(part).fold(0.0, f64::max);
    Norms { norm: norm(&a), by_parts, inverse: norm(&inverse(a, n)) }
}

/// The matrix of (59).
fn schur_matrix(s: &mut Schur<f32>) -> Vec<f64> {
    s.prepare(Product::Assembled, true, NewtonSettings::default().regularization);
    let m = s.rows();
    let mut a = vec![0.0; m * m];
    let mut unit = vec![0.0f32; m];
    let (mut column, mut work) = (vec![0.0f32; m], Vec::new());
    for k in 0..m {
        unit.fill(0.0);
        unit[k] = 1.0;
        s.apply(&unit, &mut column, &mut work);
        (0..m).for_each(|r| a[r * m + k] = column[r].to_f64());
    }
    a
}

/// The matrix of (56), with ε.
fn whole_matrix(s: &Schur<f32>, epsilon: f64) -> Vec<f64> {
    let (n, m) = (s.mass.dofs(), s.rows());
    let size = n + m;
    let mut a = vec![0.0; size * size];
    let mut unit = vec![0.0f32; n];
    let mut column = vec![0.0f32; n];
    for k in 0..n {
        unit.fill(0.0);
        unit[k] = 1.0;
        s.mass.mul(&unit, &mut column);
        for r in 0..n {
            a[r * size + k] = column[r].to_f64();
        }
    }
    for i in 0..m {
        let (columns, values) = s.j.row(i);
        for (c, v) in columns.iter().zip(values) {
            let x = (s.scale[i] * *v).to_f64();
            a[(n + i) * size + *c as usize] = x;
            a[*c as usize * size + n + i] = -x;
        }
        a[(n + i) * size + n + i] = s.compliance.diagonal[i].to_f64() + epsilon;
    }
    a
}

/// Gauss–Jordan with pivots by rows.
fn inverse(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    (0..n).for_each(|i| out[i * n + i] = 1.0);
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap_or(k);
        if pivot != k {
            for c in 0..n {
                a.swap(pivot * n + c, k * n + c);
                out.swap(pivot * n + c, k * n + c);
            }
        }
        let d = a[k * n + k];
        for c in 0..n {
            a[k * n + c] /= d;
            out[k * n + c] /= d;
        }
        for i in (0..n).filter(|&i| i != k) {
            let f = a[i * n + k];
            if f != 0.0 {
                for c in 0..n {
                    a[i * n + c] -= f * a[k * n + c];
                    out[i * n + c] -= f * out[k * n + c];
                }
            }
        }
    }
    out
}
