//! J and Jᵀ are one operator: ⟨J v, λ⟩ = ⟨v, Jᵀ λ⟩ for every pair of things that can touch (world, particle, weighted
//! mean of particles, rigid body, turning of a rigid body). The block matrix multiplies like the dense one, and the Delassus blocks are those of
//! the dense J A⁻¹ Jᵀ, elliptic cones and softness included; the form without W gives the same velocities.

use crate::common;

use crate::common::{Dense, key, random_frame};
use stiction::contact::delassus::Delassus;
use stiction::contact::delassus::bodies::Bodies;
use stiction::contact::delassus::local::LocalForm;
use stiction::contact::{Bounds, ContactJacobian, ContactProblem, Friction, Law, LocalProblem, Term};
use stiction::coords::{BlockKind, Layout, Part};
use stiction::linalg::Rng;
use stiction::linalg::{BlockMat, Vec3};

const RIGID: usize = 3;
const NODES: usize = 8;

fn layout() -> Layout {
    let mut layout = Layout::new();
    for _ in 0..RIGID {
        layout.push(BlockKind::Rigid);
    }
    for _ in 0..NODES {
        layout.push(BlockKind::Node);
    }
    layout
}

/// Side of a contact: 0 world, 1 particle, 2 weighted particles, 3 rigid body, 4 its turning. `sign` is −1 for side b.
fn side(kind: usize, sign: f64, rng: &mut Rng) -> Vec<Term> {
    let node = |k: usize, weight: f64| {
        Term::Point(Part::Node { block: (RIGID + k) as u32, dof: (6 * RIGID + 3 * k) as u32, weight })
    };
    let first = rng.bits() as usize % NODES;
    match kind {
        0 => vec![],
        1 => vec![node(first, sign)],
        2 => (0..4).map(|k| node((first + k) % NODES, sign * [0.1, 0.4, 0.2, 0.3][k])).collect(),
        3 => {
            let b = rng.bits() as usize % RIGID;
            vec![common::rigid(b, sign, rng.normal3())]
        }
        _ => {
            let b = rng.bits() as u32 % RIGID as u32;
            vec![Term::Spin { block: b, dof: 6 * b, length: 0.7 * sign }]
        }
    }
}

fn numbers(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| rng.normal()).collect()
}

#[test]
fn power_is_the_same_on_both_sides() {
    let mut rng = Rng::new(3);
    let n = layout().nv();
    for a in 0..5 {
        for b in 0..5 {
            let mut j = ContactJacobian::default();
            for _ in 0..5 {
                let mut terms = side(a, 1.0, &mut rng);
                terms.extend(side(b, -1.0, &mut rng));
                j.push(random_frame(&mut rng), terms);
            }
            let v = numbers(n, &mut rng);
            let lambda: Vec<Vec3> = (0..5).map(|_| rng.normal3()).collect();
            let (mut u, mut f) = (vec![Vec3::ZERO; 5], vec![0.0; n]);
            j.mul(&v, &mut u);
            j.mul_t_add(&lambda, &mut f);
            let at_contacts: f64 = u.iter().zip(&lambda).map(|(u, l)| u.dot(*l)).sum();
            let at_bodies: f64 = v.iter().zip(&f).map(|(v, f)| v * f).sum();
            assert!((at_contacts - at_bodies).abs() < 1e-12, "kinds {a} and {b}");
            assert_eq!(at_contacts == 0.0, a + b == 0, "something moves unless both are the world");
        }
    }
}

#[test]
fn block_products_are_dense_products() {
    let mut rng = Rng::new(5);
    let layout = layout();
    let n = layout.nv();
    let mut m = BlockMat::with_pattern(&layout.widths(), &[(0, 1), (4, 2), (9, 0), (5, 6), (6, 5)]);
    let mut dense = Dense::new(n, n);
    for i in 0..m.block_rows() {
        for k in 0..m.block_rows() {
            let ((di, ni), (dk, nk)) = (m.block(i), m.block(k));
            let Some(block) = m.block_mut(i, k) else { continue };
            for r in 0..ni {
                for c in 0..nk {
                    block[r * nk + c] = rng.normal();
                    *dense.at_mut(di + r, dk + c) = block[r * nk + c];
                }
            }
        }
    }
    assert_eq!((m.rows(), m.is_block_diagonal()), (n, false));
    let x = numbers(n, &mut rng);
    let mut y = vec![f64::NAN; n];
    m.mul(&x, &mut y);
    for r in 0..n {
        let sum: f64 = (0..n).map(|c| dense.at(r, c) * x[c]).sum();
        assert!((sum - y[r]).abs() < 1e-12);
    }
}

/// Contacts of all kinds and rows of joints, with round and elliptic cones and softness.
fn mixed_problem() -> ContactProblem {
    let mut rng = Rng::new(8);
    let layout = layout();
    let mut p = ContactProblem {
        a: BlockMat::block_diagonal(&layout.widths()),
        h: 0.01,
        ..ContactProblem::default()
    };
    for (i, b) in layout.blocks().iter().enumerate() {
        let mass = rng.range(0.1, 5.0);
        let block = p.a.diagonal_block_mut(i);
        for k in 0..b.nv {
            block[k * b.nv + k] = mass;
        }
        if b.kind == BlockKind::Rigid {
            for (k, x) in [(3, 4), (3, 5), (4, 5)] {
                block[6 * k + x] = 0.2 * mass;
                block[6 * x + k] = 0.2 * mass;
            }
        }
    }
    p.b = numbers(layout.nv(), &mut rng);
    for a in 1..5 {
        for b in 0..5 {
            let mut terms = side(a, 1.0, &mut rng);
            terms.extend(side(b, -1.0, &mut rng));
            p.j.push(random_frame(&mut rng), terms);
            p.bias.push(rng.normal3());
            p.law.push(match b % 3 {
                0 => Friction::Isotropic(0.4).into(),
                1 => Friction::Elliptic(0.2, 0.9).into(),
                _ => Law::Rows(Bounds::EQUATIONS),
            });
            p.softness.push(if a == 2 { Vec3::new(0.3, 0.1, 0.2) } else { Vec3::ZERO });
            p.key.push(key(5 * a + b));
        }
    }
    p
}

#[test]
fn delassus_blocks_are_those_of_dense_algebra() {
    let p = mixed_problem();
    let (nc, nv) = (p.contacts(), p.dofs());
    // Dense J with stretched rows, by columns: J e_k.
    let mut j = Dense::new(3 * nc, nv);
    for k in 0..nv {
        let mut e = vec![0.0; nv];
        e[k] = 1.0;
        for c in 0..nc {
            let u = p.j.mul_one(c, &e) * p.law[c].stretch();
            for i in 0..3 {
                *j.at_mut(3 * c + i, k) = u[i];
            }
        }
    }
    let mut a = Dense::new(nv, nv);
    for i in 0..p.a.block_rows() {
        let (d, n) = p.a.block(i);
        for r in 0..n {
            for c in 0..n {
                *a.at_mut(d + r, d + c) = p.a.diagonal_block(i)[r * n + c];
            }
        }
    }
    let local = LocalProblem::from_problem(&p);
    for d in 0..nc {
        for k in 0..3 {
            let column = a.solve(&j.x[(3 * d + k) * nv..(3 * d + k + 1) * nv]).expect("A is regular");
            for c in 0..nc {
                for i in 0..3 {
                    let mut w: f64 = (0..nv).map(|x| j.at(3 * c + i, x) * column[x]).sum();
                    if (c, i) == (d, k) {
                        w += p.softness[c][i] * p.law[c].stretch()[i].powi(2);
                    }
                    assert!(
                        (w - local.get(c, d).col(k)[i]).abs() < 1e-12,
                        "block ({c}, {d}), entry ({i}, {k})"
                    );
                }
            }
        }
    }
    let free = a.solve(&p.b).expect("A is regular");
    for c in 0..nc {
        let q = p.law[c].stretch() * (p.j.mul_one(c, &free) + p.bias[c]);
        assert!((q - local.q[c]).length() < 1e-12);
        assert_eq!(local.law[c], p.law[c].round());
    }
}

#[test]
fn both_forms_of_the_operator_agree() {
    let p = mixed_problem();
    let n = p.contacts();
    let local = LocalProblem::from_problem(&p);
    let (mut blocks, mut bodies) = (LocalForm::new(&local), Bodies::default());
    assert!(bodies.prepare(&p, &(0..n as u32).collect::<Vec<_>>()));
    let mut rng = Rng::new(2);
    let r: Vec<Vec3> = (0..n).map(|_| rng.normal3()).collect();
    let (mut u, mut w) = (vec![Vec3::ZERO; n], vec![Vec3::ZERO; n]);
    blocks.velocity(&r, &mut u);
    bodies.velocity(&r, &mut w);
    blocks.load(&r);
    bodies.load(&r);
    let dr = Vec3::new(0.5, -0.2, 0.1);
    blocks.add_impulse(3, dr);
    bodies.add_impulse(3, dr);
    for c in 0..n {
        assert!((u[c] - w[c]).length() < 1e-12, "velocity of contact {c}");
        assert!((blocks.free(c) - bodies.free(c)).length() < 1e-12);
        assert!((blocks.scale(c) - bodies.scale(c)).abs() < 1e-12);
        assert!(
            (blocks.contact_velocity(c) - bodies.contact_velocity(c)).length() < 1e-12,
            "loaded, contact {c}"
        );
        for k in 0..3 {
            assert!((blocks.diagonal(c).col(k) - bodies.diagonal(c).col(k)).length() < 1e-12);
        }
    }
    // Both factorisations solve (I + P W) dy = P g.
    let diagonal = |c: usize| stiction::linalg::Mat3::from_diagonal(Vec3::new(3.0, 1.0, (c % 3) as f64));
    let p: Vec<_> =
        (0..n).map(|c| if c % 4 == 0 { stiction::linalg::Mat3::ZERO } else { diagonal(c) }).collect();
    assert!(blocks.factor(&p) && bodies.factor(&p));
    blocks.solve(&r, &mut u);
    bodies.solve(&r, &mut w);
    for c in 0..n {
        assert!((u[c] - w[c]).length() < 1e-11, "solve, contact {c}: {} {}", u[c], w[c]);
    }
}
