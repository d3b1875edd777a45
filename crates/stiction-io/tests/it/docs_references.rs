//! What the documentation names exists: files in `back quotes`, "`name` in `file`", and tests by their long names.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files of the repository with their text, by path from the root.
fn files(below: &Path, out: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(root().join(below)).unwrap() {
        let path = below.join(entry.unwrap().file_name());
        let name = path.to_string_lossy().into_owned();
        if root().join(&path).is_dir() {
            if !["target", "node_modules"].iter().any(|skip| path.ends_with(skip)) {
                files(&path, out);
            }
        } else if [".rs", ".py", ".sh", ".toml", ".ts", ".md"].iter().any(|end| name.ends_with(end)) {
            out.push((name, fs::read_to_string(root().join(&path)).unwrap()));
        }
    }
}

/// Parts in `back quotes` with what stands between them and the one before, code blocks left out.
fn quoted(page: &str) -> Vec<(&str, &str)> {
    let text = page.split("```").step_by(2);
    text.flat_map(|t| {
        let parts: Vec<&str> = t.split('`').collect();
        (1..parts.len().saturating_sub(1))
            .step_by(2)
            .map(move |i| (parts[i - 1], parts[i]))
            .collect::<Vec<_>>()
    })
    .collect()
}

/// `a/{b,c}.rs` is two files.
fn spread(path: &str) -> Vec<String> {
    match path.split_once('{').and_then(|(a, rest)| Some((a, rest.split_once('}')?))) {
        Some((a, (names, b))) => names.split(',').map(|n| format!("{a}{n}{b}")).collect(),
        None => vec![path.into()],
    }
}

/// Whether a text has a name as a whole word.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(i, _)| !text[..i].ends_with(inside) && !text[i + word.len()..].starts_with(inside))
}

/// What a page names and nobody has.
fn missing(page: &str, all: &[(String, String)]) -> Vec<String> {
    // Pages shorten paths from the left, and leave `src` and `it` out.
    let short =
        |p: &str| format!("/{p}").replace("/src/", "/").replace("/it/", "/").replace("/stiction-", "/");
    let at = |p: &str| -> Vec<&(String, String)> {
        all.iter().filter(|f| short(&f.0).ends_with(&short(p))).collect()
    };
    let is_file =
        |p: &str| !p.contains([' ', '*', '<']) && [".rs", ".py", ".sh"].iter().any(|e| p.ends_with(e));
    let mut out = Vec::new();
    let mut before = "";
    for (between, part) in quoted(page) {
        let name = part.trim_end_matches("()").rsplit(['.', ':']).next().unwrap_or(part);
        if is_file(part) {
            out.extend(spread(part).into_iter().filter(|p| at(p).is_empty()));
            let wanted = before.trim_end_matches("()").rsplit([':', '.']).next().unwrap_or(before);
            let (word, is_start) = wanted.strip_suffix('*').map_or((wanted, false), |w| (w, true));
            let found = spread(part)
                .iter()
                .flat_map(|p| at(p))
                .any(|f| if is_start { f.1.contains(word) } else { has_word(&f.1, word) });
            if between.trim() == "in" && !is_file(before) && !word.contains([' ', '(', '|']) && !found {
                out.push(format!("{before} in {part}"));
            }
        } else if name.matches('_').count() >= 3
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !all.iter().any(|f| f.0.ends_with(".rs") && has_word(&f.1, name))
        {
            out.push(part.into());
        }
        before = part;
    }
    out
}

#[test]
fn what_the_documentation_names_exists() {
    let mut all = Vec::new();
    ["crates", "scripts", "fuzz", "viewer/src", "docs"].iter().for_each(|d| files(Path::new(d), &mut all));
    let mut pages: Vec<String> =
        all.iter().map(|f| f.0.clone()).filter(|f| f.starts_with("docs/") && f.ends_with(".md")).collect();
    pages.extend(["README.md", "CONTRIBUTING.md", "fuzz/README.md"].map(String::from));
    let mut wrong = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(root().join(page)).unwrap();
        wrong.extend(missing(&text, &all).into_iter().map(|m| format!("{page}: `{m}`")));
    }
    assert!(wrong.is_empty(), "these do not exist; correct them:\n{}", wrong.join("\n"));
}

#[test]
fn what_does_not_exist_is_noticed() {
    let all =
        [("crates/stiction/src/contact/law/cone.rs".to_string(), "fn natural_map_of_it() {}".to_string())];
    for right in [
        "`contact/law/cone.rs`, `law/{cone}.rs`, `natural_map_of_it` in `cone.rs`, `natural_*` in `law/cone.rs`",
        "`Cone::natural_map_of_it` in `crates/stiction/src/contact/law/cone.rs`\n```sh\ncat `none.rs`\n```",
    ] {
        assert_eq!(missing(right, &all), [""; 0], "{right}");
    }
    for wrong in [
        "`law/cones.rs`",
        "`law/{cone,row}.rs`",
        "`natural` in `cone.rs`",
        "`Cone::map` in `law/cone.rs`",
        "`a_test_of_it`",
    ] {
        assert_eq!(missing(wrong, &all).len(), 1, "{wrong}");
    }
}
