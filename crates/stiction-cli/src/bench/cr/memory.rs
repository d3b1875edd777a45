//! Memory (6.2.6): the matrix of 120 rings, and what the process takes.

use super::super::runs::broke;
use super::super::{Context, Experiment, Row};
use crate::failure::{Result, error};
use stiction::scene::contact_samples::rings;
use stiction::{SimSettings, Simulation, SolverKind};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "CR-S6.2.6",
    title: "memory of 120 rings",
    claim: "A of 25,920 rows with 17 non-zeros each; 380 MB for everything",
    run,
};

fn run(_: &mut Context) -> Result<Vec<Row>> {
    let model = rings(120, 5e5)
        .compile()
        .map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = SimSettings {
        solver: SolverKind::ConjugateResidual,
        intersection_free: true,
        ..SimSettings::default()
    };
    let mut sim = Simulation::new(model, settings);
    sim.step(1e-3).map_err(broke)?;
    let a = &sim.problem().a;
    let entries: usize = (0..a.block_rows()).flat_map(|i| a.row(i)).map(|(_, block)| block.len()).sum();
    let mut rows = vec![
        Row::new("rows of A", a.rows() as f64, "").against("25,920").accept("25920", a.rows() == 25_920),
        Row::new("entries per row", entries as f64 / a.rows() as f64, "").against("17").because(
            "we store whole 3×3 blocks; the paper's count leaves out zeros or half of the symmetric matrix",
        ),
        Row::new("A", entries as f64 * 8e-6, "MB"),
    ];
    match peak() {
        Some(mb) => {
            let row = Row::new("most memory of the process so far", mb, "MB").against("380 MB");
            rows.push(row.at_most(380.0).because("includes what ran before in the same process"));
        }
        None => rows.push(Row::remark("most memory of the process", "this system does not tell")),
    }
    Ok(rows)
}

/// Peak of resident memory [MB], where the system has `/proc`.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1e3)
}
