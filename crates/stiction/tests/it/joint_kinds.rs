//! Each kind of joint leaves exactly the freedoms it promises: of random pushes on a body, those that survive span a space
//! of that many dimensions. What a row measures and what it calls its derivative belong together: the Taylor remainder
//! of every measure at random poses is of second order.

use crate::stage::{run, slope, start};
use stiction::coords::Pose;
use stiction::linalg::Rng;
use stiction::linalg::rotation;
use stiction::scene::{Joint, JointKind, JointPlace, Measure, Model, ModelJoint};
use stiction::{Body, Geometry, Quat, Scene, Scheme, Vec3};

const KINDS: [(JointKind, usize); 7] = [
    (JointKind::Ball, 3),
    (JointKind::Hinge, 1),
    (JointKind::Prismatic, 1),
    (JointKind::Cylindrical, 2),
    (JointKind::Universal { second: Vec3::new(1.0, 0.0, -1.0) }, 2),
    (JointKind::Fixed, 0),
    (JointKind::Distance { length: None }, 5),
];

/// A brick joined to another, or to the world, off its centre and with an odd axis.
fn pair(kind: JointKind, to_world: bool) -> Scene {
    let mut scene = Scene::default();
    let brick = Geometry::Box { half: Vec3::new(0.3, 0.2, 0.1) };
    scene.bodies.push(Body::new("a", brick.clone()).with_mass(2.0).at(0.1, -0.2, 0.0));
    scene.bodies.push(Body::new("b", brick).with_mass(1.0).at(0.9, 0.3, 0.2));
    let joint = if to_world { Joint::to_world("j", kind, "b") } else { Joint::new("j", kind, "a", "b") };
    scene.joints.push(match kind {
        JointKind::Distance { .. } => joint.between(Vec3::new(0.2, 0.1, 0.0), Vec3::new(-0.2, 0.1, 0.1)),
        _ => joint.at(Vec3::new(0.5, 0.1, 0.1)),
    });
    scene.joints[0].axis = Vec3::new(1.0, 2.0, 1.0);
    scene
}

/// Number of directions that the vectors span, by Gram–Schmidt with the largest first.
fn rank(mut vectors: Vec<Vec<f64>>) -> usize {
    let size = |v: &Vec<f64>| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let all = vectors.iter().map(size).fold(0.0, f64::max);
    let mut rank = 0;
    while let Some(at) = (0..vectors.len()).max_by(|&i, &j| size(&vectors[i]).total_cmp(&size(&vectors[j]))) {
        let v = vectors.swap_remove(at);
        let length = size(&v);
        if length < 1e-6 * all {
            break;
        }
        rank += 1;
        for w in &mut vectors {
            let along: f64 = v.iter().zip(w.iter()).map(|(a, b)| a * b).sum::<f64>() / (length * length);
            w.iter_mut().zip(&v).for_each(|(w, v)| *w -= along * v);
        }
    }
    rank
}

#[test]
fn random_pushes_survive_in_the_free_directions_only() {
    let mut rng = Rng::new(4);
    for scheme in [Scheme::ImplicitEuler, Scheme::Midpoint] {
        for (kind, freedoms) in KINDS {
            let mut motions = Vec::new();
            for _ in 0..14 {
                // Slow, so that nothing bends within a step.
                let mut scene = pair(kind, true);
                scene.bodies.remove(0);
                (scene.bodies[0].velocity, scene.bodies[0].spin) =
                    (1e-7 * rng.normal3(), 1e-7 * rng.normal3());
                let mut sim = start(&scene, scheme);
                run(&mut sim, 0.01, 1);
                motions.push(sim.state().v.clone());
            }
            let largest = motions.iter().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
            let found = if largest < 1e-12 { 0 } else { rank(motions) };
            assert_eq!(found, freedoms, "{scheme:?}, {kind:?} on the world");
            // Between two free bodies six more.
            let motions = (0..30).map(|_| {
                let mut scene = pair(kind, false);
                for b in &mut scene.bodies {
                    (b.velocity, b.spin) = (1e-7 * rng.normal3(), 1e-7 * rng.normal3());
                }
                let mut sim = start(&scene, scheme);
                run(&mut sim, 0.01, 1);
                sim.state().v.clone()
            });
            assert_eq!(rank(motions.collect()), 6 + freedoms, "{scheme:?}, {kind:?} between two");
        }
    }
}

#[test]
fn every_measure_has_its_derivative() {
    let mut rng = Rng::new(9);
    let mut measures =
        vec![Measure::Distance, Measure::Cross, Measure::Twist, Measure::Align(1), Measure::Align(2)];
    for k in 0..3 {
        measures.extend([Measure::Along(k), Measure::Turn(k)]);
    }
    let model: Model = pair(KINDS[4].0, false).compile().unwrap();
    let joint: &ModelJoint = &model.joints[0];
    let moved = |p: Pose, v: Vec3, w: Vec3, t: f64| {
        Pose::from_parts(p.translation + t * v, (rotation::exp(t * w) * p.rotation).normalize())
    };
    for m in measures {
        for _ in 0..5 {
            let mut pose = || {
                let q = Quat::from_xyzw(rng.normal(), rng.normal(), rng.normal(), rng.normal() + 3.0);
                Pose::from_parts(rng.normal3(), q.normalize())
            };
            let (a, b) = (pose(), pose());
            let (va, wa, vb, wb) = (rng.normal3(), rng.normal3(), rng.normal3(), rng.normal3());
            let place: JointPlace = joint.place([a, b]);
            let (x, n) = place.measure(m);
            let at = place.anchor_b;
            let rate = match m {
                Measure::Along(_) | Measure::Distance => {
                    vb + wb.cross(at - b.translation) - va - wa.cross(at - a.translation)
                }
                _ => wb - wa,
            };
            let remainder = [1e-2, 5e-3, 2.5e-3, 1.25e-3].map(|t| {
                let (y, _) = joint.place([moved(a, va, wa, t), moved(b, vb, wb, t)]).measure(m);
                (t, (y - x - t * n.dot(rate)).abs())
            });
            let order = slope(&remainder);
            assert!(order > 1.8, "{m:?}: order {order}, {remainder:?}");
        }
    }
}
