//! One error for every reader: which file, where in it, what is wrong, and what to do.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A file that cannot be read or written as asked.
///
/// [`Display`](fmt::Display) gives one line, `file:line:column: what is wrong`; the remedy is in
/// [`help`](Diagnostic::help), and `miette` shows both with the line of the file and a caret.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    file: String,
    problem: String,
    remedy: String,
    place: Option<Place>,
}

/// A stretch of a text file.
#[derive(Debug)]
struct Place {
    text: NamedSource<Arc<str>>,
    span: Range<usize>,
    line: usize,
    column: usize,
}

/// What the readers return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error about a whole file.
    pub fn new(file: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error(Box::new(Inner {
            file: file.into(),
            problem: problem.into(),
            remedy: remedy.into(),
            place: None,
        }))
    }

    /// An error about the file at `path`.
    pub fn at_path(path: &Path, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(path.display().to_string(), problem, remedy)
    }

    /// The operating system refused to read `path`.
    pub(crate) fn reading(path: &Path, e: &std::io::Error) -> Error {
        let remedy = match e.kind() {
            std::io::ErrorKind::NotFound => "check the path; relative paths start at the working directory",
            std::io::ErrorKind::PermissionDenied => "check the permissions of the file",
            _ => "check that it is a readable file",
        };
        Error::at_path(path, format!("cannot be read: {e}"), remedy)
    }

    /// The operating system refused to write `path`.
    pub(crate) fn writing(path: &Path, e: &std::io::Error) -> Error {
        Error::at_path(
            path,
            format!("cannot be written: {e}"),
            "check that the folder exists, is writable and has space left",
        )
    }

    /// An error about the bytes `span` of a text.
    pub(crate) fn in_text(
        file: &str,
        text: &Arc<str>,
        span: Range<usize>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        let start = span.start.min(text.len());
        let before = &text.as_bytes()[..start];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        let mut e = Error::new(file, problem, remedy);
        e.0.place = Some(Place {
            text: NamedSource::new(file, text.clone()).with_language("toml"),
            span: start..span.end.clamp(start, text.len()),
            line,
            column,
        });
        e
    }

    /// The file.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// What is wrong.
    pub fn problem(&self) -> &str {
        &self.0.problem
    }

    /// What to do about it.
    pub fn remedy(&self) -> &str {
        &self.0.remedy
    }

    /// Line and column, counted from one, where the error has a place in a text.
    pub fn line_column(&self) -> Option<(usize, usize)> {
        self.0.place.as_ref().map(|p| (p.line, p.column))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.0;
        match &e.place {
            Some(p) => write!(f, "{}:{}:{}: {}", e.file, p.line, p.column, e.problem),
            None => write!(f, "{}: {}", e.file, e.problem),
        }
    }
}

impl std::error::Error for Error {}

impl Diagnostic for Error {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.0.remedy.is_empty()).then(|| Box::new(&self.0.remedy) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.place.as_ref().map(|p| &p.text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let p = self.0.place.as_ref()?;
        let label = LabeledSpan::underline(p.span.clone());
        Some(Box::new(std::iter::once(label)))
    }
}

/// The known name that a misspelt one most likely meant: at most a third of its letters differ.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let best = known.into_iter().map(|k| (edit_distance(name, k), k)).min_by_key(|&(d, _)| d)?;
    (best.0 <= limit).then_some(best.1)
}

/// "did you mean `x`? known: …", shortened where the list is long.
pub(crate) fn known_names<'a>(name: &str, kind: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 30;
    let known: Vec<&str> = known.into_iter().collect();
    let mut out =
        nearest(name, known.iter().copied()).map_or(String::new(), |k| format!("did you mean `{k}`? "));
    if known.is_empty() {
        out += &format!("there are no {kind}");
        return out;
    }
    out += &format!("known {kind}: ");
    out += &known.iter().take(SHOWN).map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    if known.len() > SHOWN {
        out += &format!(" and {} more", known.len() - SHOWN);
    }
    out
}

/// Number of letters to insert, delete, replace or swap with their neighbour (Damerau–Levenshtein, restricted).
fn edit_distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in d.iter_mut().enumerate() {
        row[0] = i;
    }
    for j in 0..=b.len() {
        d[0][j] = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            d[i][j] = (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
            }
        }
    }
    d[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_strangers_are_not() {
        let keys = ["friction", "restitution", "density", "mass"];
        assert_eq!(nearest("fricton", keys), Some("friction"));
        assert_eq!(nearest("frcition", keys), Some("friction"));
        assert_eq!(nearest("amss", keys), Some("mass"));
        assert_eq!(nearest("colour", keys), None);
    }

    #[test]
    fn place_counts_lines_and_characters_from_one() {
        let text: Arc<str> = "a = 1\nµ = 2\n".into();
        let e = Error::in_text("x.toml", &text, 11..12, "bad", "good");
        assert_eq!(e.to_string(), "x.toml:2:5: bad");
    }
}
