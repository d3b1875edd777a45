//! What a scene file says arrives in the `Scene`, and `--set` changes it before it is read.

use std::path::Path;
use stiction::kinematics::Placement;
use stiction::scene::{Combine, Geometry, MassSpec, Motion, Reads, SurfaceFriction};
use stiction::{Mat3, Quat, Scheme, SolverKind, Vec3};
use stiction_io::Error;
use stiction_io::scene::{self, LoadedScene};

const EVERYTHING: &str = r#"
title = "Everything"
gravity = [0, 0, -1.62]

[time]
dt = 0.002
duration = 3
scheme = "midpoint"

[solver]
name = "pgs"
tolerance = 1e-6
max_iterations = 77

[contact]
margin = 0.01
recovery_speed = 2
restitution_threshold = 0.1
combine_friction = "min"
combine_restitution = "mean"

[defaults]
friction = 0.3
restitution = 0.1
density = 500

[[body]]
name = "floor"
motion = "fixed"
shape = { plane = { normal = [1, 0, 1] } }
friction = { along = 0.2, across = 0.6, direction = [0, 2, 0] }

[[body]]
name = "belt"
motion = { velocity = [1, 0, 0], spin = [0, 0, 2] }
shape = { cylinder = { height = 0.2, radius = 0.5 } }

[[body]]
name = "arm"
position = [1, 2, 3]
shape = { capsule = { length = 0.4, radius = 0.1 } }
[body.motion]
keyframes = [{ time = 0 }, { time = 1, position = [0, 0, 1], rotation = { axis = [0, 0, 1], angle_deg = 90 } }]

[[body]]
name = "dumbbell"
mass = 3
inertia = [1, 2, 2.5, 0.1, 0.2, 0.3]
center_of_mass = [0.1, 0, 0]
velocity = [0, 0, 1]
spin = [0, 1, 0]
restitution = 0.7
[[body.shape]]
sphere = { radius = 0.2 }
position = [0.5, 0, 0]
[[body.shape]]
sphere = { radius = 0.3 }
position = [-0.5, 0, 0]
friction = 0.9

[[particle]]
name = "dust"
mass = 0.1
radius = 0.01
position = [0, 0, 5]

[[force]]
target = "dumbbell"
force = [1, 0, 0]
at = [0, 0.1, 0]
from = 0.5
until = 1.5

[[pair]]
a = "belt"
b = "dumbbell"
friction = 0.8
collide = true

[[sensor]]
name = "p"
pose = "dumbbell"
[[sensor]]
name = "f"
pair_force = ["dumbbell", "floor"]
[[sensor]]
name = "e"
energy = true
"#;

fn parse(text: &str, set: &[(&str, &str)]) -> Result<LoadedScene, Error> {
    let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    scene::parse(text, "test.toml", Path::new(""), &set)
}

#[test]
fn every_key_arrives() {
    let s = parse(EVERYTHING, &[]).unwrap();
    assert_eq!((s.title.as_str(), s.scene.name.as_str()), ("Everything", "test"));
    assert_eq!((s.dt, s.duration), (0.002, 3.0));
    assert_eq!((s.settings.scheme, s.settings.solver), (Scheme::Midpoint, SolverKind::Pgs));
    assert_eq!(s.settings.solver_settings.tolerance, Some(1e-6));
    assert_eq!(s.settings.solver_settings.max_iterations, Some(77));
    let c = &s.scene.contact;
    assert_eq!((c.margin, c.recovery_speed, c.restitution_threshold), (Some(0.01), 2.0, 0.1));
    assert_eq!((c.combine_friction, c.combine_restitution), (Combine::Min, Combine::Mean));
    assert_eq!(s.scene.gravity, Vec3::new(0.0, 0.0, -1.62));

    let [floor, belt, arm, dumbbell] = &s.scene.bodies[..] else { panic!("four bodies") };
    let normal = floor.shapes[0].pose.rotation * Vec3::Z;
    assert!((normal - Vec3::new(1.0, 0.0, 1.0).normalize()).length() < 1e-15);
    assert_eq!(
        floor.shapes[0].friction,
        SurfaceFriction::Elliptic { mu1: 0.2, mu2: 0.6, direction: Vec3::Y }
    );
    assert_eq!(belt.motion, Motion::Constant { velocity: Vec3::X, spin: 2.0 * Vec3::Z });
    assert_eq!(belt.shapes[0].geometry, Geometry::Cylinder { half_height: 0.1, radius: 0.5 });
    assert_eq!(belt.shapes[0].friction, SurfaceFriction::Isotropic(0.3));
    assert_eq!(arm.shapes[0].geometry, Geometry::Capsule { half_height: 0.2, radius: 0.1 });
    let Motion::Keyframes { keys, .. } = &arm.motion else { panic!("keyframes") };
    assert_eq!(keys[0].pose.translation, Vec3::new(1.0, 2.0, 3.0), "left out: the body's own");
    assert!(keys[1].pose.rotation.dot(Quat::from_rotation_z(std::f64::consts::FRAC_PI_2)) > 1.0 - 1e-15);

    let inertia = Mat3::from_cols_array(&[1.0, 0.1, 0.2, 0.1, 2.0, 0.3, 0.2, 0.3, 2.5]);
    assert_eq!(dumbbell.mass, MassSpec::Given { mass: 3.0, inertia, com: Vec3::new(0.1, 0.0, 0.0) });
    assert_eq!((dumbbell.velocity, dumbbell.spin), (Vec3::Z, Vec3::Y));
    assert_eq!(dumbbell.shapes.len(), 2);
    assert_eq!(dumbbell.shapes[0].friction, SurfaceFriction::Isotropic(0.3));
    assert_eq!(dumbbell.shapes[1].friction, SurfaceFriction::Isotropic(0.9));
    assert_eq!(dumbbell.shapes[1].restitution, 0.7);

    assert_eq!((s.scene.particles[0].friction, s.scene.particles[0].restitution), (0.3, 0.1));
    let f = &s.scene.forces[0];
    assert_eq!((f.from, f.until, f.at), (0.5, 1.5, Some(Vec3::new(0.0, 0.1, 0.0))));
    assert_eq!(s.scene.pairs[0].friction, Some(0.8));
    assert_eq!(s.scene.sensors[1].reads, Reads::PairForce("dumbbell".into(), "floor".into()));
    assert_eq!(s.scene.sensors[2].reads, Reads::Energy);
}

#[test]
fn an_empty_file_is_an_empty_scene_with_defaults() {
    let s = parse("", &[]).unwrap();
    assert_eq!(s.scene.gravity, Vec3::new(0.0, 0.0, -9.81));
    assert_eq!((s.dt, s.duration, s.title.as_str()), (0.01, 5.0, "test"));
    assert!(s.scene.bodies.is_empty());
}

#[test]
fn overrides_reach_tables_lists_and_what_was_not_there() {
    let s = parse(
        EVERYTHING,
        &[
            ("time.dt", "0.5"),
            ("bodies.dumbbell.mass", "7"),
            ("body.1.motion", "fixed"),
            ("bodies.dumbbell.shape.0.sphere.radius", "0.25"),
            ("gravity", "[0, 0, -3.7]"),
            ("solver.name", "exact"),
            ("particles.dust.restitution", "0.5"),
            ("title", "Two words"),
        ],
    )
    .unwrap();
    assert_eq!((s.dt, s.title.as_str(), s.settings.solver), (0.5, "Two words", SolverKind::Exact));
    assert!(matches!(s.scene.bodies[3].mass, MassSpec::Given { mass: 7.0, .. }));
    assert_eq!(s.scene.bodies[1].motion, Motion::Fixed);
    assert_eq!(s.scene.bodies[3].shapes[0].geometry, Geometry::Sphere { radius: 0.25 });
    assert_eq!(s.scene.gravity.z, -3.7);
    assert_eq!(s.scene.particles[0].restitution, 0.5);
    // A table that the file does not have.
    assert_eq!(parse("", &[("time.dt", "0.1")]).unwrap().dt, 0.1);
}

#[test]
fn bad_overrides_are_named_with_what_exists() {
    for (key, value, problem, remedy) in [
        ("time.dtt", "1", "unknown key `dtt`", "did you mean `dt`?"),
        ("tim.dt", "1", "unknown key `tim`", "did you mean `time`?"),
        ("bodies.dumbell.mass", "1", "no `body` is called `dumbell`", "did you mean `dumbbell`?"),
        ("bodies.99.mass", "1", "no `body` is called `99`", "`floor`"),
        ("time.dt", "-1", "-1 is not allowed", "positive"),
        ("time.dt.x", "1", "`dt` holds a plain value", "whole"),
        ("solver.name", "exakt", "unknown value `exakt`", "did you mean `exact`?"),
        ("gravity", "[0, 0]", "2", ""),
    ] {
        let e = parse(EVERYTHING, &[(key, value)]).unwrap_err();
        assert!(e.problem().contains(problem), "{key}: {e}");
        assert!(e.remedy().contains(remedy) && e.remedy().contains("--set"), "{key}: {}", e.remedy());
    }
}

#[test]
fn repeats_name_place_scale_and_weigh_their_copies() {
    let body = |repeat: &str| {
        let text = format!(
            "[[body]]\nname = \"b\"\nshape = {{ box = {{ size = [1, 1, 1] }} }}\nposition = [1, 0, 0]\nmass = 2\nrepeat = {repeat}\n"
        );
        parse(&text, &[]).map(|s| s.scene.bodies)
    };
    let line = body("{ count = 3, step = [0, 0, 1], mass_factor = 3, size_factor = 0.5 }").unwrap();
    assert_eq!(line.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["b-0", "b-1", "b-2"]);
    assert_eq!(line[2].mass, MassSpec::Mass(18.0));
    assert_eq!(line[2].shapes[0].geometry, Geometry::Box { half: Vec3::splat(0.125) });
    assert_eq!(line[2].pose.translation, Vec3::new(1.0, 0.0, 2.0));

    let grid = body("{ grid = [2, 1, 2], spacing = [3, 0, 4], stagger = [0.5, 0, 0], count = 3 }").unwrap();
    assert_eq!(grid.iter().map(|b| b.name.as_str()).collect::<Vec<_>>(), ["b-0-0-0", "b-1-0-0", "b-0-0-1"]);
    assert_eq!(grid[2].pose.translation, Vec3::new(1.5, 0.0, 4.0));

    let random = "{ count = 50, step = [0, 0, 1], random = { seed = 4, shift = [0.1, 0, 0], size = [0.5, 1], rotation = true } }";
    let (one, two) = (body(random).unwrap(), body(random).unwrap());
    let key = |b: &stiction::Body| (b.pose.translation, b.pose.rotation, b.shapes[0].geometry.clone());
    assert!(one.iter().zip(&two).all(|(a, b)| key(a) == key(b)), "the same seed gives the same scene");
    assert_ne!(key(&body(&random.replace("seed = 4", "seed = 5")).unwrap()[0]), key(&one[0]));
    assert!(one.iter().all(|b| (b.pose.translation.x - 1.0).abs() <= 0.1 && b.pose.translation.y == 0.0));

    for bad in [
        "{ count = 3 }",
        "{ grid = [2, 2, 2] }",
        "{ grid = [2, 2, 2], spacing = [1, 1, 1], step = [1, 0, 0] }",
        "{ grid = [2, 2, 2], spacing = [1, 1, 1], count = 9 }",
        "{ count = 0, step = [1, 0, 0] }",
        "{ count = 1000000000000, step = [1, 0, 0] }",
        "{ grid = [4294967296, 4294967296, 4294967296], spacing = [1, 1, 1] }",
        "{ count = 5000, step = [1, 0, 0], mass_factor = 10 }",
        "{ count = 5000, step = [1, 0, 0], size_factor = 0.1 }",
    ] {
        let e = body(bad).unwrap_err();
        assert_eq!(e.line_column(), Some((6, 10)), "{bad}: {e}");
    }
}

#[test]
fn schema_knows_the_keys_and_the_names() {
    let s = scene::schema();
    let text = s.to_string();
    for key in [
        "title",
        "gravity",
        "repeat",
        "convex-hull",
        "geometric-mean",
        "implicit-euler",
        "realtime",
        "pair_force",
    ] {
        assert!(text.contains(&format!("\"{key}\"")), "{key}");
    }
    assert_eq!(s["additionalProperties"], false);
    for table in ["Time", "Solver", "Contact", "Defaults", "Repeat", "Random"] {
        assert!(
            s["$defs"][table].is_object() && s["$defs"][table]["required"].is_null(),
            "{table}: all keys are optional"
        );
    }
    assert_eq!(s["$defs"]["Body"]["required"], serde_json::json!(["name", "shape"]));
    for combine in ["geometric-mean", "mean", "min", "max"] {
        parse("", &[("contact.combine_friction", combine)]).unwrap();
    }
    for solver in SolverKind::ALL {
        parse("", &[("solver.name", solver.name())]).unwrap();
    }
}

#[test]
fn cones_and_height_fields_arrive_and_have_mass() {
    let text = r#"
[[body]]
name = "cone"
density = 3
shape = { cone = { height = 2, radius = 0.5 } }
[[body]]
name = "hill"
density = 2
[body.shape.heightfield]
size = [2, 3]
heights = [[1, 1, 1], [1, 1, 1]]
base = -0.5
"#;
    let s = parse(text, &[]).unwrap();
    assert_eq!(s.scene.bodies[0].shapes[0].geometry, Geometry::Cone { half_height: 1.0, radius: 0.5 });
    let Geometry::Heightfield(h) = &s.scene.bodies[1].shapes[0].geometry else { panic!("a height field") };
    assert_eq!((h.columns, h.heights.len(), h.size, h.base), (3, 6, [2.0, 3.0], Some(-0.5)));
    let model = s.scene.compile().unwrap();
    // π r² h / 3, with the centre a quarter of the height above the base; a block of 2 × 3 × 1.5 m.
    let cone = &model.bodies[0];
    assert!((cone.mass - 3.0 * std::f64::consts::PI * 0.25 * 2.0 / 3.0).abs() < 1e-12);
    assert!((cone.com - Vec3::new(0.0, 0.0, -0.5)).length() < 1e-12);
    assert!((model.bodies[1].mass - 18.0).abs() < 1e-12);
    assert!((model.bodies[1].com - Vec3::new(0.0, 0.0, 0.25)).length() < 1e-12);
}

/// Groups by name decide who touches whom: the robot touches the ground and not itself, the ghost touches nothing but
/// what names it.
#[test]
fn groups_of_a_file_decide_who_touches() {
    let text = r#"
[[body]]
name = "ground"
motion = "fixed"
groups = ["ground"]
shape = { plane = {} }
[[body]]
name = "arm"
groups = ["robot"]
collides_with = ["ground", "default"]
shape = { sphere = { radius = 0.1 } }
position = [0, 0, 0.1]
[[body]]
name = "hand"
groups = ["robot"]
collides_with = ["ground", "default"]
shape = { sphere = { radius = 0.1 } }
position = [0.15, 0, 0.1]
[[body]]
name = "stone"
shape = { sphere = { radius = 0.1 } }
position = [0, 0.15, 0.1]
[[body]]
name = "ghost"
groups = ["ghost"]
collides_with = []
shape = { sphere = { radius = 0.1 } }
position = [0.05, 0.05, 0.1]
"#;
    let model = parse(text, &[]).unwrap().scene.compile().unwrap();
    let mut contacts = Vec::new();
    stiction::collide::Collider::new(&model).detect(
        Placement::of(&model, &model.initial).kinematics(&model),
        1e-3,
        &mut contacts,
    );
    let name = |s: stiction::coords::ShapeId| match model.shapes[s.index()].owner {
        stiction::scene::Owner::Body(b) => model.bodies[b.index()].name.as_str(),
        _ => "",
    };
    let pairs: Vec<_> = contacts.iter().map(|c| [name(c.key.shape_a), name(c.key.shape_b)]).collect();
    assert_eq!(pairs, [["ground", "arm"], ["ground", "hand"], ["ground", "stone"], ["arm", "stone"]]);
}

#[test]
fn a_covered_surface_has_the_mass_of_what_it_encloses() {
    let text = r#"
        [[soft]]
        name = "part"
        mesh = { cover = { file = "builtin:bracket.obj", cell = 0.05, scale = 0.5 } }
        material = { young = 1e5, poisson = 0.3, density = 1200 }
    "#;
    let scene = scene::parse(text, "s.toml", Path::new(""), &[]).unwrap().scene;
    let part = &scene.solids[0];
    let surface = part.visual.as_ref().expect("the surface is what is drawn");
    let inside = surface.survey().volume;
    let mass = part.material.density * part.mesh.volume();
    assert!(part.mesh.volume() > 1.1 * inside, "the cover is larger");
    assert!((mass - 1200.0 * inside).abs() < 1e-9 * mass, "{mass} kg of {inside} m³");
}

#[test]
fn meshes_come_from_memory_by_the_names_that_the_scene_gives_them() {
    let block = stiction::mesh::shapes::block([1, 1, 1], Vec3::ONE);
    let [nodes, tets] = crate::common::tet_files::tetgen(&block, 1);
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n".to_vec();
    let mesh = |name: &str| match name {
        "meshes/wedge.obj" => Ok(obj.clone()),
        "cube.node" => Ok(nodes.clone()),
        "cube.ele" => Ok(tets.clone()),
        _ => Err(Error::new(name, "is not at hand", "name a mesh that was given")),
    };
    let text = r#"
        [[body]]
        name = "wedge"
        shape = { mesh = { file = "meshes/wedge.obj" } }
        [[soft]]
        name = "cube"
        mesh = { file = "cube.ele" }
        material = { young = 1e5, poisson = 0.3, density = 1200 }
    "#;
    let scene = scene::parse_with(text, "s.toml", &mesh, &[]).unwrap().scene;
    assert_eq!((scene.bodies.len(), scene.solids[0].mesh.tets.len()), (1, block.tets.len()));
    // What is not given is told at its place, with the remedy of whoever gives meshes; no file is looked for.
    let e =
        scene::parse_with(&text.replace("wedge.obj", "Cargo.toml.obj"), "s.toml", &mesh, &[]).unwrap_err();
    assert_eq!((e.line_column().map(|p| p.0), e.remedy()), (Some(4), "name a mesh that was given"), "{e}");
    assert!(e.problem().contains("meshes/Cargo.toml.obj: is not at hand"), "{e}");
}
