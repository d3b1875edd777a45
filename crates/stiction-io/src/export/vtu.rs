//! VTU files of the soft bodies, one per frame, with strain, stress and contact force, and a PVD file that lists them.

use super::surface::{floor_size, owner_pose, patch};
use crate::error::{Error, Result};
use crate::recording::{Frame, Header, Mesh, Part, Reader};
use crate::write::whole_file;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use stiction::elastic::{Damping, Elements};
use stiction::{Mat3, Vec3};

/// VTK's numbers for cells.
const TRIANGLE: u8 = 5;
const TET: u8 = 10;

/// Writes `NAME.pvd` and `NAME_00000.vtu` and so on into `dir`; returns how many there are.
///
/// Tetrahedra carry `strain` (von Mises of Green's strain) and `stress` (von Mises of Cauchy's stress, Pa), triangles of cloth
/// the strain in their plane; rigid shapes have none. Points carry `contact_force` \[N\]: each force stands at the nearest vertex of its soft body.
pub fn vtu_series<R: Read>(reader: &mut Reader<R>, dir: &Path, name: &str) -> Result<usize> {
    std::fs::create_dir_all(dir).map_err(|e| Error::writing(dir, &e))?;
    let header = reader.header().clone();
    let mut series: Option<Series> = None;
    let mut times = Vec::new();
    for f in reader {
        let series = series.get_or_insert_with(|| Series::new(&header, &f));
        let file = format!("{name}_{:05}.vtu", times.len());
        whole_file(&dir.join(&file), |out| series.write(&header, &f, BufWriter::new(out)))?;
        times.push((f.t, file));
    }
    whole_file(&dir.join(format!("{name}.pvd")), |out| {
        let mut out = BufWriter::new(out);
        writeln!(
            out,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>"
        )?;
        for (t, file) in &times {
            writeln!(out, "<DataSet timestep=\"{t}\" file=\"{file}\"/>")?;
        }
        writeln!(out, "</Collection>\n</VTKFile>")?;
        out.flush()
    })?;
    Ok(times.len())
}

/// What does not change: triangles of rigid shapes and elements of solids.
struct Series {
    rigid: Vec<super::surface::Patch>,
    elements: Vec<Option<Elements>>,
}

impl Series {
    fn new(header: &Header, first: &Frame) -> Series {
        let floor = floor_size(first);
        let rigid = header.shapes.iter().map(|s| patch(header, s, floor)).collect();
        let elements = header
            .solids
            .iter()
            .map(|s| {
                let m = &header.meshes[s.mesh as usize];
                let rest: Vec<Vec3> = m.vertices.iter().map(|v| wide(*v)).collect();
                // A recording that somebody changed may hold elements that make no sense; they get no strain.
                let all = vec![0; m.tets.len()];
                Elements::new(&rest, &m.tets, &[s.material?], &all, Damping::default()).ok()
            })
            .collect();
        Series { rigid, elements }
    }

    fn write(&self, header: &Header, f: &Frame, mut out: impl Write) -> io::Result<()> {
        let mut points: Vec<Vec3> = Vec::new();
        let (mut cells, mut kinds) = (Vec::<Vec<u32>>::new(), Vec::new());
        let (mut strain, mut stress) = (Vec::new(), Vec::new());
        for (s, p) in header.shapes.iter().zip(&self.rigid) {
            let base = points.len() as u32;
            let (at, turn) = owner_pose(s.owner, f);
            points.extend(p.vertices.iter().map(|v| at + turn * *v));
            cells.extend(p.triangles.iter().map(|t| t.iter().map(|i| base + i).collect()));
            kinds.resize(cells.len(), TRIANGLE);
        }
        strain.resize(cells.len(), 0.0);
        stress.resize(cells.len(), 0.0);
        let mut starts = Vec::new();
        for ((s, range), elements) in header.solids.iter().zip(header.solid_points()).zip(&self.elements) {
            let base = points.len() as u32;
            starts.push(points.len()..points.len() + range.len());
            let x: Vec<Vec3> = f.points[range].iter().map(|v| wide(*v)).collect();
            let m = &header.meshes[s.mesh as usize];
            let sheet = m.tets.is_empty();
            if sheet {
                cells.extend(m.triangles.iter().map(|t| t.iter().map(|i| base + i).collect()));
            } else {
                cells.extend(m.tets.iter().map(|t| t.iter().map(|i| base + i).collect()));
            }
            kinds.resize(cells.len(), if sheet { TRIANGLE } else { TET });
            if sheet {
                strain.extend(m.triangles.iter().map(|t| sheet_strain(m, t, &x)));
            } else if let Some(e) = elements {
                for t in 0..m.tets.len() {
                    strain.push(von_mises_strain(e, t, &x));
                    stress.push(e.von_mises(t, &x));
                }
            }
            strain.resize(cells.len(), 0.0);
            stress.resize(cells.len(), 0.0);
            points.extend(x);
        }
        let force = contact_forces(header, f, &points, &starts);

        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(out, "<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">")?;
        writeln!(
            out,
            "<UnstructuredGrid><Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">",
            points.len(),
            cells.len()
        )?;
        let array = |kind: &str, name: &str, components: usize| {
            format!(
                "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"ascii\">"
            )
        };
        writeln!(out, "<Points>{}", array("Float32", "Points", 3))?;
        vectors(&mut out, &points)?;
        writeln!(out, "</DataArray></Points>\n<Cells>{}", array("Int32", "connectivity", 1))?;
        for c in &cells {
            let line: Vec<String> = c.iter().map(u32::to_string).collect();
            writeln!(out, "{}", line.join(" "))?;
        }
        writeln!(out, "</DataArray>{}", array("Int32", "offsets", 1))?;
        let mut end = 0;
        for c in &cells {
            end += c.len();
            writeln!(out, "{end}")?;
        }
        writeln!(out, "</DataArray>{}", array("UInt8", "types", 1))?;
        for k in &kinds {
            writeln!(out, "{k}")?;
        }
        writeln!(out, "</DataArray></Cells>\n<PointData>{}", array("Float32", "contact_force", 3))?;
        vectors(&mut out, &force)?;
        writeln!(out, "</DataArray></PointData>\n<CellData>")?;
        for (name, values) in [("strain", &strain), ("stress", &stress)] {
            writeln!(out, "{}", array("Float32", name, 1))?;
            for x in values {
                writeln!(out, "{}", *x as f32)?;
            }
            writeln!(out, "</DataArray>")?;
        }
        writeln!(out, "</CellData>\n</Piece></UnstructuredGrid>\n</VTKFile>")?;
        out.flush()
    }
}

fn vectors(out: &mut impl Write, list: &[Vec3]) -> io::Result<()> {
    for v in list {
        let v = v.as_vec3();
        writeln!(out, "{} {} {}", v.x, v.y, v.z)?;
    }
    Ok(())
}

fn wide(v: [f32; 3]) -> Vec3 {
    Vec3::new(v[0].into(), v[1].into(), v[2].into())
}

/// √(2/3 dev E : dev E) of Green's strain.
fn von_mises_strain(e: &Elements, tet: usize, x: &[Vec3]) -> f64 {
    let f = e.deformation(tet, x);
    equivalent((f.transpose() * f - Mat3::IDENTITY) * 0.5)
}

/// √(2/3 dev E : dev E).
fn equivalent(e: Mat3) -> f64 {
    let mean = (e.x_axis.x + e.y_axis.y + e.z_axis.z) / 3.0;
    let d = e - Mat3::from_diagonal(Vec3::splat(mean));
    let square: f64 = d.to_cols_array().iter().map(|x| x * x).sum();
    (2.0 / 3.0 * square).sqrt()
}

/// The same of a triangle of a sheet, in its own plane: its edges at rest are (a, 0) and (b, c).
fn sheet_strain(mesh: &Mesh, t: &[u32; 3], x: &[Vec3]) -> f64 {
    let rest = t.map(|i| wide(mesh.vertices[i as usize]));
    let now = t.map(|i| x[i as usize]);
    let (p, q) = (rest[1] - rest[0], rest[2] - rest[0]);
    let (u, v) = (now[1] - now[0], now[2] - now[0]);
    let (a, b) = (p.length(), q.dot(p) / p.length());
    let c = (q.length_squared() - b * b).sqrt();
    // Columns of the deformation gradient.
    let (f, g) = (u / a, (v - u * (b / a)) / c);
    let (xx, xy, yy) = (0.5 * (f.dot(f) - 1.0), 0.5 * f.dot(g), 0.5 * (g.dot(g) - 1.0));
    let e = equivalent(Mat3::from_cols(Vec3::new(xx, xy, 0.0), Vec3::new(xy, yy, 0.0), Vec3::ZERO));
    // A recording that somebody changed may hold flat triangles.
    if e.is_finite() { e } else { 0.0 }
}

/// Forces of contacts at the nearest vertex of the soft bodies that they act on.
fn contact_forces(
    header: &Header,
    f: &Frame,
    points: &[Vec3],
    solids: &[std::ops::Range<usize>],
) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; points.len()];
    for c in &f.contacts {
        for (part, sign) in [(c.a, 1.0), (c.b, -1.0)] {
            let Some(Part::Solid(s)) = header.part(part) else { continue };
            let at = wide(c.point);
            let near = |i: &usize| points[*i].distance_squared(at);
            if let Some(i) = solids[s].clone().min_by(|a, b| near(a).total_cmp(&near(b))) {
                out[i] += sign * wide(c.force);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_strains_in_its_plane_however_it_is_turned() {
        let rest = vec![[0.0f32, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.0, 1.0]];
        let mesh = Mesh::new(rest.clone(), vec![[0, 1, 2]], Vec::new());
        let turn = stiction::Quat::from_rotation_x(0.7) * stiction::Quat::from_rotation_z(1.1);
        let at = |stretch: Vec3| -> Vec<Vec3> { rest.iter().map(|v| turn * (wide(*v) * stretch)).collect() };
        assert!(sheet_strain(&mesh, &[0, 1, 2], &at(Vec3::ONE)) < 1e-12);
        // Stretched by λ along x alone: E = (λ² − 1)/2, and the measure is 2/3 of it.
        let e = sheet_strain(&mesh, &[0, 1, 2], &at(Vec3::new(1.1, 1.0, 1.0)));
        assert!((e - 2.0 / 3.0 * 0.105).abs() < 1e-12, "{e}");
    }
}
