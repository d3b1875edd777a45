//! Joints in scene files: every key reaches the scene, in radians; what does not fit together is refused with the place
//! and the remedy, and so is what only the whole scene can tell.

use std::path::Path;
use stiction::Vec3;
use stiction::scene::{Joint, JointAnchor, JointKind, Motor, Reads, Spring, Target};
use stiction_io::scene::{LoadedScene, parse};

const BODIES: &str = r#"
[[body]]
name = "base"
motion = "fixed"
shape = { box = { size = [1, 1, 0.1] } }
[[body]]
name = "arm"
shape = { box = { size = [0.4, 0.1, 0.1] } }
position = [0.2, 0, 0.3]
"#;

fn read(joints: &str) -> Result<LoadedScene, stiction_io::Error> {
    parse(&format!("{BODIES}{joints}"), "joints.toml", Path::new(""), &[])
}

fn joint(table: &str) -> Joint {
    let s = read(&format!("[[joint]]\nname = \"j\"\nb = \"arm\"\n{table}")).unwrap();
    s.scene.compile().unwrap_or_else(|e| panic!("{table}: {e}"));
    s.scene.joints[0].clone()
}

#[test]
fn every_key_reaches_the_scene() {
    let s = read(
        r#"
[[joint]]
name = "shoulder"
kind = "hinge"
a = "base"
b = "arm"
at = [0, 0, 0.3]
axis = [0, 2, 0]
limits = { lower_deg = -90, upper = 0.5 }
friction = 0.2
motor = { path_deg = [[0, 0], [1, 90]], stiffness = 100, damping = 5, limit = 30 }
springs = { twist = { stiffness = 3 }, bend = { stiffness = 1e4, damping = 10 } }
collide = true

[[sensor]]
name = "angle"
joint = "shoulder"
[[sensor]]
name = "load"
joint_force = "shoulder"
"#,
    )
    .unwrap();
    let j = &s.scene.joints[0];
    assert_eq!((j.kind, j.a.as_deref(), j.b.as_str()), (JointKind::Hinge, Some("base"), "arm"));
    assert_eq!((j.anchor, j.axis), (JointAnchor::World(Vec3::new(0.0, 0.0, 0.3)), Vec3::Y));
    let quarter = std::f64::consts::FRAC_PI_2;
    assert_eq!(j.limits, Some([-quarter, 0.5]));
    assert_eq!((j.friction, j.collide), (0.2, true));
    let m = j.motor.as_ref().unwrap();
    let Target::Position(path) = &m.target else { panic!("{m:?}") };
    assert!((path.value(0.5) - 0.5 * quarter).abs() < 1e-15);
    assert_eq!((m.stiffness, m.damping, m.limit), (100.0, 5.0, 30.0));
    assert_eq!(j.springs.twist, Some(Spring::new(3.0, 0.0)));
    assert_eq!(j.springs.bend, Some(Spring::new(1e4, 10.0)));
    assert_eq!(s.scene.sensors[0].reads, Reads::Joint("shoulder".into()));
    let model = s.scene.compile().unwrap();
    assert_eq!(model.sensors[1].columns(), ["fx", "fy", "fz", "tx", "ty", "tz"]);
}

#[test]
fn every_kind_can_be_written() {
    assert_eq!(joint("kind = \"ball\"").kind, JointKind::Ball);
    assert_eq!(joint("kind = \"fixed\"").anchor, JointAnchor::OriginOfB);
    assert_eq!(
        joint("kind = \"prismatic\"\nmotor = { velocity = 0.3, damping = 9 }").motor,
        Some(Motor::velocity(0.3, 9.0))
    );
    assert_eq!(joint("kind = \"cylindrical\"\naxis = [1, 0, 0]").axis, Vec3::X);
    let universal = joint("kind = \"universal\"\naxis = [1, 0, 0]\nsecond_axis = [0, 1, 0]");
    assert_eq!(universal.kind, JointKind::Universal { second: Vec3::Y });
    let rod = joint("kind = \"distance\"\nanchor_a = [0, 0, 1.3]\nanchor_b = [-0.2, 0, 0]\nlength = 1");
    assert_eq!(rod.kind, JointKind::Distance { length: Some(1.0) });
    let rope = joint(
        "kind = \"distance\"\nanchor_a = [0, 0, 1.3]\nanchor_b = [-0.2, 0, 0]\nlimits = { upper = 1.5 }",
    );
    assert_eq!(rope.limits, Some([f64::NEG_INFINITY, 1.5]));
}

#[test]
fn what_does_not_fit_is_refused_where_it_stands() {
    let cases = [
        ("kind = \"hing\"", "hing", ""),
        ("kind = \"hinge\"\nlength = 1", "only a distance has a length", "remove"),
        ("kind = \"universal\"", "second axis", "second_axis"),
        ("kind = \"ball\"\nsecond_axis = [1, 0, 0]", "second axis", "second_axis"),
        ("kind = \"ball\"\nanchor_a = [0, 0, 0]", "one point of each body", "anchor_b"),
        ("kind = \"hinge\"\nmotor = { damping = 1 }", "exactly one target", "velocity"),
        (
            "kind = \"prismatic\"\nmotor = { position_deg = 3, damping = 1 }",
            "only a hinge has angles",
            "_deg",
        ),
        ("kind = \"prismatic\"\nlimits = { lower_deg = 3 }", "only a hinge has angles", "_deg"),
        ("kind = \"hinge\"\nlimits = { lower = 0, lower_deg = 3 }", "given twice", "_deg"),
        ("kind = \"hinge\"\naxis = [0, 0, 0]", "zero length", ""),
        ("kind = \"hinge\"\nstifness = 3", "stifness", ""),
        ("kind = \"hinge\"\na = \"bass\"", "no body, soft body or particle is called `bass`", "base"),
        ("kind = \"hinge\"\nsprings = { bend = { stiffness = -1 } }", "-1 is not allowed", ""),
    ];
    for (table, problem, remedy) in cases {
        let Err(e) = read(&format!("[[joint]]\nname = \"j\"\nb = \"arm\"\n{table}")) else {
            panic!("{table} was accepted")
        };
        assert!(
            e.problem().contains(problem) && e.remedy().contains(remedy),
            "{table}: {e} / {}",
            e.remedy()
        );
        assert!(e.line_column().is_some(), "{table}: {e}");
    }
    let Err(e) = read("[[sensor]]\nname = \"s\"\njoint = \"elbow\"\n") else { panic!("no such joint") };
    assert!(e.problem().contains("no joint is called `elbow`"), "{e}");
    // What only the whole scene can tell is found in the file too.
    let s = read(
        "[[joint]]\nname = \"j\"\nkind = \"ball\"\na = \"base\"\nb = \"arm\"\nanchor_a = [0, 0, 0.2]\nanchor_b = [-0.2, 0, 0]\n",
    );
    let Err(e) = s.and_then(|s| s.compile()) else { panic!("the anchors disagree") };
    assert!(e.problem().contains("disagree") && e.line_column().is_some(), "{e}");
}
