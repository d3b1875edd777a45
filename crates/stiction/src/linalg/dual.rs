//! Numbers that carry their derivatives by N variables: forces written once, Jacobians exact to rounding.

use super::{Mat3, Vec3};
use std::ops::{Add, Mul, Neg, Sub};

/// x + Σ dᵢ εᵢ with εᵢ εⱼ = 0. `Dual<0>` is a plain number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<const N: usize> {
    /// The value.
    pub x: f64,
    /// Its derivatives.
    pub d: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// A number that depends on nothing.
    pub fn constant(x: f64) -> Self {
        Dual { x, d: [0.0; N] }
    }

    /// Variable number `i`.
    pub fn variable(x: f64, i: usize) -> Self {
        let mut y = Dual::constant(x);
        if i < N {
            y.d[i] = 1.0;
        }
        y
    }

    /// A function with value `f` and slope `df` of this number.
    pub fn chain(self, f: f64, df: f64) -> Self {
        Dual { x: f, d: self.d.map(|d| df * d) }
    }

    /// √x; zero, with no slope, at zero.
    pub fn sqrt(self) -> Self {
        let r = self.x.sqrt();
        self.chain(r, if r > 0.0 { 0.5 / r } else { 0.0 })
    }

    /// 1/x.
    pub fn recip(self) -> Self {
        let r = 1.0 / self.x;
        self.chain(r, -r * r)
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    fn add(mut self, o: Self) -> Self {
        self.x += o.x;
        for i in 0..N {
            self.d[i] += o.d[i];
        }
        self
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    fn sub(mut self, o: Self) -> Self {
        self.x -= o.x;
        for i in 0..N {
            self.d[i] -= o.d[i];
        }
        self
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let mut d = [0.0; N];
        for (i, d) in d.iter_mut().enumerate() {
            *d = self.x * o.d[i] + o.x * self.d[i];
        }
        Dual { x: self.x * o.x, d }
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;
    fn mul(self, s: f64) -> Self {
        self.chain(s * self.x, s)
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

/// Three such numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualVec<const N: usize>(pub [Dual<N>; 3]);

impl<const N: usize> DualVec<N> {
    /// A vector that depends on nothing.
    pub fn constant(v: Vec3) -> Self {
        DualVec(v.to_array().map(Dual::constant))
    }

    /// Variables `at`, `at` + 1, `at` + 2; a constant where there is no place.
    pub fn variable(v: Vec3, at: Option<usize>) -> Self {
        match at {
            Some(at) => DualVec([0, 1, 2].map(|k| Dual::variable(v[k], at + k))),
            None => DualVec::constant(v),
        }
    }

    /// The value.
    pub fn value(&self) -> Vec3 {
        Vec3::new(self.0[0].x, self.0[1].x, self.0[2].x)
    }

    /// The derivative by variable `i`.
    pub fn by(&self, i: usize) -> Vec3 {
        Vec3::new(self.0[0].d[i], self.0[1].d[i], self.0[2].d[i])
    }

    /// The same value with other derivatives, made from each of its own.
    pub fn map(&self, value: Vec3, derivative: impl Fn(Vec3) -> Vec3) -> Self {
        let mut out = DualVec::constant(value);
        for i in 0..N {
            out.set_by(i, derivative(self.by(i)));
        }
        out
    }

    fn set_by(&mut self, i: usize, v: Vec3) {
        for k in 0..3 {
            self.0[k].d[i] = v[k];
        }
    }

    /// A constant matrix times this.
    pub fn transformed(&self, m: &Mat3) -> Self {
        self.map(*m * self.value(), |d| *m * d)
    }

    /// The vector after a turn δ whose components are the variables from `at`: v + δ × v to first order.
    pub fn turned(mut self, at: Option<usize>, sign: f64) -> Self {
        let Some(at) = at else { return self };
        let v = self.value();
        for k in 0..3 {
            if at + k < N {
                let d = self.by(at + k) + sign * Vec3::AXES[k].cross(v);
                self.set_by(at + k, d);
            }
        }
        self
    }

    /// Inner product.
    pub fn dot(&self, o: &Self) -> Dual<N> {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }

    /// Cross product.
    pub fn cross(&self, o: &Self) -> Self {
        let (a, b) = (&self.0, &o.0);
        DualVec([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    }

    /// Times a number.
    pub fn scaled(&self, s: Dual<N>) -> Self {
        DualVec(self.0.map(|x| x * s))
    }

    /// Length; zero, with no slope, at zero.
    pub fn length(&self) -> Dual<N> {
        self.dot(self).sqrt()
    }
}

impl<const N: usize> Add for DualVec<N> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        DualVec([0, 1, 2].map(|k| self.0[k] + o.0[k]))
    }
}

impl<const N: usize> Sub for DualVec<N> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        DualVec([0, 1, 2].map(|k| self.0[k] - o.0[k]))
    }
}

impl<const N: usize> Neg for DualVec<N> {
    type Output = Self;
    fn neg(self) -> Self {
        DualVec(self.0.map(|x| -x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_roots_know_their_slopes() {
        let f = |x: f64, y: f64| ((x * y).sqrt() - 1.0 / y) * 3.0;
        let (a, b) = (Dual::<2>::variable(1.3, 0), Dual::<2>::variable(0.7, 1));
        let g = ((a * b).sqrt() - b.recip()) * 3.0;
        let e = 1e-6;
        assert!((g.d[0] - (f(1.3 + e, 0.7) - f(1.3 - e, 0.7)) / (2.0 * e)).abs() < 1e-8);
        assert!((g.d[1] - (f(1.3, 0.7 + e) - f(1.3, 0.7 - e)) / (2.0 * e)).abs() < 1e-8);
    }

    #[test]
    fn a_turn_moves_a_vector_across_itself() {
        let v = DualVec::<3>::constant(Vec3::new(1.0, 2.0, 3.0)).turned(Some(0), 1.0);
        assert_eq!(v.by(2), Vec3::new(-2.0, 1.0, 0.0));
        let w = v.cross(&DualVec::constant(Vec3::Z));
        assert_eq!(w.by(2), Vec3::new(1.0, 2.0, 0.0));
    }
}
