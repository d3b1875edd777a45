//! WebM files (Matroska with one track of VP8 or VP9): frames are encoded elsewhere and put in order here.

/// How frames are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// VP8.
    Vp8,
    /// VP9.
    Vp9,
}

/// A film in the making.
pub struct WebM {
    codec: Codec,
    width: u32,
    height: u32,
    rate: f64,
    /// Start of each cluster [ms] and its blocks; every cluster starts with a key frame.
    clusters: Vec<(u64, Vec<u8>)>,
    frames: u64,
}

// Names of elements, as the specification numbers them.
const EBML: u32 = 0x1a45_dfa3;
const SEGMENT: u32 = 0x1853_8067;
const INFO: u32 = 0x1549_a966;
const TRACKS: u32 = 0x1654_ae6b;
const CUES: u32 = 0x1c53_bb6b;
const CLUSTER: u32 = 0x1f43_b675;

impl WebM {
    /// A film of this size at `rate` frames per second.
    pub fn new(codec: Codec, width: u32, height: u32, rate: f64) -> WebM {
        WebM { codec, width, height, rate, clusters: Vec::new(), frames: 0 }
    }

    /// Adds an encoded frame that is shown from `time` [µs] on; false when it can not follow what is there: the first
    /// must be a key frame, and half a minute may not pass without one.
    #[must_use]
    pub fn add(&mut self, time: u64, is_key: bool, frame: &[u8]) -> bool {
        let ms = (time + 500) / 1000;
        if is_key {
            self.clusters.push((ms, Vec::new()));
        }
        let Some((start, blocks)) = self.clusters.last_mut() else { return false };
        let Some(late) = ms.checked_sub(*start).and_then(|d| i16::try_from(d).ok()) else { return false };
        let [high, low] = late.to_be_bytes();
        let flags = if is_key { 0x80 } else { 0 };
        blocks.extend(element(0xa3, &[&[0x81, high, low, flags], frame].concat()));
        self.frames += 1;
        true
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        let head = element(
            EBML,
            &[
                number(0x4286, 1),
                number(0x42f7, 1),
                number(0x42f2, 4),
                number(0x42f3, 8),
                element(0x4282, b"webm"),
                number(0x4287, 4),
                number(0x4285, 2),
            ]
            .concat(),
        );
        let length = self.frames as f64 * 1000.0 / self.rate;
        let name = b"stiction";
        let info = element(
            INFO,
            &[
                number(0x2a_d7b1, 1_000_000),
                element(0x4489, &length.to_be_bytes()),
                element(0x4d80, name),
                element(0x5741, name),
            ]
            .concat(),
        );
        let video = [number(0xb0, self.width.into()), number(0xba, self.height.into())].concat();
        let codec: &[u8] = match self.codec {
            Codec::Vp8 => b"V_VP8",
            Codec::Vp9 => b"V_VP9",
        };
        let track = [
            number(0xd7, 1),
            number(0x73c5, 1),
            number(0x83, 1),
            element(0x86, codec),
            number(0x23_e383, (1e9 / self.rate).round() as u64),
            element(0xe0, &video),
        ];
        let tracks = element(TRACKS, &element(0xae, &track.concat()));
        let clusters: Vec<(u64, Vec<u8>)> = self
            .clusters
            .iter()
            .map(|(start, blocks)| {
                (*start, element(CLUSTER, &[number(0xe7, *start), blocks.clone()].concat()))
            })
            .collect();

        // Where each cluster starts, for seeking. Numbers have eight bytes each, so that places do not move them.
        let before = info.len() + tracks.len();
        let cues = |first: usize| {
            let mut at = first;
            let point = |(start, bytes): &(u64, Vec<u8>)| {
                let place = [number(0xf7, 1), number(0xf1, at as u64)].concat();
                at += bytes.len();
                element(0xbb, &[number(0xb3, *start), element(0xb7, &place)].concat())
            };
            element(CUES, &clusters.iter().map(point).collect::<Vec<_>>().concat())
        };
        let cues = cues(before + cues(0).len());
        let bodies: Vec<Vec<u8>> = clusters.into_iter().map(|c| c.1).collect();
        let segment = element(SEGMENT, &[info, tracks, cues, bodies.concat()].concat());
        [head, segment].concat()
    }
}

/// An element: its name, the length of its content in eight bytes, and the content.
fn element(name: u32, content: &[u8]) -> Vec<u8> {
    let name: Vec<u8> = name.to_be_bytes().into_iter().skip_while(|b| *b == 0).collect();
    let length = (1u64 << 56 | content.len() as u64).to_be_bytes();
    [&name, &length[..], content].concat()
}

/// A whole number as an element.
fn number(name: u32, x: u64) -> Vec<u8> {
    element(name, &x.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of `bytes` in a row: name and content.
    fn elements(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
        let mut out = Vec::new();
        while !bytes.is_empty() {
            let width = bytes[0].leading_zeros() as usize + 1;
            let name = bytes[..width].iter().fold(0, |n, b| n << 8 | u32::from(*b));
            assert_eq!(bytes[width], 1);
            let length = bytes[width + 1..width + 8].iter().fold(0, |n, b| n << 8 | usize::from(*b));
            let (content, rest) = bytes[width + 8..].split_at(length);
            out.push((name, content));
            bytes = rest;
        }
        out
    }

    #[test]
    fn frames_stand_in_clusters_that_the_cues_find() {
        let mut film = WebM::new(Codec::Vp9, 640, 400, 25.0);
        assert!(!film.add(0, false, b"no key yet"));
        for k in 0..5u64 {
            assert!(film.add(40_000 * k, k % 3 == 0, &[k as u8; 10]));
        }
        assert!(!film.add(40_000_000, false, b"too late"));
        let bytes = film.finish();
        let [(EBML, _), (SEGMENT, segment)] = elements(&bytes)[..] else { panic!("header and segment") };
        let parts = elements(segment);
        assert_eq!(parts.iter().map(|p| p.0).collect::<Vec<_>>(), [INFO, TRACKS, CUES, CLUSTER, CLUSTER]);
        let duration = elements(parts[0].1)[1].1;
        assert_eq!(f64::from_be_bytes(duration.try_into().unwrap()), 200.0);
        // Blocks: track 1, time in the cluster, key or not, the frame.
        let second = elements(parts[4].1);
        assert_eq!(second[0].1, 120u64.to_be_bytes());
        assert_eq!(second[1].1[..4], [0x81, 0, 0, 0x80]);
        assert_eq!(second[2].1, [&[0x81, 0, 40, 0][..], &[4; 10]].concat());
        for (cue, (_, cluster)) in elements(parts[2].1).iter().zip(&parts[3..]) {
            let place = elements(elements(cue.1)[1].1)[1].1;
            let at = u64::from_be_bytes(place.try_into().unwrap()) as usize;
            assert_eq!(segment[at..at + 4], CLUSTER.to_be_bytes());
            assert_eq!(&segment[at + 12..at + 12 + cluster.len()], *cluster);
        }
    }
}
