//! Small dense types and the block-sparse matrix of the velocity space.

pub(crate) mod ascending;
pub(crate) mod block_lu;
mod block_mat;
mod bsr;
mod cholesky;
pub mod dense;
mod dense_lu;
pub mod dual;
mod general_lu;
pub mod krylov;
pub(crate) mod lanes;
pub mod near_symmetric;
pub(crate) mod parallel;
pub mod real;
mod rng;
pub mod rotation;
mod scratch;
mod sparse_cholesky;
mod sparse_direct;
mod sparse_lu;
mod sparse_rows;
mod spatial;
pub mod sweep32;
mod triangle;
mod wide;

pub use block_lu::BlockLu;
pub use block_mat::{BlockMat, BlockPattern};
pub use bsr::{Gives, Pieces, SymBsr};
pub use cholesky::Cholesky;
pub use dense_lu::DenseLu;
pub use general_lu::GeneralLu;
pub use near_symmetric::NearSymmetric;
pub use real::Real;
pub use rng::Rng;
pub use sparse_cholesky::SparseCholesky;
pub use sparse_direct::{DirectKind, SparseDirect};
pub use sparse_lu::SparseLu;
pub use sparse_rows::SparseRows;
pub use spatial::{Mat6, Vec6};
pub(crate) use triangle::closest_of_triangle;
pub(crate) use wide::wide;

/// Three numbers: a point [m], a velocity [m/s], an impulse [N·s], …
pub type Vec3 = glam::DVec3;
/// A 3×3 matrix, stored by columns.
pub type Mat3 = glam::DMat3;
/// A unit quaternion (stored x, y, z, w by `glam`; files and `q` hold w, x, y, z).
pub type Quat = glam::DQuat;

/// The matrix of the cross product: `skew(a) * b = a × b`.
pub fn skew(a: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, a.z, -a.y), Vec3::new(-a.z, 0.0, a.x), Vec3::new(a.y, -a.x, 0.0))
}

/// Two unit vectors that make `[n, t1, t2]` right-handed and orthonormal (Duff et al. 2017).
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let t1 = Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    let t2 = Vec3::new(b, sign + n.y * n.y * a, -n.y);
    (t1, t2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_orthonormal_and_right_handed() {
        for k in 0..200 {
            let a = k as f64;
            let n = Vec3::new(a.sin(), (1.7 * a).cos(), (0.3 * a + 1.0).sin()).normalize();
            let (t1, t2) = tangents(n);
            assert!((n.cross(t1) - t2).length() < 1e-14);
            assert!(n.dot(t1).abs() < 1e-15 && (t1.length() - 1.0).abs() < 1e-14);
        }
        let (t1, t2) = tangents(-Vec3::Z);
        assert!((-Vec3::Z).cross(t1).distance(t2) < 1e-15);
    }
}
