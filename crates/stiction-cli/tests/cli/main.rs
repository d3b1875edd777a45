//! The built binary, from the outside.

mod bad_input;
mod common;
mod damage;
mod examples;
mod faults;
mod gradients;
mod limits;
mod mesh_tools;
mod recordings;
mod resume;
mod run_scene;
