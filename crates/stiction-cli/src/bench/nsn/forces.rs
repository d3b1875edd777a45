//! NSN-S10.3: how evenly redundant contacts share a load, with both NCP functions.

use super::steps::{H, Steps, paper, stepping};
use crate::bench::runs::on_floor;
use crate::bench::{Context, Experiment, Row};
use crate::failure::Result;
use crate::output::csv_number;
use crate::svg::{Mark, Plot};
use std::f64::consts::TAU;
use stiction::solvers::newton::{Derivative, LinearMethod, NcpFunction, NewtonSettings, Start};
use stiction::{Body, Geometry, Vec3};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-S10.3",
    title: "a 24-sided prism at rest: spread of the contact forces over the ring",
    claim: "Macklin et al. 2019, 10.3: the minimum map gives noisy forces, Fischer–Burmeister smooth ones",
    run,
};

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(120, 360);
    let ring = |z: f64| {
        (0..24).map(move |k| TAU * k as f64 / 24.0).map(move |a| Vec3::new(0.5 * a.cos(), 0.5 * a.sin(), z))
    };
    let points: Vec<Vec3> = ring(-0.1).chain(ring(0.1)).collect();
    let mut rows = Vec::new();
    let mut plot = Plot::new("Spread of contact forces", "t [s]", "deviation / mean");
    let mut table = Vec::new();
    let mut spreads = Vec::new();
    for (name, ncp, start) in [
        ("Fischer–Burmeister", NcpFunction::FischerBurmeister, Start::Zero),
        ("Fischer–Burmeister, warm", NcpFunction::FischerBurmeister, Start::Warm),
        ("minimum map", NcpFunction::MinimumMap, Start::Zero),
    ] {
        let mut body = Body::new("prism", Geometry::ConvexHull { points: points.clone() })
            .at(0.0, 0.0, 0.1)
            .with_mass(10.0);
        // A little push, so that nothing is symmetric.
        body.velocity = Vec3::new(0.3, 0.1, 0.0);
        body.spin = Vec3::new(0.05, -0.03, 0.4);
        let newton = NewtonSettings {
            ncp,
            start,
            derivative: Derivative::Divided,
            ..paper(12, LinearMethod::ConjugateResidual, 20)
        };
        let mut sim = Steps::new(&on_floor(0.0, 0.5, [body]), stepping(newton))?;
        let (mut curve, mut last, mut change, mut counted) = (Vec::new(), Vec::new(), 0.0_f64, 0.0);
        for k in 0..steps {
            sim.step(H)?;
            let forces: Vec<f64> = sim.stepper.contacts().map(|(_, f)| f.z.abs()).collect();
            let mean = forces.iter().sum::<f64>() / forces.len().max(1) as f64;
            let variance =
                forces.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / forces.len().max(1) as f64;
            curve.push((sim.state.t, variance.sqrt() / mean));
            table.push(vec![name.to_string(), csv_number(sim.state.t), csv_number(variance.sqrt() / mean)]);
            if 2 * k >= steps && forces.len() == last.len() {
                let d =
                    forces.iter().zip(&last).map(|(a, b): (&f64, &f64)| (a - b).abs()).fold(0.0, f64::max);
                change = change.max(d / mean);
                counted += 1.0;
            }
            last = forces;
        }
        let tail = &curve[curve.len() / 2..];
        let spread = tail.iter().map(|p| p.1).sum::<f64>() / tail.len() as f64;
        spreads.push(spread);
        plot.add(name, Mark::Line, curve);
        let row = Row::new(format!("{name}: deviation over mean of λ_n at rest"), spread, "");
        rows.push(match start {
            Start::Zero if ncp == NcpFunction::FischerBurmeister => row.against("smooth").at_most(0.2),
            _ => row,
        });
        let steady = Row::new(
            format!("{name}: largest change of a force from step to step ({counted} steps)"),
            change,
            "of the mean",
        );
        rows.push(match start {
            Start::Zero if ncp == NcpFunction::FischerBurmeister => steady.against("steady").at_most(0.05),
            _ => steady,
        });
    }
    let ratio = spreads[2] / spreads[0];
    let row = Row::new("minimum map over Fischer–Burmeister", ratio, "×").against("noisy");
    rows.push(if ratio >= 2.0 {
        row.at_least(2.0)
    } else {
        row.at_least(2.0).because(
            "conjugate residuals from a zero start pick the evenest of all splits, whichever function asks",
        )
    });
    ctx.csv("spread", &["case", "t_s", "spread"], &table)?;
    ctx.plot("spread", &plot)?;
    Ok(rows)
}
