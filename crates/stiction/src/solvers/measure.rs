//! How far an impulse is from solving `u = W r + q`: the velocity measure on which solvers stop.
//!
//! `vel = max_c d_c |r_c − P_K(r_c − û_c/d_c)| / V` with `d_c` the scale of the contact's block and `V` the speed
//! by which errors are judged. Unlike the natural map with a unit step it does not change when all masses do.

use crate::contact::delassus::Delassus;
use crate::contact::law::RoundLaw;
use crate::linalg::Vec3;

/// V = max(max_c |q_c|, least) [m/s]; positive, so that it can divide. Of rows with bounds only that part counts which
/// their multipliers can take up: a stop that is far away is no fast motion.
pub fn velocity_scale<D: Delassus + ?Sized>(d: &D, least: f64) -> f64 {
    let speed = |c: usize| match d.law(c) {
        RoundLaw::Cone(_) => d.free(c).length(),
        rows => d.scale(c) * rows.natural_map(Vec3::ZERO, d.free(c), d.scale(c)).length(),
    };
    (0..d.contacts()).map(speed).fold(least.max(f64::MIN_POSITIVE), f64::max)
}

/// Natural map of contact `c` with de Saxcé's shift, as an impulse: zero exactly where Coulomb's law holds.
pub fn natural<D: Delassus + ?Sized>(d: &D, c: usize, r: Vec3, u: Vec3) -> Vec3 {
    d.law(c).natural_map(r, u, d.scale(c))
}

/// Natural map of contact `c` of the convex relaxation (no shift): zero where `r` minimises ½rᵀWr + qᵀr on the cone.
pub fn natural_relaxed<D: Delassus + ?Sized>(d: &D, c: usize, r: Vec3, u: Vec3) -> Vec3 {
    r - d.law(c).project(r - u / d.scale(c))
}

/// The velocity measure of `r` with `u = W r + q`, relative to `scale` (see [`velocity_scale`]).
pub fn velocity_measure<D: Delassus + ?Sized>(d: &D, r: &[Vec3], u: &[Vec3], scale: f64) -> f64 {
    largest(d, |c| natural(d, c, r[c], u[c])) / scale
}

/// The same measure of the convex relaxation.
pub fn relaxed_measure<D: Delassus + ?Sized>(d: &D, r: &[Vec3], u: &[Vec3], scale: f64) -> f64 {
    largest(d, |c| natural_relaxed(d, c, r[c], u[c])) / scale
}

/// At or below this [`backward_error`] the answer is as good as 64-bit numbers allow.
pub const FLOOR: f64 = 2e-15;

/// Error relative to what cancels in it: max_c d_c |nat_c| / (|q_c| + (|W||r|)_c), with every coefficient of friction
/// multiplied by `friction`. `size` is a buffer.
pub fn backward_error<D: Delassus + ?Sized>(
    d: &mut D,
    friction: f64,
    r: &[Vec3],
    u: &[Vec3],
    size: &mut Vec<f64>,
) -> f64 {
    size.clear();
    size.resize(r.len(), 0.0);
    d.magnitude(r, size);
    let terms = |c: usize| (d.free(c).length() + size[c]).max(f64::MIN_POSITIVE);
    largest(d, |c| d.law(c).with_friction(friction).natural_map(r[c], u[c], d.scale(c)) / terms(c))
}

/// max_c d_c |x_c|; infinite where a number is not finite, so that no solver takes NaN for small.
fn largest<D: Delassus + ?Sized>(d: &D, x: impl Fn(usize) -> Vec3) -> f64 {
    let mut max = 0.0_f64;
    for c in 0..d.contacts() {
        let size = d.scale(c) * x(c).length();
        if size > max || size.is_nan() {
            max = if size.is_nan() { f64::INFINITY } else { size };
        }
    }
    max
}
