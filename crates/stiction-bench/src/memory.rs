//! How much memory some work holds: the system's allocator, with a running sum of what is in use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Summing;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = IN_USE.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(now, Relaxed);
}

fn shrink(bytes: usize) {
    IN_USE.fetch_sub(bytes, Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Summing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        shrink(layout.size());
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(size);
        shrink(layout.size());
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Summing = Summing;

/// What some work did to the memory of the program [bytes].
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    /// The most that it held at a time, beyond what was there before.
    pub most: usize,
    /// What it has left behind, less what it gave back.
    pub kept: isize,
}

/// Does some work; other threads should rest meanwhile.
pub fn held<T>(work: impl FnOnce() -> T) -> (T, Held) {
    let before = IN_USE.load(Relaxed);
    MOST.store(before, Relaxed);
    let result = work();
    let most = MOST.load(Relaxed).saturating_sub(before);
    (result, Held { most, kept: IN_USE.load(Relaxed) as isize - before as isize })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_and_what_was_only_needed_are_told_apart() {
        // Other tests run beside this one: the sizes are large against what they ask for.
        const LARGE: usize = 400_000_000;
        let (kept, held) = held(|| {
            drop(vec![0_u8; 2 * LARGE]);
            vec![0_u8; LARGE]
        });
        let near = |bytes: usize, of: usize| bytes > of / 2 && bytes < 3 * of / 2;
        assert!(near(held.most, 2 * LARGE) && near(held.kept as usize, kept.len()), "{held:?}");
    }
}
