#![no_main]
//! OBJ files.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = stiction_io::mesh::parse_obj(bytes, "fuzz.obj");
});
