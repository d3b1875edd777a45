//! COND-F14: a box launched on a floor with elliptic friction, against the ODE of maximal dissipation.

use crate::runs::{GRAVITY, on_floor, simulate, take_steps};
use crate::{Context, Experiment, Row};
use stiction::coords::BodyId;
use stiction::scene::{Combine, SurfaceFriction};
use stiction::{Body, Geometry, SolverKind, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "COND-F14",
    title: "anisotropic friction: a box launched at (1, 1, 0) m/s",
    claim: "COND (Lee et al. 2022), Fig. 14: the path bends where μ₁ ≠ μ₂ and is straight where they are equal",
    run,
};

/// Coefficients along x and y.
const CASES: [(f64, f64); 5] = [(0.3, 0.3), (0.5, 0.3), (0.3, 0.5), (0.6, 0.2), (0.8, 0.1)];

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let dt = ctx.pick(1e-3, 5e-4);
    let mut rows = Vec::new();
    let mut plot = Plot::new("Paths of the box", "x [m]", "y [m]");
    let mut table = Vec::new();
    for (mu1, mu2) in CASES {
        let surface = SurfaceFriction::Elliptic { mu1, mu2, direction: Vec3::X };
        let mut body = Body::new("box", Geometry::Box { half: Vec3::new(0.1, 0.1, 0.02) }).at(0.0, 0.0, 0.02);
        body.velocity = Vec3::new(1.0, 1.0, 0.0);
        // The floor alone decides: μ = max(floor, 0).
        let mut scene = on_floor(0.0, 0.5, [body.with_friction(0.0)]);
        scene.contact.combine_friction = Combine::Max;
        scene.bodies[0].shapes[0].friction = surface;
        let mut sim = simulate(&scene, SolverKind::Exact)?;
        let steps = (1.2 / (mu1.min(mu2) * GRAVITY * dt)).ceil() as usize;
        let reference = ode(mu1, mu2, dt, steps);
        let mut path = vec![(0.0, 0.0)];
        // The floor is the first body.
        take_steps(&mut sim, steps, dt, |s| {
            let x = s.body_at(BodyId(1)).centre_of_mass();
            path.push((x.x, x.y));
        })?;
        let length: f64 = reference.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum();
        let error =
            path.iter().zip(&reference).map(|(a, b)| (a.0 - b.0).hypot(a.1 - b.1)).fold(0.0, f64::max)
                / length;
        let id = format!("mu-{mu1}-{mu2}");
        rows.push(
            Row::new(
                format!("{id}/ode-distance"),
                format!("μ = ({mu1}, {mu2}): distance to the ODE"),
                error,
                "of the path",
            )
            .against("0 (maximal dissipation)")
            .at_most(0.01),
        );
        let bend = path.iter().map(|p| (p.0 - p.1).abs() / 2f64.sqrt()).fold(0.0, f64::max) / length;
        let row = Row::new(
            format!("{id}/bend"),
            format!("μ = ({mu1}, {mu2}): bend of the path"),
            bend,
            "of the path",
        );
        rows.push(if mu1 == mu2 {
            row.against("0 (straight)").at_most(1e-6)
        } else {
            row.against("curved").accept("≥ 0.01 of the path", bend >= 0.01)
        });
        for (k, (a, b)) in path.iter().zip(&reference).enumerate().step_by(10) {
            let cells = [mu1, mu2, k as f64 * dt, a.0, a.1, b.0, b.1];
            table.push(cells.iter().map(|x| csv_number(*x)).collect());
        }
        plot.add(&format!("({mu1}, {mu2})"), Mark::Line, path);
    }
    ctx.csv("paths", &["mu1", "mu2", "t", "x", "y", "x_ode", "y_ode"], &table)?;
    ctx.plot("paths", &plot)?;
    Ok(rows)
}

/// Positions every `dt` under v̇ = −g (μ₁² v₁, μ₂² v₂)/√(μ₁² v₁² + μ₂² v₂²), by fine midpoint steps until it stops.
fn ode(mu1: f64, mu2: f64, dt: f64, steps: usize) -> Vec<(f64, f64)> {
    const FINE: usize = 20;
    let h = dt / FINE as f64;
    let force = |v: [f64; 2]| {
        let size = (mu1 * v[0]).hypot(mu2 * v[1]);
        [-GRAVITY * mu1 * mu1 * v[0] / size, -GRAVITY * mu2 * mu2 * v[1] / size]
    };
    let (mut x, mut v) = ([0.0; 2], [1.0f64; 2]);
    let mut path = vec![(0.0, 0.0)];
    for _ in 0..steps {
        for _ in 0..FINE {
            if v[0].hypot(v[1]) < 2.0 * GRAVITY * mu1.max(mu2) * h {
                v = [0.0, 0.0];
                break;
            }
            let a = force(v);
            let a = force([v[0] + 0.5 * h * a[0], v[1] + 0.5 * h * a[1]]);
            for k in 0..2 {
                x[k] += h * (v[k] + 0.5 * h * a[k]);
                v[k] += h * a[k];
            }
        }
        path.push((x[0], x[1]));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_equal_coefficients_the_ode_stops_at_the_closed_form() {
        let end = *ode(0.3, 0.3, 1e-3, 1000).last().unwrap();
        let closed = 2.0 / (2.0 * 0.3 * GRAVITY);
        assert!((end.0.hypot(end.1) - closed).abs() < 1e-4 * closed && (end.0 - end.1).abs() < 1e-12);
    }
}
