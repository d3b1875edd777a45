//! A bar pulled to a multiple of its length has in its middle the volume that its law says: the corotated law loses it,
//! the stable neo-Hookean law gains a little (Macklin 2019, Fig. 13; closed forms of homogeneous uniaxial stress).

use stiction::coords::SoftId;
use stiction::elastic::{Damping, Law, Material};
use stiction::mesh::shapes;
use stiction::scene::{Body, Ease, Geometry, Keyframe, Motion, NodeSelection, SoftBody};
use stiction::{Pose, Scene, SimSettings, Simulation, Vec3};

const POISSON: f64 = 0.45;

/// Stretch along the bar and volume ratio in the middle of a bar that is pulled to `stretch` of its length.
fn middle(law: Law, stretch: f64) -> (f64, f64) {
    let size = Vec3::new(1.0, 0.25, 0.25);
    let mesh = shapes::block([24, 4, 4], size);
    let material = Material { law, young: 1e5, poisson: POISSON, density: 1000.0 };
    let end = |side: f64| NodeSelection::Box {
        min: Vec3::new(0.5 * side - 1e-9, -1.0, -1.0),
        max: Vec3::new(0.5 * side + 1e-9, 1.0, 1.0),
    };
    let at = |x: f64| Pose::from_translation(Vec3::new(x, 0.0, 0.0));
    let mut clamp = Body::new("clamp", Geometry::Sphere { radius: 0.01 });
    clamp.motion = Motion::Keyframes {
        keys: vec![Keyframe { time: 0.0, pose: at(0.0) }, Keyframe { time: 2.0, pose: at(stretch - 1.0) }],
        ease: Ease::Smooth,
    };
    let mut bar = SoftBody::new("bar", mesh, material).pinned(end(-1.0)).attached(end(1.0), "clamp");
    bar.damping = Damping { mass: 20.0, ..Damping::default() };
    bar.collide = false;
    let scene = Scene { bodies: vec![clamp], solids: vec![bar], ..Scene::default() };
    let mut sim = Simulation::new(scene.compile().unwrap(), SimSettings::default());
    for _ in 0..160 {
        assert!(sim.step(0.02).unwrap().status.is_solved());
    }
    // The middle section: two layers of nodes give the stretch, the lengths across give the thinning.
    let bar = &sim.model().solids[0];
    let x = |i: usize| sim.kinematics().vertex_position(SoftId(0), i);
    let plane = |at: f64| {
        let nodes: Vec<usize> = (0..bar.rest.len()).filter(|&i| (bar.rest[i].x - at).abs() < 1e-9).collect();
        let reach = |k: usize| {
            let all = nodes.iter().map(|&i| x(i)[k]);
            all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
        };
        let mean = nodes.iter().map(|&i| x(i).x).sum::<f64>() / nodes.len() as f64;
        (mean, reach(1) / size.y, reach(2) / size.z)
    };
    let (a, b, c) = (plane(-1.0 / 24.0), plane(0.0), plane(1.0 / 24.0));
    let along = (c.0 - a.0) / (2.0 / 24.0);
    (along, along * b.1 * b.2)
}

#[test]
fn corotated_loses_volume_and_neo_hookean_swells() {
    for stretch in [1.5, 2.0] {
        let (s, volume) = middle(Law::Corotated, stretch);
        let closed = s * (1.0 - POISSON * (s - 1.0)).powi(2);
        assert!((volume / closed - 1.0).abs() < 0.02, "corotated at {s}: {volume}, closed form {closed}");
    }
    // C1 = mu/2, D1 = (lambda + mu)/2, alpha = 1 + C1/D1: V/V0 = alpha - C1/(D1 s).
    let ratio = 1.0 - 2.0 * POISSON;
    for (stretch, printed) in [(1.5, 1.033), (2.0, 1.050), (3.0, 1.067)] {
        let (s, volume) = middle(Law::StableNeoHookean, stretch);
        let closed = 1.0 + ratio - ratio / s;
        assert!((volume / closed - 1.0).abs() < 0.02, "neo-Hookean at {s}: {volume}, closed form {closed}");
        assert!((closed - printed).abs() < 4e-3, "{closed} {printed}");
    }
}
