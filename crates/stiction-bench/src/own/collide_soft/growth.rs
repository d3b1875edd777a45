//! Detection on a rolled-up sheet with self-contact, refined to 70k faces.

use crate::own::soft_blocks::exponent;
use crate::{Context, Experiment, Row};
use stiction::collide::{Collider, Continuous};
use stiction::kinematics::Placement;
use stiction::scene::Sheet;
use stiction::{Model, Scene, State, Vec3};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};
use stiction_cli::svg::{Mark, Plot, Scale};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "collide-surface",
    title: "A rolled sheet of up to 70k faces against itself",
    claim: "every stage of detection grows with an exponent of at most 1.2; 1 and 2 threads find the same",
    run,
};

/// Cells along and across; 2 faces each.
const CELLS: [[usize; 2]; 4] = [[188, 47], [265, 66], [325, 81], [375, 94]];
const DT: f64 = 1e-3;

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let cells = ctx.pick(&CELLS[..2], &CELLS[..]);
    let stages = [
        ("contacts", "contacts"),
        ("lists-anew", "lists made anew"),
        ("lists-kept", "lists kept"),
        ("impacts", "impacts"),
    ];
    let mut curves = vec![Vec::new(); stages.len()];
    let mut rows = Vec::new();
    for &[nx, ny] in cells {
        let faces = 2 * nx * ny;
        let id = format!("{nx}x{ny}");
        ctx.note(&format!("{faces} faces"));
        let (model, state, ahead) = roll([nx, ny])?;
        let found: Vec<Found> =
            [1, 2].into_iter().map(|n| detect(n, &model, &state, &ahead)).collect::<Result<_>>()?;
        let same = found[0].contacts == found[1].contacts && found[0].hits == found[1].hits;
        rows.push(Row::new(
            format!("{id}/contacts"),
            format!("{faces} faces: contacts"),
            found[0].contacts.len() as f64,
            "",
        ));
        let per_face = found[0].candidates as f64 / faces as f64;
        rows.push(Row::new(
            format!("{id}/near-per-face"),
            format!("{faces} faces: near faces per face"),
            per_face,
            "",
        ));
        rows.push(Row::new(
            format!("{id}/impacts"),
            format!("{faces} faces: impacts"),
            found[0].hits.len() as f64,
            "",
        ));
        rows.push(
            Row::new(
                format!("{id}/threads-differ"),
                format!("{faces} faces: 1 and 2 threads differ"),
                f64::from(u8::from(!same)),
                "",
            )
            .at_most(0.0),
        );
        for ((curve, t), (part, stage)) in curves.iter_mut().zip(found[0].seconds).zip(stages) {
            curve.push((faces as f64, t));
            rows.push(Row::new(
                format!("{id}/{part}/time"),
                format!("{faces} faces: {stage}"),
                1e3 * t,
                "ms",
            ));
        }
    }
    let mut plot = Plot::new("Detection on a rolled sheet", "faces", "time [s]");
    (plot.x_scale, plot.y_scale) = (Scale::Log, Scale::Log);
    for (curve, (part, stage)) in curves.iter().zip(stages) {
        rows.push(
            Row::new(
                format!("{part}/exponent"),
                format!("{stage}: exponent of its growth"),
                exponent(curve),
                "",
            )
            .at_most(1.2),
        );
        plot.add(stage, Mark::Line, curve.clone());
    }
    ctx.plot("cost", &plot)?;
    Ok(rows)
}

struct Found {
    contacts: Vec<stiction::collide::Contact>,
    candidates: usize,
    hits: Vec<stiction::collide::Hit>,
    /// Processor time of each stage, the better of three [s].
    seconds: [f64; 4],
}

fn detect(threads: usize, model: &Model, state: &State, ahead: &State) -> Result<Found> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| error(format!("no threads: {e}"), "free some memory"))?;
    Ok(pool.install(|| {
        let (mut collider, mut continuous) = (Collider::new(model), Continuous::new(model));
        let mut f =
            Found { contacts: Vec::new(), candidates: 0, hits: Vec::new(), seconds: [f64::INFINITY; 4] };
        for _ in 0..3 {
            let mut lap = Lap(Stopwatch::start());
            collider.detect(Placement::of(model, state).kinematics(model), DT, &mut f.contacts);
            f.seconds[0] = f.seconds[0].min(lap.take());
            let mut fresh = Continuous::new(model);
            lap.take();
            fresh.find_candidates(Placement::of(model, state).kinematics(model), DT);
            f.seconds[1] = f.seconds[1].min(lap.take());
            continuous.find_candidates(Placement::of(model, state).kinematics(model), DT);
            let kept = lap.take();
            f.seconds[2] = f.seconds[2].min(kept);
            continuous.impacts(
                Placement::of(model, state).kinematics(model),
                Placement::of(model, ahead).kinematics(model),
                &mut f.hits,
            );
            f.seconds[3] = f.seconds[3].min(lap.take());
        }
        f.candidates = continuous.candidates();
        f
    }))
}

struct Lap(Stopwatch);

impl Lap {
    fn take(&mut self) -> f64 {
        let e = self.0.elapsed();
        self.0 = Stopwatch::start();
        e.cpu.unwrap_or(e.wall)
    }
}

/// A sheet of 1 m rolled up in three layers that are half a cell apart, and where a squeeze leads it.
fn roll(cells: [usize; 2]) -> Result<(Model, State, State)> {
    let cell = 1.0 / cells[0] as f64;
    let size = cells.map(|n| n as f64 * cell);
    let sheet = Sheet { thickness: 0.02 * cell, self_contact: true, ..Sheet::new("sheet", cells, size) };
    let scene = Scene { sheets: vec![sheet], ..Scene::default() };
    let model = scene.compile().map_err(|e| error(format!("the experiment's scene: {e}"), "report this"))?;
    let mut state = State::clone(&model.initial);
    // r = pitch φ/2π with the length s = ∫ r dφ nearly.
    let pitch = 0.5 * cell;
    // As many layers at every size.
    let inner = 0.05;
    for n in &model.nodes {
        let x = n.position(&model.initial);
        let s = x.x + 0.5 * size[0];
        let tau = std::f64::consts::TAU;
        let k = pitch / tau;
        let phi = ((inner * inner + 2.0 * k * s).sqrt() - inner) / k;
        let r = inner + k * phi;
        Vec3::new(r * phi.cos(), r * phi.sin(), x.y).write_to_slice(&mut state.q[n.q..n.q + 3]);
    }
    let mut ahead = state.clone();
    for n in &model.nodes {
        let x = n.position(&state);
        // Every second layer goes in and the others out, in waves along the axis: some of them meet.
        let out = Vec3::new(x.x, x.y, 0.0);
        let layer = ((out.length() - inner) / pitch * std::f64::consts::PI).cos();
        let shift = 0.6 * pitch * (40.0 * x.z).sin() * layer * out.normalize_or_zero();
        (x + shift).write_to_slice(&mut ahead.q[n.q..n.q + 3]);
        (shift / DT).write_to_slice(&mut state.v[n.dof..n.dof + 3]);
    }
    Ok((model, state, ahead))
}
