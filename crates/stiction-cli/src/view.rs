//! `stiction view`: the page on loopback, with a recording in it or with a simulation that runs while one watches.

use crate::args::{SceneArgs, StepArgs};
use crate::damage::look_through;
use crate::failure::{Outcome, Result};
use clap::Args;
use std::path::Path;
use stiction_io::page;

mod server;
mod spring;
mod stage;

/// Arguments of `view`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction view soft-grasp                 step it live; Ctrl and drag pulls a body
  stiction view out/recording.stic         play a recording
Only this computer can open the page.")]
pub struct ViewArgs {
    #[command(flatten)]
    scene: SceneArgs,

    #[command(flatten)]
    step: StepArgs,

    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 8042)]
    port: u16,
}

/// Serves the page until it is stopped by Ctrl+C.
pub fn view(args: &ViewArgs) -> Result<Outcome> {
    let path = Path::new(&args.scene.scene);
    if path.extension().is_some_and(|e| e == "stic") {
        args.scene.refuse_changes(&args.step, path)?;
        // Refuse what cannot be read, and tell what is not whole, before anybody looks at it.
        look_through(path)?;
        let html = page::with_recordings(&[path.into()])?;
        return server::serve(args.port, html, None);
    }
    args.step.start_threads()?;
    let stage = stage::Stage::start(args.scene.clone(), args.step.clone())?;
    server::serve(args.port, page::live(), Some(stage))
}
