//! What the help texts and the documentation tell users to type runs: every example line of `--help`, but for a few with a
//! reason, and every command of a block that starts with "```console run".

use crate::common::{Folder, SCENE};
use std::path::Path;

/// Examples that are not run here, each with its reason; at most ten.
const NOT_RUN: &str = "\
stiction view soft-grasp  # not run: serves a page until it is interrupted
stiction view out/recording.stic  # not run: serves a page until it is interrupted
stiction movie out/recording.stic --out grasp.webm  # not run: needs a browser; viewer/test has such films
stiction movie table-pile --plots --out tables.webm  # not run: needs a browser
stiction movie out/recording.stic --by strain --until 2 --speed 0.5 --size 640x400 --out slow.gif  # not run: needs a browser
stiction picture out/recording.stic --time 2 --out grasp.png  # not run: needs a browser; viewer/test has such pictures
stiction picture out/recording.stic --time 2 --by strain --plots --out strain.png  # not run: needs a browser
stiction run my.toml --set gravity=[0,0,-1.62] --dt 0.001 --out moon --resume  # not run: needs a run that was killed; resume.rs has some
";

/// The task of the examples: a throw that ends soon.
const TASK: &str = r#"
scene = "rolling-sphere"
steps = 5
dt = 0.016666666666666666
method = "lbfgs"
evaluations = 3

[objective]
of = "ball"
target = [1.5, 0.0, 0.4]

[[parameter]]
kind = "velocity"
of = "ball"
axis = "x"
start = 1.2
"#;

/// Example lines of a help text, without the remarks beside them.
fn examples(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim).filter(|l| l.starts_with("stiction "));
    lines.map(|l| l.split("  ").next().unwrap_or(l).to_string()).collect()
}

/// Names of the subcommands in a help text.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    lines.filter_map(|l| l.split_whitespace().next().map(String::from)).collect()
}

/// Every example line: of the program, of its commands, and of theirs.
fn all_examples(f: &Folder) -> Vec<String> {
    let help = |words: &[&str]| f.stiction(&[words, &["--help"]].concat()).out();
    let mut all = examples(&help(&[]));
    for command in commands(&help(&[])).iter().filter(|c| *c != "help") {
        let text = help(&[command]);
        all.extend(examples(&text));
        for sub in commands(&text).iter().filter(|c| *c != "help") {
            all.extend(examples(&help(&[command, sub])));
        }
    }
    all.sort();
    all.dedup();
    all
}

/// A folder with the files that examples and blocks name.
fn prepared(name: &str) -> Folder {
    let f = Folder::new(name);
    f.write("my.toml", SCENE);
    f.write("my-task.toml", TASK);
    let corners: String = (0..8).map(|i| format!("v 0.{} 0.{} 0.{}\n", i & 1, i >> 1 & 1, i >> 2)).collect();
    // A cube of 10 cm.
    let faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    f.write("part.obj", corners + faces);
    f.write("bunny.obj", std::fs::read(f.path().join("part.obj")).unwrap());
    let done = |args: &[&str]| {
        let ran = f.stiction(args);
        assert!(ran.code() < 2, "{args:?}: {}", ran.err());
    };
    done(&["run", "my.toml", "--out", "out"]);
    // One sweep leaves a step unsolved, whose problem is written then.
    done(&[
        "run",
        "heavy-stack",
        "--solver",
        "pgs",
        "--max-iter",
        "1",
        "--steps",
        "1",
        "--dump-problem",
        "hard",
    ]);
    done(&["optimize", "my-task.toml", "--out", "results"]);
    done(&["mesh", "tet", "part.obj", "--cell", "0.05", "--out", "part.msh"]);
    let copy = |from: &str, to: &str| std::fs::copy(f.path().join(from), f.path().join(to)).unwrap();
    ["a.stic", "b.stic"].iter().for_each(|to| _ = copy("out/recording.stic", to));
    ["step-00042.npz", "wall.npz"].iter().for_each(|to| _ = copy("hard/step-00001.npz", to));
    f
}

/// Runs a line as it is typed. Quotes and pipes are for shells; examples have none.
fn run(f: &Folder, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(words[0] == "stiction" && !line.contains(['"', '\'', '|', '>', '&']), "{line}");
    let ran = f.stiction(&words[1..]);
    // 1 says that a step was left unsolved, as where an example bounds the iterations.
    assert!(ran.code() < 2, "`{line}` ends with {}: {}", ran.code(), ran.err());
    assert!(!ran.out().is_empty(), "`{line}` says nothing");
}

#[test]
fn every_example_of_the_help_runs() {
    let f = prepared("examples");
    let all = all_examples(&f);
    let left_out: Vec<&str> = NOT_RUN.lines().map(|l| l.split_once("  # not run: ").unwrap().0).collect();
    assert!(left_out.len() <= 10);
    for line in &left_out {
        assert!(all.iter().any(|e| e == line), "`{line}` is no example");
    }
    assert!(all.len() > 25, "{all:?}");
    for line in all.iter().filter(|l| !left_out.contains(&l.as_str())) {
        run(&f, line);
    }
}

#[test]
fn every_marked_block_of_the_documentation_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    pages.extend(std::fs::read_dir(root.join("docs")).unwrap().map(|e| e.unwrap().path()));
    let mut blocks = 0;
    for page in pages.iter().filter(|p| p.extension().is_some_and(|e| e == "md")) {
        let text = std::fs::read_to_string(page).unwrap();
        for block in text.split("```console run\n").skip(1).map(|b| b.split("```").next().unwrap()) {
            blocks += 1;
            let f = prepared(&format!("block-{blocks}"));
            for line in block.lines() {
                let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("{}: {line}", page.display()));
                let command = command.split(" #").next().unwrap();
                run(&f, &command.replacen("cargo run --release --", "stiction", 1));
            }
        }
    }
    assert!(blocks > 0);
}
