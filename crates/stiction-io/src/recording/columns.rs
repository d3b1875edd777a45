//! The numbers of a frame: what the report of the step says, then every sensor.

use stiction::Simulation;
use stiction::scene::Model;

/// Columns of every recording, before those of the sensors.
pub const COLUMNS: [&str; 16] = [
    "step",
    "contacts",
    "islands",
    "iterations",
    "solved",
    "natural",
    "momentum",
    "penetration",
    "cone",
    "misalignment",
    "kinetic",
    "potential",
    "elastic",
    "wall",
    "normal_force",
    "friction_force",
];

/// Names of all columns: [`COLUMNS`], then `sensor.component`.
pub fn column_names(model: &Model) -> Vec<String> {
    let sensors =
        model.sensors.iter().flat_map(|s| s.columns().iter().map(move |c| format!("{}.{c}", s.name)));
    COLUMNS.iter().map(|c| c.to_string()).chain(sensors).collect()
}

/// Values of all columns now. Before the first step the report is empty.
pub fn column_values(sim: &Simulation, out: &mut Vec<f64>) {
    let r = sim.report();
    let energy = sim.energy();
    out.clear();
    out.extend([
        r.step as f64,
        r.contacts as f64,
        r.islands as f64,
        r.iterations as f64,
        f64::from(u8::from(r.status.is_solved())),
        r.residuals.natural,
        r.residuals.momentum,
        r.residuals.penetration,
        r.residuals.cone,
        r.residuals.misalignment,
        energy.kinetic,
        energy.potential,
        energy.elastic,
        r.times.total(),
    ]);
    out.extend(contact_forces(sim));
    for i in 0..sim.model().sensors.len() {
        sim.read_sensor(i, out);
    }
}

/// Sums over the contacts of the sizes of their normal forces and of their friction forces [N].
fn contact_forces(sim: &Simulation) -> [f64; 2] {
    sim.contacts().fold([0.0; 2], |[normal, friction], (c, force)| {
        let along = force.dot(c.normal());
        [normal + along.abs(), friction + (force - along * c.normal()).length()]
    })
}
