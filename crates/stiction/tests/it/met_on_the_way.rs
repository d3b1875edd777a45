//! Contacts that a step finds on its way are recorded where they are met: at the frames of both owners that stand beside them, the
//! point lies halfway between the surfaces, and the lever arms of the force end there.

use crate::stage::floor;
use stiction::coords::Pose;
use stiction::linalg::Rng;
use stiction::scene::Owner;
use stiction::{Body, Geometry, Quat, SimSettings, Simulation, Vec3};

const SIZE: f64 = 0.1;

/// Signed distance of a point from a shape that stands at the origin of a frame; the floor is z = 0.
fn distance(name: &str, pose: &Pose, point: Vec3) -> f64 {
    let p = pose.inverse_transform_point(point);
    match name {
        "floor" => p.z,
        "ball" => p.length() - SIZE,
        _ => {
            let q = p.abs() - Vec3::new(1.0, 0.8, 0.5) * SIZE;
            q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
        }
    }
}

#[test]
fn contacts_met_on_the_way_are_recorded_where_they_are_met() {
    let (mut met, mut far) = (0, 0.0_f64);
    for seed in 0..24 {
        let mut rng = Rng::new(seed);
        let mut scene = floor(0.5);
        let half = Vec3::new(1.0, 0.8, 0.5) * SIZE;
        for (name, geometry, height) in
            [("box", Geometry::Box { half }, 1.6), ("ball", Geometry::Sphere { radius: SIZE }, 4.2)]
        {
            let mut body = Body::new(name, geometry).at(0.0, 0.0, height * SIZE);
            body.pose.rotation = Quat::from_scaled_axis(rng.normal3());
            body.velocity = Vec3::new(0.0, 0.0, -2.0) + rng.normal3();
            body.spin = 10.0 * rng.normal3();
            scene.bodies.push(body);
        }
        let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
        for _ in 0..60 {
            sim.step(0.005).unwrap();
            let model = sim.model();
            let out = sim.output();
            for (c, acts) in out.contacts.iter().zip(&out.acts) {
                let Some(poses) = acts.met.map(|i| out.meetings[i as usize]) else { continue };
                assert_eq!(acts.touch, None, "an impact has a place of its own");
                met += 1;
                let owners = [c.key.shape_a, c.key.shape_b].map(|s| model.shapes[s.index()].owner);
                let name = |o: Owner| match o {
                    Owner::Body(b) => model.bodies[b.index()].name.clone(),
                    _ => unreachable!("there are bodies alone"),
                };
                let off = [0, 1].map(|k| distance(&name(owners[k]), &poses[k], c.point));
                let apart = off[0] + off[1];
                // Halfway; in an overlap of a box another face may be nearer than the one that is met.
                let inside = off.iter().all(|d| *d < 1e-5 * SIZE);
                let halfway = (off[0] - off[1]).abs() < 1e-5 * SIZE + 0.1 * apart.abs();
                let has_box = owners.iter().any(|o| name(*o) == "box");
                assert!(halfway || (has_box && inside), "seed {seed}: {off:?}, {owners:?}");
                assert!(apart.abs() < 0.1 * SIZE, "seed {seed}: met {apart} m apart");
                for k in 0..2 {
                    let Owner::Body(b) = owners[k] else { continue };
                    if model.bodies[b.index()].block.is_some() {
                        let end = poses[k].translation + acts.arms[k];
                        let limit = 1e-9 * SIZE + 0.6 * apart.abs();
                        assert!(end.distance(c.point) < limit, "seed {seed}: {end} {}", c.point);
                        far = far.max(end.distance(
                            sim.state().rigid_pose(model.bodies[b.index()].q).translation + acts.arms[k],
                        ));
                    }
                }
            }
        }
    }
    assert!(met > 20, "{met} contacts are met on the way");
    assert!(far > 1e-4, "bodies move between there and the end of the step: {far} m");
}
