//! A soft block at rest between plates is solved again and again without asking for memory, with sweeps alone and
//! with lattices.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use stiction::contact::Solution;
use stiction::contact::soft_samples::{Plates, SoftBlock};
use stiction::linalg::Vec3;
use stiction::solvers::soft::{SoftSettings, SoftSolver};

/// The system's allocator, counting requests.
struct Counting;

thread_local! {
    /// Requests of this thread: the test harness has threads of its own.
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

fn requests() -> usize {
    REQUESTS.with(Cell::get)
}

fn count() {
    // A thread that is ending has no counter any more.
    let _ = REQUESTS.try_with(|r| r.set(r.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
