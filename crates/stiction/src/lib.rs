//! Rigid and soft bodies in exact frictional contact.
//!
//! ```
//! use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
//!
//! let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
//! scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
//! scene.bodies.push(Body::new("crate", Geometry::Box { half: Vec3::splat(0.1) }).at(0.0, 0.0, 0.3));
//! let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
//! for _ in 0..100 {
//!     let report = sim.step(0.01)?;
//!     assert!(report.status.is_solved() && report.residuals.natural < 1e-8);
//! }
//! let height = sim.body("crate")?.position().z;
//! assert!((height - 0.1).abs() < 1e-6, "the crate rests on the floor");
//! let (weight, carried) = (9.81 * sim.body("crate")?.mass(), sim.force("crate", Some("floor"))?.z);
//! assert!((carried - weight).abs() < 1e-6 * weight, "the floor carries it");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A soft block under a plate that the block carries:
//!
//! ```
//! use stiction::elastic::Preset;
//! use stiction::mesh::shapes;
//! use stiction::scene::SoftBody;
//! use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
//!
//! let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
//! scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
//! scene.bodies.push(Body::new("plate", Geometry::Box { half: Vec3::new(0.1, 0.1, 0.01) }).at(0.0, 0.0, 0.11));
//! scene.solids.push(SoftBody::new("block", shapes::block([2, 2, 2], Vec3::splat(0.1)), Preset::Rubber.material()));
//! let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
//! for _ in 0..20 {
//!     assert!(sim.step(0.01).unwrap().status.is_solved());
//! }
//! assert!(sim.energy().elastic > 0.0, "the block is compressed");
//! # Ok::<(), stiction::SceneError>(())
//! ```
//!
//! # Read a simulation
//!
//! Everything that a scene names is read by its name. Lengths are in metres, forces in newtons, axes are those of the world; poses and
//! velocities are those of the present state, forces those of the last step.
//!
//! | to read… | write |
//! |---|---|
//! | a rigid body: pose, centre of mass, velocities, mass, contact force | [`sim.body("crate")?`](Simulation::body) |
//! | a joint: position, rate, force, moment | [`sim.joint("elbow")?`](Simulation::joint) |
//! | a soft body or cloth: vertices, centre of mass, velocity | [`sim.soft("egg")?`](Simulation::soft) |
//! | a rod by its links; a spring; a particle | [`sim.rod("rope")?`](Simulation::rod), [`spring`](Simulation::spring), [`particle`](Simulation::particle) |
//! | the contact force on the first by the second, or by anything | [`sim.force("egg", Some("finger"))?`](Simulation::force), [`sim.force("egg", None)?`](Simulation::force) |
//! | each contact of something | [`sim.contacts_of("egg")?`](Simulation::contacts_of) |
//! | a sensor of the scene | [`sim.sensor("grip")?.value("fz")?`](Simulation::sensor) |
//! | how exact the last step is | [`sim.report()`](Simulation::report) |
//!
//! A wrong name is a [`NameError`] with the nearest known one. Views borrow the simulation, so they end before the next step; keep names, or ids
//! from [`Model::names`](model::Names), across steps.
//!
//! # Modules
//!
//! | looking for… | module |
//! |---|---|
//! | what a user writes | [`scene`] |
//! | what the numbers in `q` and `v` mean | [`coords`] |
//! | what a solid resists with when it bends | [`elastic`] |
//! | … in the equations of motion | [`dynamics`] |
//! | who touches whom | [`collide`] |
//! | the contact problem and the yardstick | [`contact`] |
//! | its compiled form | [`model`] |
//! | meshes of soft bodies | [`mesh`] |
//! | solvers of it | [`solvers`], those of papers [`papers`] |
//! | all methods by name | [`methods`] |
//! | time-stepping schemes | [`integrate`] |
//! | ways to take a step, and its record | [`steppers`] |
//! | a running simulation, what to read from it by name | [`sim`] |
//! | gradients of whole motions | [`diff`] |

mod clock;
pub mod collide;
pub mod contact;
pub mod coords;
pub mod diff;
pub mod dynamics;
pub mod elastic;
pub mod error;
pub mod integrate;
pub mod kinematics;
pub mod linalg;
pub mod mesh;
pub mod methods;
pub mod model;
mod mutant;
pub mod papers;
pub mod scene;
pub mod sim;
pub mod solvers;
pub mod steppers;

pub use crate::methods::SimSettings;
pub use crate::methods::SolverKind;
pub use crate::model::Model;
pub use crate::steppers::StepReport;
pub use coords::{Pose, State};
pub use error::{NameError, SceneError, StepError};
pub use integrate::Scheme;
pub use linalg::{Mat3, Quat, Vec3};
pub use scene::{Body, Geometry, Scene};
pub use sim::{Batch, Simulation};
pub use solvers::{SolverSettings, Status};
