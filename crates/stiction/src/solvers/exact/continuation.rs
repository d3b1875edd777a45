//! Continuation in friction: problems with μ far above 1 are reached from their easier sisters.

use super::chain::Chain;
use super::proximal_point::Centre;
use crate::contact::delassus::Delassus;

/// Below this coefficient the other stages have never needed help.
const EASY: f64 = 1.0;

impl<D: Delassus> Chain<'_, D> {
    /// Solves with friction scaled down to at most [`EASY`], then raises it in ever smaller strides, each answer
    /// the start of the next. Does nothing where all friction is easy.
    pub fn continuation(&mut self, round: usize) {
        let most = (0..self.d.contacts()).map(|c| self.d.law(c).mu()).fold(0.0, f64::max);
        if most <= EASY {
            return;
        }
        let before = self.b.best.clone();
        let strides = 4 << round;
        for k in 0..=strides {
            self.friction = (EASY / most).powf(1.0 - k as f64 / strides as f64);
            let start = self.b.best.clone();
            self.reset_best();
            self.evaluate(&start, "continuation");
            self.polish_best(1e-6, 12, 6.0);
            if !self.finished() {
                self.sweep_best(20);
                self.polish_best(1e-6, 12, 6.0);
            }
            if !self.finished() {
                self.proximal_point(Centre::Best(40), 1e-2);
                self.polish_best(1e-6, 6, 1.0);
            }
        }
        self.friction = 1.0;
        self.evaluate(&before, "continuation");
    }
}
