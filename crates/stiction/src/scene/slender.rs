//! Springs, rods and sheets as the user describes them.

use super::soft::Attachment;
use crate::coords::Pose;
use crate::elastic::{Action, Section};
use crate::linalg::Vec3;

/// A spring, damper or rope between two points.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringSpec {
    /// Unique name among springs.
    pub name: String,
    /// Its ends.
    pub ends: [SpringEnd; 2],
    /// Stiffness [N/m].
    pub stiffness: f64,
    /// Damping along its line [N·s/m].
    pub damping: f64,
    /// Length at rest [m]; `None`: the distance of its ends at t = 0.
    pub rest_length: Option<f64>,
    /// `PullOnly` makes it a rope.
    pub action: Action,
}

impl SpringSpec {
    /// A spring at rest as it stands, without damping.
    pub fn new(name: impl Into<String>, ends: [SpringEnd; 2], stiffness: f64) -> SpringSpec {
        SpringSpec {
            name: name.into(),
            ends,
            stiffness,
            damping: 0.0,
            rest_length: None,
            action: Action::Both,
        }
    }
}

/// What a spring holds on to.
#[derive(Clone, Debug, PartialEq)]
pub struct SpringEnd {
    /// A body, particle, soft body or sheet; `None`: the world.
    pub on: Option<String>,
    /// The point [m]: in the frame of the body, of the soft body's mesh or of the sheet, or in the world. A particle takes
    /// none.
    pub at: Vec3,
}

impl SpringEnd {
    /// A point of the world.
    pub fn world(at: Vec3) -> SpringEnd {
        SpringEnd { on: None, at }
    }

    /// A point of something that has a name.
    pub fn on(name: impl Into<String>, at: Vec3) -> SpringEnd {
        SpringEnd { on: Some(name.into()), at }
    }
}

/// A rod or cable: a chain of capsules joined by elastic elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Rod {
    /// Unique name; the links are the bodies `name[0]`, `name[1]`, …
    pub name: String,
    /// Corners of its line [m], from start to end.
    pub points: Vec<Vec3>,
    /// Corners are rounded by arcs of this radius [m]; zero leaves them.
    pub corner_radius: f64,
    /// Number of links, of equal length along the line.
    pub segments: usize,
    /// Radius, Young's modulus and Poisson's ratio.
    pub section: Section,
    /// Density [kg/m³].
    pub density: f64,
    /// Damping β: moments and forces β K v [s].
    pub damping: f64,
    /// Shape without load.
    pub rest: RestShape,
    /// What holds the start and the end; `None`: nothing.
    pub ends: [Option<RodHold>; 2],
    /// Friction coefficient.
    pub friction: f64,
    /// Restitution, 0 to 1.
    pub restitution: f64,
    /// True: links that are not near each other along the rod touch.
    pub self_contact: bool,
}

impl Rod {
    /// A free, straight, undamped rod between two points, density 1000 kg/m³, friction 0.5.
    pub fn new(name: impl Into<String>, from: Vec3, to: Vec3, segments: usize, section: Section) -> Rod {
        Rod {
            name: name.into(),
            points: vec![from, to],
            corner_radius: 0.0,
            segments,
            section,
            density: 1000.0,
            damping: 0.0,
            rest: RestShape::Straight,
            ends: [None, None],
            friction: 0.5,
            restitution: 0.0,
            self_contact: false,
        }
    }

    /// Name of a link.
    pub fn link(&self, i: usize) -> String {
        format!("{}[{i}]", self.name)
    }
}

/// Shape of a rod without load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestShape {
    /// A straight line.
    #[default]
    Straight,
    /// As its points draw it.
    AsDrawn,
}

/// What holds an end of a rod.
#[derive(Clone, Debug, PartialEq)]
pub struct RodHold {
    /// A rigid body; `None`: the world.
    pub to: Option<String>,
    /// Whether it may turn.
    pub fixing: Fixing,
}

/// How an end is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fixing {
    /// In place and direction.
    #[default]
    Clamped,
    /// In place; it turns freely.
    Pinned,
}

/// A rectangular sheet of cloth: particles on a grid, joined by springs.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Unique name.
    pub name: String,
    /// Cells along x and y; nodes are numbered along x first.
    pub cells: [usize; 2],
    /// Lengths along x and y [m]; the sheet lies in the plane z = 0 of its frame, about the origin.
    pub size: [f64; 2],
    /// Where the frame stands at t = 0.
    pub pose: Pose,
    /// Initial velocity of all nodes [m/s].
    pub velocity: Vec3,
    /// Mass per area [kg/m²].
    pub area_density: f64,
    /// Force per width and strain along the threads [N/m].
    pub stretch: f64,
    /// Force per length and shear angle [N/m].
    pub shear: f64,
    /// Bending rigidity [N·m]; zero bends freely.
    pub bend: f64,
    /// Damping β: forces β K v [s].
    pub damping: f64,
    /// Radius of the layer about its nodes that touches [m].
    pub thickness: f64,
    /// True: corners and edges of rigid bodies touch its faces. False: only its own nodes touch rigid bodies.
    pub rigid_edges: bool,
    /// Nodes that follow the world or a body.
    pub attachments: Vec<Attachment>,
    /// Friction coefficient.
    pub friction: f64,
    /// Restitution, 0 to 1.
    pub restitution: f64,
    /// True: it touches itself too, where its rest shape keeps parts farther apart than three times the thickness.
    pub self_contact: bool,
}

impl Sheet {
    /// A sheet at rest about the origin: 0.2 kg/m², 1000 N/m, 300 N/m, 1e-4 N·m, friction 0.5, 5 mm thick.
    pub fn new(name: impl Into<String>, cells: [usize; 2], size: [f64; 2]) -> Sheet {
        Sheet {
            name: name.into(),
            cells,
            size,
            pose: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            area_density: 0.2,
            stretch: 1000.0,
            shear: 300.0,
            bend: 1e-4,
            damping: 0.0,
            thickness: 0.005,
            rigid_edges: true,
            attachments: Vec::new(),
            friction: 0.5,
            restitution: 0.0,
            self_contact: false,
        }
    }

    /// Number of nodes along x and y.
    pub fn nodes(&self) -> [usize; 2] {
        self.cells.map(|n| n + 1)
    }

    /// Positions of all nodes in the frame of the sheet [m], along x first.
    pub fn grid(&self) -> Vec<Vec3> {
        let [nx, ny] = self.nodes();
        let at = |i: usize, k: usize| self.size[k] * (i as f64 / self.cells[k] as f64 - 0.5);
        (0..ny).flat_map(|j| (0..nx).map(move |i| Vec3::new(at(i, 0), at(j, 1), 0.0))).collect()
    }
}
