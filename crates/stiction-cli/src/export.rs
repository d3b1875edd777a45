//! `stiction export`: recordings in the formats of other programs.

use crate::damage::judge;
use crate::failure::{Outcome, Result, error};
use crate::output::print;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use stiction_io::recording::Reader;
use stiction_io::{export, page};

/// Arguments of `export`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  stiction export out/recording.stic --to gltf                  an animation for Blender
  stiction export out/recording.stic --to vtu --out fields      for ParaView: open fields/recording.pvd
  stiction export a.stic b.stic --to html --out compare.html    two runs side by side in one page
Of a recording that is cut off or damaged, what is whole is written; the exit code is 1 then.")]
pub struct ExportArgs {
    /// A recording; with `--to html` several, shown side by side
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Format
    #[arg(long, value_name = "FORMAT")]
    to: Format,

    /// File or folder to write; beside the recording by default
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One animated .glb file
    Gltf,
    /// A folder of .obj files, one per frame
    Obj,
    /// A folder of .vtu files with strain, stress and contact forces, and a .pvd file
    Vtu,
    /// One table: time, report, sensors, poses
    Csv,
    /// A page that plays the recordings
    Html,
}

/// Converts recordings.
pub fn export(args: &ExportArgs) -> Result<Outcome> {
    if args.files.len() > 1 && args.to != Format::Html {
        return Err(error("this format holds one recording", "give one file, or use --to html"));
    }
    let mut readers: Vec<Reader> = Vec::new();
    for f in &args.files {
        readers.push(Reader::open(f)?);
    }
    let file = &args.files[0];
    let extension = match args.to {
        Format::Gltf => "glb",
        Format::Obj => "obj-frames",
        Format::Vtu => "vtu-frames",
        Format::Csv => "csv",
        Format::Html => "html",
    };
    let out = args.out.clone().unwrap_or_else(|| file.with_extension(extension));
    let name = file.file_stem().map_or("recording".into(), |s| s.to_string_lossy().into_owned());
    let reader = &mut readers[0];
    let what = match args.to {
        Format::Gltf => format!("{} frames", export::glb(reader, &out)?),
        Format::Obj => format!("{} files", export::obj_sequence(reader, &out)?),
        Format::Vtu => format!("{} files and {name}.pvd", export::vtu_series(reader, &out, &name)?),
        Format::Csv => {
            export::csv(reader, &out)?;
            "one row per frame".into()
        }
        Format::Html => {
            page::write(&out, &args.files)?;
            "open it in a browser".into()
        }
    };
    print(&format!("wrote {}: {what}\n", out.display()))?;
    let mut outcome = Outcome::Good;
    for (file, reader) in args.files.iter().zip(&mut readers) {
        // The page was written without looking at the frames.
        reader.by_ref().for_each(drop);
        if judge(file, reader) != Outcome::Good {
            outcome = Outcome::Unsolved;
        }
    }
    Ok(outcome)
}
