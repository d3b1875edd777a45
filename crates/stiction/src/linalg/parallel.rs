//! The one door to threads. With the feature `threads` it is `rayon`; without it, loops over slices under the same names, in
//! one thread. Results are the same, since none depends on the number of threads.

#[cfg(feature = "threads")]
pub(crate) use rayon::{current_num_threads, join, prelude};

#[cfg(not(feature = "threads"))]
pub(crate) use serial::{current_num_threads, join, prelude};

#[cfg(not(feature = "threads"))]
mod serial {
    /// One.
    pub(crate) fn current_num_threads() -> usize {
        1
    }

    /// Does both, one after the other.
    pub(crate) fn join<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
        (a(), b())
    }

    pub(crate) mod prelude {
        use std::slice::{Chunks, ChunksMut, IterMut};

        /// Iterators in the words of `rayon`.
        pub(crate) trait Shared: Iterator + Sized {
            fn with_min_len(self, _: usize) -> Self {
                self
            }
        }

        impl<I: Iterator> Shared for I {}

        /// Slices in the words of `rayon`.
        pub(crate) trait Slices<T> {
            fn par_iter_mut(&mut self) -> IterMut<'_, T>;
            fn par_chunks(&self, size: usize) -> Chunks<'_, T>;
            fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T>;
        }

        impl<T> Slices<T> for [T] {
            fn par_iter_mut(&mut self) -> IterMut<'_, T> {
                self.iter_mut()
            }

            fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
                self.chunks(size)
            }

            fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
                self.chunks_mut(size)
            }
        }
    }
}
