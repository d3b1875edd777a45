//! Bending of a sheet: neighbouring edges want to be alike, quadratically (the isometric bending of Bergou et al. 2006
//! on a grid).

use crate::linalg::Vec3;

/// E = ½ k |(x₁ − x₀) − (x₃ − x₂)|²: what an edge differs from its neighbour by.
///
/// Over three points in line (x₁ = x₂ in the middle) the difference is that of curvature along the line, over the two
/// triangles of a cell it is that of twist. On flat grids it vanishes, so the energy is smooth there; its Hessian is
/// constant and positive semidefinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// k [N/m].
    pub stiffness: f64,
}

impl Bend {
    /// Signs of the four points.
    pub const WEIGHTS: [f64; 4] = [-1.0, 1.0, 1.0, -1.0];

    /// Of three points in line, `step` apart, each standing for `width` of the sheet; `rigidity` in N·m, so that a
    /// sheet of curvature κ stores ½ rigidity κ² per area.
    pub fn along(step: f64, width: f64, rigidity: f64) -> Bend {
        Bend { stiffness: rigidity * width / (step * step * step) }
    }

    /// Of the four corners of a rectangular cell.
    pub fn twist(size: [f64; 2], rigidity: f64) -> Bend {
        Bend { stiffness: 2.0 * rigidity / (size[0] * size[1]) }
    }

    fn difference(x: &[Vec3; 4]) -> Vec3 {
        (x[1] - x[0]) - (x[3] - x[2])
    }

    /// Energy [J].
    pub fn energy(&self, x: &[Vec3; 4]) -> f64 {
        0.5 * self.stiffness * Bend::difference(x).length_squared()
    }

    /// ∂E/∂x [N].
    pub fn gradient(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        Bend::WEIGHTS.map(|w| w * self.stiffness * Bend::difference(x))
    }

    /// ∂/∂k of [`gradient`](Bend::gradient) [m].
    pub fn gradient_by_stiffness(&self, x: &[Vec3; 4]) -> [Vec3; 4] {
        Bend::WEIGHTS.map(|w| w * Bend::difference(x))
    }

    /// Factor of the identity in block (i, j) of the Hessian [N/m]; exact, and the matrix positive semidefinite.
    pub fn hessian(&self, i: usize, j: usize) -> f64 {
        self.stiffness * Bend::WEIGHTS[i] * Bend::WEIGHTS[j]
    }
}

#[cfg(test)]
mod tests {
    use super::super::ladder::taylor_slope;
    use super::*;
    use crate::linalg::rotation;

    #[test]
    fn energy_gradient_and_hessian_are_derivatives_of_each_other() {
        let b = Bend { stiffness: 0.3 };
        let x = [Vec3::ZERO, Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.3, 0.7, 0.4), Vec3::new(0.6, -0.6, 0.2)];
        let w = [Vec3::X, Vec3::new(0.2, -0.4, 0.9), Vec3::Y, Vec3::new(-0.7, 0.1, 0.3)];
        let at = |t: f64| [0, 1, 2, 3].map(|i| x[i] + t * w[i]);
        let g = b.gradient(&x);
        let slope: f64 = (0..4).map(|i| g[i].dot(w[i])).sum();
        let of_energy = |t: f64| b.energy(&at(t)) - b.energy(&x) - t * slope;
        assert!((taylor_slope(of_energy) - 2.0).abs() < 0.01);
        for i in 0..4 {
            let linear: Vec3 = (0..4).map(|j| b.hessian(i, j) * w[j]).sum();
            assert!((b.gradient(&at(1.0))[i] - g[i] - linear).length() < 1e-13, "the energy is quadratic");
            assert!((g[i] - b.stiffness * b.gradient_by_stiffness(&x)[i]).length() < 1e-15);
        }
    }

    #[test]
    fn flat_shapes_are_free_of_force_however_they_lie() {
        let turn = rotation::exp(Vec3::new(0.4, -1.2, 0.8));
        let at = |x: f64, y: f64| turn * Vec3::new(x, y, 0.0) + Vec3::new(5.0, 6.0, 7.0);
        for x in [
            [at(0.0, 0.0), at(0.3, 0.0), at(0.3, 0.0), at(0.6, 0.0)],
            [at(0.0, 0.0), at(0.3, 0.0), at(0.0, 0.2), at(0.3, 0.2)],
        ] {
            assert!(Bend { stiffness: 1.0 }.gradient(&x).iter().all(|g| g.length() < 1e-14));
        }
    }

    /// One cell of an endless sheet that is rolled up about an axis at any angle to the grid.
    #[test]
    fn a_rolled_sheet_stores_half_the_rigidity_times_curvature_squared() {
        let (size, radius, rigidity): ([f64; 2], f64, f64) = ([0.1, 0.07], 8.0, 0.7);
        for angle in [0.0, 0.3, std::f64::consts::FRAC_PI_4, 1.2] {
            let rolled = |i: i32, j: i32| {
                let p = rotation::exp(Vec3::Z * angle)
                    * Vec3::new(f64::from(i) * size[0], f64::from(j) * size[1], 0.0);
                let a = p.x / radius;
                Vec3::new(radius * a.sin(), p.y, radius * (1.0 - a.cos()))
            };
            let [dx, dy] = size;
            let energy = Bend::along(dx, dy, rigidity).energy(&[
                rolled(-1, 0),
                rolled(0, 0),
                rolled(0, 0),
                rolled(1, 0),
            ]) + Bend::along(dy, dx, rigidity).energy(&[
                rolled(0, -1),
                rolled(0, 0),
                rolled(0, 0),
                rolled(0, 1),
            ]) + Bend::twist(size, rigidity).energy(&[
                rolled(0, 0),
                rolled(1, 0),
                rolled(0, 1),
                rolled(1, 1),
            ]);
            let expected = 0.5 * rigidity * dx * dy / (radius * radius);
            assert!((energy / expected - 1.0).abs() < 1e-3, "{angle}: {}", energy / expected);
        }
    }
}
