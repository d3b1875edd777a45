//! Every pair of shapes, in many poses with a small overlap or a small gap: the contacts found agree with a search
//! over directions for the one that separates the shapes best, their points lie on both surfaces, and their normals
//! point from the second shape to the first.

use stiction::collide::{Collider, Contact};
use stiction::coords::BodyId;
use stiction::kinematics::{Placement, position_at};
use stiction::{Body, Geometry, Model, Pose, Quat, Scene, State, Vec3};

/// Numbers in (−1, 1), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector();
            if v.length() < 1.0 && v.length() > 0.1 {
                return v.normalize();
            }
        }
    }

    fn rotation(&mut self) -> Quat {
        Quat::from_axis_angle(self.direction(), std::f64::consts::PI * self.next())
    }
}

fn hull_points() -> Vec<Vec3> {
    // A block with a slanted, narrower top.
    [
        [-0.5, -0.4, -0.3],
        [0.6, -0.4, -0.3],
        [0.6, 0.4, -0.3],
        [-0.5, 0.4, -0.3],
        [-0.5, -0.3, 0.3],
        [0.2, -0.3, 0.4],
        [0.3, 0.2, 0.35],
        [-0.5, 0.3, 0.3],
    ]
    .map(Vec3::from_array)
    .to_vec()
}

fn convex() -> Vec<(&'static str, Geometry)> {
    vec![
        ("sphere", Geometry::Sphere { radius: 0.4 }),
        ("box", Geometry::Box { half: Vec3::new(0.5, 0.3, 0.4) }),
        ("capsule", Geometry::Capsule { half_height: 0.5, radius: 0.2 }),
        ("cylinder", Geometry::Cylinder { half_height: 0.4, radius: 0.3 }),
        ("cone", Geometry::Cone { half_height: 0.4, radius: 0.35 }),
        ("hull", Geometry::ConvexHull { points: hull_points() }),
    ]
}

fn two(a: Geometry, b: Geometry) -> Model {
    let mut scene = Scene::default();
    scene.bodies.push(Body::new("a", a));
    scene.bodies.push(Body::new("b", b));
    scene.compile().unwrap()
}

fn detect(model: &Model, state: &State, h: f64) -> Vec<Contact> {
    let mut contacts = Vec::new();
    Collider::new(model).detect(Placement::of(model, state).kinematics(model), h, &mut contacts);
    contacts
}

fn shape_pose(model: &Model, state: &State, k: usize) -> Pose {
    model.com_pose(state, BodyId(k as u32)) * model.shapes[k].local
}

/// Lowest of b minus highest of a along a direction: positive where the direction separates them.
fn separation(model: &Model, state: &State, dir: Vec3) -> f64 {
    let support = |k: usize, dir: Vec3| {
        let shape = model.shapes[k].geometry.as_support_map().unwrap();
        shape.support_point(&shape_pose(model, state, k), dir)
    };
    dir.dot(support(1, -dir) - support(0, dir))
}

/// The largest separation over all directions: the distance, or minus the depth.
fn best_separation(model: &Model, state: &State, random: &mut Random) -> f64 {
    let mut best: Vec<(f64, Vec3)> =
        (0..600).map(|_| random.direction()).map(|d| (separation(model, state, d), d)).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0));
    best.truncate(3);
    for (s, d) in &mut best {
        let mut step = 0.2;
        while step > 1e-7 {
            let mut better = false;
            for _ in 0..12 {
                let near = (*d + random.vector() * step).normalize();
                let t = separation(model, state, near);
                if t > *s {
                    (*s, *d, better) = (t, near, true);
                }
            }
            if !better {
                step *= 0.6;
            }
        }
    }
    best.iter().map(|b| b.0).fold(f64::NEG_INFINITY, f64::max)
}

/// What holds for every contact: points, gap, normal and frame belong together.
fn check_contact(model: &Model, state: &State, c: &Contact, what: &str) {
    let (pa, pb) = (position_at(model, state, &c.a), position_at(model, state, &c.b));
    let n = c.normal();
    assert!((n.length() - 1.0).abs() < 1e-12, "{what}: unit normal");
    assert!((n.dot(pa - pb) - c.gap).abs() < 1e-9, "{what}: gap {} between {}", c.gap, n.dot(pa - pb));
    let aside = (pa - pb - n * c.gap).length();
    // Edges may cross within a thousandth of the size beside their ends.
    assert!(aside < 4e-4, "{what}: the points do not face each other, {aside}");
    assert!((c.point - 0.5 * (pa + pb)).length() < 1e-12, "{what}: the force acts halfway");
    let identity = c.frame * c.frame.transpose();
    assert!((identity - stiction::Mat3::IDENTITY).to_cols_array().iter().all(|x| x.abs() < 1e-12));
    assert!(c.frame.determinant() > 0.0);
    for (k, p) in [pa, pb].into_iter().enumerate() {
        let local = shape_pose(model, state, k).inverse_transform_point(p);
        let off = model.shapes[k].geometry.project_local_point(local, false).point.distance(local);
        // Round sides within 0.02 rad of each other are taken as parallel: r·0.02²/2 off.
        assert!(off < 1e-4, "{what}: side {k} is {off} off its surface");
    }
}

#[test]
fn contacts_agree_with_a_search_over_directions() {
    let mut random = Random(7);
    let mut tried = 0;
    for (name_a, a) in convex() {
        for (name_b, b) in convex() {
            let model = two(a.clone(), b.clone());
            for round in 0..25 {
                let what = format!("{name_a} on {name_b}, round {round}");
                let mut state = State::clone(&model.initial);
                for k in 0..2 {
                    let pose = Pose::from_parts(random.vector() * 0.1, random.rotation());
                    state.set_rigid_pose(model.bodies[k].q, &pose);
                }
                // Push b away until the best direction has a small gap of a chosen sign.
                let target = 0.003 * random.next();
                let away = random.direction();
                let mut reference = f64::NAN;
                for _ in 0..30 {
                    reference = best_separation(&model, &state, &mut random);
                    if (reference - target).abs() < 1e-4 {
                        break;
                    }
                    let mut pose = model.com_pose(&state, BodyId(1));
                    pose.translation += away * (target - reference);
                    state.set_rigid_pose(model.bodies[1].q, &pose);
                }
                if (reference - target).abs() > 5e-4 {
                    continue; // The chosen way out slides along; another round will do.
                }
                tried += 1;
                let contacts = detect(&model, &state, 0.0);
                assert!(!contacts.is_empty(), "{what}: no contact at a separation of {reference}");
                // The search may end on a lesser peak; the separation along any direction is a lower bound.
                let along = |c: &Contact| separation(&model, &state, -c.normal());
                let reference = contacts.iter().map(along).fold(reference, f64::max);
                let deepest = contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
                // Faces are preferred within a thousandth of the size; separated corners may be seen by a face.
                assert!((deepest - reference).abs() < 1e-3, "{what}: {deepest} against {reference}");
                for c in &contacts {
                    check_contact(&model, &state, c, &what);
                    // From b to a: at the deepest point −n separates them as well as the best direction.
                    let deep = c.gap == deepest;
                    assert!(!deep || along(c) > reference - 1e-3, "{what}: normal separates by {}", along(c));
                }
            }
        }
    }
    assert_eq!(tried, 6 * 6 * 25, "every round of every pair finds its way to the gap");
}

fn on_plane(geometry: Geometry, pose: Pose) -> (Model, State, Vec<Contact>) {
    let mut scene = Scene::default();
    scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    scene.bodies.push(Body { pose, ..Body::new("b", geometry) });
    let model = scene.compile().unwrap();
    let state = State::clone(&model.initial);
    let contacts = detect(&model, &state, 0.0);
    (model, state, contacts)
}

fn at(z: f64, axis: Vec3, angle: f64) -> Pose {
    Pose::from_parts(Vec3::new(0.3, -0.2, z), Quat::from_axis_angle(axis, angle))
}

#[test]
fn lowest_points_over_a_plane() {
    let block = Geometry::Box { half: Vec3::new(0.5, 0.3, 0.4) };
    let eighth = std::f64::consts::FRAC_PI_4;
    let cylinder = Geometry::Cylinder { half_height: 0.4, radius: 0.3 };
    let capsule = Geometry::Capsule { half_height: 0.5, radius: 0.2 };
    let edge = (0.3_f64 + 0.4) / 2.0_f64.sqrt();
    // Lying on its side: the axis leans down to the tip by half of its angle.
    let cone = Geometry::Cone { half_height: 0.3, radius: 0.2 };
    let slope = (0.2_f64 / 0.6).atan();
    let lying = 0.3 * slope.sin();
    let cases = [
        ("box, flat", block.clone(), at(0.399, Vec3::X, 0.0), 4, -0.001),
        ("box, on an edge", block, at(edge, Vec3::X, eighth), 2, 0.0),
        ("sphere", Geometry::Sphere { radius: 0.4 }, at(0.401, Vec3::X, 1.0), 1, 0.001),
        ("capsule, lying", capsule.clone(), at(0.2, Vec3::X, 2.0 * eighth), 2, 0.0),
        ("capsule, standing", capsule, at(0.7, Vec3::X, 0.0), 1, 0.0),
        ("cylinder, standing", cylinder.clone(), at(0.399, Vec3::Z, 1.0), 8, -0.001),
        ("cylinder, lying", cylinder.clone(), at(0.301, Vec3::X, 2.0 * eighth), 2, 0.001),
        ("cylinder, lying otherwise", cylinder.clone(), at(0.301, Vec3::Y, 2.0 * eighth), 2, 0.001),
        ("cylinder, on its rim", cylinder, at(0.35 * 2.0_f64.sqrt(), Vec3::X, eighth), 1, 0.0),
        ("cone, standing", cone.clone(), at(0.298, Vec3::Z, 1.0), 8, -0.002),
        ("cone, on its tip", cone.clone(), at(0.298, Vec3::X, 4.0 * eighth), 1, -0.002),
        ("cone, lying", cone, at(lying, Vec3::X, 2.0 * eighth + slope), 2, 0.0),
        ("hull, flat", Geometry::ConvexHull { points: hull_points() }, at(0.3, Vec3::Z, 2.0), 4, 0.0),
    ];
    for (what, geometry, pose, count, gap) in cases {
        let (model, state, contacts) = on_plane(geometry, pose);
        assert_eq!(contacts.len(), count, "{what}");
        for c in &contacts {
            // The floor is shape a, so the normal points from the body into the floor.
            assert!((c.normal() + Vec3::Z).length() < 1e-15, "{what}");
            assert!((c.gap - gap).abs() < 1e-9, "{what}: gap {}", c.gap);
            let (pa, pb) = (position_at(&model, &state, &c.a), position_at(&model, &state, &c.b));
            assert!(pa.z.abs() < 1e-15 && (pb.z - c.gap).abs() < 1e-12);
            assert!(pa.truncate().distance(pb.truncate()) < 1e-12, "{what}");
            let local = shape_pose(&model, &state, 1).inverse_transform_point(pb);
            let on = model.shapes[1].geometry.project_local_point(local, false);
            assert!(on.point.distance(local) < 1e-9, "{what}: on the surface");
        }
    }
}

#[test]
fn a_tilted_cylinder_touches_with_its_true_lowest_point() {
    // A tilt that the points fixed around the rim do not hit.
    let (tilt, turn) = (0.2_f64, 0.3);
    let rotation = Quat::from_rotation_x(tilt) * Quat::from_rotation_z(turn);
    let z = 0.4 * tilt.cos() + 0.3 * tilt.sin();
    let pose = Pose::from_parts(Vec3::new(0.0, 0.0, z), rotation);
    let (_, _, contacts) = on_plane(Geometry::Cylinder { half_height: 0.4, radius: 0.3 }, pose);
    let deepest = contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
    assert!(deepest.abs() < 1e-14, "{deepest}");
}

fn stacked(a: Vec3, b: Vec3, gap: f64, turn: f64, shift: Vec3) -> Vec<Contact> {
    let mut scene = Scene::default();
    scene.bodies.push(Body::new("lower", Geometry::Box { half: a }));
    let mut upper = Body::new("upper", Geometry::Box { half: b });
    upper.pose = Pose::from_parts(Vec3::new(0.0, 0.0, a.z + b.z + gap) + shift, Quat::from_rotation_z(turn));
    scene.bodies.push(upper);
    let model = scene.compile().unwrap();
    let contacts = detect(&model, &model.initial, 0.0);
    for c in &contacts {
        check_contact(&model, &model.initial, c, "stacked boxes");
        assert!((c.normal() + Vec3::Z).length() < 1e-9 && (c.gap - gap).abs() < 1e-12);
    }
    contacts
}

fn has_point(contacts: &[Contact], x: f64, y: f64) -> bool {
    contacts.iter().any(|c| (c.point.x - x).hypot(c.point.y - y) < 1e-5)
}

#[test]
fn face_to_face_boxes_touch_at_the_corners_of_what_they_share() {
    let unit = Vec3::splat(0.5);
    // Equal boxes, exactly aligned and with rounding errors either way: four corners.
    for (dx, dy) in [(0.0, 0.0), (1e-16, -1e-16), (-1e-13, 1e-13), (1e-9, 1e-9)] {
        for turn in [0.0, 1e-15, -1e-9] {
            let c = stacked(unit, unit, -1e-4, turn, Vec3::new(dx, dy, 0.0));
            assert_eq!(c.len(), 4, "shift {dx} {dy}, turn {turn}");
            for (x, y) in [(0.5, 0.5), (-0.5, 0.5), (0.5, -0.5), (-0.5, -0.5)] {
                assert!(has_point(&c, x, y));
            }
        }
    }
    // A small box on a large one, and the other way round.
    let small = Vec3::new(0.2, 0.1, 0.3);
    for (a, b) in [(unit, small), (small, unit)] {
        let c = stacked(a, b, 1e-4, 0.0, Vec3::ZERO);
        assert_eq!(c.len(), 4);
        for (x, y) in [(0.2, 0.1), (-0.2, 0.1), (0.2, -0.1), (-0.2, -0.1)] {
            assert!(has_point(&c, x, y));
        }
    }
    // Half over the edge: the corners of the overlap.
    let c = stacked(unit, unit, 0.0, 0.0, Vec3::new(0.4, 0.3, 0.0));
    assert_eq!(c.len(), 4);
    for (x, y) in [(0.5, 0.5), (-0.1, 0.5), (0.5, -0.2), (-0.1, -0.2)] {
        assert!(has_point(&c, x, y), "{x} {y}");
    }
    // Turned by an eighth: an octagon.
    let c = stacked(unit, unit, 0.0, std::f64::consts::FRAC_PI_4, Vec3::ZERO);
    assert_eq!(c.len(), 8);
}

#[test]
fn crossing_edges_touch_at_one_point() {
    let mut scene = Scene::default();
    let bar = Geometry::Box { half: Vec3::new(1.0, 0.1, 0.1) };
    let eighth = std::f64::consts::FRAC_PI_4;
    let mut lower = Body::new("lower", bar.clone());
    lower.pose.rotation = Quat::from_rotation_x(eighth);
    let mut upper = Body::new("upper", bar);
    let z = 2.0 * 0.1 * 2.0_f64.sqrt() - 0.001;
    let turn = Quat::from_rotation_z(2.0 * eighth) * Quat::from_rotation_x(eighth);
    upper.pose = Pose::from_parts(Vec3::new(0.2, 0.3, z), turn);
    scene.bodies.extend([lower, upper]);
    let model = scene.compile().unwrap();
    let contacts = detect(&model, &model.initial, 0.0);
    assert_eq!(contacts.len(), 1);
    let c = &contacts[0];
    check_contact(&model, &model.initial, c, "crossing edges");
    assert!((c.gap + 0.001).abs() < 1e-12 && (c.normal() + Vec3::Z).length() < 1e-12);
    assert!((c.point - Vec3::new(0.2, 0.0, 0.5 * z)).length() < 1e-12);
}

fn box_mesh(half: Vec3) -> Geometry {
    let vertices = (0..8)
        .map(|k| Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - Vec3::ONE)
        .map(|s| s * half)
        .collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Geometry::TriMesh { vertices, triangles }
}

#[test]
fn shapes_rest_on_a_mesh_as_on_the_box_it_draws() {
    let half = Vec3::new(2.0, 2.0, 0.5);
    for (what, b) in convex() {
        let bottom = match what {
            "capsule" => 0.7,
            "hull" => 0.3,
            _ => 0.4,
        };
        for gap in [-0.003, 0.002] {
            let found = |ground: Geometry| {
                let mut scene = Scene::default();
                scene.bodies.push(Body::new("ground", ground).fixed());
                scene.bodies.push(Body::new("b", b.clone()).at(0.7, -0.3, 0.5 + bottom + gap));
                let model = scene.compile().unwrap();
                let contacts = detect(&model, &model.initial, 0.0);
                for c in &contacts {
                    assert!((c.normal() + Vec3::Z).length() < 1e-7, "{what}: {}", c.normal());
                    assert!((c.gap - gap).abs() < 1e-7, "{what}: {} for {gap}", c.gap);
                }
                let x = |f: fn(f64, f64) -> f64, start| contacts.iter().map(|c| c.point.x).fold(start, f);
                (contacts.len(), x(f64::max, -9.0), x(f64::min, 9.0))
            };
            let (n_mesh, max_mesh, min_mesh) = found(box_mesh(half));
            let (n_box, max_box, min_box) = found(Geometry::Box { half });
            assert!(n_mesh >= n_box.min(3) && n_box > 0, "{what}: {n_mesh} against {n_box}");
            assert!((max_mesh - max_box).abs() < 1e-6 && (min_mesh - min_box).abs() < 1e-6, "{what}");
        }
    }
}

#[test]
fn a_mesh_on_a_plane_and_a_mesh_on_a_mesh() {
    let (_, _, contacts) = on_plane(box_mesh(Vec3::splat(0.5)), at(0.499, Vec3::Z, 0.4));
    assert_eq!(contacts.len(), 4);
    assert!(contacts.iter().all(|c| (c.gap + 0.001).abs() < 1e-12));

    let mut scene = Scene::default();
    scene.bodies.push(Body::new("ground", box_mesh(Vec3::new(2.0, 2.0, 0.5))).fixed());
    scene.bodies.push(Body::new("b", box_mesh(Vec3::splat(0.5))).at(0.3, 0.2, 0.999));
    let model = scene.compile().unwrap();
    let contacts = detect(&model, &model.initial, 0.0);
    for (x, y) in [(0.8, 0.7), (-0.2, 0.7), (0.8, -0.3), (-0.2, -0.3)] {
        assert!(has_point(&contacts, x, y), "corner {x} {y}");
    }
    for c in &contacts {
        assert!((c.gap + 0.001).abs() < 1e-7 && (c.normal() + Vec3::Z).length() < 1e-7, "{c:?}");
    }
}

#[test]
fn a_point_on_a_box_has_the_normal_of_the_face_however_near_it_is() {
    for gap in [1e-3, 1e-15, 0.0, -1e-15, -1e-3] {
        let mut scene = Scene::default();
        scene.bodies.push(Body::new("box", Geometry::Box { half: Vec3::ONE }).fixed());
        scene.particles.push(stiction::scene::Particle {
            name: "p".into(),
            mass: 1.0,
            radius: 0.0,
            position: Vec3::new(0.3, 0.2, 1.0 + gap),
            velocity: Vec3::ZERO,
            friction: 0.5,
            restitution: 0.0,
        });
        let model = scene.compile().unwrap();
        let contacts = detect(&model, &model.initial, 0.0);
        assert_eq!(contacts.len(), 1);
        assert_eq!(contacts[0].normal(), -Vec3::Z);
        assert!((contacts[0].gap - gap).abs() < 3e-16);
    }
}

#[test]
fn far_bodies_have_no_contacts() {
    for (_, a) in convex() {
        for (_, b) in convex() {
            let mut scene = Scene::default();
            scene.bodies.push(Body::new("a", a.clone()));
            scene.bodies.push(Body::new("b", b).at(2.0, 0.1, 0.2));
            scene.bodies.push(Body::new("floor", Geometry::Plane).fixed().at(0.0, 0.0, -2.0));
            let model = scene.compile().unwrap();
            assert!(detect(&model, &model.initial, 0.01).is_empty());
        }
    }
}
