//! Numbers of 32 or 64 bits, for the few methods that are compared in both.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::Neg;

/// `f64` or `f32`. Everything physical is `f64`; methods that are generic over this are so because their behaviour in
/// 32-bit numbers is itself of interest.
pub trait Real:
    faer::traits::RealField + Copy + Default + Debug + Send + Sync + Sum<Self> + Neg<Output = Self> + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Distance from 1 to the next number.
    const EPSILON: Self;

    /// The nearest number.
    fn of(x: f64) -> Self;

    /// As 64-bit number.
    fn to_f64(self) -> f64;

    /// √x.
    fn root(self) -> Self;

    /// |x|.
    fn size(self) -> Self;

    /// The larger; the other one where one is not a number.
    fn larger(self, o: Self) -> Self;

    /// The smaller; the other one where one is not a number.
    fn smaller(self, o: Self) -> Self;

    /// False for infinities and what is not a number.
    fn is_number(self) -> bool;
}

macro_rules! real {
    ($t:ty) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = <$t>::EPSILON;

            fn of(x: f64) -> Self {
                x as $t
            }

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn root(self) -> Self {
                self.sqrt()
            }

            fn size(self) -> Self {
                self.abs()
            }

            fn larger(self, o: Self) -> Self {
                self.max(o)
            }

            fn smaller(self, o: Self) -> Self {
                self.min(o)
            }

            fn is_number(self) -> bool {
                self.is_finite()
            }
        }
    };
}

real!(f32);
real!(f64);

/// aᵀb, summed in order.
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut s = T::ZERO;
    for (x, y) in a.iter().zip(b) {
        s += *x * *y;
    }
    s
}

/// y += a x.
pub fn add_scaled<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * *x;
    }
}
