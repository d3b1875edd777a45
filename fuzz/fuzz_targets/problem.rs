#![no_main]
//! Contact problems as .npz archives.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = stiction_io::problem::parse(bytes.to_vec(), "fuzz.npz");
});
