//! Scene files: TOML in, [`Scene`] out. The format is described in `docs/scenes.md` and by [`schema`].

mod build;
mod build_joint;
mod build_slender;
mod build_soft;
mod file;
mod numbers;
mod one_or_many;
mod overrides;
mod places;
mod repeat;
mod rng;
mod value;

pub use numbers::numbers;

use crate::error::{Error, Result};
use crate::read;
use build::Files;
use overrides::Source;
use serde::Deserialize;
use std::path::Path;
use stiction::{Model, Scene, SimSettings};

/// Largest scene file that is read [bytes].
pub const MOST_BYTES: u64 = 64 << 20;

/// Most items of a scene file: its tables, keys and values, counted by the marks between them. Each takes a few hundred
/// bytes while the file is read, so that the size of the file alone is no bound of memory.
const MOST_ITEMS: usize = 4_000_000;

/// A scene with everything its file says about running it.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// The scene.
    pub scene: Scene,
    /// Time step [s].
    pub dt: f64,
    /// How long to run [s].
    pub duration: f64,
    /// Scheme and solver.
    pub settings: SimSettings,
    /// One line for reports.
    pub title: String,
    places: places::Places,
}

impl LoadedScene {
    /// Compiles the scene; an error points at the item in the file.
    pub fn compile(&self) -> Result<Model> {
        self.scene.compile().map_err(|e| self.places.locate(&e))
    }
}

/// Reads a scene file. Meshes are found relative to it.
///
/// Each override `(path, value)` changes the document first: `("time.dt", "0.001")`,
/// `("bodies.crate.mass", "2")`, `("gravity", "[0, 0, -1.62]")`. The value is TOML, or else a string; items of
/// lists are found by name or by number.
pub fn load(path: &Path, overrides: &[(String, String)]) -> Result<LoadedScene> {
    let text = read::text(path, MOST_BYTES, "move meshes to their own files")?;
    let base = path.parent().unwrap_or(Path::new(""));
    parse(&text, &path.display().to_string(), base, overrides)
}

/// Reads a scene from a text; `source_name` stands in messages, meshes are found relative to `base_dir`.
pub fn parse(
    text: &str,
    source_name: &str,
    base_dir: &Path,
    overrides: &[(String, String)],
) -> Result<LoadedScene> {
    parse_from(text, source_name, Files::Folder(base_dir), overrides)
}

/// Reads a scene from a text and its meshes from memory, so that no file is opened: `mesh` gives the bytes of what the scene
/// names as a file, such as `"ball.obj"`; the ending of the name tells the format. An error of `mesh` is shown at the place in the
/// scene that names the file.
///
/// ```
/// use stiction_io::{Error, scene};
///
/// let text = r#"
///     [[body]]
///     name = "wedge"
///     shape = { mesh = { file = "wedge.obj" } }
/// "#;
/// let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
/// let mesh = |name: &str| match name {
///     "wedge.obj" => Ok(obj.as_bytes().to_vec()),
///     _ => Err(Error::new(name, "is not at hand", "name a mesh that was given")),
/// };
/// let model = scene::parse_with(text, "wedge.toml", &mesh, &[])?.compile()?;
/// assert_eq!(model.bodies.len(), 1);
/// # Ok::<(), Error>(())
/// ```
pub fn parse_with(
    text: &str,
    source_name: &str,
    mesh: &dyn Fn(&str) -> Result<Vec<u8>>,
    overrides: &[(String, String)],
) -> Result<LoadedScene> {
    parse_from(text, source_name, Files::Given(mesh), overrides)
}

fn parse_from(
    text: &str,
    source_name: &str,
    files: Files<'_>,
    overrides: &[(String, String)],
) -> Result<LoadedScene> {
    let source = Source::new(source_name, text, overrides);
    let items = source.text.bytes().filter(|b| b"=,.[{".contains(b)).count();
    if items > MOST_ITEMS {
        let e = format!("holds {items} tables, keys and values; at most {MOST_ITEMS} are read");
        return Err(Error::new(
            source_name,
            e,
            "use `repeat` for copies, and move meshes to their own files",
        ));
    }
    let root = source.document()?;
    let file = file::SceneFile::deserialize(toml::de::Deserializer::from(root))
        .map_err(|e| source.toml_error(&e))?;
    build::Builder::new(&source, files).build(file)
}

/// JSON Schema of the scene format (draft 2020-12).
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(file::SceneFile).to_value()
}
