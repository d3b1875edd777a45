//! The page that plays recordings: one HTML file with everything in it, which opens from disk in any browser.
//!
//! Its source is in the folder `viewer`; the built page is an asset of this crate.

use crate::error::{Error, Result};
use crate::read;
use crate::write::whole_file;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The page without a recording: it waits for a file that is dropped on it, or for a live simulation.
pub const PAGE: &str = include_str!("../assets/viewer.html");

/// Where recordings go.
const PLACE: &str = "<!--recordings-->";

/// Bytes that are read at a time; a multiple of three, so that pieces of base64 fit together.
const PIECE: usize = 3 << 16;

/// Writes the page with some recordings in it, one beside the other.
pub fn write(path: &Path, recordings: &[PathBuf]) -> Result<()> {
    let files = open(recordings)?;
    whole_file(path, |out| put(out, files))
}

/// Writes it to a stream; errors name it `path`.
pub fn write_to(out: impl Write, path: &Path, recordings: &[PathBuf]) -> Result<()> {
    put(out, open(recordings)?).map_err(|e| Error::writing(path, &e))
}

fn open(recordings: &[PathBuf]) -> Result<Vec<File>> {
    recordings.iter().map(|r| read::open(r)).collect()
}

fn put(out: impl Write, recordings: Vec<File>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let (before, after) = PAGE.split_once(PLACE).ok_or_else(|| io::Error::other("the page has no place"))?;
    out.write_all(before.as_bytes())?;
    for mut file in recordings {
        out.write_all(b"<script type=\"application/x-stiction\">")?;
        encode(&mut file, &mut out)?;
        out.write_all(b"</script>\n")?;
    }
    out.write_all(after.as_bytes())?;
    out.flush()
}

/// The page with some recordings in it, in memory.
pub fn with_recordings(recordings: &[PathBuf]) -> Result<String> {
    let mut all = Vec::new();
    for r in recordings {
        let mut file = read::open(r)?;
        all.extend(b"<script type=\"application/x-stiction\">");
        encode(&mut file, &mut all).map_err(|e| Error::reading(r, &e))?;
        all.extend(b"</script>");
    }
    Ok(PAGE.replacen(PLACE, &String::from_utf8_lossy(&all), 1))
}

/// The page with a recording in it that films itself as `wish` (JSON without `<`) says, and sends what it drew.
pub fn film(recording: &Path, wish: &str) -> Result<String> {
    let page = with_recordings(&[recording.into()])?;
    let script = format!("<script type=\"application/x-stiction-film\">{wish}</script><script>");
    // Before the script of the page, which is the last one.
    let (before, after) = page.rsplit_once("<script>").unwrap_or((&page, ""));
    Ok(format!("{before}{script}{after}"))
}

/// The page of a live simulation: it connects to `socket` beside it.
pub fn live() -> String {
    PAGE.replacen(PLACE, "<script type=\"application/x-stiction-live\"></script>", 1)
}

/// Copies bytes as base64.
fn encode(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let (mut piece, mut text) = (Vec::new(), Vec::new());
    loop {
        piece.clear();
        text.clear();
        if from.by_ref().take(PIECE as u64).read_to_end(&mut piece)? == 0 {
            return Ok(());
        }
        base64(&piece, &mut text);
        to.write_all(&text)?;
    }
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let byte = |k: usize| u32::from(three.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let letter = |k: usize| LETTERS[(bits >> (18 - 6 * k)) as usize & 63];
        out.extend((0..4).map(|k| if k <= three.len() { letter(k) } else { b'=' }));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_as_the_standard_has_it() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let mut out = Vec::new();
            super::base64(plain.as_bytes(), &mut out);
            assert_eq!(out, coded.as_bytes());
        }
    }

    #[test]
    fn the_page_has_one_place_for_recordings() {
        assert_eq!(super::PAGE.matches(super::PLACE).count(), 1);
    }
}
