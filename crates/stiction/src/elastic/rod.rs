//! The Cosserat rod element: six strains between two frames (COND's cable has one per joint).
//!
//! Each frame sits at a point p of a body and has its third axis along the rod. With θ the rotation vector of the
//! second frame in the first, and Q_m the frame halfway, the strains are e = Q_mᵀ (p_b − p_a) (two shears, stretch) and
//! θ (two bends, twist): E = (eᵀ S e + (θ − θ₀)ᵀ B (θ − θ₀)) / 2L. Both are blind to rigid motion. Rotations are varied
//! from the left, δQ = [δφ]× Q, in world axes; vectors of four stand for (x_a, φ_a, x_b, φ_b).

use super::HessianKind;
use super::geometric::turning_stiffness;
use super::principal::outer;
use crate::linalg::rotation;
use crate::linalg::{Mat3, Quat, Vec3, skew};

/// A round section and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Radius [m].
    pub radius: f64,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
}

impl Section {
    /// Area [m²].
    pub fn area(&self) -> f64 {
        std::f64::consts::PI * self.radius * self.radius
    }

    /// GA, GA, EA [N].
    pub fn stretch_stiffness(&self) -> Vec3 {
        let shear = self.young / (2.0 * (1.0 + self.poisson));
        Vec3::new(shear, shear, self.young) * self.area()
    }

    /// EI, EI, GJ [N·m²].
    pub fn bend_stiffness(&self) -> Vec3 {
        let i = 0.25 * self.area() * self.radius * self.radius;
        let shear = self.young / (2.0 * (1.0 + self.poisson));
        Vec3::new(self.young * i, self.young * i, 2.0 * shear * i)
    }
}

/// The element between two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodElement {
    /// S = GA, GA, EA [N].
    pub stretch: Vec3,
    /// B = EI, EI, GJ [N·m²]; zero lets the frames turn against each other.
    pub bend: Vec3,
    /// L [m]: how much of the rod it stands for.
    pub length: f64,
    /// θ₀: rotation vector of the second frame in the first at rest [rad].
    pub rest_turn: Vec3,
}

/// One end of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodFrame {
    /// The point p [m].
    pub point: Vec3,
    /// From the centre of mass of the body to the point [m]; zero where the point itself is moved.
    pub arm: Vec3,
    /// Turns axes of the frame into world axes.
    pub rotation: Quat,
}

/// ∂E/∂(x_a, φ_a, x_b, φ_b) [N, N·m] and its derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodLoad {
    /// Gradient; the wrench on each body is its negative.
    pub gradient: [Vec3; 4],
    /// Blocks of the second derivative, row by row.
    pub hessian: [[Mat3; 4]; 4],
}

/// What energy and derivatives share.
struct Strain {
    d: Vec3,
    qa: Mat3,
    qm: Mat3,
    e: Vec3,
    theta: Vec3,
    /// tan(|θ|/4) θ/|θ| in world axes: δφ_m = ½ (I + [t]×) δφ_a + ½ (I − [t]×) δφ_b.
    t: Vec3,
}

impl RodElement {
    fn strain(&self, [a, b]: &[RodFrame; 2]) -> Strain {
        let theta = rotation::log(a.rotation.conjugate() * b.rotation);
        let qm = Mat3::from_quat(a.rotation * rotation::exp(theta * 0.5));
        let d = b.point - a.point;
        let t = a.rotation * (theta * tan_quarter_over(theta.length()).0);
        Strain { d, qa: Mat3::from_quat(a.rotation), qm, e: qm.transpose() * d, theta, t }
    }

    /// Energy [J].
    pub fn energy(&self, frames: &[RodFrame; 2]) -> f64 {
        let s = self.strain(frames);
        let turn = s.theta - self.rest_turn;
        0.5 * (s.e.dot(self.stretch * s.e) + turn.dot(self.bend * turn)) / self.length
    }

    /// Strains e [m] and θ − θ₀ [rad] with their derivatives by (x_a, φ_a, x_b, φ_b). Their stiffnesses are S/L and B/L.
    pub fn strains(&self, frames: &[RodFrame; 2]) -> [(Vec3, [Mat3; 4]); 2] {
        let s = self.strain(frames);
        let [_, _, e, turn] = self.rows(&s, frames);
        [(s.e, e), (s.theta - self.rest_turn, turn)]
    }

    /// Force that the second end pulls the first with [N], world axes.
    pub fn force(&self, frames: &[RodFrame; 2]) -> Vec3 {
        let s = self.strain(frames);
        s.qm * (self.stretch * s.e) / self.length
    }

    /// Moment that turns the first end towards the second [N·m], world axes, about the joint.
    pub fn moment(&self, frames: &[RodFrame; 2]) -> Vec3 {
        let s = self.strain(frames);
        s.qa * (turn_rate_inverse(s.theta).transpose()
            * (self.bend * (s.theta - self.rest_turn) / self.length))
    }

    /// Gradient (x_a, φ_a, x_b, φ_b).
    pub fn gradient(&self, frames: &[RodFrame; 2]) -> [Vec3; 4] {
        let s = self.strain(frames);
        self.gradient_at(&s, frames, self.moment(frames))
    }

    /// n pulls at both points, m = n × d turns the frame between them, `moment` turns one against the other.
    fn gradient_at(&self, s: &Strain, [a, b]: &[RodFrame; 2], moment: Vec3) -> [Vec3; 4] {
        let n = s.qm * (self.stretch * s.e) / self.length;
        let m = n.cross(s.d);
        let tm = s.t.cross(m);
        [-n, 0.5 * (m - tm) - a.arm.cross(n) - moment, n, 0.5 * (m + tm) + b.arm.cross(n) + moment]
    }

    /// Derivative of [`gradient`](RodElement::gradient) by one of the six stiffnesses, in the order GA, GA, EA, EI,
    /// EI, GJ.
    pub fn gradient_by_stiffness(&self, frames: &[RodFrame; 2], which: usize) -> [Vec3; 4] {
        let (mut stretch, mut bend) = (Vec3::ZERO, Vec3::ZERO);
        if which < 3 {
            stretch[which] = 1.0;
        } else {
            bend[which - 3] = 1.0;
        }
        RodElement { stretch, bend, ..*self }.gradient(frames)
    }

    /// Gradient and second derivative of the named kind.
    ///
    /// `Exact` is the derivative of the gradient along left variations, symmetric where the element carries no
    /// load. `GaussNewton` is the 12×12 matrix of the six strain rows. `Projected` adds to it what a pull along the
    /// arms does against turning ([`turning_stiffness`]): with it a taut cable stays stable however large
    /// h² T/(m L) is.
    pub fn load(&self, frames: &[RodFrame; 2], kind: HessianKind) -> RodLoad {
        let s = self.strain(frames);
        let gradient = self.gradient_at(&s, frames, self.moment(frames));
        let hessian = match kind {
            HessianKind::Exact => self.exact(&s, frames, gradient[2]),
            HessianKind::GaussNewton => self.gauss_newton(&s, frames),
            HessianKind::Projected => {
                let mut k = self.gauss_newton(&s, frames);
                let n = gradient[2];
                k[1][1] += turning_stiffness(n, frames[0].arm);
                k[3][3] += turning_stiffness(-n, frames[1].arm);
                k
            }
        };
        RodLoad { gradient, hessian }
    }

    /// Rows of δd, δφ_m, δe and δθ.
    fn rows(&self, s: &Strain, [a, b]: &[RodFrame; 2]) -> [[Mat3; 4]; 4] {
        const I: Mat3 = Mat3::IDENTITY;
        const O: Mat3 = Mat3::ZERO;
        let d = [-I, skew(a.arm), I, -skew(b.arm)];
        let t = skew(s.t);
        let middle = [O, (I + t) * 0.5, O, (I - t) * 0.5];
        let (qt, sd) = (s.qm.transpose(), skew(s.d));
        let e = [0, 1, 2, 3].map(|i| qt * (d[i] + sd * middle[i]));
        let turn = turn_rate_inverse(s.theta) * s.qa.transpose();
        [d, middle, e, [O, -turn, O, turn]]
    }

    fn gauss_newton(&self, s: &Strain, frames: &[RodFrame; 2]) -> [[Mat3; 4]; 4] {
        let [_, _, e, turn] = self.rows(s, frames);
        let (cs, cb) =
            (Mat3::from_diagonal(self.stretch / self.length), Mat3::from_diagonal(self.bend / self.length));
        let (ce, ct) = (e.map(|e| cs * e), turn.map(|t| cb * t));
        let row = |i: usize| {
            let (et, tt) = (e[i].transpose(), turn[i].transpose());
            [0, 1, 2, 3].map(|j| et * ce[j] + tt * ct[j])
        };
        [row(0), row(1), row(2), row(3)]
    }

    fn exact(&self, s: &Strain, frames: &[RodFrame; 2], n: Vec3) -> [[Mat3; 4]; 4] {
        let [d, middle, _, turn] = self.rows(s, frames);
        let m = n.cross(s.d);
        let (sn, sd, sm, st) = (skew(n), skew(s.d), skew(m), skew(s.t));
        let ks = s.qm * Mat3::from_diagonal(self.stretch / self.length) * s.qm.transpose();
        // The moment is Q_a J⁻ᵀ(θ) g, g = B (θ − θ₀)/L, with J⁻ᵀ g = g + ½ θ × g + c θ × (θ × g).
        let (theta, g) = (s.theta, self.bend * (s.theta - self.rest_turn) / self.length);
        let (c, dc) = cotangent_part(theta.length());
        let twice = theta.cross(theta.cross(g));
        let by_theta = turn_rate_inverse(theta).transpose() * Mat3::from_diagonal(self.bend / self.length)
            - skew(g) * 0.5
            - (skew(theta.cross(g)) + skew(theta) * skew(g)) * c
            + outer(twice, theta) * dc;
        let moment = s.qa * (g + 0.5 * theta.cross(g) + c * twice);
        let (f, df) = tan_quarter_over(theta.length());
        let t_by_theta = s.qa * (Mat3::from_diagonal(Vec3::splat(f)) + outer(theta, theta) * df);
        let (sa, sb) = (skew(frames[0].arm), skew(frames[1].arm));
        let mut k = [[Mat3::ZERO; 4]; 4];
        for j in 0..4 {
            let only_a = if j == 1 { Mat3::IDENTITY } else { Mat3::ZERO };
            let only_b = if j == 3 { Mat3::IDENTITY } else { Mat3::ZERO };
            let dn = ks * (d[j] + sd * middle[j]) - sn * middle[j];
            let dm = sn * d[j] - sd * dn;
            let dt = t_by_theta * turn[j] - st * only_a;
            let moment = s.qa * by_theta * turn[j] - skew(moment) * only_a;
            k[0][j] = -dn;
            k[1][j] = (dm + sm * dt - st * dm) * 0.5 - sn * sa * only_a - sa * dn - moment;
            k[2][j] = dn;
            k[3][j] = (dm - sm * dt + st * dm) * 0.5 + sn * sb * only_b + sb * dn + moment;
        }
        k
    }
}

/// J⁻¹(θ) = I − ½ [θ]× + c [θ]×²: δθ = J⁻¹ δφ for exp(θ + δθ) = exp(δφ) exp(θ).
fn turn_rate_inverse(theta: Vec3) -> Mat3 {
    let s = skew(theta);
    Mat3::IDENTITY - s * 0.5 + s * s * cotangent_part(theta.length()).0
}

/// Below this angle [rad] series stand in for quotients that cancel.
const SMALL: f64 = 0.1;

/// c = (1 − x cot x)/θ² with x = θ/2, and c′/θ; 1/12 and 1/360 at zero.
fn cotangent_part(theta: f64) -> (f64, f64) {
    if theta < SMALL {
        let q = theta * theta;
        let c = 1.0 / 12.0 + q * (1.0 / 720.0 + q * (1.0 / 30240.0 + q / 1209600.0));
        return (c, 1.0 / 360.0 + q * (1.0 / 7560.0 + q / 201600.0));
    }
    let x = 0.5 * theta;
    let (sin, cot) = (x.sin(), 1.0 / x.tan());
    let c = (1.0 - x * cot) / (theta * theta);
    (c, -0.5 * (cot - x / (sin * sin)) / theta.powi(3) - 2.0 * c / (theta * theta))
}

/// f = tan(θ/4)/θ and f′/θ; 1/4 and 1/96 at zero.
fn tan_quarter_over(theta: f64) -> (f64, f64) {
    let x = 0.25 * theta;
    if theta < SMALL {
        let q = x * x;
        let f = 0.25 * (1.0 + q * (1.0 / 3.0 + q * (2.0 / 15.0 + q * 17.0 / 315.0)));
        return (f, (2.0 / 3.0 + q * (8.0 / 15.0 + q * 34.0 / 105.0)) / 64.0);
    }
    let (tan, cos) = (x.tan(), x.cos());
    (tan / theta, (x / (cos * cos) - tan) / theta.powi(3))
}

#[cfg(test)]
mod tests {
    use super::super::ladder::taylor_slope;
    use super::*;

    type Move = [Vec3; 4];

    fn element() -> RodElement {
        RodElement {
            stretch: Vec3::new(5.0, 6.0, 20.0),
            bend: Vec3::new(1.0, 1.5, 0.7),
            length: 0.4,
            rest_turn: Vec3::new(0.1, -0.2, 0.3),
        }
    }

    /// Pairs of frames: bent by a little, by a lot, and hardly at all.
    fn cases() -> [[RodFrame; 2]; 3] {
        let a = RodFrame {
            point: Vec3::new(0.1, 0.2, 0.3),
            arm: Vec3::new(0.05, -0.02, 0.2),
            rotation: rotation::exp(Vec3::new(0.4, 1.1, -0.3)),
        };
        [Vec3::new(0.5, -0.4, 0.3), Vec3::new(1.6, 1.2, -1.5), Vec3::new(1e-3, 2e-3, -1e-3)].map(|turn| {
            let b = RodFrame {
                point: Vec3::new(0.13, 0.26, 0.31),
                arm: Vec3::new(0.01, 0.03, -0.2),
                rotation: a.rotation * rotation::exp(turn),
            };
            [a, b]
        })
    }

    fn moved(f: &[RodFrame; 2], w: &Move, t: f64) -> [RodFrame; 2] {
        [0, 1].map(|k| {
            let turn = rotation::exp(w[2 * k + 1] * t);
            let arm = turn * f[k].arm;
            let point = f[k].point - f[k].arm + t * w[2 * k] + arm;
            RodFrame { point, arm, rotation: turn * f[k].rotation }
        })
    }

    const W: Move = [
        Vec3::new(0.3, -0.1, 0.2),
        Vec3::new(0.5, 0.4, -0.7),
        Vec3::new(-0.2, 0.6, 0.1),
        Vec3::new(0.3, -0.8, 0.9),
    ];
    const Z: Move = [
        Vec3::new(-0.5, 0.2, 0.7),
        Vec3::new(0.1, 0.9, 0.3),
        Vec3::new(0.4, 0.4, -0.3),
        Vec3::new(-0.6, 0.2, 0.5),
    ];

    fn dot(a: &Move, b: &Move) -> f64 {
        (0..4).map(|i| a[i].dot(b[i])).sum()
    }

    fn times(k: &[[Mat3; 4]; 4], w: &Move) -> Move {
        [0, 1, 2, 3].map(|i| (0..4).map(|j| k[i][j] * w[j]).sum())
    }

    #[test]
    fn energy_gradient_and_hessian_are_derivatives_of_each_other() {
        let rod = element();
        for f in cases() {
            let g = rod.gradient(&f);
            let of_energy = |t: f64| rod.energy(&moved(&f, &W, t)) - rod.energy(&f) - t * dot(&g, &W);
            assert!((taylor_slope(of_energy) - 2.0).abs() < 0.1);
            let kw = times(&rod.load(&f, HessianKind::Exact).hessian, &W);
            let of_gradient =
                |t: f64| dot(&rod.gradient(&moved(&f, &W, t)), &Z) - dot(&g, &Z) - t * dot(&kw, &Z);
            let slope = taylor_slope(of_gradient);
            assert!((slope - 2.0).abs() < 0.1, "{slope}");
        }
    }

    #[test]
    fn gradients_are_linear_in_the_six_stiffnesses() {
        let rod = element();
        for f in cases() {
            let six = [rod.stretch.to_array(), rod.bend.to_array()].concat();
            let mut sum = [Vec3::ZERO; 4];
            for (k, c) in six.iter().enumerate() {
                let g = rod.gradient_by_stiffness(&f, k);
                for i in 0..4 {
                    sum[i] += *c * g[i];
                }
            }
            let g = rod.gradient(&f);
            assert!((0..4).all(|i| (sum[i] - g[i]).length() < 1e-13));
        }
    }

    #[test]
    fn rigid_motion_makes_no_force() {
        let rod = element();
        let whole = |f: &[RodFrame; 2]| {
            let turn = rotation::exp(Vec3::new(2.0, -1.0, 0.5));
            f.map(|f| RodFrame {
                point: turn * f.point + Vec3::X * 3.0,
                arm: turn * f.arm,
                rotation: turn * f.rotation,
            })
        };
        for f in cases() {
            assert!((rod.energy(&whole(&f)) - rod.energy(&f)).abs() < 1e-13);
            // Forces and moments about the origin balance, and rigid velocities meet no Gauss–Newton stiffness.
            let g = rod.gradient(&f);
            assert!((g[0] + g[2]).length() < 1e-15);
            let centre = |k: usize| f[k].point - f[k].arm;
            let moment = g[1] + g[3] + centre(0).cross(g[0]) + centre(1).cross(g[2]);
            assert!(moment.length() < 1e-13, "{moment}");
            let w = Vec3::new(0.3, 0.5, -0.2);
            let rigid = [w.cross(centre(0)), w, w.cross(centre(1)), w];
            let k = rod.load(&f, HessianKind::GaussNewton).hessian;
            assert!(times(&k, &rigid).iter().all(|x| x.length() < 1e-12));
        }
    }

    #[test]
    fn matrices_of_the_step_are_symmetric_and_not_negative() {
        let rod = element();
        for f in cases() {
            for kind in [HessianKind::GaussNewton, HessianKind::Projected] {
                let k = rod.load(&f, kind).hessian;
                for w in [W, Z] {
                    assert!(dot(&w, &times(&k, &w)) >= 0.0);
                }
                assert!((dot(&W, &times(&k, &Z)) - dot(&Z, &times(&k, &W))).abs() < 1e-12);
            }
        }
    }
}
