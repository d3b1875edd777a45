//! A snapshot is read back bit for bit by the run that it is of. Any other program, scene or setting is refused, and the error
//! says what is different and what to do.

use crate::common::Scratch;
use stiction::{Simulation, SolverKind};
use stiction_io::gallery;
use stiction_io::recording::Paused;
use stiction_io::scene::LoadedScene;
use stiction_io::snapshot::{Origin, Snapshot};

fn loaded(set: &[(&str, &str)]) -> LoadedScene {
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    gallery::find("box-on-plane").unwrap().load(&set).unwrap()
}

fn simulate(loaded: &LoadedScene, steps: usize) -> Simulation {
    let mut sim = Simulation::new(loaded.compile().unwrap(), loaded.settings);
    (0..steps).for_each(|_| assert!(sim.step(loaded.dt).is_ok()));
    sim
}

#[test]
fn a_snapshot_goes_through_a_file() {
    let dir = Scratch::new("snapshot");
    let path = dir.file("run.snapshot");
    let loaded = loaded(&[]);
    let mut sim = simulate(&loaded, 5);
    let snapshot = Snapshot { memory: sim.snapshot(), recording: Paused::default(), notes: b"abc".to_vec() };
    snapshot.write(&path, Origin::of(&loaded)).unwrap();
    let back = Snapshot::read(&path, Origin::of(&loaded), sim.model()).unwrap();
    assert_eq!(back, snapshot);
    let mut other = simulate(&loaded, 0);
    other.restore(&back.memory);
    for _ in 0..5 {
        sim.step(loaded.dt).unwrap();
        other.step(loaded.dt).unwrap();
        assert_eq!(sim.snapshot(), other.snapshot());
    }
}

#[test]
fn what_a_run_was_made_from_is_told_apart() {
    let base = loaded(&[]);
    let of = |set: &[(&str, &str)]| Origin::of(&loaded(set));
    assert_eq!(Origin::of(&base), of(&[]));
    assert_eq!(Origin::of(&base), of(&[("time.duration", "77")]), "how long it runs does not count");
    let sim = simulate(&base, 2);
    let bytes = Snapshot { memory: sim.snapshot(), recording: Paused::default(), notes: Vec::new() }
        .to_bytes(Origin::of(&base));
    let error = |bytes: &[u8], origin: Origin| {
        let e = Snapshot::parse(bytes, "run.snapshot", origin, sim.model()).unwrap_err();
        assert!(e.file() == "run.snapshot" && !e.remedy().is_empty());
        e.to_string()
    };
    let mut other = base.clone();
    other.settings.solver = SolverKind::Pgs;
    let mut slower = base.clone();
    slower.dt *= 0.5;
    for settings in [Origin::of(&other), Origin::of(&slower)] {
        assert!(error(&bytes, settings).contains("other settings"));
    }
    assert!(error(&bytes, of(&[("gravity", "[0, 0, -9.81000000000001]")])).contains("another scene"));
    // Magic and versions.
    let with = |at: usize, byte: u8| {
        let mut bad = bytes.clone();
        bad[at] = byte;
        error(&bad, Origin::of(&base))
    };
    assert!(with(0, b'X').contains("is not a snapshot"));
    assert!(with(4, 9).contains("version 9"));
    assert!(with(bytes.len() - 1, 9).contains("is damaged"));
    // A program of another version, with a checksum that is right.
    let mut bad = bytes.clone();
    let at = bad.windows(9).position(|w| w == b"stiction ").unwrap() + 9;
    bad[at] = b'7';
    let sum = crc32fast::hash(&bad[20..]).to_le_bytes();
    bad[16..20].copy_from_slice(&sum);
    assert!(error(&bad, Origin::of(&base)).contains("made by another version: stiction 7"));
}
