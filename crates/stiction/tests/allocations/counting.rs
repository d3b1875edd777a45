//! An allocator that counts the requests and the bytes of each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting requests.
struct Counting;

thread_local! {
    /// Requests of this thread: the test harness has threads of its own.
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
    /// Bytes that this thread asked for and has not given back.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Requests of this thread so far.
pub fn requests() -> usize {
    REQUESTS.with(Cell::get)
}

/// Bytes that this thread holds: what it gave away or took over counts as its own.
pub fn held() -> isize {
    HELD.with(Cell::get)
}

fn count() {
    // A thread that is ending has no counter any more.
    let _ = REQUESTS.try_with(|r| r.set(r.get() + 1));
}

fn weigh(bytes: isize) {
    let _ = HELD.try_with(|h| h.set(h.get() + bytes));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        weigh(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        weigh(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        weigh(size as isize - layout.size() as isize);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
