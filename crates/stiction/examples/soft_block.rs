//! Steps a soft block between two plates at growing sizes and prints what each step costs:
//! `cargo run --release -p stiction --example soft_block [largest size 0…4]`.

use std::time::Instant;
use stiction::contact::soft_samples::SoftBlock;
use stiction::contact::{Solution, residual};
use stiction::linalg::Vec3;
use stiction::solvers::soft::{SoftSettings, SoftSolver};

fn main() {
    let largest = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1usize);
    println!("   dof  contacts  steps  ms/step  worst  newton  products  natural  momentum  unsolved");
    for cells in
        [[5, 5, 5], [10, 11, 11], [15, 17, 17], [24, 25, 25], [35, 37, 37]].into_iter().take(largest + 1)
    {
        for multigrid_from in [usize::MAX, 0] {
            run(cells, 50, SoftSettings { multigrid_from, ..SoftSettings::default() });
        }
    }
}

fn run(cells: [usize; 3], steps: usize, settings: SoftSettings) {
    let mut block = SoftBlock::new(cells);
    let mut solver = SoftSolver::new(settings);
    let mut x = Solution { v: vec![0.0; 3 * block.nodes()], lambda: Vec::new() };
    let mut last = x.v.clone();
    let (mut total, mut worst, mut unsolved, mut products, mut newton) = (0.0, 0.0_f64, 0, 0, 0);
    let (mut natural, mut momentum) = (0.0_f64, 0.0_f64);
    let (mut dof, mut contacts) = (0, 0);
    for step in 0..steps {
        block.drive(step);
        let p = block.problem();
        (dof, contacts) = (p.dofs(), p.contacts());
        let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
        let all: Vec<u32> = (0..contacts as u32).collect();
        x.lambda.resize(contacts, Vec3::ZERO);
        // 2 v_k − v_{k−1}
        let guess: Vec<f64> = x.v.iter().zip(&last).map(|(v, w)| 2.0 * v - w).collect();
        last = std::mem::replace(&mut x.v, guess);
        let mut trace = Vec::new();
        let clock = Instant::now();
        let report = solver.solve(&p, &blocks, &all, &mut x, &mut trace);
        let ms = 1e3 * clock.elapsed().as_secs_f64();
        total += ms;
        worst = worst.max(ms);
        products += report.iterations;
        newton += trace.len();
        unsolved += usize::from(!report.status.is_solved());
        let r = residual::measure(&p, &x);
        natural = natural.max(r.natural);
        momentum = momentum.max(r.momentum);
        block.advance(&x.v);
    }
    let n = steps as f64;
    println!(
        "{dof:6} {contacts:9} {steps:6} {:8.2} {worst:6.1} {:7.1} {:9.1} {natural:8.1e} {momentum:9.1e} {unsolved:9}",
        total / n,
        newton as f64 / n,
        products as f64 / n
    );
}
