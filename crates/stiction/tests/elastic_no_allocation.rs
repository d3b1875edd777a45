//! Assembling again asks for no memory, whatever the law and the kind.

mod elastic;

use elastic::{LAWS, STIFFNESS, soft, solid};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use stiction::linalg::{Mat3, Vec3};

/// The system's allocator, counting requests.
struct Counting;

static REQUESTS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        REQUESTS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// One test alone, so that no other thread asks for memory meanwhile.
#[test]
fn assembling_asks_for_nothing() {
    for law in LAWS {
        let (rest, mut a) = solid(3, soft(law));
        let (mut f, mut k) = (vec![Vec3::ZERO; rest.len()], vec![Mat3::ZERO; a.pairs().len()]);
        let kind = a.default_hessian();
        let before = REQUESTS.load(Ordering::Relaxed);
        for _ in 0..3 {
            a.assemble(&rest, STIFFNESS, kind, &mut f, &mut k);
            a.forces(&rest, &mut f);
        }
        let asked = REQUESTS.load(Ordering::Relaxed) - before;
        assert_eq!(asked, 0, "{law:?}");
    }
}
