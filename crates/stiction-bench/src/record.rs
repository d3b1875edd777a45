//! The record of rows: what every experiment printed when it was last recorded, by id. The figures of the documentation stand in it.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use stiction_cli::failure::{Outcome, Result, error, unwritable};
use stiction_cli::output::print;

/// Where it is kept, from the root of the repository.
pub const FILE: &str = "crates/stiction-bench/rows.json";

/// Significant digits that are kept: more than the documentation shows, and few enough to be read.
const DIGITS: usize = 6;

/// How an experiment ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// With `--quick`.
    Quick,
    /// In full.
    Full,
}

impl Run {
    /// Its key in the record.
    pub fn name(self) -> &'static str {
        match self {
            Run::Quick => "quick",
            Run::Full => "full",
        }
    }
}

/// One row: its values by kind of run. `None` stands for a remark, which has no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The unit of the values.
    pub unit: String,
    quick: Option<Option<f64>>,
    full: Option<Option<f64>>,
}

impl Entry {
    /// What a run of this kind printed; `None` where it did not print this row.
    pub fn of(&self, run: Run) -> Option<Option<f64>> {
        match run {
            Run::Quick => self.quick,
            Run::Full => self.full,
        }
    }

    fn of_mut(&mut self, run: Run) -> &mut Option<Option<f64>> {
        match run {
            Run::Quick => &mut self.quick,
            Run::Full => &mut self.full,
        }
    }
}

/// All rows by `EXPERIMENT/row`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record(pub BTreeMap<String, Entry>);

impl Record {
    /// Reads the record of the repository in `root`; an empty one where there is none.
    pub fn load(root: &Path) -> Result<Record> {
        let path = root.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Record::parse(&text, FILE),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Record::default()),
            Err(e) => Err(error(format!("{}: cannot be read: {e}", path.display()), "make it readable")),
        }
    }

    fn parse(text: &str, name: &str) -> Result<Record> {
        let bad = |what: String| error(format!("{name}: {what}"), "write it with `stiction-bench record`");
        let rows: Map<String, Value> = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
        let mut out = Record::default();
        for (id, row) in rows {
            let mut entry =
                Entry { unit: row["unit"].as_str().unwrap_or_default().to_string(), ..Entry::default() };
            for run in [Run::Quick, Run::Full] {
                *entry.of_mut(run) = match row.get(run.name()) {
                    None => None,
                    Some(Value::Null) => Some(None),
                    Some(Value::Number(n)) => Some(n.as_f64()),
                    Some(other) => {
                        return Err(bad(format!("the row `{id}` has the value {other}, which is no number")));
                    }
                };
            }
            out.0.insert(id, entry);
        }
        Ok(out)
    }

    /// Takes in what `stiction-bench --json` printed: the rows of each of its experiments replace those of an earlier run of
    /// the same kind.
    pub fn take(&mut self, text: &str, name: &str) -> Result<usize> {
        let bad =
            |what: &str| error(format!("{name}: {what}"), "name files that `stiction-bench --json` printed");
        let printed: Value = serde_json::from_str(text).map_err(|e| bad(&e.to_string()))?;
        let run = match printed["quick"].as_bool() {
            Some(true) => Run::Quick,
            Some(false) => Run::Full,
            None => return Err(bad("`quick` is missing")),
        };
        let experiments = printed["experiments"].as_array().ok_or_else(|| bad("`experiments` is missing"))?;
        let mut taken = 0;
        for e in experiments {
            let id = e["id"].as_str().ok_or_else(|| bad("an experiment without `id`"))?;
            let rows = e["rows"].as_object().ok_or_else(|| bad(&format!("{id}: `rows` is missing")))?;
            if rows.contains_key(&format!("{id}/broke")) {
                return Err(error(format!("{name}: {id} broke"), "record runs that came to their end"));
            }
            self.forget(id, run);
            for (key, row) in rows {
                let value = row["value"].as_f64();
                let entry = self.0.entry(key.clone()).or_default();
                entry.unit = match value {
                    Some(_) => row["unit"].as_str().unwrap_or_default().to_string(),
                    None => String::new(),
                };
                *entry.of_mut(run) = Some(value.map(rounded));
                taken += 1;
            }
        }
        Ok(taken)
    }

    /// Drops what runs of this kind printed for an experiment.
    fn forget(&mut self, experiment: &str, run: Run) {
        self.0.retain(|key, entry| {
            if key.split('/').next() == Some(experiment) {
                *entry.of_mut(run) = None;
            }
            entry.quick.is_some() || entry.full.is_some()
        });
    }

    /// As a file: one row per line.
    pub fn text(&self) -> String {
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|(id, e)| {
                let mut row = Map::new();
                if !e.unit.is_empty() {
                    row.insert("unit".into(), json!(e.unit));
                }
                for run in [Run::Quick, Run::Full] {
                    if let Some(value) = e.of(run) {
                        row.insert(run.name().into(), json!(value));
                    }
                }
                format!("{}: {}", json!(id), Value::Object(row))
            })
            .collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }

    /// Whether a run of this kind was recorded of an experiment.
    pub fn knows(&self, experiment: &str, run: Run) -> bool {
        self.0.iter().any(|(id, e)| id.split('/').next() == Some(experiment) && e.of(run).is_some())
    }

    /// What is wrong with the rows that a run of an experiment printed, against those that were recorded of it.
    pub fn differences<'a>(
        &self,
        experiment: &str,
        run: Run,
        printed: impl Iterator<Item = &'a str>,
    ) -> Vec<String> {
        let mut recorded: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, e)| e.of(run).is_some())
            .filter_map(|(id, _)| id.split_once('/').filter(|(head, _)| *head == experiment))
            .map(|(_, row)| row)
            .collect();
        let mut out = Vec::new();
        for id in printed {
            match recorded.iter().position(|r| *r == id) {
                Some(i) => {
                    recorded.swap_remove(i);
                }
                None => out.push(format!("{experiment}/{id} is not in the record")),
            }
        }
        out.extend(recorded.iter().map(|id| format!("{experiment}/{id} is recorded, but was not printed")));
        out
    }
}

/// With the digits that are kept.
fn rounded(x: f64) -> f64 {
    format!("{x:.*e}", DIGITS - 1).parse().unwrap_or(x)
}

/// `stiction-bench record FILE…`
pub fn record(root: &Path, files: &[std::path::PathBuf]) -> Result<Outcome> {
    let mut all = Record::load(root)?;
    for file in files {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|e| error(format!("{name}: cannot be read: {e}"), "name a file that exists"))?;
        let taken = all.take(&text, &name)?;
        print(&format!("{name}: {taken} rows\n"))?;
    }
    let path = root.join(FILE);
    std::fs::write(&path, all.text()).map_err(|e| unwritable(&path, &e))?;
    print(&format!("{FILE}: {} rows\n", all.0.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(quick: bool, rows: Value) -> String {
        json!({"quick": quick, "failed": 0, "experiments": [{"id": "X-a", "rows": rows}]}).to_string()
    }

    #[test]
    fn runs_replace_earlier_ones_of_their_kind_and_come_back_from_the_file() {
        let mut r = Record::default();
        let first =
            json!({"X-a/time": {"value": 0.012345678, "unit": "s"}, "X-a/old": {"value": 1.0, "unit": ""}});
        assert_eq!(r.take(&run(true, first), "first").unwrap(), 2);
        let full = json!({"X-a/time": {"value": 2.0, "unit": "s"}});
        r.take(&run(false, full), "second").unwrap();
        let third =
            json!({"X-a/time": {"value": 3.0, "unit": "s"}, "X-a/why": {"value": null, "unit": "a remark"}});
        r.take(&run(true, third), "third").unwrap();
        assert_eq!(r.0.keys().collect::<Vec<_>>(), ["X-a/time", "X-a/why"]);
        let time = &r.0["X-a/time"];
        assert_eq!((time.of(Run::Quick), time.of(Run::Full)), (Some(Some(3.0)), Some(Some(2.0))));
        assert_eq!((r.0["X-a/why"].of(Run::Quick), r.0["X-a/why"].of(Run::Full)), (Some(None), None));
        assert_eq!(Record::parse(&r.text(), "it").unwrap(), r);
        assert_eq!(rounded(0.012345678), 0.0123457);
    }

    #[test]
    fn rows_that_come_or_go_are_named() {
        let mut r = Record::default();
        r.take(&run(true, json!({"X-a/b": {"value": 1.0}, "X-a/c": {"value": 1.0}})), "run").unwrap();
        assert!(r.differences("X-a", Run::Quick, ["b", "c"].into_iter()).is_empty());
        let found = r.differences("X-a", Run::Quick, ["b", "d"].into_iter());
        assert_eq!(found, ["X-a/d is not in the record", "X-a/c is recorded, but was not printed"]);
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let broken = run(true, json!({"X-a/broke": {"value": null}}));
        for text in ["", "{}", r#"{"quick": true}"#, r#"{"quick": 1, "experiments": []}"#, &broken] {
            assert!(Record::default().take(text, "file").is_err(), "{text}");
        }
    }
}
