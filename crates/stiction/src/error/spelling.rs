//! Suggestions for names that nobody knows.

/// Letters of a name that count; more are cut off.
const LONGEST: usize = 64;
/// Known names that a message lists at most.
const SHOWN: usize = 30;

/// The known name that a misspelt one most likely meant: at most a third of its letters differ.
///
/// ```
/// use stiction::error::spelling::nearest;
///
/// assert_eq!(nearest("fricton", ["friction", "mass"]), Some("friction"));
/// assert_eq!(nearest("colour", ["friction", "mass"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = |k: &str| k.chars().take(LONGEST).count();
    let letters = length(name);
    let limit = (letters / 3).max(1);
    let close = known.into_iter().filter(|k| length(k).abs_diff(letters) <= limit);
    let best = close.map(|k| (edit_distance(name, k), k)).min_by_key(|&(d, _)| d)?;
    (best.0 <= limit).then_some(best.1)
}

/// "did you mean `x`? known KIND: …", shortened where the list is long; `kind` is a plural.
pub fn known_names<'a>(name: &str, kind: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let mut out =
        nearest(name, known.iter().copied()).map_or(String::new(), |k| format!("did you mean `{k}`? "));
    if known.is_empty() {
        out += &format!("there are no {kind}");
        return out;
    }
    out += &format!("known {kind}: ");
    out += &known.iter().take(SHOWN).map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
    if known.len() > SHOWN {
        out += &format!(" and {} more", known.len() - SHOWN);
    }
    out
}

/// Number of letters to insert, delete, replace or swap with their neighbour (Damerau–Levenshtein, restricted).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in d.iter_mut().enumerate() {
        row[0] = i;
    }
    for j in 0..=b.len() {
        d[0][j] = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            d[i][j] = (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
            }
        }
    }
    d[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_misses_are_found_and_strangers_are_not() {
        let keys = ["friction", "restitution", "density", "mass"];
        assert_eq!(nearest("fricton", keys), Some("friction"));
        assert_eq!(nearest("frcition", keys), Some("friction"));
        assert_eq!(nearest("amss", keys), Some("mass"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("", keys), None);
    }

    #[test]
    fn long_lists_are_cut_and_empty_ones_say_so() {
        let many: Vec<String> = (0..32).map(|i| format!("part {i}")).collect();
        let text = known_names("prat 7", "bodies", many.iter().map(String::as_str));
        assert!(text.starts_with("did you mean `part 7`? known bodies: `part 0`, "), "{text}");
        assert!(text.ends_with("`part 29` and 2 more"), "{text}");
        assert_eq!(known_names("x", "rods", []), "there are no rods");
    }
}
