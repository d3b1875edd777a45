//! A strip of cloth stands on its end and folds onto itself.

use super::super::{Context, Experiment, Row};
use super::watch;
use crate::failure::Result;
use stiction::scene::samples::folding_strip;

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
    Ok(w.rows(&format!("{} × {} cells", cells[0], cells[1])))
}
