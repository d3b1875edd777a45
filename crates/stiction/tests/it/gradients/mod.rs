//! Derivatives of motions: of smooth contact (`penalty.rs`) and of exact contact (`exact.rs`), and what smooth contacts do
//! (`contact.rs`), static friction of rigid bodies among them (`stick.rs`).

mod contact;
mod exact;
mod penalty;
mod stick;
