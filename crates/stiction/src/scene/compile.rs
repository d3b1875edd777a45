//! Scene → Model: checks, numbering, mass properties.
use super::{Model, Scene};
use crate::error::SceneError;
impl Scene {
    /// Checks the scene and makes its model.
    pub fn compile(&self) -> Result<Model, SceneError> {
        todo!()
    }
}
