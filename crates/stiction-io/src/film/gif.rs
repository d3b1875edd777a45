//! Animated GIF files: one palette for all pictures, and of each only what changed. The `gif` crate packs the pixels.
//!
//! The palette is ours (`palette.rs`): median cut needs counts of colours only, so that a film is sampled without keeping its
//! pictures, which `color_quant` would ask for.

use super::Palette;
use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use std::io::{self, Write};

/// The colour that leaves what was there before.
const KEEP: u8 = 255;

/// Writes an animation that repeats for ever.
pub struct Gif<W: Write> {
    out: Encoder<W>,
    width: u16,
    height: u16,
    rate: f64,
    palette: Palette,
    /// The picture so far, by colour; empty before the first.
    last: Vec<u8>,
    /// The picture that waits until it is known how long it stays, and how long it does so far, in frames.
    frames: u64,
    shown: u64,
    waiting: Option<Frame<'static>>,
}

/// A rectangle of pixels.
#[derive(Clone, Copy)]
struct Area {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl<W: Write> Gif<W> {
    /// Starts a file with pictures of this size at `rate` per second.
    pub fn new(out: W, width: u16, height: u16, rate: f64, palette: Palette) -> io::Result<Gif<W>> {
        let mut table = palette.colours.clone();
        table.resize(256, [0; 3]);
        let mut out = Encoder::new(out, width, height, table.as_flattened()).map_err(refused)?;
        out.set_repeat(Repeat::Infinite).map_err(refused)?;
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
            self.waiting = Some(Frame {
                left: area.x as u16,
                top: area.y as u16,
                width: area.width as u16,
                height: area.height as u16,
                // What was drawn stays when the next comes; one colour is transparent.
                dispose: DisposalMethod::Keep,
                transparent: Some(KEEP),
                buffer: places.map(pixel).collect(),
                ..Frame::default()
            });
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
        let Some(mut frame) = self.waiting.take() else { return Ok(()) };
        // Hundredths of a second since the start, so that rounding does not add up.
        let at = |frame: u64| (100.0 * frame as f64 / self.rate).round() as u64;
        frame.delay = (at(self.frames) - at(self.shown)).min(u16::MAX.into()) as u16;
        self.shown = self.frames;
        self.out.write_frame(&frame).map_err(refused)
    }

    /// Writes what waits and the end mark; gives the file back.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        let mut out = self.out.into_inner().map_err(refused)?;
        out.flush()?;
        Ok(out)
    }
}

/// The writer's error: almost always that of the file.
fn refused(e: EncodingError) -> io::Error {
    match e {
        EncodingError::Io(e) => e,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Histogram;
    use super::*;
    use gif::{ColorOutput, DecodeOptions};

    /// Delay, area and pixels (red, green, blue, opacity) of every picture of a file.
    fn pictures(bytes: &[u8]) -> Vec<(u16, [u16; 4], Vec<u8>)> {
        let mut options = DecodeOptions::new();
        options.set_color_output(ColorOutput::RGBA);
        let mut from = options.read_info(bytes).unwrap();
        assert_eq!(from.repeat(), Repeat::Infinite);
        let mut out = Vec::new();
        while let Some(f) = from.read_next_frame().unwrap() {
            assert_eq!(f.dispose, DisposalMethod::Keep);
            out.push((f.delay, [f.left, f.top, f.width, f.height], f.buffer.to_vec()));
        }
        out
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
        let all = pictures(&bytes);
        let frames: Vec<_> = all.iter().map(|p| (p.0, p.1)).collect();
        assert_eq!(frames, [(7, [0, 0, 8, 4]), (3, [2, 1, 4, 2])]);
        // The first is whole; of the second two pixels are drawn, and the others left as they were.
        assert_eq!(all[0].2, [10, 20, 30, 255].repeat(8 * 4));
        let drawn: Vec<usize> = (0..8).filter(|i| all[1].2[4 * i + 3] == 255).collect();
        assert_eq!(drawn, [0, 7]);
        assert_eq!(&all[1].2[..4], [200, 0, 0, 255]);
    }

    #[test]
    fn pictures_of_many_colours_come_back() {
        // More runs of pixels than the table of the compression holds.
        let (mut x, mut colours, mut shown) = (1u32, Histogram::default(), Vec::new());
        let mut noise = || {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            40 * ((x >> 16) % 6) as u8
        };
        let pictures_in: Vec<Vec<u8>> =
            (0..3).map(|_| (0..120 * 90).flat_map(|_| [noise(), noise(), noise(), 255]).collect()).collect();
        pictures_in.iter().for_each(|p| colours.add(p));
        let palette = colours.palette(255);
        let nearest = |p: &[u8]| -> Vec<u8> {
            let same = |c: &[u8; 4]| {
                let [r, g, b] = palette.colours[usize::from(palette.index([c[0], c[1], c[2]]))];
                [r, g, b, 255]
            };
            p.as_chunks::<4>().0.iter().flat_map(same).collect()
        };
        let expected: Vec<Vec<u8>> = pictures_in.iter().map(|p| nearest(p)).collect();
        let mut gif = Gif::new(Vec::new(), 120, 90, 10.0, colours.palette(255)).unwrap();
        pictures_in.iter().for_each(|p| gif.add(p).unwrap());
        for (_, [left, top, width, height], drawn) in pictures(&gif.finish().unwrap()) {
            let mut now = shown.last().cloned().unwrap_or(vec![0; 120 * 90 * 4]);
            for (k, p) in drawn.as_chunks::<4>().0.iter().enumerate().filter(|(_, p)| p[3] > 0) {
                let at = (usize::from(top) + k / usize::from(width)) * 120
                    + usize::from(left)
                    + k % usize::from(width);
                now[4 * at..4 * at + 4].copy_from_slice(p);
            }
            assert!(height <= 90);
            shown.push(now);
        }
        assert_eq!(shown, expected);
    }
}
