//! Snapshots of runs: all that decides how a run goes on, in one file.
//!
//! The format is described in `docs/recording.md`. A snapshot names the program, the scene and the settings that it was
//! made with, and is refused where one of them differs: only then the run goes on with the same bits.

use crate::error::{Error, Result};
use crate::recording::Paused;
use crate::scene::LoadedScene;
use crate::{read, write};
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::Path;
use stiction::Model;
use stiction::steppers::Memory;

/// First four bytes of a snapshot.
pub const MAGIC: [u8; 4] = *b"STSN";

/// Version of the format.
pub const VERSION: u32 = 1;

/// Most bytes of a snapshot that are read: some hundred for each contact and body of the largest scenes.
const MOST_BYTES: u64 = 1 << 32;

/// Name and version of the program, as snapshots hold them.
const PROGRAM: &str = concat!("stiction ", env!("CARGO_PKG_VERSION"));

/// What a run was made from: fingerprints of its scene and of its settings. Runs of equal origin have equal bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    scene: u64,
    settings: u64,
}

impl Origin {
    /// Of a scene with its time step and settings. How long it runs does not count.
    pub fn of(loaded: &LoadedScene) -> Origin {
        Origin { scene: fingerprint(&loaded.scene), settings: fingerprint(&(loaded.dt, &loaded.settings)) }
    }
}

/// A hash (FNV-1a, 64 bits) of what `Debug` shows, which has every number in full.
fn fingerprint(x: &impl fmt::Debug) -> u64 {
    struct Hash(u64);
    impl fmt::Write for Hash {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for b in text.bytes() {
                self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            Ok(())
        }
    }
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    write!(hash, "{x:?}").expect("hashing cannot fail");
    hash.0
}

/// What a snapshot holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// What decides how the simulation goes on.
    pub memory: Memory,
    /// How far the recording was.
    pub recording: Paused,
    /// What else the writer keeps, such as the lengths of its tables.
    pub notes: Vec<u8>,
}

impl Snapshot {
    /// The bytes of the file.
    pub fn to_bytes(&self, origin: Origin) -> Vec<u8> {
        let mut body = Vec::new();
        part(&mut body, PROGRAM.as_bytes());
        body.extend(origin.scene.to_le_bytes());
        body.extend(origin.settings.to_le_bytes());
        part(&mut body, &self.memory.to_bytes());
        body.extend(self.recording.frames.to_le_bytes());
        part(&mut body, &self.recording.waiting);
        part(&mut body, &self.notes);
        let length = (body.len() as u64).to_le_bytes();
        [&MAGIC[..], &VERSION.to_le_bytes(), &length, &crc32fast::hash(&body).to_le_bytes(), &body].concat()
    }

    /// Writes the file, whole or not at all: a snapshot that was there before stays until the new one is complete.
    pub fn write(&self, path: &Path, origin: Origin) -> Result<()> {
        let bytes = self.to_bytes(origin);
        write::whole_file(path, |file| {
            file.write_all(&bytes)?;
            // What a loss of power leaves must not be a new name with no bytes.
            file.sync_data()
        })
    }

    /// Reads a file. One that is damaged or cut off, or that was made by another program, of another scene or with other
    /// settings, is an error that says so.
    pub fn read(path: &Path, origin: Origin, model: &Model) -> Result<Snapshot> {
        let bytes = read::bytes(path, MOST_BYTES, "no run writes such a snapshot: start the run anew")?;
        Snapshot::parse(&bytes, &path.display().to_string(), origin, model)
    }

    /// The same from bytes; `name` stands in messages.
    pub fn parse(bytes: &[u8], name: &str, origin: Origin, model: &Model) -> Result<Snapshot> {
        const ANEW: &str = "start the run anew, without --resume";
        let error = |problem: &str, remedy: &str| Error::new(name, problem, remedy);
        let cut = || error("is cut off: it ends before its contents do", ANEW);
        let damaged = || error("is damaged: some of its bytes are not what was written", ANEW);
        let mut from = bytes;
        if take(&mut from, 4) != Some(&MAGIC) {
            return Err(error(
                "is not a snapshot",
                "snapshots start with the letters STSN; give the folder of a run",
            ));
        }
        let version = take(&mut from, 4).ok_or_else(cut)?;
        if version != VERSION.to_le_bytes() {
            let version = u32::from_le_bytes(version.try_into().expect("four bytes"));
            let problem = format!("has version {version} of the format; this program reads {VERSION}");
            return Err(error(&problem, "go on with the program that made it, or start the run anew"));
        }
        let length = word(&mut from).ok_or_else(cut)?;
        let sum = take(&mut from, 4).ok_or_else(cut)?;
        if (from.len() as u64) < length {
            return Err(cut());
        }
        if from.len() as u64 != length || crc32fast::hash(from).to_le_bytes() != sum {
            return Err(damaged());
        }
        let program = take_part(&mut from).ok_or_else(damaged)?;
        if program != PROGRAM.as_bytes() {
            let made_by = String::from_utf8_lossy(program);
            let problem = format!("was made by another version: {made_by}, and this is {PROGRAM}");
            return Err(error(&problem, "go on with the version that made it, or start the run anew"));
        }
        let (scene, settings) = (word(&mut from).ok_or_else(damaged)?, word(&mut from).ok_or_else(damaged)?);
        if scene != origin.scene {
            return Err(error(
                "was made by another scene, or the scene or one of its meshes has changed since",
                "give the scene of that run with the same --set, or start the run anew",
            ));
        }
        if settings != origin.settings {
            return Err(error(
                "was made with other settings of the same scene",
                "give the same --dt, --solver, --scheme, --tol and --max-iter as that run, or start the run anew",
            ));
        }
        let memory = take_part(&mut from).ok_or_else(damaged)?;
        let memory = Memory::from_bytes(memory, model).map_err(|e| error(&format!("holds {e}"), ANEW))?;
        let frames = word(&mut from).ok_or_else(damaged)?;
        let waiting = take_part(&mut from).ok_or_else(damaged)?.to_vec();
        let notes = take_part(&mut from).ok_or_else(damaged)?.to_vec();
        if !from.is_empty() {
            return Err(damaged());
        }
        Ok(Snapshot { memory, recording: Paused { frames, waiting }, notes })
    }
}

/// Appends bytes with their length before them.
fn part(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u64).to_le_bytes());
    to.extend(bytes);
}

fn take<'a>(from: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(n)?;
    *from = rest;
    Some(taken)
}

fn word(from: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(from, 8)?.try_into().ok()?))
}

fn take_part<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let n = word(from)?.try_into().ok()?;
    take(from, n)
}
