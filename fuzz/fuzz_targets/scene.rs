#![no_main]
//! Scene files, with an override taken from the first line.

use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let (set, rest) = text.split_once('\n').unwrap_or(("", text));
    let set: Vec<(String, String)> =
        set.split_once('=').map(|(k, v)| (k.into(), v.into())).into_iter().collect();
    let _ = stiction_io::scene::parse(rest, "fuzz.toml", Path::new("/nowhere"), &set);
});
