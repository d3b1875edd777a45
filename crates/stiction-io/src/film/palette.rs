//! The colours of a GIF: the few hundred that stand for all others best, by median cut.

/// Bits per channel by which colours are told apart while counting.
const BITS: u32 = 6;
const BINS: usize = 1 << (3 * BITS);

/// How often each colour occurs in some pictures.
pub struct Histogram {
    /// Of each bin: sums of red, green and blue, and the count.
    bins: Vec<[u64; 4]>,
}

/// At most 255 colours, and the nearest of them for any other.
pub struct Palette {
    /// Red, green, blue.
    pub colours: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

/// A range of bins with their mean colours, on the way to becoming one colour.
struct Cell {
    members: Vec<([f64; 3], u64)>,
    /// Longest side: its axis and length.
    longest: (usize, f64),
    count: u64,
}

fn bin([r, g, b]: [u8; 3]) -> usize {
    let high = |x: u8| usize::from(x >> (8 - BITS));
    (high(r) << (2 * BITS)) | (high(g) << BITS) | high(b)
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { bins: vec![[0; 4]; BINS] }
    }
}

impl Histogram {
    /// Counts the pixels of a picture (red, green, blue, opacity).
    pub fn add(&mut self, rgba: &[u8]) {
        for p in rgba.as_chunks::<4>().0 {
            let b = &mut self.bins[bin([p[0], p[1], p[2]])];
            (0..3).for_each(|c| b[c] += u64::from(p[c]));
            b[3] += 1;
        }
    }

    /// At most `most` colours (up to 255), by halving again and again the cell in which most pixels lie farthest apart.
    pub fn palette(&self, most: usize) -> Palette {
        let mean = |b: &[u64; 4]| std::array::from_fn(|c| b[c] as f64 / b[3] as f64);
        let members = self.bins.iter().filter(|b| b[3] > 0).map(|b| (mean(b), b[3])).collect();
        let mut cells = vec![Cell::new(members)];
        while cells.len() < most.min(255) {
            let worth = |c: &Cell| c.longest.1 * (c.count as f64).sqrt();
            let Some(i) = (0..cells.len())
                .filter(|&i| cells[i].members.len() > 1)
                .max_by(|&a, &b| worth(&cells[a]).total_cmp(&worth(&cells[b])))
            else {
                break;
            };
            let (low, high) = cells.swap_remove(i).halves();
            cells.extend([low, high]);
        }
        Palette::new(cells.iter().map(Cell::colour).collect())
    }
}

impl Cell {
    fn new(members: Vec<([f64; 3], u64)>) -> Cell {
        let side = |c: usize| {
            let values = || members.iter().map(|m| m.0[c]);
            values().fold(0.0, f64::max) - values().fold(255.0, f64::min)
        };
        let longest = (0..3).map(|c| (c, side(c))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        let count = members.iter().map(|m| m.1).sum();
        Cell { members, longest, count }
    }

    /// Both sides of the median pixel along the longest side; neither is empty.
    fn halves(mut self) -> (Cell, Cell) {
        let axis = self.longest.0;
        self.members.sort_by(|a, b| a.0[axis].total_cmp(&b.0[axis]));
        let mut seen = 0;
        let middle = self.members.iter().position(|m| {
            seen += m.1;
            2 * seen >= self.count
        });
        let at = (middle.unwrap_or(0) + 1).min(self.members.len() - 1);
        let high = self.members.split_off(at);
        (Cell::new(self.members), Cell::new(high))
    }

    fn colour(&self) -> [u8; 3] {
        std::array::from_fn(|c| {
            let sum: f64 = self.members.iter().map(|m| m.0[c] * m.1 as f64).sum();
            (sum / (self.count.max(1)) as f64).round() as u8
        })
    }
}

impl Palette {
    fn new(colours: Vec<[u8; 3]>) -> Palette {
        let near = |i: usize| {
            let middle =
                |shift: u32| ((i >> shift) as i32 % (1 << BITS)) * (1 << (8 - BITS)) + (1 << (7 - BITS));
            let at = [middle(2 * BITS), middle(BITS), middle(0)];
            let distance = |c: &[u8; 3]| (0..3).map(|k| (i32::from(c[k]) - at[k]).pow(2)).sum::<i32>();
            (0..colours.len()).min_by_key(|&k| distance(&colours[k])).unwrap_or(0) as u8
        };
        let nearest = (0..BINS).map(near).collect();
        Palette { colours, nearest }
    }

    /// The place of the nearest colour.
    pub fn index(&self, colour: [u8; 3]) -> u8 {
        self.nearest[bin(colour)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_stay_as_they_are() {
        let mut h = Histogram::default();
        let colours = [[255, 0, 0], [0, 255, 0], [10, 20, 30]];
        for c in colours {
            h.add(&[c[0], c[1], c[2], 255].repeat(5));
        }
        let p = h.palette(255);
        assert_eq!(p.colours.len(), 3);
        for c in colours {
            assert_eq!(p.colours[usize::from(p.index(c))], c);
        }
    }

    #[test]
    fn a_gradient_keeps_its_steps_small() {
        let mut h = Histogram::default();
        (0..=255u8).for_each(|x| h.add(&[x, x, x, 255]));
        let p = h.palette(32);
        assert_eq!(p.colours.len(), 32);
        for x in 0..=255u8 {
            let near = p.colours[usize::from(p.index([x; 3]))][0];
            assert!(near.abs_diff(x) <= 8, "{x} became {near}");
        }
    }
}
