//! A mesh written in any of the formats comes back node for node and tet for tet; what a file has beside tets is left
//! out with a note; what is wrong is named in the numbers of the file, with its line or byte and the remedy.

#[allow(dead_code)]
use crate::common;

use crate::common::tet_files::{self as files, Order};
use stiction::Vec3;
use stiction::mesh::{TetMesh, shapes};
use stiction_io::tet_mesh::{self, TetFile, parse_gmsh, parse_medit, parse_tetgen, parse_vtk};

/// Odd coordinates, so that every bit counts.
fn sample() -> TetMesh {
    shapes::ring(0.1, 0.03, 5)
}

fn assert_same(
    format: &str,
    file: Result<TetFile, stiction_io::Error>,
    mesh: &TetMesh,
    notes: usize,
) -> TetFile {
    let file = file.unwrap_or_else(|e| panic!("{format}: {e}"));
    assert_eq!(&file.mesh, mesh, "{format}");
    assert_eq!(file.notes.len(), notes, "{format}: {:?}", file.notes);
    file
}

#[test]
fn every_format_gives_back_the_mesh() {
    let m = sample();
    let mut gmsh = vec![("Gmsh 2.2", files::gmsh2_text(&m)), ("Gmsh 4.1", files::gmsh4_text(&m))];
    for order in [Order::Little, Order::Big] {
        gmsh.push(("binary Gmsh 2.2", files::gmsh2_binary(&m, order)));
        for width in [4, 8] {
            gmsh.push(("binary Gmsh 4.1", files::gmsh4_binary(&m, order, width)));
        }
    }
    for (format, bytes) in gmsh {
        let file = assert_same(format, parse_gmsh(&bytes, "m.msh"), &m, 1);
        assert_eq!(file.notes, ["left out 40 triangles: only tetrahedra of four nodes are taken"]);
        assert_eq!(file.node_ids[..3], [10, 13, 16]);
        assert_eq!(file.tet_ids[..2], [41, 42]);
    }
    for base in [0, 1] {
        let [nodes, tets] = files::tetgen(&m, base);
        let file = assert_same("TetGen", parse_tetgen(&nodes, &tets, ["m.node", "m.ele"]), &m, 0);
        assert_eq!(file.node_ids[0], base as u64);
    }
    for (format, bytes) in [
        ("VTK", files::vtk_text(&m)),
        ("binary VTK", files::vtk_binary(&m)),
        ("VTK 5.1", files::vtk_offsets(&m)),
    ] {
        assert_same(format, parse_vtk(&bytes, "m.vtk"), &m, 1);
    }
    let file = assert_same("Medit", parse_medit(&files::medit(&m), "m.mesh"), &m, 1);
    assert_eq!(file.notes, ["left out 1 corners, 40 triangles: only tetrahedra of four nodes are taken"]);
}

#[test]
fn lines_may_end_as_on_windows() {
    let m = sample();
    let windows = |b: Vec<u8>| String::from_utf8(b).unwrap().replace('\n', "\r\n").into_bytes();
    assert_same("Gmsh 2.2", parse_gmsh(&windows(files::gmsh2_text(&m)), "m.msh"), &m, 1);
    assert_same("Gmsh 4.1", parse_gmsh(&windows(files::gmsh4_text(&m)), "m.msh"), &m, 1);
    assert_same("VTK", parse_vtk(&windows(files::vtk_text(&m)), "m.vtk"), &m, 1);
    assert_same("Medit", parse_medit(&windows(files::medit(&m)), "m.mesh"), &m, 1);
}

#[test]
fn vtk_with_offsets_in_text_and_data_in_between() {
    let text = "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n\
                FIELD FieldData 2\nTIME 1 1 double\n0.5\nMETADATA\nINFORMATION 0\n\nCYCLE 1 1 int\n3\n\
                POINTS 4 float\n0 0 0 1 0 0 0 1 0\n0 0 1\nMETADATA\nINFORMATION 0\n\n\
                CELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\nCELL_TYPES 1\n10\n";
    let file = parse_vtk(text.as_bytes(), "m.vtk").unwrap();
    assert_eq!(file.mesh.tets, [[0, 1, 2, 3]]);
    assert_eq!(file.mesh.vertices, [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]);
}

#[test]
fn inverted_tets_are_turned_and_noted() {
    let m = sample();
    let mut inverted = m.clone();
    inverted.tets.iter_mut().take(7).for_each(|t| t.swap(2, 3));
    let file = assert_same("Medit", parse_medit(&files::medit(&inverted), "m.mesh"), &m, 2);
    assert_eq!(file.notes[1], "turned 7 of 30 tetrahedra that had negative volume");
}

/// A Gmsh file with one tet and more.
fn gmsh(nodes: &str, elements: &str) -> Vec<u8> {
    let count = |s: &str| s.lines().count();
    let (a, b) = (count(nodes), count(elements));
    format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{a}\n{nodes}$EndNodes\n$Elements\n{b}\n{elements}$EndElements\n")
        .into_bytes()
}

const NODES: &str = "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
const TET: &str = "1 4 2 0 1 1 2 3 4\n";

#[test]
fn nodes_of_other_elements_go_with_them() {
    // Gmsh writes the centre of a circle as a point, though no tet uses it.
    let bytes = gmsh(&format!("9 5 5 5\n{NODES}"), &format!("7 15 2 0 1 9\n{TET}"));
    let file = parse_gmsh(&bytes, "m.msh").unwrap();
    assert_eq!((file.mesh.vertices.len(), file.node_ids), (4, vec![1, 2, 3, 4]));
    assert_eq!(
        file.notes,
        [
            "left out 1 points: only tetrahedra of four nodes are taken",
            "left out 1 nodes that only other elements use"
        ]
    );
}

#[test]
fn faults_are_named_in_the_numbers_of_the_file() {
    let with = |more_nodes: &str, more_elements: &str| {
        gmsh(&format!("{NODES}{more_nodes}"), &format!("{TET}{more_elements}"))
    };
    for (bytes, part) in [
        (gmsh(NODES, "1 2 2 0 1 1 2 3\n"), "m.msh: has no tetrahedra (left out 1 triangles"),
        (with("7 9 9 9\n", ""), "m.msh: node 7: unreferenced"),
        (with("", "2 4 2 0 1 1 2 3 8\n"), "m.msh: tet 2 uses node 8, which is not in the file"),
        (with("", "2 4 2 0 1 1 2 3 3\n"), "m.msh: tet 2: a node appears twice"),
        (with("4 1 1 1\n", ""), "m.msh: node 4 is there twice"),
        (with("8 0 0 1\n", "2 4 2 0 1 1 3 2 8\n"), "m.msh: nodes 4 and 8: duplicate nodes"),
        (with("8 1 1 0\n", "2 4 2 0 1 1 3 2 8\n"), "m.msh: tet 2: zero volume"),
        (
            with("8 1 1 5\n", "2 4 2 0 1 1 2 3 8\n"),
            "m.msh: tets 1 and 2, nodes 1, 2 and 3: tetrahedra overlap",
        ),
        (with("8 inf 1 5\n", "2 4 2 0 1 1 2 3 8\n"), "m.msh: node 8: a coordinate is not finite"),
        (with("", "2 11 2 0 1 1 2 3 4 5 6 7 8 9 10\n"), "m.msh:14: a tetrahedron of higher order"),
        (with("", "2 99 2 0 1 1 2\n"), "m.msh:14: elements of type 99 are not known"),
        (with("5 0 zero 0\n", ""), "m.msh:10: `zero` is not a coordinate"),
        (with("", "2 4 2 0 1 1 2 -3 4\n"), "m.msh:14: -3 is not the number of a node"),
    ] {
        let e = parse_gmsh(&bytes, "m.msh").unwrap_err();
        assert!(e.to_string().starts_with(part), "{e}\n{part}");
        assert!(!e.remedy().is_empty(), "{e}");
    }
}

#[test]
fn files_of_other_kinds_are_told_apart() {
    for (text, part) in [
        ("", "m.msh:1: is not a Gmsh mesh"),
        ("$MeshFormat\n4 0 8\n$EndMeshFormat\n", "m.msh:2: Gmsh format 4 is not read"),
        ("$MeshFormat\n2.2 0 4\n$EndMeshFormat\n", "m.msh:2: numbers of 4 bytes are not read"),
        ("$MeshFormat\n4.1 1 8\nabcd\n$EndMeshFormat\n", "m.msh: byte 20: the mark of the byte order"),
        ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Other\n", "m.msh:4: `$EndOther` is missing"),
    ] {
        let e = parse_gmsh(text.as_bytes(), "m.msh").unwrap_err();
        assert!(e.to_string().starts_with(part), "{e}\n{part}");
    }
    let head = "# vtk DataFile Version 3.0\nt\n";
    for (text, part) in [
        ("<VTKFile>".to_string(), "m.vtk:1: is not a legacy VTK file"),
        (format!("{head}ASCII\nDATASET POLYDATA\n"), "m.vtk:4: the dataset is `POLYDATA`"),
        (format!("{head}TEXT\n"), "m.vtk:3: neither ASCII nor BINARY"),
        (
            format!("{head}ASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1 3\n10 0 0\n"),
            "m.vtk:8: cell 0 has more nodes than the list holds",
        ),
        (
            format!(
                "{head}ASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1 2\n1 0\nCELL_TYPES 1\n24\n"
            ),
            "m.vtk: cell 0 is a tetrahedron of higher order",
        ),
    ] {
        let e = parse_vtk(text.as_bytes(), "m.vtk").unwrap_err();
        assert!(e.to_string().starts_with(part), "{e}\n{part}");
    }
    for (nodes, tets, part) in [
        ("1 2 0 0\n1 0 0\n", "", "m.node:1: nodes of dimension 2"),
        ("1 3 0 0\n1 0 0 0\n", "1 10 0\n1 1 1 1 1 1 1 1 1 1 1\n", "m.ele:1: tetrahedra of 10 nodes"),
        ("1 3 0 0\n1 0 0 0\n2 0 0 0\n", "", "m.node:3: `2` follows after as many items as the count says"),
    ] {
        let e = parse_tetgen(nodes.as_bytes(), tets.as_bytes(), ["m.node", "m.ele"]).unwrap_err();
        assert!(e.to_string().starts_with(part), "{e}\n{part}");
    }
    for (text, part) in [
        ("\u{1}", "m.mesh:1: is not an ASCII Medit mesh"),
        ("MeshVersionFormatted 1\nDimension 2\n", "m.mesh:2: a mesh of dimension 2"),
        (
            "MeshVersionFormatted 1\nDimension 3\nTetrahedra 1\n1 2 3 4 0\n1 2 3 5 0\n",
            "m.mesh:5: `1` stands where a keyword should be",
        ),
    ] {
        let e = parse_medit(text.as_bytes(), "m.mesh").unwrap_err();
        assert!(e.to_string().starts_with(part), "{e}\n{part}");
    }
}

#[test]
fn counts_beyond_the_file_are_refused_before_memory_is_asked_for() {
    let huge = "999999999999999999";
    let head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n";
    let errors = [
        parse_gmsh(format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{huge}\n").as_bytes(), "m")
            .unwrap_err(),
        parse_gmsh(format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n{huge} 1 1 1\n").as_bytes(), "m")
            .unwrap_err(),
        parse_vtk(format!("{head}POINTS {huge} float\n").as_bytes(), "m").unwrap_err(),
        parse_tetgen(format!("{huge} 3 0 0\n").as_bytes(), b"", ["m", "m"]).unwrap_err(),
        parse_medit(format!("MeshVersionFormatted 1\nVertices {huge}\n").as_bytes(), "m").unwrap_err(),
    ];
    for e in errors {
        assert!(e.to_string().contains(huge) && e.to_string().contains("bytes follow"), "{e}");
    }
}

#[test]
fn binary_files_that_are_cut_off_say_where() {
    let m = sample();
    for bytes in [
        files::gmsh2_binary(&m, Order::Little),
        files::gmsh4_binary(&m, Order::Little, 8),
        files::vtk_binary(&m),
        files::vtk_offsets(&m),
    ] {
        for cut in [bytes.len() / 4, bytes.len() / 2, bytes.len() * 9 / 10] {
            let e = parse_gmsh(&bytes[..cut], "m").or_else(|_| parse_vtk(&bytes[..cut], "m")).unwrap_err();
            assert!(!e.remedy().is_empty());
        }
    }
    // A coordinate of eight bytes starts at 395: three of them are missing.
    let bytes = files::gmsh4_binary(&m, Order::Little, 8);
    let e = parse_gmsh(&bytes[..400], "m").unwrap_err();
    assert_eq!(e.to_string(), "m: byte 395: the file ends 3 bytes too early");
}

#[test]
fn the_ending_of_the_name_chooses_the_format() {
    let dir = common::Scratch::new("tet-meshes");
    let m = shapes::block([1, 1, 1], Vec3::ONE);
    let [nodes, tets] = files::tetgen(&m, 1);
    for (name, bytes) in [
        ("a.MSH", files::gmsh4_text(&m)),
        ("b.vtk", files::vtk_text(&m)),
        ("c.mesh", files::medit(&m)),
        ("d.1.node", nodes),
        ("d.1.ele", tets),
    ] {
        std::fs::write(dir.file(name), bytes).unwrap();
    }
    for name in ["a.MSH", "b.vtk", "c.mesh", "d.1.node", "d.1.ele"] {
        assert_eq!(tet_mesh::load(&dir.file(name)).unwrap().mesh, m, "{name}");
    }
    for (name, remedy) in
        [("x.meshb", "ASCII"), ("x.msh.gz", "gunzip"), ("x.vtu", "legacy"), ("x.stl", "Gmsh"), ("x", "Gmsh")]
    {
        let e = tet_mesh::load(&dir.file(name)).unwrap_err();
        assert!(e.remedy().contains(remedy), "{name}: {}", e.remedy());
    }
}
