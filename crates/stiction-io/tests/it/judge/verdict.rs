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
    /// The same where holders push: their impulse is that of the elastic energy.
    Held,
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

/// What a run did by one law.
pub struct Tally {
    /// How many figures were judged.
    pub judged: usize,
    /// Largest share of the limit, and the step and finding where it was.
    share: f64,
    step: usize,
    worst: Finding,
    /// Largest figure above its limit.
    most: f64,
}

/// A law that a run broke: the step and finding with the largest share of the limit, and the largest figure of all that are above
/// theirs.
pub struct Broken<'a> {
    pub step: usize,
    pub worst: &'a Finding,
    pub most: f64,
}

/// What a run did, by law.
#[derive(Default)]
pub struct Verdict {
    tallies: BTreeMap<LawOf, Tally>,
    step: usize,
    unsolved: usize,
}

impl Verdict {
    /// Findings from here on belong to this step.
    pub fn at_step(&mut self, step: usize) {
        self.step = step;
    }

    /// Notes what the solver says about the step. The figure is the number of steps so far that it left unsolved.
    pub fn solved(&mut self, status: stiction::solvers::Status) -> bool {
        self.unsolved += usize::from(!status.is_solved());
        self.judge(LawOf::Solved, self.unsolved as f64, 0.5, || status.word().to_string());
        status.is_solved()
    }

    /// Judges one figure. What is no number is worst of all.
    pub fn judge(&mut self, law: LawOf, figure: f64, limit: f64, what: impl FnOnce() -> String) {
        let share = if figure <= 0.0 { 0.0 } else { figure / limit };
        let share = if share.is_nan() { f64::INFINITY } else { share };
        let most = match share > 1.0 {
            true if figure.is_nan() => f64::INFINITY,
            true => figure,
            false => 0.0,
        };
        let Some(t) = self.tallies.get_mut(&law) else {
            let worst = Finding { law, figure, limit, what: what() };
            self.tallies.insert(law, Tally { judged: 1, share, step: self.step, worst, most });
            return;
        };
        t.judged += 1;
        t.most = t.most.max(most);
        if share > t.share {
            (t.share, t.step) = (share, self.step);
            t.worst = Finding { law, figure, limit, what: what() };
        }
    }

    /// How many figures were judged by a law.
    pub fn judged(&self, law: LawOf) -> usize {
        self.tallies.get(&law).map_or(0, |t| t.judged)
    }

    /// Laws that were broken.
    pub fn broken(&self) -> impl Iterator<Item = Broken<'_>> {
        let broken = self.tallies.values().filter(|t| t.share > 1.0);
        broken.map(|t| Broken { step: t.step, worst: &t.worst, most: t.most })
    }
}
