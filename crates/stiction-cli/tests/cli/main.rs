//! The built binary, from the outside.

mod bad_input;
mod bench_harness;
mod common;
mod gradients;
mod mesh_tools;
mod recordings;
mod run_scene;
