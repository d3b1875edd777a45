//! What the stories share: a floor under gravity, ways to read a body, and slopes of errors.
#![allow(dead_code)]

use stiction::coords::{BodyId, Pose};
use stiction::linalg::rotation;
use stiction::scene::MassSpec;
use stiction::{Body, Geometry, Quat, Scene, Scheme, SimSettings, Simulation, SolverKind, Vec3};

/// Gravity of all stories [m/s²].
pub const G: f64 = 9.81;

/// Gravity along −z and nothing else.
pub fn empty() -> Scene {
    Scene { gravity: Vec3::new(0.0, 0.0, -G), ..Scene::default() }
}

/// Gravity along −z and a body `floor` at z = 0 with friction `mu`.
pub fn floor(mu: f64) -> Scene {
    let mut scene = empty();
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(mu));
    scene
}

/// Gravity along −z and a body `floor` that goes down towards +x at an angle [rad].
pub fn incline(angle: f64, mu: f64) -> Scene {
    let mut scene = floor(mu);
    scene.bodies[0].pose.rotation = tilt(angle);
    scene
}

/// The turn that lays +x down by an angle [rad].
pub fn tilt(angle: f64) -> Quat {
    rotation::exp(Vec3::Y * angle)
}

/// A cube of 1 kg with half size `half` that stands on the floor at the origin.
pub fn cube(name: &str, half: f64, mu: f64) -> Body {
    Body::new(name, Geometry::Box { half: Vec3::splat(half) })
        .with_mass(1.0)
        .with_friction(mu)
        .at(0.0, 0.0, half)
}

/// The same body laid on a floor that is tilted by `angle`.
pub fn laid_on(mut body: Body, angle: f64) -> Body {
    let turn = tilt(angle);
    body.pose = Pose::from_parts(turn * body.pose.translation, turn * body.pose.rotation);
    body
}

/// A solid ball of 1 kg that touches the floor at the origin.
pub fn ball(name: &str, radius: f64, mu: f64) -> Body {
    let mut b = Body::new(name, Geometry::Sphere { radius }).with_friction(mu).at(0.0, 0.0, radius);
    b.mass = MassSpec::Mass(1.0);
    b
}

/// Two balls of 1 kg that fly at each other along x with 1 m/s, without gravity.
pub fn head_on(mu: f64, e: f64) -> Scene {
    let mut scene = Scene { gravity: Vec3::ZERO, ..empty() };
    let mut push = |mut body: Body, side: f64| {
        body.pose.translation = Vec3::X * (0.12 * side);
        body.velocity = Vec3::X * -side;
        body.shapes[0].restitution = e;
        scene.bodies.push(body);
    };
    push(ball("left", 0.1, mu), -1.0);
    push(ball("right", 0.1, mu), 1.0);
    scene
}

/// A simulation with the default solver.
pub fn start(scene: &Scene, scheme: Scheme) -> Simulation {
    start_with(scene, scheme, SolverKind::Exact)
}

/// A simulation with a solver.
pub fn start_with(scene: &Scene, scheme: Scheme, solver: SolverKind) -> Simulation {
    let model = scene.compile().expect("the scene of the story compiles");
    Simulation::new(model, SimSettings { scheme, solver, ..SimSettings::default() })
}

/// Takes steps of `h`, each of which must be solved.
pub fn run(sim: &mut Simulation, h: f64, steps: usize) {
    for _ in 0..steps {
        let report = sim.step(h).expect("the state stays finite");
        assert!(
            report.status.is_solved(),
            "step {}: {:?}, {:?}",
            report.step,
            report.status,
            report.residuals
        );
    }
}

/// Steps of `h` in `time`.
pub fn steps(time: f64, h: f64) -> usize {
    (time / h).round() as usize
}

/// A body by name.
pub fn id(sim: &Simulation, name: &str) -> BodyId {
    sim.model().names.find(name).expect("the story knows its bodies")
}

/// Position of the centre of mass [m].
pub fn position(sim: &Simulation, name: &str) -> Vec3 {
    sim.body_at(id(sim, name)).centre_of_mass()
}

/// Orientation.
pub fn orientation(sim: &Simulation, name: &str) -> Quat {
    sim.body_at(id(sim, name)).rotation()
}

/// Velocity of the centre of mass [m/s].
pub fn velocity(sim: &Simulation, name: &str) -> Vec3 {
    sim.body_at(id(sim, name)).velocity()
}

/// Angular velocity [rad/s].
pub fn spin(sim: &Simulation, name: &str) -> Vec3 {
    sim.body_at(id(sim, name)).angular_velocity()
}

/// Sum of the contact forces on a body during the last step [N].
pub fn force_on(sim: &Simulation, name: &str) -> Vec3 {
    sim.force(name, None).expect("the story knows its bodies")
}

/// Sum of the contact forces of `by` on `on` during the last step [N].
pub fn force_of(sim: &Simulation, on: &str, by: &str) -> Vec3 {
    sim.force(on, Some(by)).expect("the story knows its bodies")
}

/// Angle by which a body has turned from `from` [rad].
pub fn turned(sim: &Simulation, name: &str, from: Quat) -> f64 {
    rotation::log(orientation(sim, name) * from.conjugate()).length()
}

/// Slope of log(error) against log(h), by least squares.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(h, e)| (h.ln(), e.ln())).collect();
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let cov: f64 = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    cov / logs.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}
