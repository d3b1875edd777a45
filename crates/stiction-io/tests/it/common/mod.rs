//! Archives made by hand, as NumPy would.

pub mod tet_files;

use std::io::{Cursor, Write};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

/// An array: name, type in NumPy's words, shape, bytes.
pub struct Array(pub String, pub &'static str, pub Vec<usize>, pub Vec<u8>);

pub fn floats(name: &str, shape: &[usize], x: &[f64]) -> Array {
    Array(name.into(), "<f8", shape.into(), x.iter().flat_map(|v| v.to_le_bytes()).collect())
}

pub fn ints(name: &str, x: &[i32]) -> Array {
    Array(name.into(), "<i4", vec![x.len()], x.iter().flat_map(|v| v.to_le_bytes()).collect())
}

/// The three arrays of a dense matrix as CSR, zeros left out.
pub fn csr(name: &str, rows: &[&[f64]]) -> Vec<Array> {
    let (mut data, mut indices, mut indptr) = (vec![], vec![], vec![0]);
    for row in rows {
        for (j, &x) in row.iter().enumerate().filter(|e| *e.1 != 0.0) {
            data.push(x);
            indices.push(j as i32);
        }
        indptr.push(data.len() as i32);
    }
    vec![
        floats(&format!("{name}_data"), &[data.len()], &data),
        ints(&format!("{name}_indices"), &indices),
        ints(&format!("{name}_indptr"), &indptr),
    ]
}

/// The bytes of a .npz file, deflated.
pub fn npz(arrays: &[Array]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for Array(name, descr, shape, bytes) in arrays {
        let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(b"\x93NUMPY\x01\x00").unwrap();
        zip.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
        zip.write_all(header.as_bytes()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A scratch folder that is removed at the end.
pub struct Scratch(pub std::path::PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("stiction-io-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
