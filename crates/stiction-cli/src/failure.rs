//! How a command ends, and errors that name what is wrong, where, and what to do.

use crate::terminal::{Colours, clean};
use miette::Report;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// What a command that ran to its end found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All as it should be: exit code 0.
    Good,
    /// It ran, but a step did not converge, an acceptance failed or a recording is damaged: exit code 1.
    Unsolved,
    /// A signal asked it to end, and it ended in good order: exit code 128 and the number of the signal, as shells count.
    Interrupted(u8),
}

impl From<Outcome> for ExitCode {
    fn from(o: Outcome) -> ExitCode {
        match o {
            Outcome::Good => ExitCode::SUCCESS,
            Outcome::Unsolved => ExitCode::from(1),
            Outcome::Interrupted(signal) => ExitCode::from(128 + signal),
        }
    }
}

/// Exit code for bad input and unwritable output; `clap` uses the same for bad arguments.
pub const BAD_INPUT: u8 = 2;

/// What commands return.
pub type Result<T> = std::result::Result<T, Report>;

/// An error with a remedy.
pub fn error(problem: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Report {
    miette::miette!(help = remedy.to_string(), "{problem}")
}

/// The operating system refused to write `path`.
pub fn unwritable(path: &Path, e: &std::io::Error) -> Report {
    error(
        format!("{}: cannot be written: {e}", path.display()),
        "choose a folder that exists, is writable and has space left",
    )
}

/// Plain reports: no wrapped lines, so that paths stay whole for whoever copies them.
pub fn install_handler() {
    // Fails only when a handler is installed already, which is as good.
    let _ = miette::set_hook(Box::new(|_| {
        Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).break_words(false).build())
    }));
}

/// How a program ends; shows an error.
pub fn exit_code(outcome: Result<Outcome>) -> ExitCode {
    outcome.map_or_else(
        |e| {
            show(&e);
            ExitCode::from(BAD_INPUT)
        },
        Into::into,
    )
}

/// Prints an error to standard error.
pub fn show(report: &Report) {
    say(&format!("error: {report:?}"));
}

/// Prints a remark to standard error.
pub fn note(text: &str) {
    say(&format!("note: {text}"));
}

/// Prints a line to standard error. Where that cannot be written nobody is left to hear of it, and the exit code still
/// says how the command ended.
pub fn say(line: &str) {
    if cfg!(test) {
        // Unit tests break thousands of runs off.
        return;
    }
    let colours = if std::io::stderr().is_terminal() { Colours::Kept } else { Colours::Removed };
    let _ = writeln!(std::io::stderr(), "{}", clean(line.trim_end_matches('\n'), colours));
}
