//! Derivatives of motions: of smooth contact (`penalty.rs`) and of exact contact (`exact.rs`), and what smooth contacts do
//! (`contact.rs`), static friction of rigid bodies among them (`stick.rs`).

mod contact;
mod exact;
mod penalty;
mod rollout;
mod stick;

/// Friction of every pair of a system, each once.
fn frictions(system: &stiction::steppers::penalty::System) -> Vec<stiction::model::Param> {
    let mut all = Vec::new();
    for friction in system.sites().pairs.iter().map(|p| p.friction()) {
        if !all.contains(&friction) {
            all.push(friction);
        }
    }
    all
}
