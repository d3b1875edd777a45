//! NSN-T2-stack: the heavy stack of Fig. 14, 8 to 32768 kg, by linear solver.

use super::steps::{H, Steps, looks, paper, stepping};
use crate::bench::runs::{GRAVITY, on_floor};
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot, Scale};
use stiction::contact::samples;
use stiction::solvers::newton::{Derivative, LinearMethod, NewtonSettings, Start, StepRule};
use stiction::{Body, Geometry, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-T2-stack",
    title: "heavy stack, ratio 4096:1, with six Newton iterations per step",
    claim: "Macklin et al. 2019, Fig. 14: Krylov and direct solvers hold it, relaxation sinks in catastrophically",
    run,
};

const CUBES: usize = 5;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(120, 1200);
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let mut plot = Plot::new("Penetration of the heavy stack", "t [s]", "penetration [m]");
    plot.y_scale = Scale::Log;
    let warm =
        |s: NewtonSettings| NewtonSettings { start: Start::Warm, derivative: Derivative::Divided, ..s };
    let cases = [
        ("direct 6×1", paper(6, LinearMethod::Llt, 0)),
        ("PCR 6×20", paper(6, LinearMethod::ConjugateResidual, 20)),
        ("PCR 12×20", paper(12, LinearMethod::ConjugateResidual, 20)),
        ("PCR 6×20, warm, rows divided by α", warm(paper(6, LinearMethod::ConjugateResidual, 20))),
        ("Gauss–Seidel 6×20", paper(6, LinearMethod::GaussSeidel, 20)),
        ("Gauss–Seidel 6×200", paper(6, LinearMethod::GaussSeidel, 200)),
        ("Jacobi 6×20", paper(6, LinearMethod::Jacobi, 20)),
        ("Jacobi 6×200", paper(6, LinearMethod::Jacobi, 200)),
    ];
    let mut reference = 0.0;
    for (name, settings) in cases {
        ctx.note(name);
        let (mut sim, weights) = scene(settings)?;
        let (mut deepest, mut curve, mut force_error, mut mean) = (0.0_f64, Vec::new(), 0.0_f64, 0.0);
        for k in 0..steps {
            // A stack that flies apart has no penetration to measure.
            let pen = sim.step(H).map_or(f64::INFINITY, |r| r.penetration);
            deepest = deepest.max(pen);
            if pen == f64::INFINITY {
                break;
            }
            curve.push((sim.state.t, pen.max(1e-16)));
            // Forces are judged in the second half, when it is at rest.
            if 2 * k >= steps {
                let floor = floor_force(&sim);
                force_error = force_error.max((floor / weights - 1.0).abs());
                mean += floor / weights / (steps - steps / 2) as f64;
            }
        }
        plot.add(name, Mark::Line, curve);
        table.push(vec![name.into(), csv_number(deepest), csv_number(force_error), csv_number(mean)]);
        let row = Row::new(format!("{name}: deepest penetration"), deepest, "m");
        rows.push(match name {
            "direct 6×1" => {
                reference = deepest;
                row.against("stable").at_most(1e-3)
            }
            "PCR 6×20" => row.against("stable").at_most(1e-3),
            "Gauss–Seidel 6×20" | "Jacobi 6×20" => {
                row.against("catastrophic interpenetration").at_least(50.0 * reference)
            }
            "Gauss–Seidel 6×200" | "Jacobi 6×200" => row.at_least(20.0 * reference),
            _ => row,
        });
        let force =
            Row::new(format!("{name}: force error on the floor, worst step"), force_error, "of the weight");
        rows.push(match name {
            "PCR 12×20" | "PCR 6×20, warm, rows divided by α" => {
                force.against("weight above").at_most(0.01)
            }
            "PCR 6×20" | "direct 6×1" => {
                force.because("six cold iterations at t = ¾ leave the forces unfinished; their mean is right")
            }
            _ => force,
        });
        if matches!(name, "PCR 6×20" | "direct 6×1") {
            rows.push(
                Row::new(format!("{name}: mean force on the floor"), mean, "of the weight")
                    .against("1")
                    .accept("within 5 %", (mean - 1.0).abs() <= 0.05),
            );
        }
    }
    // A frozen step with full steps: as printed, and with rows divided by α.
    let p = samples::heavy_stack(CUBES);
    for (name, derivative) in
        [("as printed", Derivative::Literal), ("rows divided by α", Derivative::Divided)]
    {
        let one = NewtonSettings {
            tolerance: 1e-11,
            step: StepRule::Fixed(1.0),
            derivative,
            ..paper(50, LinearMethod::Llt, 0)
        };
        let its = looks(&p, one).0.last().map_or(50, |l| l.iteration);
        let row = Row::new(
            format!("frozen step, direct, t = 1, {name}: Newton iterations to 1e-11"),
            its as f64,
            "",
        )
        .against("super-linear");
        rows.push(if derivative == Derivative::Divided { row.at_most(15.0) } else { row });
    }
    ctx.csv("penetration", &["case", "penetration_m", "force_error", "mean_force"], &table)?;
    ctx.plot("penetration", &plot)?;
    Ok(rows)
}

/// The stack and its weight [N].
fn scene(settings: NewtonSettings) -> Result<(Steps, f64)> {
    let mut z = 0.0;
    let mut bodies = Vec::new();
    let mut mass = 0.0;
    for k in 0..CUBES {
        // Cubes of 0.2, 0.4, … 3.2 m of density 1000 have 8, 64, … 32768 kg.
        let half = 0.1 * 2f64.powi(k as i32);
        let m = 8f64.powi(k as i32 + 1);
        let cube = Body::new(format!("cube {k}"), Geometry::Box { half: Vec3::splat(half) });
        bodies.push(cube.at(0.0, 0.0, z + half).with_mass(m).with_friction(0.5));
        z += 2.0 * half;
        mass += m;
    }
    Ok((Steps::new(&on_floor(0.0, 0.5, bodies), stepping(settings))?, mass * GRAVITY))
}

/// Sum of the vertical forces of the floor [N].
fn floor_force(sim: &Steps) -> f64 {
    sim.stepper
        .contacts()
        .filter(|(c, _)| c.key.shape_a.index() == 0 || c.key.shape_b.index() == 0)
        .map(|(_, f)| f.z.abs())
        .sum()
}
