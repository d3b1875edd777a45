//! A sequence of OBJ files, one per frame, with one object per part.

use super::skin::Skin;
use super::surface::{floor_size, owner_pose, patch};
use crate::error::{Error, Result};
use crate::recording::{Reader, ShapeOwner};
use crate::write::whole_file;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

/// Writes `frame_00000.obj` and so on into `dir`; returns how many there are.
pub fn obj_sequence<R: Read>(reader: &mut Reader<R>, dir: &Path) -> Result<usize> {
    std::fs::create_dir_all(dir).map_err(|e| Error::writing(dir, &e))?;
    let header = reader.header().clone();
    let ranges = header.solid_points();
    let skins: Vec<Skin> = header.solids.iter().map(|s| Skin::new(&header, s)).collect();
    let (mut patches, mut count) = (None, 0);
    for f in reader {
        let patches = patches.get_or_insert_with(|| {
            let floor = floor_size(&f);
            header.shapes.iter().map(|s| patch(&header, s, floor)).collect::<Vec<_>>()
        });
        whole_file(&dir.join(format!("frame_{count:05}.obj")), |file| {
            let mut out = BufWriter::new(file);
            writeln!(out, "# {} at t = {} s", header.name, f.t)?;
            let mut base = 1;
            for (i, (s, p)) in header.shapes.iter().zip(patches.iter()).enumerate() {
                let name = match s.owner {
                    ShapeOwner::Body(b) => &header.bodies[b as usize].name,
                    ShapeOwner::Particle(p) => &header.particles[p as usize].name,
                };
                writeln!(out, "o {}_{i}", name.replace(char::is_whitespace, "_"))?;
                let (at, turn) = owner_pose(s.owner, &f);
                for v in &p.vertices {
                    let x = (at + turn * *v).as_vec3();
                    writeln!(out, "v {} {} {}", x.x, x.y, x.z)?;
                }
                for t in &p.triangles {
                    writeln!(out, "f {} {} {}", base + t[0], base + t[1], base + t[2])?;
                }
                base += p.vertices.len() as u32;
            }
            for ((s, range), skin) in header.solids.iter().zip(&ranges).zip(&skins) {
                writeln!(out, "o {}", s.name.replace(char::is_whitespace, "_"))?;
                let vertices = skin.at(&f.points[range.clone()]);
                for x in &vertices {
                    writeln!(out, "v {} {} {}", x[0], x[1], x[2])?;
                }
                for t in &skin.triangles {
                    writeln!(out, "f {} {} {}", base + t[0], base + t[1], base + t[2])?;
                }
                base += vertices.len() as u32;
            }
            out.flush()
        })?;
        count += 1;
    }
    Ok(count)
}
