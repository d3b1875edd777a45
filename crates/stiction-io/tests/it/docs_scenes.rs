//! The examples of docs/scenes.md are scenes: each one is read and compiled.

use std::path::Path;
use stiction_io::scene;

/// The arm that the example of a joint holds together.
const ARM: &str = "[[body]]\nname = \"upper arm\"\nmotion = \"fixed\"\nshape = { sphere = { radius = 0.1 } }\n\
                   [[body]]\nname = \"lower arm\"\nshape = { sphere = { radius = 0.1 } }\n";

#[test]
fn every_example_compiles() {
    let text = include_str!("../../../../docs/scenes.md");
    let examples: Vec<&str> =
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(rest)).collect();
    assert!(examples.len() >= 5, "{} examples", examples.len());
    for example in examples {
        let extra = if example.contains("upper arm") { ARM } else { "" };
        let compiled = scene::parse(&format!("{example}\n{extra}"), "docs/scenes.md", Path::new(""), &[])
            .and_then(|s| s.compile());
        if let Err(e) = compiled {
            panic!("{e}\n{example}");
        }
    }
}
