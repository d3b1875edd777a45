//! Every built-in scene reads, says what its title says, and starts without overlaps where it claims so.

use stiction::scene::{Geometry, MassSpec, Motion};
use stiction_io::gallery;
use stiction_io::scene::LoadedScene;

fn scene(name: &str) -> LoadedScene {
    gallery::find(name).unwrap_or_else(|| panic!("{name}")).load(&[]).unwrap()
}

#[test]
fn every_scene_reads_and_has_sensors() {
    for e in gallery::ALL {
        let s = e.load(&[]).unwrap_or_else(|x| panic!("{:?}", miette::Report::new(x)));
        assert_eq!(s.title, e.title, "{}", e.name);
        assert_eq!(s.scene.name, e.name);
        assert!(!s.scene.sensors.is_empty(), "{}", e.name);
        assert!(s.dt > 0.0 && s.duration >= 10.0 * s.dt, "{}", e.name);
    }
}

#[test]
fn unknown_scenes_get_a_suggestion() {
    assert!(gallery::find("heavy-stak").is_none());
    assert!(gallery::unknown("heavy-stak").remedy().contains("did you mean `heavy-stack`?"));
}

#[test]
fn heavy_stack_has_the_heaviest_on_top() {
    let s = scene("heavy-stack");
    let masses: Vec<&MassSpec> = s.scene.bodies[1..].iter().map(|b| &b.mass).collect();
    assert_eq!(masses, [8.0, 64.0, 512.0, 4096.0, 32768.0].map(MassSpec::Mass).iter().collect::<Vec<_>>());
    assert!(s.scene.bodies[1..].is_sorted_by(|a, b| a.pose.translation.z < b.pose.translation.z));
}

#[test]
fn boxes_of_the_piles_start_apart_and_inside_the_bin() {
    for (name, count, inner) in [("pile", 500, 1.5), ("pile-2000", 2000, 2.4)] {
        let s = scene(name);
        let boxes: Vec<_> = s.scene.bodies.iter().filter(|b| b.motion == Motion::Free).collect();
        assert_eq!(boxes.len(), count);
        let ball = |b: &stiction::Body| match b.shapes[0].geometry {
            Geometry::Box { half } => {
                assert!(half.min_element() >= 0.04 && half.max_element() <= 0.08);
                (b.pose.translation, half.length())
            }
            _ => panic!("{} is no box", b.name),
        };
        for (i, a) in boxes.iter().enumerate() {
            let (x, r) = ball(a);
            assert!(x.x.abs().max(x.y.abs()) + r < 0.5 * inner && x.z > r, "{} is in the bin", a.name);
            for b in &boxes[..i] {
                let (y, s) = ball(b);
                assert!(x.distance(y) > r + s, "{} and {} are apart", a.name, b.name);
            }
        }
    }
}

#[test]
fn arch_blocks_share_their_joints_and_have_one_density() {
    let s = scene("arch");
    let blocks: Vec<_> = s.scene.bodies[1..].iter().collect();
    assert_eq!(blocks.len(), 20);
    let points = |i: usize| match &blocks[i].shapes[0].geometry {
        Geometry::ConvexHull { points } => points.clone(),
        _ => panic!("a hull"),
    };
    for half in [0, 10] {
        for k in 0..9 {
            let next = points(half + k + 1);
            let shared = points(half + k).iter().filter(|p| next.contains(p)).count();
            assert_eq!(shared, 4, "joint {k}");
        }
        assert_eq!(points(half + 9).iter().filter(|p| p.z == 0.0).count(), 4, "the foot is level");
    }
    // Area of the four-sided profile by the shoelace formula; all blocks are equally deep.
    let densities = (0..20).map(|i| {
        let p = &points(i)[..4];
        let area: f64 = (0..4).map(|k| 0.5 * (p[k].x * p[(k + 1) % 4].z - p[(k + 1) % 4].x * p[k].z)).sum();
        match blocks[i].mass {
            MassSpec::Mass(m) => m / area.abs(),
            _ => panic!("a mass"),
        }
    });
    // Curved joints and the level foot change the areas by a few per cent only.
    let densities: Vec<f64> = densities.collect();
    let mean = densities.iter().sum::<f64>() / 20.0;
    assert!(densities.iter().all(|d| (d / mean - 1.0).abs() < 0.1), "{densities:?}");
}

#[test]
fn bracket_is_closed_and_faces_outward() {
    let s = scene("tumbling-mesh");
    let Geometry::TriMesh { vertices, triangles } = &s.scene.bodies[1].shapes[0].geometry else {
        panic!("a mesh")
    };
    let volume: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|i| vertices[i as usize]);
            a.dot(b.cross(c)) / 6.0
        })
        .sum();
    // An L of 0.3 × 0.06 and 0.06 × 0.18 m², 0.1 m deep.
    assert!((volume - 0.00288).abs() < 1e-15, "{volume}");
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            let back = triangles.iter().filter(|u| (0..3).any(|j| (u[j], u[(j + 1) % 3]) == (b, a))).count();
            assert_eq!(back, 1, "edge {a}–{b} has one neighbour");
        }
    }
}

#[test]
fn every_scene_compiles() {
    for e in gallery::ALL {
        let s = e.load(&[]).unwrap();
        let model = s.scene.compile().unwrap_or_else(|x| panic!("{}: {x}", e.name));
        assert!(model.warnings.is_empty(), "{}: {:?}", e.name, model.warnings);
    }
}
