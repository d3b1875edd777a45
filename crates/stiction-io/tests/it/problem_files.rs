//! Contact problems survive the way to a file and back, in every form, and solutions come out in the rows of the file.

#[allow(dead_code)]
use crate::common::{Array, Scratch, csr, floats, ints, npz};
use stiction::contact::{ContactProblem, Friction, LocalProblem, samples};
use stiction::{Mat3, Vec3};
use stiction_io::problem::{self, Problem};

fn same(a: &LocalProblem, b: &LocalProblem) {
    assert_eq!(a.contacts(), b.contacts());
    let scale =
        a.block.iter().map(|m| m.abs().to_cols_array().into_iter().fold(0.0, f64::max)).fold(0.0, f64::max);
    for c in 0..a.contacts() {
        assert_eq!(a.law[c], b.law[c]);
        assert!((a.q[c] - b.q[c]).length() < 1e-13 * (1.0 + a.q[c].length()), "q {c}");
        for d in 0..a.contacts() {
            assert!(a.get(c, d).abs_diff_eq(b.get(c, d), 1e-13 * scale), "W {c} {d}");
        }
    }
}

/// A wall with every second contact elliptic and soft.
fn mixed_wall() -> ContactProblem {
    let mut p = samples::wall(3, 3, 0.6, 5);
    for c in (0..p.contacts()).step_by(2) {
        p.law[c] = Friction::Elliptic(0.2 + 0.01 * c as f64, 0.7).into();
        p.softness[c] = Vec3::splat(1e-4 * (c + 1) as f64);
    }
    p
}

#[test]
fn problems_of_the_simulator_read_back_as_their_local_form() {
    let dir = Scratch::new("round-trip");
    for (i, p) in [samples::wall(3, 3, 0.6, 1), samples::heavy_stack(5), samples::arch(3, 0.6), mixed_wall()]
        .iter()
        .enumerate()
    {
        let path = dir.file(&format!("{i}.npz"));
        problem::write_problem(&path, p).unwrap();
        let back = problem::read(&path).unwrap();
        assert_eq!(back.dim, 3);
        same(&LocalProblem::from_problem(p), &back.local);
    }
}

#[test]
fn solutions_return_to_the_rows_and_dofs_of_the_file() {
    let dir = Scratch::new("solution");
    let p = mixed_wall();
    let path = dir.file("p.npz");
    problem::write_problem(&path, &p).unwrap();
    let back = problem::read(&path).unwrap();
    // Any impulse will do: in round coordinates it is divided by the stretch.
    let lambda: Vec<Vec3> = (0..p.contacts()).map(|c| Vec3::new(1.0, 0.1 * c as f64, -0.3)).collect();
    let round: Vec<Vec3> = lambda.iter().zip(&p.law).map(|(l, f)| *l / f.stretch()).collect();
    let s = back.solution(&round);
    let v = p.velocity_of(&lambda);
    for (a, b) in s.v.as_ref().unwrap().iter().zip(&v) {
        assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()));
    }
    for c in 0..p.contacts() {
        let u = p.j.mul_one(c, &v) + p.bias[c] + p.softness[c] * lambda[c];
        assert!((Vec3::from_slice(&s.u[3 * c..]) - u).length() < 1e-12, "u {c}");
        assert!((Vec3::from_slice(&s.r[3 * c..]) - lambda[c]).length() < 1e-14, "r {c}");
    }
    let out = dir.file("s.npz");
    problem::write_solution(&out, &s).unwrap();
    let mut zip = zip::ZipArchive::new(std::fs::File::open(&out).unwrap()).unwrap();
    assert_eq!(zip.len(), 3);
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut zip.by_name("r.npy").unwrap(), &mut bytes).unwrap();
    let last: Vec<u8> = s.r.last().unwrap().to_le_bytes().into();
    assert!(bytes.ends_with(&last));
}

fn read(arrays: Vec<Array>) -> Problem {
    problem::parse(npz(&arrays), "x.npz").unwrap_or_else(|e| panic!("{e}"))
}

/// Two contacts in three dimensions; W is the identity plus one coupling.
fn local() -> Vec<Array> {
    let mut rows = vec![vec![0.0; 6]; 6];
    for (i, row) in rows.iter_mut().enumerate() {
        row[i] = 1.0 + i as f64;
    }
    rows[0][4] = 0.5;
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let mut a = csr("W", &rows);
    a.push(floats("q", &[6], &[-1.0, 0.1, 0.2, -2.0, 0.3, 0.4]));
    a.push(floats("mu", &[2], &[0.5, 0.0]));
    a
}

#[test]
fn local_form_keeps_places_and_lack_of_symmetry() {
    let p = read(local());
    assert!(p.global.is_none());
    assert_eq!(p.local.get(0, 0), Mat3::from_diagonal(Vec3::new(1.0, 2.0, 3.0)));
    assert_eq!(p.local.get(0, 1).row(0), Vec3::new(0.0, 0.5, 0.0));
    assert_eq!(p.local.get(1, 0), Mat3::ZERO);
    assert_eq!(p.local.q[1], Vec3::new(-2.0, 0.3, 0.4));
    let s = p.solution(&[Vec3::X, Vec3::Y]);
    assert_eq!(s.u, [0.5, 0.1, 0.2, -2.0, 5.3, 0.4]);
    assert_eq!(s.v, None);
}

#[test]
fn plane_problems_get_an_idle_third_row() {
    let mut a = csr(
        "W",
        &[&[2.0, 0.5, 0.0, 0.1], &[0.5, 4.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0], &[0.1, 0.0, 0.0, 3.0]],
    );
    a.push(floats("q", &[4], &[-1.0, 0.5, -2.0, 0.25]));
    a.push(floats("mu", &[2, 1], &[0.5, 0.3]));
    let p = read(a);
    assert_eq!(p.dim, 2);
    assert_eq!(p.local.get(0, 0), Mat3::from_cols_array(&[2.0, 0.5, 0.0, 0.5, 4.0, 0.0, 0.0, 0.0, 3.0]));
    assert_eq!(p.local.get(0, 1).row(0), Vec3::new(0.0, 0.1, 0.0));
    assert_eq!(p.local.q[1], Vec3::new(-2.0, 0.25, 0.0));
    let s = p.solution(&[Vec3::new(1.0, 0.0, 0.0), Vec3::ZERO]);
    assert_eq!((s.r.len(), s.u), (4, vec![1.0, 1.0, -2.0, 0.35]));
}

#[test]
fn a_plane_problem_in_global_form_is_reduced() {
    // A 2 kg particle in the plane touches a wall on each side: W = ½ [1 −1; −1 1] in the normals.
    let mut a = csr("M", &[&[2.0, 0.0], &[0.0, 2.0]]);
    a.extend(csr("H", &[&[1.0, 0.0, -1.0, 0.0], &[0.0, 1.0, 0.0, -1.0]]));
    a.push(floats("f", &[2], &[4.0, -2.0]));
    a.push(floats("w", &[4], &[0.125, 0.0, 0.25, 0.0]));
    a.push(floats("mu", &[2], &[0.5, 0.5]));
    let p = read(a);
    assert_eq!(p.local.get(0, 1).row(0), Vec3::new(-0.5, 0.0, 0.0));
    assert_eq!(p.local.q[0], Vec3::new(2.125, -1.0, 0.0));
    let s = p.solution(&[Vec3::ZERO, Vec3::new(4.0, 0.0, 0.0)]);
    assert_eq!(s.v, Some(vec![0.0, -1.0]));
    assert_eq!(s.u, [0.125, -1.0, 0.25, 1.0]);
}

#[test]
fn an_empty_problem_is_a_problem() {
    let mut a = csr("W", &[]);
    a.push(floats("q", &[0], &[]));
    a.push(floats("mu", &[0], &[]));
    assert_eq!(read(a).local.contacts(), 0);
}

#[test]
fn bad_arrays_are_named_with_the_remedy() {
    let with = |name: &str, new: Option<Array>| -> Vec<Array> {
        local().into_iter().filter(|a| a.0 != name).chain(new).collect()
    };
    let global = |name: &str, new: Array| -> Vec<Array> {
        let mut a = csr("M", &[&[1.0, 0.0], &[0.0, 1.0]]);
        a.extend(csr("H", &[&[1.0, 0.0], &[0.0, 1.0]]));
        a.push(floats("f", &[2], &[0.0; 2]));
        a.push(floats("w", &[2], &[0.0; 2]));
        a.push(floats("mu", &[1], &[0.5]));
        a.retain(|a| a.0 != name);
        a.push(new);
        a
    };
    let huge = Array("q".into(), "<f8", vec![1_000_000_000_000], vec![0; 64]);
    let cases: Vec<(Vec<Array>, &str, &str)> = vec![
        (vec![floats("x", &[1], &[1.0])], "it holds x", "local form"),
        (vec![], "it holds nothing", "global form"),
        (with("mu", None), "`mu`: is missing", "`W_data`"),
        (with("W_indptr", None), "`W_indptr`: is missing", "known arrays"),
        (with("q", Some(floats("q", &[5], &[0.0; 5]))), "`q`: has 5 numbers for 2 contacts", "three rows"),
        (with("q", Some(floats("q", &[6], &[f64::NAN; 6]))), "element 0 is NaN", "finite"),
        (with("q", Some(huge)), "too large", "numpy"),
        (with("mu", Some(floats("mu", &[2], &[0.5, -0.1]))), "element 1 is -0.1", "negative"),
        (with("mu", Some(floats("mu", &[2, 3], &[0.5; 6]))), "has shape [2, 3]", "one or two"),
        (with("mu", Some(floats("mu", &[2, 2], &[0.5, 0.4, 0.0, 0.3]))), "row 1 is", "positive"),
        (with("W_data", Some(floats("W_data", &[7], &[f64::INFINITY; 7]))), "is inf", "finite"),
        (with("W_data", Some(floats("W_data", &[3], &[1.0; 3]))), "`W_indptr`: element", "shape"),
        (
            with("W_indices", Some(ints("W_indices", &[0, 4, 1, 2, 3, 4, 6]))),
            "element 6 is 6",
            "count from 0",
        ),
        (with("W_indices", Some(ints("W_indices", &[0, -4, 1, 2, 3, 4, 5]))), "element 1 is -4", "indices"),
        (with("W_indices", Some(ints("W_indices", &[0]))), "has 1 elements", "csr_matrix"),
        (with("W_indices", Some(floats("W_indices", &[7], &[0.0; 7]))), "holds floats", "integers"),
        (with("W_indptr", Some(ints("W_indptr", &[0, 3, 2, 4, 5, 6, 7]))), "must rise", "csr_matrix"),
        (with("W_indptr", Some(ints("W_indptr", &[0, 7]))), "has 2 elements", "6 rows"),
        (with("softness", Some(floats("softness", &[1], &[0.0]))), "has 1 numbers", "one number"),
        (with("softness", Some(floats("softness", &[2], &[0.0, -1.0]))), "element 1 is -1", "negative"),
        (
            global("M_data", floats("M_data", &[2], &[1.0, 0.0])),
            "`M_data`: the diagonal entry of dof 1 is 0",
            "positive definite",
        ),
        (
            global("M_data", floats("M_data", &[2], &[-1.0, 1.0])),
            "`M_data`: the diagonal entry of dof 0 is -1",
            "positive definite",
        ),
        (global("M_data", floats("M_data", &[2], &[1e-320, 1.0])), "", ""),
        (global("H_indices", ints("H_indices", &[0, 2])), "element 1 is 2", "indices"),
        (global("f", floats("f", &[3], &[0.0; 3])), "`M_indptr`", "3 rows"),
        (global("mu", floats("mu", &[1, 2], &[0.5, 0.5])), "two columns", "one tangent"),
    ];
    for (arrays, problem, remedy) in cases {
        let e = problem::parse(npz(&arrays), "x.npz").err().unwrap_or_else(|| panic!("accepted: {problem}"));
        assert!(e.to_string().starts_with("x.npz") && e.to_string().contains(problem), "{problem}: {e}");
        let all = format!("{e} {}", e.remedy());
        assert!(all.contains(remedy) && !e.remedy().is_empty(), "{remedy}: {all}");
    }
    assert!(problem::read(std::path::Path::new("/nowhere/x.npz")).is_err());
    let whole = npz(&local());
    for n in 0..whole.len() {
        assert!(problem::parse(whole[..n].to_vec(), "x.npz").is_err(), "cut at {n}");
    }
}

#[test]
fn nothing_is_left_behind_where_nothing_can_be_written() {
    let dir = Scratch::new("unwritable");
    // A folder stands where the file should go.
    let path = dir.file("taken.npz");
    std::fs::create_dir(&path).unwrap();
    let e = problem::write_problem(&path, &samples::heavy_stack(2)).unwrap_err();
    assert!(e.to_string().contains("taken.npz: cannot be written"), "{e}");
    assert_eq!(std::fs::read_dir(&dir.0).unwrap().count(), 1);
}

#[test]
fn arrays_that_are_each_within_their_limit_are_refused_together() {
    // Deflated zeros: a small file that unpacks to many numbers.
    let contacts = 1 << 21;
    let e = problem::parse(npz(&[zeros("mu", contacts), zeros("W_data", 0)]), "many.npz").err().unwrap();
    assert!(e.problem().contains("2097152 contacts; at most 1048576"), "{e}");
    assert!(e.remedy().contains("split"), "{e}");
    let dofs = (1 << 22) + 1;
    let parts = [zeros("mu", 0), zeros("w", 0), zeros("f", dofs), zeros("M_data", 0)];
    let e = problem::parse(npz(&parts), "many.npz").err().unwrap();
    assert!(e.problem().contains("dofs; at most 4194304"), "{e}");
}

/// An array of zero bytes.
fn zeros(name: &str, n: usize) -> Array {
    Array(name.into(), "<f4", vec![n], vec![0; 4 * n])
}
