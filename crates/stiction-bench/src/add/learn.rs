//! ADD-F12: a network that learns, through the simulator alone, how to throw a ball to a target with one bounce.

use super::common::defect;
use crate::robots::thrower::{Thrower, test, test_targets, train};
use crate::{Context, Experiment, Row};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "ADD-F12",
    title: "self-supervised throws: a network trained through the simulator",
    claim: "ADD, Fig. 12–13: 1000 targets, Adam (0.95, 0.999), batches of 5, rate 1e-2 halved per epoch; hits after one bounce",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let targets = test_targets();
    let size = (ctx.pick(400, 1000), 5);
    let (mut trained, mut table) = (Vec::new(), Vec::new());
    let mut plot = Plot::new("Training", "epochs", "loss [m²]");
    plot.y_scale = Scale::Log;
    for friction in [0.4, 0.0] {
        let tell = |epoch, loss| ctx.note(&format!("friction {friction}, epoch {epoch}: loss {loss:.2e}"));
        let found = train(friction, size, tell)?;
        let row = |(e, l): &(f64, f64)| vec![csv_number(friction), csv_number(*e), csv_number(*l)];
        table.extend(found.losses.iter().map(row));
        plot.add(&format!("friction {friction}"), Mark::Line, found.losses.clone());
        trained.push(found);
    }
    let [ours, slick] = &trained[..] else { return Err(defect("two controllers were trained")) };
    let (mean, worst, bias) = test(&ours.net, &mut Thrower::new(0.4)?, &targets);
    let (_, _, slick_bias) = test(&slick.net, &mut Thrower::new(0.4)?, &targets);
    let first = ours.losses.first().map_or(0.0, |l| l.1);
    ctx.plot("loss", &plot)?;
    ctx.csv("loss", &["friction", "epoch", "loss"], &table)?;
    Ok(vec![
        Row::new("mean-miss", "mean miss of 100 test targets", 100.0 * mean, "% of the region (1 m)")
            .against("lands in the cup")
            .at_most(5.0),
        Row::new("largest-miss", "largest miss", 100.0 * worst, "% of the region"),
        Row::new("loss-ratio", "loss of the first batch over that of the last epoch", first / ours.last, "×")
            .at_least(50.0),
        Row::new(
            "frictionless/bias",
            "bias of a controller trained without friction, over that of ours",
            slick_bias.length() / bias.length().max(1e-9),
            "×",
        )
        .against("misses systematically")
        .at_least(5.0),
    ])
}
