//! What makes a solid impossible, by the number of its element or node.

use thiserror::Error;

/// A solid that cannot be: names the value, element or node, and what to do.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ElasticError {
    /// Young's modulus is not a positive number.
    #[error(
        "Young's modulus {0} Pa: it must be positive and finite (1e5 is soft rubber, 2e11 is steel; did you give MPa?)"
    )]
    Young(f64),
    /// Poisson's ratio outside (−1, ½).
    #[error(
        "Poisson's ratio {0}: it must lie between -1 and 0.5, both excluded; for nearly incompressible matter take 0.45 to 0.49"
    )]
    Poisson(f64),
    /// The density is not a positive number.
    #[error("density {0} kg/m³: it must be positive and finite (1000 is water)")]
    Density(f64),
    /// The threshold of the neo-Hookean law is not between 0 and 1.
    #[error(
        "neo-Hookean threshold {0}: the volume ratio below which the energy is extrapolated must lie between 0 and 1, both excluded; take 0.7 or less"
    )]
    Threshold(f64),
    /// A damping coefficient is negative or not a number.
    #[error("{name} damping {value}: it must be zero or positive and finite")]
    Damping {
        /// Which one.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// A fibre has no direction or a bad stiffness.
    #[error(
        "fibre {fibre}: direction {direction:?} must have a length, stiffness {stiffness} Pa must be zero or positive, tension {tension} Pa a number, and its tet {tet} one of the mesh"
    )]
    Fibre {
        /// Index in the list of fibres.
        fibre: usize,
        /// Its tet.
        tet: u32,
        /// Its direction.
        direction: [f64; 3],
        /// Its stiffness [Pa].
        stiffness: f64,
        /// Its tension [Pa].
        tension: f64,
    },
    /// A rest position is not a number.
    #[error("vertex {0}: its rest position is not finite")]
    Vertex(usize),
    /// A tet refers to a vertex or material that does not exist, or twice to the same.
    #[error(
        "tet {tet}: {what} {index} does not exist or occurs twice; indices start at 0 and there are {count}"
    )]
    Index {
        /// Which tet.
        tet: usize,
        /// "vertex" or "material".
        what: &'static str,
        /// The index.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// The lists of tets and of their materials differ in length.
    #[error("{materials} material indices for {tets} tets: give one per tet")]
    Count {
        /// Number of tets.
        tets: usize,
        /// Number of material indices.
        materials: usize,
    },
    /// A tet is inverted at rest.
    #[error("tet {tet}: negative volume {volume:e} m³ at rest; swap two of its vertices")]
    Inverted {
        /// Which tet.
        tet: usize,
        /// Its signed volume [m³].
        volume: f64,
    },
    /// A tet is flat at rest.
    #[error(
        "tet {tet}: volume {volume:e} m³ at rest is zero for its size; remove it (slivers) or merge its vertices"
    )]
    Flat {
        /// Which tet.
        tet: usize,
        /// Its signed volume [m³].
        volume: f64,
    },
    /// A vertex without a tet has no mass.
    #[error("vertex {0}: belongs to no tet and so has no mass; remove it")]
    Unused(usize),
}
