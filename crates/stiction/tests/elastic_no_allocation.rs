//! Assembling again asks for no memory, whatever the law and the kind.

mod elastic;

use elastic::{LAWS, STIFFNESS, soft, solid};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use stiction::linalg::{Mat3, Vec3};

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
fn assembling_asks_for_nothing() {
    for law in LAWS {
        let (rest, mut a) = solid(3, soft(law));
        let (mut f, mut k) = (vec![Vec3::ZERO; rest.len()], vec![Mat3::ZERO; a.pairs().len()]);
        let kind = a.default_hessian();
        let before = requests();
        for _ in 0..3 {
            a.assemble(&rest, STIFFNESS, kind, &mut f, &mut k);
            a.forces(&rest, &mut f);
        }
        let asked = requests() - before;
        assert_eq!(asked, 0, "{law:?}");
    }
}
