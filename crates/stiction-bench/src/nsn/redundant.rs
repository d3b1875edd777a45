//! NSN-redundant: a box on four redundant contacts slides slowly, with the published and the bounded friction scaling.

use super::steps::{H, Steps, paper, stepping};
use crate::runs::{GRAVITY, on_floor};
use crate::{Context, Experiment, Row};
use stiction::papers::nsn::solve::{ConeGuard, Derivative, LinearMethod, NewtonSettings, Start};
use stiction::{Body, Geometry, Vec3};
use stiction_cli::failure::Result;
use stiction_cli::output::csv_number;
use stiction_cli::svg::{Mark, Plot};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "NSN-redundant",
    title: "slow sliding on redundant contacts: more iterations must not change the physics",
    claim: "closed form: at 1.2 times the friction angle the box slides 0.129 m in 60 steps",
    run,
};

const MU: f64 = 0.5;
const STEPS: usize = 60;
const PUBLISHED: &str = "published";
const BOUNDED: &str = "bounded";

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut table = Vec::new();
    let mut plot = Plot::new("A box slides on redundant contacts", "t [s]", "x [m]");
    for factor in [1.2, 1.05] {
        let angle = factor * MU.atan();
        let steps = STEPS as f64;
        let closed = GRAVITY * (angle.sin() - MU * angle.cos()) * H * H * 0.5 * steps * (steps + 1.0);
        for n in [6, 20, 60] {
            let guarded = NewtonSettings {
                friction_bound: 0.5,
                derivative: Derivative::Divided,
                start: Start::Warm,
                ..paper(n, LinearMethod::Llt, 0)
            };
            let unbounded = NewtonSettings { friction_bound: f64::INFINITY, ..guarded };
            let published = paper(n, LinearMethod::Llt, 0);
            // As an earlier prototype had it.
            let pole =
                NewtonSettings { derivative: Derivative::Divided, cone_guard: ConeGuard::Pole, ..published };
            let cases = [
                ("published", PUBLISHED, published),
                ("published-divided-pole", "published, rows divided by α, W guarded at its pole alone", pole),
                ("published-divided-warm", "published, rows divided by α, warm", unbounded),
                ("bounded", BOUNDED, guarded),
            ];
            for (part, name, settings) in cases {
                let Slide { x, track, missed } = slide(angle, settings)?;
                let off = (x / closed - 1.0).abs();
                table.push(vec![
                    csv_number(factor),
                    n.to_string(),
                    name.into(),
                    csv_number(x),
                    csv_number(closed),
                    missed.to_string(),
                ]);
                let id = format!("angle-{factor}/n-{n}/{part}/distance");
                let row = Row::new(id, format!("{name}, {factor}×, N = {n}: distance"), x, "m")
                    .against(format!("{closed:.4} m (closed form)"));
                let row = match name {
                    BOUNDED if factor == 1.2 || n > 6 => row.accept("within 1 %", off <= 0.01),
                    PUBLISHED if factor == 1.05 && n > 6 => {
                        row.accept("off by more than 10 %: the published form fails here", off > 0.1)
                    }
                    _ => row,
                };
                rows.push(match off > 0.01 {
                    true if n == 6 => row.because(format!(
                        "six iterations leave {missed} of {STEPS} steps above 1e-3 of the velocity scale"
                    )),
                    true => row.because(format!(
                        "W is held while differentiating: where it slides slowly, r/W is large and errors in null modes \
                         grow by 1 − t (1 + r/W) each iteration; {missed} of {STEPS} steps end above 1e-3"
                    )),
                    false => row,
                });
                if factor == 1.2 {
                    plot.add(&format!("{name}, N = {n}"), Mark::Line, track);
                }
            }
        }
    }
    let what = "1.2×, W guarded at its pole alone";
    rows.push(Row::remark("angle-1.2/prototype", what, "not as a prototype had it").because(
        "that slid 0.133, 0.124 and 0.000 m with 6, 20 and 60 iterations; why its last differs from ours is not known. Taking \
         λ_f to the cone before W is evaluated, as the other rows do, is enough at 1.2×, not at 1.05×",
    ));
    ctx.csv(
        "distance",
        &["angle_factor", "newton", "scaling", "distance_m", "closed_m", "missed_steps"],
        &table,
    )?;
    ctx.plot("distance", &plot)?;
    Ok(rows)
}

/// What a slide of [`STEPS`] steps did.
struct Slide {
    /// Distance [m].
    x: f64,
    track: Vec<(f64, f64)>,
    /// Steps not solved to 1e-3 of the velocity scale.
    missed: usize,
}

fn slide(angle: f64, settings: NewtonSettings) -> Result<Slide> {
    let block = Body::new("block", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.1).with_mass(0.5);
    let mut sim = Steps::new(&on_floor(angle, MU, [block]), stepping(settings))?;
    let (mut track, mut missed) = (Vec::new(), 0);
    for _ in 0..STEPS {
        missed += usize::from(sim.step(H)?.error > 1e-3);
        track.push((sim.state.t, sim.position(0).x));
    }
    Ok(Slide { x: sim.position(0).x, track, missed })
}
