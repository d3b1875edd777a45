//! Solids against closed forms. Uniaxial stretch: every law has its own curve of force and volume (NSN Fig. 13: at
//! stretches 1.5, 2 and 3 stable neo-Hookean rubber swells to 1.033, 1.050 and 1.067 of its volume, corotated rubber
//! shrinks to 0.901, 0.605 and 0.03). Simple shear γ costs V μ γ²/2. An affine motion of the boundary of an irregular
//! mesh leaves the interior in equilibrium where the same motion takes it (patch test), found again by Newton.

use crate::elastic::{LAWS, STIFFNESS, block, corner, jitter, longest, multiply, soft, solid, tet};
use stiction::elastic::{CorotatedStretch, Element, HessianKind, Lame, Law, Material, TetAssembly};
use stiction::linalg::{Mat3, Vec3};

/// Lateral stretch at which the sides are free of stress, from the law's own stress.
fn relaxed(law: Law, lame: Lame, s: f64) -> f64 {
    let (mut low, mut high) = (0.01, 1.0);
    let side = |l: f64| law.stress(lame, 0.0, &Mat3::from_diagonal(Vec3::new(s, l, l))).1.y_axis.y;
    assert!(side(low) < 0.0 && side(high) > 0.0, "{law:?} at {s}");
    for _ in 0..200 {
        let mid = 0.5 * (low + high);
        if side(mid) < 0.0 {
            low = mid;
        } else {
            high = mid;
        }
    }
    0.5 * (low + high)
}

#[test]
fn uniaxial_stretch_of_every_law() {
    for law in LAWS {
        let material = soft(law);
        let (e, nu) = (material.young, material.poisson);
        let Lame { lambda, mu } = material.lame();
        for s in [1.01, 1.5, 2.0, 3.0] {
            // Free sides of StVK rubber meet and vanish at s² = 1 + 1/ν.
            if law == Law::StVenantKirchhoff && s * s >= 1.0 + 1.0 / nu {
                continue;
            }
            let side = relaxed(law, material.lame(), s);
            let pull =
                law.stress(material.lame(), 0.0, &Mat3::from_diagonal(Vec3::new(s, side, side))).1.x_axis.x;
            let volume = s * side * side;
            let (side_is, pull_is) = match law {
                Law::Linear | Law::Corotated => (1.0 - nu * (s - 1.0), e * (s - 1.0)),
                Law::StVenantKirchhoff => ((1.0 - nu * (s * s - 1.0)).sqrt(), 0.5 * e * s * (s * s - 1.0)),
                // μ(l² − 1) + λ ln(s l²) = 0 has no closed solution, but the pull follows from any l.
                Law::NeoHookean { .. } => {
                    assert!((mu * (side * side - 1.0) + lambda * volume.ln()).abs() < 1e-9 * mu);
                    (side, mu * (s - side * side / s))
                }
                Law::StableNeoHookean => {
                    // V/V₀ = α − C₁/(D₁ s).
                    let (c1, d1) = (0.5 * mu, 0.5 * (lambda + mu));
                    let v = 1.0 + c1 / d1 - c1 / (d1 * s);
                    ((v / s).sqrt(), mu * (s - v / (s * s)))
                }
            };
            assert!((side - side_is).abs() < 1e-12, "{law:?} at {s}: side {side}, {side_is}");
            assert!((pull - pull_is).abs() < 1e-10 * e, "{law:?} at {s}: pull {pull}, {pull_is}");
            // At small stretch all see Young's modulus and Poisson's ratio.
            if s == 1.01 {
                assert!((pull / (e * 0.01) - 1.0).abs() < 0.02, "{law:?}: {pull}");
                assert!(((1.0 - side) / 0.01 - nu).abs() < 0.01, "{law:?}: {side}");
            }
        }
    }
}

#[test]
fn volumes_of_the_extension_test() {
    for (law, volumes, within) in
        [(Law::StableNeoHookean, [1.033, 1.050, 1.067], 5e-4), (Law::Corotated, [0.901, 0.605, 0.03], 5e-4)]
    {
        for (s, v) in [1.5, 2.0, 3.0].into_iter().zip(volumes) {
            let side = relaxed(law, soft(law).lame(), s);
            assert!((s * side * side - v).abs() < within, "{law:?} at {s}: {}", s * side * side);
        }
    }
}

#[test]
fn a_block_with_free_sides_relaxes_to_the_closed_form() {
    // Ends held at stretch 1.5 in x, free to slide; sides free. Newton from the affine guess without contraction.
    let material = soft(Law::StableNeoHookean);
    let (rest, mut assembly) = solid(3, material);
    let s = 1.5;
    let side = relaxed(material.law, material.lame(), s);
    let held = |i: usize| {
        let r = rest[i];
        // Ends in x; symmetry planes y = 0 and z = 0.
        [r.x == 0.0 || r.x == 1.0, r.y == 0.0, r.z == 0.0]
    };
    let mut x: Vec<Vec3> = rest.iter().map(|r| Vec3::new(s * r.x, 0.9 * r.y, 0.9 * r.z)).collect();
    newton(&mut assembly, HessianKind::Projected, &mut x, held);
    for (i, r) in rest.iter().enumerate() {
        let exact = Vec3::new(s * r.x, side * r.y, side * r.z);
        assert!((x[i] - exact).length() < 1e-9, "vertex {i}: {} and {exact}", x[i]);
    }
}

#[test]
fn simple_shear_costs_half_mu_gamma_squared() {
    let tet = tet();
    let gamma = 1e-4;
    let shear = Mat3::from_cols(Vec3::X, Vec3::new(gamma, 1.0, 0.0), Vec3::Z);
    for law in LAWS {
        let material = soft(law);
        let expected = 0.5 * tet.volume * material.lame().mu * gamma * gamma;
        let x = corner().map(|x| shear * x);
        let energy = Element::plain(&tet, &material).energy(&x);
        assert!((energy / expected - 1.0).abs() < 1e-4, "{law:?}: {energy} and {expected}");
        // The same from the six rows at rest: ½ (B d)ᵀ N (B d), with the shear in engineering measure.
        let rows = CorotatedStretch::new(&tet, &material, &corner());
        let strain: Vec<f64> = rows
            .b
            .iter()
            .map(|row| row.iter().zip(corner()).map(|(g, r)| g.dot(shear * r - r)).sum())
            .collect();
        let from_rows: f64 =
            (0..36).map(|k| 0.5 * strain[k / 6] * rows.n[k / 6][k % 6] * strain[k % 6]).sum();
        assert!((from_rows / expected - 1.0).abs() < 1e-10, "{law:?}: {from_rows} and {expected}");
    }
}

#[test]
fn patch_test_on_an_irregular_mesh() {
    let f = Mat3::from_cols(
        Vec3::new(1.08, 0.03, -0.02),
        Vec3::new(0.05, 0.97, 0.04),
        Vec3::new(-0.03, 0.02, 1.05),
    );
    for law in LAWS {
        let (rest, mut assembly) = solid(4, soft(law));
        let exact: Vec<Vec3> = rest.iter().map(|r| f * *r + Vec3::new(0.3, -0.1, 0.2)).collect();
        let inside = |i: usize| rest[i].cmpgt(Vec3::ZERO).all() && rest[i].cmplt(Vec3::ONE).all();
        // The affine positions are in equilibrium inside …
        let mut forces = vec![Vec3::ZERO; rest.len()];
        assembly.forces(&exact, &mut forces);
        let inner: Vec<Vec3> = (0..rest.len()).filter(|&i| inside(i)).map(|i| forces[i]).collect();
        assert_eq!(inner.len(), 27);
        assert!(longest(&inner) < 1e-12 * longest(&forces), "{law:?}: {:e}", longest(&inner));
        // … and are found again from a disturbed start.
        let start = |i: usize| if inside(i) { exact[i] + 0.02 * jitter(i) } else { exact[i] };
        let mut x: Vec<Vec3> = (0..rest.len()).map(start).collect();
        newton(&mut assembly, HessianKind::Exact, &mut x, |i| [!inside(i); 3]);
        let worst = x.iter().zip(&exact).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(worst < 1e-10, "{law:?}: {worst:e}");
    }
}

#[test]
fn a_scrambled_block_finds_back_to_rest() {
    // The boundary stays; inner vertices are thrown across two cells, which turns many tets inside out.
    for law in [Law::Corotated, Law::NeoHookean { threshold: 0.6 }, Law::StableNeoHookean] {
        let (rest, mut assembly) = solid(4, soft(law));
        let inside = |i: usize| rest[i].cmpgt(Vec3::ZERO).all() && rest[i].cmplt(Vec3::ONE).all();
        let start = |i: usize| if inside(i) { rest[i] + 0.5 * jitter(i) } else { rest[i] };
        let mut x: Vec<Vec3> = (0..rest.len()).map(start).collect();
        let inverted =
            (0..assembly.tets().len()).filter(|&t| assembly.deformation(t, &x).determinant() < 0.0);
        assert!(inverted.count() > 50);
        let kind = assembly.default_hessian();
        newton(&mut assembly, kind, &mut x, |i| [!inside(i); 3]);
        let worst = x.iter().zip(&rest).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(worst < 1e-8, "{law:?}: {worst:e}");
    }
}

/// Newton's method on the free coordinates, each step by conjugate gradients; halves steps that raise the residual.
fn newton(assembly: &mut TetAssembly, kind: HessianKind, x: &mut [Vec3], held: impl Fn(usize) -> [bool; 3]) {
    let n = x.len();
    let mask: Vec<Vec3> =
        (0..n).map(|i| Vec3::from_array(held(i).map(|h| if h { 0.0 } else { 1.0 }))).collect();
    let mut blocks = vec![Mat3::ZERO; assembly.pairs().len()];
    let mut forces = vec![Vec3::ZERO; n];
    let dot = |a: &[Vec3], b: &[Vec3]| -> f64 { a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum() };
    for _ in 0..40 {
        assembly.assemble(x, STIFFNESS, kind, &mut forces, &mut blocks);
        let mut r: Vec<Vec3> = forces.iter().zip(&mask).map(|(f, m)| *f * *m).collect();
        // Forces of E·(1/4 m)² = 6 kN for strain 1 round at 1e-12 N.
        if longest(&r) < 1e-11 * longest(&forces).max(100.0) {
            return;
        }
        let mut d = vec![Vec3::ZERO; n];
        let mut p = r.clone();
        let mut rr = dot(&r, &r);
        let start = rr;
        for _ in 0..2000 {
            if rr <= 1e-26 * start {
                break;
            }
            let ap: Vec<Vec3> =
                multiply(assembly.pairs(), &blocks, &p).iter().zip(&mask).map(|(a, m)| *a * *m).collect();
            let alpha = rr / dot(&p, &ap);
            for i in 0..n {
                d[i] += alpha * p[i];
                r[i] -= alpha * ap[i];
            }
            let next = dot(&r, &r);
            for i in 0..n {
                p[i] = r[i] + next / rr * p[i];
            }
            rr = next;
        }
        let here = assembly.energy(x);
        let mut t = 1.0;
        loop {
            let there: Vec<Vec3> = x.iter().zip(&d).map(|(x, d)| *x + *d * t).collect();
            if assembly.energy(&there) <= here + 1e-12 * here.abs() || t < 1e-6 {
                x.copy_from_slice(&there);
                break;
            }
            t *= 0.5;
        }
    }
    let (free, all): (Vec<Vec3>, f64) =
        (forces.iter().zip(&mask).map(|(f, m)| *f * *m).collect(), longest(&forces));
    assert!(longest(&free) < 1e-9 * all, "Newton did not settle: {:e} of {all:e}", longest(&free));
}

#[test]
fn masses_add_up() {
    let (rest, tets) = block(3);
    let which: Vec<u32> = (0..tets.len() as u32).map(|t| t % 2).collect();
    let heavy = Material { density: 3000.0, ..soft(Law::Linear) };
    let assembly =
        TetAssembly::new(&rest, &tets, &[soft(Law::Linear), heavy], &which, Default::default()).unwrap();
    let volume = |m: u32| -> f64 {
        assembly.shapes().iter().zip(&which).filter(|(_, w)| **w == m).map(|(s, _)| s.volume).sum()
    };
    assert!((volume(0) + volume(1) - 1.0).abs() < 1e-13, "the cells fill the block");
    let total = 1000.0 * volume(0) + 3000.0 * volume(1);
    assert!((assembly.masses().iter().sum::<f64>() / total - 1.0).abs() < 1e-13);
    // The consistent matrix has the same row sums.
    let mut rows = vec![0.0; rest.len()];
    for (&(a, b), m) in assembly.pairs().iter().zip(assembly.consistent_masses()) {
        rows[a as usize] += m;
        if a != b {
            rows[b as usize] += m;
        }
    }
    for (row, lumped) in rows.iter().zip(assembly.masses()) {
        assert!((row / lumped - 1.0).abs() < 1e-12);
    }
}
