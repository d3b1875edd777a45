//! Edges against edges.

use super::super::nearest::on_lines;
use super::super::solid::feature;
use super::Pair;
use super::pair::CROSSED;
use crate::collide::Contact;
use crate::linalg::Vec3;
use std::collections::BTreeSet;

/// Edges that are flatter than this (sine) count as flat: a cone of normals that small comes and goes with every motion. Flat
/// edges cross where their ends touch the faces anyway, to this share of their length.
const FLAT: f64 = 0.02;
/// Edges at a smaller angle than this (sine) are parallel.
const PARALLEL: f64 = 1e-3;
/// A crossing of edges this near to an end, as a share of the length, belongs to the end.
const END: f64 = 1e-9;

impl Pair<'_> {
    /// The contact of edge `e` of a with edge `f` of b, if they cross where both stand out.
    pub fn edges(&self, e: u32, f: u32, used: &mut BTreeSet<(u64, u32)>, contacts: &mut Vec<Contact>) {
        let (a, b) = (self.a, self.b);
        let (ends_a, ends_b) = (a.edges[e as usize].ends, b.edges[f as usize].ends);
        if self.is_self
            && (e >= f || ends_a.iter().any(|i| ends_b.iter().any(|j| a.are_neighbours(self.model, *i, *j))))
        {
            return;
        }
        if ends_a.iter().any(|k| a.is_held_by(self.model, *k, b)) {
            return;
        }
        let ([p, p_end], [q, q_end]) = (ends_a.map(|k| a.x[k as usize]), ends_b.map(|k| b.x[k as usize]));
        let (d, g) = (p_end - p, q_end - q);
        let Some((s, t)) = on_lines(p, d, q, g, PARALLEL) else { return };
        let within = |x: f64| x > END && x < 1.0 - END;
        let (flat_a, flat_b) = (a.is_flat(e, FLAT), b.is_flat(f, FLAT));
        if !(within(s) && within(t)) || (flat_a && flat_b) {
            return;
        }
        let way = p + d * s - q - g * t;
        let cross = d.cross(g).normalize_or_zero();
        let axis = if cross.dot(way) < 0.0 { -cross } else { cross };
        // Outside of both, or through both.
        let (na, nb) = (a.edge_normal(e), b.edge_normal(f));
        let fits = |n: Vec3| n.dot(na) <= 0.0 && n.dot(nb) >= 0.0;
        let has_normals = na != Vec3::ZERO || nb != Vec3::ZERO;
        let n = if has_normals && !fits(axis) { -axis } else { axis };
        let distance = n.dot(way);
        let clear = fits(n)
            && distance > -CROSSED * self.size
            && b.edge_faces(f, n, FLAT)
            && a.edge_faces(e, -n, FLAT);
        // A sharp edge across a flat patch crosses many of its edges; those that share ends say the same twice.
        let mut is_new = true;
        if clear && flat_a {
            is_new = ends_a.iter().all(|k| !used.contains(&(u64::from(f) << 1, *k)));
            used.extend(ends_a.iter().filter(|_| is_new).map(|k| (u64::from(f) << 1, *k)));
        } else if clear && flat_b {
            is_new = ends_b.iter().all(|k| !used.contains(&(u64::from(e) << 1 | 1, *k)));
            used.extend(ends_b.iter().filter(|_| is_new).map(|k| (u64::from(e) << 1 | 1, *k)));
        }
        if clear && is_new {
            let on_a = (&ends_a[..], &[1.0 - s, s][..], feature::edge(ends_a[0], ends_a[1]));
            let on_b = (&ends_b[..], &[1.0 - t, t][..], feature::edge(ends_b[0], ends_b[1]));
            self.push(on_a, on_b, n, distance, contacts);
        }
    }
}
