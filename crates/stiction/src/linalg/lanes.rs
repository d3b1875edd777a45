//! Four 32-bit numbers at once.

#[cfg(target_arch = "x86_64")]
mod imp {
    use std::arch::x86_64::*;

    /// Four 32-bit numbers.
    #[derive(Clone, Copy)]
    pub struct F4(__m128);

    impl F4 {
        // SAFETY: zero bits are zeros.
        pub const ZERO: F4 = F4(unsafe { std::mem::zeroed() });

        #[inline(always)]
        pub fn load(x: &[f32; 4]) -> F4 {
            // SAFETY: reads the four numbers of `x`; every x86-64 processor can.
            F4(unsafe { _mm_loadu_ps(x.as_ptr()) })
        }

        #[inline(always)]
        pub fn store(self, to: &mut [f32; 4]) {
            // SAFETY: writes the four numbers of `to`.
            unsafe { _mm_storeu_ps(to.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        pub fn splat(x: f32) -> F4 {
            // SAFETY: every x86-64 processor has it.
            F4(unsafe { _mm_set1_ps(x) })
        }

        /// Each of the first three numbers four times.
        #[inline(always)]
        pub fn spread(self) -> [F4; 3] {
            let x = self.0;
            // SAFETY: every x86-64 processor has it.
            unsafe {
                [
                    F4(_mm_shuffle_ps::<0x00>(x, x)),
                    F4(_mm_shuffle_ps::<0x55>(x, x)),
                    F4(_mm_shuffle_ps::<0xaa>(x, x)),
                ]
            }
        }
    }

    impl std::ops::Add for F4 {
        type Output = F4;
        #[inline(always)]
        fn add(self, o: F4) -> F4 {
            // SAFETY: every x86-64 processor has it.
            F4(unsafe { _mm_add_ps(self.0, o.0) })
        }
    }

    impl std::ops::Sub for F4 {
        type Output = F4;
        #[inline(always)]
        fn sub(self, o: F4) -> F4 {
            // SAFETY: every x86-64 processor has it.
            F4(unsafe { _mm_sub_ps(self.0, o.0) })
        }
    }

    impl std::ops::Mul for F4 {
        type Output = F4;
        #[inline(always)]
        fn mul(self, o: F4) -> F4 {
            // SAFETY: every x86-64 processor has it.
            F4(unsafe { _mm_mul_ps(self.0, o.0) })
        }
    }

    /// Asks for memory that will be read soon.
    #[inline(always)]
    pub fn prefetch(at: *const f32) {
        // SAFETY: asking for memory touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod imp {
    /// Four 32-bit numbers.
    #[derive(Clone, Copy)]
    pub struct F4([f32; 4]);

    impl F4 {
        pub const ZERO: F4 = F4([0.0; 4]);

        #[inline(always)]
        pub fn load(x: &[f32; 4]) -> F4 {
            F4(*x)
        }

        #[inline(always)]
        pub fn store(self, to: &mut [f32; 4]) {
            *to = self.0;
        }

        #[inline(always)]
        pub fn splat(x: f32) -> F4 {
            F4([x; 4])
        }

        /// Each of the first three numbers four times.
        #[inline(always)]
        pub fn spread(self) -> [F4; 3] {
            [0, 1, 2].map(|k| F4([self.0[k]; 4]))
        }
    }

    impl std::ops::Add for F4 {
        type Output = F4;
        #[inline(always)]
        fn add(self, o: F4) -> F4 {
            F4(std::array::from_fn(|k| self.0[k] + o.0[k]))
        }
    }

    impl std::ops::Sub for F4 {
        type Output = F4;
        #[inline(always)]
        fn sub(self, o: F4) -> F4 {
            F4(std::array::from_fn(|k| self.0[k] - o.0[k]))
        }
    }

    impl std::ops::Mul for F4 {
        type Output = F4;
        #[inline(always)]
        fn mul(self, o: F4) -> F4 {
            F4(std::array::from_fn(|k| self.0[k] * o.0[k]))
        }
    }

    /// Asks for memory that will be read soon; here nothing.
    #[inline(always)]
    pub fn prefetch(_at: *const f32) {}
}

pub(crate) use imp::{F4, prefetch};
