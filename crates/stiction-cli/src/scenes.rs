//! `stiction scenes` and `stiction schema`.

use crate::args::positive;
use crate::failure::{Outcome, Result};
use crate::output::print;
use crate::table::Table;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use stiction_io::{gallery, scene};

mod html;

/// Arguments of `scenes`.
#[derive(Args)]
pub struct ScenesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print the scene file of this built-in scene, as a start for your own
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    show: Option<String>,

    /// Run every scene and write a page with a picture, description, command and residuals of each
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "show"])]
    html: Option<PathBuf>,

    /// With --html: longest time that a scene may take [s]
    #[arg(long, value_name = "S", value_parser = positive, default_value_t = 10.0, requires = "html")]
    limit: f64,
}

/// Lists the gallery.
pub fn scenes(args: &ScenesArgs) -> Result<Outcome> {
    if let Some(dir) = &args.html {
        return html::write(dir, args.limit);
    }
    if let Some(name) = &args.show {
        let entry = gallery::find(name).ok_or_else(|| gallery::unknown(name))?;
        return print(entry.text);
    }
    if args.json {
        let list: Vec<_> = gallery::ALL.iter().map(|e| json!({"name": e.name, "title": e.title})).collect();
        return print(&format!("{}\n", json!({ "scenes": list })));
    }
    let mut table = Table::new();
    for e in gallery::ALL {
        table.row([e.name, e.title]);
    }
    print(&table.render())
}

/// Prints the schema of scene files.
pub fn schema() -> Result<Outcome> {
    print(&format!("{:#}\n", scene::schema()))
}
