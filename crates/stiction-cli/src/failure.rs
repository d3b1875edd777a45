//! How a command ends, and errors that name what is wrong, where, and what to do.

use miette::Report;
use std::path::Path;
use std::process::ExitCode;

/// What a command that ran to its end found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All as it should be: exit code 0.
    Good,
    /// It ran, but a step did not converge or an acceptance failed: exit code 1.
    Unsolved,
}

impl From<Outcome> for ExitCode {
    fn from(o: Outcome) -> ExitCode {
        match o {
            Outcome::Good => ExitCode::SUCCESS,
            Outcome::Unsolved => ExitCode::from(1),
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

/// Prints an error to standard error.
pub fn show(report: &Report) {
    eprintln!("error: {report:?}");
}
