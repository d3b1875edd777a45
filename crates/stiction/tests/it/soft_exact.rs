//! The solver of soft islands finds the answer of the dense route (W = J A⁻¹ Jᵀ, then the chain of `exact`): sliding,
//! sticking, opening, free plates, several contacts on one node, contacts between faces and nodes, softness, elliptic
//! friction. Velocities agree to 1e-7 m/s and the yardstick reads at most 1e-6 m/s.

use stiction::contact::soft_samples::{Plates, SoftBlock};
use stiction::contact::{
    Bounds, ContactKey, ContactProblem, Friction, Law, LocalProblem, Solution, Term, residual,
};
use stiction::coords::{Part, ShapeId};
use stiction::linalg::Rng;
use stiction::linalg::{Mat3, Vec3, dense, tangents};
use stiction::solvers::exact::{Exact, Settings};
use stiction::solvers::soft::{SoftSettings, SoftSolver};
use stiction::solvers::{SolveReport, Status};

/// v of the dense route.
fn reference(p: &ContactProblem) -> Vec<f64> {
    let (n, m) = (p.dofs(), p.contacts());
    let mut a = vec![0.0; n * n];
    for i in 0..p.a.block_rows() {
        let (di, ni) = p.a.block(i);
        for (j, block) in p.a.row(i) {
            let (dj, nj) = p.a.block(j);
            for r in 0..ni {
                for c in 0..nj {
                    a[(di + r) * n + dj + c] = block[r * nj + c];
                }
            }
        }
    }
    let inverse = dense::inverse(&a, n);
    let times =
        |f: &[f64]| -> Vec<f64> { (0..n).map(|r| (0..n).map(|c| inverse[r * n + c] * f[c]).sum()).collect() };
    let mut blocks = Vec::new();
    for d in 0..m {
        let mut columns = Vec::new();
        for k in 0..3 {
            let mut lambda = vec![Vec3::ZERO; m];
            lambda[d] = Vec3::AXES[k] * p.law[d].stretch();
            let mut f = vec![0.0; n];
            p.j.mul_t_add(&lambda, &mut f);
            columns.push(times(&f));
        }
        for c in 0..m {
            let s = p.law[c].stretch();
            let mut w = Mat3::from_cols(
                s * p.j.mul_one(c, &columns[0]),
                s * p.j.mul_one(c, &columns[1]),
                s * p.j.mul_one(c, &columns[2]),
            );
            if c == d {
                w += Mat3::from_diagonal(p.softness[c] * s * s);
            }
            blocks.push((c as u32, d as u32, w));
        }
    }
    let free = times(&p.b);
    let q = (0..m).map(|c| p.law[c].stretch() * (p.j.mul_one(c, &free) + p.bias[c])).collect();
    let local = LocalProblem::with_laws(blocks, q, p.law.iter().map(|l| l.round()).collect());
    let mut r = vec![Vec3::ZERO; m];
    let settings = Settings { tolerance: 1e-11, aim: 1e-12, ..Settings::default() };
    let report = Exact::new(settings).solve_local(&local, &mut r, &mut ());
    assert!(report.status.is_solved(), "the reference itself: {report:?}");
    let lambda: Vec<Vec3> = r.iter().zip(&p.law).map(|(r, f)| *r * f.stretch()).collect();
    let mut f = p.b.clone();
    p.j.mul_t_add(&lambda, &mut f);
    times(&f)
}

fn solve(p: &ContactProblem) -> (Solution, SolveReport) {
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let (blocks, contacts) = everything(p);
    let settings = SoftSettings { tolerance: 1e-9, ..SoftSettings::default() };
    let report = SoftSolver::new(settings).solve(p, &blocks, &contacts, &mut x, &mut ());
    (x, report)
}

/// Solves by both routes; the answer for further questions.
fn agree(name: &str, p: &ContactProblem) -> Solution {
    solved(name, p, true)
}

fn solved(name: &str, p: &ContactProblem, unique: bool) -> Solution {
    let (x, report) = solve(p);
    assert_eq!(report.status, Status::Converged, "{name}: {report:?}");
    let r = residual::measure(p, &x);
    assert!(r.natural < 1e-7 && r.momentum < 1e-7, "{name}: {r:?} {report:?}");
    // With friction, contacts in all directions may have several answers.
    if !unique {
        return x;
    }
    let v = reference(p);
    let worst = x.v.iter().zip(&v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-7, "{name}: velocities differ by {worst}, {report:?}");
    x
}

/// Number of contacts that are open, stick and slip.
fn states(p: &ContactProblem, x: &Solution) -> [usize; 3] {
    let mut count = [0; 3];
    for c in 0..p.contacts() {
        let u = p.j.mul_one(c, &x.v) + p.bias[c];
        let slip = (u.y * u.y + u.z * u.z).sqrt();
        count[if x.lambda[c].x <= 0.0 { 0 } else { 1 + usize::from(slip > 1e-6) }] += 1;
    }
    count
}

/// A small block with random velocities of this size, pressed by plates that come and rub.
fn random_block(rng: &mut Rng, speed: f64, mu: f64, plates: Plates) -> SoftBlock {
    let mut block = SoftBlock::with_plates([2, 2, 3], plates).young(10f64.powf(rng.range(4.0, 6.5)));
    block.friction = Friction::Isotropic(mu);
    for v in &mut block.v {
        *v = speed * rng.normal3();
    }
    block.plate_velocity =
        [Vec3::X + 0.5 * rng.normal3(), -Vec3::X + 0.5 * rng.normal3()].map(|v| 0.5 * speed * v);
    block
}

#[test]
fn random_blocks_between_driven_plates() {
    let mut rng = Rng::new(1);
    let mut seen = [0; 3];
    for (k, mu) in [0.0, 0.1, 0.5, 1.0, 0.3, 0.8].into_iter().enumerate() {
        let p = random_block(&mut rng, 0.2, mu, Plates::Driven).problem();
        let x = agree(&format!("block {k}, friction {mu}"), &p);
        let s = states(&p, &x);
        for i in 0..3 {
            seen[i] += s[i];
        }
    }
    assert!(seen.iter().all(|&n| n > 10), "open, stick, slip: {seen:?}");
}

#[test]
fn free_plates_take_what_the_block_gives() {
    let mut rng = Rng::new(2);
    for (mass, mu) in [(0.05, 0.5), (1.0, 0.0), (1.0, 0.7), (100.0, 1.0)] {
        let block = random_block(&mut rng, 0.3, mu, Plates::Free { mass, push: 10.0 });
        let mut p = block.problem();
        let x = agree(&format!("plates of {mass} kg, friction {mu}"), &p);
        assert!(p.bias.iter().all(|b| b.x.abs() < 1e-9) && x.lambda.iter().any(|l| l.x > 0.0));
        // Without the ground nothing holds the whole: momentum is what it was.
        keep(&mut p, |p, c| p.j.terms(c).len() == 2);
        let x = agree("without ground", &p);
        let mut f = vec![0.0; p.dofs()];
        p.a.mul(&x.v, &mut f);
        let mut total = Vec3::ZERO;
        for i in 0..p.a.block_rows() {
            let (d, _) = p.a.block(i);
            total += Vec3::from_slice(&f[d..]) - Vec3::from_slice(&p.b[d..]);
        }
        assert!(total.length() < 1e-9, "plates of {mass} kg: {total}");
    }
}

#[test]
fn the_fallback_alone_finds_the_same() {
    let mut rng = Rng::new(7);
    for plates in [Plates::Driven, Plates::Free { mass: 0.5, push: 20.0 }] {
        let p = random_block(&mut rng, 0.2, 0.5, plates).problem();
        let (blocks, contacts) = everything(&p);
        let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
        let settings =
            SoftSettings { newton_steps: 0, rounds: 2, fallback_steps: 1500, ..SoftSettings::default() };
        let report = SoftSolver::new(settings).solve(&p, &blocks, &contacts, &mut x, &mut ());
        assert_eq!(report.status, Status::Converged, "{plates:?}: {report:?}");
        let v = reference(&p);
        let worst = x.v.iter().zip(&v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5, "{plates:?}: velocities differ by {worst}");
    }
}

#[test]
fn what_runs_out_of_steps_says_so() {
    let p = random_block(&mut Rng::new(8), 0.2, 0.5, Plates::Driven).problem();
    let (blocks, contacts) = everything(&p);
    let mut x = Solution { v: vec![0.0; p.dofs()], lambda: vec![Vec3::ZERO; p.contacts()] };
    let settings = SoftSettings { newton_steps: 1, rounds: 1, ..SoftSettings::default() };
    let report = SoftSolver::new(settings).solve(&p, &blocks, &contacts, &mut x, &mut ());
    assert_eq!(report.status, Status::Budget);
    assert!(report.velocity > 1e-6 && x.v.iter().all(|v| v.is_finite()), "{report:?}");
}

/// All blocks and all contacts.
fn everything(p: &ContactProblem) -> (Vec<u32>, Vec<u32>) {
    ((0..p.a.block_rows() as u32).collect(), (0..p.contacts() as u32).collect())
}

/// Keeps the contacts that `wanted` names.
fn keep(p: &mut ContactProblem, wanted: impl Fn(&ContactProblem, usize) -> bool) {
    let old = p.clone();
    p.clear_rows();
    for c in (0..old.contacts()).filter(|&c| wanted(&old, c)) {
        p.j.push(old.j.frame[c], old.j.terms(c).iter().copied());
        p.bias.push(old.bias[c]);
        p.law.push(old.law[c]);
        p.softness.push(old.softness[c]);
        p.key.push(old.key[c]);
    }
}

/// One contact more.
fn push(p: &mut ContactProblem, normal: Vec3, bias: Vec3, mu: f64, terms: &[Term]) {
    let (t1, t2) = tangents(normal);
    p.j.push(Mat3::from_cols(normal, t1, t2).transpose(), terms.iter().copied());
    p.bias.push(bias);
    p.law.push(Friction::Isotropic(mu).into());
    p.softness.push(Vec3::ZERO);
    let n = p.key.len() as u64;
    p.key.push(ContactKey { shape_a: ShapeId(8), shape_b: ShapeId(9), feature_a: 0, feature_b: n });
}

fn node(p: &ContactProblem, block: usize, weight: f64) -> Term {
    Term::Point(Part::Node { block: block as u32, dof: p.a.block(block).0 as u32, weight })
}

#[test]
fn several_contacts_on_one_node() {
    let mut rng = Rng::new(3);
    for mu in [0.0, 0.4, 0.9] {
        let mut block = random_block(&mut rng, 0.2, mu, Plates::Driven);
        // At rest, so that nothing is jammed between plate and wall.
        block.plate_velocity = [Vec3::ZERO; 2];
        let mut p = block.problem();
        // Each node that touches something also meets a slanted wall or two.
        for c in 0..p.contacts() {
            let term = p.j.terms(c)[0];
            let n = (Vec3::new(0.3, 0.2, 1.0) + 0.3 * rng.normal3()).normalize();
            push(&mut p, n, Vec3::X * rng.range(0.0, 0.05), mu, &[term]);
            if c % 4 == 0 {
                push(&mut p, Vec3::Y, Vec3::ZERO, mu, &[term]);
            }
        }
        solved(&format!("three walls, friction {mu}"), &p, mu < 0.5);
    }
}

#[test]
fn faces_against_nodes_and_bodies() {
    let mut rng = Rng::new(4);
    for mu in [0.0, 0.3, 0.8] {
        let mut p = random_block(&mut rng, 0.2, mu, Plates::Free { mass: 0.5, push: 20.0 }).problem();
        let nodes = p.a.block_rows() - 2;
        for _ in 0..12 {
            let mut pick = || 2 + rng.bits() as usize % nodes;
            let (a, b, c, d) = (pick(), pick(), pick(), pick());
            if a == b || b == c || a == c || [a, b, c].contains(&d) {
                continue;
            }
            let face = [node(&p, a, 0.5), node(&p, b, 0.3), node(&p, c, 0.2), node(&p, d, -1.0)];
            let n = rng.normal3().normalize();
            let gap = Vec3::X * rng.range(0.0, 0.05);
            push(&mut p, n, gap, mu, &face);
            let arm = 0.05 * rng.normal3();
            let body = Term::Point(Part::Rigid { block: 0, dof: 0, weight: -1.0, arm });
            push(&mut p, n, gap, mu, &[face[0], face[1], face[2], body]);
        }
        // The plates also touch each other.
        let side = |s: u32, sign: f64, arm: Vec3| {
            Term::Point(Part::Rigid { block: s, dof: 6 * s, weight: sign, arm })
        };
        for arm in [Vec3::ZERO, 0.1 * Vec3::Y, -0.1 * Vec3::Y, 0.1 * Vec3::Z] {
            push(&mut p, -Vec3::X, Vec3::ZERO, mu, &[side(0, 1.0, arm), side(1, -1.0, arm)]);
        }
        solved(&format!("faces, friction {mu}"), &p, mu == 0.0);
    }
}

#[test]
fn soft_contacts_and_elliptic_cones() {
    let mut rng = Rng::new(5);
    for round in 0..3 {
        let mut p = random_block(&mut rng, 0.2, 0.5, Plates::Free { mass: 0.5, push: 20.0 }).problem();
        for c in 0..p.contacts() {
            if round != 1 && c % 3 == 0 {
                p.softness[c] = Vec3::splat(10f64.powf(rng.range(-3.0, 1.0)));
            }
            if round > 0 {
                p.law[c] = Friction::Elliptic(rng.range(0.1, 0.4), rng.range(0.3, 1.0)).into();
            }
        }
        agree(&format!("round {round}"), &p);
    }
}

/// Three rows of a joint.
fn push_rows(p: &mut ContactProblem, bounds: Bounds, bias: Vec3, softness: Vec3, terms: &[Term]) {
    p.j.push(Mat3::from_rotation_z(0.4), terms.iter().copied());
    p.bias.push(bias);
    p.law.push(Law::Rows(bounds));
    p.softness.push(softness);
}

#[test]
fn joints_beside_contacts() {
    let mut rng = Rng::new(6);
    for mu in [0.0, 0.5] {
        let mut p = random_block(&mut rng, 0.2, mu, Plates::Free { mass: 0.5, push: 20.0 }).problem();
        let side = |s: u32, sign: f64, arm: Vec3| {
            Term::Point(Part::Rigid { block: s, dof: 6 * s, weight: sign, arm })
        };
        let spin = |s: u32, length: f64| Term::Spin { block: s, dof: 6 * s, length };
        let far = p.a.block_rows() - 1;
        // The plates are hinged (the last row of the turning is free), one of them holds a node, another node is driven
        // with a bounded force and a third hangs on the world by a compliant joint.
        push_rows(
            &mut p,
            Bounds::EQUATIONS,
            Vec3::ZERO,
            Vec3::ZERO,
            &[side(0, 1.0, Vec3::X * 0.05), side(1, -1.0, Vec3::X * -0.05)],
        );
        let hinge = Bounds::EQUATIONS.with_row(2, 0.0, 0.0);
        push_rows(&mut p, hinge, Vec3::ZERO, Vec3::ZERO, &[spin(0, 0.05), spin(1, -0.05)]);
        let held = [node(&p, far, 1.0), side(1, -1.0, Vec3::new(0.0, 0.02, 0.03))];
        push_rows(&mut p, Bounds::EQUATIONS, Vec3::ZERO, Vec3::ZERO, &held);
        let drive = Bounds { lo: Vec3::splat(-1e-4), hi: Vec3::splat(1e-4) };
        let term = node(&p, far - 1, 1.0);
        push_rows(&mut p, drive, Vec3::splat(0.3), Vec3::ZERO, &[term]);
        let term = node(&p, far - 4, 1.0);
        push_rows(&mut p, Bounds::EQUATIONS, Vec3::splat(0.02), Vec3::splat(0.5), &[term]);
        let x = agree(&format!("joints, friction {mu}"), &p);
        let n = p.contacts();
        assert!(p.j.mul_one(n - 5, &x.v).length() < 1e-8, "the hinge holds");
        assert!(p.j.mul_one(n - 3, &x.v).length() < 1e-8, "the node follows its plate");
        assert!((x.lambda[n - 2].abs() - 1e-4).length() < 1e-9, "the drive gives way: {}", x.lambda[n - 2]);
    }
}
