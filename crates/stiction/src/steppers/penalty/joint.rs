//! Joints as stiff springs, E = k_c/2 c·c (23), (24), and motors (25), (26), with exact derivatives.
//!
//! A row measures x with ẋ = n·(relative velocity), as `model/joint.rs` does on plain numbers, and pushes with
//! −φ n on b and φ n on a at the same point, so that forces are equal, opposite and collinear.

use super::assembly::{Assembly, DualFrame, Frame};
use crate::kinematics::Kinematics;
use crate::linalg::dual::{Dual, DualVec};
use crate::linalg::rotation;
use crate::linalg::{Mat3, Vec3};
use crate::model::{Controls, JointRow, Measure, ModelJoint, Role, Target};

/// Variables: twelve of a, twelve of b, and the target of the motor.
const N: usize = 25;
/// Sliding speed [m/s or rad/s] at which dry friction of a joint is fully there.
const FULL_FRICTION: f64 = 1e-3;

/// Adds all joints at the end of a step. `targets` are added to what motors aim at: commands, or else their paths.
pub fn add_joints(
    kin: Kinematics<'_>,
    h: f64,
    stiffness: f64,
    targets: &[f64],
    commands: &Controls,
    asm: &mut Assembly,
) {
    let model = kin.model;
    for (i, (j, target)) in model.joints.iter().zip(targets).enumerate() {
        visit(kin, h, stiffness, j, (*target, commands.motor(i)), |sides| asm.add_dual(sides));
    }
}

/// One side of a joint: where it is, where its variables begin, force and moment on it.
pub type Side = (Frame, usize, DualVec<N>, DualVec<N>);

/// Variable of the motor's target.
pub const TARGET: usize = 24;

/// Hands over both sides of every row that pushes.
pub fn visit(
    kin: Kinematics<'_>,
    h: f64,
    stiffness: f64,
    j: &ModelJoint,
    target: (f64, Option<f64>),
    mut each: impl FnMut(&[Side; 2]),
) {
    let state = kin.state;
    let frame_a = j.a.map_or(Frame::WORLD, |a| Frame::of_body(kin, a));
    let frame_b = Frame::of_body(kin, j.b);
    let (a, b): (DualFrame<N>, DualFrame<N>) = (frame_a.dual(0), frame_b.dual(12));
    let place = Place::new(j, &frame_a, &frame_b, &a, &b);
    for block in &j.blocks {
        for row in block.rows.iter().flatten() {
            let (x, n) = place.measure(row.measure);
            let anchor = place.anchor_b;
            let spin = b.w - a.w;
            let velocity = b.v + b.w.cross(&(anchor - b.x)) - a.v - a.w.cross(&(anchor - a.x));
            let rate = n.dot(if block.spin { &spin } else { &velocity });
            let k = if block.spin { stiffness * j.length * j.length } else { stiffness };
            let Some(push) = push(j, row, x, rate, k, target, state.t, h) else { continue };
            let f = -n.scaled(push);
            let zero = DualVec::constant(Vec3::ZERO);
            let sides = if block.spin {
                [(frame_a, 0, zero, -f), (frame_b, 12, zero, f)]
            } else {
                [(frame_a, 0, -f, -(anchor - a.x).cross(&f)), (frame_b, 12, f, (anchor - b.x).cross(&f))]
            };
            each(&sides);
        }
    }
}

/// What a row pushes with against its measure.
#[allow(clippy::too_many_arguments)]
fn push(
    j: &ModelJoint,
    row: &JointRow,
    x: Dual<N>,
    rate: Dual<N>,
    k: f64,
    (target, command): (f64, Option<f64>),
    t: f64,
    h: f64,
) -> Option<Dual<N>> {
    let off = |at: f64| x - Dual::constant(at);
    match row.role {
        Role::Hold(at) => Some(off(at) * k),
        Role::Lower(at) => (x.x < at).then(|| off(at) * k),
        Role::Upper(at) => (x.x > at).then(|| off(at) * k),
        Role::Pull(at, s) => Some(off(at) * s.stiffness + rate * s.damping),
        Role::Friction(most) => {
            let slope = most / FULL_FRICTION;
            let full = rate.x.abs() >= FULL_FRICTION;
            Some(if full { Dual::constant(most * rate.x.signum()) } else { rate * slope })
        }
        Role::Drive => {
            let m = j.motor.as_ref()?;
            let aim = Dual::<N>::variable(target, TARGET);
            let force = match (&m.target, command) {
                (Target::Position(_), Some(at)) => (off(at) - aim) * m.stiffness + rate * m.damping,
                (Target::Position(path), None) => {
                    let drift = (path.value(t) - path.value(t - h)) / h;
                    (off(path.value(t)) - aim) * m.stiffness + (rate - Dual::constant(drift)) * m.damping
                }
                (Target::Velocity(path), _) => {
                    let wanted = command.unwrap_or_else(|| path.value(t));
                    (rate - Dual::constant(wanted) - aim) * m.damping
                }
            };
            Some(if force.x.abs() > m.limit { Dual::constant(m.limit * force.x.signum()) } else { force })
        }
    }
}

/// Where the parts of a joint stand.
struct Place {
    anchor_a: DualVec<N>,
    anchor_b: DualVec<N>,
    axes_a: [DualVec<N>; 3],
    axes_b: [DualVec<N>; 3],
    /// From a's axes to b's, in a's axes: quaternion w, and x, y, z.
    turn: (Dual<N>, DualVec<N>),
}

impl Place {
    fn new(j: &ModelJoint, fa: &Frame, fb: &Frame, a: &DualFrame<N>, b: &DualFrame<N>) -> Place {
        let (ra, rb) = (fa.r * Mat3::from_quat(j.frame_a), fb.r * Mat3::from_quat(j.frame_b));
        // A turn by δ of b less that of a, seen in a's axes, acts on the quaternion as ½ η q.
        let zero = DualVec::constant(Vec3::ZERO);
        let mut delta = zero;
        for (frame, sign) in [(b, 1.0), (a, -1.0)] {
            if let Some(at) = frame.turn {
                for k in 0..3 {
                    delta.0[k].d[at + k] += sign;
                }
            }
        }
        let eta = delta.transformed(&ra.transpose());
        let mut q = crate::linalg::Quat::from_mat3(&(ra.transpose() * rb)).normalize();
        if q.w < 0.0 {
            q = -q;
        }
        let im = Vec3::new(q.x, q.y, q.z);
        let (w, im) = (Dual::<N>::constant(q.w), DualVec::<N>::constant(im));
        let half = Dual::constant(0.5);
        let turn = (w - eta.dot(&im) * half, im + (eta.scaled(w) + eta.cross(&im)).scaled(half));
        Place {
            anchor_a: a.x + a.turned(fa.r * j.local_a),
            anchor_b: b.x + b.turned(fb.r * j.local_b),
            axes_a: [0, 1, 2].map(|k| a.turned(ra.col(k))),
            axes_b: [0, 1, 2].map(|k| b.turned(rb.col(k))),
            turn,
        }
    }

    /// Value of a measure and the direction n of its rate.
    fn measure(&self, m: Measure) -> (Dual<N>, DualVec<N>) {
        let (a, b) = (&self.axes_a, &self.axes_b);
        let d = self.anchor_b - self.anchor_a;
        let in_a = |v: [Dual<N>; 3]| a[0].scaled(v[0]) + a[1].scaled(v[1]) + a[2].scaled(v[2]);
        let (w, im) = &self.turn;
        match m {
            Measure::Along(k) => (a[k].dot(&d), a[k]),
            Measure::Distance => {
                let length = d.length();
                let n = if length.x > 0.0 { d.scaled(length.recip()) } else { a[0] };
                (length, n)
            }
            Measure::Align(k) => (a[k].dot(&b[0]), b[0].cross(&a[k])),
            Measure::Cross => (a[0].dot(&b[1]), b[1].cross(&a[0])),
            Measure::Turn(k) => {
                let phi = self.log();
                let axis = DualVec::constant(Vec3::AXES[k]);
                let across = phi.cross(&axis);
                let s = phi.dot(&phi);
                let (beta, slope) = log_coefficient(s.x);
                let row = axis
                    + across.scaled(Dual::constant(0.5))
                    + phi.cross(&across).scaled(s.chain(beta, slope));
                (phi.0[k], in_a(row.0))
            }
            Measure::Twist => {
                let [x, y, z] = im.0;
                let over = (x * x + *w * *w).recip();
                // 2 atan2(x, w): d = 2 (w dx − x dw)/(x² + w²).
                let mut angle = Dual::constant(2.0 * x.x.atan2(w.x));
                for i in 0..N {
                    angle.d[i] = 2.0 * (w.x * x.d[i] - x.x * w.d[i]) * over.x;
                }
                (angle, in_a([Dual::constant(1.0), (*w * z + x * y) * over, (x * z - *w * y) * over]))
            }
        }
    }

    /// Rotation vector of `turn`.
    fn log(&self) -> DualVec<N> {
        let (w, im) = &self.turn;
        let q = crate::linalg::Quat::from_xyzw(im.0[0].x, im.0[1].x, im.0[2].x, w.x);
        let phi = rotation::log(q);
        // φ = c(s, w) im with s = |im|, c = 2 atan2(s, w)/s: dφ = c d(im) + im (c_s ds + c_w dw).
        let s = im.value().length();
        let c = if s < 1e-8 { 2.0 / w.x } else { 2.0 * s.atan2(w.x) / s };
        // With |q| = 1: c_w = −2, c_s/s = (2 w − c)/s²; the latter tends to −4/3 as s goes to zero.
        let slope = if s < 1e-3 { -4.0 / 3.0 } else { (2.0 * w.x - c) / (s * s) };
        let mut out = DualVec::constant(phi);
        for i in 0..N {
            let (dim, dw) = (im.by(i), w.d[i]);
            let change = dim * c + im.value() * (slope * im.value().dot(dim) - 2.0 * dw);
            for k in 0..3 {
                out.0[k].d[i] = change[k];
            }
        }
        out
    }
}

/// β = (1 − θ/2 cot(θ/2))/θ² as a function of θ², with its derivative.
fn log_coefficient(s: f64) -> (f64, f64) {
    if s < 1e-3 {
        (1.0 / 12.0 + s / 720.0 + s * s / 30240.0, 1.0 / 720.0 + s / 15120.0)
    } else {
        let t = s.sqrt();
        let cot = 1.0 / (0.5 * t).tan();
        let f = 1.0 - 0.5 * t * cot;
        let df = -0.5 * cot + 0.25 * t * (1.0 + cot * cot);
        (f / s, df / (2.0 * t * s) - f / (s * s))
    }
}
