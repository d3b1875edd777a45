//! Legacy VTK files with an unstructured grid, ASCII or binary (which is big-endian), up to version 5.1.

use super::scan::{Encoding, Scan, shown};
use super::{TetFile, raw::Raw};
use crate::error::{Error, Result};
use stiction::Vec3;

/// The cell type of tets with four nodes.
const TET: i64 = 10;

/// Reads a legacy VTK file; `name` stands in messages. Ids are positions in the file, counted from 0.
pub fn parse_vtk(bytes: &[u8], name: &str) -> Result<TetFile> {
    let mut scan = Scan::new(bytes, name);
    if !scan.line().to_ascii_lowercase().starts_with(b"# vtk datafile version") {
        return Err(scan.error(
            "is not a legacy VTK file: `# vtk DataFile Version` is missing",
            "save the mesh as legacy VTK (.vtk), not as XML",
        ));
    }
    scan.line();
    let encoding = match scan.word().map(<[u8]>::to_ascii_lowercase).as_deref() {
        Some(b"ascii") => Encoding::Text,
        Some(b"binary") => Encoding::Big,
        _ => return Err(scan.error("neither ASCII nor BINARY", "the third line must be one of them")),
    };
    scan.binary = encoding == Encoding::Big;
    scan.expect("DATASET")?;
    match scan.word() {
        Some(w) if w.eq_ignore_ascii_case(b"UNSTRUCTURED_GRID") => {}
        other => {
            let problem = format!("the dataset is `{}`", shown(other.unwrap_or(b"")));
            return Err(scan.error(problem, "save the mesh as an unstructured grid of tetrahedra"));
        }
    }

    let mut grid = Grid::default();
    // Data on points and cells comes last and is not needed.
    while grid.kinds.is_none() {
        scan.encoding = Encoding::Text;
        let Some(word) = scan.word() else { break };
        match word.to_ascii_lowercase().as_slice() {
            b"points" => grid.points(&mut scan, encoding)?,
            b"cells" => grid.cells(&mut scan, encoding)?,
            b"cell_types" => {
                let count = scan.count(0, 1, "the number of cell types")?;
                grid.kinds = Some(integers(&mut scan, encoding, count, 4)?);
            }
            b"field" => field(&mut scan, encoding)?,
            b"metadata" => metadata(&mut scan),
            other => {
                let problem = format!("`{}` is not known here", shown(other));
                return Err(scan.error(problem, "an unstructured grid has POINTS, CELLS and CELL_TYPES"));
            }
        }
    }
    grid.into_raw(name)?.finish(name)
}

/// Points and cells as the file has them.
#[derive(Default)]
struct Grid {
    points: Vec<Vec3>,
    /// Where the nodes of each cell start and end in `nodes`.
    cells: Vec<(usize, usize)>,
    nodes: Vec<i64>,
    kinds: Option<Vec<i64>>,
}

impl Grid {
    /// `count type`, then coordinates.
    fn points(&mut self, scan: &mut Scan, encoding: Encoding) -> Result<()> {
        let count = scan.count(0, 3, "the number of points")?;
        let kind = scan.word().unwrap_or(b"").to_ascii_lowercase();
        let width = match kind.as_slice() {
            b"float" => 4,
            b"double" => 8,
            other => {
                let problem = format!("points of type `{}`", shown(other));
                return Err(scan.error(problem, "save points as float or double"));
            }
        };
        start_data(scan, encoding);
        for _ in 0..count {
            let mut x = [0.0; 3];
            for c in &mut x {
                *c = scan.real(width, "a coordinate")?;
            }
            self.points.push(Vec3::from_array(x));
        }
        Ok(())
    }

    /// Up to version 4: `count size`, then `n nodes…` for each cell. From 5.1: offsets and nodes apart.
    fn cells(&mut self, scan: &mut Scan, encoding: Encoding) -> Result<()> {
        let count = scan.count(0, 1, "the number of cells")?;
        let size = scan.count(0, 1, "the size of the cells")?;
        scan.line();
        if scan.rest().starts_with(b"OFFSETS") {
            return self.cells_by_offset(scan, encoding, count, size);
        }
        scan.encoding = encoding;
        self.nodes = integers_here(scan, size, 4)?;
        let mut next = 0;
        for _ in 0..count {
            let n = self.nodes.get(next).copied().and_then(|n| usize::try_from(n).ok());
            let end = n.and_then(|n| n.checked_add(next + 1)).filter(|&end| end <= self.nodes.len());
            let Some(end) = end else {
                let problem = format!("cell {} has more nodes than the list holds", self.cells.len());
                return Err(scan.error(problem, "the size of CELLS may be wrong: export the mesh again"));
            };
            self.cells.push((next + 1, end));
            next = end;
        }
        if next < self.nodes.len() {
            let problem = format!("{count} cells use {next} of {size} numbers");
            return Err(scan.error(problem, "the counts of CELLS are wrong: export the mesh again"));
        }
        Ok(())
    }

    fn cells_by_offset(
        &mut self,
        scan: &mut Scan,
        encoding: Encoding,
        count: usize,
        size: usize,
    ) -> Result<()> {
        let mut list = |keyword: &str, n: usize| {
            scan.encoding = Encoding::Text;
            scan.expect(keyword)?;
            let kind = scan.word().unwrap_or(b"");
            let width = width_of(scan, kind)?;
            integers(scan, encoding, n, width)
        };
        let offsets = list("OFFSETS", count)?;
        self.nodes = list("CONNECTIVITY", size)?;
        for w in offsets.windows(2) {
            match [w[0], w[1]].map(usize::try_from) {
                [Ok(start), Ok(end)] if start <= end && end <= size => self.cells.push((start, end)),
                _ => {
                    let problem = format!("the offsets {} and {} do not fit {size} nodes", w[0], w[1]);
                    return Err(scan.error(problem, "export the mesh again"));
                }
            }
        }
        Ok(())
    }

    /// Takes the tets.
    fn into_raw(self, name: &str) -> Result<Raw> {
        let kinds = self.kinds.unwrap_or_default();
        if kinds.len() != self.cells.len() {
            let problem = format!("has {} cells, but {} cell types", self.cells.len(), kinds.len());
            return Err(Error::new(name, problem, "the file is cut off or wrong: export it again"));
        }
        let mut raw = Raw::default();
        raw.nodes.extend(self.points.iter().enumerate().map(|(i, &x)| (i as u64, x)));
        for (i, (&(start, end), &kind)) in self.cells.iter().zip(&kinds).enumerate() {
            let nodes = self.nodes[start..end].iter().map(|&n| {
                u64::try_from(n).map_err(|_| {
                    Error::new(
                        name,
                        format!("cell {i} uses node {n}"),
                        "nodes are counted from 0: export again",
                    )
                })
            });
            let nodes = nodes.collect::<Result<Vec<u64>>>()?;
            match (kind, nodes.as_slice()) {
                (TET, &[a, b, c, d]) => raw.tets.push((i as u64, [a, b, c, d])),
                (TET, _) => {
                    let problem = format!("cell {i} is a tetrahedron of {} nodes", nodes.len());
                    return Err(Error::new(
                        name,
                        problem,
                        "tetrahedra have four nodes: export the mesh again",
                    ));
                }
                (24 | 64 | 71 | 78, _) => {
                    let problem = format!("cell {i} is a tetrahedron of higher order (cell type {kind})");
                    return Err(Error::new(name, problem, "save cells of first order (type 10)"));
                }
                _ => raw.ignore(kind_name(kind), nodes),
            }
        }
        Ok(raw)
    }
}

/// Names of cell types that are left out.
fn kind_name(kind: i64) -> &'static str {
    match kind {
        1 | 2 => "points",
        3 | 4 => "lines",
        5 | 6 => "triangles",
        7..=9 => "polygons",
        11 | 12 => "hexahedra",
        13 => "prisms",
        14 => "pyramids",
        _ => "other cells",
    }
}

/// Bytes of a number of a type.
fn width_of(scan: &Scan, kind: &[u8]) -> Result<usize> {
    Ok(match kind.to_ascii_lowercase().as_slice() {
        b"char" | b"unsigned_char" | b"vtktypeint8" | b"vtktypeuint8" => 1,
        b"short" | b"unsigned_short" | b"vtktypeint16" | b"vtktypeuint16" => 2,
        // Ids are written as int.
        b"int" | b"unsigned_int" | b"float" | b"vtktypeint32" | b"vtktypeuint32" | b"vtkidtype" => 4,
        b"long" | b"unsigned_long" | b"double" | b"vtktypeint64" | b"vtktypeuint64" => 8,
        other => {
            return Err(scan.error(format!("data of type `{}` is not read", shown(other)), "save without it"));
        }
    })
}

/// Data starts on the next line in binary files.
fn start_data(scan: &mut Scan, encoding: Encoding) {
    scan.line();
    scan.encoding = encoding;
}

fn integers(scan: &mut Scan, encoding: Encoding, count: usize, width: usize) -> Result<Vec<i64>> {
    start_data(scan, encoding);
    integers_here(scan, count, width)
}

fn integers_here(scan: &mut Scan, count: usize, width: usize) -> Result<Vec<i64>> {
    (0..count).map(|_| scan.int(width, "a whole number")).collect()
}

/// Passes over lines up to an empty one; the first is the rest of the keyword's.
fn metadata(scan: &mut Scan) {
    scan.line();
    while !scan.line().trim_ascii().is_empty() {}
}

/// Passes over `FIELD name count`, then for each array `name components tuples type` and its numbers.
fn field(scan: &mut Scan, encoding: Encoding) -> Result<()> {
    scan.word();
    let arrays = scan.count(0, 4, "the number of arrays")?;
    for _ in 0..arrays {
        scan.encoding = Encoding::Text;
        if scan.word().is_some_and(|w| w.eq_ignore_ascii_case(b"METADATA")) {
            metadata(scan);
            scan.word();
        }
        let components = scan.count(0, 1, "the number of components")?;
        let tuples = scan.count(0, 1, "the number of tuples")?;
        let kind = scan.word().unwrap_or(b"");
        let width = width_of(scan, kind)?;
        let count =
            scan.fits((components as u64).saturating_mul(tuples as u64), 1, "the size of an array")?;
        start_data(scan, encoding);
        match encoding {
            Encoding::Text => (0..count).try_for_each(|_| scan.parse::<f64>("a number").map(drop))?,
            _ => drop(scan.take(count.saturating_mul(width))?),
        }
    }
    Ok(())
}
