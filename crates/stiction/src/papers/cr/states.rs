//! States of constraints and their evaluation (Algorithms 2 and 3).
//!
//! A row is an unknown or rests at one of its bounds: the normal of a contact at 0 when it is open, a row of a joint at
//! its limits, an axis of a friction pyramid at ±μ λ'. The two tangents of a friction cone go together: unknowns while
//! they stick, μ λ' against the sliding direction δ while they slip.
//!
//! In our signs the friction force is λ_t = −γ, so that (16) reads |λ_t| > μ λ_n and u_t·λ_t < 0.

use super::pair::Pair;
use super::system::Saddle;
use super::{Cone, Signs, Turn};
use crate::contact::law::RoundLaw;
use crate::linalg::Vec3;

/// Where a row is: an unknown, or at its lower or upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Row {
    #[default]
    Unknown,
    Low,
    High,
}

/// What one contact or block of rows remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Constraint {
    row: [Row; 3],
    /// δ: unit direction of sliding in the tangent plane, of a slipping cone.
    slide: Vec3,
    /// λ of the last friction update, for the moving average; λ' is its mean with the present one.
    last: f64,
    /// Signed sine of the last turn of δ that was asked for, and by how much turns are damped (see [`Turn::Damped`]).
    turn: f64,
    damping: f64,
    /// How often it gave way to others that it contradicted.
    gave_way: u8,
}

/// What gave way this often, and acts again, does not do so once more: another one has to.
const MOST_WAYS: u8 = 2;

/// How damping of turns is learnt.
const MORE_DAMPING: f64 = 2.0;
const LESS_DAMPING: f64 = 0.8;
const MOST_DAMPING: f64 = 100.0;

/// All states, as masks of the unknown rows and values of the others.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    /// 1 in rows that are unknowns.
    pub mask: Vec<Vec3>,
    /// λ of all other rows.
    pub fixed: Vec<Vec3>,
    all: Vec<Constraint>,
}

/// Where a way of all multipliers first comes to a bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    constraint: usize,
    /// Of the way.
    share: f64,
    state: Met,
}

/// Which bound it is.
#[derive(Clone, Copy, Debug)]
enum Met {
    /// Of a row, with its value.
    Row(usize, f64, Row),
    /// A contact has no force left.
    Opens,
    /// Friction leaves its cone.
    Slips,
}

/// How strictly constraints are evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strictness {
    /// Changes of state that move a row by less than this are postponed: ε₂/h [m/s].
    pub least: f64,
    /// The same of kinetic friction that is updated.
    pub update: f64,
    /// Velocities of this size count as zero when signs are asked for [m/s]: nothing while iterating, ε₂/h where the
    /// solver has converged and signs of active rows are those of rounding.
    pub slack: f64,
    /// What counts against a violation.
    pub signs: Signs,
    /// Sine of ε_θ.
    pub angle: f64,
    /// Natural maps of sideways sliding up to this size are left [m/s].
    pub sideways: f64,
    /// α_θ.
    pub turn: Turn,
    pub cone: Cone,
}

/// What an evaluation changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Constraints whose state changed.
    pub switched: usize,
    /// Kinetic friction forces that were updated.
    pub updated: usize,
}

impl Changes {
    pub fn any(&self) -> bool {
        self.switched + self.updated > 0
    }
}

impl Strictness {
    /// The violation [m/s] that a row may have and still be released, where a multiplier is beyond its bound by what would move
    /// the row by `beyond` [m/s].
    fn forgiven(&self, beyond: f64) -> f64 {
        match self.signs {
            Signs::Printed => self.slack,
            Signs::Weighed => self.slack.max(beyond),
        }
    }
}

impl States {
    /// States that a guess of λ suggests; leaves the unknown part of it in `lambda`.
    pub fn start(&mut self, sys: &Saddle, cone: Cone, lambda: &mut [Vec3]) {
        self.all.clear();
        self.mask.clear();
        self.fixed.clear();
        for (l, law) in lambda.iter_mut().zip(&sys.rows.law) {
            let mut c = Constraint::default();
            let mut x = if l.is_finite() { *l } else { Vec3::ZERO };
            match *law {
                RoundLaw::Rows(b) => {
                    x = b.clamp(x);
                    for k in 0..3 {
                        c.row[k] = rest(x[k], b.lo[k], b.hi[k]);
                    }
                }
                RoundLaw::Cone(_) if x.x <= 0.0 => {
                    x = Vec3::ZERO;
                    c.open();
                }
                RoundLaw::Cone(mu) => {
                    let (t, limit) = (x.y.hypot(x.z), mu * x.x);
                    c.last = x.x;
                    match cone {
                        Cone::Round if t >= limit * (1.0 - 1e-9) => {
                            let s = if t > 0.0 { limit / t } else { 0.0 };
                            c.slide = if t > 0.0 { Vec3::new(0.0, -x.y, -x.z) / t } else { Vec3::ZERO };
                            x = Vec3::new(x.x, s * x.y, s * x.z);
                            (c.row[1], c.row[2]) = (Row::High, Row::High);
                        }
                        Cone::Round => {}
                        Cone::Pyramid => {
                            for k in 1..3 {
                                x[k] = x[k].clamp(-limit, limit);
                                c.row[k] = rest(x[k], -limit, limit);
                            }
                        }
                    }
                }
            }
            self.all.push(c);
            self.mask.push(Vec3::ZERO);
            self.fixed.push(Vec3::ZERO);
            *l = self.split(self.all.len() - 1, x);
        }
    }

    /// Takes the mask of constraint `c` from its rows and parts λ into what is fixed and what is unknown.
    fn split(&mut self, c: usize, lambda: Vec3) -> Vec3 {
        let on = |k: usize| if self.all[c].row[k] == Row::Unknown { 1.0 } else { 0.0 };
        self.mask[c] = Vec3::new(on(0), on(1), on(2));
        self.fixed[c] = (Vec3::ONE - self.mask[c]) * lambda;
        self.mask[c] * lambda
    }

    /// Evaluates every constraint at `x` (Algorithm 2). `x.l` holds the unknown multipliers; `total` all of them, and
    /// is kept up to date. `own` is Z⁻¹ S_d.
    pub fn evaluate(
        &mut self,
        sys: &Saddle,
        x: &mut Pair,
        total: &mut [Vec3],
        own: &[Vec3],
        how: &Strictness,
    ) -> Changes {
        let mut changes = Changes::default();
        for c in 0..self.all.len() {
            let u = sys.velocity(c, &x.v, total);
            let (mut new, mut lambda) = (self.all[c], total[c]);
            // The largest change of a distance over h that the update stands for.
            let mut change = 0.0_f64;
            match sys.rows.law[c] {
                RoundLaw::Rows(b) => {
                    for k in 0..3 {
                        change = change.max(new.row(k, (b.lo[k], b.hi[k]), &mut lambda, u, own[c], how));
                    }
                }
                RoundLaw::Cone(mu) => {
                    let was_open = new.row[0] != Row::Unknown;
                    change = new.row(0, (0.0, f64::INFINITY), &mut lambda, u, own[c], how);
                    if new.row[0] != Row::Unknown {
                        lambda = Vec3::ZERO;
                        new.open();
                    } else {
                        if was_open {
                            // Friction starts kinetic, along the sliding velocity (R6).
                            new.slide = unit(u);
                            new.last = 0.0;
                        }
                        change = change.max(match how.cone {
                            Cone::Round => new.cone(mu, &mut lambda, u, own[c], how),
                            Cone::Pyramid => new.pyramid(mu, &mut lambda, u, own[c], how),
                        });
                    }
                }
            }
            let switched = new.row != self.all[c].row;
            if change > if switched { how.least } else { how.update } {
                changes.switched += usize::from(switched);
                changes.updated += usize::from(!switched);
                self.all[c] = new;
                total[c] = lambda;
                x.l[c] = self.split(c, lambda);
            }
        }
        changes
    }

    /// What in a group comes to its bound first when multipliers go along `way`.
    pub fn first_bound(&self, sys: &Saddle, group: &[u32], total: &[Vec3], way: &[Vec3]) -> Option<Bound> {
        let mut first: Option<Bound> = None;
        let mut meet = |constraint: usize, share: f64, state: Met| {
            if share.is_finite() && first.as_ref().is_none_or(|f| share < f.share) {
                first = Some(Bound { constraint, share: share.max(0.0), state });
            }
        };
        for c in group.iter().map(|c| *c as usize) {
            let (row, l, z) = (&self.all[c].row, total[c], way[c]);
            if self.all[c].gave_way >= MOST_WAYS {
                continue;
            }
            match sys.rows.law[c] {
                RoundLaw::Rows(b) => {
                    for k in (0..3).filter(|k| row[*k] == Row::Unknown && z[*k] != 0.0) {
                        let (at, end) = if z[k] < 0.0 { (b.lo[k], Row::Low) } else { (b.hi[k], Row::High) };
                        meet(c, (at - l[k]) / z[k], Met::Row(k, at, end));
                    }
                }
                RoundLaw::Cone(mu) if row[0] == Row::Unknown => {
                    if z.x < 0.0 {
                        meet(c, -l.x / z.x, Met::Opens);
                    }
                    if row[1] == Row::Unknown && row[2] == Row::Unknown {
                        meet(c, way_to_cone(mu, l, z), Met::Slips);
                    }
                }
                RoundLaw::Cone(_) => {}
            }
        }
        first
    }

    /// Takes the multipliers of a group along `way` up to this bound, where they come to rest.
    pub fn follow(
        &mut self,
        to: &Bound,
        group: &[u32],
        way: &[Vec3],
        total: &mut [Vec3],
        unknown: &mut [Vec3],
    ) {
        for c in group.iter().map(|c| *c as usize) {
            total[c] += self.mask[c] * way[c] * to.share;
            let own = &mut self.all[c];
            own.gave_way += u8::from(c == to.constraint);
            match to.state {
                _ if c != to.constraint => {}
                Met::Row(k, at, end) => {
                    total[c][k] = at;
                    own.row[k] = end;
                }
                Met::Opens => {
                    total[c] = Vec3::ZERO;
                    own.open();
                }
                Met::Slips => {
                    (own.row[1], own.row[2]) = (Row::High, Row::High);
                    own.slide = -unit(total[c]);
                    own.last = total[c].x.max(0.0);
                }
            }
            unknown[c] = self.split(c, total[c]);
        }
    }

    /// Whether constraint `c` is a contact that acts and slips.
    pub fn slips(&self, c: usize) -> bool {
        self.mask.get(c).is_some_and(|m| m.x > 0.0 && m.y == 0.0)
    }

    /// Constraints that act, and those of them whose friction slips.
    pub fn count(&self) -> (usize, usize) {
        let active = self.mask.iter().filter(|m| m.x > 0.0).count();
        (active, (0..self.mask.len()).filter(|c| self.slips(*c)).count())
    }
}

impl Constraint {
    fn open(&mut self) {
        self.row = [Row::Low; 3];
        self.slide = Vec3::ZERO;
        self.last = 0.0;
    }

    /// Row `k` with bounds: (12) and (13) for a normal with [0, ∞). Returns the change of distance over h.
    fn row(
        &mut self,
        k: usize,
        (lo, hi): (f64, f64),
        lambda: &mut Vec3,
        u: Vec3,
        own: Vec3,
        how: &Strictness,
    ) -> f64 {
        let (l, u) = (lambda[k], u[k]);
        match self.row[k] {
            Row::Unknown => {
                // (13): it would have to pull, and what it holds is not violated.
                let bound = if l <= lo && u >= -how.forgiven(own[k] * (lo - l)) {
                    self.row[k] = Row::Low;
                    lo
                } else if l >= hi && u <= how.forgiven(own[k] * (l - hi)) {
                    self.row[k] = Row::High;
                    hi
                } else {
                    return 0.0;
                };
                lambda[k] = bound;
                own[k] * (l - bound).abs()
            }
            // (12). The change is the violation: multipliers do not jump when a row becomes an unknown.
            Row::Low if u < 0.0 && lo < hi => {
                self.row[k] = Row::Unknown;
                -u
            }
            Row::High if u > 0.0 && lo < hi => {
                self.row[k] = Row::Unknown;
                u
            }
            // Bounds may have moved.
            Row::Low => {
                lambda[k] = lo;
                own[k] * (l - lo).abs()
            }
            Row::High => {
                lambda[k] = hi;
                own[k] * (l - hi).abs()
            }
        }
    }

    /// Static and kinetic friction on the round cone: (16), (18) and Algorithm 3.
    fn cone(&mut self, mu: f64, lambda: &mut Vec3, u: Vec3, own: Vec3, how: &Strictness) -> f64 {
        let (force, slip) = (Vec3::new(0.0, lambda.y, lambda.z), Vec3::new(0.0, u.y, u.z));
        let size = force.length();
        let sticks = self.row[1] == Row::Unknown;
        let own_t = 0.5 * (own.y + own.z);
        let beyond = own_t * (size - mu * lambda.x.max(0.0));
        if sticks && size > mu * lambda.x && slip.dot(force) <= how.forgiven(beyond) * size {
            // Static → kinetic (16); the force does not jump: λ' = |γ|/μ.
            (self.row[1], self.row[2]) = (Row::High, Row::High);
            self.slide = if size > 0.0 { -force / size } else { unit(u) };
            self.last = if mu > 0.0 { size / mu } else { 0.0 };
        } else if !sticks && mu > 0.0 && slip.dot(self.slide) <= 0.0 && slip.length() > how.least {
            // Kinetic → static (18). What slides back by less goes on with a force that follows μ λ.
            (self.row[1], self.row[2]) = (Row::Unknown, Row::Unknown);
            return slip.length();
        } else if sticks {
            return 0.0;
        }
        // Algorithm 3: a moving average of two, and δ turned towards the sliding velocity.
        let mean = 0.5 * (self.last + lambda.x).max(0.0);
        self.last = lambda.x.max(0.0);
        let (toward, speed) = (unit(u), slip.length());
        let (turn, response) = (self.slide.cross(toward).x, own_t * mu * mean);
        // The part of the natural map that is across the friction force.
        let sideways = turn.abs() * speed * response / (speed + response).max(f64::MIN_POSITIVE);
        let turns = speed > how.least
            && toward.dot(self.slide) > 0.0
            && turn.abs() > how.angle
            && sideways >= how.sideways;
        if turns {
            self.learn_damping(turn);
            let share = how.turn.share(speed, self.damping * response);
            self.slide = (self.slide + (toward - self.slide) * share).normalize_or_zero();
        }
        let new = self.slide * (-mu * mean);
        // What is postponed is the whole way to μ λ δ: the average goes half of it, and would leave twice ε₂.
        let whole = self.slide * (-mu * lambda.x.max(0.0));
        let mut change = own_t * (whole - force).length().max((new - force).length());
        if turns && how.sideways > 0.0 {
            // Nor is a turn, however little of it is taken at once.
            change = change.max(sideways);
        }
        (lambda.y, lambda.z) = (new.y, new.z);
        change
    }

    /// Turns to and fro are damped more, those that go on less.
    fn learn_damping(&mut self, turn: f64) {
        let factor = if turn * self.turn < 0.0 { MORE_DAMPING } else { LESS_DAMPING };
        self.damping = (self.damping * factor).clamp(1.0, MOST_DAMPING);
        self.turn = turn;
    }

    /// Friction on a pyramid: each axis has bounds ±μ λ' of its own.
    fn pyramid(&mut self, mu: f64, lambda: &mut Vec3, u: Vec3, own: Vec3, how: &Strictness) -> f64 {
        let limit = mu * 0.5 * (self.last + lambda.x).max(0.0);
        self.last = lambda.x.max(0.0);
        let mut change = 0.0_f64;
        for k in 1..3 {
            change = change.max(self.row(k, (-limit, limit), lambda, u, own, how));
        }
        change
    }
}

/// The state of a row whose multiplier is `x`.
fn rest(x: f64, lo: f64, hi: f64) -> Row {
    if x <= lo {
        Row::Low
    } else if x >= hi {
        Row::High
    } else {
        Row::Unknown
    }
}

/// The share of `way` after which friction leaves the cone: |λ_t| = μ λ; infinite where it never does.
fn way_to_cone(mu: f64, l: Vec3, way: Vec3) -> f64 {
    let square = |x: Vec3, y: Vec3| x.y * y.y + x.z * y.z - mu * mu * x.x * y.x;
    let (a, half, c) = (square(way, way), square(l, way), square(l, l));
    if c >= 0.0 {
        return if half > 0.0 { 0.0 } else { f64::INFINITY };
    }
    // c < 0: inside. The smaller positive root of a t² + 2 half t + c, in the form that does not cancel.
    let root = (half * half - a * c).sqrt();
    let share = -c / (half + root);
    if share > 0.0 { share } else { f64::INFINITY }
}

/// Unit vector of the tangential part; zero where there is none.
fn unit(u: Vec3) -> Vec3 {
    Vec3::new(0.0, u.y, u.z).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_to_and_fro_are_damped_until_they_go_on() {
        let mut c = Constraint::default();
        c.learn_damping(0.1);
        let first = c.damping;
        for k in 0..4 {
            c.learn_damping(if k % 2 == 0 { -0.1 } else { 0.1 });
        }
        let most = c.damping;
        assert_eq!(most, first * MORE_DAMPING.powi(4));
        for _ in 0..2 {
            c.learn_damping(0.05);
        }
        assert!((c.damping - most * LESS_DAMPING * LESS_DAMPING).abs() < 1e-12);
        for _ in 0..100 {
            c.learn_damping(0.01);
        }
        assert_eq!(c.damping, first);
    }
}
