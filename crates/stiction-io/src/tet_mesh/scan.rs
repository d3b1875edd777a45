//! A position in the bytes of a file that mixes words and binary numbers.

use crate::error::{Error, Result};
use std::str::FromStr;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Little,
    Big,
}

/// Walks through a file. Words are separated by white space; a `#` starts a comment where `comments` is set.
pub(super) struct Scan<'a> {
    pub name: &'a str,
    pub bytes: &'a [u8],
    /// How [`Scan::int`] and [`Scan::real`] read.
    pub encoding: Encoding,
    pub comments: bool,
    /// Whether parts of the file are binary: errors then tell bytes, not lines.
    pub binary: bool,
    pos: usize,
    /// What was read last: where an error is.
    last: usize,
}

impl<'a> Scan<'a> {
    pub fn new(bytes: &'a [u8], name: &'a str) -> Scan<'a> {
        Scan { name, bytes, encoding: Encoding::Text, comments: false, binary: false, pos: 0, last: 0 }
    }

    /// An error about what was read last, with its line in a text and its byte elsewhere.
    pub fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        let place = if self.binary {
            format!("{}: byte {}", self.name, self.last)
        } else {
            let line = self.bytes[..self.last].iter().filter(|&&b| b == b'\n').count() + 1;
            format!("{}:{line}", self.name)
        };
        Error::new(place, problem, remedy)
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.pos..]
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.pos
    }

    /// The next word; `None` at the end.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            self.skip_while(|b| b.is_ascii_whitespace());
            if !(self.comments && self.bytes.get(self.pos) == Some(&b'#')) {
                break;
            }
            self.line();
        }
        let start = self.pos;
        self.last = start;
        let comments = self.comments;
        self.skip_while(|b| !(b.is_ascii_whitespace() || comments && b == b'#'));
        (self.pos > start).then(|| &self.bytes[start..self.pos])
    }

    fn skip_while(&mut self, f: impl Fn(u8) -> bool) {
        let run = self.bytes[self.pos..].iter().position(|&b| !f(b));
        self.pos = run.map_or(self.bytes.len(), |n| self.pos + n);
    }

    /// The rest of the line without its end, which is passed over.
    pub fn line(&mut self) -> &'a [u8] {
        let start = self.pos;
        self.last = start;
        self.skip_while(|b| b != b'\n');
        let end = self.pos;
        self.pos = (self.pos + 1).min(self.bytes.len());
        let line = &self.bytes[start..end];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        self.last = self.pos;
        if n > self.left() {
            return Err(self.error(
                format!("the file ends {} bytes too early", n - self.left()),
                "it is cut off: copy or export it again",
            ));
        }
        self.pos += n;
        Ok(&self.bytes[self.pos - n..self.pos])
    }

    /// Moves behind the next occurrence of `mark`.
    pub fn skip_past(&mut self, mark: &str) -> Result<()> {
        let start = self.pos;
        let found = self.bytes[start..].windows(mark.len()).position(|w| w == mark.as_bytes());
        let Some(at) = found else {
            self.last = start;
            return Err(
                self.error(format!("`{mark}` is missing"), "the file is cut off: copy or export it again")
            );
        };
        self.pos = start + at + mark.len();
        Ok(())
    }

    /// A word that must come now, in any case of letters.
    pub fn expect(&mut self, word: &str) -> Result<()> {
        match self.word() {
            Some(w) if w.eq_ignore_ascii_case(word.as_bytes()) => Ok(()),
            other => {
                let other = shown(other.unwrap_or(b""));
                Err(self.error(
                    format!("`{word}` is missing (found `{other}`)"),
                    "a count in the file may be wrong: export it again",
                ))
            }
        }
    }

    /// The end of the file, but for comments.
    pub fn expect_end(&mut self) -> Result<()> {
        match self.word() {
            None => Ok(()),
            Some(w) => Err(self.error(
                format!("`{}` follows after as many items as the count says", shown(w)),
                "the count or the number of items on a line is wrong: export the mesh again",
            )),
        }
    }

    /// The next word as a number; `what` it is stands in the message.
    pub fn parse<T: FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.word();
        let value = word.and_then(|w| std::str::from_utf8(w).ok()).and_then(|w| w.parse().ok());
        value.ok_or_else(|| match word {
            Some(w) => self.error(format!("`{}` is not {what}", shown(w)), "check the export of the mesh"),
            None => self.error(
                format!("the file ends where {what} should be"),
                "it is cut off: copy or export it again",
            ),
        })
    }

    /// The next `N` bytes as they count from the lowest.
    fn little<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut b = [0; N];
        b.copy_from_slice(self.take(N)?);
        if self.encoding == Encoding::Big {
            b.reverse();
        }
        Ok(b)
    }

    /// A whole number: a word, or a signed binary number of `width` bytes.
    pub fn int(&mut self, width: usize, what: &str) -> Result<i64> {
        if self.encoding == Encoding::Text {
            return self.parse(what);
        }
        Ok(match width {
            1 => i8::from_le_bytes(self.little()?).into(),
            2 => i16::from_le_bytes(self.little()?).into(),
            4 => i32::from_le_bytes(self.little()?).into(),
            _ => i64::from_le_bytes(self.little()?),
        })
    }

    /// A number: a word, or a binary one of `width` 4 or 8 bytes.
    pub fn real(&mut self, width: usize, what: &str) -> Result<f64> {
        match (self.encoding, width) {
            (Encoding::Text, _) => self.parse(what),
            (_, 4) => Ok(f32::from_le_bytes(self.little()?).into()),
            _ => Ok(f64::from_le_bytes(self.little()?)),
        }
    }

    /// A whole number that is not negative, such as an id.
    pub fn id(&mut self, width: usize, what: &str) -> Result<u64> {
        let value = self.int(width, what)?;
        u64::try_from(value)
            .map_err(|_| self.error(format!("{value} is not {what}"), "check the export of the mesh"))
    }

    /// A count of things of at least `bytes` each, which must fit into the rest of the file.
    pub fn count(&mut self, width: usize, bytes: usize, what: &str) -> Result<usize> {
        let n = self.id(width, what)?;
        self.fits(n, bytes, what)
    }

    /// `n` as a count of things of at least `bytes` each.
    pub fn fits(&self, n: u64, bytes: usize, what: &str) -> Result<usize> {
        // Nothing is allocated for what cannot be there.
        if n > (self.left() / bytes.max(1)) as u64 {
            return Err(self.error(
                format!("{what} is {n}, but only {} bytes follow", self.left()),
                "the file is cut off or the count is wrong: copy or export it again",
            ));
        }
        Ok(n as usize)
    }
}

/// A word for a message: not too long, and printable.
pub(super) fn shown(word: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(&word[..word.len().min(LONGEST)]);
    let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if word.len() > LONGEST { text + "…" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lines_and_comments() {
        let mut s = Scan::new(b"a 1# x\n#y\n\t2.5\r\nrest of it\nend", "f");
        s.comments = true;
        assert_eq!(s.word(), Some(&b"a"[..]));
        assert_eq!(s.parse::<i64>("a number").unwrap(), 1);
        assert_eq!(s.real(8, "a number").unwrap(), 2.5);
        assert_eq!((s.line(), s.line()), (&b""[..], &b"rest of it"[..]));
        let e = s.parse::<i64>("a number").unwrap_err();
        assert_eq!(e.to_string(), "f:5: `end` is not a number");
        assert_eq!(s.word(), None);
    }

    #[test]
    fn binary_numbers_of_both_orders() {
        for (encoding, bytes) in
            [(Encoding::Little, 258i32.to_le_bytes()), (Encoding::Big, 258i32.to_be_bytes())]
        {
            let mut s = Scan::new(&bytes, "f");
            (s.encoding, s.binary) = (encoding, true);
            assert_eq!(s.int(4, "x").unwrap(), 258);
            assert_eq!(s.int(4, "x").unwrap_err().to_string(), "f: byte 4: the file ends 4 bytes too early");
        }
    }
}
