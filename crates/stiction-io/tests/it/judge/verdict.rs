//! What the judge says about a step: figures beside their limits.

use std::collections::BTreeMap;

/// A law that a step must obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LawOf {
    /// Normal forces push.
    Push,
    /// Friction stays within the cone.
    Cone,
    /// The coefficients of a contact are those of its surfaces.
    Coefficients,
    /// A contact that carries force is closed, or rebounds as its restitution says.
    Closed,
    /// Contacts do not approach beyond their gap.
    Approach,
    /// An impulse acts only where the surfaces touch within the step.
    Touch,
    /// Where friction does not hold, it opposes the slip at the edge of the cone.
    Slip,
    /// m Δv is the impulse of all forces.
    Momentum,
    /// Δ(R I Rᵀ ω) is the angular impulse of all forces.
    AngularMomentum,
    /// The gap of a pair is the distance of its shapes.
    Gap,
    /// Shapes do not overlap deeper than before.
    Penetration,
    /// The point of a contact lies halfway between the surfaces that touch.
    Placed,
    /// All laws that speak of a point or a gap, for contacts whose recorded point is not where the surfaces are.
    Elsewhere,
    /// The solver says that it solved the step.
    Solved,
}

impl LawOf {
    /// The law itself, or that for contacts whose record is elsewhere.
    pub fn if_placed(self, is_placed: bool) -> LawOf {
        if is_placed { self } else { LawOf::Elsewhere }
    }
}

/// A figure and the limit that it may not exceed.
#[derive(Clone, Debug)]
pub struct Finding {
    pub law: LawOf,
    pub figure: f64,
    pub limit: f64,
    pub what: String,
}

/// The worst findings of a run, by law.
#[derive(Default)]
pub struct Verdict {
    /// Largest share of the limit, with the step where it was.
    pub worst: BTreeMap<LawOf, (f64, usize, Finding)>,
    /// How many figures were judged.
    pub judged: usize,
    step: usize,
}

impl Verdict {
    /// Findings from here on belong to this step.
    pub fn at_step(&mut self, step: usize) {
        self.step = step;
    }

    /// Judges one figure. What is no number is worst of all.
    pub fn judge(&mut self, law: LawOf, figure: f64, limit: f64, what: impl FnOnce() -> String) {
        self.judged += 1;
        let share = if figure <= 0.0 { 0.0 } else { figure / limit };
        let share = if share.is_nan() { f64::INFINITY } else { share };
        if self.worst.get(&law).is_none_or(|w| share > w.0) {
            let finding = Finding { law, figure, limit, what: what() };
            self.worst.insert(law, (share, self.step, finding));
        }
    }

    /// Laws that were broken.
    pub fn broken(&self) -> impl Iterator<Item = (usize, &Finding)> {
        self.worst.values().filter(|w| w.0 > 1.0).map(|w| (w.1, &w.2))
    }
}
