//! The command line of Stiction: flags become the settings of the library, its reports become tables and JSON.

// Units stand in brackets, which are no links.
#![allow(rustdoc::broken_intra_doc_links)]
// They panic where the stream cannot be written: `output::print`, `failure::note` and `failure::say` do not.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod browser;
mod check;
pub mod clock;
mod damage;
mod export;
pub mod failure;
mod grad;
#[cfg(test)]
mod help_examples;
mod info;
mod interrupt;
mod loopback;
mod mesh;
mod movie;
pub mod optimize;
pub mod output;
mod picture;
pub mod progress;
mod record;
mod run;
mod scenes;
mod solve;
pub mod summary;
pub mod svg;
pub mod table;
mod terminal;
mod testspeed;
mod view;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Rigid bodies in exact frictional contact
#[derive(Parser)]
#[command(name = "stiction", version, arg_required_else_help = true, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  stiction scenes                           what is built in
  stiction run heavy-stack                  simulate it, and say how exact the answer is
  stiction run my.toml --out results        with tables, a recording and a page that plays it
  stiction check my.toml                    validate a scene file and explain it

Exit codes: 0 good; 1 it ran, but steps did not converge or a recording is damaged; 2 bad input or unwritable output; 128 + n a run was ended by signal n (130 Ctrl+C) and its files
are whole up to there; a second signal kills. NO_COLOR=1 turns colours off.";

#[derive(Subcommand)]
enum Command {
    /// List the built-in scenes
    Scenes(scenes::ScenesArgs),
    /// Print the JSON Schema of the scene format
    Schema,
    /// Simulate a scene and report how exact the answer is
    Run(Box<run::RunArgs>),
    /// Show a scene live, or a recording, in the browser
    View(view::ViewArgs),
    /// Say what is in a recording
    Info(info::InfoArgs),
    /// Convert a recording to glTF, OBJ, VTU, CSV or a page
    Export(export::ExportArgs),
    /// Draw a moment of a recording as a PNG file
    Picture(picture::PictureArgs),
    /// Film a recording, or a scene, as a .webm or .gif file
    Movie(Box<movie::MovieArgs>),
    /// Validate a scene and explain it
    Check(check::CheckArgs),
    /// Look at a mesh, mend it, or fill it with tetrahedra
    Mesh(mesh::MeshArgs),
    /// Solve a bare contact problem from an .npz file
    Solve(solve::SolveArgs),
    /// Differentiate a scene's motion, and check the derivatives
    Grad(Box<grad::GradArgs>),
    /// Fit numbers of a scene so that its motion does what a task asks for
    Optimize(optimize::OptimizeArgs),
    /// Measure how fast a scene steps
    Testspeed(testspeed::TestspeedArgs),
    /// Say where the experiments of the papers are
    #[command(hide = true)]
    Bench(BenchArgs),
}

/// What `stiction bench` was given, when it was a command.
#[derive(clap::Args)]
struct BenchArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

fn moved(args: &BenchArgs) -> miette::Report {
    let words = args.words.join(" ");
    failure::error(
        "the experiments are a program of their own, which is not installed with `stiction`",
        format!("in a clone of the repository: cargo run --release -p stiction-bench -- {words}"),
    )
}

/// Does what the arguments of the process say.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    failure::install_handler();
    let outcome = match cli.command {
        Command::Scenes(a) => scenes::scenes(&a),
        Command::Schema => scenes::schema(),
        Command::Run(a) => run::run(&a),
        Command::View(a) => view::view(&a),
        Command::Info(a) => info::info(&a),
        Command::Export(a) => export::export(&a),
        Command::Picture(a) => picture::picture(&a),
        Command::Movie(a) => movie::movie(&a),
        Command::Check(a) => check::check(&a),
        Command::Mesh(a) => mesh::mesh(&a),
        Command::Solve(a) => solve::solve(&a),
        Command::Grad(a) => grad::grad(&a),
        Command::Optimize(a) => optimize::optimize(&a),
        Command::Testspeed(a) => testspeed::testspeed(&a),
        Command::Bench(a) => Err(moved(&a)),
    };
    failure::exit_code(outcome)
}
