//! The Newton system (56) and its Schur complement S = D J H⁻¹ Jᵀ D + C (59), as a product or as a matrix.
//!
//! Rows are stored unscaled; D holds what the NCP function does to row and column (1 for equations, 0 for rows that are
//! switched off). H is block diagonal: 6×6 for bodies, 3×3 for particles.

use super::linear::{Product, invert};
use super::settings::Regularization;
use super::stiffness::SystemForm;
use crate::linalg::{Mat3, Real, SparseRows};

/// A block-diagonal matrix and its inverse, over blocks of consecutive dofs.
#[derive(Clone, Debug, Default)]
pub struct BlockMass<T> {
    /// First dof, width, place of its values.
    blocks: Vec<(u32, u32, u32)>,
    of_dof: Vec<u32>,
    value: Vec<T>,
    inverse: Vec<T>,
    /// Blocks of six whose halves do not know each other.
    apart: Vec<bool>,
    /// By dof, the inverse where nothing couples the dofs of its block; zero elsewhere.
    single: Vec<T>,
}

/// True where rows 0 to 2 and 3 to 5 of a 6×6 matrix do not couple.
fn apart(values: &[f64]) -> bool {
    (0..3).all(|r| (3..6).all(|c| values[6 * r + c] == 0.0 && values[6 * c + r] == 0.0))
}

impl<T: Real> BlockMass<T> {
    /// No blocks; keeps the memory.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.of_dof.clear();
        self.value.clear();
        self.inverse.clear();
        self.apart.clear();
        self.single.clear();
    }

    /// Number of dofs.
    pub fn dofs(&self) -> usize {
        self.of_dof.len()
    }

    /// Adds the next block, a row-major symmetric positive definite matrix of `n` rows.
    pub fn push(&mut self, values: &[f64], n: usize) {
        self.blocks.push((self.of_dof.len() as u32, n as u32, self.value.len() as u32));
        self.of_dof.resize(self.of_dof.len() + n, self.blocks.len() as u32 - 1);
        self.single.resize(self.of_dof.len(), T::ZERO);
        self.value.extend(values.iter().map(|v| T::of(*v)));
        let at = self.inverse.len();
        self.inverse.resize(at + n * n, T::ZERO);
        // Bodies: translation and rotation apart. Two inverses of 3×3.
        if n == 6 && apart(values) {
            for part in [0, 3] {
                let entry = |r: usize, c: usize| values[6 * (part + r) + part + c];
                let m = Mat3::from_cols_array(&std::array::from_fn(|k| entry(k % 3, k / 3))).inverse();
                for (c, column) in [m.x_axis, m.y_axis, m.z_axis].into_iter().enumerate() {
                    for r in 0..3 {
                        self.inverse[at + 6 * (part + r) + part + c] = T::of(column[r]);
                    }
                }
            }
            self.apart.push(true);
            return;
        }
        self.apart.push(false);
        let mut column = [0.0; 6];
        for c in 0..n {
            column[..n].fill(0.0);
            column[c] = 1.0;
            crate::linalg::dense::solve_spd(values, &mut column[..n]);
            for r in 0..n {
                self.inverse[at + r * n + c] = T::of(column[r]);
            }
        }
        if n == 3 && (0..9).all(|k| k % 4 == 0 || values[k] == 0.0) {
            let dof = self.of_dof.len() - 3;
            (0..3).for_each(|k| self.single[dof + k] = self.inverse[at + 4 * k]);
        }
    }

    /// Makes the particle at `dof` have the diagonal masses `m`.
    pub fn set_particle(&mut self, dof: usize, m: [T; 3]) {
        let (_, n, at) = self.blocks[self.of_dof[dof] as usize];
        debug_assert_eq!(n, 3);
        for k in 0..3 {
            self.value[at as usize + 4 * k] = m[k];
            self.inverse[at as usize + 4 * k] = T::ONE / m[k];
            self.single[dof + k] = T::ONE / m[k];
        }
    }

    /// Diagonal of the inverse at the particle at `dof`.
    pub fn particle_inverse(&self, dof: usize) -> [T; 3] {
        let (_, n, at) = self.blocks[self.of_dof[dof] as usize];
        debug_assert_eq!(n, 3);
        [0, 4, 8].map(|k| self.inverse[at as usize + k])
    }

    /// First dof of each block, and the number of dofs at the end.
    pub fn first_dofs(&self, out: &mut Vec<u32>) {
        out.clear();
        out.extend(self.blocks.iter().map(|b| b.0));
        out.push(self.dofs() as u32);
    }

    /// The block that a dof is part of.
    pub fn block_of(&self, dof: usize) -> u32 {
        self.of_dof[dof]
    }

    /// Values of block `b`, row-major.
    pub fn block(&self, b: usize) -> &[T] {
        let (_, n, at) = self.blocks[b];
        &self.value[at as usize..(at + n * n) as usize]
    }

    fn product(&self, matrix: &[T], x: &[T], y: &mut [T]) {
        for (&(d, n, at), apart) in self.blocks.iter().zip(&self.apart) {
            let (d, n, at) = (d as usize, n as usize, at as usize);
            for r in 0..n {
                // Only the half of row and column that the dof is part of.
                let (from, width) = if *apart { (r / 3 * 3, 3) } else { (0, n) };
                let row = at + r * n + from;
                y[d + r] =
                    crate::linalg::real::dot(&matrix[row..row + width], &x[d + from..d + from + width]);
            }
        }
    }

    /// y = H x.
    pub fn mul(&self, x: &[T], y: &mut [T]) {
        self.product(&self.value, x, y);
    }

    /// y = H⁻¹ x.
    pub fn divide(&self, x: &[T], y: &mut [T]) {
        self.product(&self.inverse, x, y);
    }
}

/// out = row · block, of N columns.
fn times_block<T: Real, const N: usize>(row: &[T], block: &[T], out: &mut [T]) {
    let mut sum = [T::ZERO; N];
    for (a, line) in row.iter().zip(block.chunks_exact(N)) {
        for c in 0..N {
            sum[c] += *a * line[c];
        }
    }
    out.copy_from_slice(&sum);
}

/// The same for a block of six whose halves do not couple.
fn times_halves<T: Real>(row: &[T], block: &[T], out: &mut [T]) {
    for half in [0, 3] {
        for c in half..half + 3 {
            let mut sum = T::ZERO;
            for r in half..half + 3 {
                sum += row[r] * block[6 * r + c];
            }
            out[c] = sum;
        }
    }
}

/// C: a diagonal, and dense blocks for the strains of elements.
#[derive(Clone, Debug, Default)]
pub struct Compliance<T> {
    /// Diagonal entries [1/kg], of rows outside of dense blocks.
    pub diagonal: Vec<T>,
    /// Dense blocks: first row, width, place of the values.
    blocks: Vec<(u32, u32, u32)>,
    of_row: Vec<u32>,
    value: Vec<T>,
    /// Their inverses.
    inverse: Vec<T>,
}

const NONE: u32 = u32::MAX;

impl<T: Real> Compliance<T> {
    /// All zero, for `rows` rows.
    pub fn reset(&mut self, rows: usize) {
        self.diagonal.clear();
        self.diagonal.resize(rows, T::ZERO);
        self.blocks.clear();
        self.value.clear();
        self.inverse.clear();
        self.of_row.clear();
    }

    /// Adds a dense block at `first` with its inverse; rows that have one must not have diagonal entries too.
    pub fn push_block<const N: usize>(&mut self, first: usize, values: &[[T; N]; N], inverse: &[[T; N]; N]) {
        self.of_row.resize(self.diagonal.len(), NONE);
        self.blocks.push((first as u32, N as u32, self.value.len() as u32));
        self.of_row[first..first + N].fill(self.blocks.len() as u32 - 1);
        self.value.extend_from_slice(values.as_flattened());
        self.inverse.extend_from_slice(inverse.as_flattened());
    }

    /// The dense block that row `i` is part of: its width and inverse.
    fn dense(&self, i: usize) -> Option<(usize, &[T])> {
        let b = *self.of_row.get(i).filter(|b| **b != NONE)?;
        let (_, n, at) = self.blocks[b as usize];
        let (n, at) = (n as usize, at as usize);
        Some((n, &self.inverse[at..at + n * n]))
    }

    fn entry(&self, i: usize, j: usize) -> T {
        match self.of_row.get(i) {
            Some(&b) if b != NONE => {
                let (first, n, at) = self.blocks[b as usize];
                let (first, n) = (first as usize, n as usize);
                if j < first || j >= first + n {
                    return T::ZERO;
                }
                self.value[at as usize + (i - first) * n + (j - first)]
            }
            _ if i == j => self.diagonal[i],
            _ => T::ZERO,
        }
    }

    /// (C x)_i.
    fn mul_row(&self, i: usize, x: &[T]) -> T {
        match self.of_row.get(i) {
            Some(&b) if b != NONE => {
                let (first, n, at) = self.blocks[b as usize];
                let (first, n) = (first as usize, n as usize);
                let at = at as usize + (i - first) * n;
                crate::linalg::real::dot(&self.value[at..at + n], &x[first..first + n])
            }
            _ => self.diagonal[i] * x[i],
        }
    }
}

/// The Newton system at an iterate.
#[derive(Clone, Debug, Default)]
pub struct Schur<T> {
    /// J, unscaled. Each row stores whole blocks of H, and the rows of one block of rows the same columns.
    pub j: SparseRows<T>,
    /// H.
    pub mass: BlockMass<T>,
    /// D.
    pub scale: Vec<T>,
    /// C.
    pub compliance: Compliance<T>,
    /// Residual of the momentum balance (57) [N·s].
    pub g: Vec<T>,
    /// Residual of the rows (58) [m/s].
    pub h: Vec<T>,
    /// Values of the functions of the rows, before any division by α [m/s].
    pub value: Vec<T>,
    /// Steps Δλ that are known beforehand, of rows with D = 0 whose column still acts; zero elsewhere.
    pub known: Vec<T>,
    /// First row of each block of rows, and the number of rows at the end.
    pub blocks: Vec<u32>,
    /// What the symmetric matrix leaves out: normal rows i, whose Δλ also acts on the rows i + 1 and i + 2 by these
    /// factors [1/kg].
    pub coupling: Vec<(u32, [T; 2])>,
    jh: SparseRows<T>,
    w: Option<SparseRows<T>>,
    /// Diagonal of W = J H⁻¹ Jᵀ.
    w_diagonal: Vec<T>,
    shift: Vec<T>,
    given: bool,
    y: Vec<T>,
}

impl<T: Real> Schur<T> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.scale.len()
    }

    /// Takes W as it is; there are no dofs then.
    pub fn set_w(&mut self, w: SparseRows<T>) {
        self.w_diagonal.clear();
        for i in 0..w.rows() {
            let (columns, values) = w.row(i);
            let d = columns.iter().position(|c| *c as usize == i).map_or(T::ZERO, |k| values[k]);
            self.w_diagonal.push(d);
        }
        self.w = Some(w);
        self.given = true;
    }

    /// Call when J or H have changed: J H⁻¹ and the diagonal of W.
    pub fn rows_changed(&mut self) {
        self.rows_changed_from(0, false, SystemForm::Compliance);
    }

    /// The same for the rows from `first` on; those before are to be written through [`three_rows`](Schur::three_rows). Where the
    /// columns are those of the last call, say so. In the stiffness form (64) no one asks for J H⁻¹: these rows have none then.
    pub fn rows_changed_from(&mut self, first: usize, same_columns: bool, form: SystemForm) {
        self.given = false;
        self.w = None;
        let whole = form == SystemForm::Compliance;
        if !same_columns {
            self.jh.take_pattern(&self.j, if whole { self.j.rows() } else { first });
        }
        debug_assert_eq!(self.jh.rows(), if whole { self.j.rows() } else { first });
        self.w_diagonal.resize(first, T::ZERO);
        let mut unkept = [T::ZERO; 6];
        for i in first..self.j.rows() {
            let (columns, values) = self.j.row(i);
            let mut kept = whole.then(|| self.jh.row_mut(i).1);
            let (mut k, mut diagonal) = (0, T::ZERO);
            while k < columns.len() {
                let dof = columns[k] as usize;
                if self.mass.single[dof] != T::ZERO {
                    for (d, light) in self.mass.single[dof..dof + 3].iter().enumerate() {
                        let by = values[k + d] * *light;
                        if let Some(kept) = &mut kept {
                            kept[k + d] = by;
                        }
                        diagonal += values[k + d] * by;
                    }
                    k += 3;
                    continue;
                }
                let block = self.mass.of_dof[dof] as usize;
                let (_, n, at) = self.mass.blocks[block];
                let (n, at) = (n as usize, at as usize);
                let row = &values[k..k + n];
                let to = match &mut kept {
                    Some(kept) => &mut kept[k..k + n],
                    None => &mut unkept[..n],
                };
                match n {
                    6 if self.mass.apart[block] => times_halves(row, &self.mass.inverse[at..at + 36], to),
                    3 => times_block::<T, 3>(row, &self.mass.inverse[at..at + 9], to),
                    _ => times_block::<T, 6>(row, &self.mass.inverse[at..at + 36], to),
                }
                for (a, b) in row.iter().zip(to) {
                    diagonal += *a * *b;
                }
                k += n;
            }
            self.w_diagonal.push(diagonal);
        }
    }

    /// H, and values of three rows of J and of J H⁻¹ from row `i` on and the diagonal of W there, to be written together.
    pub fn three_rows(&mut self, i: usize) -> (&BlockMass<T>, &mut [T], &mut [T], &mut [T]) {
        let (j, jh) = (self.j.values_mut(i, 3), self.jh.values_mut(i, 3));
        (&self.mass, j, jh, &mut self.w_diagonal[i..i + 3])
    }

    /// Diagonal of W [1/kg].
    pub fn w_diagonal(&self) -> &[T] {
        &self.w_diagonal
    }

    /// Forms W where the product or the solver needs it, and the shift ε.
    pub fn prepare(&mut self, product: Product, direct: bool, epsilon: Regularization) {
        if self.w.is_none() && (direct || product == Product::Assembled) {
            self.w = Some(self.jh.mul_transpose(&self.j, self.mass.dofs()));
        } else if product == Product::MatrixFree && !direct && !self.given {
            self.w = None;
        }
        self.shift.clear();
        let compliance = &self.compliance;
        self.shift.extend(self.w_diagonal.iter().enumerate().map(|(i, d)| match epsilon {
            Regularization::Absolute(e) => T::of(e),
            Regularization::Relative(e) => T::of(e) * *d,
            Regularization::Floor(_) if compliance.dense(i).is_some() => T::ZERO,
            Regularization::Floor(e) => (T::of(e) * *d - compliance.diagonal[i]).larger(T::ZERO),
        }));
    }

    /// W as a matrix, where it was formed.
    pub fn assembled(&self) -> Option<&SparseRows<T>> {
        self.w.as_ref()
    }

    /// Entry of S from that of W.
    pub fn entry(&self, i: usize, j: usize, w: T) -> T {
        let s = self.scale[i] * w * self.scale[j] + self.compliance.entry(i, j);
        if i == j { s + self.shift[i] } else { s }
    }

    /// S_ii.
    pub fn diagonal(&self, i: usize) -> T {
        self.entry(i, i, self.w_diagonal[i])
    }

    /// Number of blocks of rows.
    pub fn blocks(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// First row and width of a block of rows.
    pub fn block(&self, b: usize) -> (usize, usize) {
        (self.blocks[b] as usize, (self.blocks[b + 1] - self.blocks[b]) as usize)
    }

    /// Inverse of C with its shift for the rows from `first` on that it couples, into `out`; their number, or none where
    /// they are hard.
    pub fn stiffness(&self, first: usize, out: &mut Vec<T>) -> Option<usize> {
        out.clear();
        let Some((n, inverse)) = self.compliance.dense(first) else {
            // Rows of one contact may differ by any factor: friction of one that carries almost nothing is all but free.
            let c = self.compliance.diagonal[first] + self.shift[first];
            out.push(T::ONE / c);
            return (c > T::ZERO && out[0].is_number()).then_some(1);
        };
        if self.shift[first..first + n].iter().all(|s| *s == T::ZERO) {
            out.extend_from_slice(inverse);
            return out.iter().all(|x| x.is_number()).then_some(n);
        }
        for i in first..first + n {
            out.extend((first..first + n).map(|j| self.entry(i, j, T::ZERO)));
        }
        invert(out, n).then_some(n)
    }

    /// Entry of S within a block of rows.
    pub fn block_entry(&self, i: usize, j: usize) -> T {
        let w = match &self.w {
            Some(w) => {
                let (columns, values) = w.row(i);
                columns.iter().position(|c| *c as usize == j).map_or(T::ZERO, |k| values[k])
            }
            None => self.jh.row_dot(i, &self.j, j),
        };
        self.entry(i, j, w)
    }

    /// out = S x; `y` is a buffer.
    pub fn apply(&self, x: &[T], out: &mut [T], y: &mut Vec<T>) {
        match &self.w {
            Some(w) => {
                y.clear();
                y.extend(x.iter().zip(&self.scale).map(|(x, d)| *x * *d));
                for i in 0..x.len() {
                    out[i] = if self.scale[i] == T::ZERO { T::ZERO } else { self.scale[i] * w.mul_row(i, y) };
                }
            }
            None => {
                self.start_sweeps(y);
                for i in 0..x.len() {
                    let a = self.scale[i] * x[i];
                    if a != T::ZERO {
                        self.j.add_row(i, a, y);
                    }
                }
                for i in 0..x.len() {
                    out[i] = if self.scale[i] == T::ZERO {
                        T::ZERO
                    } else {
                        self.scale[i] * self.jh.mul_row(i, y)
                    };
                }
            }
        }
        for i in 0..x.len() {
            out[i] += self.compliance.mul_row(i, x) + self.shift[i] * x[i];
        }
    }

    /// Makes `y` = JᵀD x of x = 0, which [`sweep`](Schur::sweep) keeps up to date.
    pub fn start_sweeps(&self, y: &mut Vec<T>) {
        y.clear();
        y.resize(self.mass.dofs(), T::ZERO);
    }

    /// One pass of Gauss–Seidel; `inverse` is 1/S_ii, `y` = JᵀD x.
    pub fn sweep(&self, b: &[T], inverse: &[T], x: &mut [T], y: &mut [T]) {
        for i in 0..x.len() {
            let d = self.scale[i];
            let mut sx = self.compliance.mul_row(i, x) + self.shift[i] * x[i];
            if d != T::ZERO {
                sx += d * match &self.w {
                    Some(w) => {
                        let (columns, values) = w.row(i);
                        let mut s = T::ZERO;
                        for (c, v) in columns.iter().zip(values) {
                            s += *v * self.scale[*c as usize] * x[*c as usize];
                        }
                        s
                    }
                    None => self.jh.mul_row(i, y),
                };
            }
            let dx = inverse[i] * (b[i] - sx);
            x[i] += dx;
            if self.w.is_none() && d != T::ZERO {
                self.j.add_row(i, d * dx, y);
            }
        }
    }

    /// Moves the known steps over into g; call it once.
    pub fn take_known(&mut self) {
        if self.given {
            return;
        }
        for i in 0..self.rows() {
            if self.known[i] != T::ZERO {
                self.j.add_row(i, -self.known[i], &mut self.g);
            }
        }
    }

    /// Right-hand side of (59) in impulses: D J H⁻¹ g − h, with the known steps moved over; call it once.
    pub fn right_side(&mut self, b: &mut Vec<T>) {
        self.take_known();
        b.clear();
        if self.given {
            let any = self.known.iter().any(|k| *k != T::ZERO);
            for i in 0..self.rows() {
                let d = self.scale[i];
                let pushed = match &self.w {
                    Some(w) if any && d != T::ZERO => d * w.mul_row(i, &self.known),
                    _ => T::ZERO,
                };
                b.push(-self.h[i] - pushed);
            }
            return;
        }
        for i in 0..self.rows() {
            let d = self.scale[i];
            let pushed = if d == T::ZERO { T::ZERO } else { d * self.jh.mul_row(i, &self.g) };
            b.push(pushed - self.h[i]);
        }
    }

    /// Δu = H⁻¹(JᵀD Δλ − g) (60), where [`take_known`](Schur::take_known) has put the known steps into g.
    pub fn velocity_step(&mut self, dl: &[T], du: &mut [T]) {
        if self.given {
            return;
        }
        let mut y = std::mem::take(&mut self.y);
        y.clear();
        y.extend(self.g.iter().map(|g| -*g));
        for i in 0..dl.len() {
            self.j.add_row(i, self.scale[i] * dl[i], &mut y);
        }
        self.mass.divide(&y, du);
        self.y = y;
    }

    /// Δu = H⁻¹JᵀD Δλ.
    pub fn pushed(&self, dl: &[T], du: &mut [T]) {
        if self.given {
            return;
        }
        let mut y = vec![T::ZERO; du.len()];
        for i in 0..dl.len() {
            self.j.add_row(i, self.scale[i] * dl[i], &mut y);
        }
        self.mass.divide(&y, du);
    }

    /// L2 norm of the residual vector (g, h), the merit of Sec. 8.1.
    pub fn residual_norm(&self) -> f64 {
        let sum = |x: &[T]| x.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>();
        (sum(&self.g) + sum(&self.value)).sqrt()
    }
}
