//! One measured figure beside its reference.

use serde_json::{Value, json};
use stiction_cli::output::csv_number;
use stiction_cli::table::number;

/// Whether a row meets its acceptance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Pass,
    /// It does not.
    Fail,
    /// It has none: shown for comparison.
    #[default]
    Shown,
}

/// A row of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Its name within the experiment, for those who look it up: lower case, digits, `-` and `.` between slashes. It stays when words or
    /// figures change.
    pub id: String,
    /// What was measured.
    pub what: String,
    /// The measured value; `None` where a remark stands instead.
    pub value: Option<f64>,
    /// Its unit, or the remark.
    pub unit: String,
    /// What the paper or the closed form says.
    pub reference: String,
    /// What is asked for.
    pub accept: String,
    /// Whether it is met.
    pub verdict: Verdict,
    /// Why it differs from the reference, where it does.
    pub why: String,
}

impl Row {
    /// Columns of the CSV file.
    pub const COLUMNS: [&'static str; 8] =
        ["id", "what", "value", "unit", "reference", "accept", "verdict", "why"];

    /// A measured value.
    pub fn new(id: impl Into<String>, what: impl Into<String>, value: f64, unit: &str) -> Row {
        Row { id: id.into(), what: what.into(), value: Some(value), unit: unit.into(), ..Row::default() }
    }

    /// A remark instead of a value.
    pub fn remark(id: impl Into<String>, what: impl Into<String>, remark: impl Into<String>) -> Row {
        Row { id: id.into(), what: what.into(), unit: remark.into(), ..Row::default() }
    }

    /// With what the paper or the closed form says.
    pub fn against(mut self, reference: impl Into<String>) -> Row {
        self.reference = reference.into();
        self
    }

    /// With what is asked for, and whether it is met.
    pub fn accept(mut self, text: impl Into<String>, met: bool) -> Row {
        self.accept = text.into();
        self.verdict = if met { Verdict::Pass } else { Verdict::Fail };
        self
    }

    /// Asks for a value of at most `limit`; not-a-number fails.
    pub fn at_most(self, limit: f64) -> Row {
        let met = self.value.is_some_and(|v| v <= limit);
        let text = format!("≤ {} {}", number(limit), self.unit);
        self.accept(text.trim_end(), met)
    }

    /// Asks for a value of at least `limit`; not-a-number fails.
    pub fn at_least(self, limit: f64) -> Row {
        let met = self.value.is_some_and(|v| v >= limit);
        let text = format!("≥ {} {}", number(limit), self.unit);
        self.accept(text.trim_end(), met)
    }

    /// With the reason why it differs from the reference.
    pub fn because(mut self, why: impl Into<String>) -> Row {
        self.why = why.into();
        self
    }

    /// The remark that stands instead of a value, or the reason of a difference, with what it is about.
    pub fn note(&self) -> Option<String> {
        let text = if self.why.is_empty() { &self.unit } else { &self.why };
        (self.value.is_none() || !self.why.is_empty()).then(|| format!("{}: {text}", self.what))
    }

    /// Value and unit as text.
    pub fn ours(&self) -> String {
        match self.value {
            Some(v) if v.fract() == 0.0 && v.abs() < 1e6 => format!("{v} {}", self.unit),
            Some(v) => format!("{} {}", number(v), self.unit),
            None => self.unit.clone(),
        }
    }

    /// Cells of the CSV file.
    pub fn cells(&self) -> [String; 8] {
        [
            self.id.clone(),
            self.what.clone(),
            self.value.map_or(String::new(), csv_number),
            self.unit.clone(),
            self.reference.clone(),
            self.accept.clone(),
            self.word().into(),
            self.why.clone(),
        ]
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        json!({
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            "reference": self.reference,
            "accept": self.accept,
            "verdict": self.word(),
            "why": self.why,
        })
    }

    /// Whether its name can be looked up: parts of `a-z`, `0-9`, `-` and `.` between slashes.
    pub fn has_good_id(&self) -> bool {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        self.id.split('/').all(|part| !part.is_empty() && part.chars().all(plain))
    }

    fn word(&self) -> &'static str {
        match self.verdict {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Shown => "shown",
        }
    }
}
