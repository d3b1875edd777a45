//! A strip of cloth stands on its end and folds onto itself.

use super::watch;
use crate::{Context, Experiment, Row};
use stiction::scene::samples::folding_strip;
use stiction_cli::failure::Result;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "collide-cloth",
    title: "A strip of cloth folds onto itself",
    claim: "no face passes through another at any step",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let (cells, steps) = ctx.pick(([4, 24], 200), ([8, 48], 400));
    let (_, w) = watch(&folding_strip(cells), steps, 2e-3)?;
    Ok(w.rows("strip", &format!("{} × {} cells", cells[0], cells[1])))
}
