//! The command line of Stiction: flags become the settings of the library, its reports become tables and JSON.

// Units stand in brackets, which are no links.
#![allow(rustdoc::broken_intra_doc_links)]

mod args;
mod bench;
mod browser;
mod check;
mod clock;
mod export;
mod failure;
mod grad;
mod info;
mod loopback;
mod memory;
mod mesh;
mod movie;
mod optimize;
mod output;
mod picture;
mod progress;
mod record;
mod run;
mod scenes;
mod solve;
mod summary;
mod svg;
mod table;
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

Exit codes: 0 good; 1 it ran, but steps did not converge or a benchmark missed its mark;
2 bad input or unwritable output. NO_COLOR=1 turns colours off.";

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
    /// Reproduce published results and compare solvers
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
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
        Command::Bench(a) => bench::bench(&a),
    };
    match outcome {
        Ok(o) => o.into(),
        Err(e) => {
            failure::show(&e);
            ExitCode::from(failure::BAD_INPUT)
        }
    }
}
