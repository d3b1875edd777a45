//! Every example in a help text can be typed: its flags exist, and so does what it names.

use crate::{Cli, Command, optimize};
use clap::{CommandFactory, Parser};
use std::path::Path;
use stiction_io::gallery;

/// Lines of the help texts that start with `stiction`, without what is said beside them.
fn examples() -> Vec<String> {
    fn collect(c: &clap::Command, out: &mut Vec<String>) {
        let help = c.get_after_help().map(ToString::to_string).unwrap_or_default();
        let lines = help.lines().map(str::trim).filter(|l| l.starts_with("stiction "));
        out.extend(lines.map(|l| l.split("  ").next().unwrap_or(l).to_string()));
        c.get_subcommands().for_each(|s| collect(s, out));
    }
    let mut out = Vec::new();
    collect(&Cli::command(), &mut out);
    out
}

fn ends_in(file: &str, endings: &[&str]) -> bool {
    Path::new(file).extension().is_some_and(|e| endings.iter().any(|k| e == *k))
}

#[test]
fn every_example_of_the_help_can_be_typed() {
    let all = examples();
    assert!(all.len() > 25, "{}", all.len());
    for line in all {
        let words: Vec<&str> = line.split_whitespace().collect();
        let cli = Cli::try_parse_from(&words).unwrap_or_else(|e| panic!("{line}: {e}"));
        let first = words.iter().skip(2).find(|w| !w.starts_with('-')).copied().unwrap_or_default();
        let is_scene = gallery::find(first).is_some() || ends_in(first, &["toml"]);
        let good = match cli.command {
            Command::Run(_) | Command::Check(_) | Command::Grad(_) | Command::Testspeed(_) => is_scene,
            Command::View(_) | Command::Movie(_) => is_scene || ends_in(first, &["stic"]),
            Command::Info(_) | Command::Export(_) | Command::Picture(_) => ends_in(first, &["stic"]),
            Command::Solve(_) => ends_in(first, &["npz"]),
            Command::Optimize(_) => optimize::is_task(first) || ends_in(first, &["toml"]),
            Command::Mesh(_) => ends_in(words[3], &["obj", "stl", "msh", "vtk", "mesh", "node"]),
            Command::Scenes(_) | Command::Schema => true,
            Command::Bench(_) => false,
        };
        assert!(good, "{line}: `{first}` does not exist, or is no file of this kind");
        let after = |flag: &str| words.iter().position(|w| *w == flag).map(|i| words[i + 1]);
        let with_file =
            [("--contacts", &["csv", "json"][..]), ("--trace", &["csv"]), ("--resume", &["json"])];
        // `run --resume` takes no file.
        let has_file = |flag: &str| flag != "--resume" || words[1] == "optimize";
        for (flag, endings) in with_file.into_iter().filter(|(flag, _)| has_file(flag)) {
            assert!(after(flag).is_none_or(|f| ends_in(f, endings)), "{line}: {flag}");
        }
        let out = after("--out");
        let endings: &[&str] = match words[1] {
            "movie" => &["webm", "gif"],
            "picture" => &["png"],
            "solve" => &["npz"],
            "mesh" => &["msh", "vtk", "mesh"],
            _ => continue,
        };
        assert!(out.is_none_or(|f| ends_in(f, endings)), "{line}: --out");
    }
}
