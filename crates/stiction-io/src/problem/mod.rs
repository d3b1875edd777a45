//! Bare contact problems as .npz files: read them, write their solutions, and save the simulator's own.
//!
//! Local form: `W_data, W_indices, W_indptr` (CSR), `q`, `mu` with `u = W r + q`. Global form: `M_*`, `H_*` (CSR,
//! H is dofs × rows), `f`, `w`, `mu` with `M v = H r + f`, `u = Hᵀ v + w`. There are three rows per contact, normal
//! first, or two for plane problems. `mu` has one coefficient per contact, or two (n × 2: along the first and the
//! second tangent row). `softness` [1/kg], one per contact, is optional and adds `softness · r` to `u`.

mod csr;
mod npy;
mod npz;
mod reduce;
mod save;

pub use save::{write_problem, write_solution};

use crate::error::Result;
use csr::Csr;
use npz::Archive;
use reduce::Inverse;
use std::path::Path;
use stiction::contact::{Friction, LocalProblem};
use stiction::{Mat3, Vec3};

/// Most contacts of a problem. Each takes about half a kilobyte, whatever its rows hold.
const MOST_CONTACTS: usize = 1 << 20;

/// Most dofs of the global form.
const MOST_DOFS: usize = 1 << 22;

/// Most 3×3 blocks of W: beyond, a file would ask for gigabytes.
const MOST_BLOCKS: usize = 16_000_000;

/// A contact problem from a file.
pub struct Problem {
    /// `u = W r + q` with three rows per contact and round cones: what solvers work on. Use
    /// [`solution`](Problem::solution) to turn an answer back into the rows of the file.
    pub local: LocalProblem,
    /// Rows per contact in the file: 2 or 3.
    pub dim: usize,
    /// The global form, if the file has it.
    pub global: Option<Global>,
    /// Factors of the rows that made the cones round; ones for isotropic friction.
    stretch: Vec<Vec3>,
}

/// What recovers the velocities of the dofs: `v = M⁻¹ (H r + f)`.
pub struct Global {
    inverse: Inverse,
    h: Csr,
    f: Vec<f64>,
}

/// An answer in the rows of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct ProblemSolution {
    /// Impulses, `dim` per contact, normal first.
    pub r: Vec<f64>,
    /// Velocities of the contacts, `u = W r + q`.
    pub u: Vec<f64>,
    /// Velocities of the dofs, for problems in global form.
    pub v: Option<Vec<f64>>,
}

impl Problem {
    /// The answer of a solver of [`local`](Problem::local), in the rows of the file.
    pub fn solution(&self, r: &[Vec3]) -> ProblemSolution {
        let p = &self.local;
        let mut u = p.q.clone();
        for c in 0..p.contacts() {
            for k in p.row_start[c]..p.row_start[c + 1] {
                u[c] += p.block[k] * r[p.col[k] as usize];
            }
        }
        let rows = |x: &dyn Fn(usize) -> Vec3| -> Vec<f64> {
            (0..p.contacts()).flat_map(|c| x(c).to_array().into_iter().take(self.dim)).collect()
        };
        let impulse = rows(&|c| r[c] * self.stretch[c]);
        let v = self.global.as_ref().map(|g| g.velocity(&impulse));
        ProblemSolution { u: rows(&|c| u[c] / self.stretch[c]), r: impulse, v }
    }
}

impl Global {
    /// v = M⁻¹ (H r + f).
    fn velocity(&self, r: &[f64]) -> Vec<f64> {
        let mut b = self.f.clone();
        self.h.mul_add(r, &mut b);
        self.inverse.solve(&b)
    }
}

/// Reads a contact problem in either form.
pub fn read(path: &Path) -> Result<Problem> {
    from_archive(Archive::open(path)?)
}

/// Reads a contact problem from the bytes of a .npz file; `name` stands in messages.
pub fn parse(bytes: Vec<u8>, name: &str) -> Result<Problem> {
    from_archive(Archive::new(bytes, name)?)
}

fn from_archive(mut from: Archive) -> Result<Problem> {
    const FORMS: &str = "the local form has W_data, W_indices, W_indptr, q, mu; the global form has M_data, M_indices, \
                         M_indptr, H_data, H_indices, H_indptr, f, w, mu";
    let global = match (from.has("W_data"), from.has("M_data")) {
        (true, _) => false,
        (false, true) => true,
        (false, false) => {
            let there = if from.names.is_empty() { "nothing".into() } else { from.names.join(", ") };
            return Err(from.whole(format!("is no contact problem: it holds {there}"), FORMS));
        }
    };
    let mu = from.floats("mu")?;
    let (contacts, coefficients) = match mu.shape[..] {
        [n] => (n, 1),
        [n, k @ (1 | 2)] => (n, k),
        _ => {
            return Err(from.error(
                "mu",
                format!("has shape {:?}", mu.shape),
                "give one or two numbers per contact",
            ));
        }
    };
    if contacts > MOST_CONTACTS {
        let e = format!("has {contacts} contacts; at most {MOST_CONTACTS} are read");
        return Err(from.error(
            "mu",
            e,
            "split the problem: contacts that share no body are problems of their own",
        ));
    }
    let free = if global { "w" } else { "q" };
    let q = from.floats(free)?.values;
    let dim = match q.len() {
        n if n == 3 * contacts => 3,
        n if n == 2 * contacts => 2,
        n => {
            let e = format!("has {n} numbers for {contacts} contacts");
            return Err(from.error(free, e, "give three rows per contact, or two for a plane problem"));
        }
    };
    let friction = friction(&from, &mu.values, coefficients, dim)?;
    let softness = softness(&mut from, contacts)?;
    let rows = dim * contacts;

    let (mut blocks, q, global) = if global {
        let f = from.floats("f")?.values;
        if f.len() > MOST_DOFS {
            let e = format!("has {} dofs; at most {MOST_DOFS} are read", f.len());
            return Err(from.error("f", e, "split the problem, or give its local form"));
        }
        let m = Csr::read(&mut from, "M", f.len(), f.len())?;
        let h = Csr::read(&mut from, "H", f.len(), rows)?;
        let diagonal = |i: usize| m.row(i).filter(|&(j, _)| j == i).map(|(_, a)| a).sum::<f64>();
        if let Some(i) = (0..m.rows()).find(|&i| diagonal(i) <= 0.0) {
            let e = format!("the diagonal entry of dof {i} is {}", diagonal(i));
            let remedy = "the mass matrix must be positive definite: give every dof a positive mass";
            return Err(from.error("M_data", e, remedy));
        }
        let inverse = Inverse::new(&m)
            .map_err(|e| from.error("M_data", e, "M must be invertible: give every dof a mass"))?;
        let blocks = inverse
            .delassus(&h, dim)
            .map_err(|e| from.error("H_data", e, "split the problem, or give its local form"))?;
        let mut q = q;
        let v = inverse.solve(&f);
        for i in 0..h.rows() {
            h.row(i).for_each(|(j, a)| q[j] += a * v[i]);
        }
        let blocks: Vec<_> = blocks.into_iter().map(|(c, d, m)| (c, d, matrix(m))).collect();
        (blocks, q, Some(Global { inverse, h, f }))
    } else {
        let w = Csr::read(&mut from, "W", rows, rows)?;
        let blocks = local_blocks(&w, dim).ok_or_else(|| {
            let e = format!("couples more than {MOST_BLOCKS} pairs of contacts");
            from.error("W_data", e, "split the problem")
        })?;
        (blocks, q, None)
    };

    // A diagonal block for every contact, with its softness.
    for c in 0..contacts {
        blocks.push((c as u32, c as u32, Mat3::from_diagonal(rows_of(dim, [softness[c]; 3]))));
    }
    let stretch: Vec<Vec3> = friction.iter().map(|f| f.stretch()).collect();
    for (c, d, m) in &mut blocks {
        *m = Mat3::from_diagonal(stretch[*c as usize]) * *m * Mat3::from_diagonal(stretch[*d as usize]);
    }
    let q = (0..contacts)
        .map(|c| rows_of(dim, std::array::from_fn(|k| q[dim * c + k.min(dim - 1)])) * stretch[c]);
    let mut local =
        LocalProblem::from_blocks(blocks, q.collect(), friction.iter().map(|f| f.mean()).collect());
    if dim == 2 {
        add_third_row(&mut local);
    }
    let finite = local.block.iter().all(|b| b.is_finite()) && local.q.iter().all(|q| q.is_finite());
    if !finite {
        return Err(from.whole("its numbers overflow", "use SI units; masses and sizes are far out of range"));
    }
    Ok(Problem { local, dim, global, stretch })
}

fn friction(from: &Archive, mu: &[f64], coefficients: usize, dim: usize) -> Result<Vec<Friction>> {
    if let Some(i) = mu.iter().position(|&x| x < 0.0) {
        return Err(from.error(
            "mu",
            format!("element {i} is {}", mu[i]),
            "friction coefficients are not negative",
        ));
    }
    if coefficients == 1 {
        return Ok(mu.iter().map(|&m| Friction::Isotropic(m)).collect());
    }
    if dim == 2 {
        return Err(from.error(
            "mu",
            "has two columns",
            "a plane problem has one tangent and one coefficient",
        ));
    }
    let pair = |(i, m): (usize, &[f64])| match *m {
        [a, b] if a == b => Ok(Friction::Isotropic(a)),
        [a, b] if a > 0.0 && b > 0.0 => Ok(Friction::Elliptic(a, b)),
        _ => Err(from.error(
            "mu",
            format!("row {i} is {m:?}"),
            "two different coefficients must both be positive",
        )),
    };
    mu.chunks_exact(2).enumerate().map(pair).collect()
}

fn softness(from: &mut Archive, contacts: usize) -> Result<Vec<f64>> {
    if !from.has("softness") {
        return Ok(vec![0.0; contacts]);
    }
    let s = from.floats("softness")?.values;
    if s.len() != contacts {
        let e = format!("has {} numbers for {contacts} contacts", s.len());
        return Err(from.error("softness", e, "give one number per contact, or leave it out"));
    }
    match s.iter().position(|&x| x < 0.0) {
        Some(i) => {
            Err(from.error("softness", format!("element {i} is {}", s[i]), "softness is not negative"))
        }
        None => Ok(s),
    }
}

/// Scalar entries of W gathered into blocks; `None` where they are too many.
fn local_blocks(w: &Csr, dim: usize) -> Option<Vec<(u32, u32, Mat3)>> {
    let mut blocks = Vec::new();
    let mut entries: Vec<(u32, usize, usize, f64)> = Vec::new();
    for c in 0..w.rows() / dim {
        entries.clear();
        for k in 0..dim {
            entries.extend(w.row(dim * c + k).map(|(j, a)| ((j / dim) as u32, k, j % dim, a)));
        }
        entries.sort_by_key(|e| e.0);
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            if blocks.len() == MOST_BLOCKS {
                return None;
            }
            let mut m = [[0.0; 3]; 3];
            for &(_, row, column, a) in same {
                m[row][column] += a;
            }
            blocks.push((c as u32, same[0].0, matrix(m)));
        }
    }
    Some(blocks)
}

/// The third row of a plane contact: alone, at rest, and of the size of the others, so that it changes nothing.
fn add_third_row(p: &mut LocalProblem) {
    for c in 0..p.contacts() {
        for k in p.row_start[c]..p.row_start[c + 1] {
            if p.col[k] as usize == c {
                let b = &mut p.block[k];
                b.z_axis.z = 0.5 * (b.x_axis.x + b.y_axis.y);
            }
        }
    }
}

/// The first `dim` numbers; the rest zero.
fn rows_of(dim: usize, x: [f64; 3]) -> Vec3 {
    Vec3::new(x[0], x[1], if dim == 3 { x[2] } else { 0.0 })
}

fn matrix(rows: [[f64; 3]; 3]) -> Mat3 {
    Mat3::from_cols_array_2d(&rows).transpose()
}
