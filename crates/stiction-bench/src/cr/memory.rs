//! Memory (6.2.6): the matrices of 120 rings, of the pyramid and of 120 blobs, and what the process takes.

use super::super::runs::broke;
use super::super::{Context, Experiment, Row};
use crate::memory::held;
use stiction::contact::Solution;
use stiction::papers::cr::{ConjugateResidual, Method, Settings};
use stiction::scene::contact_samples as scenes;
use stiction::solvers::ContactSolver;
use stiction::{Scene, SimSettings, Simulation, SolverKind, Vec3};
use stiction_cli::failure::{Result, error};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "CR-S6.2.6",
    title: "memory of 120 rings, of the pyramid and of 120 blobs",
    claim: "A of 25,920, 109,200 and 147,600 rows with 17, 17 and 27 non-zeros each; 380 MB, 1.8 GB and 2.2 GB for everything",
    run,
};

/// Iterations after which every buffer is in use.
const SOME: usize = 50;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    // From the smallest to the largest: the system tells the peak of the process, which never falls.
    let rings = scenes::rings(120, 5e5);
    rows.extend(measure("120-rings", "120 rings", &rings, ("25,920", Some(25_920)), "17", 380.0)?);
    // Until some of them touch.
    let [cr, minres] = in_use(&rings, ctx.pick(5, 20))?;
    rows.push(
        Row::new(
            "120-rings/minres-over-cr",
            "120 rings: all of a simulation, MINRES over CR",
            minres / cr,
            "×",
        )
        .against("the same")
        .accept("within 5 %", (minres / cr - 1.0).abs() <= 0.05),
    );
    if !ctx.quick {
        let pyramid = scenes::pyramid(7, 5e5);
        rows.extend(measure("pyramid", "pyramid", &pyramid, ("109,200", Some(109_200)), "17", 1800.0)?);
        rows.extend(measure(
            "120-blobs",
            "120 blobs",
            &scenes::blobs(120, 4),
            ("147,600", None),
            "27",
            2200.0,
        )?);
    }
    Ok(rows)
}

/// One step of a scene: the size of A, and the memory of the process beside the paper's [MB].
fn measure(
    id: &str,
    what: &str,
    scene: &Scene,
    (size, exact): (&'static str, Option<usize>),
    per_row: &'static str,
    most: f64,
) -> Result<Vec<Row>> {
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = SimSettings { solver: SolverKind::ConjugateResidual, ..SimSettings::default() };
    let mut sim = Simulation::new(model, settings);
    sim.step(1e-3).map_err(broke)?;
    let a = &sim.problem().expect("a velocity step").a;
    let entries: usize = (0..a.block_rows()).flat_map(|i| a.row(i)).map(|(_, block)| block.len()).sum();
    let dimension = Row::new(format!("{id}/matrix-rows"), format!("{what}: rows of A"), a.rows() as f64, "")
        .against(size);
    let mut rows = vec![
        match exact {
            Some(n) => dimension.accept(n.to_string(), a.rows() == n),
            None => dimension.because("our mesh has the tets of the paper's, and fewer nodes on its surface"),
        },
        Row::new(
            format!("{id}/entries-per-row"),
            format!("{what}: entries per row"),
            entries as f64 / a.rows() as f64,
            "",
        )
        .against(per_row)
        .because(
            "we store whole 3×3 blocks; the paper's count leaves out zeros or half of the symmetric matrix",
        ),
        Row::new(format!("{id}/matrix-memory"), format!("{what}: A"), entries as f64 * 8e-6, "MB"),
    ];
    let peak_id = format!("{id}/process-memory");
    match peak() {
        Some(mb) => {
            let row = Row::new(peak_id, format!("{what}: most memory of the process so far"), mb, "MB");
            let row = row.against(format!("{most} MB")).at_most(most);
            rows.push(row.because("includes what ran before in the same process"));
        }
        None => rows.push(Row::remark(peak_id, "most memory of the process", "this system does not tell")),
    }
    Ok(rows)
}

/// Most memory in use by a scene after some steps, while CR and while MINRES solve the next problem [bytes].
fn in_use(scene: &Scene, steps: usize) -> Result<[f64; 2]> {
    let (stepped, all) = held(|| -> Result<Simulation> {
        let model =
            scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
        let mut sim = Simulation::new(model, SimSettings::default());
        for _ in 0..steps {
            sim.step(5e-3).map_err(broke)?;
        }
        Ok(sim)
    });
    let sim = stepped?;
    Ok([Method::Cr, Method::Minres].map(|method| {
        let settings = Settings { method, max_iterations: SOME, ..Settings::paper() };
        let mut x = Solution {
            v: sim.state().v.clone(),
            lambda: vec![Vec3::ZERO; sim.problem().expect("a velocity step").contacts()],
        };
        let solve = || {
            let mut solver = ConjugateResidual::new(settings);
            solver.solve(sim.problem().expect("a velocity step"), &mut x, &mut ());
        };
        all.kept as f64 + held(solve).1.most as f64
    }))
}

/// Peak of resident memory [MB], where the system has `/proc`.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1e3)
}
