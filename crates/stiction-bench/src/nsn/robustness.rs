//! NSN-S8.1, NSN-S8.2 and NSN-S8.4: line search, singular systems, regularisation.

use super::steps::{H, Steps, looks, paper, stepping};
use crate::runs::on_floor;
use crate::{Context, Experiment, Row};
use std::f64::consts::TAU;
use stiction::contact::samples::Assembly;
use stiction::contact::{ContactProblem, samples};
use stiction::papers::nsn::solve::{
    Derivative, LinearMethod, NcpFunction, NewtonSettings, Regularization, StepRule,
};
use stiction::{Body, Geometry, Vec3};
use stiction_cli::failure::Result;

/// Sec. 8.1.
pub const LINE_SEARCH: Experiment = Experiment {
    id: "NSN-S8.1",
    title: "back-tracking line search without and with friction",
    claim: "Macklin et al. 2019, 8.1: works well without friction, often stalls with it",
    run: line_search,
};

/// Sec. 8.2.
pub const SINGULAR: Experiment = Experiment {
    id: "NSN-S8.2",
    title: "a flat cylinder on 24 contacts: a singular Newton system",
    claim: "Macklin et al. 2019, 8.2: conjugate residuals converge where Cholesky and CG may fail",
    run: singular,
};

/// Sec. 8.4.
pub const REGULARIZATION: Experiment = Experiment {
    id: "NSN-S8.4",
    title: "ε = 0, 1e-8, 1e-6 on a redundant system",
    claim: "Macklin et al. 2019, 8.4: ε does not change the answer",
    run: regularization,
};

fn line_search(ctx: &mut Context) -> Result<Vec<Row>> {
    let steps = ctx.pick(60, 200);
    let mut rows = Vec::new();
    for (mu, id, name) in [(0.0, "frictionless", "without friction"), (0.6, "friction", "with friction")] {
        let settings = NewtonSettings {
            step: StepRule::LineSearch(8),
            tolerance: 1e-8,
            derivative: Derivative::Divided,
            ..paper(30, LinearMethod::Llt, 0)
        };
        let boxes = (0..8).map(|k| {
            let mut b = Body::new(format!("box {k}"), Geometry::Box { half: Vec3::splat(0.1) })
                .at(0.05 * (k % 3) as f64, 0.04 * (k % 2) as f64, 0.1 + 0.21 * k as f64)
                .with_mass(1.0)
                .with_friction(mu);
            b.velocity = Vec3::new(0.5 - 0.2 * (k % 4) as f64, 0.1, 0.0);
            b
        });
        let mut sim = Steps::new(&on_floor(0.0, mu, boxes), stepping(settings))?;
        let (mut stalled, mut unsolved) = (0, 0);
        for _ in 0..steps {
            let r = sim.step(H)?;
            stalled += usize::from(r.stalls > 0 && r.error > 1e-8);
            unsolved += usize::from(r.error > 1e-6);
        }
        let share = stalled as f64 / steps as f64;
        let row = Row::new(
            format!("{id}/stalls"),
            format!("{name}: steps in which the search stalls"),
            share,
            "of all",
        );
        rows.push(if mu == 0.0 {
            row.against("works well").at_most(0.1)
        } else {
            row.against("often stalls").at_least(0.1)
        });
        rows.push(Row::new(
            format!("{id}/unsolved"),
            format!("{name}: steps not solved to 1e-6"),
            unsolved as f64 / steps as f64,
            "of all",
        ));
    }
    Ok(rows)
}

/// A cylinder at rest on a ring of contacts.
pub fn flat_cylinder(contacts: usize, mu: f64) -> ContactProblem {
    let mut bodies = Assembly::new(Vec3::new(0.0, 0.0, -samples::GRAVITY));
    let body = bodies.add_box(Vec3::new(0.0, 0.0, 0.25), Vec3::new(0.5, 0.5, 0.25), 10.0);
    let ring: Vec<Vec3> = (0..contacts)
        .map(|k| TAU * k as f64 / contacts as f64)
        .map(|a| Vec3::new(0.5 * a.cos(), 0.5 * a.sin(), 0.0))
        .collect();
    bodies.touch(body, None, Vec3::Z, &ring, mu);
    bodies.problem()
}

/// The exact Newton rows of the minimum map: nothing but J M⁻¹ Jᵀ on the active contacts.
fn bare(method: LinearMethod, epsilon: f64) -> NewtonSettings {
    NewtonSettings {
        ncp: NcpFunction::MinimumMap,
        derivative: Derivative::Divided,
        regularization: Regularization::Absolute(epsilon),
        tolerance: 1e-9,
        ..paper(100, method, 60)
    }
}

fn singular(_: &mut Context) -> Result<Vec<Row>> {
    let p = flat_cylinder(24, 0.5);
    let error = |s| looks(&p, s).0.last().map_or(f64::INFINITY, |l| l.error);
    let mut rows = Vec::new();
    let pcr = error(bare(LinearMethod::ConjugateResidual, 0.0));
    rows.push(
        Row::new("epsilon-0/pcr/error", "PCR, ε = 0: error", pcr, "of the velocity scale")
            .against("converges")
            .at_most(1e-9),
    );
    let llt = error(bare(LinearMethod::Llt, 0.0));
    rows.push(
        Row::new("epsilon-0/cholesky/error", "Cholesky, ε = 0: error", llt, "of the velocity scale")
            .against("may fail")
            .at_least(1e-3),
    );
    for (method, id, name) in [
        (LinearMethod::ConjugateGradient, "pcg", "PCG, ε = 0"),
        (LinearMethod::Minres, "minres", "MINRES, ε = 0"),
        (LinearMethod::Ldlt, "ldlt", "LDLT, ε = 0"),
    ] {
        let left = error(bare(method, 0.0));
        let id = format!("epsilon-0/{id}/error");
        rows.push(Row::new(id, format!("{name}: error"), left, "of the velocity scale"));
    }
    let shifted = error(bare(LinearMethod::Llt, 1e-6));
    rows.push(
        Row::new(
            "epsilon-1e-6/cholesky/error",
            "Cholesky, ε = 1e-6: error",
            shifted,
            "of the velocity scale",
        )
        .at_most(1e-9),
    );
    Ok(rows)
}

fn regularization(_: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (id, scene, p) in [
        ("cylinder", "cylinder", flat_cylinder(24, 0.5)),
        ("heavy-stack", "heavy stack", samples::heavy_stack(5)),
        ("arch", "arch", samples::arch(10, 0.6)),
    ] {
        let solve = |epsilon: f64| {
            let s = NewtonSettings {
                regularization: Regularization::Absolute(epsilon),
                tolerance: 1e-11,
                ..paper(300, LinearMethod::ConjugateResidual, 200)
            };
            let (looks, x) = looks(&p, s);
            (x.v, looks.last().map_or(0, |l| l.iteration))
        };
        let (reference, first) = solve(0.0);
        rows.push(Row::new(
            format!("{id}/epsilon-0/iterations"),
            format!("{scene}, ε = 0: Newton iterations"),
            first as f64,
            "",
        ));
        for epsilon in [1e-8, 1e-6] {
            let (v, its) = solve(epsilon);
            let off = v.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            rows.push(
                Row::new(
                    format!("{id}/epsilon-{epsilon:e}/velocity"),
                    format!("{scene}, ε = {epsilon:e}: velocity against ε = 0 ({its} iterations)"),
                    off,
                    "m/s",
                )
                .against("the same")
                .at_most(1e-8),
            );
        }
    }
    Ok(rows)
}
