//! An assembled mesh is the sum of its tets: forces, energy and blocks of every kind, with damping, pressure, fibres
//! and mixed materials, by whichever route the blocks are summed. The bits are the same for 1, 2 and 3 threads, nothing
//! depends on what was assembled before, and bad meshes are named by element or node.

use crate::elastic;

use crate::elastic::{
    DAMPING, KINDS, LAWS, STIFFNESS, block, jitter, largest, longest, multiply, soft, solid,
};
use stiction::elastic::{
    Damping, Element, Fibre, HessianKind, Law, Material, PAIRS, Parameter, TetAssembly, Weights,
};
use stiction::linalg::{Mat3, Vec3};

/// Disturbed, turned and stretched.
fn bent(rest: &[Vec3]) -> Vec<Vec3> {
    let f = Mat3::from_rotation_z(0.9) * Mat3::from_diagonal(Vec3::new(1.2, 0.9, 0.8));
    rest.iter().enumerate().map(|(i, r)| f * *r + 0.02 * jitter(i)).collect()
}

/// Forces and blocks by adding single tets into a dense list.
fn by_hand(a: &TetAssembly, x: &[Vec3], weights: Weights, kind: HessianKind) -> (Vec<Vec3>, Vec<Mat3>) {
    let mut forces = vec![Vec3::ZERO; x.len()];
    let mut blocks = vec![Mat3::ZERO; a.pairs().len()];
    let Damping { stiffness: beta, viscosity, .. } = a.damping();
    for (t, tet) in a.tets().iter().enumerate() {
        let element = a.element(t);
        let at = tet.map(|i| x[i as usize]);
        let (f, k) = element.stiffness(&at, kind);
        let deformation = element.tet.deformation(&at);
        for corner in 0..4 {
            forces[tet[corner] as usize] += f[corner];
        }
        for (n, (p, q)) in PAIRS.into_iter().enumerate() {
            let viscous = element.tet.viscous_block(&deformation, viscosity, p, q);
            let block = k[n] * weights.stiffness + (k[n] * beta + viscous) * weights.damping;
            let (i, j) = (tet[p], tet[q]);
            let (pair, block) = if i <= j { ((i, j), block) } else { ((j, i), block.transpose()) };
            blocks[a.pairs().binary_search(&pair).unwrap()] += block;
        }
    }
    (forces, blocks)
}

fn check(name: &str, mut a: TetAssembly, rest: &[Vec3]) {
    let x = bent(rest);
    let weights = Weights { stiffness: 0.7, damping: 0.3 };
    for kind in KINDS {
        let (forces, blocks) = by_hand(&a, &x, weights, kind);
        let mut f = vec![Vec3::NAN; x.len()];
        let mut k = vec![Mat3::NAN; a.pairs().len()];
        let energy = a.assemble(&x, weights, kind, &mut f, &mut k);
        assert!((energy / a.energy(&x) - 1.0).abs() < 1e-12, "{name} {kind:?}: {energy}");
        let size = blocks.iter().map(largest).fold(0.0, f64::max);
        for (i, (one, other)) in f.iter().zip(&forces).enumerate() {
            assert!((*one - *other).length() < 1e-13 * longest(&forces), "{name} {kind:?}: force {i}");
        }
        for (p, (one, other)) in k.iter().zip(&blocks).enumerate() {
            let error = largest(&(*one - *other));
            assert!(error < 1e-13 * size, "{name} {kind:?}: block {:?} {error:e} of {size:e}", a.pairs()[p]);
        }
        let mut alone = vec![Vec3::NAN; x.len()];
        a.forces(&x, &mut alone);
        assert!(alone.iter().zip(&f).all(|(a, b)| (*a - *b).length() < 1e-12 * longest(&forces)), "{name}");
    }
}

#[test]
fn the_sum_of_its_tets() {
    for law in LAWS {
        let (rest, a) = solid(3, soft(law));
        check(&format!("{law:?}"), a, &rest);
    }
    let (rest, tets) = block(3);
    let damping = Damping { mass: 0.1, stiffness: 0.02, viscosity: 50.0 };
    let dry = Damping { viscosity: 0.0, ..damping };
    let which: Vec<u32> = (0..tets.len() as u32).map(|t| t % 3).collect();
    let stiff = Material { young: 1e7, ..soft(Law::Corotated) };
    let other = Material { poisson: 0.2, ..soft(Law::Corotated) };
    for (name, materials, damping) in [
        ("stiff strip", [soft(Law::Corotated), stiff, stiff], dry),
        ("two Poisson's ratios", [soft(Law::Corotated), other, stiff], dry),
        ("linear beside corotated", [soft(Law::Linear), soft(Law::Corotated), stiff], dry),
        ("mixed laws", [soft(Law::StableNeoHookean), stiff, soft(Law::StVenantKirchhoff)], damping),
        ("viscous", [soft(Law::Corotated), stiff, stiff], damping),
    ] {
        let mut a = TetAssembly::new(&rest, &tets, &materials, &which, damping).unwrap();
        check(name, a.clone(), &rest);
        a.set_pressure(5, 3e4);
        check(&format!("{name}, swollen"), a.clone(), &rest);
        let fibre = |tet, direction| Fibre { tet, direction, stiffness: 1e6, tension: 0.0 };
        let mut a = a
            .with_fibres(&[fibre(9, Vec3::X * 2.0), fibre(2, Vec3::Y), fibre(9, Vec3::new(0.0, 1.0, 1.0))])
            .unwrap();
        a.set_tension(0, 7e4);
        assert_eq!(a.element(9).fibres.len(), 2);
        assert_eq!((a.element(9).fibres[0].tension, a.element(9).fibres[0].direction), (7e4, Vec3::X));
        check(&format!("{name}, fibres"), a, &rest);
    }
}

#[test]
fn energy_and_parameter_derivatives_are_sums_too() {
    let (rest, tets) = block(2);
    let which: Vec<u32> = (0..tets.len() as u32).map(|t| t % 2).collect();
    let make = |young: f64| {
        let second = Material { young, ..soft(Law::StableNeoHookean) };
        TetAssembly::new(&rest, &tets, &[soft(Law::Corotated), second], &which, Damping::default()).unwrap()
    };
    let x = bent(&rest);
    let a = make(2e5);
    let energy: f64 = (0..tets.len()).map(|t| a.element(t).energy(&tets[t].map(|i| x[i as usize]))).sum();
    assert!((a.energy(&x) / energy - 1.0).abs() < 1e-13);
    let mut slope = vec![Vec3::ZERO; x.len()];
    a.force_derivative(&x, 1, Parameter::Young, &mut slope);
    let (mut up, mut down) = (slope.clone(), slope.clone());
    make(2e5 + 10.0).forces(&x, &mut up);
    make(2e5 - 10.0).forces(&x, &mut down);
    for i in 0..x.len() {
        assert!(((up[i] - down[i]) / 20.0 - slope[i]).length() < 1e-9 * longest(&slope), "vertex {i}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut results: Vec<Vec<u64>> = Vec::new();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        results.push(pool.install(|| {
            let mut bits = Vec::new();
            for law in [Law::Corotated, Law::StableNeoHookean] {
                let (rest, mut a) = solid(12, soft(law));
                assert!(a.tets().len() > 10_000, "enough to be shared out");
                let x = bent(&rest);
                let (mut f, mut k) = (vec![Vec3::ZERO; x.len()], vec![Mat3::ZERO; a.pairs().len()]);
                // A first call elsewhere must leave no trace.
                a.assemble(&rest, DAMPING, HessianKind::Exact, &mut f, &mut k);
                a.assemble(&x, STIFFNESS, a.default_hessian(), &mut f, &mut k);
                bits.extend(f.iter().flat_map(|f| f.to_array()).map(f64::to_bits));
                bits.extend(k.iter().flat_map(|k| k.to_cols_array()).map(f64::to_bits));
            }
            bits
        }));
    }
    assert!(results[0] == results[1] && results[0] == results[2]);
}

#[test]
fn viscosity_damps_strain_and_nothing_else() {
    let (rest, tets) = block(2);
    let which = vec![0; tets.len()];
    let damping = Damping { viscosity: 30.0, ..Damping::default() };
    let mut a = TetAssembly::new(&rest, &tets, &[soft(Law::Corotated)], &which, damping).unwrap();
    let x = bent(&rest);
    let (mut f, mut d) = (vec![Vec3::ZERO; x.len()], vec![Mat3::ZERO; a.pairs().len()]);
    a.assemble(&x, DAMPING, HessianKind::GaussNewton, &mut f, &mut d);
    let size = d.iter().map(largest).fold(0.0, f64::max);
    // A rigid velocity of the bent body meets no force.
    let (drift, spin) = (Vec3::new(0.3, -1.0, 0.2), Vec3::new(2.0, -1.0, 3.0));
    let rigid: Vec<Vec3> = x.iter().map(|x| drift + spin.cross(*x)).collect();
    assert!(longest(&multiply(a.pairs(), &d, &rigid)) < 1e-13 * size * longest(&rigid));
    // Any other costs power, and the power is η V Ė:Ė.
    for k in 0..5 {
        let v: Vec<Vec3> = (0..x.len()).map(|i| jitter(1000 * k + i)).collect();
        let power: f64 = multiply(a.pairs(), &d, &v).iter().zip(&v).map(|(f, v)| f.dot(*v)).sum();
        let expected: f64 = (0..tets.len())
            .map(|t| {
                let shape = a.shapes()[t];
                let f = a.deformation(t, &x);
                let rate = shape.deformation(&tets[t].map(|i| v[i as usize]));
                let strain = (f.transpose() * rate + rate.transpose() * f) * 0.5;
                let squares: f64 = strain.to_cols_array().iter().map(|e| e * e).sum();
                30.0 * shape.volume * squares
            })
            .sum();
        assert!((power / expected - 1.0).abs() < 1e-12 && power > 0.0, "{power} and {expected}");
    }
}

#[test]
fn stress_of_a_pulled_block() {
    for law in LAWS {
        let (rest, a) = solid(2, soft(law));
        let s = 1.0 + 1e-6;
        let x: Vec<Vec3> =
            rest.iter().map(|r| Vec3::new(s * r.x, (1.0 - 0.45e-6) * r.y, (1.0 - 0.45e-6) * r.z)).collect();
        for t in 0..a.tets().len() {
            // E ε = 0.1 Pa along x and nothing across: the von Mises stress is the pull itself.
            assert!((a.von_mises(t, &x) - 0.1).abs() < 1e-6, "{law:?}: {}", a.von_mises(t, &x));
            assert!((a.stress(t, &x).x_axis.x - 0.1).abs() < 1e-6);
        }
    }
}

#[test]
fn pressure_swells_a_free_element_by_p_over_bulk_modulus() {
    for law in LAWS {
        let material = soft(law);
        let tet = elastic::tet();
        let element = Element { pressure: 10.0, ..Element::plain(&tet, &material) };
        // Small swelling: tr ε = p / K with K = λ + 2μ/3.
        let lame = material.lame();
        let strain = 10.0 / (3.0 * lame.lambda + 2.0 * lame.mu);
        let grown = elastic::corner().map(|x| x * (1.0 + strain));
        let left = longest(&element.forces(&grown));
        let pushed = longest(&element.forces(&elastic::corner()));
        assert!(left < 1e-3 * pushed, "{law:?}: {left} of {pushed}");
    }
}

#[test]
fn bad_meshes_are_named() {
    let (rest, tets) = block(1);
    let build = |rest: &[Vec3], tets: &[[u32; 4]], which: &[u32], damping: Damping| {
        let error = TetAssembly::new(rest, tets, &[soft(Law::Corotated)], which, damping).unwrap_err();
        error.to_string()
    };
    let which = vec![0; 6];
    let none = Damping::default();
    let mut inverted = tets.clone();
    inverted[4].swap(0, 1);
    let mut flat = rest.clone();
    flat[tets[0][3] as usize] = rest[tets[0][0] as usize];
    let mut outside = tets.clone();
    outside[2][1] = 99;
    let mut twice = tets.clone();
    twice[3][1] = twice[3][0];
    let mut extra = rest.clone();
    extra.push(Vec3::ONE * 5.0);
    let mut broken = rest.clone();
    broken[6].y = f64::NAN;
    for (message, words) in [
        (build(&rest, &inverted, &which, none), ["tet 4", "swap two"]),
        (build(&flat, &tets, &which, none), ["tet 0", "zero for its size"]),
        (build(&rest, &outside, &which, none), ["tet 2", "vertex 99"]),
        (build(&rest, &twice, &which, none), ["tet 3", "twice"]),
        (build(&extra, &tets, &which, none), ["vertex 8", "no tet"]),
        (build(&broken, &tets, &which, none), ["vertex 6", "not finite"]),
        (build(&rest, &tets, &[0; 5], none), ["5 material", "6 tets"]),
        (build(&rest, &tets, &[1; 6], none), ["tet 0", "material 1"]),
        (build(&rest, &tets, &which, Damping { stiffness: -1.0, ..none }), ["stiffness", "-1"]),
    ] {
        assert!(words.iter().all(|w| message.contains(w)), "{message}");
    }
    let bad = Fibre { tet: 0, direction: Vec3::ZERO, stiffness: 1.0, tension: 0.0 };
    let error = solid(1, soft(Law::Corotated)).1.with_fibres(&[bad]).unwrap_err().to_string();
    assert!(error.contains("fibre 0") && error.contains("must have a length"), "{error}");
}
