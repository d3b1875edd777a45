//! The chance of scene files: SplitMix64 (Steele, Lea & Flood 2014), so that a seed means the same scene on every
//! machine and in every version.

use stiction::{Quat, Vec3};

/// A sequence of random numbers.
pub(crate) struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1): the upper 53 bits.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform between `a` and `b`.
    pub fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.unit()
    }

    /// Uniform in the box from −`half` to `half`.
    pub fn shift(&mut self, half: Vec3) -> Vec3 {
        let mut draw = |h: f64| self.between(-h, h);
        Vec3::new(draw(half.x), draw(half.y), draw(half.z))
    }

    /// Uniform over all orientations (Shoemake 1992).
    pub fn rotation(&mut self) -> Quat {
        let (u, a, b) =
            (self.unit(), self.between(0.0, std::f64::consts::TAU), self.between(0.0, std::f64::consts::TAU));
        let (s, c) = ((1.0 - u).sqrt(), u.sqrt());
        Quat::from_xyzw(s * a.sin(), s * a.cos(), c * b.sin(), c * b.cos()).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_of_seed_zero_are_those_of_the_reference() {
        let mut r = Rng::new(0);
        assert_eq!([r.next(), r.next()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn rotations_have_no_preferred_direction() {
        // Mean of R·z over uniform rotations is 0; its deviation over n draws is √(1/3n) per axis.
        let mut r = Rng::new(7);
        let n = 10_000;
        let mean = (0..n).map(|_| r.rotation() * Vec3::Z).sum::<Vec3>() / n as f64;
        assert!(mean.abs().max_element() < 5.0 * (1.0 / (3.0 * n as f64)).sqrt(), "{mean}");
    }
}
