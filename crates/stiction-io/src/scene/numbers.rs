//! The numbers of a scene file that an override can change, for whoever offers them for editing.

use toml::{Table, Value};

/// Deeper numbers are details that nobody turns while watching.
const DEEPEST: usize = 4;

/// Keys and values, as [`load`](super::load) takes them as overrides, in the order of the file; empty for a text that is
/// no TOML. Items are named by their `name`; those without one, or with an odd one, are left out.
pub fn numbers(text: &str) -> Vec<(String, f64)> {
    let mut out = Vec::new();
    if let Ok(table) = text.parse::<Table>() {
        collect(&table, "", 1, &mut out);
    }
    out
}

fn collect(table: &Table, path: &str, depth: usize, out: &mut Vec<(String, f64)>) {
    let plain =
        |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    for (key, value) in table.iter().filter(|(k, _)| plain(k)) {
        let here = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Float(x) => out.push((here, *x)),
            Value::Integer(i) => out.push((here, *i as f64)),
            Value::Table(t) if depth < DEEPEST => collect(t, &here, depth + 1, out),
            Value::Array(items) if depth < DEEPEST => {
                for item in items.iter().filter_map(Value::as_table) {
                    if let Some(name) = item.get("name").and_then(Value::as_str).filter(|n| plain(n)) {
                        collect(item, &format!("{here}.{name}"), depth + 2, out);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_can_be_set() {
        for e in crate::gallery::ALL {
            for (key, value) in numbers(e.text) {
                let set = [(key.clone(), format!("{value:?}"))];
                // Whole numbers of cells and counts are no floats.
                let whole = [(key.clone(), format!("{value}"))];
                assert!(e.load(&set).is_ok() || e.load(&whole).is_ok(), "{}: {key}", e.name);
            }
        }
        let all = numbers(crate::gallery::find("soft-grasp").unwrap().text);
        assert!(all.contains(&("soft.ball.material.young".into(), 1e6)), "{all:?}");
        assert!(numbers("= no toml").is_empty());
    }
}
