#![no_main]
//! Snapshots of runs: the file, and the memory within it, which no checksum protects here.

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use stiction::steppers::Memory;
use stiction_io::scene::LoadedScene;
use stiction_io::snapshot::{Origin, Snapshot};

static SCENE: LazyLock<(LoadedScene, stiction::Model)> = LazyLock::new(|| {
    let loaded = stiction_io::gallery::find("heavy-stack").unwrap().load(&[]).unwrap();
    let model = loaded.compile().unwrap();
    (loaded, model)
});

fuzz_target!(|bytes: &[u8]| {
    let (loaded, model) = &*SCENE;
    let _ = Snapshot::parse(bytes, "fuzz.snapshot", Origin::of(loaded), model);
    if let Ok(memory) = Memory::from_bytes(bytes, model) {
        assert!(memory.to_bytes() == bytes);
    }
});
