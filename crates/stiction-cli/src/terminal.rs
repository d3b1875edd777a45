//! Text for a terminal: names and titles come from files, and must not steer it.

use std::borrow::Cow;

/// What becomes of sequences that choose colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// They stay.
    Kept,
    /// They go like all others.
    Removed,
}

/// The text with every control character but the line end replaced by �: none can move the cursor, set the title of the
/// window or clear the screen.
pub fn clean(text: &str, colours: Colours) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control() && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match colour(rest) {
            Some(n) if colours == Colours::Kept => {
                out.push_str(&rest[..n]);
                n
            }
            _ => {
                out.push(if c.is_control() && c != '\n' { '\u{fffd}' } else { c });
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    Cow::Owned(out)
}

/// Length of the colour sequence (ESC [ digits ; … m) at the start of a text.
fn colour(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("\x1b[")?;
    let end = inner.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
    inner[end..].starts_with('m').then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colours_stay_where_they_are_wanted_and_nothing_else_does() {
        let text = "\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2J\n\ttab\u{9b}5m";
        let kept = "\x1b[31mred\x1b[0m\u{fffd}]0;title\u{fffd}\u{fffd}[2J\n\u{fffd}tab\u{fffd}5m";
        assert_eq!(clean(text, Colours::Kept), kept);
        assert_eq!(clean(text, Colours::Removed), kept.replace("\x1b", "\u{fffd}"));
        assert!(matches!(clean("plain – text\n", Colours::Removed), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn no_control_character_is_left(text in any::<String>()) {
            let out = clean(&text, Colours::Removed);
            prop_assert!(out.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert_eq!(out.chars().count(), text.chars().count());
        }
    }
}
