//! A soft block at rest between plates is solved again and again without asking for memory, with sweeps alone and
//! with lattices.

use crate::counting::requests;
use stiction::contact::Solution;
use stiction::contact::soft_samples::{Plates, SoftBlock};
use stiction::linalg::Vec3;
use stiction::solvers::soft::{SoftSettings, SoftSolver};

#[test]
fn repeated_solves_ask_for_nothing() {
    for plates in [Plates::Driven, Plates::Free { mass: 0.5, push: 20.0 }] {
        for multigrid_from in [usize::MAX, 0] {
            let mut block = SoftBlock::with_plates([4, 4, 4], plates);
            let mut solver = SoftSolver::new(SoftSettings { multigrid_from, ..SoftSettings::default() });
            let mut x = Solution::default();
            let mut worked = 0;
            for step in 0..30 {
                if plates == Plates::Driven {
                    block.drive(0);
                }
                let p = block.problem();
                x.v.resize(p.dofs(), 0.0);
                x.lambda.resize(p.contacts(), Vec3::ZERO);
                let blocks: Vec<u32> = (0..p.a.block_rows() as u32).collect();
                let contacts: Vec<u32> = (0..p.contacts() as u32).collect();
                // The first solves grow the buffers to what the same work needs again from the same start.
                for repeat in 0..2 {
                    let mut y = x.clone();
                    let before = requests();
                    let report = solver.solve(&p, &blocks, &contacts, &mut y, &mut ());
                    let asked = requests() - before;
                    assert!(report.status.is_solved());
                    assert!(
                        repeat == 0 || asked == 0,
                        "{plates:?}, step {step}: {asked} requests, {report:?}"
                    );
                    worked += report.iterations;
                    if repeat == 1 {
                        x = y;
                    }
                }
                block.advance(&x.v);
            }
            assert!(worked > 30, "there was something to solve");
        }
    }
}
