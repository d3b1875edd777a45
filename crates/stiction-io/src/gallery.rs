//! Scenes that come with the library, by name.

use crate::error::{Result, known_names};
use crate::{Error, scene};
use std::path::Path;

/// A built-in scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What `run` takes.
    pub name: &'static str,
    /// One line about it.
    pub title: &'static str,
    /// The scene file.
    pub text: &'static str,
}

impl Entry {
    /// The scene, with overrides (see [`scene::load`]).
    pub fn load(&self, overrides: &[(String, String)]) -> Result<scene::LoadedScene> {
        scene::parse(self.text, &format!("{}.toml", self.name), Path::new(""), overrides)
    }

    /// What its file says about it: the comment at the top.
    pub fn description(&self) -> String {
        let lines = self.text.lines().map_while(|l| l.strip_prefix('#')).map(str::trim);
        lines.collect::<Vec<_>>().join(" ")
    }
}

macro_rules! entries {
    ($($name:literal: $title:literal,)*) => {
        /// All built-in scenes, simple ones first.
        pub const ALL: &[Entry] = &[$(Entry {
            name: $name,
            title: $title,
            text: include_str!(concat!("../gallery/", $name, ".toml")),
        }),*];
    };
}

entries! {
    "box-on-plane": "A crate is dropped on a floor",
    "incline": "A box on a slope just below the friction angle",
    "sliding-box": "A box is pushed and slides to a stop",
    "rolling-sphere": "A thrown ball slides, then rolls",
    "bouncing-balls": "Balls of different restitution bounce",
    "free-top": "An asymmetric top in free flight",
    "anisotropic": "A box slides over a grooved floor",
    "conveyor": "A belt and a turntable carry boxes",
    "domino": "A row of dominoes falls",
    "heavy-stack": "Five cubes, each eight times as heavy as the one below",
    "arch": "A 20-block arch stands by its own weight",
    "wall": "5 rows of 5 bricks",
    "wall-10": "10 rows of 10 bricks",
    "table-pile": "Crates fall on a pile of tables",
    "tumbling-mesh": "L-shaped brackets tumble down",
    "terrain": "Cones, balls and crates tumble into a valley of triangles",
    "cantilever": "A soft beam sags under its own weight",
    "extension": "Two materials are pulled to twice their length",
    "soft-block-grip": "Two plates lift a soft block by friction",
    "soft-grasp": "Two fingers lift a soft ball",
    "mat-folding": "A gripper folds a soft mat",
    "soft-gripper": "Two soft fingers lift a box",
    "newtons-cradle-soft": "A soft Newton's cradle",
    "ring-chain": "A chain of soft rings swings down",
    "pendulum-chain": "Eight links swing down from horizontal",
    "crank-slider": "A motor turns a crank that drives a slider",
    "cable-over-cylinder": "A cable of 160 links hangs over a cylinder, three times as long on one side",
    "cable-winding": "A cable is wound around a post",
    "cloth-drop": "A cloth falls over a ball",
    "string-drag": "A cube with two strings",
    "foam-throw": "A ball of foam is thrown",
    "stick-slip": "A spring pulls a block that sticks and slips",
    "redundant-prism": "A flat prism rests on redundant contacts",
    "stretched-sheet": "An elastic sheet is stretched to twice its length",
    "beam-insertion": "A flexible beam is pushed into a slot",
    "pneunet": "A pneumatic gripper lifts a ball",
    "table-heap": "54 tables fall on a heap",
    "pile": "500 random boxes fall into a bin",
    "pile-2000": "2000 random boxes fall into a bin",
}

/// The built-in scene of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|e| e.name == name)
}

/// The error for a name that is neither a file nor a built-in scene.
pub fn unknown(name: &str) -> Error {
    Error::new(
        name,
        "is neither a file nor a built-in scene",
        known_names(name, "scenes", ALL.iter().map(|e| e.name)),
    )
}
