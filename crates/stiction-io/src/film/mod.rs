//! Files of moving pictures: GIF from plain pictures, WebM from frames that a browser has encoded.

mod gif;
mod palette;
mod webm;

pub use gif::Gif;
pub use palette::{Histogram, Palette};
pub use webm::{Codec, WebM};
