//! COND-kernel: the product of the iteration against the memory bandwidth of this machine, with one and two threads.

use crate::bench::{Context, Experiment, Row};
use crate::failure::{Result, error};
use std::hint::black_box;
use std::time::Instant;
use stiction::linalg::{Pieces, SymBsr};

/// The registry entry.
pub const EXPERIMENT: Experiment = Experiment {
    id: "COND-kernel",
    title: "the product with A: share of the memory bandwidth, and two threads",
    claim: "ours: at least 70 % of the bandwidth out of cache on one thread; 1.6 times as fast on two, with the same bits",
    run,
};

/// Least of several times [s].
fn best(times: usize, mut f: impl FnMut()) -> f64 {
    (0..times)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
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

fn run(ctx: &mut Context) -> Result<Vec<Row>> {
    let (side, times) = ctx.pick((60, 5), (80, 15));
    let a = lattice(side);
    let n = 3 * a.rows();
    let x: Vec<f64> = (0..n).map(|i| (i % 17) as f64 - 8.0).collect();
    let mut y = vec![0.0; n];
    // Reading an array as large as the matrix is the bandwidth that the product could use.
    let array: Vec<f64> = (0..a.memory() / 8).map(|i| i as f64).collect();
    let read = best(times, || {
        let mut s = [0.0; 8];
        for c in black_box(&array).chunks_exact(8) {
            for k in 0..8 {
                s[k] += c[k];
            }
        }
        black_box(s);
    });
    let bandwidth = 8.0 * array.len() as f64 / read;
    let plain = best(times, || a.mul(black_box(&x), black_box(&mut y)));
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
    Ok(vec![
        Row::remark("matrix", format!("{n} dofs, {:.0} MB", a.memory() as f64 / 1e6)),
        Row::new("memory bandwidth, reading", bandwidth / 1e9, "GB/s"),
        Row::new("product, one thread", bytes / plain / 1e9, "GB/s"),
        Row::new("share of the bandwidth", bytes / plain / bandwidth, "").at_least(0.7),
        Row::new("two threads over one, shared product", one / two, "×")
            .at_least(1.6)
            .because("wall time: other programs on the machine count"),
        Row::new("two threads over the plain product", plain / two, "×"),
        Row::remark("same bits for one and two threads", if y_one == y_two { "yes" } else { "no" })
            .accept("yes", y_one == y_two),
    ])
}
