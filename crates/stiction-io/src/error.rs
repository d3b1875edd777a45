//! One error for every reader: which file, where in it, what is wrong, and what to do.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub(crate) use stiction::error::spelling::known_names;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_counts_lines_and_characters_from_one() {
        let text: Arc<str> = "a = 1\nµ = 2\n".into();
        let e = Error::in_text("x.toml", &text, 11..12, "bad", "good");
        assert_eq!(e.to_string(), "x.toml:2:5: bad");
    }
}
