//! A controller that learns, through the simulator alone, how to throw a ball to a target with one bounce.

use super::problem::defect;
use stiction::coords::BodyId;
use stiction::diff::optimize::AdamSettings;
use stiction::diff::{Motion, Network, Param, ParamSet, PointTarget, Tape};
use stiction::linalg::Rng;
use stiction::scene::Owner;
use stiction::steppers::penalty::{Bdf, ContactDamping, Settings, System};
use stiction::{Body, Geometry, Scene, Vec3};
use stiction_cli::failure::Result;

const BALL: Owner = Owner::Body(BodyId(1));
/// ω h = 0.42 for the ball on its contact: at 1/60 s the rebound would depend on where in a step the ball lands.
pub const STEPS: usize = 168;
const DT: f64 = 1.0 / 240.0;
const BATCH: usize = 5;
/// Targets: x in [1, 2], y in [−0.5, 0.5], at this height after 0.7 s.
const HEIGHT: f64 = 0.5;

/// A ball whose velocity at the start is what a controller says.
pub struct Thrower {
    /// The ball over its floor.
    pub system: System,
    /// Its velocity.
    pub params: ParamSet,
}

impl Thrower {
    /// On a floor with this friction.
    pub fn new(friction: f64) -> Result<Thrower> {
        let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
        scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().with_friction(friction));
        let ball = Body::new("ball", Geometry::Sphere { radius: 0.05 }).at(0.0, 0.0, 0.6).with_mass(0.1);
        scene.bodies.push(ball.with_friction(friction));
        let damping = ContactDamping::HuntCrossley(0.05);
        let settings = Settings { scheme: Bdf::Two, stiffness: 1e3, damping, ..Settings::default() };
        let system = System::new(scene.compile().map_err(defect)?, settings, DT).map_err(defect)?;
        let params =
            ParamSet::new(&system, (0..3).map(|k| Param::Velocity(BALL, k)).collect()).map_err(defect)?;
        Ok(Thrower { system, params })
    }

    /// Where the ball is after a throw, and derivatives of ½ |miss|² by its velocity.
    fn throw(&mut self, velocity: &[f64], target: Vec3) -> Option<(Vec3, Vec<f64>)> {
        self.params.apply(&mut self.system, velocity).ok()?;
        let objective = PointTarget { owner: BALL, step: STEPS, target, weight: Vec3::ONE };
        let mut motion = Motion::run(&mut self.system, &mut self.params, STEPS, Tape::Full).ok()?;
        let end = Vec3::from_slice(&motion.state(STEPS).ok()?.q);
        Some((end, motion.gradient(&objective).ok()?.gradient))
    }
}

/// A throw from inputs of the network (targets in [−1, 1]²) and its outputs: changes of a throw that bounces once.
pub fn velocity(out: &[f64]) -> [f64; 3] {
    [2.3 + out[0], out[1], -2.2 + out[2]]
}

/// The target of inputs of the network.
pub fn target(u: [f64; 2]) -> Vec3 {
    Vec3::new(1.5 + 0.5 * u[0], 0.5 * u[1], HEIGHT)
}

/// Mean and largest miss over targets [m], and the mean vector of all misses.
pub fn test(net: &Network, thrower: &mut Thrower, targets: &[[f64; 2]]) -> (f64, f64, Vec3) {
    let misses: Vec<Vec3> = targets
        .iter()
        .filter_map(|u| Some(thrower.throw(&velocity(&net.forward(u)), target(*u))?.0 - target(*u)))
        .collect();
    let n = misses.len().max(1) as f64;
    let mean = misses.iter().map(|m| m.length()).sum::<f64>() / n;
    (mean, misses.iter().map(|m| m.length()).fold(0.0, f64::max), misses.iter().sum::<Vec3>() / n)
}

/// Layers of the network.
pub const LAYERS: [usize; 4] = [2, 32, 32, 3];

/// A network that learned, and its losses [m²].
pub struct Trained {
    /// The network before the first batch.
    pub untrained: Network,
    /// The network.
    pub net: Network,
    /// Epoch, as a number with its part, and loss of each batch.
    pub losses: Vec<(f64, f64)>,
    /// Mean loss of the last epoch.
    pub last: f64,
}

/// Trains a network on `count` targets per epoch (27): Adam (0.95, 0.999), batches of five, a rate of 1e-2 that halves with each epoch.
pub fn train(
    friction: f64,
    (count, epochs): (usize, usize),
    mut tell: impl FnMut(usize, f64),
) -> Result<Trained> {
    let mut thrower = Thrower::new(friction)?;
    let mut rng = Rng::new(5);
    let mut random = || [2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0];
    let targets: Vec<[f64; 2]> = (0..count).map(|_| random()).collect();
    let mut net = Network::new(&LAYERS, 2);
    let untrained = net.clone();
    let settings = AdamSettings::default();
    let mut rate = 1e-2;
    let (mut losses, mut last) = (Vec::new(), 0.0);
    for epoch in 0..epochs {
        let mut sum = 0.0;
        for (b, batch) in targets.chunks(BATCH).enumerate() {
            let mut gradient = vec![0.0; net.weights.len()];
            let mut loss = 0.0;
            for u in batch {
                let out = net.forward(u);
                let Some((end, by_velocity)) = thrower.throw(&velocity(&out), target(*u)) else { continue };
                loss += 0.5 * (end - target(*u)).length_squared() / batch.len() as f64;
                let by_output: Vec<f64> = by_velocity.iter().map(|g| g / batch.len() as f64).collect();
                net.backward(u, &by_output, &mut gradient);
            }
            net.learn(&settings, rate, &gradient);
            sum += loss;
            losses.push((epoch as f64 + (b * BATCH) as f64 / count as f64, loss));
        }
        last = sum / (count / BATCH) as f64;
        tell(epoch + 1, last);
        rate *= 0.5;
    }
    Ok(Trained { untrained, net, losses, last })
}

/// Targets that no training saw.
pub fn test_targets() -> Vec<[f64; 2]> {
    let mut rng = Rng::new(77);
    (0..100).map(|_| [2.0 * rng.uniform() - 1.0, 2.0 * rng.uniform() - 1.0]).collect()
}
