//! `stiction-bench check-docs`: the figures of the documentation are those that experiments printed.
//!
//! A figure names its row behind it, `12.3 ms <!--CR-speed/block-10/cr/time-->`, or the row of a short run,
//! `<!--CR-speed/block-10/cr/time quick-->`. It is compared with the record (`record.rs`), to the digits that are shown and with
//! units converted. A figure that no row prints stands below `<!--from: COMMAND-->`, which holds until the next heading or the
//! next such line. In [`STRICT`] pages a figure with neither is an error; what is not compared is counted, and listed with `--list`.

use crate::record::{Record, Run};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use stiction_cli::failure::{Outcome, Result, error, unwritable};
use stiction_cli::output::print;
use stiction_cli::table::number;

/// Pages whose figures all name a row or a source.
const STRICT: [&str; 3] = ["README.md", "docs/benchmarks.md", "docs/papers.md"];

/// Units that figures have, as a factor of one that is named last; those with the same last one are converted.
const UNITS: [(&str, f64, &str); 24] = [
    ("m/s", 1.0, "m/s"),
    ("mm/s", 1e-3, "m/s"),
    ("rad/s", 1.0, "rad/s"),
    ("N·s", 1.0, "N·s"),
    ("GB/s", 1.0, "GB/s"),
    ("ns", 1e-9, "s"),
    ("µs", 1e-6, "s"),
    ("ms", 1e-3, "s"),
    ("kB", 1e3, "B"),
    ("MB", 1e6, "B"),
    ("GB", 1e9, "B"),
    ("B", 1.0, "B"),
    ("nm", 1e-9, "m"),
    ("µm", 1e-6, "m"),
    ("mm", 1e-3, "m"),
    ("cm", 1e-2, "m"),
    ("mN", 1e-3, "N"),
    ("N", 1.0, "N"),
    ("s", 1.0, "s"),
    ("m", 1.0, "m"),
    ("%", 1e-2, "1"),
    ("×", 1.0, "1"),
    ("°", 1.0, "°"),
    ("W", 1.0, "W"),
];

/// What a page says.
#[derive(Default)]
struct Found {
    /// Figures that are compared.
    compared: usize,
    /// Lines with figures that are not, by where they are from.
    others: BTreeMap<String, Vec<usize>>,
    /// What is wrong, with its line.
    wrong: Vec<(usize, String)>,
    /// The page with the recorded figures in place of its own.
    renewed: String,
}

/// Checks the pages of the repository in `root`.
pub fn check_docs(root: &Path, write: bool, list: bool) -> Result<Outcome> {
    let record = Record::load(root)?;
    let mut failed = 0;
    for page in pages(root)? {
        let path = root.join(&page);
        let text = std::fs::read_to_string(&path).map_err(|e| {
            error(
                format!("{page}: cannot be read: {e}"),
                "run this in the repository, or name it with --root",
            )
        })?;
        let found = look(&text, STRICT.contains(&page.as_str()), &record);
        if write && found.renewed != text {
            std::fs::write(&path, &found.renewed).map_err(|e| unwritable(&path, &e))?;
        }
        for (line, what) in &found.wrong {
            print(&format!("{page}:{line}: {what}\n"))?;
        }
        failed += found.wrong.len();
        let lines: usize = found.others.values().map(Vec::len).sum();
        if found.compared + lines > 0 {
            print(&format!(
                "{page}: {} figures as recorded, {lines} lines with figures that are not compared\n",
                found.compared
            ))?;
        }
        if list {
            for (source, lines) in &found.others {
                let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
                print(&format!("  {source}: lines {}\n", lines.join(", ")))?;
            }
        }
    }
    Ok(if failed > 0 { Outcome::Unsolved } else { Outcome::Good })
}

/// README.md and the pages of docs/, from the root.
fn pages(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("docs");
    let unreadable = |e: std::io::Error| {
        error(
            format!("{}: cannot be read: {e}", folder.display()),
            "run this in the repository, or name it with --root",
        )
    };
    let mut pages = vec!["README.md".to_string()];
    for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
        let name = PathBuf::from(entry.map_err(unreadable)?.file_name());
        if name.extension().is_some_and(|e| e == "md") {
            pages.push(format!("docs/{}", name.display()));
        }
    }
    pages.sort();
    Ok(pages)
}

/// Reads a page.
fn look(text: &str, strict: bool, record: &Record) -> Found {
    let mut found = Found::default();
    let mut source: Option<String> = None;
    let mut in_code = false;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let here = i + 1;
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code || line.starts_with("```") {
            found.renewed += line;
            continue;
        }
        if line.starts_with('#') {
            source = None;
        }
        let mut rest = 0;
        let mut plain = String::new();
        while let Some(comment) = next_comment(line, rest) {
            let before = &line[rest..comment.start];
            let inside = line[comment.start + 4..comment.end - 3].trim();
            if let Some(from) = inside.strip_prefix("from:") {
                source = Some(from.trim().to_string());
                found.renewed += before;
                plain += before;
            } else {
                match compare(before, inside, record) {
                    Ok((figure, recorded)) => {
                        found.compared += 1;
                        found.renewed += &before[..figure.start];
                        found.renewed += &recorded.text;
                        found.renewed += &before[figure.end..];
                        plain += &before[..figure.start];
                        plain.push('#');
                        if recorded.differs {
                            let what = format!(
                                "the figure {} is {} in the record of `{inside}`: correct it, or run `check-docs --write`",
                                &before[figure],
                                number(recorded.exactly)
                            );
                            found.wrong.push((here, what));
                        }
                    }
                    Err(what) => {
                        found.renewed += before;
                        found.wrong.push((here, what));
                    }
                }
            }
            found.renewed += &line[comment.clone()];
            rest = comment.end;
        }
        found.renewed += &line[rest..];
        plain += &line[rest..];
        if has_figure(&plain) {
            if strict && source.is_none() {
                let what = "a figure without a row (`<!--EXPERIMENT/row-->` behind it) or a source (`<!--from: COMMAND-->` above it)";
                found.wrong.push((here, what.into()));
            }
            found.others.entry(source.clone().unwrap_or_else(|| "no source".into())).or_default().push(here);
        }
    }
    found
}

/// The next `<!--…-->` from `start` on.
fn next_comment(line: &str, start: usize) -> Option<Range<usize>> {
    let from = start + line[start..].find("<!--")?;
    let to = from + 4 + line[from + 4..].find("-->")? + 3;
    Some(from..to)
}

/// A recorded value in the form of a figure.
struct Recorded {
    text: String,
    exactly: f64,
    differs: bool,
}

/// Compares the figure at the end of `before` with the row that a comment names.
fn compare(
    before: &str,
    comment: &str,
    record: &Record,
) -> std::result::Result<(Range<usize>, Recorded), String> {
    let (id, run) = match comment.strip_suffix(" quick") {
        Some(id) => (id, Run::Quick),
        None => (comment, Run::Full),
    };
    let entry = record.0.get(id).ok_or_else(|| {
        format!("no experiment printed a row `{id}` when they were recorded: name one of crates/stiction-bench/rows.json, or take the figure out")
    })?;
    let value = entry.of(run).ok_or_else(|| {
        let kind = run.name();
        format!("the row `{id}` was not recorded of a {kind} run (`<!--ID-->` is a full one, `<!--ID quick-->` a quick one)")
    })?;
    let value = value.ok_or_else(|| format!("the row `{id}` has a remark and no value"))?;
    let (place, unit) =
        figure_at_end(before).ok_or_else(|| format!("no figure in front of `<!--{comment}-->`"))?;
    let figure = Figure::parse(&before[place.clone()])
        .ok_or_else(|| format!("`{}` in front of `<!--{comment}-->` is no number", &before[place.clone()]))?;
    let factor = factor(unit, &entry.unit)
        .ok_or_else(|| format!("a figure in `{unit}`, but the row `{id}` is in `{}`", entry.unit))?;
    let exactly = value / factor;
    let differs = (figure.value - exactly).abs() > figure.half_a_digit() * (1.0 + 1e-6);
    let text = if differs { figure.with_value(exactly) } else { before[place.clone()].to_string() };
    Ok((place, Recorded { text, exactly, differs }))
}

/// What a figure with the unit `shown` is to be multiplied by for the unit of a row; nothing where they differ in kind.
fn factor(shown: &str, row: &str) -> Option<f64> {
    if shown.is_empty() || shown == row {
        return Some(1.0);
    }
    // Shares say of what: `% of the way`, `of its mean`.
    let of = |unit: &str| match format!(" {unit}").split(" of ").next().unwrap_or_default().trim() {
        "" => Some((1.0, "1")),
        unit => UNITS.iter().find(|u| u.0 == unit).map(|u| (u.1, u.2)),
    };
    let (a, b) = (of(shown)?, of(row)?);
    (a.1 == b.1).then(|| a.0 / b.0)
}

/// The number at the end of a text, before a unit, and that unit.
fn figure_at_end(text: &str) -> Option<(Range<usize>, &str)> {
    let text = text.trim_end();
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | '-' | '−');
    let known = UNITS.iter().map(|u| u.0).chain([""]);
    known.filter(|unit| text.ends_with(unit)).find_map(|unit| {
        let body = text[..text.len() - unit.len()].trim_end();
        if !body.ends_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let mut start = body.char_indices().rev().take_while(|&(_, c)| is_part(c)).last()?.0;
        let sign = |s: &str| s.starts_with(['-', '−']);
        // A hyphen or a letter of a word is no part of the number.
        while start < body.len() {
            let glued = body[..start].ends_with(|c: char| c.is_alphanumeric());
            let first = body[start..].chars().next()?;
            if !glued && (first.is_ascii_digit() || sign(&body[start..])) {
                break;
            }
            start += first.len_utf8();
        }
        (start < body.len()).then_some((start..body.len(), unit))
    })
}

/// A number as it is written.
struct Figure {
    value: f64,
    /// Digits behind the point of the mantissa.
    decimals: usize,
    exponent: Option<i32>,
    grouped: bool,
    minus: &'static str,
}

impl Figure {
    fn parse(text: &str) -> Option<Figure> {
        let plain = text.replace(',', "").replace('−', "-");
        let value: f64 = plain.parse().ok()?;
        let (mantissa, exponent) = match plain.split_once('e') {
            Some((m, e)) => (m, Some(e.parse().ok()?)),
            None => (&plain[..], None),
        };
        let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len());
        let minus = if text.contains('−') { "−" } else { "-" };
        Some(Figure { value, decimals, exponent, grouped: text.contains(','), minus })
    }

    /// Half of the last digit that is shown.
    fn half_a_digit(&self) -> f64 {
        0.5 * 10f64.powi(self.exponent.unwrap_or(0) - self.decimals as i32)
    }

    /// Another value in the same form.
    fn with_value(&self, x: f64) -> String {
        let digits = self.decimals;
        let text = match self.exponent {
            Some(_) => format!("{x:.digits$e}"),
            None => format!("{x:.digits$}"),
        };
        let (sign, body) = text.strip_prefix('-').map_or(("", &text[..]), |b| (self.minus, b));
        if !self.grouped {
            return format!("{sign}{body}");
        }
        let whole = body.find('.').unwrap_or(body.len());
        let mut out = sign.to_string();
        for (i, c) in body.char_indices() {
            if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
                out.push(',');
            }
            out.push(c);
        }
        out
    }
}

/// Whether a line has a measured figure: a number with a point, an exponent or a unit, outside of `code` and links.
fn has_figure(line: &str) -> bool {
    // Odd parts between backticks are code.
    line.split('`').step_by(2).any(|text| {
        let text = without_links(text);
        let mut start = 0;
        while let Some(i) = text[start..].find(|c: char| c.is_ascii_digit()) {
            let at = start + i;
            let end =
                at + text[at..].find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text[at..].len());
            let number = text[at..end].trim_end_matches('.');
            let alone = !text[..at]
                .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '§' | '.' | '/'));
            let rest = &text[at + number.len()..];
            let exponent = rest.strip_prefix("e-").or(rest.strip_prefix('e'));
            let has_exponent = exponent.is_some_and(|e| e.starts_with(|c: char| c.is_ascii_digit()));
            let after = rest.strip_prefix(' ').unwrap_or(rest);
            let has_unit = UNITS.iter().any(|u| {
                after.strip_prefix(u.0).is_some_and(|r| !r.starts_with(|c: char| c.is_alphanumeric()))
            });
            if alone && (number.contains('.') || has_exponent || has_unit) {
                return true;
            }
            start = end;
        }
        false
    })
}

/// A text without the targets of its links.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(i) = rest.find("](") {
        let end = rest[i..].find(')').map_or(rest.len(), |k| i + k);
        out += &rest[..i];
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record() -> Record {
        let row = |value: f64, unit: &str| json!({"value": value, "unit": unit});
        let rows = json!({
            "X/time": row(0.012345, "s"), "X/ratio": row(3.96, "×"), "X/creep": row(-2.13e-11, "m/s"),
            "X/share": row(0.4812, "of all"), "X/count": row(25920.0, ""), "X/why": {"value": null, "unit": "words"},
        });
        let run = json!({"quick": false, "experiments": [{"id": "X", "rows": rows}]});
        let mut r = Record::default();
        r.take(&run.to_string(), "run").unwrap();
        r
    }

    #[test]
    fn figures_in_any_form_are_those_of_their_rows() {
        let text = "a 12.3 ms <!--X/time-->, 0.0123<!--X/time--> s | (4.0 × <!--X/ratio-->), −2e-11 m/s <!--X/creep-->\n\
                    and 48 % <!--X/share--> of 25,920<!--X/count--> rows, one-4<!--X/ratio-->.\n";
        let found = look(text, true, &record());
        assert!(found.wrong.is_empty(), "{:?}", found.wrong);
        assert_eq!((found.compared, found.renewed.as_str()), (7, text));
        assert!(found.others.is_empty());
    }

    #[test]
    fn what_differs_is_named_and_can_be_renewed() {
        for (text, right) in [
            ("12.4 ms <!--X/time-->", "12.3 ms <!--X/time-->"),
            ("0.013<!--X/time--> s", "0.012<!--X/time--> s"),
            ("1e-11 m/s <!--X/creep-->", "-2e-11 m/s <!--X/creep-->"),
            ("7,000 <!--X/count-->", "25,920 <!--X/count-->"),
            ("| 3.9 ×<!--X/ratio--> |", "| 4.0 ×<!--X/ratio--> |"),
        ] {
            let found = look(text, true, &record());
            assert_eq!(found.wrong.len(), 1, "{text}");
            assert_eq!(found.renewed, right);
            assert!(look(right, true, &record()).wrong.is_empty(), "{right}");
        }
    }

    #[test]
    fn rows_that_nobody_printed_and_figures_without_a_source_are_errors() {
        for text in [
            "12.3 ms <!--X/times-->",
            "12.3 ms <!--X/time quick-->",
            "12.3 m <!--X/time-->",
            "1 <!--X/why-->",
            "none <!--X/time-->",
            "0.2 <!--X/time--> of it",
            "it takes 3 ms",
            "an error of 1e-8",
            "| 4.0 × |",
            "<!--from: a run-->\n# Heading\n2.5 times",
        ] {
            assert_eq!(look(text, true, &record()).wrong.len(), 1, "{text}");
        }
    }

    #[test]
    fn other_figures_are_counted_by_their_source() {
        let text = "12.3 ms <!--X/time-->\n<!--from: paper-->\n| 4.6 | 97 |\n\n<!--from: here-->\n3 s\n```\n1.5\n```\n";
        let found = look(text, true, &record());
        assert!(found.wrong.is_empty(), "{:?}", found.wrong);
        assert_eq!(found.others, BTreeMap::from([("paper".into(), vec![3]), ("here".into(), vec![6])]));
        let words = "see NSN-S10.5, §1.3, `dt 0.01`, [2](a_1.5.md), P4 and 20 tables (15), (9.81";
        assert!(!has_figure(&words[..words.len() - 7]) && has_figure(words));
    }
}
