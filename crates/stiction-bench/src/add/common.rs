//! What the experiments share: bodies of foam, walls, and searches over throws.

pub use crate::robots::problem::{Problem, defect, ground, system};
use stiction::diff::Objective;
use stiction::diff::optimize::{Bounds, LbfgsSettings, Minimum, lbfgs};
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::TetMesh;
use stiction::scene::SoftBody;
use stiction::{Body, Geometry, Quat};

/// A wall at `x` that faces −x.
pub fn wall(x: f64, mu: f64) -> Body {
    let mut wall = Body::new("wall", Geometry::Plane).at(x, 0.0, 0.0).fixed().with_friction(mu);
    wall.pose.rotation = Quat::from_rotation_y(-std::f64::consts::FRAC_PI_2);
    wall
}

/// A body of foam: logarithmic neo-Hookean, Poisson's ratio 0.3.
pub fn foam(name: &str, mesh: TetMesh, young: f64, density: f64, viscosity: f64, mu: f64) -> SoftBody {
    let law = Law::NeoHookean { threshold: 0.1 };
    let mut body = SoftBody::new(name, mesh, Material { law, young, poisson: 0.3, density });
    body.damping = Damping { viscosity, ..Damping::default() };
    body.friction = mu;
    body
}

/// Depth over which contacts of thrown bodies stiffen [m]: about the way they fall in a step of 1/120 s. With the kink of (16)
/// the height of a rebound goes up and down with the place in a step where contact begins, and searches end in one of these
/// ripples; with the onset the same searches take as many runs as the paper's.
pub const ONSET: f64 = 0.02;

/// Velocities [m/s] and spins [rad/s] of a throw in units that move it alike.
const THROW_UNITS: [f64; 6] = [1.0, 1.0, 1.0, 10.0, 10.0, 10.0];

/// L-BFGS on Φ/`first` over velocity and spin.
pub fn search_throw(
    problem: &mut Problem,
    objective: &dyn Objective,
    x: &[f64],
    first: f64,
    (evaluations, goal): (usize, f64),
) -> Minimum {
    let settings = LbfgsSettings { evaluations, goal, ..LbfgsSettings::default() };
    let to = |x: &[f64]| x.iter().zip(THROW_UNITS).map(|(x, u)| x * u).collect::<Vec<f64>>();
    let inner: Vec<f64> = x.iter().zip(THROW_UNITS).map(|(x, u)| x / u).collect();
    let mut m = lbfgs(&inner, &Bounds::none(6), &settings, |x| {
        let (v, g) = problem.gradient(&to(x), objective);
        (v / first, g.iter().zip(THROW_UNITS).map(|(g, u)| g * u / first).collect())
    });
    m.x = to(&m.x);
    m
}
