//! Who contributes to which block: fixed lists, so that every block and force is gathered by one hand.

/// Lists of contributions, compressed by row: entry e of row i is `entries[start[i] .. start[i+1]]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    start: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    /// From (row, entry) in any order; entries of a row ascend.
    fn new(rows: usize, mut all: Vec<(u32, u32)>) -> Lists {
        all.sort_unstable();
        let mut start = vec![0; rows + 1];
        for (row, _) in &all {
            start[*row as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        Lists { start, entries: all.into_iter().map(|(_, e)| e).collect() }
    }

    pub fn of(&self, row: usize) -> &[u32] {
        &self.entries[self.start[row] as usize..self.start[row + 1] as usize]
    }
}

/// Block pattern of a mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    /// Vertex pairs (a ≤ b), sorted, every diagonal included.
    pub pairs: Vec<(u32, u32)>,
    /// Per vertex, `tet·4 + corner`.
    pub corners: Lists,
    /// Per pair, `tet·16 + corner of a·4 + corner of b`.
    pub blocks: Lists,
}

impl Pattern {
    pub fn new(vertices: usize, tets: &[[u32; 4]]) -> Pattern {
        let mut corners = Vec::with_capacity(4 * tets.len());
        let mut uses = Vec::with_capacity(10 * tets.len());
        for (t, tet) in tets.iter().enumerate() {
            for a in 0..4 {
                corners.push((tet[a], (4 * t + a) as u32));
                for b in 0..4 {
                    if tet[a] <= tet[b] {
                        uses.push((tet[a], tet[b], (16 * t + 4 * a + b) as u32));
                    }
                }
            }
        }
        let mut pairs: Vec<(u32, u32)> = (0..vertices as u32).map(|i| (i, i)).collect();
        pairs.extend(uses.iter().map(|&(a, b, _)| (a, b)));
        pairs.sort_unstable();
        pairs.dedup();
        uses.sort_unstable();
        let mut at = 0;
        let rows = uses.iter().map(|&(a, b, entry)| {
            while pairs[at] != (a, b) {
                at += 1;
            }
            (at as u32, entry)
        });
        let blocks = rows.collect();
        Pattern { corners: Lists::new(vertices, corners), blocks: Lists::new(pairs.len(), blocks), pairs }
    }
}
