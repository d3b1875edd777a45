//! What many steps took and reached: means, maxima, counts of statuses.

use crate::clock::Elapsed;
use crate::table::{Paint, Table, duration, number};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use stiction::contact::Residuals;
use stiction::steppers::{Energy, StageTimes};
use stiction::{Status, StepReport};

/// Mean and maximum of a count.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    sum: u64,
    max: usize,
}

impl Count {
    fn add(&mut self, n: usize) {
        self.sum += n as u64;
        self.max = self.max.max(n);
    }

    fn mean(&self, steps: u64) -> f64 {
        self.sum as f64 / steps.max(1) as f64
    }

    fn json(&self, steps: u64) -> Value {
        json!({"mean": self.mean(steps), "max": self.max})
    }
}

/// Sums and maxima over the steps of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Steps taken.
    pub steps: u64,
    /// Steps whose solver did not reach its tolerance.
    pub failed: u64,
    /// Number of the first of them.
    pub first_failed: Option<u64>,
    /// Worst residuals of all steps.
    pub residuals: Residuals,
    /// Deepest overlap that collision found [m].
    pub overlap: f64,
    contacts: Count,
    iterations: Count,
    islands: Count,
    factorizations: Count,
    times: [f64; 5],
    statuses: [u64; 4],
}

/// A summary as whole numbers, the bits of those that are not: text that keeps them exactly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    steps: [u64; 2],
    first_failed: Option<u64>,
    counts: [(u64, usize); 4],
    statuses: [u64; 4],
    worst: [u64; 6],
    times: [u64; 5],
}

impl From<&Summary> for Kept {
    fn from(s: &Summary) -> Kept {
        let r = &s.residuals;
        let worst = [r.natural, r.momentum, r.penetration, r.cone, r.misalignment, s.overlap];
        Kept {
            steps: [s.steps, s.failed],
            first_failed: s.first_failed,
            counts: [s.contacts, s.iterations, s.islands, s.factorizations].map(|c| (c.sum, c.max)),
            statuses: s.statuses,
            worst: worst.map(f64::to_bits),
            times: s.times.map(f64::to_bits),
        }
    }
}

impl From<&Kept> for Summary {
    fn from(k: &Kept) -> Summary {
        let [natural, momentum, penetration, cone, misalignment, overlap] = k.worst.map(f64::from_bits);
        let [contacts, iterations, islands, factorizations] = k.counts.map(|(sum, max)| Count { sum, max });
        Summary {
            steps: k.steps[0],
            failed: k.steps[1],
            first_failed: k.first_failed,
            residuals: Residuals { natural, momentum, penetration, cone, misalignment },
            overlap,
            contacts,
            iterations,
            islands,
            factorizations,
            times: k.times.map(f64::from_bits),
            statuses: k.statuses,
        }
    }
}

const STATUSES: [&str; 4] = ["converged", "floor", "budget", "infeasible"];

impl Summary {
    /// Counts one step in.
    pub fn add(&mut self, r: &StepReport) {
        self.steps += 1;
        self.contacts.add(r.contacts);
        self.islands.add(r.islands);
        self.iterations.add(r.iterations);
        self.factorizations.add(r.factorizations);
        self.residuals = self.residuals.max(r.residuals);
        self.overlap = self.overlap.max(r.overlap);
        for (sum, t) in self.times.iter_mut().zip(r.times.to_array()) {
            *sum += t;
        }
        self.statuses[match r.status {
            Status::Converged => 0,
            Status::Floor => 1,
            Status::Budget => 2,
            Status::Infeasible(_) => 3,
        }] += 1;
        if !r.status.is_solved() {
            self.failed += 1;
            self.first_failed.get_or_insert(r.step);
        }
    }

    /// Deepest of what the linearised contacts leave and what collision found [m].
    pub fn penetration(&self) -> f64 {
        self.residuals.penetration.max(self.overlap)
    }

    /// Contacts of the step that had most.
    pub fn most_contacts(&self) -> usize {
        self.contacts.max
    }

    /// Iterations per step.
    pub fn mean_iterations(&self) -> f64 {
        self.iterations.mean(self.steps)
    }

    /// The keys that every command reports.
    pub fn json(&self, sim_seconds: f64, took: Elapsed) -> Map<String, Value> {
        let r = &self.residuals;
        let stages: Map<String, Value> =
            StageTimes::NAMES.iter().zip(self.times).map(|(n, t)| (n.to_string(), json!(t))).collect();
        let statuses: Map<String, Value> =
            STATUSES.iter().zip(self.statuses).map(|(n, k)| (n.to_string(), json!(k))).collect();
        let Value::Object(map) = json!({
            "steps": self.steps,
            "sim_seconds": sim_seconds,
            "wall_seconds": took.wall,
            "cpu_seconds": took.cpu,
            "realtime_factor": ratio(sim_seconds, took.wall),
            "stages": stages,
            "contacts": self.contacts.json(self.steps),
            "islands": self.islands.json(self.steps),
            "iterations": self.iterations.json(self.steps),
            "factorizations": self.factorizations.json(self.steps),
            "residuals": {
                "natural_max": r.natural,
                "momentum_max": r.momentum,
                "penetration_max": self.penetration(),
                "penetration_linearized_max": r.penetration,
                "overlap_max": self.overlap,
                "cone_max": r.cone,
                "misalignment_max": r.misalignment,
            },
            "statuses": statuses,
            "failed_steps": self.failed,
            "first_failed_step": self.first_failed,
        }) else {
            unreachable!("the macro was given an object")
        };
        map
    }

    /// The lines about work and exactness.
    pub fn fill(&self, table: &mut Table, paint: Paint) {
        let r = &self.residuals;
        let both = |c: &Count| format!("{} mean, {} max", number(c.mean(self.steps)), c.max);
        table.row(["contacts".into(), both(&self.contacts)]);
        table.row(["iterations".into(), both(&self.iterations)]);
        table.row(["factorisations".into(), both(&self.factorizations)]);
        let counts: Vec<String> = STATUSES
            .iter()
            .zip(self.statuses)
            .filter(|&(_, k)| k > 0)
            .map(|(name, k)| format!("{k} {name}"))
            .collect();
        let statuses = counts.join(", ");
        let statuses = if self.failed == 0 { paint.good(&statuses) } else { paint.bad(&statuses) };
        table.row(["solves".into(), statuses]);
        table.row(["natural map".into(), format!("{} m/s worst", number(r.natural))]);
        table.row(["momentum".into(), format!("{} √kg·m/s worst", number(r.momentum))]);
        table.row([
            "penetration".into(),
            format!("{} m found, {} m left in the step", number(self.overlap), number(r.penetration)),
        ]);
        table.row([
            "friction".into(),
            format!("{} outside the cone, {} off the slip direction", number(r.cone), number(r.misalignment)),
        ]);
    }

    /// Wall time per step, by stage.
    pub fn fill_stages(&self, table: &mut Table) {
        let steps = self.steps.max(1) as f64;
        let total: f64 = self.times.iter().sum();
        for (name, t) in StageTimes::NAMES.iter().zip(self.times) {
            let share = 100.0 * ratio(t, total);
            table.row([format!("  {name}"), format!("{}, {share:.0} %", duration(t / steps))]);
        }
    }
}

/// Energies at the start, at the end and the largest total in between [J].
#[derive(Clone, Copy, Debug, Default)]
pub struct Energies {
    first: Energy,
    last: Energy,
    max: f64,
}

impl Energies {
    /// At the start of a run.
    pub fn new(first: Energy) -> Energies {
        Energies { first, last: first, max: first.total() }
    }

    /// Its numbers bit by bit.
    pub fn bits(&self) -> [u64; 7] {
        let [a, b] = [self.first, self.last].map(|e| [e.kinetic, e.potential, e.elastic]);
        [a[0], a[1], a[2], b[0], b[1], b[2], self.max].map(f64::to_bits)
    }

    /// From its bits.
    pub fn from_bits(bits: [u64; 7]) -> Energies {
        let [a, b, c, d, e, f, max] = bits.map(f64::from_bits);
        Energies {
            first: Energy { kinetic: a, potential: b, elastic: c },
            last: Energy { kinetic: d, potential: e, elastic: f },
            max,
        }
    }

    /// After a step.
    pub fn add(&mut self, e: Energy) {
        self.last = e;
        self.max = self.max.max(e.total());
    }

    /// Totals, and the parts of the last one.
    pub fn json(&self) -> Value {
        json!({
            "initial": self.first.total(),
            "final": self.last.total(),
            "max": self.max,
            "kinetic_final": self.last.kinetic,
            "potential_final": self.last.potential,
            "elastic_final": self.last.elastic,
        })
    }

    /// One line.
    pub fn line(&self) -> String {
        let (first, last) = (self.first.total(), self.last.total());
        format!("{} J → {} J, {} J kinetic", number(first), number(last), number(self.last.kinetic))
    }
}

/// a/b, and 0 where nothing was measured.
pub fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// "… s on the wall, … s of processor time".
pub fn took_line(took: Elapsed) -> String {
    match took.cpu {
        Some(cpu) => format!("{} wall, {} CPU", duration(took.wall), duration(cpu)),
        None => format!("{} wall", duration(took.wall)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_and_the_worst_is_kept() {
        let mut s = Summary::default();
        let mut r = StepReport { step: 1, contacts: 4, overlap: 2e-3, ..StepReport::default() };
        r.residuals.penetration = 1e-3;
        s.add(&r);
        s.add(&StepReport { step: 2, contacts: 8, status: Status::Budget, ..StepReport::default() });
        s.add(&StepReport { step: 3, status: Status::Infeasible(vec![0]), ..StepReport::default() });
        assert_eq!(Kept::from(&Summary::from(&Kept::from(&s))), Kept::from(&s));
        let json = Value::Object(s.json(0.3, Elapsed { wall: 0.1, cpu: None }));
        assert_eq!((s.failed, s.first_failed), (2, Some(2)));
        assert_eq!(json["contacts"], json!({"mean": 4.0, "max": 8}));
        assert_eq!(json["residuals"]["penetration_max"], json!(2e-3));
        assert_eq!(json["statuses"]["infeasible"], json!(1));
    }
}
