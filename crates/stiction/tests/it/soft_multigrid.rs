//! What the preconditioner is made of changes the work, not the answer: a block between plates that close and lift is
//! stepped once with sweeps alone and once with lattices, with driven and with free plates; velocities stay within
//! 1e-6 m/s of each other, every step is solved, and lattices take fewer products.

use stiction::contact::soft_samples::{Plates, SoftBlock};
use stiction::contact::{Solution, residual};
use stiction::linalg::Vec3;
use stiction::solvers::soft::{SoftSettings, SoftSolver};
use stiction::solvers::{Status, Trace};

/// A few steps; velocities of all of them and the number of products.
fn run(plates: Plates, multigrid_from: usize) -> (Vec<f64>, usize) {
    let mut block = SoftBlock::with_plates([6, 6, 6], plates);
    let mut solver =
        SoftSolver::new(SoftSettings { multigrid_from, tolerance: 1e-8, ..SoftSettings::default() });
    let (mut seen, mut products) = (Vec::new(), 0);
    let mut x = Solution::default();
    for step in 0..12 {
        if plates == Plates::Driven {
            // Close for six steps, then lift.
            block.drive(if step < 6 { 0 } else { 20 });
        }
        let p = block.problem();
        x.v.resize(p.dofs(), 0.0);
        x.lambda.resize(p.contacts(), Vec3::ZERO);
        let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
        let contacts: Vec<u32> = (0..p.contacts() as u32).collect();
        let report = solver.solve(&p, &blocks, &contacts, &mut x, &mut () as &mut dyn Trace);
        assert_eq!(report.status, Status::Converged, "step {step}: {report:?}");
        let r = residual::measure(&p, &x);
        assert!(r.natural < 1e-7 && r.momentum < 1e-7, "step {step}: {r:?}");
        products += report.iterations;
        seen.extend_from_slice(&x.v);
        block.advance(&x.v);
    }
    (seen, products)
}

#[test]
fn lattices_and_sweeps_give_the_same_motion() {
    for plates in [Plates::Driven, Plates::Free { mass: 0.3, push: 20.0 }] {
        let (with_sweeps, many) = run(plates, usize::MAX);
        let (with_lattices, few) = run(plates, 0);
        let worst = with_sweeps.iter().zip(&with_lattices).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{plates:?}: {worst}");
        assert!(few < many, "{plates:?}: {few} products against {many}");
    }
}

#[test]
fn threads_and_repeats_change_no_bit() {
    let bits = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            run(Plates::Free { mass: 0.3, push: 20.0 }, 0).0.iter().map(|x| x.to_bits()).collect()
        })
    };
    let one = bits(1);
    assert_eq!(one, bits(2));
    assert_eq!(one, bits(1));
}

#[test]
fn an_exact_guess_takes_no_product() {
    let mut block = SoftBlock::new([3, 3, 3]);
    block.drive(0);
    let p = block.problem();
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
    let contacts: Vec<u32> = (0..p.contacts() as u32).collect();
    let mut solver = SoftSolver::new(SoftSettings::default());
    let first = solver.solve(&p, &blocks, &contacts, &mut x, &mut ());
    let answer = x.clone();
    let again = solver.solve(&p, &blocks, &contacts, &mut x, &mut ());
    assert!(first.iterations > 0 && again.iterations == 0 && again.status == Status::Converged);
    assert_eq!(answer.v, x.v);
}
