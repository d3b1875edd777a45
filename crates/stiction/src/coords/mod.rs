//! What the numbers in `q` and `v` mean.
//!
//! A [`Layout`] is an ordered list of blocks: rigid bodies (7 numbers in `q`, 6 in `v`), articulations
//! (`nq`, `nv`), then particles (3, 3). A difference of two configurations is a vector of the size of `v`;
//! [`State::retract`](State::retract) and [`State::difference`](State::difference) are the only bridges.

mod anchor;
pub(crate) mod columns;
mod state;

pub use anchor::Anchor;
pub use columns::{Part, add_stiffness};
pub use state::State;

/// A position and an orientation: a point `p` of the frame stands at `rotation · p + translation` in the world.
pub type Pose = parry3d_f64::math::Pose3;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the list that this id counts.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A rigid body of the scene, in scene order: free, fixed and kinematic ones alike.
    BodyId
);
id!(
    /// A particle of the scene, in scene order.
    NodeId
);
id!(
    /// A deformable solid of the scene, in scene order.
    SoftId
);
id!(
    /// A collision shape of the model, in scene order.
    ShapeId
);
id!(
    /// A cloth of the scene, in scene order.
    ClothId
);
id!(
    /// A rod of the scene, in scene order.
    RodId
);
id!(
    /// A spring of the scene, in scene order.
    SpringId
);
id!(
    /// A joint of the scene, in scene order.
    JointId
);
id!(
    /// A sensor of the scene, in scene order.
    SensorId
);

/// What kind of coordinates a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// x (centre of mass) and quaternion w, x, y, z in `q`; velocity and world-frame ω in `v`.
    Rigid,
    /// Joint coordinates of a tree; `nq ≠ nv` where it has free or ball joints.
    Articulation,
    /// One particle: position in `q`, velocity in `v`.
    Node,
}

/// One block of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What the numbers mean.
    pub kind: BlockKind,
    /// First index in `q`.
    pub q: usize,
    /// How many numbers of `q`.
    pub nq: usize,
    /// First index in `v`.
    pub v: usize,
    /// How many numbers of `v`.
    pub nv: usize,
}

/// The ordered list of blocks: free rigid bodies, then articulations, then particles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    blocks: Vec<Block>,
    nq: usize,
    nv: usize,
}

impl Layout {
    /// An empty layout.
    pub fn new() -> Layout {
        Layout::default()
    }

    /// Adds a block and returns its index.
    pub fn push(&mut self, kind: BlockKind) -> usize {
        let (nq, nv) = match kind {
            BlockKind::Rigid => (7, 6),
            BlockKind::Node => (3, 3),
            BlockKind::Articulation => panic!("an articulation needs its sizes: use push_sized"),
        };
        self.push_sized(kind, nq, nv)
    }

    /// Adds a block of `nq` configuration and `nv` velocity numbers and returns its index.
    pub fn push_sized(&mut self, kind: BlockKind, nq: usize, nv: usize) -> usize {
        self.blocks.push(Block { kind, q: self.nq, nq, v: self.nv, nv });
        self.nq += nq;
        self.nv += nv;
        self.blocks.len() - 1
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// How many velocities each block has.
    pub fn widths(&self) -> Vec<u32> {
        self.blocks.iter().map(|b| b.nv as u32).collect()
    }

    /// Size of `q`.
    pub fn nq(&self) -> usize {
        self.nq
    }

    /// Size of `v`.
    pub fn nv(&self) -> usize {
        self.nv
    }
}
