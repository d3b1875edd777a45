//! An independent judge of soft bodies that must not run into each other: by brute force over every vertex and
//! tetrahedron, edge and triangle, with signs of volumes and nothing else.

use stiction::Vec3;
use stiction::coords::SoftId;
use stiction::kinematics::Placement;
use stiction::sim::Simulation;

/// How far, at most, vertices of one solid lie inside tetrahedra of another, and edges of one run through triangles of
/// another [m]; zero where nothing intersects.
pub fn deepest(sim: &Simulation) -> f64 {
    let (model, state) = (sim.model(), sim.state());
    let x: Vec<Vec<Vec3>> = (0..model.solids.len())
        .map(|s| {
            let count = model.solids[s].vertices.len();
            (0..count)
                .map(|v| Placement::of(model, state).kinematics(model).vertex_position(SoftId(s as u32), v))
                .collect()
        })
        .collect();
    let mut worst = 0.0_f64;
    for (s, one) in model.solids.iter().enumerate() {
        for (t, two) in model.solids.iter().enumerate() {
            if s == t {
                continue;
            }
            let mut vertices: Vec<u32> = one.surface.iter().flatten().copied().collect();
            vertices.sort_unstable();
            vertices.dedup();
            for v in vertices {
                for tet in &two.tets {
                    let corners = tet.map(|k| x[t][k as usize]);
                    if is_in_tet(x[s][v as usize], corners) {
                        worst = worst.max(depth(x[s][v as usize], &two.surface, &x[t]));
                    }
                }
            }
            for [a, b] in stiction::mesh::edges(&one.surface) {
                let (p, q) = (x[s][a as usize], x[s][b as usize]);
                for tri in &two.surface {
                    let corners = tri.map(|k| x[t][k as usize]);
                    if let Some(at) = crossing(p, q, corners) {
                        // As deep as the way to the nearest end or rim.
                        let rim = (0..3)
                            .map(|k| to_line(at, corners[k], corners[(k + 1) % 3]))
                            .fold(f64::INFINITY, f64::min);
                        let n = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
                        let ends = n.dot(p - corners[0]).abs().min(n.dot(q - corners[0]).abs());
                        worst = worst.max(rim.min(ends));
                    }
                }
            }
        }
    }
    worst
}

fn volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    (b - a).dot((c - a).cross(d - a))
}

fn is_in_tet(p: Vec3, [a, b, c, d]: [Vec3; 4]) -> bool {
    [volume(p, b, c, d), volume(a, p, c, d), volume(a, b, p, d), volume(a, b, c, p)].iter().all(|v| *v > 0.0)
}

/// Where the segment pq runs through the inside of a triangle.
fn crossing(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> Option<Vec3> {
    let (over, under) = (volume(a, b, c, p), volume(a, b, c, q));
    if over * under >= 0.0 {
        return None;
    }
    let around = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    let inside = around.iter().all(|v| *v > 0.0) || around.iter().all(|v| *v < 0.0);
    inside.then(|| p + (q - p) * (over / (over - under)))
}

fn to_line(p: Vec3, a: Vec3, b: Vec3) -> f64 {
    (p - a).cross((b - a).normalize()).length()
}

/// Distance to the nearest triangle.
fn depth(p: Vec3, surface: &[[u32; 3]], x: &[Vec3]) -> f64 {
    let distance = |t: &[u32; 3]| {
        let c = t.map(|k| x[k as usize]);
        let n = (c[1] - c[0]).cross(c[2] - c[0]).normalize();
        let over = (0..3).all(|k| (c[(k + 1) % 3] - c[k]).cross(p - c[k]).dot(n) >= 0.0);
        let to_edge = |k: usize| {
            let (a, d) = (c[k], c[(k + 1) % 3] - c[k]);
            p.distance(a + d * ((p - a).dot(d) / d.length_squared()).clamp(0.0, 1.0))
        };
        if over { n.dot(p - c[0]).abs() } else { (0..3).map(to_edge).fold(f64::INFINITY, f64::min) }
    };
    surface.iter().map(distance).fold(f64::INFINITY, f64::min)
}
