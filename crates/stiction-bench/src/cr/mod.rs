//! CR (Verschoor & Jalba 2019): its tables and figures.

mod ablation;
mod delassus;
mod memory;
mod particles;
mod residuals;
mod rings;
mod scenes;
mod speed;
mod steps;
mod sweeps;
mod table;

use super::Experiment;

/// In the order of the paper.
pub static EXPERIMENTS: &[Experiment] = &[
    particles::CONE,
    particles::SWITCHING,
    particles::REDUNDANT,
    residuals::EXPERIMENT,
    ablation::INTERVALS,
    ablation::MINRES,
    sweeps::TIME_STEPS,
    sweeps::STIFFNESS,
    rings::EXPERIMENT,
    rings::STIFF,
    scenes::PYRAMID,
    scenes::BLOBS,
    scenes::LIMBED,
    scenes::BEARING,
    scenes::FIGURE2,
    scenes::CUBES,
    scenes::CLOTH,
    delassus::EXPERIMENT,
    memory::EXPERIMENT,
    speed::EXPERIMENT,
    steps::SCENES,
    steps::THREADS,
    steps::GROWTH,
    steps::SHARES,
];

use stiction::Vec3;
use stiction::contact::soft_samples::SoftBlock;
use stiction::contact::{ContactProblem, Residuals, Solution, residual};
use stiction::papers::cr::{ConjugateResidual, Counts, Settings};
use stiction::solvers::{ContactSolver, SolveReport};

/// One solve from zero impulses.
struct Solved {
    report: SolveReport,
    counts: Counts,
    residuals: Residuals,
    solution: Solution,
}

fn solve(s: Settings, p: &ContactProblem) -> Solved {
    let mut solution = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let mut solver = ConjugateResidual::new(s);
    let report = solver.solve(p, &mut solution, &mut ());
    let residuals = residual::measure(p, &solution);
    Solved { report, counts: solver.counts(), residuals, solution }
}

/// A soft block between plates that close: it sticks to them and slips on the ground.
fn gripped(cells: [usize; 3], step: usize) -> ContactProblem {
    let mut block = SoftBlock::new(cells);
    block.drive(step);
    block.problem()
}

/// Mean and median.
fn mean_median(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN);
    (values.iter().sum::<f64>() / values.len().max(1) as f64, median)
}
