//! Derivatives of motions: of smooth contact (`penalty.rs`) and of exact contact (`exact.rs`).

mod exact;
mod penalty;
