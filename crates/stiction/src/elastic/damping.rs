//! Internal damping of a solid.

use super::ElasticError;

/// Damping of a solid.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Damping {
    /// Rayleigh's α: force −α M v [1/s]. It acts on the mass, so it is the caller's to add.
    pub mass: f64,
    /// Rayleigh's β: force −β K v [s].
    pub stiffness: f64,
    /// Viscosity η of Green's strain rate [Pa·s].
    pub viscosity: f64,
}

impl Damping {
    /// Checks the coefficients; the error names the bad one.
    pub fn check(&self) -> Result<(), ElasticError> {
        for (name, value) in
            [("mass", self.mass), ("stiffness", self.stiffness), ("viscosity", self.viscosity)]
        {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ElasticError::Damping { name, value });
            }
        }
        Ok(())
    }
}
