//! Named materials. Sources and caveats are in `docs/materials.md`.

use super::material::{Law, Material};
use serde::{Deserialize, Serialize};

/// A material by name: typical values to start from, not a data sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Soft vulcanised natural rubber.
    Rubber,
    /// Silicone Ecoflex 00-50 of soft grippers.
    Ecoflex,
    /// Silicone rubber of pneumatic fingers.
    Silicone,
    /// Flexible polyurethane foam.
    Foam,
    /// A ripe tomato.
    Tomato,
    /// Gelatine gel, ballistic 10 %.
    Gelatine,
    /// Structural steel.
    Steel,
    /// Aluminium alloy.
    Aluminium,
    /// Softwood along the grain, as if it were isotropic.
    Wood,
    /// Solid ABS plastic.
    Abs,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 10] = [
        Preset::Rubber,
        Preset::Ecoflex,
        Preset::Silicone,
        Preset::Foam,
        Preset::Tomato,
        Preset::Gelatine,
        Preset::Steel,
        Preset::Aluminium,
        Preset::Wood,
        Preset::Abs,
    ];

    /// Its law and constants. What stretches far is stable neo-Hookean, what is gripped gently or stiff corotated.
    pub fn material(self) -> Material {
        let (law, young, poisson, density) = match self {
            // Typical of unfilled natural rubber: E 1–5 MPa, 910–930 kg/m³; ν 0.4999 in truth, 0.47 to avoid locking.
            Preset::Rubber => (Law::StableNeoHookean, 1.5e6, 0.47, 930.0),
            // COND, soft gripper of Ecoflex 0050: 83 kPa and 0.42 from the literature; density typical of such silicones.
            Preset::Ecoflex => (Law::StableNeoHookean, 83e3, 0.42, 1070.0),
            // NSN 10.1.4.
            Preset::Silicone => (Law::StableNeoHookean, 10e6, 0.47, 1200.0),
            // Typical of cushion foam at small strain: tens of kPa, 20–50 kg/m³; ν 0.3 for open cells (Gibson & Ashby).
            Preset::Foam => (Law::Corotated, 50e3, 0.3, 30.0),
            // NSN 10.1.1.
            Preset::Tomato => (Law::Corotated, 100e3, 0.45, 1000.0),
            // Typical: 10 % ordnance gelatine 50–150 kPa, nearly water.
            Preset::Gelatine => (Law::StableNeoHookean, 100e3, 0.45, 1030.0),
            // EN 1993-1-1, 3.2.6; density EN 1991-1-1.
            Preset::Steel => (Law::Corotated, 210e9, 0.3, 7850.0),
            // EN 1999-1-1, 3.2.5.
            Preset::Aluminium => (Law::Corotated, 70e9, 0.3, 2700.0),
            // EN 338, class C24: mean modulus along the grain and mean density; ν typical.
            Preset::Wood => (Law::Corotated, 11e9, 0.35, 420.0),
            // Typical of data sheets: 2.0–2.6 GPa, 1040–1060 kg/m³.
            Preset::Abs => (Law::Corotated, 2.3e9, 0.35, 1050.0),
        };
        Material { law, young, poisson, density }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_valid_material() {
        for preset in Preset::ALL {
            preset.material().check().unwrap_or_else(|e| panic!("{preset:?}: {e}"));
        }
    }
}
