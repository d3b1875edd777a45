//! Procedural meshes have the counts that their documentation states, tets of positive volume and good shape that meet
//! face to face, closed surfaces of the right topology, and volumes that converge to those of the solids with h².

use std::f64::consts::PI;
use stiction::Vec3;
use stiction::mesh::{Surface, TetMesh, shapes};

/// Checks a mesh: fit for a soft body, quality at least `worst`, (nodes, tets, triangles) as stated, and a closed
/// surface of the Euler number of the solid.
fn assert_mesh(name: &str, m: &TetMesh, worst: f64, counts: [usize; 3], euler: i64) {
    m.check().unwrap_or_else(|e| panic!("{name}: {e}"));
    let s = Surface::of(m);
    assert_eq!([m.vertices.len(), m.tets.len(), s.triangles.len()], counts, "{name}");
    assert!(m.worst_quality() > worst, "{name}: worst quality {}", m.worst_quality());
    assert!(s.pinched_edges().is_empty(), "{name}: surface");
    let number = s.nodes.len() as i64 - s.edges().len() as i64 + s.triangles.len() as i64;
    assert_eq!(number, euler, "{name}: Euler number of the surface");
}

#[test]
fn blocks() {
    for [a, b, c] in [[1, 1, 1], [3, 2, 1], [20, 4, 4], [10, 11, 11]] {
        let counts = [(a + 1) * (b + 1) * (c + 1), 6 * a * b * c, 4 * (a * b + b * c + c * a)];
        let m = shapes::block([a, b, c], 0.01 * Vec3::new(a as f64, b as f64, c as f64));
        assert_mesh("block", &m, 0.65, counts, 2);
        assert!((m.volume() / (1e-6 * (a * b * c) as f64) - 1.0).abs() < 1e-12);
    }
    let m = shapes::block([10, 11, 11], Vec3::new(0.10, 0.11, 0.11));
    assert_eq!((m.vertices.len(), m.tets.len()), (1584, 7260));
    let (lo, hi) = m.bounds().unwrap();
    assert!(lo.distance(Vec3::new(-0.05, -0.055, 0.0)) < 1e-16);
    assert!(hi.distance(Vec3::new(0.05, 0.055, 0.11)) < 1e-16);
}

#[test]
fn kuhn_split_of_one_cube() {
    // Corner (i, j, k) is node i + 2j + 4k; every tet has the diagonal 0–7 and walks along axes.
    let m = shapes::block([1, 1, 1], Vec3::ONE);
    assert_eq!(m.tets, [[0, 1, 3, 7], [0, 1, 7, 5], [0, 2, 7, 3], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 7, 6]]);
    assert!(m.volumes().iter().all(|v| (v - 1.0 / 6.0).abs() < 1e-16));
}

#[test]
fn sheets_and_cloth() {
    let m = shapes::sheet([6, 4], [0.6, 0.4], 0.1);
    assert_mesh("sheet", &m, 0.65, [70, 144, 4 * (24 + 6 + 4)], 2);
    let c = shapes::cloth([6, 4], [0.6, 0.4]);
    assert_eq!((c.vertices.len(), c.triangles.len()), (35, 48));
    let doubled = |t: &[u32; 3]| {
        let [p, q, r] = t.map(|i| c.vertices[i as usize]);
        (q - p).cross(r - p)
    };
    assert!(c.triangles.iter().all(|t| (doubled(t) - 0.01 * Vec3::Z).length() < 1e-15));
    // Euler number of a disc.
    assert_eq!(c.vertices.len() + c.triangles.len(), c.edges().len() + 1);
}

#[test]
fn spheres() {
    for n in 1..=8 {
        let nodes = 5 * n * (n + 1) * (2 * n + 1) / 3 + 2 * n + 1;
        let m = shapes::sphere(0.3, n);
        assert_mesh("sphere", &m, 0.6, [nodes, 20 * n * n * n, 20 * n * n], 2);
        // The surface is round: every node of it at the radius, and nothing else.
        let s = Surface::of(&m);
        assert_eq!(s.nodes.len(), 10 * n * n + 2);
        assert!(s.nodes.iter().all(|&i| (m.vertices[i as usize].length() - 0.3).abs() < 1e-15));
    }
    converges("sphere", 4.0 / 3.0 * PI, |n| shapes::sphere(1.0, n));
    let m = shapes::sphere(0.05, 7);
    assert_eq!((m.vertices.len(), m.tets.len()), (1415, 6860));
}

#[test]
fn cylinders() {
    for (n, m) in [(1, 1), (2, 3), (4, 10)] {
        let counts = [(3 * n * (n + 1) + 1) * (m + 1), 18 * n * n * m, 12 * n * n + 12 * n * m];
        let mesh = shapes::cylinder(0.1, 0.1 * m as f64 / n as f64, n, m);
        assert_mesh("cylinder", &mesh, 0.4, counts, 2);
    }
    converges("cylinder", PI * 2.0, |n| shapes::cylinder(1.0, 2.0, n, 2 * n));
}

#[test]
fn tori() {
    for (n, m) in [(1, 12), (2, 24), (3, 40)] {
        let counts = [(3 * n * (n + 1) + 1) * m, 18 * n * n * m, 12 * n * m];
        assert_mesh("torus", &shapes::torus(0.2, 0.1, n, m), 0.25, counts, 0);
    }
    converges("torus", 2.0 * PI * PI * 0.25, |n| shapes::torus(1.0, 0.5, n, 12 * n));
}

#[test]
fn rings() {
    let m = shapes::ring(0.1, 0.03, 18);
    assert_mesh("ring", &m, 0.5, [72, 108, 144], 0);
    // A polygon of m segments: V = side² · m R sin(2π/m), since the mean radius is in the middle.
    let exact = 0.03 * 0.03 * 18.0 * 0.1 * (2.0 * PI / 18.0).sin();
    assert!((m.volume() / exact - 1.0).abs() < 1e-12);
}

#[test]
fn empty_and_flat_requests_give_meshes_that_are_refused() {
    for m in [
        shapes::block([2, 0, 2], Vec3::ONE),
        shapes::block([2, 2, 2], Vec3::new(1.0, 1.0, 0.0)),
        shapes::block([2, 2, 2], Vec3::new(1.0, f64::NAN, 1.0)),
        shapes::sphere(1.0, 0),
        shapes::sphere(0.0, 2),
        shapes::cylinder(1.0, 1.0, 0, 2),
        shapes::cylinder(1.0, 1.0, 2, 0),
        shapes::cylinder(1.0, 0.0, 2, 2),
        shapes::torus(1.0, 0.1, 2, 0),
        shapes::torus(1.0, 0.1, 2, 1),
        shapes::ring(1.0, 0.1, 0),
        shapes::ring(1.0, 0.1, 1),
        shapes::ring(1.0, 0.1, 2),
    ] {
        m.check().unwrap_err();
    }
}

/// Chords cut off a share of the volume that falls with the square of the edge.
fn converges(name: &str, exact: f64, mesh: impl Fn(usize) -> TetMesh) {
    let missing = |n| 1.0 - mesh(n).volume() / exact;
    let (coarse, fine) = (missing(4), missing(8));
    let slope = (coarse / fine).log2();
    assert!(fine > 0.0 && fine < 0.02 && (slope - 2.0).abs() < 0.1, "{name}: {coarse} {fine} slope {slope}");
}
