//! Frames as bytes: several at a time, as differences from frame to frame, sorted by byte and compressed.
//!
//! What stands still costs next to nothing then, and what moves smoothly about half.

use super::{ContactRecord, Frame, Header};
use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use std::io::Read;

/// JSON of the header.
pub const HEAD: [u8; 4] = *b"HEAD";
/// Arrays of the meshes.
pub const MESH: [u8; 4] = *b"MESH";
/// Some frames.
pub const FRAMES: [u8; 4] = *b"FRMS";
/// The number of frames; nothing follows.
pub const END: [u8; 4] = *b"END.";

/// Most bytes of a chunk of frames before compression: readers refuse more.
pub const MAX_CHUNK: usize = 1 << 28;

/// Words of a contact.
const CONTACT_WORDS: usize = 12;

/// A chunk: what it is, the length and checksum of its payload, and the payload.
pub fn chunk(kind: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&kind[..], &length, &crc32fast::hash(payload).to_le_bytes(), payload].concat()
}

/// Frames on their way into a chunk.
#[derive(Clone, Default)]
pub struct Packer {
    count: u32,
    /// Times, numbers of contacts and columns.
    heads: Vec<u8>,
    /// Bits of poses and points: the last frame, and the differences so far.
    last: Vec<u32>,
    moving: Vec<u32>,
    contacts: Vec<u32>,
    planes: Vec<u8>,
}

impl Packer {
    /// Adds a frame.
    pub fn add(&mut self, f: &Frame) {
        self.count += 1;
        self.heads.extend(f.t.to_le_bytes());
        self.heads.extend((f.contacts.len() as u32).to_le_bytes());
        f.columns.iter().for_each(|x| self.heads.extend(x.to_le_bytes()));
        let numbers = f.poses.iter().flatten().chain(f.points.iter().flatten());
        if self.last.is_empty() {
            self.last.resize(7 * f.poses.len() + 3 * f.points.len(), 0);
        }
        for (x, last) in numbers.zip(&mut self.last) {
            let bits = x.to_bits();
            self.moving.push(bits.wrapping_sub(*last));
            *last = bits;
        }
        for c in &f.contacts {
            self.contacts.extend([c.a, c.b]);
            let numbers = c.point.iter().chain(&c.normal).chain(&c.force).chain([&c.friction]);
            self.contacts.extend(numbers.map(|x| x.to_bits()));
        }
    }

    /// How many frames wait.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes that wait, before compression.
    pub fn size(&self) -> usize {
        4 * (self.moving.len() + self.contacts.len())
    }

    /// The payload of a chunk with all frames that waited.
    pub fn pack(&mut self) -> std::io::Result<Vec<u8>> {
        let words = || self.moving.iter().chain(&self.contacts);
        self.planes.clear();
        for shift in [0, 8, 16, 24] {
            self.planes.extend(words().map(|w| (w >> shift) as u8));
        }
        let mut out = Vec::new();
        out.extend(self.count.to_le_bytes());
        out.extend((self.planes.len() as u32).to_le_bytes());
        out.extend(&self.heads);
        ZlibEncoder::new(self.planes.as_slice(), Compression::new(3)).read_to_end(&mut out)?;
        self.count = 0;
        self.heads.clear();
        self.last.clear();
        self.moving.clear();
        self.contacts.clear();
        Ok(out)
    }
}

/// The frames of a chunk; `None` when the bytes do not fit the header.
pub fn unpack(payload: &[u8], header: &Header) -> Option<Vec<Frame>> {
    let mut rest = payload;
    let mut take = |n: usize| {
        let (a, b) = rest.split_at_checked(n)?;
        rest = b;
        Some(a)
    };
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let double = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    let count = word(take(4)?) as usize;
    let size = word(take(4)?) as usize;
    let (bodies, points, columns) = (header.bodies.len(), header.points(), header.columns.len());
    let head = 12 + 8 * columns;
    let heads: Vec<&[u8]> = take(count.checked_mul(head)?)?.chunks_exact(head).collect();

    // How long the frames must be is known: nothing that claims more is unpacked.
    let per_frame = 7 * bodies + 3 * points;
    let contacts = heads.iter().map(|h| word(&h[8..]) as usize);
    let all = contacts.clone().try_fold(0usize, |a, b| a.checked_add(b))?;
    let words = count.checked_mul(per_frame)?.checked_add(all.checked_mul(CONTACT_WORDS)?)?;
    if count == 0 || size > MAX_CHUNK || words.checked_mul(4)? != size {
        return None;
    }
    let mut planes = Vec::new();
    let mut unzip = ZlibDecoder::new(rest);
    unzip.by_ref().take(size as u64 + 1).read_to_end(&mut planes).ok()?;
    if planes.len() != size {
        return None;
    }
    let bits = |i: usize| {
        u32::from_le_bytes([planes[i], planes[words + i], planes[2 * words + i], planes[3 * words + i]])
    };

    let mut last = vec![0u32; per_frame];
    let mut at = 0;
    let mut contact = count * per_frame;
    let frames = heads.iter().zip(contacts).map(|(head, contacts)| {
        for x in &mut last {
            *x = x.wrapping_add(bits(at));
            at += 1;
        }
        let (poses, points) = last.split_at(7 * bodies);
        let contacts = (0..contacts).map(|_| {
            let number = |k: usize| f32::from_bits(bits(contact + k));
            let three = |k: usize| [number(k), number(k + 1), number(k + 2)];
            let record = ContactRecord {
                a: bits(contact),
                b: bits(contact + 1),
                point: three(2),
                normal: three(5),
                force: three(8),
                friction: number(11),
            };
            contact += CONTACT_WORDS;
            record
        });
        Frame {
            t: double(head),
            contacts: contacts.collect(),
            columns: head[12..].chunks_exact(8).map(double).collect(),
            poses: poses.as_chunks().0.iter().map(|p| p.map(f32::from_bits)).collect(),
            points: points.as_chunks().0.iter().map(|p| p.map(f32::from_bits)).collect(),
        }
    });
    Some(frames.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_the_checksum_of_zip_and_png() {
        let c = chunk(END, b"123456789");
        assert_eq!((&c[..4], &c[4..8], &c[12..]), (&b"END."[..], &[9, 0, 0, 0][..], &b"123456789"[..]));
        assert_eq!(c[8..12], 0xcbf4_3926u32.to_le_bytes());
    }
}
