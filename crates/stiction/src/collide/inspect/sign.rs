//! The sign of a volume in doubled precision: sums and products with their rounding errors kept (Dekker 1971).

use crate::linalg::Vec3;

/// A number as a sum of two, the second below the rounding of the first.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    /// a − b without error.
    fn difference(a: f64, b: f64) -> Double {
        let s = a - b;
        let t = s - a;
        Double(s, (a - (s - t)) - (b + t))
    }

    fn add(self, o: Double) -> Double {
        let s = self.0 + o.0;
        let t = s - self.0;
        let e = (self.0 - (s - t)) + (o.0 - t) + self.1 + o.1;
        Double(s + e, e - ((s + e) - s))
    }

    fn mul(self, o: Double) -> Double {
        let p = self.0 * o.0;
        let e = self.0.mul_add(o.0, -p) + self.0 * o.1 + self.1 * o.0;
        Double(p + e, e - ((p + e) - p))
    }

    fn negated(self) -> Double {
        Double(-self.0, -self.1)
    }
}

/// Sign of the volume of the tetrahedron abcd: positive where abc is counter-clockwise seen from d; 0 where the four
/// points are in one plane to 30 digits.
pub(super) fn volume_sign(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> i32 {
    let row = |p: Vec3| [0, 1, 2].map(|k| Double::difference(p[k], a[k]));
    let (u, v, w) = (row(b), row(c), row(d));
    let minor = |i: usize, j: usize| u[i].mul(v[j]).add(u[j].mul(v[i]).negated());
    let volume = minor(1, 2).mul(w[0]).add(minor(2, 0).mul(w[1])).add(minor(0, 1).mul(w[2]));
    let size = |p: [Double; 3]| p.iter().map(|x| x.0.abs()).fold(0.0, f64::max);
    let least = 1e-30 * size(u) * size(v) * size(w);
    if volume.0.abs() <= least {
        0
    } else if volume.0 > 0.0 {
        1
    } else {
        -1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_right_where_rounding_hides_them() {
        let far = Vec3::new(1e6, -1e6, 3e6);
        let tiny = 2f64.powi(-30);
        let (a, b, c) = (far, far + Vec3::X, far + Vec3::Y);
        assert_eq!(volume_sign(a, b, c, far + Vec3::new(0.3, 0.3, tiny)), 1);
        assert_eq!(volume_sign(a, b, c, far + Vec3::new(0.3, 0.3, -tiny)), -1);
        assert_eq!(volume_sign(a, b, c, far + Vec3::new(0.25, 0.5, 0.0)), 0);
        // A sloping plane: 1/3 is not a number in base two, yet both sides are told apart by its last digit.
        let x = 1.0 / 3.0;
        let p = [Vec3::ZERO, Vec3::new(1.0, 0.0, x), Vec3::new(0.0, 1.0, x)];
        let on = Vec3::new(0.5, 0.5, x);
        assert_eq!(volume_sign(p[0], p[1], p[2], on), 0);
        assert_eq!(volume_sign(p[0], p[1], p[2], Vec3::new(0.5, 0.5, x.next_up())), 1);
        assert_eq!(volume_sign(p[0], p[1], p[2], Vec3::new(0.5, 0.5, x.next_down())), -1);
    }
}
