//! COND-kernel: the product of the iteration against the memory bandwidth of this machine, with one and two threads.

use crate::{Context, Experiment, Row};
use std::hint::black_box;
use std::time::Instant;
use stiction::linalg::{Pieces, SymBsr};
use stiction_cli::clock::Stopwatch;
use stiction_cli::failure::{Result, error};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "COND-kernel",
    title: "the product with A: share of the memory bandwidth, and two threads",
    claim: "ours: at least 70 % of the bandwidth out of cache on one thread; 1.6 times as fast on two, with the same bits",
    run,
};

/// Least of several times on the wall [s].
fn best(times: usize, mut f: impl FnMut()) -> f64 {
    let once = |_| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    (0..times).map(once).fold(f64::INFINITY, f64::min)
}

/// Least of several processor times of two things [s], done in turns, so that a slow spell of the machine is one for both. Other
/// programs take less of processor time than of time on the wall.
fn least(times: usize, mut one: impl FnMut(), mut other: impl FnMut()) -> [f64; 2] {
    let once = |f: &mut dyn FnMut()| {
        let watch = Stopwatch::start();
        f();
        let took = watch.elapsed();
        took.cpu.unwrap_or(took.wall)
    };
    let both = (0..times).map(|_| [once(&mut one), once(&mut other)]);
    both.fold([f64::INFINITY; 2], |least, now| [least[0].min(now[0]), least[1].min(now[1])])
}

/// A matrix like that of a block of tetrahedra: 14 neighbours per node.
fn lattice(n: usize) -> SymBsr {
    let at = |i: usize, j: usize, k: usize| ((i * n + j) * n + k) as u32;
    let (mut start, mut col) = (vec![0], Vec::new());
    for i in 0..n as i64 {
        for j in 0..n as i64 {
            for k in 0..n as i64 {
                let mut row = Vec::new();
                // Kuhn's tetrahedra join nodes whose steps have one sign.
                for code in 0..8 {
                    let step = [code & 1, (code >> 1) & 1, (code >> 2) & 1];
                    for sign in [1, -1] {
                        let p = [i + sign * step[0], j + sign * step[1], k + sign * step[2]];
                        if p.iter().all(|&x| x >= 0 && x < n as i64) {
                            row.push(at(p[0] as usize, p[1] as usize, p[2] as usize));
                        }
                    }
                }
                row.sort_unstable();
                row.dedup();
                col.extend(row);
                start.push(col.len() as u32);
            }
        }
    }
    let mut a = SymBsr::default();
    a.set_pattern(&start, &col);
    for (k, m) in a.upper_mut().iter_mut().enumerate() {
        *m = std::array::from_fn(|e| ((k + e) % 13) as f64 - 6.0);
    }
    a
}

/// The same lattice as tetrahedra, six to a cell: their nodes, and the gradients of their shape functions with the volume.
struct Tets {
    nodes: Vec<[u32; 4]>,
    gradients: Vec<[f64; 13]>,
}

impl Tets {
    fn new(n: usize) -> Tets {
        let at = |p: [usize; 3]| ((p[0] * n + p[1]) * n + p[2]) as u32;
        let mut nodes = Vec::new();
        for c in 0..(n - 1).pow(3) {
            let cell = [c / (n - 1).pow(2), c / (n - 1) % (n - 1), c % (n - 1)];
            // Kuhn: one way from corner to corner per order of the axes.
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let mut p = cell;
                let mut tet = [at(p); 4];
                for (k, axis) in order.into_iter().enumerate() {
                    p[axis] += 1;
                    tet[k + 1] = at(p);
                }
                nodes.push(tet);
            }
        }
        let gradients =
            (0..nodes.len()).map(|t| std::array::from_fn(|e| ((t + e) % 7) as f64 - 3.0)).collect();
        Tets { nodes, gradients }
    }

    /// y = K x of a linear material, element by element: strain, stress, forces.
    fn mul(&self, x: &[f64], y: &mut [f64]) {
        let (x, _) = x.as_chunks::<3>();
        let (y, _) = y.as_chunks_mut::<3>();
        y.fill([0.0; 3]);
        for (nodes, g) in self.nodes.iter().zip(&self.gradients) {
            let mut f = [[0.0; 3]; 3];
            for (a, &node) in nodes.iter().enumerate() {
                let v = x[node as usize];
                for r in 0..3 {
                    for c in 0..3 {
                        f[r][c] += v[r] * g[3 * a + c];
                    }
                }
            }
            let trace = f[0][0] + f[1][1] + f[2][2];
            let mut s = [[0.0; 3]; 3];
            for r in 0..3 {
                for c in 0..3 {
                    s[r][c] = g[12] * (f[r][c] + f[c][r] + if r == c { trace } else { 0.0 });
                }
            }
            for (a, &node) in nodes.iter().enumerate() {
                let to = &mut y[node as usize];
                for r in 0..3 {
                    to[r] += s[r][0] * g[3 * a] + s[r][1] * g[3 * a + 1] + s[r][2] * g[3 * a + 2];
                }
            }
        }
    }
}

/// Time of a product without a matrix over that of one with it, on a lattice of `side` nodes.
fn without_matrix(side: usize, times: usize) -> Row {
    let (a, tets) = (lattice(side), Tets::new(side));
    let n = 3 * a.rows();
    let x: Vec<f64> = (0..n).map(|i| (i % 17) as f64 - 8.0).collect();
    let mut y = vec![0.0; n];
    let mut z = y.clone();
    let [with, without] = least(
        times,
        || a.mul(black_box(&x), black_box(&mut y)),
        || tets.mul(black_box(&x), black_box(&mut z)),
    );
    Row::new(
        format!("side-{side}/element-by-element"),
        format!("{n} dofs: time element by element over assembled"),
        without / with,
        "×",
    )
    .against("> 1: assembled products win")
}

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let (side, times) = ctx.pick((60, 10), (80, 30));
    let a = lattice(side);
    let n = 3 * a.rows();
    let x: Vec<f64> = (0..n).map(|i| (i % 17) as f64 - 8.0).collect();
    let mut y = vec![0.0; n];
    // Reading an array as large as the matrix is the bandwidth that the product could use.
    let array: Vec<f64> = (0..a.memory() / 8).map(|i| i as f64).collect();
    let read = || {
        let mut s = [0.0; 8];
        for c in black_box(&array).chunks_exact(8) {
            for k in 0..8 {
                s[k] += c[k];
            }
        }
        black_box(s);
    };
    let [read, plain] = least(times, read, || a.mul(black_box(&x), black_box(&mut y)));
    let bandwidth = 8.0 * array.len() as f64 / read;
    let plain_wall = best(times, || a.mul(black_box(&x), black_box(&mut y)));
    // Matrix, x, y written and read.
    let bytes = (a.memory() + 3 * 8 * n) as f64;
    let pool = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| error(format!("threads: {e}"), "try again when the machine is less busy"))
    };
    let mut shared = |threads: usize| -> Result<(f64, Vec<f64>)> {
        let (pool, mut pieces) = (pool(threads)?, Pieces::default());
        let time =
            pool.install(|| best(times, || a.mul_shared(black_box(&x), black_box(&mut y), &mut pieces)));
        Ok((time, y.clone()))
    };
    let ((one, y_one), (two, y_two)) = (shared(1)?, shared(2)?);
    let mut rows = vec![
        Row::remark("matrix", "matrix", format!("{n} dofs, {:.0} MB", a.memory() as f64 / 1e6)),
        Row::new("bandwidth", "memory bandwidth, reading", bandwidth / 1e9, "GB/s"),
        Row::new("product", "product, one thread", bytes / plain / 1e9, "GB/s"),
        Row::new("bandwidth-share", "share of the bandwidth", bytes / plain / bandwidth, "").at_least(0.7),
        Row::new("two-threads/over-one", "two threads over one, shared product", one / two, "×")
            .at_least(1.6)
            .because("wall time: other programs on the machine count"),
        Row::new("two-threads/over-plain", "two threads over the plain product", plain_wall / two, "×"),
        Row::remark(
            "two-threads/same-bits",
            "same bits for one and two threads",
            if y_one == y_two { "yes" } else { "no" },
        )
        .accept("yes", y_one == y_two),
    ];
    // In cache and out of it: linear tetrahedra have about as many numbers as their matrix, and more arithmetic.
    rows.extend(ctx.pick([8, 20, 40], [8, 20, 60]).map(|side| without_matrix(side, times)));
    Ok(rows)
}
