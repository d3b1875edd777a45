//! Writing solutions, and problems of the simulator in the global form.

use super::csr::Csr;
use super::{ProblemSolution, npy, npz};
use crate::error::{Error, Result};
use std::path::Path;
use stiction::Vec3;
use stiction::contact::{ContactProblem, Friction, Law};

/// Writes `r`, `u` and, for the global form, `v`.
pub fn write_solution(path: &Path, s: &ProblemSolution) -> Result<()> {
    let array = |x: &[f64]| npy::floats(&[x.len()], x.iter().copied());
    let mut arrays = vec![("r", array(&s.r)), ("u", array(&s.u))];
    if let Some(v) = &s.v {
        arrays.push(("v", array(v)));
    }
    npz::write(path, &arrays)
}

/// Writes a problem of the simulator in the global form: M = A, H = Jᵀ, f = b, w = bias.
///
/// Beside the arrays that [`read`](super::read) needs, `key` (contacts × 4: both shapes and both features, as far
/// as signed integers hold them), `h` [s], `force_per_lambda` [1/s] and `velocity_scale` [m/s] tell where it came from.
/// Rows of joints have no place in the format and are refused.
pub fn write_problem(path: &Path, p: &ContactProblem) -> Result<()> {
    let contacts = p.contacts();
    let (m, h) = (mass(p), jacobian_transposed(p));
    let mut friction = Vec::with_capacity(contacts);
    for (c, law) in p.law.iter().enumerate() {
        match law {
            Law::Contact(f) if p.softness[c] == Vec3::splat(p.softness[c].x) => friction.push(*f),
            Law::Contact(_) => return Err(unknown_to_files(path, c, "rows that differ in softness")),
            Law::Rows(_) => return Err(unknown_to_files(path, c, "rows of a joint")),
        }
    }
    let elliptic = friction.iter().any(|f| matches!(f, Friction::Elliptic(..)));
    let mu: Vec<f64> = friction
        .iter()
        .flat_map(|f| match *f {
            Friction::Isotropic(mu) => [mu, mu],
            Friction::Elliptic(a, b) => [a, b],
        })
        .step_by(if elliptic { 1 } else { 2 })
        .collect();
    let mu_shape: &[usize] = if elliptic { &[contacts, 2] } else { &[contacts] };
    let key = p.key.iter().flat_map(|k| {
        [k.shape_a.0.into(), k.shape_b.0.into(), k.feature_a.cast_signed(), k.feature_b.cast_signed()]
    });
    let mut arrays = Vec::new();
    for (matrix, [data, indices, indptr]) in
        [(&m, ["M_data", "M_indices", "M_indptr"]), (&h, ["H_data", "H_indices", "H_indptr"])]
    {
        arrays.push((data, npy::floats(&[matrix.value.len()], matrix.value.iter().copied())));
        arrays
            .push((indices, npy::integers(&[matrix.column.len()], matrix.column.iter().map(|&c| c.into()))));
        arrays.push((indptr, npy::integers(&[matrix.start.len()], matrix.start.iter().map(|&c| c.into()))));
    }
    arrays.extend([
        ("f", npy::floats(&[p.b.len()], p.b.iter().copied())),
        ("w", npy::floats(&[3 * contacts], p.bias.iter().flat_map(Vec3::to_array))),
        ("mu", npy::floats(mu_shape, mu)),
        ("softness", npy::floats(&[contacts], p.softness.iter().map(|s| s.x))),
        ("key", npy::integers(&[p.key.len(), 4], key)),
        ("h", npy::floats(&[], [p.h])),
        ("force_per_lambda", npy::floats(&[], [p.force_per_lambda])),
        ("velocity_scale", npy::floats(&[], [p.velocity_scale])),
    ]);
    npz::write(path, &arrays)
}

fn unknown_to_files(path: &Path, block: usize, what: &str) -> Error {
    Error::at_path(
        path,
        format!("block {block} of the problem has {what}, which problem files cannot hold"),
        "write problems of scenes without joints",
    )
}

/// A by scalar rows, without the zeros of its blocks.
fn mass(p: &ContactProblem) -> Csr {
    Csr::from_rows((0..p.a.block_rows()).flat_map(|i| {
        let rows = p.a.block(i).1;
        (0..rows).map(move |r| {
            let mut row = Vec::new();
            for (j, block) in p.a.row(i) {
                let (dof, columns) = p.a.block(j);
                let values = block[r * columns..(r + 1) * columns].iter().enumerate();
                row.extend(values.filter(|e| *e.1 != 0.0).map(|(c, &a)| ((dof + c) as u32, a)));
            }
            row
        })
    }))
}

/// Jᵀ by rows: unit impulses of each contact row, felt by the dofs of its terms.
fn jacobian_transposed(p: &ContactProblem) -> Csr {
    let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); p.dofs()];
    let mut felt = vec![0.0; p.dofs()];
    for c in 0..p.contacts() {
        for k in 0..3 {
            let direction = p.j.frame[c].row(k);
            let mut touched: Vec<usize> = Vec::new();
            for t in p.j.terms(c) {
                let (dof, n) = p.a.block(t.block());
                t.add_impulse(direction, &mut felt);
                touched.extend(dof..dof + n);
            }
            for dof in touched {
                // The second visit of a dof that two terms share finds zero.
                let value = std::mem::take(&mut felt[dof]);
                if value != 0.0 {
                    rows[dof].push(((3 * c + k) as u32, value));
                }
            }
        }
    }
    Csr::from_rows(rows)
}
