//! Gaps from the places of rigid bodies: C_n(q) = n·(a(q) − b(q)) − d (9) at q⁺ = q⁻ + h G u⁺ (45) with fixed normals, and J
//! there, all in numbers of one kind.
//!
//! A frozen problem is told its gaps and is exact about them. A gap between places |x| from the origin is known to δ|x|, and
//! its row gap/h to δ|x|/h, however near zero it is: in 32-bit numbers that is most of what limits Newton's method (Sec. 10.5).

use crate::contact::{ContactProblem, Term};
use crate::coords::{Part, Pose};
use crate::linalg::{Mat3, Real, SparseRows, Vec3};

type Vector<T> = [T; 3];

/// Free bodies of one step and the points where they touch.
pub struct Places<T> {
    h: T,
    /// At q⁻.
    start: Vec<Placed<T>>,
    /// At q⁺.
    there: Vec<Placed<T>>,
    contacts: Vec<Held<T>>,
}

/// Centre of mass [m], and a unit quaternion: scalar and vector.
#[derive(Clone, Copy)]
struct Placed<T> {
    centre: Vector<T>,
    turn: (T, Vector<T>),
}

/// A contact as the step holds it.
struct Held<T> {
    /// Rows n, t₁, t₂.
    frame: [Vector<T>; 3],
    sides: [Point<T>; 2],
    /// d [m].
    thickness: T,
}

/// A point of one side.
#[derive(Clone, Copy)]
enum Point<T> {
    /// In the world.
    Still(Vector<T>),
    /// On a body, in its axes.
    On(usize, Vector<T>),
}

impl<T: Real> Places<T> {
    /// For some contacts of `p` and the pose of each of its blocks, which are rigid bodies, at q⁻.
    ///
    /// # Panics
    /// Where something other than a rigid body moves a contact.
    pub fn new(p: &ContactProblem, contacts: &[u32], poses: &[Pose]) -> Places<T> {
        let start: Vec<Placed<T>> = poses.iter().map(Placed::new).collect();
        let held = |&c: &u32| {
            let c = c as usize;
            let mut sides = [None, None];
            let mut point = Vec3::ZERO;
            for term in p.j.terms(c) {
                let Term::Point(Part::Rigid { block, weight, arm, .. }) = *term else {
                    panic!("contact {c} moves no rigid body")
                };
                let body = block as usize;
                let local = start[body].local(vector(arm));
                sides[usize::from(weight < 0.0)] = Some(Point::On(body, local));
                point = poses[body].translation + arm;
            }
            let k = p.law[c].stretch();
            let frame = Mat3::from_diagonal(k) * p.j.frame[c];
            Held {
                frame: [0, 1, 2].map(|r| vector(frame.row(r))),
                sides: sides.map(|s| s.unwrap_or(Point::Still(vector(point)))),
                // Both points are one at q⁻, where the gap is h·bias.
                thickness: T::of(-p.h * k.x * p.bias[c].x),
            }
        };
        let contacts = contacts.iter().map(held).collect();
        Places { h: T::of(p.h), there: start.clone(), start, contacts }
    }

    /// Moves the bodies to q⁺ = q⁻ + h G u, quaternions brought back to length one (45).
    pub fn move_to(&mut self, u: &[T]) {
        for ((there, start), u) in self.there.iter_mut().zip(&self.start).zip(u.chunks_exact(6)) {
            *there = start.moved(self.h, [u[0], u[1], u[2]], [u[3], u[4], u[5]]);
        }
    }

    /// C_n/h of contact `c` [m/s].
    pub fn gap_velocity(&self, c: usize) -> T {
        let held = &self.contacts[c];
        let [a, b] = held.sides.map(|side| match side {
            Point::Still(x) => x,
            Point::On(body, local) => {
                let arm = self.there[body].arm(local);
                add(self.there[body].centre, T::ONE, arm)
            }
        });
        (dot(held.frame[0], add(a, -T::ONE, b)) - held.thickness) / self.h
    }

    /// Writes J at q⁺: ±(n, arm × n) for each row n and body that it moves.
    pub fn write_rows(&self, j: &mut SparseRows<T>) {
        for (c, held) in self.contacts.iter().enumerate() {
            for (r, &n) in held.frame.iter().enumerate() {
                let (columns, values) = j.row_mut(3 * c + r);
                for (side, sign) in held.sides.iter().zip([T::ONE, -T::ONE]) {
                    let Point::On(body, local) = *side else { continue };
                    let turning = cross(self.there[body].arm(local), n);
                    let at =
                        columns.iter().position(|d| *d as usize == 6 * body).expect("its row knows the body");
                    for k in 0..3 {
                        values[at + k] = sign * n[k];
                        values[at + 3 + k] = sign * turning[k];
                    }
                }
            }
        }
    }
}

impl<T: Real> Placed<T> {
    fn new(pose: &Pose) -> Placed<T> {
        let r = pose.rotation;
        let turn = (T::of(r.w), vector(Vec3::new(r.x, r.y, r.z)));
        Placed { centre: vector(pose.translation), turn }
    }

    /// x⁺ = x⁻ + h v, r⁺ = r⁻ + ½h (0, ω) r⁻ over its length.
    fn moved(&self, h: T, v: Vector<T>, spin: Vector<T>) -> Placed<T> {
        let (w, x) = self.turn;
        let half = T::of(0.5) * h;
        let by = add(spin.map(|s| w * s), T::ONE, cross(spin, x));
        let (w, x) = (w - half * dot(spin, x), add(x, half, by));
        let length = (w * w + dot(x, x)).root();
        Placed { centre: add(self.centre, h, v), turn: (w / length, x.map(|x| x / length)) }
    }

    /// From the axes of the body to those of the world.
    fn arm(&self, local: Vector<T>) -> Vector<T> {
        turned(self.turn.0, self.turn.1, local)
    }

    /// From the axes of the world to those of the body.
    fn local(&self, arm: Vector<T>) -> Vector<T> {
        turned(self.turn.0, self.turn.1.map(|x| -x), arm)
    }
}

/// y + 2w x×y + 2 x×(x×y): `y` turned by the unit quaternion (w, x).
fn turned<T: Real>(w: T, x: Vector<T>, y: Vector<T>) -> Vector<T> {
    let two = T::of(2.0);
    let once = cross(x, y);
    add(add(y, two * w, once), two, cross(x, once))
}

fn vector<T: Real>(x: Vec3) -> Vector<T> {
    x.to_array().map(T::of)
}

/// x + a y.
fn add<T: Real>(x: Vector<T>, a: T, y: Vector<T>) -> Vector<T> {
    std::array::from_fn(|k| x[k] + a * y[k])
}

fn dot<T: Real>(x: Vector<T>, y: Vector<T>) -> T {
    x[0] * y[0] + x[1] * y[1] + x[2] * y[2]
}

fn cross<T: Real>(x: Vector<T>, y: Vector<T>) -> Vector<T> {
    [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
}

#[cfg(test)]
mod tests {
    use super::super::schur::Schur;
    use super::super::{Equations, Frozen, Iterate, LinearMethod, NewtonSettings, StepRule, solve_in};
    use super::*;
    use crate::contact::samples::{self, Assembly};
    use crate::linalg::Quat;
    use crate::linalg::Rng;

    /// The arch in axes in which nothing is a round number.
    fn arch() -> Assembly {
        samples::arch_bodies(10, 0.6).turned(Quat::from_axis_angle(Vec3::new(1.0, 2.0, 3.0).normalize(), 1.0))
    }

    fn linearized<T: Real>(bodies: &Assembly, x: &Iterate<T>, placed: bool) -> Schur<T> {
        let p = bodies.problem();
        let (blocks, contacts): (Vec<u32>, Vec<u32>) =
            ((0..p.a.block_rows() as u32).collect(), (0..p.contacts() as u32).collect());
        let (mut frozen, mut s) = (Frozen::default(), Schur::default());
        frozen.set(&p, &blocks, &contacts, &NewtonSettings::default(), &mut s);
        if placed {
            frozen.place(Places::new(&p, &contacts, &bodies.poses()));
        }
        frozen.linearize(x, &mut s);
        s
    }

    /// Random velocities and spins of about `speed`, and forces that press.
    fn iterate<T: Real>(bodies: &Assembly, speed: f64) -> Iterate<T> {
        let p = bodies.problem();
        let mut rng = Rng::new(5);
        let u = (0..p.dofs()).map(|_| T::of(speed * rng.normal())).collect();
        let lambda = (0..p.contacts()).flat_map(|_| [1.0 + rng.uniform(), 0.1, -0.1].map(T::of)).collect();
        Iterate { u, lambda }
    }

    fn apart<T: Real>(a: &[T], b: &[T]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a.to_f64() - b.to_f64()).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn rows_are_those_of_the_frozen_problem_but_for_second_order() {
        let bodies = arch();
        let off = |speed: f64| {
            let x = iterate::<f64>(&bodies, speed);
            let (placed, frozen) = (linearized(&bodies, &x, true), linearized(&bodies, &x, false));
            (apart(&placed.h, &frozen.h), apart(&placed.g, &frozen.g))
        };
        // Gaps differ by ½h|ω|²|arm|, forces by h|ω||λ|; velocities are so small that the NCP functions are all but linear.
        let (large, small) = (off(1e-3), off(1e-4));
        assert!(large.0 > 1e-8 && large.1 > 1e-6, "{large:?}");
        assert!((large.0 / small.0 / 100.0 - 1.0).abs() < 0.1, "{large:?} {small:?}");
        assert!((large.1 / small.1 / 10.0 - 1.0).abs() < 0.1, "{large:?} {small:?}");
    }

    #[test]
    fn j_is_the_derivative_of_the_gaps_but_for_half_the_turn_of_the_step() {
        let bodies = arch();
        let p = bodies.problem();
        let contacts: Vec<u32> = (0..p.contacts() as u32).collect();
        let mut places = Places::<f64>::new(&p, &contacts, &bodies.poses());
        let mut off = |speed: f64| {
            let mut x = iterate::<f64>(&bodies, speed);
            let s = linearized(&bodies, &x, true);
            let mut worst = 0.0_f64;
            for k in 0..x.u.len() {
                let d = 1e-3;
                let at = x.u[k];
                let mut gaps = |u: f64| {
                    x.u[k] = u;
                    places.move_to(&x.u);
                    contacts.iter().map(|&c| places.gap_velocity(c as usize)).collect::<Vec<_>>()
                };
                let (more, less) = (gaps(at + d), gaps(at - d));
                x.u[k] = at;
                for c in 0..contacts.len() {
                    let by = (more[c] - less[c]) / (2.0 * d);
                    worst = worst.max((by - s.j.get(3 * c, k)).abs());
                }
            }
            worst
        };
        let (none, small, large) = (off(0.0), off(0.1), off(1.0));
        assert!(none < 1e-9, "{none:e}");
        assert!(large > 1e-4 && (large / small / 10.0 - 1.0).abs() < 0.1, "{small:e} {large:e}");
    }

    /// At rest gaps are zero, and 32-bit numbers miss that by some δ|x|/h; the frozen problem does not.
    #[test]
    fn gaps_in_32_bits_are_off_by_the_rounding_of_places() {
        let bodies = arch();
        let x = iterate::<f32>(&bodies, 0.0);
        let exact = linearized(&bodies, &iterate::<f64>(&bodies, 0.0), true).h;
        let off = |placed: bool| {
            let single = linearized(&bodies, &x, placed).h;
            single.iter().zip(&exact).map(|(a, b)| (a.to_f64() - b).abs()).fold(0.0, f64::max)
        };
        let far = bodies.poses().iter().map(|p| p.translation.length()).fold(0.0, f64::max);
        let rounding = f32::EPSILON as f64 * far / samples::TIME_STEP;
        let (placed, frozen) = (off(true), off(false));
        assert!(placed > 0.1 * rounding && placed < 3.0 * rounding, "{placed:e} {rounding:e}");
        assert!(frozen < 0.01 * placed, "{frozen:e} {placed:e}");
    }

    #[test]
    fn the_floor_in_32_bits_is_that_of_places_and_64_bits_have_none() {
        let bodies = arch();
        let (p, poses) = (bodies.problem(), bodies.poses());
        let settings = NewtonSettings {
            iterations: 60,
            step: StepRule::Fixed(1.0),
            linear: super::super::LinearSettings::default()
                .with_method(LinearMethod::ConjugateResidual)
                .with_iterations(100),
            ..NewtonSettings::default()
        };
        fn floor<T: Real>(p: &ContactProblem, s: &NewtonSettings, poses: Option<&[Pose]>) -> f64 {
            let (looks, ..) = solve_in::<T>(p, s, poses);
            looks.iter().map(|l| l.rows).filter(|r| r.is_finite()).fold(f64::INFINITY, f64::min)
        }
        let frozen = floor::<f32>(&p, &settings, None);
        let placed = floor::<f32>(&p, &settings, Some(&poses));
        let double = floor::<f64>(&p, &settings, Some(&poses));
        assert!(placed > 3.0 * frozen, "{placed:e} {frozen:e}");
        assert!(double < 1e-6 * placed, "{double:e} {placed:e}");
    }
}
