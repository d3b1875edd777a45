#![no_main]
//! Gmsh files of both versions, ASCII and binary.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = stiction_io::tet_mesh::parse_gmsh(bytes, "fuzz.msh");
});
