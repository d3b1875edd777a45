//! What the page sends becomes a file.

use indicatif::ProgressBar;
use stiction_io::film::{Codec, Gif, Histogram, WebM};

/// Kind of file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Video.
    WebM,
    /// Pictures of 255 colours.
    Gif,
}

/// A film in the making.
pub struct Sink {
    size: (u32, u32),
    rate: f64,
    bar: ProgressBar,
    film: Film,
}

enum Film {
    Video(Option<WebM>),
    /// Colours of some pictures, before the first is written.
    Colours(Histogram),
    Pictures(Gif<Vec<u8>>),
}

/// What is wrong with what the page sent.
type Answer = Result<(), String>;

impl Sink {
    /// An empty film; `bar` counts its pictures.
    pub fn new(kind: Kind, size: (u32, u32), rate: f64, bar: ProgressBar) -> Sink {
        let film = match kind {
            Kind::WebM => Film::Video(None),
            Kind::Gif => Film::Colours(Histogram::default()),
        };
        Sink { size, rate, bar, film }
    }

    /// Bytes of a message at most: a plain picture.
    pub fn longest(&self) -> usize {
        4 * self.size.0 as usize * self.size.1 as usize
    }

    /// How video is encoded.
    pub fn codec(&mut self, name: &str) -> Answer {
        let Film::Video(film) = &mut self.film else { return Err("no video was asked for".into()) };
        let codec = if name == "vp8" { Codec::Vp8 } else { Codec::Vp9 };
        *film = Some(WebM::new(codec, self.size.0, self.size.1, self.rate));
        Ok(())
    }

    /// An encoded frame; `when` is its time [µs] and whether it is a key frame (1 or 0).
    pub fn chunk(&mut self, when: &str, bytes: &[u8]) -> Answer {
        let Film::Video(Some(film)) = &mut self.film else { return Err("no video was asked for".into()) };
        let parsed = when.split_once(',').and_then(|(t, key)| Some((t.parse().ok()?, key == "1")));
        let (t, is_key) = parsed.ok_or("a frame without a time")?;
        if !film.add(t, is_key, bytes) {
            return Err("a frame that does not follow the one before".into());
        }
        self.bar.inc(1);
        Ok(())
    }

    /// A picture from which colours are chosen.
    pub fn sample(&mut self, rgba: &[u8]) -> Answer {
        let Film::Colours(h) = &mut self.film else { return Err("the colours are chosen already".into()) };
        h.add(rgba);
        Ok(())
    }

    /// A picture.
    pub fn picture(&mut self, rgba: &[u8]) -> Answer {
        let words = |e: std::io::Error| e.to_string();
        if let Film::Colours(h) = &self.film {
            let (w, h) = (self.size.0 as u16, (self.size.1 as u16, h.palette(255)));
            self.film = Film::Pictures(Gif::new(Vec::new(), w, h.0, self.rate, h.1).map_err(words)?);
        }
        let Film::Pictures(gif) = &mut self.film else { return Err("no pictures were asked for".into()) };
        gif.add(rgba).map_err(words)?;
        self.bar.inc(1);
        Ok(())
    }

    /// The file; nothing where nothing was sent.
    pub fn finish(self) -> Option<Vec<u8>> {
        match self.film {
            Film::Video(film) => film.map(WebM::finish),
            Film::Colours(_) => None,
            Film::Pictures(gif) => gif.finish().ok(),
        }
    }
}
