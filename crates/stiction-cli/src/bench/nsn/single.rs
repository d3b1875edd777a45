//! NSN-S10.5: the floors of error in 32-bit numbers against their prediction (91), (92).

use super::steps::{curve, paper};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::svg::{Mark, Plot, Scale};
use stiction::contact::samples;
use stiction::linalg::Real;
use stiction::solvers::newton::schur::Schur;
use stiction::solvers::newton::{Iterate, LinearMethod, NewtonSettings, StepRule, solve_in};

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
        let (single, newton, x) = solve_in::<f32>(&p, &settings);
        let (double, ..) = solve_in::<f64>(&p, &settings);
        let floor = |looks: &[stiction::solvers::newton::Look],
                     of: fn(&stiction::solvers::newton::Look) -> f64| {
            looks.iter().skip(2).map(of).filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min)
        };
        let (step, residual) = (floor(&single, |l| l.step), floor(&single, |l| l.rows.max(l.momentum)));
        let (norm, inverse, by_parts) = norms(&newton.system, &x, 1e-6);
        let size = x.u.iter().chain(&x.lambda).fold(0.0_f64, |m, v| m.max(v.to_f64().abs()));
        let delta = f32::EPSILON as f64;
        let predicted_residual = norm * size * delta;
        let predicted_step = inverse * delta * residual + size * delta;
        let within = |a: f64, b: f64| a / b <= 10.0 && b / a <= 10.0;
        for (what, ours, theirs) in
            [("step", step, predicted_step), ("residual", residual, predicted_residual)]
        {
            let row = Row::new(format!("{scene}: floor of the {what} in 32-bit numbers"), ours, "")
                .against(format!("{theirs:.1e} ({})", if what == "step" { "(91)" } else { "(92)" }));
            let met = within(ours, theirs);
            let row = row.accept("within ten times", met);
            rows.push(match (met, ours < theirs) {
                (true, _) => row,
                (_, true) => {
                    row.because(format!(
                        "‖A‖ is the largest mass and ‖x‖ the largest impulse, which never meet: masses multiply velocities \
                         that vanish at rest. Row by row, max Σ|a_ij x_j| δ = {:.1e}",
                        by_parts * delta
                    ))
                }
                _ => row.because("friction is a fixed point, not Newton, and rounds on the way"),
            });
        }
        rows.push(
            Row::new(
                format!("{scene}: floor of the residual, over max Σ|a_ij x_j| δ"),
                residual / (by_parts * delta),
                "×",
            )
            .against("(92) by components")
            .accept("within ten times", within(residual, by_parts * delta)),
        );
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

/// L∞ norms of the matrix of (56) and of its inverse, by elimination, and the largest Σ|a_ij x_j|.
fn norms(s: &Schur<f32>, x: &Iterate<f32>, epsilon: f64) -> (f64, f64, f64) {
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
    let norm =
        |a: &[f64]| a.chunks_exact(size).map(|r| r.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let before = norm(&a);
    let x: Vec<f64> = x.u.iter().chain(&x.lambda).map(|x| x.to_f64().abs()).collect();
    let by_parts = a
        .chunks_exact(size)
        .map(|row| row.iter().zip(&x).map(|(a, x)| a.abs() * x).sum::<f64>())
        .fold(0.0, f64::max);
    (before, norm(&inverse(a, size)), by_parts)
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
