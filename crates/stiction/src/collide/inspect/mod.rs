//! A second opinion on a state: how near do surfaces come, and do any of them pass through each other?
//!
//! Nothing here is shared with detection: surfaces are read from the model anew, pairs come from a grid of cells, distances
//! from their own formulas, and crossings from the signs of volumes in doubled precision. Slower than detection, for tests
//! and for looking at results.

mod distance;
mod sign;

use crate::coords::{Anchor, BodyId, NodeId, State};
use crate::kinematics::{Kinematics, Placement};
use crate::linalg::Vec3;
use crate::model::{Model, Owner};
use parry3d_f64::shape::SharedShape;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inspection {
    /// Smallest distance [m] of two surfaces, radii and half-spaces counted; no more than the reach asked for. Thickness of
    /// soft bodies and cloth is not counted: it is the distance of their mid-surfaces.
    pub distance: f64,
    /// Where: the owners of the nearest two.
    pub pair: Option<[Owner; 2]>,
    /// Pairs of an edge and a face that pass through each other.
    pub crossings: usize,
    /// Vertices on the wrong side of a half-space.
    pub below: usize,
}

/// A triangle, a segment or a point, with a radius.
struct Piece {
    owner: Owner,
    x: [Vec3; 3],
    /// How many of the three points count.
    n: usize,
    /// Numbers of its vertices within the owner.
    ids: [u32; 3],
    /// Bodies that hold its vertices.
    held: [Option<BodyId>; 3],
    radius: f64,
}

/// Distances up to `reach` [m] and crossings of all surfaces in a state: soft bodies and cloth against everything, against
/// themselves where they have `self_contact`, and rods against each other and rigid bodies. Rigid bodies among each other
/// are left out; so are cylinders.
pub fn inspect(model: &Model, state: &State, reach: f64) -> Inspection {
    let (pieces, planes) = pieces(Placement::of(model, state).kinematics(model));
    let mut found = Inspection { distance: reach, pair: None, crossings: 0, below: 0 };
    for (i, j) in near(&pieces, reach) {
        let (a, b) = (&pieces[i], &pieces[j]);
        if !may_touch(model, a, b) {
            continue;
        }
        let is_same = a.owner == b.owner;
        let (distance, crossings) = distance::between(a, b, is_same);
        found.crossings += crossings;
        if distance < found.distance {
            (found.distance, found.pair) = (distance, Some([a.owner, b.owner]));
        }
    }
    for (owner, n, at) in planes {
        for p in pieces.iter().filter(|p| p.owner != owner && is_deforming(model, p.owner)) {
            for x in &p.x[..p.n] {
                let height = n.dot(*x - at) - p.radius;
                if !collides(model, p.owner, owner) {
                    continue;
                }
                found.below += usize::from(height <= 0.0);
                if height < found.distance {
                    (found.distance, found.pair) = (height, Some([p.owner, owner]));
                }
            }
        }
    }
    found
}

fn is_deforming(model: &Model, owner: Owner) -> bool {
    match owner {
        Owner::Solid(_) => true,
        Owner::Body(b) => model.bodies[b.index()].link.is_some(),
        Owner::Node(_) => false,
    }
}

fn collides(model: &Model, a: Owner, b: Owner) -> bool {
    model.pair_rule(a, b).is_none_or(|r| r.collide) && model.masks_allow(a, b)
}

fn may_touch(model: &Model, a: &Piece, b: &Piece) -> bool {
    let holds = |p: &Piece, o: Owner| p.held[..p.n].iter().flatten().any(|h| Owner::Body(*h) == o);
    let itself = match a.owner {
        Owner::Solid(s) => model.solids[s.index()].self_contact,
        _ => false,
    };
    (is_deforming(model, a.owner) || is_deforming(model, b.owner))
        && (a.owner != b.owner || itself)
        && !model.are_near_links(a.owner, b.owner)
        && !holds(a, b.owner)
        && !holds(b, a.owner)
        && collides(model, a.owner, b.owner)
}

/// Triangles, segments and points of all surfaces, and the half-spaces with their normals.
fn pieces(kin: Kinematics<'_>) -> (Vec<Piece>, Vec<(Owner, Vec3, Vec3)>) {
    let model = kin.model;
    let (mut pieces, mut planes) = (Vec::new(), Vec::new());
    for (k, solid) in model.solids.iter().enumerate() {
        if !model.nodes[solid.nodes.clone()].iter().any(|n| n.shape.is_some()) {
            continue;
        }
        let x: Vec<Vec3> = solid.vertices.iter().map(|a| kin.position(a)).collect();
        for t in &solid.surface {
            pieces.push(Piece {
                owner: Owner::Solid(crate::coords::SoftId(k as u32)),
                x: t.map(|k| x[k as usize]),
                n: 3,
                ids: *t,
                held: t.map(|k| match solid.vertices[k as usize] {
                    Anchor::Body { body, .. } => Some(body),
                    _ => None,
                }),
                radius: 0.0,
            });
        }
    }
    for shape in &model.shapes {
        let owner = model.whole(shape.owner);
        let pose = match owner {
            Owner::Solid(_) => continue,
            Owner::Body(b) => kin.body(b).com * shape.local,
            Owner::Node(NodeId(n)) => {
                crate::coords::Pose::from_translation(kin.node_position(NodeId(n))) * shape.local
            }
        };
        let mut piece = |x: &[Vec3], ids: [u32; 3], radius: f64| {
            let mut points = [x[0]; 3];
            points[..x.len()].copy_from_slice(x);
            let x = points.map(|p| pose.transform_point(p));
            pieces.push(Piece { owner, x, n: ids_len(&ids), ids, held: [None; 3], radius });
        };
        match triangles(&shape.geometry) {
            Some((x, t)) => {
                for t in t {
                    piece(&t.map(|k| x[k as usize]), t, 0.0);
                }
            }
            None => {
                if let Some(c) = shape.geometry.as_capsule() {
                    piece(&[c.segment.a, c.segment.b], [0, 1, NONE], c.radius);
                } else if let Some(b) = shape.geometry.as_ball() {
                    piece(&[Vec3::ZERO], [0, NONE, NONE], b.radius);
                } else if !shape.reach.is_finite() {
                    planes.push((owner, pose.rotation * Vec3::Z, pose.translation));
                }
            }
        }
    }
    (pieces, planes)
}

/// No vertex.
const NONE: u32 = u32::MAX;

fn ids_len(ids: &[u32; 3]) -> usize {
    ids.iter().filter(|k| **k != NONE).count()
}

fn triangles(shape: &SharedShape) -> Option<(Vec<Vec3>, Vec<[u32; 3]>)> {
    if let Some(m) = shape.as_trimesh() {
        return Some((m.vertices().to_vec(), m.indices().to_vec()));
    }
    if let Some(b) = shape.as_cuboid() {
        return Some(b.to_trimesh());
    }
    shape.as_convex_polyhedron().map(|h| h.to_trimesh())
}

/// Pairs of pieces whose boxes come within `reach`, by a grid of cells; sorted, each once.
fn near(pieces: &[Piece], reach: f64) -> Vec<(usize, usize)> {
    let boxes: Vec<(Vec3, Vec3)> = pieces
        .iter()
        .map(|p| {
            let grow = Vec3::splat(p.radius + 0.5 * reach);
            let min = p.x[..p.n].iter().fold(Vec3::INFINITY, |m, x| m.min(*x)) - grow;
            let max = p.x[..p.n].iter().fold(Vec3::NEG_INFINITY, |m, x| m.max(*x)) + grow;
            (min, max)
        })
        .collect();
    // Cells of the median size; what is much larger is compared with all.
    let mut sizes: Vec<f64> = boxes.iter().map(|(min, max)| (*max - *min).max_element()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let Some(&cell) = sizes.get(sizes.len() / 2) else { return Vec::new() };
    let cell = cell.max(f64::MIN_POSITIVE);
    let is_large = |i: usize| (boxes[i].1 - boxes[i].0).max_element() > 20.0 * cell;
    let mut entries: Vec<([i64; 3], usize)> = Vec::new();
    for i in (0..pieces.len()).filter(|i| !is_large(*i)) {
        let (low, high) = (
            [0, 1, 2].map(|k| (boxes[i].0[k] / cell).floor() as i64),
            [0, 1, 2].map(|k| (boxes[i].1[k] / cell).floor() as i64),
        );
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                entries.extend((low[2]..=high[2]).map(|z| ([x, y, z], i)));
            }
        }
    }
    entries.sort_unstable();
    let meet = |i: usize, j: usize| boxes[i].0.cmple(boxes[j].1).all() && boxes[j].0.cmple(boxes[i].1).all();
    let mut pairs = Vec::new();
    for cell in entries.chunk_by(|a, b| a.0 == b.0) {
        for (k, &(_, i)) in cell.iter().enumerate() {
            pairs.extend(cell[k + 1..].iter().map(|c| (i, c.1)).filter(|&(i, j)| meet(i, j)));
        }
    }
    for i in (0..pieces.len()).filter(|i| is_large(*i)) {
        let others = (0..pieces.len()).filter(|j| *j != i && meet(i, *j));
        pairs.extend(others.map(|j| (i.min(j), i.max(j))));
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(x: &[Vec3], radius: f64) -> Piece {
        let mut points = [x[0]; 3];
        points[..x.len()].copy_from_slice(x);
        Piece {
            owner: Owner::Body(BodyId(0)),
            x: points,
            n: x.len(),
            ids: [0, 1, 2],
            held: [None; 3],
            radius,
        }
    }

    #[test]
    fn distances_and_crossings_of_plain_cases() {
        let flat = piece(&[Vec3::ZERO, Vec3::X, Vec3::Y], 0.0);
        let moved = |d: Vec3| piece(&flat.x.map(|x| x + d), 0.0);
        assert_eq!(distance::between(&flat, &moved(Vec3::Z * 0.5), false), (0.5, 0));
        // A needle through the face.
        let p = Vec3::new(0.2, 0.2, 0.0);
        let needle = piece(&[p + Vec3::Z, p - Vec3::Z], 0.0);
        assert_eq!(distance::between(&flat, &needle, false).1, 1);
        let beside = piece(&[p + Vec3::new(1.0, 1.0, 1.0), p + Vec3::new(1.0, 1.0, -1.0)], 0.1);
        let (d, crossings) = distance::between(&flat, &beside, false);
        assert_eq!(crossings, 0);
        assert!((d - (1.4 / 2f64.sqrt() - 0.1)).abs() < 1e-12, "{d}");
        // Two faces across each other cross with two edges.
        let across = piece(&[p - Vec3::Z, p + Vec3::new(-0.1, 0.1, 1.0), p + Vec3::new(0.1, -0.1, 1.0)], 0.0);
        assert_eq!(distance::between(&flat, &across, false), (0.0, 2));
    }

    #[test]
    fn the_grid_finds_all_near_pairs() {
        let mut rng = crate::linalg::Rng::new(3);
        let pieces: Vec<Piece> = (0..60)
            .map(|k| {
                let c = rng.normal3();
                let size = if k == 7 { 30.0 } else { 0.2 };
                piece(&[c, c + rng.normal3() * size, c + rng.normal3() * size], 0.01)
            })
            .collect();
        let found = near(&pieces, 0.1);
        for i in 0..60 {
            for j in i + 1..60 {
                let (d, _) = distance::between(&pieces[i], &pieces[j], false);
                assert!(d > 0.1 || found.binary_search(&(i, j)).is_ok(), "{i} {j} {d}");
            }
        }
        assert!(found.len() < 60 * 59 / 2);
    }
}
