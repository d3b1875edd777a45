//! Loops that are compiled twice: as they are, and for processors with AVX2, with the same bits.

/// Calls an `#[inline(always)]` function, compiled for AVX2 where the processor has it. Products and sums are not contracted,
/// so that the answer has the same bits.
macro_rules! wide {
    ($f:ident($this:ident : $type:ty $(, $name:ident : $kind:ty)*) $(-> $out:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            fn with_avx2(this: $type $(, $name: $kind)*) $(-> $out)? {
                $f(this $(, $name)*)
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                return unsafe { with_avx2($this $(, $name)*) };
            }
        }
        $f($this $(, $name)*)
    }};
}

pub(crate) use wide;
