//! How contacts are found, and the coefficients of surfaces.

use crate::linalg::Vec3;

/// How contacts are found and how the coefficients of two surfaces combine.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactSettings {
    /// Contacts are made where the gap is below this [m]. `None`: from the size of the smallest shape and, at
    /// each step, the distance that the pair can close within it.
    pub margin: Option<f64>,
    /// Distance that rigid surfaces keep from each other [m]: gaps are counted from there.
    pub thickness: f64,
    /// Which points of a pair become contacts.
    pub manifold: Manifold,
    /// Penetrations are pushed out at no more than this speed [m/s].
    pub recovery_speed: f64,
    /// Impacts slower than this [m/s] do not rebound.
    pub restitution_threshold: f64,
    /// How two friction coefficients combine.
    pub combine_friction: Combine,
    /// How two restitution coefficients combine.
    pub combine_restitution: Combine,
}

impl Default for ContactSettings {
    fn default() -> Self {
        ContactSettings {
            margin: None,
            thickness: 0.0,
            manifold: Manifold::Full,
            recovery_speed: 1.0,
            restitution_threshold: 0.01,
            combine_friction: Combine::GeometricMean,
            combine_restitution: Combine::Max,
        }
    }
}

/// Which points of a pair of shapes become contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manifold {
    /// All that touch.
    #[default]
    Full,
    /// Of those with one normal, the corners of their convex outline (and the deepest within): the same support with fewer.
    Corners,
}

/// How the coefficients of two touching surfaces make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// √(a·b): one frictionless surface makes the pair frictionless.
    GeometricMean,
    /// (a + b)/2.
    Mean,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

impl Combine {
    /// The coefficient of the pair.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Combine::GeometricMean => (a * b).sqrt(),
            Combine::Mean => 0.5 * (a + b),
            Combine::Min => a.min(b),
            Combine::Max => a.max(b),
        }
    }
}

/// Friction of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurfaceFriction {
    /// The same in all directions.
    Isotropic(f64),
    /// μ₁ along a direction of the surface, μ₂ across it.
    Elliptic {
        /// Coefficient along `direction`.
        mu1: f64,
        /// Coefficient across it.
        mu2: f64,
        /// Direction in the frame of the shape; projected onto the tangent plane of each contact.
        direction: Vec3,
    },
}
