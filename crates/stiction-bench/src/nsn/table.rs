//! NSN-T2: the statistics table of our scenes, time per step against `exact`, and how cost grows with tetrahedra.

use super::steps::{H, Steps, paper, stepping};
use super::{arch, beam, pile, pneunet, stack};
use crate::runs::{on_floor, simulate, take_steps};
use crate::{Context, Experiment, Row};
use stiction::coords::{BodyId, ShapeId};
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::papers::nsn::solve::{
    LinearMethod, LinearSettings, NewtonSettings, PreconditionerKind, Start, SystemForm,
};
use stiction::scene::{Owner, SoftBody};
use stiction::{Scene, SolverKind, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot, Scale};

/// Table 2.
pub const STATISTICS: Experiment = Experiment {
    id: "NSN-T2",
    title: "bodies, joints, tets, contacts, iterations, times of assembly and solve",
    claim: "Macklin et al. 2019, Table 2: cost is dominated by the linear solver, assembly is small",
    run: statistics,
};

/// Cost.
pub const TIME: Experiment = Experiment {
    id: "NSN-time",
    title: "time per step against exact, and growth from 1k to 50k tets",
    claim: "ours: the paper gives GPU times only",
    run: time,
};

/// Part of the names of rows, name, scene, steps before, N, L, and what the paper's row says: bodies, joints and tets, and the rest.
type Case = (&'static str, &'static str, Scene, usize, usize, usize, [usize; 3], &'static str);

fn cases(quick: bool) -> Vec<Case> {
    vec![
        ("heavy-stack", "heavy stack", stack::cubes().0, 20, 6, 20, [5, 0, 0], "(not in the table)"),
        ("arch", "arch", arch::scene(), 20, 6, 20, [20, 0, 0], "134 contacts (134), N 6, L 20"),
        (
            "beam",
            "beam",
            beam::insertion(),
            beam::STEPS - 30,
            6,
            50,
            [16, 16, 0],
            "300 contacts (300), N 6, L 50; 42 bodies, 42 joints with the arm",
        ),
        (
            "table-pile",
            "table pile",
            pile::scene(if quick { 18 } else { 54 }),
            if quick { 80 } else { 240 },
            4,
            20,
            [54, 0, 0],
            "936 contacts (736), N 4, L 20",
        ),
        (
            "pneunet",
            "PneuNet",
            pneunet::gripper(1.0),
            if quick { 2 } else { 110 },
            4,
            80,
            [1, 0, 2241],
            "532 contacts (532), N 4, L 80",
        ),
    ]
}

fn statistics(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for (id, name, scene, before, n, l, counts, theirs) in
        cases(ctx.quick).into_iter().filter(|c| c.1 != "heavy stack")
    {
        ctx.note(name);
        // From zero, as published: carried forces shake the pile apart with so few iterations.
        let newton = paper(n, LinearMethod::ConjugateResidual, l);
        let settings = if name == "PneuNet" { pneunet::gripping() } else { stepping(newton) };
        let mut sim = Steps::new(&scene, settings)?;
        for _ in 0..before {
            sim.step(H)?;
        }
        let (mut assembly, mut solve, mut contacts, mut island) = (Vec::new(), Vec::new(), 0, 0);
        for _ in 0..ctx.pick(15, 30) {
            let r = sim.step(H)?;
            assembly.push(1e3 * r.times[1]);
            solve.push(1e3 * r.times[2]);
            contacts = contacts.max(r.contacts);
            island = island.max(largest_island(&sim));
        }
        // Assembly: rows, J, residuals and C of every iterate. Solve: what a linear solver makes of them, matrices and preconditioners
        // included, and Δu (60). Medians: other programs may interrupt single steps.
        let spread = [deviation(&assembly), deviation(&solve)];
        let (assembly, solve) = (median(&mut assembly), median(&mut solve));
        let bodies = sim.model.bodies.iter().filter(|b| b.block.is_some()).count();
        let tets: usize = sim.model.solids.iter().map(|s| s.tets.len()).sum();
        let joints = sim.model.joints.len();
        let near = [bodies, joints, tets].iter().zip(counts).all(|(a, b)| 10 * a.abs_diff(b) <= b);
        let how = if name == "PneuNet" { ": (64), CG with incomplete factors" } else { "" };
        let row = Row::remark(
            format!("{id}/counts"),
            name,
            format!("{bodies} bodies, {joints} joints, {tets} tets, {contacts} contacts ({island}), N {n}, L {l}{how}"),
        )
        .against(format!("{} bodies, {} joints, {} tets, {theirs}", counts[0], counts[1], counts[2]));
        // A short run has a third of the tables.
        rows.push(if ctx.quick { row } else { row.accept("bodies, joints, tets within 10 %", near) });
        rows.push(Row::new(format!("{id}/assembly"), format!("{name}: assembly"), assembly, "ms"));
        rows.push(Row::new(format!("{id}/solve"), format!("{name}: solve"), solve, "ms"));
        let share = assembly / solve;
        let row =
            Row::new(format!("{id}/assembly-over-solve"), format!("{name}: assembly over solve"), share, "")
                .against("2 to 6 %, on a GPU")
                .at_most(0.15);
        rows.push(if share <= 0.15 {
            row
        } else {
            row.because(format!(
                "one linearisation costs as much as {:.0} of the {l} iterations of one solve: both run through the same rows \
                 once, and a processor core has no start-up time per iteration as a GPU has",
                share * l as f64
            ))
        });
        table.push(vec![
            name.to_string(),
            bodies.to_string(),
            joints.to_string(),
            tets.to_string(),
            contacts.to_string(),
            island.to_string(),
            n.to_string(),
            l.to_string(),
            format!("{assembly:.4}"),
            format!("{:.4}", spread[0]),
            format!("{solve:.4}"),
            format!("{:.4}", spread[1]),
        ]);
    }
    ctx.csv(
        "table",
        &[
            "example",
            "bodies",
            "joints",
            "tets",
            "contacts",
            "island",
            "newton",
            "linear",
            "assembly_ms",
            "assembly_deviation_ms",
            "solve_ms",
            "solve_deviation_ms",
        ],
        &table,
    )?;
    Ok(rows)
}

/// Contacts of the largest part of the last step that contacts and joints hold together.
fn largest_island(sim: &Steps) -> usize {
    let model = &sim.model;
    let (bodies, solids) = (model.bodies.len(), model.solids.len());
    let body = |b: BodyId| model.bodies[b.index()].block.is_some().then_some(b.index());
    let part = |s: ShapeId| match model.shapes[s.index()].owner {
        Owner::Body(b) => body(b),
        Owner::Solid(s) => Some(bodies + s.index()),
        Owner::Node(n) => {
            let solid = model.nodes[n.index()].solid;
            Some(solid.map_or(bodies + solids + n.index(), |s| bodies + s.index()))
        }
    };
    let mut parent: Vec<usize> = (0..bodies + solids + model.nodes.len()).collect();
    fn root(parent: &[usize], mut k: usize) -> usize {
        while parent[k] != k {
            k = parent[k];
        }
        k
    }
    let sides: Vec<[Option<usize>; 2]> =
        sim.stepper.contacts().map(|(c, _)| [part(c.key.shape_a), part(c.key.shape_b)]).collect();
    let joints = model.joints.iter().map(|j| [j.a.and_then(body), body(j.b)]);
    for pair in joints.chain(sides.iter().copied()) {
        if let [Some(a), Some(b)] = pair.map(|p| p.map(|p| root(&parent, p))) {
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut count = vec![0; parent.len()];
    for part in sides.iter().filter_map(|[a, b]| a.or(*b)) {
        count[root(&parent, part)] += 1;
    }
    count.into_iter().max().unwrap_or(0)
}

/// Standard deviation.
fn deviation(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64).sqrt()
}

fn median(x: &mut [f64]) -> f64 {
    x.sort_by(f64::total_cmp);
    x.get(x.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Both solvers, and the non-linear step, on the same scenes with the same tolerance.
fn time(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let solvers = [SolverKind::Exact, SolverKind::NonsmoothNewton, SolverKind::NonlinearNewton];
    for (id, name, scene, before, ..) in cases(ctx.quick) {
        if name == "PneuNet" && ctx.quick {
            continue;
        }
        ctx.note(name);
        let (mut seconds, mut natural) = (Vec::new(), Vec::new());
        for kind in solvers {
            let mut sim = simulate(&scene, kind)?;
            take_steps(&mut sim, before.min(ctx.pick(20, 60)), H, |_| {})?;
            let ran = take_steps(&mut sim, 10, H, |_| {})?;
            let (ms, s) = (1e3 * ran.seconds_per_step, &ran.summary);
            seconds.push(ms);
            natural.push(s.residuals.natural);
            let kind = kind.name();
            table.push(vec![
                name.to_string(),
                kind.to_string(),
                format!("{ms:.4}"),
                csv_number(s.residuals.natural),
                csv_number(s.residuals.momentum),
            ]);
            rows.push(Row::new(
                format!("{id}/{kind}/time"),
                format!("{name}, {kind}: time per step"),
                ms,
                "ms",
            ));
            rows.push(Row::new(
                format!("{id}/{kind}/natural"),
                format!("{name}, {kind}: natural map, worst"),
                s.residuals.natural,
                "m/s",
            ));
        }
        for k in 1..solvers.len() {
            let ratio = seconds[k] / seconds[0];
            let kind = solvers[k].name();
            let row = Row::new(
                format!("{id}/{kind}/time-over-exact"),
                format!("{name}: {kind} over exact, per step"),
                ratio,
                "×",
            );
            rows.push(if natural[k].max(natural[0]) <= 1e-7 {
                row
            } else {
                row.because(format!(
                    "not at equal yardstick: some steps end at {:.0e} m/s, `exact` at {:.0e} m/s",
                    natural[k], natural[0]
                ))
            });
        }
    }
    ctx.csv("time", &["scene", "solver", "ms_per_step", "natural_m_s", "momentum"], &table)?;
    growth(ctx, &mut rows)?;
    Ok(rows)
}

/// A soft block on a floor, from about a thousand to fifty thousand tets: fixed iterations as published, and solved to
/// 1e-6 in the stiffness form with the diagonal and with multigrid.
fn growth(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let sizes: &[usize] = if ctx.quick { &[6, 9] } else { &[6, 9, 14, 20] };
    let mut plot = Plot::new("Time per step of a soft block", "tets", "s");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    let published = NewtonSettings { start: Start::Warm, ..paper(4, LinearMethod::ConjugateResidual, 80) };
    let solved = |preconditioner| {
        let mut s = NewtonSettings { form: SystemForm::Stiffness, ..published };
        s.linear = LinearSettings { iterations: 2000, tolerance: 1e-6, preconditioner, ..s.linear };
        s
    };
    for (id, name, newton) in [
        ("compliance-4x80", "compliance form, 4×80", published),
        ("stiffness-diagonal", "stiffness form to 1e-6, diagonal", solved(PreconditionerKind::Diagonal)),
        (
            "stiffness-incomplete-factors",
            "stiffness form to 1e-6, incomplete factors",
            solved(PreconditionerKind::IncompleteCholesky),
        ),
        ("stiffness-multigrid", "stiffness form to 1e-6, multigrid", solved(PreconditionerKind::Multigrid)),
    ] {
        let mut points = Vec::new();
        for &cells in sizes {
            let material = Material { law: Law::StableNeoHookean, young: 1e5, poisson: 0.4, density: 1000.0 };
            let mut scene = on_floor(0.0, 0.5, []);
            let mut block = SoftBody::new("block", shapes::block([cells; 3], Vec3::splat(0.2)), material);
            block.pose.translation = Vec3::new(0.0, 0.0, 0.001);
            scene.solids.push(block);
            let mut sim = Steps::new(&scene, stepping(newton))?;
            sim.step(H)?;
            let watch = Stopwatch::start();
            let steps = ctx.pick(2, 3);
            let mut linear = 0;
            for _ in 0..steps {
                linear += sim.step(H)?.linear;
            }
            let took = watch.elapsed();
            let seconds = took.cpu.unwrap_or(took.wall) / steps as f64;
            let tets = sim.model.solids[0].tets.len();
            rows.push(Row::new(
                format!("block-{cells}/{id}/time"),
                format!("{tets} tets, {name}: time per step"),
                1e3 * seconds,
                "ms",
            ));
            if newton.form == SystemForm::Stiffness {
                let each = linear as f64 / (4 * steps) as f64;
                rows.push(Row::new(
                    format!("block-{cells}/{id}/iterations"),
                    format!("{tets} tets, {name}: iterations per solve"),
                    each,
                    "",
                ));
            }
            points.push((tets as f64, seconds));
        }
        let (a, b) = (points[0], points[points.len() - 1]);
        let slope = (b.1 / a.1).ln() / (b.0 / a.0).ln();
        let row = Row::new(
            format!("block/{id}/exponent"),
            format!("{name}: growth of time with tets, exponent"),
            slope,
            "",
        );
        rows.push(match newton.form {
            SystemForm::Compliance => row.against("1: fixed iterations, matrix-free").at_most(1.3),
            SystemForm::Stiffness => row,
        });
        plot.add(name, Mark::Dots, points);
    }
    ctx.plot("growth", &plot)
}
