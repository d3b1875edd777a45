//! stub
use super::Contact;
use crate::coords::State;
use crate::scene::Model;
/// Finds contacts; owns its trees and buffers.
pub struct Collider;
impl Collider {
    /// For one model.
    pub fn new(_model: &Model) -> Collider {
        Collider
    }
    /// All contacts that may act within the next `h` seconds, sorted by key.
    pub fn detect(&mut self, _model: &Model, _state: &State, _h: f64, _contacts: &mut Vec<Contact>) {
        todo!()
    }
}
