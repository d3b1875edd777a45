//! NumPy's array files (.npy): a short text header, then the numbers.
//!
//! Read: versions 1–3; floats of 4 and 8 bytes, integers of 1 to 8 bytes, bool; both byte orders; C and Fortran
//! order of one and two dimensions. Written: version 1, little-endian, C order.
//!
//! Why not the `npyz` crate (0.9): it reserves as much memory for a header as the file claims, up to 4 GB for twelve bytes, and its
//! numbers have no limit; headers are parsed as Python by a grammar that brings in twenty more crates, a C compiler among what they need.

use std::io::Read;

/// Most numbers of one array: half a gigabyte of them, which deflated zeros could ask for in a small file.
const MOST_NUMBERS: usize = 1 << 26;

/// Longest header that is read [bytes]; NumPy's are about a hundred.
const LONGEST_HEADER: usize = 1 << 16;

/// An array with all numbers as `f64` in C order. Integers beyond 2⁵³ are rounded, which only makes an index that
/// is far out of range another such index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
    pub integers: bool,
}

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

struct Header {
    kind: Kind,
    size: usize,
    big_endian: bool,
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads an array of at most `left` numbers. The error says what is wrong with the bytes.
pub(crate) fn read(from: &mut dyn Read, left: usize) -> Result<Array, String> {
    let short = |_| "it ends within its header".to_string();
    let mut start = [0; 8];
    from.read_exact(&mut start).map_err(short)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err("it does not start as .npy files do".into());
    }
    let length = match start[6] {
        1 => {
            let mut n = [0; 2];
            from.read_exact(&mut n).map_err(short)?;
            u16::from_le_bytes(n) as usize
        }
        2 | 3 => {
            let mut n = [0; 4];
            from.read_exact(&mut n).map_err(short)?;
            u32::from_le_bytes(n) as usize
        }
        v => return Err(format!("its version {v} is unknown")),
    };
    if length > LONGEST_HEADER {
        return Err(format!("its header claims {length} bytes"));
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).map_err(short)?;
    let h = header(&String::from_utf8_lossy(&text))?;
    let count = h.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= MOST_NUMBERS);
    let Some(count) = count else {
        return Err(format!("its shape {:?} is too large (at most {MOST_NUMBERS} numbers)", h.shape));
    };
    if count > left {
        return Err(format!(
            "its {count} numbers are too many beside those of the other arrays (at most {left})"
        ));
    }
    // Memory grows with what is really there, not with what the header claims.
    let mut bytes = Vec::new();
    let wanted = (count * h.size) as u64;
    from.take(wanted).read_to_end(&mut bytes).map_err(|e| format!("its numbers cannot be read: {e}"))?;
    if bytes.len() as u64 != wanted {
        return Err(format!("it has {} of {wanted} bytes", bytes.len()));
    }
    let mut values: Vec<f64> = bytes.chunks_exact(h.size).map(|b| number(b, &h)).collect();
    if h.fortran && h.shape.len() == 2 {
        let (rows, columns) = (h.shape[0], h.shape[1]);
        values = (0..count).map(|i| values[i / columns + rows * (i % columns)]).collect();
    }
    Ok(Array { shape: h.shape, values, integers: h.kind != Kind::Float })
}

/// One element.
fn number(b: &[u8], h: &Header) -> f64 {
    let mut le = [0; 8];
    for (k, &byte) in b.iter().enumerate() {
        le[if h.big_endian { b.len() - 1 - k } else { k }] = byte;
    }
    let bits = u64::from_le_bytes(le);
    match h.kind {
        Kind::Float if b.len() == 4 => f64::from(f32::from_bits(bits as u32)),
        Kind::Float => f64::from_bits(bits),
        Kind::Unsigned => bits as f64,
        Kind::Bool => f64::from(u8::from(bits != 0)),
        Kind::Signed => {
            // Carries the sign bit of the short integer up.
            let unused = 64 - 8 * b.len() as u32;
            ((bits << unused) as i64 >> unused) as f64
        }
    }
}

/// The header, a Python dictionary: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn header(text: &str) -> Result<Header, String> {
    let after = |key: &str| {
        let at = text.find(&format!("'{key}'")).or_else(|| text.find(&format!("\"{key}\"")));
        let rest = at.and_then(|i| text[i..].split_once(':')).map(|(_, rest)| rest.trim_start());
        rest.ok_or(format!("its header lacks `{key}`"))
    };
    let descr = after("descr")?.trim_start_matches(['\'', '"']);
    let descr = descr.split(['\'', '"', ',']).next().unwrap_or("");
    let (order, kind) = match descr.strip_prefix(['<', '>', '|', '=']) {
        Some(kind) => (descr.as_bytes()[0], kind),
        None => (b'<', descr),
    };
    let (kind, size) = match kind {
        "f4" => (Kind::Float, 4),
        "f8" => (Kind::Float, 8),
        "i1" => (Kind::Signed, 1),
        "i2" => (Kind::Signed, 2),
        "i4" => (Kind::Signed, 4),
        "i8" => (Kind::Signed, 8),
        "u1" => (Kind::Unsigned, 1),
        "u2" => (Kind::Unsigned, 2),
        "u4" => (Kind::Unsigned, 4),
        "u8" => (Kind::Unsigned, 8),
        "b1" => (Kind::Bool, 1),
        _ => return Err(format!("its type `{descr}` is none of f4, f8, i1–i8, u1–u8 and bool")),
    };
    let shape = after("shape")?;
    let shape = shape.strip_prefix('(').and_then(|s| s.split_once(')')).map(|(s, _)| s);
    let shape = shape.ok_or("its shape is not a tuple")?;
    let shape: Result<Vec<usize>, String> = shape
        .split(',')
        .map(str::trim)
        .filter(|s| !s.is_empty())
        .map(|s| s.parse().map_err(|_| format!("its shape has `{s}`")))
        .collect();
    let shape = shape?;
    if shape.len() > 2 {
        return Err(format!("it has {} dimensions; one or two are expected", shape.len()));
    }
    let fortran = after("fortran_order")?.starts_with("True");
    Ok(Header { kind, size, big_endian: order == b'>', fortran, shape })
}

/// The bytes of an array of floats in C order.
pub(crate) fn floats(shape: &[usize], values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    file("<f8", shape, values.into_iter().flat_map(f64::to_le_bytes))
}

/// The bytes of an array of whole numbers in C order.
pub(crate) fn integers(shape: &[usize], values: impl IntoIterator<Item = i64>) -> Vec<u8> {
    file("<i8", shape, values.into_iter().flat_map(i64::to_le_bytes))
}

fn file(descr: &str, shape: &[usize], bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    // The numbers start at a multiple of 64 bytes.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with a given version, header and numbers.
    fn npy(version: u8, header: &str, numbers: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY".to_vec();
        out.extend([version, 0]);
        if version == 1 {
            out.extend((header.len() as u16).to_le_bytes());
        } else {
            out.extend((header.len() as u32).to_le_bytes());
        }
        out.extend(header.as_bytes());
        out.extend(numbers);
        out
    }

    fn get(version: u8, descr: &str, fortran: &str, shape: &str, numbers: &[u8]) -> Result<Array, String> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        read(&mut npy(version, &header, numbers).as_slice(), MOST_NUMBERS)
    }

    #[test]
    fn types_byte_orders_and_versions() {
        for version in 1..=3 {
            assert_eq!(get(version, "<f8", "False", "(1,)", &1.5f64.to_le_bytes()).unwrap().values, [1.5]);
        }
        for (descr, bytes, value) in [
            (">f8", 1.5f64.to_be_bytes().to_vec(), 1.5),
            ("<f4", (-0.25f32).to_le_bytes().to_vec(), -0.25),
            (">f4", (-0.25f32).to_be_bytes().to_vec(), -0.25),
            ("<i4", (-7i32).to_le_bytes().to_vec(), -7.0),
            (">i4", (-7i32).to_be_bytes().to_vec(), -7.0),
            ("<i8", (-7i64).to_le_bytes().to_vec(), -7.0),
            ("<u4", u32::MAX.to_le_bytes().to_vec(), f64::from(u32::MAX)),
            (">u8", 9u64.to_be_bytes().to_vec(), 9.0),
            ("|b1", vec![1], 1.0),
            ("|i1", vec![255], -1.0),
        ] {
            let a = get(1, descr, "False", "(1,)", &bytes).unwrap();
            assert_eq!(a.values, [value], "{descr}");
            assert_eq!(a.integers, !descr.contains('f'));
        }
    }

    #[test]
    fn fortran_order_is_turned_into_c_order() {
        // [[1, 2, 3], [4, 5, 6]] by columns.
        let a = get(1, "|u1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6]).unwrap();
        assert_eq!(a.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(a.shape, [2, 3]);
    }

    #[test]
    fn own_files_read_back() {
        let a = read(&mut floats(&[2, 2], [1.0, -2.0, f64::MAX, 0.1]).as_slice(), 4).unwrap();
        assert_eq!((a.shape.as_slice(), a.values.as_slice()), (&[2, 2][..], &[1.0, -2.0, f64::MAX, 0.1][..]));
        let b = read(&mut integers(&[3], [1, -2, 3]).as_slice(), 3).unwrap();
        assert_eq!((b.values.as_slice(), b.integers), (&[1.0, -2.0, 3.0][..], true));
        assert_eq!(read(&mut floats(&[], [7.0]).as_slice(), 1).unwrap().shape, [0usize; 0]);
        assert_eq!(floats(&[5], [0.0; 5]).len(), 64 + 64 + 40);
        let e = read(&mut floats(&[5], [0.0; 5]).as_slice(), 4).unwrap_err();
        assert!(e.contains("too many beside those of the other arrays"), "{e}");
    }

    #[test]
    fn nonsense_is_refused_without_allocating_for_it() {
        for (descr, shape) in [
            ("<f8", "(1000000000000,)"),
            ("<f8", "(18446744073709551615, 18446744073709551615)"),
            ("<f8", "(-1,)"),
            ("<f8", "(1, 1, 1)"),
            ("<f8", "(1"),
            ("<f8", "(4,)"),
            ("<c16", "(1,)"),
            ("O", "(1,)"),
        ] {
            assert!(get(1, descr, "False", shape, &[0; 8]).is_err(), "{descr} {shape}");
        }
        assert!(read(&mut &b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..], 9).is_err());
        assert!(read(&mut &b"PK"[..], 9).is_err());
    }
}
