//! A tree of boxes over the features of one surface (CR 5.1). Its shape is made once, at rest, where neighbours in space are
//! neighbours on the surface; each step only fits the boxes. The same boxes always give the same pairs in the same order.

use crate::linalg::Vec3;

/// A box in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    pub min: Vec3,
    pub max: Vec3,
}

impl Span {
    /// Of nothing.
    pub const EMPTY: Span = Span { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// Of some points.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Span {
        points.into_iter().fold(Span::EMPTY, |s, p| Span { min: s.min.min(p), max: s.max.max(p) })
    }

    pub fn and(self, other: Span) -> Span {
        Span { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    pub fn grown(self, by: f64) -> Span {
        Span { min: self.min - Vec3::splat(by), max: self.max + Vec3::splat(by) }
    }

    pub fn meets(&self, other: &Span) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// True where the boxes come within `reach` along every axis.
    pub fn is_near(&self, other: &Span, reach: f64) -> bool {
        let reach = Vec3::splat(reach);
        (self.min - reach).cmple(other.max).all() && (other.min - reach).cmple(self.max).all()
    }

    pub fn holds(&self, other: &Span) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }
}

/// A node: its children follow, the first at once, the second at `second`; a leaf has a feature instead.
#[derive(Clone, Copy, Debug)]
struct Node {
    span: Span,
    second: u32,
    leaf: u32,
}

const NONE: u32 = u32::MAX;

/// Boxes of features, parents before children.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Over features whose middles are given.
    pub fn new(middles: &[Vec3]) -> Tree {
        let mut order: Vec<u32> = (0..middles.len() as u32).collect();
        let mut tree = Tree::default();
        if !order.is_empty() {
            tree.split(middles, &mut order);
        }
        tree
    }

    fn split(&mut self, middles: &[Vec3], order: &mut [u32]) {
        let at = self.nodes.len();
        self.nodes.push(Node { span: Span::EMPTY, second: NONE, leaf: NONE });
        if let [leaf] = *order {
            self.nodes[at].leaf = leaf;
            return;
        }
        let span = Span::of(order.iter().map(|k| middles[*k as usize]));
        let size = span.max - span.min;
        let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        let half = order.len() / 2;
        order.select_nth_unstable_by(half, |a, b| {
            middles[*a as usize][axis].total_cmp(&middles[*b as usize][axis]).then(a.cmp(b))
        });
        let (low, high) = order.split_at_mut(half);
        // Selection leaves each half in an order of its own; sorting makes it that of the features.
        low.sort_unstable();
        high.sort_unstable();
        self.split(middles, low);
        self.nodes[at].second = self.nodes.len() as u32;
        self.split(middles, high);
    }

    /// Fits all boxes to those of the features.
    pub fn fit(&mut self, spans: &[Span]) {
        for i in (0..self.nodes.len()).rev() {
            let n = self.nodes[i];
            self.nodes[i].span = if n.leaf != NONE {
                spans[n.leaf as usize]
            } else {
                self.nodes[i + 1].span.and(self.nodes[n.second as usize].span)
            };
        }
    }

    /// The box of all.
    pub fn span(&self) -> Span {
        self.nodes.first().map_or(Span::EMPTY, |n| n.span)
    }

    /// Calls `found` for each pair of features of two trees whose boxes come within `reach`.
    pub fn pairs(&self, other: &Tree, reach: f64, mut found: impl FnMut(u32, u32)) {
        if !self.nodes.is_empty() && !other.nodes.is_empty() {
            self.between(0, other, 0, reach, &mut found);
        }
    }

    /// Calls `found` for each pair of features of this tree whose boxes come within `reach`, each pair once; pairs below the
    /// nodes in `but`, ascending, are left out.
    pub fn self_pairs(&self, reach: f64, but: &[u32], mut found: impl FnMut(u32, u32)) {
        let (mut i, mut but) = (0, but.iter().peekable());
        while let Some(n) = self.nodes.get(i) {
            if but.next_if(|b| **b as usize == i).is_some() {
                i = self.end(i);
                continue;
            }
            if n.leaf == NONE {
                self.between(i + 1, self, n.second as usize, reach, &mut found);
            }
            i += 1;
        }
    }

    /// The first node after those below this one.
    fn end(&self, mut node: usize) -> usize {
        while self.nodes[node].leaf == NONE {
            node = self.nodes[node].second as usize;
        }
        node + 1
    }

    /// The two nodes right below one that is no leaf.
    pub fn children(&self, node: u32) -> Option<[u32; 2]> {
        let n = &self.nodes[node as usize];
        (n.leaf == NONE).then_some([node + 1, n.second])
    }

    /// Features below a node.
    pub fn leaves(&self, node: u32) -> impl Iterator<Item = u32> {
        let node = node as usize;
        self.nodes[node..self.end(node)].iter().map(|n| n.leaf).filter(|l| *l != NONE)
    }

    /// Calls `found` for each largest node with at most so many features below it, with these features.
    pub fn for_each_branch(&self, most: usize, mut found: impl FnMut(u32, &[u32])) {
        let (mut i, mut leaves) = (0, Vec::new());
        while i < self.nodes.len() {
            leaves.clear();
            leaves.extend(self.leaves(i as u32));
            if leaves.len() <= most {
                found(i as u32, &leaves);
                i = self.end(i);
            } else {
                i += 1;
            }
        }
    }

    fn between(&self, i: usize, other: &Tree, j: usize, reach: f64, found: &mut impl FnMut(u32, u32)) {
        let (a, b) = (&self.nodes[i], &other.nodes[j]);
        if !a.span.is_near(&b.span, reach) {
            return;
        }
        match (a.leaf, b.leaf) {
            (NONE, _) if b.leaf != NONE || larger(&a.span, &b.span) => {
                self.between(i + 1, other, j, reach, found);
                self.between(a.second as usize, other, j, reach, found);
            }
            (_, NONE) => {
                self.between(i, other, j + 1, reach, found);
                self.between(i, other, b.second as usize, reach, found);
            }
            (a, b) => found(a, b),
        }
    }
}

fn larger(a: &Span, b: &Span) -> bool {
    let size = |s: &Span| (s.max - s.min).length_squared();
    size(a) >= size(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Rng;

    #[test]
    fn finds_the_pairs_of_a_double_loop() {
        let mut rng = Rng::new(31);
        for n in [1, 2, 3, 50, 200] {
            let middles: Vec<Vec3> = (0..n).map(|_| rng.normal3()).collect();
            let spans: Vec<Span> = middles
                .iter()
                .map(|m| Span { min: *m - rng.normal3().abs() * 0.3, max: *m + rng.normal3().abs() * 0.3 })
                .collect();
            let mut tree = Tree::new(&middles);
            tree.fit(&spans);
            let (mut got, mut want) = (Vec::new(), Vec::new());
            tree.self_pairs(0.0, &[], |a, b| got.push((a.min(b), a.max(b))));
            got.sort_unstable();
            for a in 0..n {
                want.extend((a + 1..n).filter(|b| spans[a].meets(&spans[*b])).map(|b| (a as u32, b as u32)));
            }
            assert_eq!(got, want);
            let shifted: Vec<Span> =
                spans.iter().map(|s| Span { min: s.min + Vec3::X, max: s.max + Vec3::X }).collect();
            let mut other = Tree::new(&middles);
            other.fit(&shifted);
            let (mut got, mut want) = (Vec::new(), Vec::new());
            tree.pairs(&other, 0.0, |a, b| got.push((a, b)));
            got.sort_unstable();
            for a in 0..n {
                want.extend((0..n).filter(|b| spans[a].meets(&shifted[*b])).map(|b| (a as u32, b as u32)));
            }
            assert_eq!(got, want);
        }
        Tree::new(&[]).self_pairs(0.0, &[], |_, _| panic!("nothing to find"));
    }
}
