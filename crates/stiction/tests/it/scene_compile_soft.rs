//! Soft bodies, cloth, rods, springs and joints that cannot be are refused with an error that names the item, the nodes or
//! tetrahedra that are wrong, and the remedy; odd ones that can be get a warning.

use stiction::elastic::{Law, Material, Section};
use stiction::mesh::{TriMesh, shapes};
use stiction::scene::{
    Attachment, FibreLayer, Fixing, Force, Inflation, Joint, JointKind, Motor, NodeSelection, PairRule,
    Particle, Reads, Rod, RodHold, Sensor, Sheet, SoftBody, SpringEnd, SpringSpec,
};
use stiction::{Body, Geometry, Scene, Vec3};

const NAN: f64 = f64::NAN;

/// A crate, a peg fixed in the world and one of everything that bends. The blob has nodes 0 to 7, two by two by two.
fn scene() -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    let cube = Geometry::Box { half: Vec3::splat(0.1) };
    scene.bodies.push(Body::new("crate", cube.clone()).at(0.0, 0.0, 1.0));
    scene.bodies.push(Body::new("peg", cube).at(0.0, 0.0, 3.0).fixed());
    scene.particles.push(Particle {
        name: "dot".into(),
        mass: 0.1,
        radius: 0.0,
        position: Vec3::X,
        velocity: Vec3::ZERO,
        friction: 0.5,
        restitution: 0.0,
    });
    let rubber = Material { law: Law::Corotated, young: 1e5, poisson: 0.3, density: 1000.0 };
    scene.solids.push(SoftBody::new("blob", shapes::block([1, 1, 1], Vec3::ONE), rubber));
    scene.sheets.push(Sheet::new("flag", [2, 2], [0.4, 0.4]));
    let section = Section { radius: 0.01, young: 1e7, poisson: 0.3 };
    scene.rods.push(Rod::new("cable", Vec3::new(2.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 1.0), 4, section));
    let ends = [SpringEnd::on("crate", Vec3::ZERO), SpringEnd::on("peg", Vec3::ZERO)];
    scene.springs.push(SpringSpec::new("coil", ends, 100.0));
    scene.joints.push(Joint::new("elbow", JointKind::Hinge, "peg", "crate").at(Vec3::new(0.0, 0.0, 2.0)));
    scene
}

fn everywhere() -> NodeSelection {
    NodeSelection::Box { min: Vec3::splat(-9.0), max: Vec3::splat(9.0) }
}

fn hold(s: &mut Scene, nodes: NodeSelection, to: Option<&str>) {
    s.solids[0].attachments.push(Attachment { nodes, to: to.map(str::to_string) });
}

fn layer(s: &mut Scene, min: f64, direction: Vec3, stiffness: f64, tension: f64) {
    let (min, max) = (Vec3::splat(min), Vec3::splat(9.0));
    s.solids[0].fibres.push(FibreLayer { min, max, direction, stiffness, tension });
}

fn inflate(s: &mut Scene, min: f64, pressure: &[[f64; 2]]) {
    let (min, max) = (Vec3::splat(min), Vec3::splat(9.0));
    s.solids[0].inflations.push(Inflation { min, max, pressure: pressure.to_vec() });
}

fn read(s: &mut Scene, reads: Reads) {
    s.sensors.push(Sensor { name: "probe".into(), reads });
}

fn push(s: &mut Scene, target: &str, torque: Vec3, at: Option<Vec3>) {
    let target = target.into();
    s.forces.push(Force { target, force: Vec3::X, torque, at, from: 0.0, until: 1.0 });
}

fn end(s: &mut Scene, to: &str) {
    s.rods[0].ends[0] = Some(RodHold { to: Some(to.into()), fixing: Fixing::Clamped });
}

/// The item, what is said about it, and the remedy.
type Case = (&'static str, &'static str, &'static str, fn(&mut Scene));

/// Every case alone must be refused as it says.
fn refuse(cases: &[Case]) {
    scene().compile().expect("the scene itself is good");
    for (item, problem, remedy, spoil) in cases {
        let mut s = scene();
        spoil(&mut s);
        let Err(e) = s.compile() else { panic!("accepted: {item}, {problem}") };
        assert_eq!(&e.item, item, "{e}");
        assert!(e.problem.contains(problem), "{e}\nwanted: {problem}");
        assert!(e.problem.contains(remedy), "{e}\nwanted: {remedy}");
    }
}

#[test]
fn meshes_are_refused_with_the_ids_of_nodes_and_tetrahedra() {
    refuse(&[
        ("soft body `blob`", "the mesh has no tetrahedra", "export volume elements", |s| {
            s.solids[0].mesh.tets.clear();
        }),
        ("soft body `blob`", "tet 2: inverted: negative volume", "turn them", |s| {
            s.solids[0].mesh.tets[2].swap(0, 1);
        }),
        ("soft body `blob`", "zero volume", "mesh the part again", |s| {
            let m = &mut s.solids[0].mesh;
            let [a, b, c, d] = m.tets[0].map(|v| v as usize);
            m.vertices[d] = (m.vertices[a] + m.vertices[b] + m.vertices[c]) / 3.0;
        }),
        ("soft body `blob`", "node 8: unreferenced", "remove the nodes", |s| {
            s.solids[0].mesh.vertices.push(Vec3::splat(5.0));
        }),
        ("soft body `blob`", "nodes 3 and 8: duplicate nodes", "merge coincident nodes", |s| {
            let m = &mut s.solids[0].mesh;
            m.vertices.push(m.vertices[3]);
            for v in m.tets.iter_mut().flatten().filter(|v| **v == 3).take(1) {
                *v = 8;
            }
        }),
        ("soft body `blob`", "node 4: a coordinate is not finite", "unit of length", |s| {
            s.solids[0].mesh.vertices[4].y = NAN;
        }),
        ("soft body `blob`", "tet 1: a node index is out of range", "counted from 0 or 1", |s| {
            s.solids[0].mesh.tets[1][3] = 8;
        }),
        ("soft body `blob`", "tet 1: a node appears twice", "remove the collapsed", |s| {
            s.solids[0].mesh.tets[1][3] = s.solids[0].mesh.tets[1][0];
        }),
        ("soft body `blob`", "tets 0 and 6", "mesh the part again", |s| {
            let m = &mut s.solids[0].mesh;
            m.tets.push(m.tets[0]);
        }),
        ("soft body `blob`", "vertex 1 of the visual surface is not finite", "export it again", |s| {
            let vertices = vec![Vec3::ZERO, Vec3::NAN, Vec3::Y];
            s.solids[0].visual = Some(TriMesh { vertices, triangles: vec![[0, 1, 2]] });
        }),
        (
            "soft body `blob`",
            "triangle 0 of the visual surface names a vertex beyond its 3",
            "count from 0",
            |s| {
                let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
                s.solids[0].visual = Some(TriMesh { vertices, triangles: vec![[0, 1, 3]] });
            },
        ),
    ]);
}

#[test]
fn constants_are_refused_with_their_value_and_range() {
    refuse(&[
        ("soft body `blob`", "Poisson's ratio 0.5", "take 0.45 to 0.49", |s| {
            s.solids[0].material.poisson = 0.5
        }),
        ("soft body `blob`", "Poisson's ratio -1", "between -1 and 0.5", |s| {
            s.solids[0].material.poisson = -1.0;
        }),
        ("soft body `blob`", "Poisson's ratio NaN", "between -1 and 0.5", |s| {
            s.solids[0].material.poisson = NAN;
        }),
        ("soft body `blob`", "Young's modulus 0 Pa", "did you give MPa?", |s| {
            s.solids[0].material.young = 0.0
        }),
        ("soft body `blob`", "Young's modulus -3 Pa", "positive", |s| s.solids[0].material.young = -3.0),
        ("soft body `blob`", "Young's modulus NaN Pa", "finite", |s| s.solids[0].material.young = NAN),
        ("soft body `blob`", "Young's modulus inf Pa", "finite", |s| {
            s.solids[0].material.young = f64::INFINITY;
        }),
        ("soft body `blob`", "density 0 kg/m³", "1000 is water", |s| s.solids[0].material.density = 0.0),
        ("soft body `blob`", "threshold 1.5", "take 0.7 or less", |s| {
            s.solids[0].material.law = Law::NeoHookean { threshold: 1.5 };
        }),
        ("soft body `blob`", "damping -1", "zero or positive", |s| s.solids[0].damping.stiffness = -1.0),
        ("soft body `blob`", "damping NaN", "zero or positive", |s| s.solids[0].damping.viscosity = NAN),
        ("soft body `blob`", "the velocity must be finite", "", |s| s.solids[0].velocity.x = NAN),
        ("soft body `blob`", "the spin must be finite", "", |s| s.solids[0].spin.x = NAN),
        ("soft body `blob`", "position of the pose must be finite", "", |s| {
            s.solids[0].pose.translation.z = NAN;
        }),
        ("soft body `blob`", "friction must be finite and not negative; got -1", "", |s| {
            s.solids[0].friction = -1.0;
        }),
        ("soft body `blob`", "restitution must lie between 0 and 1; got 2", "", |s| {
            s.solids[0].restitution = 2.0;
        }),
        ("soft body `blob`", "thickness must be finite and not negative; got NaN", "", |s| {
            s.solids[0].thickness = NAN;
        }),
        ("cloth `flag`", "0 × 2 cells", "at least one each way", |s| s.sheets[0].cells[0] = 0),
        ("cloth `flag`", "each size must be positive", "got -1", |s| s.sheets[0].size[1] = -1.0),
        ("cloth `flag`", "mass per area must be positive", "got 0", |s| s.sheets[0].area_density = 0.0),
        ("cloth `flag`", "stretch stiffness must be positive", "got NaN", |s| s.sheets[0].stretch = NAN),
        ("cloth `flag`", "shear stiffness must be positive", "got -2", |s| s.sheets[0].shear = -2.0),
        ("cloth `flag`", "bending rigidity", "not negative; got -1", |s| s.sheets[0].bend = -1.0),
        ("cloth `flag`", "damping", "not negative; got NaN", |s| s.sheets[0].damping = NAN),
        ("cloth `flag`", "thickness", "not negative", |s| s.sheets[0].thickness = -0.1),
        ("rod `cable`", "Poisson's ratio 0.5", "take 0.45 to 0.49", |s| s.rods[0].section.poisson = 0.5),
        ("rod `cable`", "Young's modulus -1 Pa", "positive", |s| s.rods[0].section.young = -1.0),
        ("rod `cable`", "radius must be positive", "got NaN", |s| s.rods[0].section.radius = NAN),
        ("rod `cable`", "density 0 kg/m³", "1000 is water", |s| s.rods[0].density = 0.0),
        ("rod `cable`", "0 segments", "give 1 to", |s| s.rods[0].segments = 0),
        ("rod `cable`", "each point must be finite", "", |s| s.rods[0].points[1].x = NAN),
        ("rod `cable`", "a line of 1 points has no length", "give at least two", |s| {
            s.rods[0].points.pop();
        }),
        ("rod `cable`", "points 1 and 2 coincide", "leave one out", |s| {
            s.rods[0].points[1] = s.rods[0].points[0];
        }),
        ("spring `coil`", "stiffness must be positive and finite; got 0", "", |s| {
            s.springs[0].stiffness = 0.0
        }),
        ("spring `coil`", "damping must be finite and not negative", "got NaN", |s| {
            s.springs[0].damping = NAN
        }),
        ("spring `coil`", "rest length must be finite and not negative", "got -1", |s| {
            s.springs[0].rest_length = Some(-1.0);
        }),
        ("spring `coil`", "the point of an end must be finite", "", |s| s.springs[0].ends[0].at.x = NAN),
        ("joint `elbow`", "its axis has zero length", "", |s| s.joints[0].axis = Vec3::ZERO),
        ("joint `elbow`", "its friction must be finite", "got NaN", |s| s.joints[0].friction = NAN),
        ("joint `elbow`", "its limits 1 to -1 leave nothing", "the lower one first", |s| {
            s.joints[0].limits = Some([1.0, -1.0]);
        }),
        ("joint `elbow`", "the limit of its motor must be positive", "got 0", |s| {
            s.joints[0].motor = Some(Motor::position(0.0, 1.0, 1.0).with_limit(0.0));
        }),
    ]);
}

#[test]
fn names_and_places_that_do_not_fit_are_refused() {
    refuse(&[
        ("soft body number 1", "name is empty", "give it one", |s| s.solids[0].name.clear()),
        ("soft body `crate`", "taken", "unique", |s| s.solids[0].name = "crate".into()),
        ("cloth `blob`", "taken", "unique", |s| s.sheets[0].name = "blob".into()),
        ("rod `cable`", "taken", "unique", |s| s.rods.push(s.rods[0].clone())),
        ("spring `coil`", "taken", "unique", |s| s.springs.push(s.springs[0].clone())),
        ("joint `elbow`", "taken", "unique", |s| s.joints.push(s.joints[0].clone())),
        // Attachments.
        ("soft body `blob`, attachment 1", "no node lies in the box", "the mesh reaches from", |s| {
            hold(s, NodeSelection::Box { min: Vec3::splat(8.0), max: Vec3::splat(9.0) }, None);
        }),
        ("soft body `blob`, attachment 1", "it names no node", "list at least one", |s| {
            hold(s, NodeSelection::Nodes(vec![]), None);
        }),
        ("soft body `blob`, attachment 1", "there is no node 8; the mesh has 8", "counted from 0", |s| {
            hold(s, NodeSelection::Nodes(vec![0, 8]), None);
        }),
        (
            "soft body `blob`, attachment 1",
            "no body, soft body, cloth or particle `crat`",
            "did you mean `crate`?",
            |s| {
                hold(s, everywhere(), Some("crat"));
            },
        ),
        ("soft body `blob`, attachment 1", "`flag` is not a rigid body", "attach to rigid bodies", |s| {
            hold(s, everywhere(), Some("flag"));
        }),
        ("soft body `blob`, attachment 2", "node 5 is held by another attachment", "leave it out", |s| {
            hold(s, NodeSelection::Nodes(vec![5]), None);
            hold(s, NodeSelection::Nodes(vec![4, 5]), Some("crate"));
        }),
        ("cloth `flag`, attachment 1", "there is no node 9; the mesh has 9", "counted from 0", |s| {
            s.sheets[0].attachments.push(Attachment { nodes: NodeSelection::Nodes(vec![9]), to: None });
        }),
        // Parts of a solid.
        ("soft body `blob`, fibre layer 1", "no tetrahedron has its middle", "the mesh reaches", |s| {
            layer(s, 8.0, Vec3::X, 1.0, 0.0);
        }),
        ("soft body `blob`, fibre layer 2", "direction has zero length", "along the fibres", |s| {
            layer(s, -9.0, Vec3::X, 1.0, 0.0);
            layer(s, -9.0, Vec3::ZERO, 1.0, 0.0);
        }),
        ("soft body `blob`, fibre layer 1", "direction must be finite", "", |s| {
            layer(s, -9.0, Vec3::NAN, 1.0, 0.0);
        }),
        ("soft body `blob`, fibre layer 1", "stiffness must be finite and not negative; got -1", "", |s| {
            layer(s, -9.0, Vec3::X, -1.0, 0.0);
        }),
        ("soft body `blob`, fibre layer 1", "tension must be finite; got NaN", "", |s| {
            layer(s, -9.0, Vec3::X, 1.0, NAN);
        }),
        ("soft body `blob`, inflation 1", "no tetrahedron has its middle", "the mesh reaches", |s| {
            inflate(s, 8.0, &[[0.0, 1.0]]);
        }),
        ("soft body `blob`, inflation 1", "increasing times", "at least one", |s| inflate(s, -9.0, &[])),
        ("soft body `blob`, inflation 1", "increasing times", "at least one", |s| {
            inflate(s, -9.0, &[[1.0, 0.0], [1.0, 5.0]]);
        }),
        ("soft body `blob`, inflation 1", "finite pressures", "", |s| inflate(s, -9.0, &[[0.0, NAN]])),
        // Ends of rods and springs.
        ("rod `cable`", "no body, soft body, cloth or particle `crat`", "did you mean `crate`?", |s| {
            end(s, "crat")
        }),
        ("rod `cable`", "`blob` is not a rigid body", "held by rigid bodies", |s| end(s, "blob")),
        ("rod `cable`", "`cable[2]` is a link of the rod itself", "another body", |s| end(s, "cable[2]")),
        ("spring `coil`", "no body, soft body, cloth or particle `crat`", "did you mean `crate`?", |s| {
            s.springs[0].ends[0].on = Some("crat".into());
        }),
        ("spring `coil`", "particle `dot` has no extent", "leave out the point", |s| {
            s.springs[0].ends[0] = SpringEnd::on("dot", Vec3::X);
        }),
        ("spring `coil`", "both ends are on the same body", "join two", |s| {
            s.springs[0].ends[1] = SpringEnd::on("crate", Vec3::X);
        }),
        ("spring `coil`", "its ends coincide", "give one", |s| {
            s.springs[0].ends[1] = SpringEnd::world(Vec3::Z);
        }),
        // Joints.
        ("joint `elbow`", "its anchors disagree by 5.000e-1 m", "move a body or an anchor", |s| {
            let hinge = Joint::new("elbow", JointKind::Hinge, "peg", "crate");
            s.joints[0] = hinge.between(Vec3::new(0.0, 0.0, -1.0), Vec3::new(0.0, 0.0, 0.5));
        }),
        ("joint `elbow`", "`blob` is soft", "attach its nodes", |s| s.joints[0].b = "blob".into()),
        ("joint `elbow`", "`dot` is a particle", "joints hold bodies", |s| s.joints[0].b = "dot".into()),
        ("joint `elbow`", "no body, soft body, cloth or particle `nobody`", "known names: ", |s| {
            s.joints[0].a = Some("nobody".into());
        }),
        ("joint `elbow`", "to itself", "name two bodies", |s| s.joints[0].a = Some("crate".into())),
        ("joint `elbow`", "neither side moves freely", "make one of them free", |s| {
            s.joints[0] = Joint::to_world("elbow", JointKind::Hinge, "peg");
        }),
        ("joint `elbow`", "outside its limits", "move bodies or limits", |s| {
            s.joints[0].limits = Some([1.0, 2.0]);
        }),
        // Sensors, forces and pairs that name them.
        ("sensor `probe`", "`crate` is not a soft body", "read its pose instead", |s| {
            read(s, Reads::Point { body: "crate".into(), at: Vec3::ZERO });
        }),
        ("sensor `probe`", "the point must be finite", "", |s| {
            read(s, Reads::Point { body: "blob".into(), at: Vec3::NAN });
        }),
        ("sensor `probe`", "there is no joint `knee`", "known joints: `elbow`", |s| {
            read(s, Reads::Joint("knee".into()));
        }),
        ("force on `blob`", "without torque or point of attack", "shared among its nodes", |s| {
            push(s, "blob", Vec3::X, None);
        }),
        ("force on `flag`", "without torque or point of attack", "shared among its nodes", |s| {
            push(s, "flag", Vec3::ZERO, Some(Vec3::ZERO));
        }),
        ("pair `blob`, `blob`", "never touches itself", "", |s| {
            let (a, b) = ("blob".into(), "blob".into());
            s.pairs.push(PairRule { a, b, collide: false, friction: None, restitution: None });
        }),
    ]);
}

#[test]
fn what_is_odd_but_can_be_gets_a_warning() {
    let warned = |change: fn(&mut Scene), words: &str| {
        let mut s = scene();
        change(&mut s);
        let warnings = s.compile().unwrap().warnings;
        assert!(warnings.iter().any(|w| w.contains(words)), "{words} in {warnings:?}");
    };
    warned(|s| hold(s, everywhere(), None), "soft body `blob`: every node is held");
    warned(
        |s| s.springs[0].ends[0] = SpringEnd::world(Vec3::ZERO),
        "spring `coil`: neither end moves freely",
    );
}

#[test]
fn a_node_may_be_named_twice_by_the_same_holder() {
    let mut s = scene();
    hold(&mut s, NodeSelection::Nodes(vec![5, 5]), Some("crate"));
    hold(&mut s, NodeSelection::Nodes(vec![5]), Some("crate"));
    let model = s.compile().unwrap();
    // One particle, seven free nodes of the blob, nine of the flag.
    assert_eq!(model.nodes.len(), 1 + 7 + 9);
}
