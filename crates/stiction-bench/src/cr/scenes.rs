//! Scenes of Figures 1, 2, 7, 8 and Table 1 beyond the rings: nothing intersects at any step, and what CR takes beside ICA and
//! staggered projections.

use super::super::runs::broke;
use super::super::{Context, Experiment, Row};
use super::mean_median;
use super::table::{self, METHOD_IDS, METHODS, Methods, Plan, Run, run};
use stiction::elastic::{Law, Material};
use stiction::scene::contact_samples as scenes;
use stiction::scene::samples::folding_strip;
use stiction::{Scene, SimSettings, Simulation, SolverKind};
use stiction_cli::failure::{Result, error};
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The pyramid under a plate.
pub const PYRAMID: Experiment = Experiment {
    id: "CR-T1-pyramid",
    title: "a pyramid of plates with windows under a plate that turns",
    claim: "iterations SP 1088, SP 2×CR 463, CR Diag 229, ICA 558, CR Full 69",
    run: pyramid,
};

/// Lumpy balls in place of bunnies.
pub const BLOBS: Experiment = Experiment {
    id: "CR-T1-bunnies",
    title: "lumpy balls of 5e6 Pa that fall on each other",
    claim: "iterations ICA 7206, CR Full 900; SP does not converge",
    run: blobs,
};

/// A body with limbs in place of the Armadillo (also Figures 1 and 10).
pub const LIMBED: Experiment = Experiment {
    id: "CR-T1-armadillo",
    title: "a hyper-elastic body pulled between turning cylinders",
    claim: "passes without inversion or intersection; cumulative iterations CR ≪ ICA < SP; 5 linearisations per step",
    run: limbed,
};

/// Nine balls between torus and core.
pub const BEARING: Experiment = Experiment {
    id: "CR-T1-bearing",
    title: "nine soft balls between a torus and a core that turns",
    claim: "480 iterations per step with 4044 constraints; no intersection",
    run: bearing,
};

/// Wedge, strings, card house and stack.
pub const FIGURE2: Experiment = Experiment {
    id: "CR-F2",
    title: "closing wedge, tangled strings, card house and box stack",
    claim: "no penetration; strings come free again; the house stands",
    run: figure2,
};

/// Cloth that touches itself; not in the paper.
pub const CLOTH: Experiment = Experiment {
    id: "CR-cloth",
    title: "a strip of cloth that folds onto itself, by cr",
    claim: "our own: no intersection",
    run: cloth,
};

/// Many cubes.
pub const CUBES: Experiment = Experiment {
    id: "CR-F8",
    title: "soft cubes that fall between walls",
    claim: "2000 cubes with up to 10,000 constraints; no intersection",
    run: cubes,
};

/// Mean iterations of the methods, with the paper's beside them.
fn methods(run: &Run, paper: [&'static str; 5]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (k, name) in METHODS.iter().enumerate().filter(|(k, _)| !run.iterations[*k].is_empty()) {
        let id = METHOD_IDS[k];
        rows.push(
            Row::new(format!("{id}/mean-iterations"), format!("{name}: mean iterations"), run.means()[k], "")
                .against(paper[k]),
        );
        rows.push(Row::new(
            format!("{id}/unsolved"),
            format!("{name}: problems not solved"),
            run.unsolved[k] as f64,
            "",
        ));
    }
    rows
}

fn steps_csv(ctx: &mut Context, run: &Run) -> Result<()> {
    let cells: Vec<Vec<String>> = (run.steps.iter().enumerate())
        .map(|(k, s)| [k as f64, s[0], s[1], s[2]].map(csv_number).to_vec())
        .collect();
    ctx.csv("steps", &["step", "iterations", "contacts", "relinearized"], &cells)
}

fn pyramid(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if !ctx.quick {
        // All of it, in motion, until it has some 20,000 contacts; staggered projections would take hours on it.
        let plan = Plan { methods: Methods::Full, ..Plan::new(5e-4, 45, 10) };
        let (sim, all) = table::run(ctx, &scenes::pyramid(7, 5e5), &plan)?;
        rows.extend(all.safety("7-layers", "7 layers"));
        let dofs = sim.problem().expect("a velocity step").dofs();
        rows.push(
            Row::new("7-layers/matrix-rows", "7 layers: rows of A", dofs as f64, "")
                .accept("109200", dofs == 109_200),
        );
        rows.push(
            Row::new(
                "7-layers/cr-full/mean-iterations",
                "7 layers: CR Full, mean iterations",
                all.means()[4],
                "",
            )
            .against("69 (59)"),
        );
    }
    let (layers, steps, every) = ctx.pick((2, 60, 10), (4, 60, 6));
    let plan = Plan::new(5e-4, steps, every);
    let (_, run) = table::run(ctx, &scenes::pyramid(layers, 5e5), &plan)?;
    rows.extend(run.safety("pyramid", "pyramid"));
    rows.extend(methods(&run, ["1088 (604)", "463 (332)", "229 (179)", "558 (75)", "69 (59)"]));
    let mean = run.means();
    rows.push(
        Row::new("sp-over-cr-full/iterations", "SP / CR Full", mean[0] / mean[4], "×")
            .against("15.8")
            .at_least(2.0),
    );
    rows.push(
        Row::new("cr-diag-over-cr-full/iterations", "CR Diag / CR Full", mean[2] / mean[4], "×")
            .against("3.3")
            .at_least(1.0),
    );
    let row = Row::new("ica-over-cr-full/iterations", "ICA / CR Full", mean[3] / mean[4], "×")
        .against("8.1 (median 1.3)")
        .at_least(1.0);
    rows.push(row);
    // Larger steps, from the first contacts on.
    let plan = Plan::new(4e-3, ctx.pick(12, 25), ctx.pick(4, 2));
    let (_, large) = table::run(ctx, &scenes::pyramid(2, 5e5), &plan)?;
    rows.extend(large.safety("4-ms", "pyramid, 4 ms"));
    let spike =
        large.iterations[0].iter().fold(0.0, |m: f64, n| m.max(*n)) / mean_median(&run.iterations[0]).1;
    rows.push(Row::new(
        "4-ms/sp-active/unsolved",
        "pyramid, 4 ms: SP, problems not solved",
        large.unsolved[0] as f64,
        "",
    ));
    rows.push(
        Row::new(
            "4-ms/sp-active/spike",
            "pyramid, 4 ms: SP, most iterations over the median at 0.5 ms",
            spike,
            "×",
        )
        .against("diverges or spikes")
        .accept("≥ 3, or not solved", spike >= 3.0 || large.unsolved[0] > 0),
    );
    rows.push(
        Row::new(
            "4-ms/cr-full/unsolved",
            "pyramid, 4 ms: CR Full, problems not solved",
            large.unsolved[4] as f64,
            "",
        )
        .at_most(0.0),
    );
    steps_csv(ctx, &run)?;
    Ok(rows)
}

fn blobs(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if !ctx.quick {
        // All of them, in motion, from the first contacts on.
        let plan = Plan { methods: Methods::Full, ..Plan::new(1e-3, 40, 10) };
        let (sim, all) = table::run(ctx, &scenes::blobs(120, 4), &plan)?;
        rows.extend(all.safety("120-blobs", "120 blobs"));
        let tets: usize = sim.model().solids.iter().map(|s| s.tets.len()).sum();
        rows.push(Row::new("120-blobs/tets", "120 blobs: tets", tets as f64, "").against("152,400"));
        rows.push(
            Row::new(
                "120-blobs/cr-full/mean-iterations",
                "120 blobs: CR Full, mean iterations",
                all.means()[4],
                "",
            )
            .against("900 (534)"),
        );
    }
    let (count, shells, steps, every) = ctx.pick((4, 2, 30, 5), (8, 4, 40, 10));
    let plan = Plan::new(1e-3, steps, every);
    let (_, run) = table::run(ctx, &scenes::blobs(count, shells), &plan)?;
    rows.extend(run.safety("blobs", "blobs"));
    rows.extend(methods(&run, ["did not converge", "–", "–", "7206 (6261)", "900 (534)"]));
    let mean = run.means();
    rows.push(
        Row::new("ica-over-cr-full/iterations", "ICA / CR Full", mean[3] / mean[4], "×")
            .against("8")
            .at_least(3.0),
    );
    steps_csv(ctx, &run)?;
    Ok(rows)
}

fn limbed(ctx: &mut Context) -> Result<Vec<Row>> {
    let (cell, steps, every) = ctx.pick((0.016, 120, 10), (0.0085, 400, 50));
    let speed = 0.5;
    let plan = Plan { linearizations: 3, ..Plan::new(ctx.pick(2e-3, 1e-3), steps, every) };
    let scene = scenes::limbed_blob(cell, speed);
    let (sim, run) = run(ctx, &scene, &plan)?;
    let mut rows = run.safety("blob", "blob");
    rows.push(Row::new("blob/tets", "tets", sim.model().solids[0].tets.len() as f64, "").against("385,739"));
    let volume = Row::new("blob/volume", "smallest volume of a tet over the one at rest", run.volume, "");
    rows.push(volume.accept("> 0", run.volume > 0.0));
    rows.extend(methods(&run, ["6839", "–", "–", "344", "81"]));
    let mean = run.means();
    rows.push(
        Row::new("ica-over-cr-full/iterations", "ICA / CR Full, cumulative", mean[3] / mean[4], "×")
            .against("4.2")
            .at_least(1.0),
    );
    rows.push(
        Row::new("sp-over-cr-full/iterations", "SP / CR Full, cumulative", mean[0] / mean[4], "×")
            .against("84")
            .at_least(2.0),
    );
    rows.extend(with_compression(ctx, &run));
    // Figure 10.
    let mut plot = Plot::new("Cumulative iterations", "step", "iterations");
    plot.y_scale = Scale::Log;
    for (k, name) in METHODS.iter().enumerate() {
        let mut sum = 0.0;
        let curve = run.iterations[k].iter().enumerate().map(|(i, n)| {
            sum += n;
            ((i * every) as f64, sum)
        });
        plot.add(name, Mark::Line, curve.collect());
    }
    ctx.plot("cumulative", &plot)?;
    steps_csv(ctx, &run)?;
    Ok(rows)
}

/// Time of ICA over that of CR Full on the problems with fewer contacts than the median and on the others: compression makes contacts.
fn with_compression(ctx: &Context, run: &Run) -> [Row; 3] {
    let mut order: Vec<usize> = (0..run.constraints.len()).collect();
    order.sort_by(|a, b| run.constraints[*a].total_cmp(&run.constraints[*b]));
    let ratio = |of: &[usize]| {
        let sum = |k: usize| of.iter().map(|i| run.seconds[k][*i]).sum::<f64>();
        sum(3) / sum(4)
    };
    let (few, many) = order.split_at(order.len() / 2);
    let (few, many) = (ratio(few), ratio(many));
    let growth =
        Row::new("ica-over-cr-full/growth/time", "growth of this ratio with compression", many / few, "×")
            .against("grows");
    [
        Row::new(
            "ica-over-cr-full/few-contacts/time",
            "time ICA / CR Full, half of the problems with fewer contacts",
            few,
            "×",
        ),
        Row::new("ica-over-cr-full/many-contacts/time", "time ICA / CR Full, half with more", many, "×")
            .against("24, up to and over 10"),
        // A quick run has a handful of problems of a few milliseconds.
        if ctx.quick { growth } else { growth.at_least(1.0) },
    ]
}

fn bearing(ctx: &mut Context) -> Result<Vec<Row>> {
    let (shells, steps, every) = ctx.pick((2, 30, 6), (4, 120, 20));
    let plan = Plan { linearizations: 3, ..Plan::new(ctx.pick(2e-3, 1e-3), steps, every) };
    let material =
        Material { law: Law::NeoHookean { threshold: 0.7 }, young: 5e5, poisson: 0.2, density: 1000.0 };
    let (_, run) = run(ctx, &scenes::bearing(shells, material), &plan)?;
    let mut rows = run.safety("bearing", "bearing");
    let volume = Row::new("bearing/volume", "smallest volume of a tet over the one at rest", run.volume, "");
    rows.push(volume.accept("> 0", run.volume > 0.0));
    rows.extend(methods(&run, ["–", "–", "–", "–", "480 (463)"]));
    steps_csv(ctx, &run)?;
    Ok(rows)
}

fn figure2(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let plan = |dt: f64, steps: usize| Plan::new(dt, steps, 0);
    let (count, steps) = ctx.pick((6, 80), (18, 300));
    rows.extend(run(ctx, &scenes::wedge(count), &plan(2e-3, steps))?.1.safety("wedge", "wedge"));
    // Wound up after 0.6 s, free again after 1.2 s.
    let (count, segments, dt) = ctx.pick((3, 12, 8e-3), (8, 32, 4e-3));
    let scene = scenes::strings(count, segments);
    let (wound, tangled) = run(ctx, &scene, &plan(dt, (0.6 / dt) as usize))?;
    rows.extend(tangled.safety("strings-wound-up", "strings, wound up"));
    let pushing = wound.solution().expect("a velocity step").lambda.iter().filter(|l| l.x > 0.0).count();
    rows.push(
        Row::new(
            "strings-wound-up/pushing-contacts",
            "strings: contacts that push when wound up",
            pushing as f64,
            "",
        )
        .at_least(1.0),
    );
    let (free, whole) = run(ctx, &scene, &plan(dt, (1.6 / dt) as usize))?;
    rows.extend(whole.safety("strings-released", "strings, released"));
    let pushing = free.solution().expect("a velocity step").lambda.iter().filter(|l| l.x > 0.0).count();
    rows.push(
        Row::new(
            "strings-released/pushing-contacts",
            "strings: contacts that push after the release",
            pushing as f64,
            "",
        )
        .at_most(0.0),
    );
    for (id, name, scene) in [
        ("card-house", "card house", scenes::card_house(2)),
        ("box-stack", "box stack", scenes::box_stack(ctx.pick(5, 10))),
    ] {
        rows.extend(stands(ctx, id, name, &scene)?);
    }
    Ok(rows)
}

/// How far rigid bodies drift from where they were put.
fn stands(ctx: &Context, id: &str, name: &str, scene: &Scene) -> Result<Vec<Row>> {
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let settings = SimSettings { solver: SolverKind::ConjugateResidual, ..SimSettings::default() };
    let mut sim = Simulation::new(model, settings);
    let start = sim.state().q.clone();
    let (time, dt) = (ctx.pick(1.0, 10.0), 5e-3);
    let (mut unsolved, mut iterations) = (0, 0);
    let steps = (time / dt) as usize;
    for _ in 0..steps {
        let r = sim.step(dt).map_err(broke)?;
        unsolved += usize::from(!r.status.is_solved());
        iterations += r.iterations;
    }
    let moved = start.iter().zip(&sim.state().q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let row = |quantity: &str, what: &str, x: f64, unit: &'static str| {
        Row::new(format!("{id}/{quantity}"), format!("{name}: {what}"), x, unit)
    };
    Ok(vec![
        row("drift", "drift", 1e3 * moved, "mm").against("stands").at_most(1.0),
        row("simulated-time", "time", time, "s"),
        row("iterations", "iterations per step", iterations as f64 / steps as f64, ""),
        row("unsolved-steps", "steps not converged", unsolved as f64, ""),
    ])
}

fn cloth(ctx: &mut Context) -> Result<Vec<Row>> {
    let (cells, steps) = ctx.pick(([3, 14], 100), ([4, 24], 400));
    let (_, run) = run(ctx, &folding_strip(cells), &Plan::new(2e-3, steps, 0))?;
    steps_csv(ctx, &run)?;
    Ok(run.safety("cloth", "cloth"))
}

fn cubes(ctx: &mut Context) -> Result<Vec<Row>> {
    let (count, steps, every) = ctx.pick((8, 60, 20), (200, 100, 20));
    let which = ctx.pick(Methods::All, Methods::Fast);
    let plan = Plan { methods: which, ..Plan::new(1e-3, steps, every) };
    let (_, run) = run(ctx, &scenes::cubes(count), &plan)?;
    let mut rows = run.safety("cubes", "cubes");
    rows.extend(methods(&run, ["–"; 5]));
    steps_csv(ctx, &run)?;
    Ok(rows)
}
