//! Triangle meshes from OBJ and STL files.
//!
//! OBJ: vertices and faces only, in 64-bit numbers; faces with more than three corners become fans; groups,
//! materials, normals and texture coordinates are passed over. STL: binary and ASCII; corners at exactly the same
//! place become one vertex. Triangles with two equal corners have no area and are left out.

use crate::error::{Error, Result, known_names};
use crate::write::whole_file;
use std::collections::HashMap;
use std::io::{BufWriter, Cursor, Write};
use std::path::Path;
use stiction::Vec3;

pub use stiction::mesh::TriMesh;

/// Largest mesh file that is read [bytes].
const MOST_BYTES: u64 = 1 << 30;

/// Largest coordinate [m]: squares and volumes stay finite and meaningful.
const LARGEST: f64 = stiction::scene::bounds::LONGEST;

/// Meshes of the gallery by name.
const BUILTIN: &[(&str, &str)] = &[("bracket.obj", include_str!("../gallery/bracket.obj"))];

/// Reads an OBJ or STL file; the ending of its name tells which.
pub fn load(path: &Path) -> Result<TriMesh> {
    load_with(path, &|path| crate::read::bytes(path, MOST_BYTES, "use a coarser mesh"))
}

/// The same with the bytes from elsewhere.
pub(crate) fn load_with(path: &Path, bytes: &dyn Fn(&Path) -> Result<Vec<u8>>) -> Result<TriMesh> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let read: fn(&[u8], &str) -> Result<TriMesh> = match ending.as_deref() {
        Some("obj") => parse_obj,
        Some("stl") => parse_stl,
        _ => return Err(Error::at_path(path, "is neither .obj nor .stl", "convert the mesh to OBJ or STL")),
    };
    read(&bytes(path)?, &path.display().to_string())
}

/// Writes an OBJ or STL file, complete or not at all; the ending of its name tells which. STL holds 32-bit numbers.
pub fn save(path: &Path, mesh: &TriMesh) -> Result<()> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("obj") => whole_file(path, |file| {
            let mut out = BufWriter::new(file);
            for v in &mesh.vertices {
                writeln!(out, "v {:?} {:?} {:?}", v.x, v.y, v.z)?;
            }
            for t in &mesh.triangles {
                writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1)?;
            }
            out.flush()
        }),
        Some("stl") => whole_file(path, |file| {
            let triangles: Vec<stl_io::Triangle> = mesh
                .triangles
                .iter()
                .map(|t| {
                    let [a, b, c] = t.map(|k| mesh.vertices[k as usize]);
                    let normal = (b - a).cross(c - a).normalize_or_zero().as_vec3();
                    let vertices = [a, b, c].map(|p| stl_io::Vertex::new(p.as_vec3().to_array()));
                    stl_io::Triangle { normal: stl_io::Normal::new(normal.to_array()), vertices }
                })
                .collect();
            stl_io::write_stl(&mut BufWriter::new(file), triangles.iter())
        }),
        _ => Err(Error::at_path(path, "is neither .obj nor .stl", "choose a name that ends in .obj or .stl")),
    }
}

/// A mesh that comes with the library.
pub(crate) fn builtin(name: &str) -> Result<TriMesh> {
    match BUILTIN.iter().find(|m| m.0 == name) {
        Some((_, text)) => parse_obj(text.as_bytes(), name),
        None => {
            let known = known_names(name, "built-in meshes", BUILTIN.iter().map(|m| m.0));
            Err(Error::new(format!("builtin:{name}"), "does not exist", known))
        }
    }
}

/// Reads the text of an OBJ file; `name` stands in messages.
pub fn parse_obj(bytes: &[u8], name: &str) -> Result<TriMesh> {
    let text = String::from_utf8_lossy(bytes);
    let mut mesh = TriMesh::default();
    let mut corners = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let error = |problem: String, remedy: &str| {
            Err(Error::new(format!("{name}:{}", number + 1), problem, remedy))
        };
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let mut v = [0.0; 3];
                for x in &mut v {
                    let word = words.next().unwrap_or("");
                    match word.parse() {
                        Ok(value) => *x = value,
                        Err(_) => return error(format!("`{word}` is not a coordinate"), "write `v x y z`"),
                    }
                }
                mesh.vertices.push(Vec3::from_array(v));
            }
            Some("f") => {
                corners.clear();
                for word in words {
                    // `v`, `v/vt`, `v//vn` or `v/vt/vn`; from one, or backwards from −1.
                    let index = word.split('/').next().unwrap_or("").parse::<i64>().unwrap_or(0);
                    let n = mesh.vertices.len() as i64;
                    let index = if index < 0 { n.saturating_add(index) } else { index - 1 };
                    if !(0..n).contains(&index) {
                        let e = format!("corner `{word}` of a face is none of the {n} vertices so far");
                        return error(e, "faces count vertices from 1, and vertices come before faces");
                    }
                    corners.push(index as u32);
                }
                if corners.len() < 3 {
                    return error(
                        format!("a face with {} corners", corners.len()),
                        "faces need at least three",
                    );
                }
                mesh.triangles.extend(corners[1..].windows(2).map(|w| [corners[0], w[0], w[1]]));
            }
            _ => {}
        }
    }
    finish(mesh, name)
}

/// Reads the bytes of an STL file, binary or ASCII; `name` stands in messages.
pub fn parse_stl(bytes: &[u8], name: &str) -> Result<TriMesh> {
    let bad = |e: std::io::Error| {
        Error::new(name, format!("is not a whole STL file: {e}"), "export the mesh again")
    };
    let mut bytes = bytes.to_vec();
    // Binary files may start with "solid" too: their length gives them away. Their first 80 bytes mean nothing.
    if let Some(count) = bytes.get(80..84) {
        let count = u32::from_le_bytes([count[0], count[1], count[2], count[3]]);
        if bytes.len() as u64 == 84 + 50 * u64::from(count) {
            bytes[0] = b' ';
        }
    }
    let mut reader = Cursor::new(bytes);
    let mut mesh = TriMesh::default();
    let mut known: HashMap<[u32; 3], u32> = HashMap::new();
    for triangle in stl_io::create_stl_reader(&mut reader).map_err(bad)? {
        let triangle = triangle.map_err(bad)?;
        mesh.triangles.push(triangle.vertices.map(|v| {
            // Adding zero makes −0 and 0 the same place.
            let p = v.0.map(|x| x + 0.0);
            *known.entry(p.map(f32::to_bits)).or_insert_with(|| {
                mesh.vertices.push(Vec3::from_array(p.map(f64::from)));
                mesh.vertices.len() as u32 - 1
            })
        }));
    }
    finish(mesh, name)
}

/// Checks what both formats promise.
fn finish(mut mesh: TriMesh, name: &str) -> Result<TriMesh> {
    mesh.triangles.retain(|[a, b, c]| a != b && b != c && c != a);
    if mesh.triangles.is_empty() {
        return Err(Error::new(name, "has no triangles", "check the export: a mesh needs faces"));
    }
    if u32::try_from(mesh.vertices.len()).is_err() {
        return Err(Error::new(name, "has too many vertices", "use a coarser mesh"));
    }
    if let Some(i) = mesh.vertices.iter().position(|v| !(v.is_finite() && v.abs().max_element() <= LARGEST)) {
        let e = format!("vertex {} is {}", i + 1, mesh.vertices[i]);
        return Err(Error::new(name, e, format!("coordinates must be finite and at most {LARGEST:e} m")));
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: &str = "# four\nv 0 0 0\nv 1 0 0 0.5 0.5 0.5\nv 0 1 0\nv 0 0 1\nvt 0 0\nvn 0 0 1\n\
                               g all\nf 1/1/1 3//1 2\nf 1 2 4\nf -4 -1 -2\nf 2 3 4\n";

    fn stl(m: &TriMesh) -> Vec<u8> {
        let triangles: Vec<stl_io::Triangle> = m
            .triangles
            .iter()
            .map(|t| stl_io::Triangle {
                normal: stl_io::Normal::new([0.0; 3]),
                vertices: t.map(|i| stl_io::Vertex::new(m.vertices[i as usize].as_vec3().to_array())),
            })
            .collect();
        let mut out = Vec::new();
        stl_io::write_stl(&mut out, triangles.iter()).unwrap();
        out
    }

    #[test]
    fn obj_faces_count_forwards_and_backwards() {
        let m = parse_obj(TETRAHEDRON.as_bytes(), "t.obj").unwrap();
        assert_eq!(m.vertices.len(), 4);
        assert_eq!(m.triangles, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]);
    }

    #[test]
    fn binary_stl_gives_back_the_mesh_even_if_its_header_says_solid() {
        let m = parse_obj(TETRAHEDRON.as_bytes(), "t.obj").unwrap();
        let mut bytes = stl(&m);
        for header in [b"binary", b"solid "] {
            bytes[..6].copy_from_slice(header);
            let back = parse_stl(&bytes, "t.stl").unwrap();
            assert_eq!(back.vertices.len(), 4);
            let points = |m: &TriMesh| {
                m.triangles.iter().map(|t| t.map(|i| m.vertices[i as usize])).collect::<Vec<_>>()
            };
            assert_eq!(points(&back), points(&m));
        }
    }

    #[test]
    fn ascii_stl_merges_corners() {
        let mut text = String::from("solid two\n");
        for t in [[[0, 0], [1, 0], [0, 1]], [[1, 0], [1, 1], [0, 1]]] {
            text += "facet normal 0 0 1\nouter loop\n";
            for [x, y] in t {
                text += &format!("vertex {x} {y} -0.0\n");
            }
            text += "endloop\nendfacet\n";
        }
        text += "endsolid two\n";
        let m = parse_stl(text.as_bytes(), "two.stl").unwrap();
        assert_eq!((m.vertices.len(), m.triangles.len()), (4, 2));
    }

    #[test]
    fn bad_meshes_are_refused_by_name_and_line() {
        for (text, part) in [
            ("", "m.obj: has no triangles"),
            ("v 0 0\n", "m.obj:1: `` is not a coordinate"),
            ("v 0 0 0\nv 1 0 0\nf 1 2 3\n", "m.obj:3: corner `3`"),
            ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9223372036854775808\n", "corner"),
            ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "corner `0`"),
            ("v 0 0 0\nv 1 0 0\nv 0 1 nan\nf 1 2 3\n", "vertex 3 is"),
            ("v 0 0 0\nv 1 0 0\nv 0 1 1e30\nf 1 2 3\n", "vertex 3 is"),
            ("v 0 0 0\nf 1 1\n", "m.obj:2: a face with 2 corners"),
        ] {
            let e = parse_obj(text.as_bytes(), "m.obj").unwrap_err();
            assert!(e.to_string().contains(part), "{e}");
            assert!(!e.remedy().is_empty());
        }
    }

    #[test]
    fn truncated_or_absurd_stl_is_refused() {
        let m = parse_obj(TETRAHEDRON.as_bytes(), "t.obj").unwrap();
        let bytes = stl(&m);
        assert!(parse_stl(&bytes[..bytes.len() - 1], "t.stl").is_err());
        assert!(parse_stl(&bytes[..40], "t.stl").is_err());
        let mut many = bytes.clone();
        many[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(parse_stl(&many, "t.stl").is_err());
    }
}
