//! Blocks of a step that may be shifted together, so that one difference gives the columns of many.

use crate::contact::ContactProblem;

/// Blocks that may be shifted at once: no two of a class touch the same row or contact.
pub(super) struct Colors {
    /// Classes of blocks.
    pub classes: Vec<Vec<usize>>,
    /// Per block: block rows of A that it changes.
    pub rows: Vec<Vec<usize>>,
    /// Per block: contacts that it changes.
    pub contacts: Vec<Vec<usize>>,
}

impl Colors {
    pub fn of(p: &ContactProblem) -> Colors {
        let n = p.a.block_rows();
        let mut rows: Vec<Vec<usize>> = (0..n).map(|i| p.a.row(i).map(|(j, _)| j).collect()).collect();
        let mut contacts = vec![Vec::new(); n];
        for c in 0..p.contacts() {
            // Normals of soft surfaces depend on the vertices around, so neighbours in A count, too.
            let own = p.j.terms(c).iter().map(|t| t.block());
            let mut blocks: Vec<usize> = own.flat_map(|b| p.a.row(b).map(|(j, _)| j)).collect();
            blocks.sort_unstable();
            blocks.dedup();
            for &b in &blocks {
                contacts[b].push(c);
                rows[b].extend(&blocks);
            }
        }
        for r in &mut rows {
            r.sort_unstable();
            r.dedup();
        }
        // Greedy: a row may be touched by one block of a class.
        let mut classes: Vec<(Vec<usize>, Vec<bool>)> = Vec::new();
        for b in 0..n {
            let free = classes.iter().position(|(_, taken)| rows[b].iter().all(|&r| !taken[r]));
            let k = free.unwrap_or_else(|| {
                classes.push((Vec::new(), vec![false; n]));
                classes.len() - 1
            });
            classes[k].0.push(b);
            rows[b].iter().for_each(|&r| classes[k].1[r] = true);
        }
        Colors { classes: classes.into_iter().map(|c| c.0).collect(), rows, contacts }
    }
}
