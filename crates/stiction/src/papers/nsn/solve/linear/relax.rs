//! Relaxation: Jacobi and Gauss–Seidel, for comparison (Sec. 10.4).

use super::{LinearReport, Run, note};
use crate::linalg::Real;
use crate::linalg::real::add_scaled;

/// Share of the Jacobi step that is taken [ours]. Full steps diverge on every stack: the rows of one face are not
/// diagonally dominant.
const JACOBI_SHARE: f64 = 0.6;

/// x += ω D⁻¹ (b − S x).
pub fn jacobi<T: Real>(
    run: &Run<T>,
    x: &mut [T],
    work: &mut [Vec<T>],
    history: &mut Option<Vec<f64>>,
) -> LinearReport {
    let [r, z, sx, y, ..] = work else { unreachable!("nine vectors") };
    r.copy_from_slice(run.b);
    for k in 0..run.most {
        for i in 0..x.len() {
            z[i] = run.p.diagonal()[i] * r[i];
        }
        add_scaled(x, T::of(JACOBI_SHARE), z);
        run.s.apply(x, sx, y);
        for i in 0..x.len() {
            r[i] = run.b[i] - sx[i];
        }
        if history.is_some() {
            run.p.apply(r, z);
            note(history, r, z);
        }
        if !r.iter().all(|r| r.is_number()) {
            return LinearReport { iterations: k + 1, broken: true };
        }
    }
    LinearReport { iterations: run.most, broken: false }
}

/// Forward sweeps of Gauss–Seidel.
pub fn gauss_seidel<T: Real>(
    run: &Run<T>,
    x: &mut [T],
    work: &mut [Vec<T>],
    history: &mut Option<Vec<f64>>,
) -> LinearReport {
    let [r, z, sx, y, ..] = work else { unreachable!("nine vectors") };
    run.s.start_sweeps(y);
    for _ in 0..run.most {
        run.s.sweep(run.b, run.p.diagonal(), x, y);
        if history.is_some() {
            run.s.apply(x, sx, &mut y.clone());
            for i in 0..x.len() {
                r[i] = run.b[i] - sx[i];
            }
            run.p.apply(r, z);
            note(history, r, z);
        }
    }
    let broken = !x.iter().all(|x| x.is_number());
    LinearReport { iterations: run.most, broken }
}
