//! Procedural meshes. Counts are exact; every tet is positive.
//!
//! | shape | nodes | tets | surface triangles |
//! |---|---|---|---|
//! | [`block`] of a × b × c cells | (a+1)(b+1)(c+1) | 6abc | 4(ab + bc + ca) |
//! | [`sheet`] of a × b cells | 2(a+1)(b+1) | 6ab | 4(ab + a + b) |
//! | [`sphere`] of n shells | 5n(n+1)(2n+1)/3 + 2n + 1 | 20n³ | 20n² |
//! | [`cylinder`] of n rings, m layers | (3n(n+1) + 1)(m+1) | 18n²m | 12n² + 12nm |
//! | [`torus`] of n rings, m segments | (3n(n+1) + 1)m | 18n²m | 12nm |
//! | [`ring`] of m segments | 4m | 6m | 8m |
//! | [`cloth`] of a × b cells | (a+1)(b+1) | – | 2ab triangles |
//!
//! A count of zero, a size of zero or one that is not finite gives a mesh that [`TetMesh::check`] refuses.

use super::{TetMesh, TriMesh};
use crate::linalg::Vec3;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// The Kuhn split of a cube into six tets around its diagonal: each tet walks from corner 000 to corner 111 along the
/// three axes in one order. Neighbouring cells cut their common face along the same diagonal.
pub(super) fn kuhn(corner: impl Fn([usize; 3]) -> u32, tets: &mut Vec<[u32; 4]>) {
    const ORDERS: [([usize; 3], bool); 6] = [
        ([0, 1, 2], true),
        ([0, 2, 1], false),
        ([1, 0, 2], false),
        ([1, 2, 0], true),
        ([2, 0, 1], true),
        ([2, 1, 0], false),
    ];
    for (order, even) in ORDERS {
        let mut c = [0; 3];
        let mut tet = [corner(c); 4];
        for k in 0..3 {
            c[order[k]] += 1;
            tet[k + 1] = corner(c);
        }
        // Odd orders turn the other way.
        if !even {
            tet.swap(2, 3);
        }
        tets.push(tet);
    }
}

/// A block of `cells` cubes, `size` [m] long, six tets per cell. It stands on z = 0, centred in x and y.
///
/// 10 × 11 × 11 cells give 1584 nodes and 7260 tets.
pub fn block(cells: [usize; 3], size: Vec3) -> TetMesh {
    let [nx, ny, nz] = cells;
    let mut m = TetMesh::default();
    if cells.contains(&0) {
        return m;
    }
    let at = |i: usize, n: usize, length: f64| i as f64 * length / n as f64;
    for k in 0..=nz {
        for j in 0..=ny {
            for i in 0..=nx {
                let (x, y) = (at(i, nx, size.x) - size.x / 2.0, at(j, ny, size.y) - size.y / 2.0);
                m.vertices.push(Vec3::new(x, y, at(k, nz, size.z)));
            }
        }
    }
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let corner = |[a, b, c]: [usize; 3]| (((k + c) * (ny + 1) + j + b) * (nx + 1) + i + a) as u32;
                kuhn(corner, &mut m.tets);
            }
        }
    }
    m
}

/// A sheet one cell thick: the [`block`] of `cells[0]` × `cells[1]` × 1 cells, `size` and `thickness` [m].
pub fn sheet(cells: [usize; 2], size: [f64; 2], thickness: f64) -> TetMesh {
    block([cells[0], cells[1], 1], Vec3::new(size[0], size[1], thickness))
}

/// Triangles of a rectangle of `cells`, `size` [m], centred in the plane z = 0 and looking up. The diagonals of
/// neighbouring cells cross, so that no direction is preferred.
pub fn cloth(cells: [usize; 2], size: [f64; 2]) -> TriMesh {
    let [nx, ny] = cells;
    let mut m = TriMesh::default();
    if cells.contains(&0) {
        return m;
    }
    let at = |i: usize, n: usize, length: f64| i as f64 * length / n as f64 - length / 2.0;
    for j in 0..=ny {
        for i in 0..=nx {
            m.vertices.push(Vec3::new(at(i, nx, size[0]), at(j, ny, size[1]), 0.0));
        }
    }
    for j in 0..ny {
        for i in 0..nx {
            let corner = |a: usize, b: usize| ((j + b) * (nx + 1) + i + a) as u32;
            let [p, q, r, s] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            m.triangles.extend(if (i + j) % 2 == 0 {
                [[p, q, r], [p, r, s]]
            } else {
                [[p, q, s], [q, r, s]]
            });
        }
    }
    m
}

/// A ring of square section: `radius` [m] of its middle line, `side` [m] of the square, axis z, centred at the
/// origin; six tets per segment.
///
/// 18 segments give 72 nodes, 108 tets and 144 surface triangles.
pub fn ring(radius: f64, side: f64, segments: usize) -> TetMesh {
    let mut m = TetMesh::default();
    for s in 0..segments {
        let (sin, cos) = (TAU * s as f64 / segments as f64).sin_cos();
        for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let (r, z) = (radius + (f64::from(i) - 0.5) * side, (f64::from(j) - 0.5) * side);
            m.vertices.push(Vec3::new(r * cos, r * sin, z));
        }
        // Outward, along, up: a right-handed cell.
        let corner = |[i, ds, j]: [usize; 3]| (4 * ((s + ds) % segments) + 2 * j + i) as u32;
        kuhn(corner, &mut m.tets);
    }
    m
}

/// Nodes and triangles of the unit disc: a node in the middle and 6k on ring k of `rings`.
fn disc(rings: usize) -> (Vec<[f64; 2]>, Vec<[u32; 3]>) {
    let mut nodes = vec![[0.0; 2]];
    let mut triangles = Vec::new();
    let node = |k: usize, j: usize| if k == 0 { 0 } else { (1 + 3 * k * (k - 1) + j % (6 * k)) as u32 };
    for k in 1..=rings {
        for j in 0..6 * k {
            let (sin, cos) = (TAU * j as f64 / (6 * k) as f64).sin_cos();
            let r = k as f64 / rings as f64;
            nodes.push([r * cos, r * sin]);
        }
        for sector in 0..6 {
            let (outer, inner) = (sector * k, sector * (k - 1));
            for j in 0..k {
                triangles.push([node(k - 1, inner + j), node(k, outer + j), node(k, outer + j + 1)]);
            }
            for j in 0..k - 1 {
                triangles.push([node(k - 1, inner + j), node(k, outer + j + 1), node(k - 1, inner + j + 1)]);
            }
        }
    }
    (nodes, triangles)
}

/// Tets between two copies of a disc, whose nodes start at `low` and `high`. Each prism has three; the diagonals of its
/// sides start at the lower node of the disc, so neighbours agree.
fn prisms(triangles: &[[u32; 3]], low: u32, high: u32, tets: &mut Vec<[u32; 4]>) {
    for t in triangles {
        let mut t = *t;
        t.sort_unstable();
        let ([a, b, c], [p, q, r]) = (t.map(|i| low + i), t.map(|i| high + i));
        tets.extend([[a, b, c, r], [a, b, q, r], [a, p, q, r]]);
    }
}

/// A cylinder about the z axis that stands on z = 0: `radius` and `length` [m], `rings` across the radius, `layers`
/// along the axis. `layers` ≈ `rings` · `length` / `radius` gives the best tets.
pub fn cylinder(radius: f64, length: f64, rings: usize, layers: usize) -> TetMesh {
    let (nodes, triangles) = disc(rings);
    let mut m = TetMesh::default();
    for l in 0..=layers {
        let z = l as f64 * length / layers as f64;
        m.vertices.extend(nodes.iter().map(|[u, v]| Vec3::new(radius * u, radius * v, z)));
    }
    for l in 0..layers {
        prisms(&triangles, (l * nodes.len()) as u32, ((l + 1) * nodes.len()) as u32, &mut m.tets);
    }
    m.orient();
    m
}

/// A torus about the z axis, centred at the origin: `radius` [m] of its middle line, `tube` [m] radius of the tube,
/// `rings` across the tube, `segments` around.
pub fn torus(radius: f64, tube: f64, rings: usize, segments: usize) -> TetMesh {
    let (nodes, triangles) = disc(rings);
    let mut m = TetMesh::default();
    for s in 0..segments {
        let (sin, cos) = (TAU * s as f64 / segments as f64).sin_cos();
        m.vertices.extend(nodes.iter().map(|[u, v]| {
            let r = radius + tube * u;
            Vec3::new(r * cos, r * sin, tube * v)
        }));
        let next = (s + 1) % segments;
        prisms(&triangles, (s * nodes.len()) as u32, (next * nodes.len()) as u32, &mut m.tets);
    }
    m.orient();
    m
}

/// A ball of `radius` [m] at the origin: a node in the middle and `shells` spherical shells of 10k² + 2 nodes.
///
/// The icosahedron and its centre make twenty nearly regular tets; each is cut into `shells`³, and shells are pushed
/// out to spheres. Seven shells give 1415 nodes, 6860 tets and 980 surface triangles.
pub fn sphere(radius: f64, shells: usize) -> TetMesh {
    let corners = icosahedron();
    let mut cut =
        Subdivision { shells, radius, corners: &corners, ids: BTreeMap::new(), mesh: TetMesh::default() };
    for a in 0..corners.len() {
        for b in a + 1..corners.len() {
            for c in b + 1..corners.len() {
                let near = |i: usize, j: usize| corners[i].distance(corners[j]) < 1.1;
                if near(a, b) && near(b, c) && near(c, a) {
                    cut.cone([a, b, c]);
                }
            }
        }
    }
    let mut mesh = cut.mesh;
    mesh.orient();
    mesh
}

/// The twelve corners of the icosahedron in the unit sphere; its edges are 1.0515 long, other pairs at least 1.7.
fn icosahedron() -> Vec<Vec3> {
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let mut corners = Vec::new();
    for (a, b) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
        corners.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    corners.iter().map(|c| c.normalize()).collect()
}

/// Twenty cones of the ball, cut into small tets that share their nodes.
struct Subdivision<'a> {
    shells: usize,
    radius: f64,
    corners: &'a [Vec3],
    /// Nodes by the corners that they lie between: (corner, weight), ascending, zero weights left out.
    ids: BTreeMap<Vec<(usize, usize)>, u32>,
    mesh: TetMesh,
}

impl Subdivision<'_> {
    /// The node of the cone over `face` with whole weights `w` of the centre and the three corners, of sum `shells`.
    fn node(&mut self, face: [usize; 3], w: [usize; 4]) -> u32 {
        let between: Vec<(usize, usize)> = (0..3).map(|k| (face[k], w[k + 1])).filter(|c| c.1 > 0).collect();
        let direction: Vec3 = between.iter().map(|&(c, n)| n as f64 * self.corners[c]).sum();
        let r = self.radius * (self.shells - w[0]) as f64 / self.shells as f64;
        let vertices = &mut self.mesh.vertices;
        *self.ids.entry(between).or_insert_with(|| {
            vertices.push(r * direction.normalize_or_zero());
            vertices.len() as u32 - 1
        })
    }

    /// Cuts the cone over one face into `shells`³ tets: those like the cone, those upside down, and octahedra in
    /// between, each cut into four around its shortest diagonal.
    fn cone(&mut self, face: [usize; 3]) {
        const UNIT: [[usize; 4]; 4] = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]];
        let add = |a: [usize; 4], b: [usize; 4]| [0, 1, 2, 3].map(|i| a[i] + b[i]);
        for base in weights(self.shells, 1) {
            let tet = UNIT.map(|e| self.node(face, add(base, e)));
            self.mesh.tets.push(tet);
        }
        for base in weights(self.shells, 3) {
            let tet = UNIT.map(|e| self.node(face, [0, 1, 2, 3].map(|i| base[i] + 1 - e[i])));
            self.mesh.tets.push(tet);
        }
        for base in weights(self.shells, 2) {
            let mut node = |i: usize, j: usize| self.node(face, add(add(base, UNIT[i]), UNIT[j]));
            // Each diagonal with the other four corners in their cycle.
            let cuts = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]].map(|[i, j, k, l]| {
                (node(i, j), node(k, l), [node(i, k), node(i, l), node(j, l), node(j, k)])
            });
            let x = |i: u32| self.mesh.vertices[i as usize];
            let shortest = cuts.into_iter().min_by(|a, b| {
                let (a, b) = (x(a.0).distance_squared(x(a.1)), x(b.0).distance_squared(x(b.1)));
                a.total_cmp(&b)
            });
            let (p, q, cycle) = shortest.expect("an octahedron has three diagonals");
            self.mesh.tets.extend([0, 1, 2, 3].map(|k| [p, q, cycle[k], cycle[(k + 1) % 4]]));
        }
    }
}

/// All four whole weights of sum n − `less`.
fn weights(n: usize, less: usize) -> impl Iterator<Item = [usize; 4]> {
    let sums = n.checked_sub(less).map(|sum| {
        (0..=sum).flat_map(move |a| {
            (0..=sum - a).flat_map(move |b| (0..=sum - a - b).map(move |c| [sum - a - b - c, a, b, c]))
        })
    });
    sums.into_iter().flatten()
}
