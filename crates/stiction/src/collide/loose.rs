//! Pairs of rigid shapes that may meet, kept from step to step.
//!
//! Each shape has a loose box, which holds three times the way of a step (CR 5.1) and some more, and keeps it until its
//! box of the present step leaves it. Pairs are sought anew only then. Whoever uses them asks the present boxes again, so
//! that what is found does not depend on when the pairs were found.

use super::broad::{Bounds, Sweep};
use crate::linalg::Vec3;

/// Ways of a step that a new loose box holds beyond that of the present one.
const MORE_WAYS: f64 = 2.0;
/// … and this share of its size on every side.
const SLACK: f64 = 0.05;
/// So few boxes that are new are compared with all others, one by one.
const FEW: usize = 16;

/// Loose boxes and the pairs of shapes whose boxes meet.
#[derive(Default)]
pub(super) struct Loose {
    boxes: Vec<Bounds>,
    /// Shapes that have left their boxes, by their numbers.
    left: Vec<bool>,
    sweep: Sweep,
    /// Sorted, the smaller shape first.
    pairs: Vec<(u32, u32)>,
}

impl Loose {
    /// Pairs, sorted, among which are all whose boxes in `now` meet, except those that `may_meet` denies; what it says
    /// must not change. `now` has the same shapes, ascending, in every call; `way` is what a shape moves within the step.
    pub fn pairs(
        &mut self,
        now: &[Bounds],
        way: impl Fn(u32) -> Vec3,
        may_meet: impl Fn(u32, u32) -> bool,
    ) -> &[(u32, u32)] {
        let Loose { boxes, left, sweep, pairs } = self;
        let is_new = boxes.len() != now.len();
        if is_new {
            boxes.clear();
            boxes.extend_from_slice(now);
            left.resize(now.last().map_or(0, |b| b.shape as usize + 1), false);
        }
        let mut many = 0;
        for (b, n) in boxes.iter_mut().zip(now) {
            let leaves = is_new || !b.holds(n);
            left[n.shape as usize] = leaves;
            if leaves {
                many += 1;
                let (ahead, slack) = (MORE_WAYS * way(n.shape), SLACK * (n.max - n.min));
                b.min = n.min + ahead.min(Vec3::ZERO) - slack;
                b.max = n.max + ahead.max(Vec3::ZERO) + slack;
            }
        }
        if many == 0 {
            return pairs;
        }
        sweep.bounds.clear();
        sweep.bounds.extend_from_slice(boxes);
        let has_left = |shape: u32| left[shape as usize];
        let is_few = many <= FEW;
        pairs.retain(|(a, b)| is_few && !has_left(*a) && !has_left(*b));
        let keep = |a: u32, b: u32| {
            if may_meet(a, b) {
                pairs.push((a, b));
            }
        };
        match is_few {
            true => sweep.pairs_of(has_left, keep),
            false => sweep.pairs(keep),
        }
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pair_is_missed_however_shapes_move() {
        let at = |k: u32, s: f64| (f64::from(k) * s).sin();
        let mut loose = Loose::default();
        let (mut kept, mut filtered) = (0, 0);
        let mut last: Vec<(u32, u32)> = Vec::new();
        for step in 0..60 {
            // Some stand still, some creep, a few jump.
            let place = |k: u32| {
                let speed = [0.0, 0.004, if step % 10 == 0 { 0.4 } else { 0.0 }][k as usize % 3];
                let turn = speed * f64::from(step);
                Vec3::new(at(k, 1.1) + turn, at(k, 2.3) - turn, at(k, 3.7)) * 2.0
            };
            let now: Vec<Bounds> = (0..90)
                .map(|shape| {
                    let half = Vec3::splat(0.2 + 0.1 * at(shape, 0.7));
                    Bounds { min: place(shape) - half, max: place(shape) + half, shape }
                })
                .collect();
            let pairs = loose.pairs(&now, |_| Vec3::splat(0.008), |a, b| a + b != 17).to_vec();
            kept += usize::from(pairs == last);
            let met: Vec<_> =
                pairs.iter().copied().filter(|&(a, b)| now[a as usize].meets(&now[b as usize])).collect();
            filtered += pairs.len() - met.len();
            let mut want = Vec::new();
            for a in 0..90u32 {
                want.extend(
                    (a + 1..90)
                        .map(|b| (a, b))
                        .filter(|&(a, b)| a + b != 17 && now[a as usize].meets(&now[b as usize])),
                );
            }
            assert_eq!(met, want, "step {step}");
            last = pairs;
        }
        assert!(kept > 10, "kept in {kept} of 60 steps");
        assert!(filtered > 0);
    }
}
