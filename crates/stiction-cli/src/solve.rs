//! `stiction solve`: a bare contact problem from a file.

use crate::args::{count, law, other_law, positive, solver};
use crate::clock::Stopwatch;
use crate::failure::{Outcome, Result, error};
use crate::output::{check_target, csv_line, csv_number, print, write_file};
use crate::table::{Paint, Table, duration, number};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use stiction::contact::LocalProblem;
use stiction::solvers::{self, SolveReport, Trace, TraceRecord};
use stiction::{SolverKind, SolverSettings, Vec3};
use stiction_io::problem;

/// Arguments of `solve`.
#[derive(Args)]
#[command(after_help = "\
The file holds the local form u = W r + q (W_data, W_indices, W_indptr, q, mu) or the global form
M v = H r + f, u = Hᵀ v + w (M_*, H_*, f, w, mu): CSR, three or two rows per contact, normal first.

Examples:
  stiction solve step-00042.npz
  stiction solve wall.npz --solver pgs --max-iter 10000 --trace curve.csv
  stiction solve wall.npz --tol 1e-10 --out solution.npz --json")]
pub struct SolveArgs {
    /// The problem
    #[arg(value_name = "PROBLEM.npz")]
    problem: PathBuf,

    /// Contact solver
    #[arg(long, value_name = "NAME", value_parser = solver(), default_value = "exact")]
    solver: SolverKind,

    /// Tolerance: velocity error relative to the velocity scale
    #[arg(long, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    tol: Option<f64>,

    /// Most iterations (sweeps)
    #[arg(long, value_name = "N", value_parser = count::<usize>, allow_negative_numbers = true)]
    max_iter: Option<usize>,

    /// Write r, u (and v) to this file
    #[arg(long, value_name = "SOLUTION.npz")]
    out: Option<PathBuf>,

    /// Write the convergence curve to this file
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Solves a problem.
pub fn solve(args: &SolveArgs) -> Result<Outcome> {
    let problem = problem::read(&args.problem)?;
    for path in args.out.iter().chain(&args.trace) {
        check_target(path)?;
    }
    let p = &problem.local;
    let settings = SolverSettings { tolerance: args.tol, max_iterations: args.max_iter };
    let mut r = vec![Vec3::ZERO; p.contacts()];
    let mut records: Vec<TraceRecord> = Vec::new();
    let watch = Stopwatch::start();
    let mut report = if args.trace.is_some() {
        solve_local(args.solver, &settings, p, &mut r, &mut records)?
    } else {
        solve_local(args.solver, &settings, p, &mut r, &mut ())?
    };
    let took = watch.elapsed();
    let u = velocity(p, &r);
    let natural_rel = natural_relative(p, &r, &u);
    if let Some(path) = &args.trace {
        write_file(path, &trace_csv(&records))?;
    }
    if let Some(path) = &args.out {
        problem::write_solution(path, &problem.solution(&r)).inspect_err(|_| {
            if let Some(trace) = &args.trace {
                // Both or none; the error that matters is the first one.
                let _ = std::fs::remove_file(trace);
            }
        })?;
    }
    report.status = report.status.judged(bears_out(p, &r, &u, args.solver));
    let solved = report.status.is_solved();
    let outcome = if solved { Outcome::Good } else { Outcome::Unsolved };

    if args.json {
        let mut json = json!({
            "problem": args.problem.display().to_string(),
            "solver": args.solver.name(),
            "law": law(args.solver),
            "contacts": p.contacts(),
            "dimension": problem.dim,
            "iterations": report.iterations,
            "factorizations": report.factorizations,
            "seconds": took.wall,
            "cpu_seconds": took.cpu,
            "status": report.status.word(),
            "velocity": report.velocity,
            "natural_rel": natural_rel,
        });
        if let stiction::Status::Infeasible(contacts) = &report.status {
            json["infeasible_contacts"] = json!(contacts);
        }
        print(&format!("{json}\n"))?;
        return Ok(outcome);
    }
    let paint = Paint::for_stdout();
    let word = report.status.word();
    let mut t = Table::new();
    t.row(["contacts".to_string(), format!("{}, {}-D", p.contacts(), problem.dim)]);
    t.row(["solver".to_string(), args.solver.name().to_string()]);
    if !args.solver.solves_coulomb() {
        t.row(["law".to_string(), other_law(args.solver).to_string()]);
    }
    t.row(["status".to_string(), if solved { paint.good(word) } else { paint.bad(word) }]);
    if let stiction::Status::Infeasible(contacts) = &report.status {
        let list: Vec<String> = contacts.iter().take(20).map(usize::to_string).collect();
        t.row(["contradiction".to_string(), format!("contacts {}", list.join(", "))]);
    }
    t.row(["iterations".to_string(), report.iterations.to_string()]);
    t.row(["factorisations".to_string(), report.factorizations.to_string()]);
    t.row(["time".to_string(), duration(took.wall)]);
    t.row(["velocity error".to_string(), format!("{} of the velocity scale", number(report.velocity))]);
    t.row(["natural map".to_string(), format!("{} relative to max(|q|, |r|, |u|)", number(natural_rel))]);
    print(&t.render())?;
    Ok(outcome)
}

/// Solves with any solver, from the guess in `r`.
fn solve_local(
    kind: SolverKind,
    settings: &SolverSettings,
    p: &LocalProblem,
    r: &mut [Vec3],
    trace: &mut dyn Trace,
) -> Result<SolveReport> {
    use solvers::{exact, exact::Exact, pgs::Pgs};
    use stiction::papers::nsn::solve::{NewtonSettings, NonsmoothNewton};
    use stiction::papers::{apgd::Apgd, cr, cr::ConjugateResidual};
    Ok(match kind {
        SolverKind::Exact | SolverKind::Auto => {
            Exact::new(exact::Settings::default().with(settings)).solve_local(p, r, trace)
        }
        SolverKind::Realtime => {
            Exact::new(exact::Settings::realtime().with(settings)).solve_local(p, r, trace)
        }
        SolverKind::Pgs => Pgs::new(settings).solve_local(p, r, trace),
        SolverKind::Apgd => Apgd::new(settings).solve_local(p, r, trace),
        SolverKind::ConjugateResidual => {
            ConjugateResidual::new(cr::Settings::robust().with(settings)).solve_local(p, r, trace)
        }
        SolverKind::NonsmoothNewton => {
            NonsmoothNewton::new(NewtonSettings::robust().with(settings)).solve_local(p, r, trace)
        }
        SolverKind::Cond
        | SolverKind::CondE
        | SolverKind::Ccs
        | SolverKind::NonlinearNewton
        | SolverKind::Penalty => {
            return Err(error(
                format!("{} needs bodies, and a bare problem has impulses only", kind.name()),
                "use exact, pgs or apgd here, or this solver with `stiction run`",
            ));
        }
    })
}

/// u = W r + q.
fn velocity(p: &LocalProblem, r: &[Vec3]) -> Vec<Vec3> {
    (0..p.contacts())
        .map(|c| {
            let row = p.row_start[c]..p.row_start[c + 1];
            p.q[c] + row.map(|k| p.block[k] * r[p.col[k] as usize]).sum::<Vec3>()
        })
        .collect()
}

/// ‖r − P_K(r − û)‖ / max(‖q‖, ‖r‖, ‖u‖), as the literature compares solvers; 0 for a problem that is all zero.
fn natural_relative(p: &LocalProblem, r: &[Vec3], u: &[Vec3]) -> f64 {
    let norm = |x: &[Vec3]| x.iter().map(|v| v.length_squared()).sum::<f64>().sqrt();
    let map: Vec<Vec3> = (0..p.contacts()).map(|c| p.law[c].natural_map(r[c], u[c], 1.0)).collect();
    crate::summary::ratio(norm(&map), norm(&p.q).max(norm(r)).max(norm(u)))
}

/// The natural map [m/s] of a solved answer is below this share of the largest free velocity, whatever its solver stopped on.
const SOLVED: f64 = 1e-2;

/// False where the residual contradicts that the answer is solved. The scale comes from the data alone.
fn bears_out(p: &LocalProblem, r: &[Vec3], u: &[Vec3], solver: SolverKind) -> bool {
    let free = p.q.iter().map(|q| q.length()).fold(0.0, f64::max);
    let holds = |c: usize| {
        let w = p.get(c, c);
        let g = ((w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0).max(f64::MIN_POSITIVE);
        let map = g * p.law[c].natural_map(r[c], u[c], g).length();
        map.is_finite() && (map <= SOLVED * free || !solver.solves_coulomb())
    };
    (0..p.contacts()).all(holds)
}

fn trace_csv(records: &[TraceRecord]) -> String {
    let mut text = csv_line(["stage", "iteration", "factorizations", "residual"]);
    for t in records {
        text += &csv_line([
            t.stage,
            &t.iteration.to_string(),
            &t.factorizations.to_string(),
            &csv_number(t.residual),
        ]);
    }
    text
}
