//! Animated GIF files: one palette for all pictures, and of each only what changed.

use super::Palette;
use super::lzw::compress;
use std::io::{self, Write};

/// The colour that leaves what was there before.
const KEEP: u8 = 255;

/// Writes an animation that repeats for ever.
pub struct Gif<W: Write> {
    out: W,
    width: u16,
    height: u16,
    rate: f64,
    palette: Palette,
    /// The picture so far, by colour; empty before the first.
    last: Vec<u8>,
    /// The picture that waits until it is known how long it stays, and how long it does so far, in frames.
    frames: u64,
    shown: u64,
    waiting: Option<(Area, Vec<u8>)>,
}

#[derive(Clone, Copy)]
struct Area {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl<W: Write> Gif<W> {
    /// Starts a file with pictures of this size at `rate` per second.
    pub fn new(mut out: W, width: u16, height: u16, rate: f64, palette: Palette) -> io::Result<Gif<W>> {
        out.write_all(b"GIF89a")?;
        out.write_all(&width.to_le_bytes())?;
        out.write_all(&height.to_le_bytes())?;
        // A table of 256 colours follows.
        out.write_all(&[0xf7, 0, 0])?;
        let mut table = palette.colours.clone();
        table.resize(256, [0; 3]);
        out.write_all(table.as_flattened())?;
        out.write_all(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0")?;
        Ok(Gif { out, width, height, rate, palette, last: Vec::new(), frames: 0, shown: 0, waiting: None })
    }

    /// Adds a picture (red, green, blue, opacity). One of another size is an error.
    pub fn add(&mut self, rgba: &[u8]) -> io::Result<()> {
        let pixels = rgba.as_chunks::<4>().0;
        if pixels.len() != usize::from(self.width) * usize::from(self.height) {
            return Err(io::Error::other("a picture has another size than the film"));
        }
        let now: Vec<u8> = pixels.iter().map(|p| self.palette.index([p[0], p[1], p[2]])).collect();
        if let Some(area) = self.changed(&now) {
            self.flush()?;
            let rows = area.y..area.y + area.height;
            let places = rows.flat_map(|y| (area.x..area.x + area.width).map(move |x| (x, y)));
            let width = usize::from(self.width);
            let pixel = |(x, y)| {
                let i: usize = y * width + x;
                if self.last.get(i) == Some(&now[i]) { KEEP } else { now[i] }
            };
            self.waiting = Some((area, compress(places.map(pixel))));
            self.last = now;
        }
        self.frames += 1;
        Ok(())
    }

    /// The smallest rectangle outside of which nothing changed; nothing where nothing did.
    fn changed(&self, now: &[u8]) -> Option<Area> {
        let (width, height) = (usize::from(self.width), usize::from(self.height));
        if self.last.is_empty() {
            return Some(Area { x: 0, y: 0, width, height });
        }
        let (mut x, mut y) = ([width, 0], [height, 0]);
        for (i, _) in now.iter().zip(&self.last).enumerate().filter(|(_, (a, b))| a != b) {
            x = [x[0].min(i % width), x[1].max(i % width + 1)];
            y = [y[0].min(i / width), y[1].max(i / width + 1)];
        }
        (x[0] < x[1]).then(|| Area { x: x[0], y: y[0], width: x[1] - x[0], height: y[1] - y[0] })
    }

    /// Writes the picture that waits: it stays until now.
    fn flush(&mut self) -> io::Result<()> {
        let Some((area, codes)) = self.waiting.take() else { return Ok(()) };
        // Hundredths of a second since the start, so that rounding does not add up.
        let at = |frame: u64| (100.0 * frame as f64 / self.rate).round() as u64;
        let stay = (at(self.frames) - at(self.shown)).min(u16::MAX.into()) as u16;
        self.shown = self.frames;
        let [low, high] = stay.to_le_bytes();
        // It stays when the next comes; one colour is transparent.
        self.out.write_all(&[0x21, 0xf9, 4, 0b101, low, high, KEEP, 0, 0x2c])?;
        for n in [area.x, area.y, area.width, area.height] {
            self.out.write_all(&(n as u16).to_le_bytes())?;
        }
        self.out.write_all(&[0, 8])?;
        for block in codes.chunks(255) {
            self.out.write_all(&[block.len() as u8])?;
            self.out.write_all(block)?;
        }
        self.out.write_all(&[0])
    }

    /// Writes what waits and the end mark; gives the file back.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.out.write_all(b";")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Histogram;
    use super::*;

    /// Delay and area of every picture of a file.
    fn pictures(bytes: &[u8]) -> Vec<(u16, [u16; 4])> {
        let word = |i: usize| u16::from_le_bytes([bytes[i], bytes[i + 1]]);
        let (mut at, mut out, mut delay) = (13 + 768, Vec::new(), 0);
        loop {
            match bytes[at] {
                b';' => return out,
                0x21 => {
                    delay = word(at + 4);
                    at += 2;
                }
                0x2c => {
                    out.push((delay, [1, 3, 5, 7].map(|k| word(at + k))));
                    at += 11;
                }
                other => panic!("block {other}"),
            }
            while bytes[at] != 0 {
                at += 1 + usize::from(bytes[at]);
            }
            at += 1;
        }
    }

    #[test]
    fn only_what_changes_is_written_and_time_adds_up() {
        let mut picture = [10, 20, 30, 255].repeat(8 * 4);
        let mut colours = Histogram::default();
        colours.add(&picture);
        colours.add(&[200, 0, 0, 255]);
        let mut gif = Gif::new(Vec::new(), 8, 4, 30.0, colours.palette(255)).unwrap();
        gif.add(&picture).unwrap();
        gif.add(&picture).unwrap();
        for i in [8 + 2, 16 + 5] {
            picture[4 * i..4 * i + 3].copy_from_slice(&[200, 0, 0]);
        }
        gif.add(&picture).unwrap();
        assert!(gif.add(&[0; 4]).is_err());
        let bytes = gif.finish().unwrap();
        // Two frames of 1/30 s, then one; the second picture is a rectangle about both pixels.
        assert_eq!(pictures(&bytes), [(7, [0, 0, 8, 4]), (3, [2, 1, 4, 2])]);
    }
}
