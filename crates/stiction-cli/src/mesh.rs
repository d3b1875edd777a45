//! `stiction mesh`: look at a mesh file, mend a surface, fill a surface with tetrahedra.

use crate::failure::{Outcome, Result, error};
use crate::output::{check_target, print};
use crate::table::{Paint, Table, number};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use stiction::mesh::{Survey, TriMesh, quality};
use stiction_io::{mesh, tet_mesh};

/// Arguments of `mesh`.
#[derive(Args)]
pub struct MeshArgs {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Subcommand)]
enum Tool {
    /// Say what is wrong with a mesh: surfaces (.obj, .stl) or tetrahedra (.msh, .vtk, .mesh, .node)
    Check(CheckArgs),
    /// Mend a surface: merge, orient, close small holes, drop what is double, flat or unused
    Fix(FixArgs),
    /// Fill a closed surface with tetrahedra of a lattice, in which it can be embedded
    Tet(TetArgs),
}

/// Arguments of `mesh check`.
#[derive(Args)]
struct CheckArgs {
    /// The mesh
    file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of `mesh fix`.
#[derive(Args)]
struct FixArgs {
    /// The surface (.obj or .stl)
    file: PathBuf,

    /// Where the mended one goes (.obj or .stl)
    out: PathBuf,

    /// Merge vertices nearer than this [m]; 0 merges those at exactly the same place
    #[arg(long, value_name = "M", default_value_t = 0.0)]
    merge: f64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of `mesh tet`.
#[derive(Args)]
#[command(after_help = "\
Example:
  stiction mesh tet bunny.obj --cell 0.01 --out bunny.msh")]
struct TetArgs {
    /// The closed surface (.obj or .stl)
    file: PathBuf,

    /// Edge length of the cells [m]
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    cell: f64,

    /// Where the tetrahedra go (.msh, .vtk or .mesh)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs a tool.
pub fn mesh(args: &MeshArgs) -> Result<Outcome> {
    match &args.tool {
        Tool::Check(a) if is_surface(&a.file) => check_surface(a),
        Tool::Check(a) => check_tets(a),
        Tool::Fix(a) => fix(a),
        Tool::Tet(a) => tet(a),
    }
}

fn is_surface(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("obj") || e.eq_ignore_ascii_case("stl"))
}

/// Clean, or worth a second look.
fn outcome(good: bool) -> Outcome {
    if good { Outcome::Good } else { Outcome::Unsolved }
}

fn check_surface(args: &CheckArgs) -> Result<Outcome> {
    let s = mesh::load(&args.file)?.survey();
    if args.json {
        print(&format!("{}\n", survey_json(&args.file, &s)))?;
        return Ok(outcome(s.is_clean()));
    }
    let paint = Paint::for_stdout();
    let mut text = format!("{}\n{}", paint.bold(&args.file.display().to_string()), survey_table(&s).render());
    text += &match s.is_clean() {
        true => paint.good("nothing to complain about"),
        false => paint.bad(&format!("{}; `stiction mesh fix` mends most of it", complaints(&s).join(", "))),
    };
    print(&(text + "\n"))?;
    Ok(outcome(s.is_clean()))
}

fn survey_json(file: &Path, s: &Survey) -> Value {
    json!({
        "file": file.display().to_string(), "clean": s.is_clean(), "manifold": s.is_manifold(),
        "watertight": s.is_watertight(), "oriented": s.is_oriented(), "solid": s.is_solid(),
        "complaints": complaints(s), "survey": s,
    })
}

fn survey_table(s: &Survey) -> Table {
    let mut table = Table::new();
    let mut row = |a: &str, b: String| table.row([a.to_string(), b]);
    row("size", format!("{} triangles, {} vertices, {} part(s)", s.triangles, s.vertices, s.parts));
    let d = s.bounds[1] - s.bounds[0];
    row("extent", format!("{} × {} × {} m", number(d.x), number(d.y), number(d.z)));
    row("area", format!("{} m²", number(s.area)));
    row("volume", format!("{} m³", number(s.volume)));
    let yes = |x: bool| if x { "yes" } else { "no" }.to_string();
    row("manifold", yes(s.is_manifold()));
    row("watertight", yes(s.is_watertight()));
    row("oriented", yes(s.is_oriented()));
    table
}

/// What is wrong, in words, with the first place where it is.
fn complaints(s: &Survey) -> Vec<String> {
    let mut out = Vec::new();
    let mut add = |n: usize, what: &str, first: Option<String>| {
        if let Some(first) = first {
            out.push(format!("{n} {what} (first: {first})"));
        }
    };
    let edge = |e: &[[u32; 2]]| e.first().map(|[a, b]| format!("{a}–{b}"));
    let one = |k: &[u32]| k.first().map(u32::to_string);
    add(s.open_edges.len(), "open edges", edge(&s.open_edges));
    add(s.crowded_edges.len(), "edges of three triangles or more", edge(&s.crowded_edges));
    add(s.turned_edges.len(), "edges where neighbours disagree", edge(&s.turned_edges));
    add(s.pinched_vertices.len(), "vertices where parts meet in a point", one(&s.pinched_vertices));
    add(s.degenerate.len(), "triangles without area", one(&s.degenerate));
    add(s.duplicate.len(), "duplicate triangles", one(&s.duplicate));
    add(s.repeated_vertices.len(), "vertices at the place of another", one(&s.repeated_vertices));
    add(s.unused_vertices.len(), "unused vertices", one(&s.unused_vertices));
    add(s.intersections.len(), "pairs of triangles cross", edge(&s.intersections));
    if s.more_intersections {
        out.push("the search for crossings was cut short".into());
    }
    if s.is_watertight() && s.is_oriented() && s.volume <= 0.0 {
        out.push("its faces look inwards".into());
    }
    out
}

fn check_tets(args: &CheckArgs) -> Result<Outcome> {
    let file = tet_mesh::load(&args.file)?;
    let m = &file.mesh;
    let mut q: Vec<f64> = (0..m.tets.len()).map(|t| quality(m.corners(t))).collect();
    q.sort_by(f64::total_cmp);
    let mean = q.iter().sum::<f64>() / q.len() as f64;
    let poor = q.partition_point(|q| *q < POOR);
    let surface = stiction::mesh::Surface::of(m);
    let pinched = surface.pinched_edges().len();
    let good = poor == 0 && pinched == 0;
    if args.json {
        let about = json!({
            "file": args.file.display().to_string(), "clean": good, "vertices": m.vertices.len(),
            "tets": m.tets.len(), "volume": m.volume(), "surface_triangles": surface.triangles.len(),
            "pinched_edges": pinched, "mean_edge": m.mean_edge(),
            "quality": { "worst": q[0], "median": q[q.len() / 2], "mean": mean, "poor": poor, "below": POOR },
            "notes": file.notes,
        });
        print(&format!("{about}\n"))?;
        return Ok(outcome(good));
    }
    let paint = Paint::for_stdout();
    let mut table = Table::new();
    let mut row = |a: &str, b: String| table.row([a.to_string(), b]);
    row("size", format!("{} tets, {} vertices", m.tets.len(), m.vertices.len()));
    row("volume", format!("{} m³", number(m.volume())));
    row("surface", format!("{} triangles, {pinched} pinched edges", surface.triangles.len()));
    row("mean edge", format!("{} m", number(m.mean_edge())));
    row(
        "quality",
        format!(
            "worst {}, median {}, mean {} (1: regular)",
            number(q[0]),
            number(q[q.len() / 2]),
            number(mean)
        ),
    );
    for n in &file.notes {
        row("note", n.clone());
    }
    let mut text = format!("{}\n{}", paint.bold(&args.file.display().to_string()), table.render());
    text += &match good {
        true => paint.good("fit for a soft body"),
        false => paint.bad(&format!("{poor} tets of quality below {POOR}, {pinched} pinched edges")),
    };
    print(&(text + "\n"))?;
    Ok(outcome(good))
}

/// Tets below this quality make elasticity stiff and steps costly.
const POOR: f64 = 0.05;

fn fix(args: &FixArgs) -> Result<Outcome> {
    if !(args.merge.is_finite() && args.merge >= 0.0) {
        return Err(error(format!("--merge {} is no distance", args.merge), "give 0 or a small length [m]"));
    }
    if !is_surface(&args.out) {
        let problem = format!("{}: is neither .obj nor .stl", args.out.display());
        return Err(error(problem, "choose a name that ends in .obj or .stl"));
    }
    check_target(&args.out)?;
    let mut m = mesh::load(&args.file)?;
    let before = m.survey();
    let done = m.repair(args.merge);
    refuse_empty(&args.file, &m)?;
    mesh::save(&args.out, &m)?;
    let after = m.survey();
    if args.json {
        let about = json!({
            "file": args.file.display().to_string(), "out": args.out.display().to_string(), "changes": done,
            "before": complaints(&before), "after": complaints(&after), "clean": after.is_clean(),
        });
        print(&format!("{about}\n"))?;
        return Ok(outcome(after.is_clean()));
    }
    let paint = Paint::for_stdout();
    let mut table = Table::new();
    for (what, n) in [
        ("merged vertices", done.merged),
        ("flat triangles dropped", done.degenerate),
        ("duplicates dropped", done.duplicate),
        ("triangles turned", done.turned),
        ("holes closed", done.holes),
        ("unused vertices dropped", done.unused),
    ] {
        table.row([what.to_string(), n.to_string()]);
    }
    let mut text = format!("{}\n{}", paint.bold(&args.out.display().to_string()), table.render());
    text += &match after.is_clean() {
        true => paint.good("nothing is left to complain about"),
        false => paint.bad(&format!("left: {}", complaints(&after).join(", "))),
    };
    print(&(text + "\n"))?;
    Ok(outcome(after.is_clean()))
}

fn refuse_empty(file: &Path, m: &TriMesh) -> Result<()> {
    if m.triangles.is_empty() {
        let problem = format!("{}: no triangle is left once flat ones are dropped", file.display());
        return Err(error(problem, "check the export, or merge by a smaller distance"));
    }
    Ok(())
}

fn tet(args: &TetArgs) -> Result<Outcome> {
    if !args.out.extension().is_some_and(|e| ["msh", "vtk", "mesh"].iter().any(|k| e.eq_ignore_ascii_case(k)))
    {
        let problem = format!("{}: is none of .msh, .vtk and .mesh", args.out.display());
        return Err(error(problem, "choose a name that ends in .msh"));
    }
    check_target(&args.out)?;
    let surface = mesh::load(&args.file)?;
    let cover = surface
        .cover(args.cell)
        .map_err(|e| error(format!("{}: {e}", args.file.display()), "see `stiction mesh check`"))?;
    tet_mesh::save(&args.out, &cover.mesh)?;
    let crossings = surface.survey().intersections.len();
    if args.json {
        let about = json!({
            "file": args.file.display().to_string(), "out": args.out.display().to_string(), "cell": args.cell,
            "vertices": cover.mesh.vertices.len(), "tets": cover.mesh.tets.len(),
            "surface_volume": cover.surface_volume, "cover_volume": cover.cover_volume,
            "density_factor": cover.density_factor(), "crossings": crossings,
        });
        print(&format!("{about}\n"))?;
        return Ok(Outcome::Good);
    }
    let paint = Paint::for_stdout();
    let mut table = Table::new();
    let mut row = |a: &str, b: String| table.row([a.to_string(), b]);
    row("size", format!("{} tets, {} vertices", cover.mesh.tets.len(), cover.mesh.vertices.len()));
    row("volume", format!("{} m³ around {} m³", number(cover.cover_volume), number(cover.surface_volume)));
    let scene = format!("mesh = {{ file = \"{}\", volume = {} }}", args.out.display(), cover.surface_volume);
    row("scene", format!("{scene}\nvisual = \"{}\"", args.file.display()));
    row("mass", "that of what the surface encloses, with the volume above".to_string());
    if crossings > 0 {
        row(
            "note",
            format!("{crossings} pairs of triangles of the surface cross: their volume counts twice"),
        );
    }
    print(&format!("{}\n{}", paint.bold(&args.out.display().to_string()), table.render()))?;
    Ok(Outcome::Good)
}
