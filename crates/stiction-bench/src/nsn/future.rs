//! NSN-future: what the paper leaves for later, each against the published version.

use super::steps::{H, Steps, looks, paper, stepping};
use super::{arch, beam, forces};
use crate::runs::{GRAVITY, on_floor};
use crate::{Context, Experiment, Row};
use stiction::contact::samples;
use stiction::elastic::{Law, Material};
use stiction::mesh::shapes;
use stiction::papers::nsn::NonlinearSettings;
use stiction::papers::nsn::solve::linear::LinearSolver;
use stiction::papers::nsn::solve::schur::Schur;
use stiction::papers::nsn::solve::{
    IslandRule, LinearMethod, LinearSettings, NewtonSettings, PreconditionerKind, Product, Regularization,
    Start, SystemForm,
};
use stiction::scene::SoftBody;
use stiction::{Body, Geometry, Scene, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::Result;

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-future",
    title: "starts, contact compliance, islands, matrix-free products, block preconditioner, stiffness form",
    claim: "Macklin et al. 2019, 8.1, 11: named as possible or as future work",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    warm(ctx, &mut rows)?;
    starts(ctx, &mut rows)?;
    compliance(ctx, &mut rows)?;
    islands(&mut rows);
    products(ctx, &mut rows)?;
    forms(ctx, &mut rows)?;
    rows.push(Row::remark(
        "bounded-friction",
        "bounded friction scaling",
        "beside the published one in NSN-redundant",
    ));
    Ok(rows)
}

/// The heavy stack of equal cubes, and the arch, each with its part of the names of rows and its name.
fn stack_and_arch() -> [(&'static str, &'static str, Scene); 2] {
    let cubes = (0..5).map(|k| {
        Body::new(format!("cube {k}"), Geometry::Box { half: Vec3::splat(0.5) })
            .at(0.0, 0.0, k as f64 + 0.5)
            .with_mass(8f64.powi(k + 1))
    });
    [("heavy-stack", "heavy stack", on_floor(0.0, 0.5, cubes)), ("arch", "arch", arch::scene())]
}

/// The largest error that the last ten steps leave.
fn last_error(ctx: &Context, scene: &Scene, newton: NewtonSettings) -> Result<f64> {
    let mut sim = Steps::new(scene, stepping(newton))?;
    let mut last = 0.0_f64;
    let steps = ctx.pick(60, 120);
    for k in 0..steps {
        let error = sim.step(H)?.error;
        if k + 10 >= steps {
            last = last.max(error);
        }
    }
    Ok(last)
}

/// Errors that six iterations leave, cold and warm.
fn warm(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    for (id, name, scene) in stack_and_arch() {
        let mut errors = Vec::new();
        for (start, part, how) in [(Start::Zero, "cold", "cold (published)"), (Start::Warm, "warm", "warm")] {
            let newton = NewtonSettings { start, ..paper(6, LinearMethod::ConjugateResidual, 20) };
            let last = last_error(ctx, &scene, newton)?;
            errors.push(last);
            rows.push(Row::new(
                format!("{id}/pcr-6/{part}/error"),
                format!("{name}, N = 6, {how}: error of the last steps"),
                last,
                "of the velocity scale",
            ));
        }
        let row = Row::new(
            format!("{id}/pcr-6/cold-over-warm"),
            format!("{name}: cold over warm"),
            errors[0] / errors[1],
            "×",
        )
        .against("warm starting can give a good improvement (8.1)");
        rows.push(if name == "arch" {
            row.because("20 iterations of PCR for 300 rows: the linear solves, not the start, decide")
        } else {
            row.at_least(10.0)
        });
    }
    Ok(())
}

/// From zero, as published, and from the velocity without contacts.
fn starts(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    for (id, name, scene) in stack_and_arch() {
        for n in [6, 12] {
            for (start, part, how) in
                [(Start::Zero, "zero", "zero (published)"), (Start::Free, "free", "the free velocity")]
            {
                let newton = NewtonSettings { start, ..paper(n, LinearMethod::Llt, 0) };
                rows.push(
                    Row::new(
                        format!("{id}/direct-{n}/{part}/error"),
                        format!("{name}, N = {n}, direct, from {how}: error of the last steps"),
                        last_error(ctx, &scene, newton)?,
                        "of the velocity scale",
                    )
                    .against("zero was the most robust start (8.1)"),
                );
            }
        }
    }
    Ok(())
}

/// A prism of 24 sides at rest on its uneven face: forces of the floor [N], Newton iterations of a step to 1e-8, depth [m].
fn prism(compliance: f64, steps: usize) -> Result<(Vec<f64>, f64, f64)> {
    // Rigid, it rests on three of its corners.
    let newton = NewtonSettings {
        tolerance: 1e-8,
        regularization: Regularization::Relative(1e-9),
        ..paper(60, LinearMethod::Llt, 0)
    };
    let settings = NonlinearSettings { contact_compliance: compliance, ..stepping(newton) };
    let body = forces::prism(forces::UNEVEN);
    let mut sim = Steps::new(&on_floor(0.0, 0.5, [body]), settings)?;
    let start = sim.position(0).z;
    let mut iterations = 0;
    for _ in 0..steps {
        iterations += sim.step(H)?.iterations;
    }
    let forces = sim.stepper.contacts().map(|(_, f)| f.z.abs()).collect();
    Ok((forces, iterations as f64 / steps as f64, start - sim.position(0).z))
}

/// Contacts that give: forces of redundant ones are no longer a matter of choice (10.3).
fn compliance(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let steps = ctx.pick(120, 240);
    let mut spreads = Vec::new();
    for (compliance, part, how) in
        [(0.0, "rigid", "rigid (published)"), (1e-6, "compliant", "compliance 1e-6 m/N")]
    {
        let (forces, iterations, depth) = prism(compliance, steps)?;
        let n = forces.len() as f64;
        let mean = forces.iter().sum::<f64>() / n;
        let spread = (forces.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt() / mean;
        spreads.push(spread);
        let what = format!("prism of 24 sides, uneven by 10 nm, {how}");
        let id = format!("prism/{part}");
        rows.push(Row::new(
            format!("{id}/spread"),
            format!("{what}: deviation over mean of {n} forces"),
            spread,
            "",
        ));
        rows.push(Row::new(
            format!("{id}/iterations"),
            format!("{what}: Newton iterations per step"),
            iterations,
            "",
        ));
        if compliance > 0.0 {
            let closed = 10.0 * GRAVITY * compliance / 24.0;
            rows.push(
                Row::new(format!("{id}/depth"), format!("{what}: sinks by"), depth, "m")
                    .against(format!("{closed:.4e} m = m g e/24"))
                    .accept("within 1 %", (depth / closed - 1.0).abs() <= 0.01),
            );
        }
    }
    rows.push(
        Row::new(
            "prism/rigid-over-compliant",
            "prism: deviation of the forces, rigid over compliant",
            spreads[0] / spreads[1],
            "×",
        )
        .against("compliance makes the problem well-posed (10.3)")
        .at_least(1.0),
    );
    Ok(())
}

/// Two problems that nothing couples, one hard and one easy, solved together and apart.
fn islands(rows: &mut Vec<Row>) {
    let mut bodies = samples::Assembly::new(Vec3::new(0.0, 0.0, -samples::GRAVITY));
    for (x, masses) in [(0.0, [8.0, 4096.0, 8.0, 4096.0]), (10.0, [1.0, 1.0, 1.0, 1.0])] {
        let mut below = None;
        for (k, m) in masses.into_iter().enumerate() {
            let z = k as f64;
            let cube = bodies.add_box(Vec3::new(x, 0.0, z + 0.5), Vec3::splat(0.5), m);
            let face =
                [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)].map(|(a, b)| Vec3::new(x + a, b, z));
            bodies.touch(cube, below, Vec3::Z, &face, 0.5);
            below = Some(cube);
        }
    }
    let p = bodies.problem();
    let mut ends = Vec::new();
    for (rule, part, name) in
        [(IslandRule::Together, "together", "together (published)"), (IslandRule::Apart, "apart", "apart")]
    {
        let s = NewtonSettings { islands: rule, ..paper(12, LinearMethod::ConjugateResidual, 6) };
        let (iterates, _) = looks(&p, s);
        let last = iterates.iter().filter(|l| l.iteration == 12).map(|l| l.error).fold(0.0, f64::max);
        ends.push(last);
        rows.push(Row::new(
            format!("islands/{part}/error"),
            format!("two islands {name}: error after 12×6"),
            last,
            "of the velocity scale",
        ));
    }
    rows.push(
        Row::new("islands/together-over-apart", "two islands: together over apart", ends[0] / ends[1], "×")
            .against("error of one slows the other (11)")
            .at_least(1.0),
    );
}

/// A soft block on a floor.
fn block(cells: usize, young: f64) -> Scene {
    let material = Material { law: Law::StableNeoHookean, young, poisson: 0.4, density: 1000.0 };
    let mut scene = on_floor(0.0, 0.5, []);
    let mut block = SoftBody::new("block", shapes::block([cells; 3], Vec3::splat(0.2)), material);
    block.pose.translation = Vec3::new(0.0, 0.0, 1e-4);
    scene.solids.push(block);
    scene
}

/// The system of the third Newton iteration of the second step.
fn system(scene: &Scene) -> Result<Schur<f64>> {
    let mut sim = Steps::new(scene, stepping(paper(3, LinearMethod::ConjugateResidual, 80)))?;
    sim.step(H)?;
    sim.step(H)?;
    Ok(sim.stepper.system().clone())
}

fn products(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let cells = ctx.pick(4, 6);
    for (id, name, scene) in
        [("soft-block", "soft block", block(cells, 1e6)), ("beam", "beam", beam::insertion())]
    {
        let mut s = system(&scene)?;
        let settings = NewtonSettings::default();
        let mut b = Vec::new();
        s.prepare(Product::MatrixFree, false, settings.regularization);
        s.right_side(&mut b);
        let mut results = Vec::new();
        for product in [Product::MatrixFree, Product::Assembled] {
            for preconditioner in [PreconditionerKind::Diagonal, PreconditionerKind::BlockDiagonal] {
                s.prepare(product, false, settings.regularization);
                let linear = LinearSettings {
                    iterations: 4000,
                    tolerance: 1e-6,
                    product,
                    preconditioner,
                    ..LinearSettings::default()
                };
                let mut x = vec![0.0; b.len()];
                let watch = Stopwatch::start();
                let report = LinearSolver::default().solve(&s, &b, &mut x, &linear);
                let took = watch.elapsed();
                results.push((report.iterations as f64, took.cpu.unwrap_or(took.wall)));
            }
        }
        let [free, free_block, assembled, _] = results[..] else { unreachable!("four cases") };
        rows.push(Row::new(
            format!("{id}/diagonal/iterations"),
            format!("{name} ({} rows): PCR to 1e-6, diagonal (published)", b.len()),
            free.0,
            "iterations",
        ));
        rows.push(Row::new(
            format!("{id}/block-diagonal/iterations"),
            format!("{name}: PCR to 1e-6, block-diagonal"),
            free_block.0,
            "iterations",
        ));
        rows.push(
            Row::new(
                format!("{id}/block-diagonal-over-diagonal"),
                format!("{name}: block-diagonal over diagonal"),
                free_block.0 / free.0,
                "×",
            )
            .at_most(1.0),
        );
        rows.push(
            Row::new(
                format!("{id}/matrix-free-over-assembled"),
                format!("{name}: time of a matrix-free product over an assembled one"),
                free.1 / free.0 / (assembled.1 / assembled.0),
                "×",
            )
            .against("would likely improve performance (11)"),
        );
    }
    Ok(())
}

/// Compliance and stiffness form on the same soft block, and preconditioners of the latter.
fn forms(ctx: &mut Context, rows: &mut Vec<Row>) -> Result<()> {
    let cells = ctx.pick(3, 5);
    for young in [1e5, 1e7] {
        let mut seconds = Vec::new();
        for (form, part, name) in [
            (SystemForm::Compliance, "compliance", "compliance (59)"),
            (SystemForm::Stiffness, "stiffness", "stiffness (64)"),
        ] {
            let newton = NewtonSettings { form, ..paper(6, LinearMethod::ConjugateResidual, 80) };
            let (error, took, _) = drop_block(cells, young, newton)?;
            seconds.push(took);
            rows.push(Row::new(
                format!("young-{young:.0e}/{part}/error"),
                format!("E = {young:.0e} Pa, {name}, 6×80: error"),
                error,
                "of the velocity scale",
            ));
        }
        rows.push(Row::new(
            format!("young-{young:.0e}/stiffness-over-compliance"),
            format!("E = {young:.0e} Pa: time, stiffness over compliance"),
            seconds[1] / seconds[0],
            "×",
        ));
    }
    let cells = ctx.pick(6, 12);
    let mut counts = Vec::new();
    for (kind, part, name) in [
        (PreconditionerKind::Diagonal, "diagonal", "diagonal (published)"),
        (PreconditionerKind::BlockDiagonal, "block-diagonal", "blocks"),
        (PreconditionerKind::IncompleteCholesky, "incomplete-factors", "incomplete factors"),
        (PreconditionerKind::Multigrid, "multigrid", "multigrid"),
    ] {
        let mut newton = NewtonSettings {
            form: SystemForm::Stiffness,
            start: Start::Warm,
            ..paper(6, LinearMethod::ConjugateGradient, 5000)
        };
        newton.linear.tolerance = 1e-6;
        newton.linear.preconditioner = kind;
        let (_, took, linear) = drop_block(cells, 1e7, newton)?;
        counts.push(linear);
        let what = format!("{} tets of 10 MPa, {name}", 6 * cells * cells * cells);
        rows.push(Row::new(
            format!("stiffness/{part}/iterations"),
            format!("{what}: iterations to 1e-6 per solve"),
            linear,
            "",
        ));
        rows.push(Row::new(
            format!("stiffness/{part}/time"),
            format!("{what}: time per step"),
            1e3 * took / 5.0,
            "ms",
        ));
    }
    rows.push(
        Row::new(
            "stiffness/diagonal-over-multigrid",
            "diagonal over multigrid, iterations",
            counts[0] / counts[3],
            "×",
        )
        .against("would accelerate larger systems (11)")
        .at_least(3.0),
    );
    Ok(())
}

/// Five steps of a soft block: error of the last, seconds, iterations per linear solve.
fn drop_block(cells: usize, young: f64, newton: NewtonSettings) -> Result<(f64, f64, f64)> {
    let mut sim = Steps::new(&block(cells, young), stepping(newton))?;
    let watch = Stopwatch::start();
    let (mut error, mut linear) = (0.0_f64, 0);
    for _ in 0..5 {
        let r = sim.step(H)?;
        error = r.error;
        linear += r.linear;
    }
    let took = watch.elapsed();
    Ok((error, took.cpu.unwrap_or(took.wall), linear as f64 / (5 * newton.iterations) as f64))
}
