//! Tests of files, scenes and whole runs. One program: it is linked once.

mod any_bytes;
mod common;
mod docs_references;
mod docs_scenes;
mod fresh_stepper;
mod gallery;
mod gallery_runs;
mod gallery_soft;
mod joint_files;
mod judge;
mod problem_files;
mod recording_files;
mod same_bits;
mod scene_errors;
mod scene_errors_soft;
mod scene_files;
mod slender_files;
mod snapshot_files;
mod tet_meshes;
