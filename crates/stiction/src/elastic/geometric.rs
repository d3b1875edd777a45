//! What a force does to the body that it turns: the stiffness of lever arms under load.

use super::principal::outer;
use crate::linalg::{Mat3, Vec3};

/// Positive part of the stiffness (f·r) I − ½ (f rᵀ + r fᵀ) [N·m] against turning, of a constant force `f` that
/// pulls at the arm `r` of a body.
///
/// Its eigenvectors are f × r with f·r, and r̂ ± f̂ with ½ (f·r ∓ |f||r|): a pull along the arm holds the body like a
/// pendulum in its field.
pub fn turning_stiffness(f: Vec3, r: Vec3) -> Mat3 {
    let (Some(fu), Some(ru)) = (f.try_normalize(), r.try_normalize()) else { return Mat3::ZERO };
    let (size, dot) = (f.length() * r.length(), f.dot(r));
    if dot > 0.0 {
        let u = (fu + ru).normalize();
        let whole = Mat3::from_diagonal(Vec3::splat(dot)) - (outer(f, r) + outer(r, f)) * 0.5;
        whole - outer(u, u) * (0.5 * (dot - size))
    } else {
        let w = (fu - ru).normalize();
        outer(w, w) * (0.5 * (dot + size))
    }
}

#[cfg(test)]
mod tests {
    use super::super::svd::eigen_symmetric;
    use super::*;

    #[test]
    fn it_is_the_positive_part_of_the_second_derivative() {
        let cases = [
            (Vec3::new(3.0, 1.0, -0.5), Vec3::new(0.2, 0.4, 0.1)),
            (Vec3::new(-3.0, 1.0, -0.5), Vec3::new(0.2, 0.4, 0.1)),
            (Vec3::X * 2.0, Vec3::X * 0.3),
            (Vec3::X * 2.0, Vec3::X * -0.3),
            (Vec3::X, Vec3::Y),
        ];
        for (f, r) in cases {
            // E = −f·(exp(θ) r), second order in θ.
            let mut hessian = Mat3::ZERO;
            for i in 0..3 {
                for j in 0..3 {
                    let (a, b) = (Vec3::AXES[i], Vec3::AXES[j]);
                    hessian.col_mut(j)[i] = -0.5 * f.dot(a.cross(b.cross(r)) + b.cross(a.cross(r)));
                }
            }
            let (w, q) = eigen_symmetric(&hessian);
            let positive = q * Mat3::from_diagonal(w.max(Vec3::ZERO)) * q.transpose();
            assert!(turning_stiffness(f, r).abs_diff_eq(positive, 1e-12), "{f} {r}");
        }
        assert_eq!(turning_stiffness(Vec3::ZERO, Vec3::X), Mat3::ZERO);
    }
}
