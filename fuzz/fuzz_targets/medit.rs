#![no_main]
//! Medit files.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = stiction_io::tet_mesh::parse_medit(bytes, "fuzz.mesh");
});
