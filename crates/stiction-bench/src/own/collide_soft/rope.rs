//! A rope with an overhand knot is drawn tight.

use super::watch;
use crate::{Context, Experiment, Row};
use stiction::scene::samples::knotted_rope;
use stiction_cli::failure::Result;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "collide-rope",
    title: "A knotted rope is drawn tight",
    claim: "no part of the rope comes nearer to another than its thickness at any step",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let (segments, steps) = ctx.pick((100, 200), (200, 600));
    let (_, w) = watch(&knotted_rope(segments, 0.2), steps, 2e-3)?;
    Ok(w.rows("rope", &format!("{segments} links")))
}
