#![no_main]
//! TetGen's two files, with a zero byte between them.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let middle = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (nodes, tets) = bytes.split_at(middle);
    let _ = stiction_io::tet_mesh::parse_tetgen(nodes, tets.get(1..).unwrap_or(&[]), ["fuzz.node", "fuzz.ele"]);
});
