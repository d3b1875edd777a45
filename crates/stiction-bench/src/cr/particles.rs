//! A particle on a plane: stick, slip, opening and closing, copies of one contact.

use super::super::{Context, Experiment, Row};
use super::solve;
use stiction::Vec3;
use stiction::contact::{ContactProblem, samples};
use stiction::papers::cr::{Preconditioner, Settings, Stop};
use stiction_cli::failure::Result;

/// The friction cone.
pub const CONE: Experiment = Experiment {
    id: "CR-F4",
    title: "sliding direction and friction force of a pushed particle",
    claim: "friction is μλ against the sliding velocity, to 1.2° with the printed settings",
    run: cone,
};

/// Activation and deactivation.
pub const SWITCHING: Experiment = Experiment {
    id: "CR-F5",
    title: "a contact closes when it is fallen upon and opens when it would pull",
    claim: "each change of state is an improvement (4.2)",
    run: switching,
};

/// Copies of one contact.
pub const REDUNDANT: Experiment = Experiment {
    id: "CR-S4.3",
    title: "copies of one contact make B singular",
    claim: "the gradient test stops at the right velocity",
    run: redundant,
};

const DT: f64 = 1e-3;
const G: f64 = 9.81;
const MU: f64 = 0.5;

/// One kilogram at rest on a plane, pushed by `force` [N]; the contact is there `copies` times.
fn particle(force: Vec3, copies: usize) -> ContactProblem {
    samples::pushed_particle(force, DT, copies, 0.0)
}

/// The printed rules with tolerances that resolve one millisecond of one kilogram.
fn printed() -> Settings {
    Settings { stop: Stop::Paper { eps1: 1e-8, eps2: 1e-9 }, ..Settings::paper() }
}

fn cone(_: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let push = Vec3::new(8.0, 3.0, 0.0);
    let exact = push.normalize() * (DT * (push.length() - MU * G));
    for (name, s, angle) in [("printed", printed(), 1.2), ("robust", Settings::robust(), 0.01)] {
        let x = solve(s, &particle(push, 1)).solution;
        let v = Vec3::from_slice(&x.v);
        let l = x.lambda[0];
        let off = v.angle_between(-Vec3::new(l.y, l.z, 0.0)).to_degrees();
        rows.push(
            Row::new(
                format!("{name}/angle"),
                format!("{name}: angle between friction and sliding"),
                off,
                "°",
            )
            .at_most(angle),
        );
        let excess = (l.y.hypot(l.z) / (MU * l.x) - 1.0).abs();
        rows.push(
            Row::new(
                format!("{name}/friction-excess"),
                format!("{name}: friction over μλ, less one"),
                excess,
                "",
            )
            .at_most(1e-4),
        );
        let error = v.distance(exact) / exact.length();
        let row = Row::new(
            format!("{name}/slip-velocity-error"),
            format!("{name}: error of the slipping velocity"),
            error,
            "",
        );
        rows.push(row.against("Δt (|F| − μ m g)/m along F").at_most(if angle > 1.0 { 0.025 } else { 1e-5 }));
        let x = solve(s, &particle(Vec3::new(2.0, 1.0, 0.0), 1)).solution;
        let held = (x.lambda[0] / DT).distance(Vec3::new(G, -2.0, -1.0));
        let row = Row::new(
            format!("{name}/stick-force-error"),
            format!("{name}: error of the sticking force"),
            held,
            "N",
        );
        rows.push(row.against("(mg, −2, −1) N").at_most(1e-2));
    }
    Ok(rows)
}

fn switching(_: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
        let s = Settings { preconditioner, ..Settings::robust() };
        let name = format!("{preconditioner:?}");
        let id = name.to_lowercase();
        let (down, up) = (solve(s, &particle(Vec3::ZERO, 1)), solve(s, &particle(2.0 * G * Vec3::Z, 1)));
        let row = Row::new(
            format!("{id}/active-under-gravity"),
            format!("{name}: active under gravity"),
            down.counts.active as f64,
            "",
        );
        rows.push(row.against("1").accept("1", down.counts.active == 1));
        let row = Row::new(
            format!("{id}/active-when-lifted"),
            format!("{name}: active when lifted"),
            up.counts.active as f64,
            "",
        );
        rows.push(row.against("0").accept("0", up.counts.active == 0 && up.solution.lambda[0] == Vec3::ZERO));
        let off = (up.solution.v[2] - G * DT).abs().max(down.solution.v[2].abs());
        rows.push(
            Row::new(format!("{id}/velocity-error"), format!("{name}: error of both velocities"), off, "m/s")
                .at_most(1e-8),
        );
    }
    Ok(rows)
}

fn redundant(_: &mut Context) -> Result<Vec<Row>> {
    let push = Vec3::new(8.0, 3.0, 0.0);
    let exact = push.normalize() * (DT * (push.length() - MU * G));
    let mut rows = Vec::new();
    for copies in [1, 3, 10] {
        for preconditioner in [Preconditioner::Diag, Preconditioner::Full] {
            let x = solve(Settings { preconditioner, ..Settings::robust() }, &particle(push, copies));
            let off = Vec3::from_slice(&x.solution.v).distance(exact);
            let name = format!("{copies} copies, {preconditioner:?}");
            let id = format!("{copies}-copies/{preconditioner:?}").to_lowercase();
            rows.push(
                Row::new(
                    format!("{id}/velocity-error"),
                    format!("{name}: error of the velocity"),
                    off,
                    "m/s",
                )
                .at_most(1e-7),
            );
            rows.push(Row::new(
                format!("{id}/iterations"),
                format!("{name}: iterations"),
                x.report.iterations as f64,
                "",
            ));
        }
    }
    Ok(rows)
}
