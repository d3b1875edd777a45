//! The compression of GIF files (Welch 1984), for pictures of up to 256 colours.

use std::collections::HashMap;

const CLEAR: u16 = 256;
const END: u16 = 257;
/// The table is started anew when the next code would not fit into twelve bits.
const LAST: u16 = 4095;

/// Codes on their way into bytes, lowest bits first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    waiting: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, code: u16, size: u32) {
        self.waiting |= u32::from(code) << self.count;
        self.count += size;
        while self.count >= 8 {
            self.bytes.push(self.waiting as u8);
            self.waiting >>= 8;
            self.count -= 8;
        }
    }
}

/// The codes of some pixels, as bytes.
pub(super) fn compress(pixels: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut bits = Bits::default();
    // What follows what: the code of a string and one more pixel.
    let mut table = HashMap::<(u16, u8), u16>::new();
    let (mut next, mut size) = (END + 1, 9);
    bits.put(CLEAR, size);
    let mut string: Option<u16> = None;
    for p in pixels {
        let Some(s) = string else {
            string = Some(p.into());
            continue;
        };
        if let Some(&longer) = table.get(&(s, p)) {
            string = Some(longer);
            continue;
        }
        bits.put(s, size);
        string = Some(p.into());
        if next == LAST {
            bits.put(CLEAR, size);
            table.clear();
            (next, size) = (END + 1, 9);
            continue;
        }
        table.insert((s, p), next);
        if next == 1 << size {
            size += 1;
        }
        next += 1;
    }
    if let Some(s) = string {
        bits.put(s, size);
        // The reader adds one more string here.
        if next == 1 << size {
            size += 1;
        }
    }
    bits.put(END, size);
    bits.put(0, 7);
    bits.bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads codes as a GIF reader does.
    fn decompress(bytes: &[u8]) -> Vec<u8> {
        let (mut at, mut size, mut out) = (0, 9u32, Vec::new());
        let mut strings: Vec<Vec<u8>> = Vec::new();
        let mut last: Option<Vec<u8>> = None;
        loop {
            let code = (0..size).fold(0, |c, k| {
                let i = at + k as usize;
                c | u16::from(bytes[i / 8] >> (i % 8) & 1) << k
            });
            at += size as usize;
            if code == END {
                return out;
            }
            if code == CLEAR {
                strings = (0..256).map(|x| vec![x as u8]).collect();
                strings.extend([vec![], vec![]]);
                (size, last) = (9, None);
                continue;
            }
            let string = match strings.get(usize::from(code)) {
                Some(s) => s.clone(),
                None => {
                    let s = last.as_ref().expect("the first code is a pixel");
                    [&s[..], &s[..1]].concat()
                }
            };
            out.extend(&string);
            if let Some(s) = &last
                && strings.len() < 4096
            {
                strings.push([&s[..], &string[..1]].concat());
                if strings.len() == 1 << size && size < 12 {
                    size += 1;
                }
            }
            last = Some(string);
        }
    }

    #[test]
    fn pixels_come_back() {
        let mut x = 1u32;
        let mut noise = move |n: u32| {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 16) % n
        };
        for (length, colours) in [(0, 1), (1, 256), (5, 1), (100_000, 1), (50_000, 3), (50_000, 256)] {
            let pixels: Vec<u8> = (0..length).map(|_| noise(colours) as u8).collect();
            assert_eq!(decompress(&compress(pixels.iter().copied())), pixels, "{length} of {colours}");
        }
    }
}
