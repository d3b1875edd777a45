//! From the global form `M v = H r + f, u = Hᵀ v + w` to the local one: `W = Hᵀ M⁻¹ H`, `q = Hᵀ M⁻¹ f + w`.
//!
//! M falls apart into the groups of dofs that it couples: one body, or one mesh. Small groups are inverted, large
//! ones factored.

use super::MOST_BLOCKS;
use super::csr::Csr;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use stiction::linalg::{SparseLu, dense};

/// Groups up to this many dofs are inverted: two bodies, a tetrahedron.
const SMALL: usize = 12;

/// Block (c, d) of W by rows; plane problems fill its first two rows and columns.
pub(crate) type Block = (u32, u32, [[f64; 3]; 3]);

/// M⁻¹, group by group.
pub(crate) struct Inverse {
    groups: Vec<Group>,
}

struct Group {
    dofs: Vec<u32>,
    kind: Kind,
}

enum Kind {
    /// The inverse, by rows.
    Small(Vec<f64>),
    /// Factors, which have scratch of their own.
    Large(Box<Mutex<SparseLu>>),
}

impl Inverse {
    /// The error says what is wrong with M.
    pub fn new(m: &Csr) -> Result<Inverse, String> {
        let n = m.rows();
        let mut leader: Vec<u32> = (0..n as u32).collect();
        for i in 0..n {
            for (j, value) in m.row(i) {
                if value != 0.0 {
                    let (a, b) = (find(&mut leader, i), find(&mut leader, j));
                    leader[a.max(b)] = a.min(b) as u32;
                }
            }
        }
        let mut members: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for i in 0..n {
            let l = find(&mut leader, i);
            members.entry(l).or_default().push(i as u32);
        }
        let mut place = vec![0; n];
        let groups = members.into_values().map(|dofs| {
            for (k, &d) in dofs.iter().enumerate() {
                place[d as usize] = k;
            }
            Group::new(m, dofs, &place)
        });
        Ok(Inverse { groups: groups.collect::<Result<_, _>>()? })
    }

    /// M⁻¹ b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; b.len()];
        let (mut rhs, mut x) = (Vec::new(), Vec::new());
        for g in &self.groups {
            rhs.clear();
            rhs.extend(g.dofs.iter().map(|&d| b[d as usize]));
            g.solve(&rhs, &mut x);
            for (&d, &x) in g.dofs.iter().zip(&x) {
                out[d as usize] = x;
            }
        }
        out
    }

    /// The blocks of Hᵀ M⁻¹ H; several for one place add up.
    pub fn delassus(&self, h: &Csr, dim: usize) -> Result<Vec<Block>, String> {
        let mut blocks = Vec::new();
        let mut x = Vec::new();
        for g in &self.groups {
            // Entries (place in the group, row of the contact, value) of each contact.
            let mut touching: BTreeMap<u32, Vec<(usize, usize, f64)>> = BTreeMap::new();
            for (place, &dof) in g.dofs.iter().enumerate() {
                for (column, value) in h.row(dof as usize) {
                    touching.entry((column / dim) as u32).or_default().push((place, column % dim, value));
                }
            }
            if blocks.len() + touching.len().saturating_mul(touching.len()) > MOST_BLOCKS {
                return Err(format!("couples more than {MOST_BLOCKS} pairs of contacts"));
            }
            for (&d, from) in &touching {
                let first = blocks.len();
                blocks.extend(touching.keys().map(|&c| (c, d, [[0.0; 3]; 3])));
                for k in 0..dim {
                    let mut rhs = vec![0.0; g.dofs.len()];
                    for &(place, row, value) in from {
                        if row == k {
                            rhs[place] += value;
                        }
                    }
                    g.solve(&rhs, &mut x);
                    for (block, to) in blocks[first..].iter_mut().zip(touching.values()) {
                        for &(place, row, value) in to {
                            block.2[row][k] += value * x[place];
                        }
                    }
                }
            }
        }
        Ok(blocks)
    }
}

impl Group {
    /// `place` gives the position of each dof of the group within it.
    fn new(m: &Csr, dofs: Vec<u32>, place: &[usize]) -> Result<Group, String> {
        let n = dofs.len();
        let singular = || format!("is singular at dof {}", dofs[0]);
        let row = |d: u32| m.row(d as usize).filter(|e| e.1 != 0.0).map(|(j, value)| (place[j], value));
        let kind = if n <= SMALL {
            let mut a = vec![0.0; n * n];
            for (i, &d) in dofs.iter().enumerate() {
                row(d).for_each(|(j, value)| a[i * n + j] += value);
            }
            let inverse = dense::inverse(&a, n);
            if !inverse.iter().all(|x| x.is_finite()) {
                return Err(singular());
            }
            Kind::Small(inverse)
        } else {
            // Files may hold columns in any order, and several times.
            let sorted = |d: &u32| {
                let mut entries: Vec<(usize, f64)> = row(*d).collect();
                entries.sort_by_key(|e| e.0);
                entries.dedup_by(|next, first| {
                    let same = next.0 == first.0;
                    first.1 += if same { next.1 } else { 0.0 };
                    same
                });
                entries
            };
            let rows: Vec<_> = dofs.iter().map(sorted).collect();
            let mut lu = SparseLu::default();
            if !lu.factor_rows(&rows) {
                return Err(singular());
            }
            Kind::Large(Box::new(Mutex::new(lu)))
        };
        Ok(Group { dofs, kind })
    }

    fn solve(&self, b: &[f64], x: &mut Vec<f64>) {
        let n = b.len();
        x.clear();
        match &self.kind {
            Kind::Small(inverse) => {
                x.extend(
                    inverse.chunks_exact(n).map(|row| row.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()),
                );
            }
            Kind::Large(lu) => {
                x.extend_from_slice(b);
                lu.lock().unwrap_or_else(PoisonError::into_inner).solve(x);
            }
        }
    }
}

/// The leader of a dof's group, with the path to it halved.
fn find(leader: &mut [u32], mut i: usize) -> usize {
    while leader[i] as usize != i {
        leader[i] = leader[leader[i] as usize];
        i = leader[i] as usize;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chains of `n` dofs, coupled like springs: one large group and one small one.
    fn chains(lengths: &[usize]) -> Csr {
        let mut rows = Vec::new();
        for &n in lengths {
            let first = rows.len() as u32;
            for i in 0..n as u32 {
                let mut row = vec![(first + i, 3.0 + f64::from(i))];
                if i > 0 {
                    row.push((first + i - 1, -1.0));
                }
                if i + 1 < n as u32 {
                    row.push((first + i + 1, -1.0));
                }
                rows.push(row);
            }
        }
        Csr::from_rows(rows)
    }

    #[test]
    fn small_and_large_groups_invert_m() {
        let m = chains(&[40, 5, 1]);
        let inverse = Inverse::new(&m).unwrap();
        assert_eq!(inverse.groups.len(), 3);
        let b: Vec<f64> = (0..46).map(|i| (i as f64).sin()).collect();
        let x = inverse.solve(&b);
        let mut back = vec![0.0; 46];
        m.mul_add(&x, &mut back);
        for i in 0..46 {
            assert!((back[i] - b[i]).abs() < 1e-14, "{i}");
        }
    }

    #[test]
    fn columns_of_a_row_come_in_any_order_and_add_up() {
        let sorted = chains(&[40]);
        let rows = (0..40).map(|i| {
            let mut row: Vec<_> = sorted.row(i).map(|(j, a)| (j as u32, 0.25 * a)).collect();
            row.extend(
                sorted.row(i).map(|(j, a)| (j as u32, 0.75 * a)).collect::<Vec<_>>().into_iter().rev(),
            );
            row
        });
        let b: Vec<f64> = (0..40).map(|i| (i as f64).cos()).collect();
        let x = Inverse::new(&Csr::from_rows(rows)).unwrap().solve(&b);
        let y = Inverse::new(&sorted).unwrap().solve(&b);
        assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-15), "{x:?} {y:?}");
    }

    #[test]
    fn singular_groups_are_refused() {
        for n in [2, 30] {
            // A row of zeros.
            let rows = (0..n).map(|i| if i == 1 { vec![] } else { vec![(i, 2.0), ((i + 2) % n, 1.0)] });
            let m = Csr::from_rows(rows);
            assert!(Inverse::new(&m).is_err(), "{n}");
        }
    }
}
