//! Compliance rows carry the same physics as the stiffness form: −Bᵀσ is the force, E N = I, the residual vanishes when
//! the multipliers carry the stress, and Bᵀ N B of six rows is the Gauss–Newton matrix, equal to the exact one at rest.
//! The three rows of NSN 9.2.2 have no stiffness against shear.

use crate::elastic::{LAWS, corner, largest, longest, soft, tet};
use stiction::elastic::{CorotatedStretch, Element, HessianKind, Law, PAIRS, PrincipalStretch};
use stiction::linalg::{Mat3, Vec3};

fn deformations() -> [Mat3; 4] {
    let turn = Mat3::from_rotation_y(0.7) * Mat3::from_rotation_z(0.4);
    let back = Mat3::from_rotation_x(-0.9);
    [(1.4, 1.1, 0.9), (1.05, 1.0, 0.98), (0.9, 0.7, 0.2), (1.2, 0.9, -0.3)]
        .map(|(a, b, c)| turn * Mat3::from_diagonal(Vec3::new(a, b, c)) * back)
}

#[test]
fn rows_give_the_force_and_its_compliance() {
    let tet = tet();
    for law in LAWS {
        let material = soft(law);
        for f in deformations() {
            let x = corner().map(|x| f * x);
            let forces = Element::plain(&tet, &material).forces(&x);
            let six = CorotatedStretch::new(&tet, &material, &x);
            let three = PrincipalStretch::new(&tet, &material, &x);
            for a in 0..4 {
                let size = longest(&forces);
                assert!((six.forces()[a] - forces[a]).length() < 1e-12 * size, "{law:?}");
                assert!((three.forces()[a] - forces[a]).length() < 1e-12 * size, "{law:?}");
            }
            for i in 0..6 {
                for j in 0..6 {
                    let product: f64 = (0..6).map(|k| six.e[i][k] * six.n[k][j]).sum();
                    assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-9, "{law:?}: {product}");
                }
            }
            let carried = six.stress.map(|s| -s);
            assert_eq!(six.residual(&carried), [0.0; 6]);
            let off = six.residual(&[0.0; 6]);
            let back: f64 = (0..6).map(|k| six.n[0][k] * off[k]).sum();
            assert!((back - six.stress[0]).abs() < 1e-9 * six.stress[0].abs().max(1.0), "{law:?}");
        }
    }
}

#[test]
fn rows_are_the_gradients_of_the_stretches() {
    let tet = tet();
    let material = soft(Law::StableNeoHookean);
    for f in deformations() {
        let x = corner().map(|x| f * x);
        let rows = PrincipalStretch::new(&tet, &material, &x);
        for k in 0..12 {
            let strain = |h: f64| {
                let mut y = x;
                y[k / 3][k % 3] += h;
                PrincipalStretch::new(&tet, &material, &y).strain
            };
            let (up, down) = (strain(1e-5), strain(-1e-5));
            for i in 0..3 {
                let slope = (up[i] - down[i]) / 2e-5;
                assert!(
                    (slope - rows.b[i][k / 3][k % 3]).abs() < 1e-7,
                    "stretch {i} by coordinate {k}: {slope}"
                );
            }
        }
    }
}

#[test]
fn six_rows_are_gauss_newton_and_exact_at_rest() {
    let tet = tet();
    for law in LAWS {
        let material = soft(law);
        let element = Element::plain(&tet, &material);
        let (_, exact) = element.stiffness(&corner(), HessianKind::Exact);
        let rows = CorotatedStretch::new(&tet, &material, &corner());
        for (k, (a, b)) in PAIRS.into_iter().enumerate() {
            let error = largest(&(rows.stiffness_block(a, b) - exact[k]));
            assert!(error < 1e-12 * largest(&exact[0]), "{law:?}: {error:e}");
        }
        // Away from rest, where no modulus is near the floor of the rows.
        let x = corner().map(|x| deformations()[1] * x);
        let (_, newton) = element.stiffness(&x, HessianKind::GaussNewton);
        let rows = CorotatedStretch::new(&tet, &material, &x);
        for (k, (a, b)) in PAIRS.into_iter().enumerate() {
            let error = largest(&(rows.stiffness_block(a, b) - newton[k]));
            assert!(error < 1e-12 * largest(&newton[0]), "{law:?}: {error:e}");
        }
    }
}

#[test]
fn three_rows_do_not_feel_shear() {
    let tet = tet();
    // Distinct stretches close to rest, so that the principal axes are the coordinate axes.
    let f = Mat3::from_diagonal(Vec3::new(1.003, 1.002, 1.001));
    let x = corner().map(|x| f * x);
    let shear = corner().map(|r| Vec3::new(r.y, r.x, 0.0));
    let material = soft(Law::StableNeoHookean);
    let curvature = |block: &dyn Fn(usize, usize) -> Mat3| -> f64 {
        (0..16).map(|k| shear[k / 4].dot(block(k / 4, k % 4) * shear[k % 4])).sum()
    };
    let six = CorotatedStretch::new(&tet, &material, &x);
    let three = PrincipalStretch::new(&tet, &material, &x);
    let (_, exact) = Element::plain(&tet, &material).stiffness(&x, HessianKind::Exact);
    let of_exact = |a: usize, b: usize| {
        let k = PAIRS.iter().position(|p| *p == (a.min(b), a.max(b))).unwrap();
        if a <= b { exact[k] } else { exact[k].transpose() }
    };
    let true_one = curvature(&of_exact);
    assert!(true_one > 0.1 * tet.volume * material.lame().mu);
    assert!((curvature(&|a, b| six.stiffness_block(a, b)) / true_one - 1.0).abs() < 1e-2);
    assert!(curvature(&|a, b| three.stiffness_block(a, b)).abs() < 1e-12 * true_one);
}
