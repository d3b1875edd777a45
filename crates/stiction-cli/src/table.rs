//! Plain tables for terminals: aligned columns, and colour only where it is wanted.

use std::io::IsTerminal;

/// Whether and how to colour what goes to standard output.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// Colour on a terminal, unless `NO_COLOR` is set or the terminal is dumb.
    pub fn for_stdout() -> Paint {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        Paint(std::io::stdout().is_terminal() && !refused && !dumb)
    }

    /// Whether anything is coloured.
    pub fn is_on(self) -> bool {
        self.0
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    /// Headings.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Good news.
    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Bad news.
    pub fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Side remarks.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }
}

/// Rows of text that are printed with aligned columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// True: the first row names the columns and is underlined.
    headed: bool,
}

impl Table {
    /// Without column names.
    pub fn new() -> Table {
        Table::default()
    }

    /// With column names.
    pub fn with_header(names: &[&str]) -> Table {
        Table { rows: vec![names.iter().map(|n| n.to_string()).collect()], headed: true }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table with two spaces between columns. Colours inside cells do not disturb the alignment.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width: Vec<usize> = (0..columns)
            .map(|c| self.rows.iter().filter_map(|r| r.get(c)).map(|s| visible(s)).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (c, cell) in row.iter().enumerate() {
                line += cell;
                if c + 1 < row.len() {
                    line += &" ".repeat(width[c] - visible(cell) + 2);
                }
            }
            out += line.trim_end();
            out.push('\n');
            if i == 0 && self.headed {
                out += &"─".repeat(width.iter().sum::<usize>() + 2 * columns.saturating_sub(1));
                out.push('\n');
            }
        }
        out
    }
}

/// Number of characters that show, escape sequences left out.
fn visible(text: &str) -> usize {
    let mut n = 0;
    let mut inside = false;
    for c in text.chars() {
        match (inside, c) {
            (false, '\x1b') => inside = true,
            (false, _) => n += 1,
            (true, 'm') => inside = false,
            (true, _) => {}
        }
    }
    n
}

/// A number with up to four significant digits, in powers of ten where that is shorter.
pub fn number(x: f64) -> String {
    let a = x.abs();
    if x == 0.0 {
        "0".into()
    } else if !x.is_finite() {
        format!("{x}")
    } else if !(1e-3..1e5).contains(&a) {
        format!("{x:.2e}")
    } else {
        let digits = (3 - a.log10().floor() as i32).max(0) as usize;
        let text = format!("{x:.digits$}");
        if digits == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_string() }
    }
}

/// A duration with a fitting unit.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s <= 0.0 => "0 s".into(),
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.3} µs", s * 1e6).replace(".000", ""),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_with_and_without_colour() {
        let mut t = Table::with_header(&["name", "value"]);
        t.row([Paint(true).good("µ"), "1".into()]);
        t.row(["longer", "2"]);
        let lines: Vec<String> = t.render().lines().map(String::from).collect();
        assert_eq!(lines[0], "name    value");
        assert_eq!(visible(&lines[2]), "µ       1".chars().count());
        assert_eq!(lines[3], "longer  2");
    }

    #[test]
    fn numbers_keep_four_digits_without_trailing_zeros() {
        for (x, text) in [(0.0, "0"), (9.81, "9.81"), (1230.5, "1230"), (1e-9, "1.00e-9"), (-0.05, "-0.05")] {
            assert_eq!(number(x), text);
        }
        assert_eq!(duration(0.0123), "12.300 ms");
    }
}
