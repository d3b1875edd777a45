//! What steps and solves ask of the allocator. A program of its own, whose allocator counts.

mod counting;
#[path = "../it/elastic/mod.rs"]
mod elastic;
mod elastic_no_allocation;
mod no_allocation;
#[path = "../it/common/scenes.rs"]
mod scenes;
mod soft_no_allocation;
mod weight;
