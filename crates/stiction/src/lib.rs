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
//!     let report = sim.step(0.01).unwrap();
//!     assert!(report.status.is_solved() && report.residuals.natural < 1e-8);
//! }
//! let height = sim.state().q[2];
//! assert!((height - 0.1).abs() < 1e-6, "the crate rests on the floor");
//! # Ok::<(), stiction::SceneError>(())
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
//! | looking for… | module |
//! |---|---|
//! | what a user writes, and its compiled form | [`scene`] |
//! | what the numbers in `q` and `v` mean | [`coords`] |
//! | what a solid resists with when it bends | [`elastic`] |
//! | … in the equations of motion | [`dynamics`] |
//! | who touches whom | [`collide`] |
//! | the contact problem and the yardstick | [`contact`] |
//! | meshes of soft bodies | [`mesh`] |
//! | solvers of it | [`solvers`] |
//! | time-stepping schemes | [`integrate`] |
//! | the step, its report, sensors | [`sim`] |
//! | gradients of whole motions | [`diff`] |

pub mod collide;
pub mod contact;
pub mod coords;
pub mod diff;
pub mod dynamics;
pub mod elastic;
pub mod error;
pub mod integrate;
pub mod linalg;
pub mod mesh;
pub mod scene;
pub mod sim;
pub mod solvers;

pub use coords::{Pose, State};
pub use error::{SceneError, StepError};
pub use integrate::Scheme;
pub use linalg::{Mat3, Quat, Vec3};
pub use scene::{Body, Geometry, Model, Scene};
pub use sim::{SimSettings, Simulation, StepReport};
pub use solvers::{SolverKind, SolverSettings, Status};
