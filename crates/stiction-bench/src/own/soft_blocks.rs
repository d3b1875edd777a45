//! A soft block between two plates, refined from 1k to 150k dofs: what each stage of a step costs, and how it grows.

use crate::runs::{GRAVITY, simulate, take_steps};
use crate::{Context, Experiment, Row};
use stiction::coords::Pose;
use stiction::elastic::{Law, Material};
use stiction::linalg::SparseCholesky;
use stiction::mesh::shapes;
use stiction::scene::{Ease, Keyframe, Motion, SoftBody};
use stiction::{Body, Geometry, Scene, SolverKind, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::Result;
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "soft-blocks",
    title: "Soft block squeezed and lifted, 1k to 150k dofs",
    claim: "a multigrid Newton is near-linear: cost per dof grows by at most 3 from 5k to 150k dofs",
    run,
};

const SIZE: Vec3 = Vec3::new(0.10, 0.11, 0.11);
const DT: f64 = 0.01;
/// Cells of the blocks; the second is that of the scene `soft-block-grip`.
const CELLS: [[usize; 3]; 5] = [[6, 6, 6], [10, 11, 11], [15, 17, 17], [24, 25, 25], [35, 37, 37]];
/// A factor of the largest matrix takes longer than all steps together.
const MOST_FACTORED: usize = 60_000;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(20, 50);
    let cells = ctx.pick(&CELLS[..3], &CELLS[..]);
    let mut rows = Vec::new();
    let stages = [
        ("assemble", "assemble"),
        ("solve", "solve"),
        ("collide", "collide"),
        ("factor", "factor (not used by steps)"),
        ("step", "whole step"),
    ];
    let mut curves = vec![Vec::new(); stages.len()];
    for &cells in cells {
        let scene = scene(cells);
        let mut sim = simulate(&scene, SolverKind::Exact)?;
        let dofs = sim.model().layout.nv();
        ctx.note(&format!("{dofs} dofs"));
        let id = format!("{}x{}x{}", cells[0], cells[1], cells[2]);
        let (mut assemble, mut solve, mut collide, mut most) = (0.0, 0.0, 0.0, 0);
        let ran = take_steps(&mut sim, steps, DT, |s| {
            let r = s.report();
            assemble += r.times.assemble / steps as f64;
            solve += r.times.solve / steps as f64;
            collide += r.times.collide / steps as f64;
            most = most.max(r.contacts);
        })?;
        let mut times = vec![Some(assemble), Some(solve), Some(collide), None, Some(ran.seconds_per_step)];
        if dofs <= MOST_FACTORED {
            let blocks: Vec<u32> =
                (0..sim.problem().expect("a velocity step").a.block_rows() as u32).collect();
            let mut factor = SparseCholesky::default();
            factor.factor(&sim.problem().expect("a velocity step").a, &blocks);
            // The second time the symbolic part is known, as it would be in a run.
            let watch = Stopwatch::start();
            factor.factor(&sim.problem().expect("a velocity step").a, &blocks);
            let took = watch.elapsed();
            times[3] = Some(took.cpu.unwrap_or(took.wall));
        }
        for ((curve, time), (part, stage)) in curves.iter_mut().zip(&times).zip(stages) {
            if let Some(t) = time {
                curve.push((dofs as f64, *t));
                rows.push(Row::new(
                    format!("{id}/{part}/time"),
                    format!("{dofs} dofs, {most} contacts: {stage}"),
                    1e3 * t,
                    "ms",
                ));
            }
        }
        let s = &ran.summary;
        rows.push(
            Row::new(
                format!("{id}/natural"),
                format!("{dofs} dofs: natural map, worst"),
                s.residuals.natural,
                "m/s",
            )
            .at_most(1e-6),
        );
        rows.push(
            Row::new(
                format!("{id}/failed"),
                format!("{dofs} dofs: steps not converged"),
                s.failed as f64,
                "",
            )
            .at_most(0.0),
        );
    }
    let mut plot = Plot::new("Cost of a step", "dofs", "time per step [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    for (curve, (part, stage)) in curves.iter().zip(stages) {
        rows.push(Row::new(
            format!("{part}/exponent"),
            format!("{stage}: exponent of its growth"),
            exponent(curve),
            "",
        ));
        plot.add(stage, Mark::Line, curve.clone());
    }
    ctx.plot("cost", &plot)?;
    let whole = &curves[4];
    let per_dof = |k: usize| whole[k].1 / whole[k].0;
    let growth = per_dof(whole.len() - 1) / per_dof(1);
    let row =
        Row::new("step/growth-per-dof", "growth of cost per dof from 5k dofs to the largest", growth, "×");
    rows.push(row.against("2.2 (prototype)").at_most(3.0));
    Ok(rows)
}

/// Slope of log t over log n by least squares.
pub fn exponent(curve: &[(f64, f64)]) -> f64 {
    let n = curve.len() as f64;
    let (x, y) = (|p: &(f64, f64)| p.0.ln(), |p: &(f64, f64)| p.1.ln());
    let (mx, my) = (curve.iter().map(x).sum::<f64>() / n, curve.iter().map(y).sum::<f64>() / n);
    let cross: f64 = curve.iter().map(|p| (x(p) - mx) * (y(p) - my)).sum();
    cross / curve.iter().map(|p| (x(p) - mx).powi(2)).sum::<f64>()
}

/// Plates close by 2.5 mm each within 0.2 s and lift by 0.1 m within 0.6 s: many contacts change their state.
fn scene(cells: [usize; 3]) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -GRAVITY), ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed());
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let mut plate = Body::new(name, Geometry::Box { half: Vec3::new(0.01, 0.08, 0.08) });
        let key = |time: f64, x: f64, z: f64| Keyframe {
            time,
            pose: Pose::from_translation(Vec3::new(side * x, 0.0, z)),
        };
        let keys = vec![key(0.0, 0.06, 0.1), key(0.2, 0.0575, 0.1), key(0.8, 0.0575, 0.2)];
        plate.motion = Motion::Keyframes { keys, ease: Ease::Smooth };
        scene.bodies.push(plate);
    }
    let material = Material { law: Law::Corotated, young: 1e6, poisson: 0.35, density: 1000.0 };
    let mut block = SoftBody::new("block", shapes::block(cells, SIZE), material);
    // As in the scene `soft-block-grip`: nodes touch the plates.
    block.rigid_edges = false;
    scene.solids.push(block);
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_slopes_of_powers() {
        let curve: Vec<(f64, f64)> = [1.0, 3.0, 10.0].iter().map(|n: &f64| (*n, 5.0 * n.powf(1.5))).collect();
        assert!((exponent(&curve) - 1.5).abs() < 1e-12);
    }
}
