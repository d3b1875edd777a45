//! Sparse matrices by rows, as SciPy saves them.

use super::npz::Archive;
use crate::error::Result;

/// A matrix by rows: row i holds `start[i]..start[i + 1]`. Columns may come in any order and repeat (they add).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Csr {
    pub start: Vec<u32>,
    pub column: Vec<u32>,
    pub value: Vec<f64>,
}

impl Csr {
    /// Reads `NAME_data`, `NAME_indices` and `NAME_indptr` of a matrix of the given size.
    pub fn read(from: &mut Archive, name: &str, rows: usize, columns: usize) -> Result<Csr> {
        let (data, indices, indptr) =
            (format!("{name}_data"), format!("{name}_indices"), format!("{name}_indptr"));
        let value = from.floats(&data)?.values;
        let start = from.indices(&indptr, value.len())?;
        if start.len() != rows + 1 {
            let e = format!("has {} elements, but {} rows need {}", start.len(), rows, rows + 1);
            return Err(from.error(
                &indptr,
                e,
                format!("{name} must have {rows} rows and {columns} columns, as CSR"),
            ));
        }
        let whole = start[0] == 0 && *start.last().unwrap_or(&0) as usize == value.len();
        if !whole || !start.is_sorted() {
            let e = format!("must rise from 0 to {}, the length of `{data}`", value.len());
            return Err(from.error(&indptr, e, "save the three arrays of one scipy.sparse.csr_matrix"));
        }
        if columns == 0 && !value.is_empty() {
            return Err(from.error(
                &data,
                "has numbers, but the matrix has no columns",
                "check the other arrays",
            ));
        }
        let column = from.indices(&indices, columns.saturating_sub(1))?;
        if column.len() != value.len() {
            let e = format!("has {} elements, `{data}` {}", column.len(), value.len());
            return Err(from.error(&indices, e, "save the three arrays of one scipy.sparse.csr_matrix"));
        }
        Ok(Csr { start, column, value })
    }

    /// From entries (row, column, value) in ascending order of rows.
    pub fn from_rows(rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> Csr {
        let mut m = Csr { start: vec![0], ..Csr::default() };
        for row in rows {
            for (column, value) in row {
                m.column.push(column);
                m.value.push(value);
            }
            m.start.push(m.column.len() as u32);
        }
        m
    }

    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// The entries of row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.start[i] as usize..self.start[i + 1] as usize;
        range.map(|k| (self.column[k] as usize, self.value[k]))
    }

    /// y += A x.
    pub fn mul_add(&self, x: &[f64], y: &mut [f64]) {
        for i in 0..self.rows() {
            y[i] += self.row(i).map(|(j, a)| a * x[j]).sum::<f64>();
        }
    }
}
