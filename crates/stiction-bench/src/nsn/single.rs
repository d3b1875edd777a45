//! NSN-S10.5: the floors of error in 32-bit numbers against their prediction (91), (92).
//!
//! Reading. A is the matrix of (59), which the paper calls the system matrix, x is λ [N·s], both at the solution, and r the right-hand
//! side [m/s] of the iterate at which it is lowest. In newtons, as (59) is printed, both sides of (91) and of (92) are multiplied by 1/h alike.
//! Shown beside it: the rows (58) alone, which Figs. 17 and 18 plot, and (56) with x = (u, λh), whose rows are N·s and m/s,
//! so that one norm of both says little.
//!
//! All is in 32 bits: places, contact points, gaps (9), rows; masses, their inverses and normals are rounded once. The scenes
//! are turned about the origin, for the corners of the cubes lie at halves and wholes, which 32-bit numbers hold exactly;
//! turned, they round as those of any other scene.

use super::steps::{curve, paper};
use crate::{Context, Experiment, Row};
use stiction::Vec3;
use stiction::contact::ContactProblem;
use stiction::contact::samples::{self, Assembly};
use stiction::coords::Pose;
use stiction::linalg::{Quat, Real, Rng};
use stiction::papers::nsn::solve::schur::Schur;
use stiction::papers::nsn::solve::{LinearMethod, Look, NewtonSettings, Product, StepRule, solve_in};
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-S10.5",
    title: "limiting accuracy of the step and of the residual in 32-bit numbers",
    claim: "Macklin et al. 2019, 10.5: Tisseur's model predicts the observed floors",
    run,
};

/// δ.
const DELTA: f64 = f32::EPSILON as f64;
const ITERATIONS: usize = 60;
/// Turns of each scene.
const TURNS: usize = 8;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let turn = Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 1.0);
    let mut rng = Rng::new(1);
    let others: Vec<Quat> =
        (1..TURNS).map(|_| Quat::from_axis_angle(rng.normal3().normalize(), rng.range(0.5, 2.5))).collect();
    let mut rows = Vec::new();
    for (id, scene, bodies) in [
        ("arch", "arch", samples::arch_bodies(10, 0.6)),
        ("heavy-stack", "heavy stack", samples::heavy_stack_bodies(5)),
    ] {
        let turned = bodies.clone().turned(turn);
        let (p, poses) = (turned.problem(), turned.poses());
        let placed = Floors::find(&p, Some(&poses));
        for (what, ours, theirs, eq) in placed.against_prediction() {
            let row = Row::new(
                format!("{id}/turned/{what}"),
                format!("{scene}: floor of the {what} of (59) in 32-bit numbers"),
                ours,
                "",
            )
            .against(format!("{theirs:.1e} ({eq})"))
            .accept("within ten times", within(ours, theirs));
            let reason = match what {
                "step" => {
                    "ν = δ‖r‖ takes r as known to its last bit, but gaps from places are known to δ|x|/h; that noise becomes a \
                     step along forces of redundant contacts that cancel, which A hardly resists"
                }
                _ => {
                    "the floor is the rounding of places (next row), which knows no mass; (92) multiplies a row of the lightest \
                     body by a force of the heaviest"
                }
            };
            rows.push(if within(ours, theirs) { row } else { row.because(reason) });
        }
        // One turn may meet (92) by luck.
        let all = others.iter().map(|&by| {
            let turned = bodies.clone().turned(by);
            Floors::find(&turned.problem(), Some(&turned.poses()))
        });
        let all: Vec<(f64, f64)> =
            all.chain([placed.clone()]).map(|f| (f.residual, f.reduced.residual())).collect();
        let met = all.iter().filter(|(ours, theirs)| within(*ours, *theirs)).count();
        let span = |of: fn(&(f64, f64)) -> f64| {
            let least = all.iter().map(of).fold(f64::INFINITY, f64::min);
            format!("{least:.1e} to {:.1e}", all.iter().map(of).fold(0.0, f64::max))
        };
        rows.push(
            Row::new(
                format!("{id}/turns-met"),
                format!("{scene}: turns of {TURNS} that meet (92)"),
                met as f64,
                "",
            )
            .against("the paper's one figure")
            .because(format!(
                "residuals are {} m/s, (92) is {} m/s",
                span(|x| x.0),
                span(|x| x.1)
            )),
        );
        // What the noise of gaps is, and what Tisseur's bound says with it as ν.
        let noise = rounding(&turned);
        rows.push(
            Row::new(
                format!("{id}/turned/residual-over-rounding"),
                format!("{scene}: floor of the residual of (59), over δ|x|/h"),
                placed.residual / noise,
                "×",
            )
            .against("about 1"),
        );
        rows.push(
            Row::new(
                format!("{id}/turned/step-by-rounding"),
                format!("{scene}: floor of the step of (59), with ν = δ|x|/h"),
                placed.step,
                "",
            )
            .against(format!("≤ {:.1e} ((91))", placed.reduced.step(noise)))
            .because("‖A⁻¹‖ν is a bound: it takes all noise to lie along the softest forces"),
        );
        rows.push(
            Row::new(
                format!("{id}/turned/residual-median"),
                format!("{scene}: median of the residual of (59), late iterates"),
                placed.median,
                "",
            )
            .against(format!("{:.1e} ((92))", placed.reduced.residual())),
        );
        rows.push(
            Row::new(
                format!("{id}/turned/constraint"),
                format!("{scene}: floor of the rows (58)"),
                placed.constraint,
                "",
            )
            .against(format!("{:.1e} ((92))", placed.reduced.residual())),
        );
        let what = format!("{scene}: floor of the residual of (56)");
        rows.push(
            Row::new(format!("{id}/turned/whole-residual"), what, placed.whole_residual, "")
                .against(format!("{:.1e} ((92))", placed.whole.residual()))
                .because(
                    "as one system of N·s and m/s (92) is no prediction: ‖A‖ is the largest mass and ‖x‖ the largest impulse, \
                     which never meet",
                ),
        );
        rows.push(
            Row::new(
                format!("{id}/turned/whole-step"),
                format!("{scene}: floor of the step of (56)"),
                placed.step,
                "",
            )
            .against(format!("{:.1e} ((91))", placed.whole.step(DELTA * placed.whole_residual))),
        );
        // The same scene as it stands, and with gaps that are known exactly.
        let standing = Floors::find(&bodies.problem(), Some(&bodies.poses()));
        let frozen = Floors::find(&bodies.problem(), None);
        for (way, how, floors) in [("standing", "not turned", &standing), ("frozen", "frozen", &frozen)] {
            for (what, ours, theirs, eq) in floors.against_prediction() {
                let row = Row::new(
                    format!("{id}/{way}/{what}"),
                    format!("{scene}, {how}: floor of the {what} of (59)"),
                    ours,
                    "",
                )
                .against(format!("{theirs:.1e} ({eq})"));
                rows.push(if how == "frozen" && what == "residual" {
                    row.because(
                        "gaps are given and exact, and the rows all but vanish: what is left is the rounding of the momentum balance. ‖S‖ is \
                         a row of the lightest body and ‖λ‖ a force of the heaviest, and no product of both is rounded",
                    )
                } else {
                    row
                });
            }
        }
        for (what, of, ours, by_parts) in [
            ("residual", "(59)", frozen.residual, frozen.reduced.by_parts),
            ("whole-residual", "(56)", frozen.whole_residual, frozen.whole.by_parts),
        ] {
            rows.push(
                Row::new(
                    format!("{id}/frozen/{what}-by-parts"),
                    format!("{scene}, frozen: floor of the residual of {of}, over max Σ|a_ij x_j| δ"),
                    ours / (by_parts * DELTA),
                    "×",
                )
                .against("(92) by components"),
            );
        }
        let (double, ..) = solve_in::<f64>(&p, &settings(ITERATIONS), Some(&poses));
        rows.push(Row::new(
            format!("{id}/64-bit/residual"),
            format!("{scene}: floor of the residual in 64-bit numbers"),
            floor(&double, |l| l.rows.max(l.momentum)),
            "",
        ));
        let mut plot = Plot::new(
            &format!("Largest error of the rows in 32- and 64-bit numbers, {scene}"),
            "Newton iteration",
            "max residual [m/s]",
        );
        plot.y_scale = Scale::Log;
        plot.add("32 bits", Mark::Line, curve(&placed.looks, |l| l.rows));
        plot.add("32 bits, frozen", Mark::Line, curve(&frozen.looks, |l| l.rows));
        plot.add("64 bits", Mark::Line, curve(&double, |l| l.rows));
        let predicted = placed.reduced.residual();
        plot.add("(92)", Mark::Dashes, vec![(0.0, predicted), (ITERATIONS as f64, predicted)]);
        ctx.plot(id, &plot)?;
    }
    Ok(rows)
}

fn settings(iterations: usize) -> NewtonSettings {
    NewtonSettings { step: StepRule::Fixed(1.0), ..paper(iterations, LinearMethod::ConjugateResidual, 100) }
}

fn within(a: f64, b: f64) -> bool {
    a / b <= 10.0 && b / a <= 10.0
}

/// The second half of the iterates: at first steps can be short because they lead nowhere.
fn late(looks: &[Look]) -> &[Look] {
    &looks[looks.len() / 2..]
}

fn floor(looks: &[Look], of: fn(&Look) -> f64) -> f64 {
    late(looks).iter().map(of).filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min)
}

/// δ|x|/h of the body that is farthest from the origin [m/s].
fn rounding(bodies: &Assembly) -> f64 {
    let far = bodies.poses().iter().map(|p| p.translation.length()).fold(0.0, f64::max);
    far * DELTA / samples::TIME_STEP
}

/// What a run in 32-bit numbers comes down to, and the systems there.
#[derive(Clone)]
struct Floors {
    looks: Vec<Look>,
    /// Of (Δu, Δλ), of which Δλ is the larger.
    step: f64,
    /// Of (59) and (56).
    residual: f64,
    whole_residual: f64,
    /// Median of the residual of (59) over late iterates.
    median: f64,
    /// Of the rows (58) alone.
    constraint: f64,
    reduced: Norms,
    whole: Norms,
}

impl Floors {
    fn find(p: &ContactProblem, poses: Option<&[Pose]>) -> Floors {
        let (looks, ..) = solve_in::<f32>(p, &settings(ITERATIONS), poses);
        // The same run again, up to each late iterate: the residual of (59).
        let stopped = |look: &Look| {
            let (_, mut newton, _) = solve_in::<f32>(p, &settings(look.iteration), poses);
            let mut b = Vec::new();
            newton.system.right_side(&mut b);
            largest(&b)
        };
        let mut late: Vec<f64> = late(&looks).iter().map(stopped).collect();
        late.sort_by(f64::total_cmp);
        let median = late[late.len() / 2];
        let residual = late[0];
        // A and x at the solution, which 64 bits tell. The lowest iterate in 32 bits, which the paper takes, still has contacts with next
        // to no force, whose W is beyond all measure.
        let (_, mut newton, x) = solve_in::<f64>(p, &settings(ITERATIONS), poses);
        let all: Vec<f64> = x.u.iter().chain(&x.lambda).copied().collect();
        Floors {
            step: floor(&looks, |l| l.step),
            residual,
            median,
            constraint: floor(&looks, |l| l.rows),
            whole_residual: floor(&looks, |l| l.rows.max(l.momentum)),
            whole: Norms::new(whole_matrix(&newton.system, 1e-6), &all),
            reduced: Norms::new(schur_matrix(&mut newton.system), &x.lambda),
            looks,
        }
    }

    /// Step and residual of (59): name, observed, predicted, by what.
    fn against_prediction(&self) -> [(&'static str, f64, f64, &'static str); 2] {
        [
            ("step", self.step, self.reduced.step(DELTA * self.residual), "(91)"),
            ("residual", self.residual, self.reduced.residual(), "(92)"),
        ]
    }
}

fn largest<T: Real>(x: &[T]) -> f64 {
    x.iter().fold(0.0_f64, |m, v| m.max(v.to_f64().abs()))
}

/// L∞ norms of a matrix, of its inverse and of x, and the largest Σ|a_ij x_j|.
#[derive(Clone)]
struct Norms {
    norm: f64,
    inverse: f64,
    largest: f64,
    by_parts: f64,
}

impl Norms {
    fn new(a: Vec<f64>, x: &[f64]) -> Norms {
        let n = x.len();
        let norm =
            |a: &[f64]| a.chunks_exact(n).map(|r| r.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
        let part = |row: &[f64]| row.iter().zip(x).map(|(a, x)| a.abs() * x.abs()).sum::<f64>();
        let by_parts = a.chunks_exact(n).map(part).fold(0.0, f64::max);
        Norms { norm: norm(&a), by_parts, largest: largest(x), inverse: norm(&inverse(a, n)) }
    }

    /// ‖A⁻¹‖ν + ‖x‖δ (91).
    fn step(&self, nu: f64) -> f64 {
        self.inverse * nu + self.largest * DELTA
    }

    /// ‖A‖‖x‖δ (92).
    fn residual(&self) -> f64 {
        self.norm * self.largest * DELTA
    }
}

/// The matrix of (59).
fn schur_matrix(s: &mut Schur<f64>) -> Vec<f64> {
    s.prepare(Product::Assembled, true, NewtonSettings::default().regularization);
    let m = s.rows();
    let mut a = vec![0.0; m * m];
    let mut unit = vec![0.0; m];
    let (mut column, mut work) = (vec![0.0; m], Vec::new());
    for k in 0..m {
        unit.fill(0.0);
        unit[k] = 1.0;
        s.apply(&unit, &mut column, &mut work);
        (0..m).for_each(|r| a[r * m + k] = column[r]);
    }
    a
}

/// The matrix of (56), with ε.
fn whole_matrix(s: &Schur<f64>, epsilon: f64) -> Vec<f64> {
    let (n, m) = (s.mass.dofs(), s.rows());
    let size = n + m;
    let mut a = vec![0.0; size * size];
    let mut unit = vec![0.0; n];
    let mut column = vec![0.0; n];
    for k in 0..n {
        unit.fill(0.0);
        unit[k] = 1.0;
        s.mass.mul(&unit, &mut column);
        for r in 0..n {
            a[r * size + k] = column[r];
        }
    }
    for i in 0..m {
        let (columns, values) = s.j.row(i);
        for (c, v) in columns.iter().zip(values) {
            let x = s.scale[i] * *v;
            a[(n + i) * size + *c as usize] = x;
            a[*c as usize * size + n + i] = -x;
        }
        a[(n + i) * size + n + i] = s.compliance.diagonal[i] + epsilon;
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
