//! Scenes with many contacts between things that bend, for tests and experiments.

use super::{Body, Fixing, Geometry, MassMatrix, RestShape, Rod, RodHold, Scene, Sheet, SoftBody};
use crate::coords::Pose;
use crate::elastic::{Law, Material, Section};
use crate::linalg::{Quat, Vec3};
use crate::mesh::shapes;
use crate::model::Motion;
use std::f64::consts::FRAC_PI_2;

/// Middle line and side of the rings [m].
const RADIUS: f64 = 0.03;
const SIDE: f64 = 0.008;

fn ground() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    scene.bodies.push(Body::new("ground", Geometry::Plane).fixed());
    scene
}

/// Chains of interlocked rings, each ring of 72 vertices, 108 tetrahedra and 144 faces (18 square segments), lying one beside
/// the other and one over the other, and falling on a floor. Every second ring stands across its neighbours and passes
/// through both.
pub fn ring_chains(chains: usize, rings: usize) -> Scene {
    let mut scene = ground();
    scene.name = format!("{} interlocked rings", chains * rings);
    let material = Material { law: Law::Corotated, young: 5e5, poisson: 0.2, density: 1000.0 };
    let wide = (chains as f64).sqrt().ceil() as usize;
    for c in 0..chains {
        let (i, j) = ((c % wide) as f64, (c / wide) as f64);
        // Layers lie across each other.
        let across =
            if (c / wide).is_multiple_of(2) { Quat::IDENTITY } else { Quat::from_rotation_z(FRAC_PI_2) };
        let length = 1.3 * RADIUS * (rings as f64 - 1.0);
        let middle = Vec3::new(0.0, (i - 0.5 * (wide as f64 - 1.0)) * 2.6 * RADIUS, 0.0);
        for r in 0..rings {
            let mut ring = SoftBody::new(format!("ring-{c}-{r}"), shapes::ring(RADIUS, SIDE, 18), material);
            let turn = if r % 2 == 0 { Quat::IDENTITY } else { Quat::from_rotation_x(FRAC_PI_2) };
            let along = Vec3::new(1.3 * RADIUS * r as f64 - 0.5 * length, 0.0, 0.0);
            let up = Vec3::Z * (1.3 * RADIUS + j * 2.6 * RADIUS);
            ring.pose = Pose::from_parts(across * (middle + along) + up, across * turn);
            ring.mass = MassMatrix::Lumped;
            scene.solids.push(ring);
        }
    }
    scene
}

/// A strip of cloth, `cells` across and along, 2.5 mm each, that stands on its end and folds onto itself.
pub fn folding_strip(cells: [usize; 2]) -> Scene {
    let mut scene = ground();
    scene.name = "folding strip".into();
    let size = cells.map(|n| n as f64 * 0.0025);
    let mut strip = Sheet {
        thickness: 2e-4,
        self_contact: true,
        bend: 2e-6,
        damping: 1e-3,
        friction: 0.3,
        ..Sheet::new("strip", cells, size)
    };
    // Upright, and a little off.
    strip.pose =
        Pose::from_parts(Vec3::new(0.0, 0.0, 0.5 * size[1] + 1e-3), Quat::from_rotation_x(FRAC_PI_2 - 0.05));
    scene.sheets.push(strip);
    scene
}

/// A rope with an overhand knot whose ends are drawn apart at `speed` [m/s].
pub fn knotted_rope(segments: usize, speed: f64) -> Scene {
    let mut scene = Scene { name: "knotted rope".into(), ..Scene::default() };
    // A trefoil through infinity (Shastri 1992), 2 cm per unit.
    let at = |t: f64| {
        let (x, y, z) = (t.powi(3) - 3.0 * t, t.powi(4) - 4.0 * t * t, 0.3 * (t.powi(5) - 10.0 * t));
        0.02 * Vec3::new(x, y, z)
    };
    let steps = 2 * segments;
    let points: Vec<Vec3> = (0..=steps).map(|k| at(2.15 * (2.0 * k as f64 / steps as f64 - 1.0))).collect();
    let ends = [points[0], points[steps]];
    let apart = (ends[1] - ends[0]).normalize();
    for (name, end, way) in [("left", ends[0], -apart), ("right", ends[1], apart)] {
        let mut hand = Body::new(name, Geometry::Sphere { radius: 0.002 });
        hand.pose.translation = end;
        hand.motion = Motion::Constant { velocity: way * speed, spin: Vec3::ZERO };
        scene.bodies.push(hand);
    }
    let hold = |to: &str| Some(RodHold { to: Some(to.into()), fixing: Fixing::Pinned });
    scene.rods.push(Rod {
        points,
        rest: RestShape::AsDrawn,
        ends: [hold("left"), hold("right")],
        self_contact: true,
        damping: 0.01,
        friction: 0.2,
        ..Rod::new("rope", ends[0], ends[1], segments, Section { radius: 0.003, young: 1e6, poisson: 0.3 })
    });
    scene
}
