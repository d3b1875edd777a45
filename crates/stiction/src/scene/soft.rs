//! Deformable solids as the user describes them.

use crate::coords::Pose;
use crate::elastic::{Damping, Material};
use crate::linalg::Vec3;
use crate::mesh::{TetMesh, TriMesh};
use crate::model::Inflation;

/// A deformable solid: a tetrahedral mesh with a material.
#[derive(Clone, Debug)]
pub struct SoftBody {
    /// Unique name.
    pub name: String,
    /// The mesh at rest [m], in the frame of the body.
    pub mesh: TetMesh,
    /// Where the mesh stands at t = 0.
    pub pose: Pose,
    /// Initial velocity of all nodes [m/s].
    pub velocity: Vec3,
    /// Initial spin about the centre of mass [rad/s].
    pub spin: Vec3,
    /// What it is made of.
    pub material: Material,
    /// How it loses energy.
    pub damping: Damping,
    /// How mass is spread over the nodes.
    pub mass: MassMatrix,
    /// Nodes that follow the world or a body.
    pub attachments: Vec<Attachment>,
    /// Stiff directions of parts of it, and muscles.
    pub fibres: Vec<FibreLayer>,
    /// Pressures inside parts of it, over time.
    pub inflations: Vec<Inflation>,
    /// Parts with other moduli, such as hollow chambers; later ones win.
    pub fillings: Vec<Filling>,
    /// A surface that is drawn in place of its own: it moves with the mesh and touches nothing.
    pub visual: Option<TriMesh>,
    /// Friction coefficient of its surface.
    pub friction: f64,
    /// Restitution of its surface, 0 to 1.
    pub restitution: f64,
    /// Thickness of the layer about surface nodes that touches [m].
    pub thickness: f64,
    /// False: its surface touches nothing.
    pub collide: bool,
    /// True: its surface touches itself too.
    pub self_contact: bool,
    /// True: corners and edges of rigid bodies touch its faces. False: only its own nodes touch rigid bodies, which is
    /// enough, and faster, where these are large and flat against its elements.
    pub rigid_edges: bool,
}

impl SoftBody {
    /// A body at rest, friction 0.5, not damped, lumped mass.
    pub fn new(name: impl Into<String>, mesh: TetMesh, material: Material) -> SoftBody {
        SoftBody {
            name: name.into(),
            mesh,
            pose: Pose::IDENTITY,
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            material,
            damping: Damping::default(),
            mass: MassMatrix::default(),
            attachments: Vec::new(),
            fibres: Vec::new(),
            inflations: Vec::new(),
            fillings: Vec::new(),
            visual: None,
            friction: 0.5,
            restitution: 0.0,
            thickness: 0.0,
            collide: true,
            self_contact: false,
            rigid_edges: true,
        }
    }

    /// The same body with some nodes held by the world.
    pub fn pinned(mut self, nodes: NodeSelection) -> SoftBody {
        self.attachments.push(Attachment { nodes, to: None });
        self
    }

    /// The same body with some nodes held by a rigid body.
    pub fn attached(mut self, nodes: NodeSelection, body: impl Into<String>) -> SoftBody {
        self.attachments.push(Attachment { nodes, to: Some(body.into()) });
        self
    }
}

/// How the mass of elements is spread over their nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MassMatrix {
    /// A quarter of each tetrahedron to each of its nodes.
    #[default]
    Lumped,
    /// The mass matrix of linear shape functions.
    Consistent,
}

/// Nodes that follow the world (`to` is `None`) or a rigid body, free or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Which nodes.
    pub nodes: NodeSelection,
    /// The body that they follow; `None`: they stay where they are.
    pub to: Option<String>,
}

/// Fibres through all tetrahedra whose middle lies in a box of the rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FibreLayer {
    /// Smallest coordinates [m], in the frame of the mesh.
    pub min: Vec3,
    /// Largest coordinates [m].
    pub max: Vec3,
    /// Direction of the fibres at rest.
    pub direction: Vec3,
    /// What they add to Young's modulus along them [Pa].
    pub stiffness: f64,
    /// What they pull with at rest length [Pa]; negative pushes.
    pub tension: f64,
}

/// Other moduli in all tetrahedra whose middle lies in a box; law and density stay those of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filling {
    /// Smallest coordinates of the box, in the frame of the mesh [m].
    pub min: Vec3,
    /// Largest coordinates of the box [m].
    pub max: Vec3,
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
}

/// Some nodes of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeSelection {
    /// By number, counted from 0.
    Nodes(Vec<u32>),
    /// All whose rest position lies in a box [m], faces included, in the frame of the mesh.
    Box {
        /// Smallest coordinates.
        min: Vec3,
        /// Largest coordinates.
        max: Vec3,
    },
}

impl NodeSelection {
    /// True for the nodes that it selects.
    pub fn holds(&self, node: u32, rest: Vec3) -> bool {
        match self {
            NodeSelection::Nodes(nodes) => nodes.contains(&node),
            NodeSelection::Box { min, max } => rest.cmpge(*min).all() && rest.cmple(*max).all(),
        }
    }
}
