//! The line of a rod: corners, rounded by arcs, cut into links of equal length.

use crate::linalg::Vec3;
use crate::linalg::rotation;

/// Lengths that differ by this share are taken as equal: sizes in files are rounded.
const SLACK: f64 = 1e-6;

enum Piece {
    Line { from: Vec3, to: Vec3 },
    Arc { centre: Vec3, from: Vec3, axis: Vec3, radius: f64, angle: f64 },
}

impl Piece {
    fn length(&self) -> f64 {
        match self {
            Piece::Line { from, to } => from.distance(*to),
            Piece::Arc { radius, angle, .. } => radius * angle,
        }
    }

    fn at(&self, s: f64) -> Vec3 {
        match self {
            Piece::Line { from, to } => *from + (*to - *from).normalize_or_zero() * s,
            Piece::Arc { centre, from, axis, radius, .. } => {
                *centre + rotation::exp(*axis * (s / radius)) * *from
            }
        }
    }
}

/// The `segments + 1` ends of links along the line; an error says what is wrong with it.
pub(super) fn divide(points: &[Vec3], corner_radius: f64, segments: usize) -> Result<Vec<Vec3>, String> {
    let pieces = round(points, corner_radius)?;
    let total: f64 = pieces.iter().map(Piece::length).sum();
    let mut nodes = Vec::with_capacity(segments + 1);
    let (mut piece, mut before) = (0, 0.0);
    for k in 0..=segments {
        let s = total * k as f64 / segments as f64;
        while piece + 1 < pieces.len() && s > before + pieces[piece].length() {
            before += pieces[piece].length();
            piece += 1;
        }
        nodes.push(pieces[piece].at(s - before));
    }
    Ok(nodes)
}

fn round(points: &[Vec3], radius: f64) -> Result<Vec<Piece>, String> {
    if points.len() < 2 {
        return Err(format!("a line of {} points has no length; give at least two", points.len()));
    }
    if let Some(i) = points.windows(2).position(|w| w[0] == w[1]) {
        return Err(format!("points {} and {} coincide; leave one out", i + 1, i + 2));
    }
    let along: Vec<Vec3> = points.windows(2).map(|w| (w[1] - w[0]).normalize()).collect();
    // What rounding cuts off the lines at each corner.
    let turn = |i: usize| along[i].angle_between(along[i + 1]);
    let mut cut = vec![0.0; points.len()];
    for i in 0..along.len() - 1 {
        if along[i].dot(along[i + 1]) < -1.0 + SLACK {
            return Err(format!("the line turns back on itself at point {}; move it", i + 2));
        }
        cut[i + 1] = radius * (0.5 * turn(i)).tan();
    }
    let mut pieces = Vec::with_capacity(2 * points.len());
    for i in 0..along.len() {
        let length = points[i].distance(points[i + 1]);
        if cut[i] + cut[i + 1] > length * (1.0 + SLACK) {
            return Err(format!(
                "corners of radius {radius} m do not fit between points {} and {}, {length} m apart; make them smaller",
                i + 1,
                i + 2
            ));
        }
        let (from, to) = (points[i] + along[i] * cut[i], points[i + 1] - along[i] * cut[i + 1]);
        pieces.push(Piece::Line { from, to });
        if i + 1 < along.len() && cut[i + 1] > 0.0 {
            let axis = along[i].cross(along[i + 1]).normalize();
            let inward = axis.cross(along[i]);
            let centre = to + inward * radius;
            pieces.push(Piece::Arc { centre, from: to - centre, axis, radius, angle: turn(i) });
        }
    }
    pieces.retain(|p| p.length() > 0.0);
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_turn_of_two_corners_lies_on_its_circle() {
        let (r, h) = (0.3, 0.5);
        let points =
            [Vec3::new(-r, 0.0, -h), Vec3::new(-r, 0.0, r), Vec3::new(r, 0.0, r), Vec3::new(r, 0.0, -h)];
        let nodes = divide(&points, r, 100).unwrap();
        let length = 2.0 * h + std::f64::consts::PI * r;
        for (k, p) in nodes.iter().enumerate() {
            let s = length * k as f64 / 100.0;
            let off = if s <= h || s >= length - h { p.x.abs() } else { p.length() };
            assert!((off - r).abs() < 1e-12, "{p}");
        }
        assert!((nodes[100] - points[3]).length() < 1e-12);
    }

    #[test]
    fn bad_lines_say_why() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0)];
        assert!(divide(&p, 0.9, 3).is_ok());
        assert!(divide(&p, 1.1, 3).unwrap_err().contains("do not fit"));
        assert!(divide(&[Vec3::ZERO, Vec3::ZERO], 0.0, 3).unwrap_err().contains("coincide"));
        assert!(divide(&[Vec3::ZERO, Vec3::X, Vec3::ZERO], 0.0, 3).unwrap_err().contains("turns back"));
        assert!(divide(&p[..1], 0.0, 3).is_err());
    }
}
