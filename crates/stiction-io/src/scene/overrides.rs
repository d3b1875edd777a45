//! `--set key=value`: changes a parsed document before it is read as a scene.
//!
//! Overrides become extra lines below the text of the file, so that an error in one points at it with a caret.

use crate::error::{Error, Result, known_names};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Most parts of a path; a scene needs six.
const DEEPEST: usize = 16;

/// A text and the places of overrides in it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Name for messages.
    pub name: String,
    /// The file, then one line `key = value` per override.
    pub text: Arc<str>,
    /// Length of the file's own text.
    own: usize,
    /// Key and value of each override: their places in `text`.
    overrides: Vec<(Range<usize>, Range<usize>)>,
}

impl Source {
    pub fn new(name: &str, own: &str, overrides: &[(String, String)]) -> Source {
        let mut text = String::from(own);
        let mut places = Vec::new();
        if !overrides.is_empty() {
            text += "\n# --set\n";
        }
        for (key, value) in overrides {
            let k = text.len()..text.len() + key.len();
            text += key;
            text += " = ";
            let v = text.len()..text.len() + value.len();
            text += value;
            text.push('\n');
            places.push((k, v));
        }
        Source { name: name.into(), text: text.into(), own: own.len(), overrides: places }
    }

    /// An error at a place of the text.
    pub fn error(&self, span: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        let e = |remedy: String| Error::in_text(&self.name, &self.text, span.clone(), problem, remedy);
        let remedy = remedy.into();
        if span.start > self.own { e(format!("{remedy} (this comes from --set)")) } else { e(remedy) }
    }

    /// Parses the file and applies the overrides in order.
    pub fn document(&self) -> Result<Spanned<DeTable<'_>>> {
        let mut root = DeTable::parse(&self.text[..self.own]).map_err(|e| self.toml_error(&e))?;
        for (key, value) in &self.overrides {
            let new = self.value(value.clone());
            self.set(root.get_mut(), key.clone(), new)?;
        }
        Ok(root)
    }

    /// Turns an error of the TOML reader into ours: unknown keys get the known ones and a guess.
    pub fn toml_error(&self, e: &toml::de::Error) -> Error {
        let span = e.span().unwrap_or(0..0);
        let (problem, remedy) = explain(e.message());
        self.error(span, problem, remedy)
    }

    /// The value of an override as TOML, or else as a string.
    fn value(&self, span: Range<usize>) -> Spanned<DeValue<'_>> {
        let text = &self.text[span.clone()];
        match DeValue::parse(text.trim()) {
            Ok(mut v) => {
                shift(&mut v, span.start + (text.len() - text.trim_start().len()));
                v
            }
            Err(_) => Spanned::new(span, DeValue::String(Cow::Borrowed(text))),
        }
    }

    fn set<'a>(&'a self, root: &mut DeTable<'a>, key: Range<usize>, new: Spanned<DeValue<'a>>) -> Result<()> {
        let path: Vec<Range<usize>> = split(&self.text[key.clone()], key.start);
        if path.len() > DEEPEST {
            let e = format!("a path of {} parts", path.len());
            return Err(self.error(key, e, format!("nothing in a scene lies deeper than {DEEPEST}")));
        }
        let mut table = root;
        let mut at = 0;
        loop {
            let part = path[at].clone();
            // The lists are `[[body]]`, …; `bodies.crate.mass` reads more naturally in a path.
            let name = match (&self.text[part.clone()], at) {
                ("bodies", 0) => "body",
                ("particles" | "rods" | "springs" | "forces" | "pairs" | "sensors", 0) => {
                    self.text[part.clone()].trim_end_matches('s')
                }
                (name, _) => name,
            };
            if at + 1 == path.len() {
                table.insert(Spanned::new(part, Cow::Borrowed(name)), new);
                return Ok(());
            }
            let slot = table
                .entry(Spanned::new(part.clone(), Cow::Borrowed(name)))
                .or_insert_with(|| Spanned::new(part.clone(), DeValue::Table(DeTable::new())));
            at += 1;
            match slot.get_mut() {
                DeValue::Table(t) => table = t,
                DeValue::Array(items) => {
                    let item = path[at].clone();
                    let which = &self.text[item.clone()];
                    let index = items.iter().position(|i| name_of(i) == Some(which));
                    let index = index.or(which.parse().ok().filter(|&i: &usize| i < items.len()));
                    let Some(index) = index else {
                        let names: Vec<&str> = items.iter().filter_map(name_of).collect();
                        let known = known_names(which, "names", names.iter().copied());
                        let known =
                            format!("{known}; numbers from 0 to {} also work", items.len().saturating_sub(1));
                        return Err(self.error(item, format!("no `{name}` is called `{which}`"), known));
                    };
                    at += 1;
                    let Some(element) = items.get_mut(index) else {
                        unreachable!("the index was just found")
                    };
                    if at == path.len() {
                        *element = new;
                        return Ok(());
                    }
                    match element.get_mut() {
                        DeValue::Table(t) => table = t,
                        _ => return Err(self.not_a_table(item)),
                    }
                }
                _ => return Err(self.not_a_table(part)),
            }
        }
    }

    fn not_a_table(&self, part: Range<usize>) -> Error {
        let name = &self.text[part.clone()];
        self.error(
            part.clone(),
            format!("`{name}` holds a plain value"),
            "set it as a whole, without what follows it",
        )
    }
}

/// The parts of a dotted path and their places.
fn split(key: &str, start: usize) -> Vec<Range<usize>> {
    let mut at = start;
    key.split('.')
        .map(|part| {
            let lead = part.len() - part.trim_start().len();
            let span = at + lead..at + lead + part.trim().len();
            at += part.len() + 1;
            span
        })
        .collect()
}

fn name_of<'a>(item: &'a Spanned<DeValue<'_>>) -> Option<&'a str> {
    item.get_ref().get("name")?.get_ref().as_str()
}

/// Moves all places of a value by `by`.
fn shift(v: &mut Spanned<DeValue<'_>>, by: usize) {
    let span = v.span();
    let mut inner = std::mem::replace(v.get_mut(), DeValue::Boolean(false));
    match &mut inner {
        DeValue::Array(items) => items.iter_mut().for_each(|i| shift(i, by)),
        DeValue::Table(t) => {
            let old = std::mem::take(t);
            for (k, mut item) in old {
                shift(&mut item, by);
                let place = k.span();
                t.insert(Spanned::new(place.start + by..place.end + by, k.into_inner()), item);
            }
        }
        _ => {}
    }
    *v = Spanned::new(span.start + by..span.end + by, inner);
}

/// What is wrong and what to do, from the words of serde.
fn explain(message: &str) -> (String, String) {
    let quoted = |s: &str| -> Vec<String> { s.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    for (start, kind) in [("unknown field", "keys"), ("unknown variant", "values")] {
        if let Some(rest) = message.strip_prefix(start) {
            let (bad, known) = rest.split_once(", expected").unwrap_or((rest, ""));
            let bad = quoted(bad).concat();
            let known = quoted(known);
            let what = if kind == "keys" { "unknown key" } else { "unknown value" };
            return (format!("{what} `{bad}`"), known_names(&bad, kind, known.iter().map(String::as_str)));
        }
    }
    if let Some(rest) = message.strip_prefix("missing field") {
        let key = quoted(rest).concat();
        return (format!("`{key}` is missing"), format!("add `{key} = …` to this table"));
    }
    for start in ["invalid type: ", "invalid value: ", "invalid length "] {
        if let Some((found, expected)) = message.strip_prefix(start).and_then(|m| m.split_once(", expected "))
        {
            return (
                format!("{} is not allowed here", found.replace("floating point", "number")),
                format!("give {expected}"),
            );
        }
    }
    // Our own rules are written as "what is wrong: what to do".
    match message.split_once(": ") {
        Some((what, remedy)) => (what.into(), remedy.into()),
        None => (message.into(), "see docs/scenes.md for the format".into()),
    }
}
