#![no_main]
//! Recordings, to their end.

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reader) = stiction_io::recording::Reader::new(bytes, "fuzz.stic") {
        reader.for_each(drop);
    }
});
