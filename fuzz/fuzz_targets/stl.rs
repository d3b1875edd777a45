#![no_main]
//! STL files.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = stiction_io::mesh::parse_stl(bytes, "fuzz.stl");
});
