//! A tet mesh together with scratch of its own.

use super::elements::{ElementScratch, Elements, Weights};
use super::material::Material;
use super::{Damping, ElasticError, Fibre, HessianKind};
use crate::linalg::{Mat3, Vec3};

/// [`Elements`] and their [`ElementScratch`], for those who assemble one mesh again and again.
#[derive(Clone, Debug)]
pub struct TetAssembly {
    elements: Elements,
    scratch: ElementScratch,
}

impl TetAssembly {
    /// As [`Elements::new`].
    pub fn new(
        rest: &[Vec3],
        tets: &[[u32; 4]],
        materials: &[Material],
        material_of: &[u32],
        damping: Damping,
    ) -> Result<TetAssembly, ElasticError> {
        let elements = Elements::new(rest, tets, materials, material_of, damping)?;
        Ok(TetAssembly { elements, scratch: ElementScratch::default() })
    }

    /// As [`Elements::with_fibres`].
    pub fn with_fibres(self, fibres: &[Fibre]) -> Result<TetAssembly, ElasticError> {
        Ok(TetAssembly { elements: self.elements.with_fibres(fibres)?, ..self })
    }

    /// The constants.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// Sets the activation pressure of a tet [Pa]; positive swells it.
    pub fn set_pressure(&mut self, tet: usize, pressure: f64) {
        self.scratch.set_pressure(tet, pressure);
    }

    /// As [`Elements::set_tension`].
    pub fn set_tension(&mut self, fibre: usize, tension: f64) {
        self.elements.set_tension(fibre, tension);
    }

    /// As [`Elements::element_at`], with the pressures set.
    pub fn element(&self, tet: usize) -> super::Element<'_> {
        self.elements.element_at(tet, self.scratch.pressures())
    }

    /// As [`Elements::energy`], with the pressures set [J].
    pub fn energy(&self, x: &[Vec3]) -> f64 {
        self.elements.energy(x, self.scratch.pressures())
    }

    /// As [`Elements::forces`], with the pressures set.
    pub fn forces(&mut self, x: &[Vec3], forces: &mut [Vec3]) -> f64 {
        self.elements.forces(x, &mut self.scratch, forces)
    }

    /// As [`Elements::assemble`], with the pressures set.
    pub fn assemble(
        &mut self,
        x: &[Vec3],
        weights: Weights,
        kind: HessianKind,
        forces: &mut [Vec3],
        blocks: &mut [Mat3],
    ) -> f64 {
        self.elements.assemble(x, weights, kind, &mut self.scratch, forces, blocks)
    }
}

/// The constants can be asked directly.
impl std::ops::Deref for TetAssembly {
    type Target = Elements;

    fn deref(&self) -> &Elements {
        &self.elements
    }
}
