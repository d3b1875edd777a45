//! From the tables of a file to a [`Scene`]: poses, masses, copies, meshes, and names that must exist.

use super::file::{
    Body as BodyTable, Defaults, Friction, Keyframe as KeyframeTable, MeshKind, Motion as MotionTable,
    Penalty as PenaltyTable, SceneFile, SensorKind, Shape as ShapeTable, ShapeKind, Sleep as SleepTable,
};
use super::overrides::Source;
use super::places::Places;
use super::value::{Place, Rotation, Triple, or_zero};
use super::{LoadedScene, repeat};
use crate::error::{Result, known_names};
use crate::mesh::{self, TriMesh};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use stiction::scene::{
    Body, ContactSettings, Force, Heightfield, Keyframe, MassSpec, Motion, PairRule, Particle, Reads, Sensor,
    Shape, SurfaceFriction,
};
use stiction::steppers::penalty::{Bdf, Chosen, ContactDamping};
use stiction::steppers::velocity::Sleep;
use stiction::{Geometry, Mat3, Pose, Quat, Scene, SimSettings, SolverSettings, Vec3};
use toml::Spanned;

const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);
const DT: f64 = 0.01;
const DURATION: f64 = 5.0;
const FRICTION: f64 = 0.5;
pub(super) const DENSITY: f64 = 1000.0;

/// Most bodies of a scene.
const MOST_BODIES: usize = repeat::MOST_COPIES;

/// Where the meshes of a scene are.
#[derive(Clone, Copy)]
pub(crate) enum Files<'a> {
    /// In files, whose paths begin at this folder.
    Folder(&'a Path),
    /// Wherever this looks them up by name.
    Given(&'a dyn Fn(&str) -> Result<Vec<u8>>),
}

impl Files<'_> {
    /// Reads a mesh with the reader of its kind; an error stands at `file` in the scene.
    pub fn read<T>(
        self,
        source: &Source,
        file: &Spanned<String>,
        (load, load_with): (
            impl Fn(&Path) -> Result<T>,
            impl Fn(&Path, &dyn Fn(&Path) -> Result<Vec<u8>>) -> Result<T>,
        ),
    ) -> Result<T> {
        let name = Path::new(file.get_ref());
        let (read, missing) = match self {
            Files::Folder(folder) => {
                let path = folder.join(name);
                (load(&path), !path.exists())
            }
            // Names come from a text, and so do those that a reader makes of them.
            Files::Given(bytes) => (load_with(name, &|name| bytes(&name.to_string_lossy())), false),
        };
        read.map_err(|e| {
            let relative = "check the path; it is relative to the folder of the scene file";
            source.error(file.span(), format!("mesh file {e}"), if missing { relative } else { e.remedy() })
        })
    }
}

pub(crate) struct Builder<'a> {
    pub source: &'a Source,
    pub files: Files<'a>,
    meshes: BTreeMap<String, TriMesh>,
    /// Every name of a body or particle and where it stands in the file.
    names: BTreeMap<String, Range<usize>>,
    /// The same for forces, pairs and sensors.
    items: BTreeMap<String, Range<usize>>,
}

impl<'a> Builder<'a> {
    pub fn new(source: &'a Source, files: Files<'a>) -> Builder<'a> {
        Builder { source, files, meshes: BTreeMap::new(), names: BTreeMap::new(), items: BTreeMap::new() }
    }

    pub fn build(mut self, f: SceneFile) -> Result<LoadedScene> {
        let stem = Path::new(&self.source.name)
            .file_stem()
            .map_or("scene".into(), |s| s.to_string_lossy().into_owned());
        let mut scene = Scene {
            name: stem.clone(),
            gravity: f.gravity.map_or(GRAVITY, Triple::vec),
            contact: contact_settings(&f),
            ..Scene::default()
        };
        for b in &f.body {
            self.body(b, &f, &mut scene)?;
        }
        for p in &f.particle {
            self.name(p.name.get_ref(), p.name.span())?;
            scene.particles.push(Particle {
                name: p.name.get_ref().clone(),
                mass: p.mass.0,
                radius: p.radius.map_or(0.0, |r| r.0),
                position: or_zero(p.position),
                velocity: or_zero(p.velocity),
                friction: p.friction.map_or(mean_friction(f.defaults.friction), |x| x.0),
                restitution: p.restitution.or(f.defaults.restitution).map_or(0.0, |e| e.0),
            });
        }
        for s in &f.soft {
            let solid = self.soft(s, &f.defaults)?;
            scene.solids.push(solid);
        }
        for c in &f.cloth {
            let sheet = self.cloth(c, &f.defaults)?;
            scene.sheets.push(sheet);
        }
        for r in &f.rod {
            let rod = self.rod(r, &f.defaults)?;
            scene.rods.push(rod);
        }
        for s in &f.spring {
            let spring = self.spring(s)?;
            scene.springs.push(spring);
        }
        for x in &f.force {
            let from = x.from.map_or(0.0, |t| t.0);
            let until = x.until.as_ref().map_or(f64::INFINITY, |t| t.get_ref().0);
            if until <= from {
                let span = x.until.as_ref().map_or(x.target.span(), Spanned::span);
                let e = format!("the force ends at {until} s, before it starts at {from} s");
                return Err(self.source.error(span, e, "make `until` later than `from`"));
            }
            self.items.insert(format!("force on `{}`", x.target.get_ref()), x.target.span());
            scene.forces.push(Force {
                target: self.known(&x.target)?,
                force: or_zero(x.force),
                torque: or_zero(x.torque),
                at: x.at.map(Place::vec),
                from,
                until,
            });
        }
        for p in &f.pair {
            self.items.insert(format!("pair `{}`, `{}`", p.a.get_ref(), p.b.get_ref()), p.a.span());
            scene.pairs.push(PairRule {
                a: self.known_body(&p.a, &scene)?,
                b: self.known_body(&p.b, &scene)?,
                collide: p.collide.unwrap_or(true),
                friction: p.friction.map(|x| x.0),
                restitution: p.restitution.map(|x| x.0),
            });
        }
        for j in &f.joint {
            self.items.insert(format!("joint `{}`", j.name.get_ref()), j.name.span());
            let joint = self.joint(j)?;
            scene.joints.push(joint);
        }
        let mut sensors: BTreeMap<&str, ()> = BTreeMap::new();
        for s in &f.sensor {
            let name = s.name.get_ref();
            if sensors.insert(name, ()).is_some() {
                let e = format!("two sensors are called `{name}`");
                return Err(self.source.error(s.name.span(), e, "give each sensor its own name"));
            }
            let reads = match &s.reads {
                SensorKind::Pose(x) => Reads::Pose(self.known(x)?),
                SensorKind::Velocity(x) => Reads::Velocity(self.known(x)?),
                SensorKind::ContactForce(x) => Reads::ContactForce(self.known(x)?),
                SensorKind::PairForce([on, by]) => Reads::PairForce(self.known(on)?, self.known(by)?),
                SensorKind::Point(p) => Reads::Point { body: self.known(&p.soft)?, at: p.at.vec() },
                SensorKind::Joint(x) => Reads::Joint(self.known_joint(x, &f)?),
                SensorKind::JointForce(x) => Reads::JointForce(self.known_joint(x, &f)?),
                SensorKind::Energy => Reads::Energy,
            };
            self.items.insert(format!("sensor `{name}`"), s.name.span());
            scene.sensors.push(Sensor { name: name.clone(), reads });
        }
        Ok(LoadedScene {
            scene,
            dt: f.time.dt.map_or(DT, |x| x.0),
            duration: f.time.duration.map_or(DURATION, |x| x.0),
            settings: SimSettings {
                sleep: f.time.sleep.as_ref().map(sleep),
                scheme: f.time.scheme.unwrap_or_default(),
                linearizations: f.time.linearizations.map_or(1, |n| n.0),
                intersection_free: f.time.intersection_free.unwrap_or(false),
                solver: f.solver.name.unwrap_or_default(),
                solver_settings: SolverSettings {
                    tolerance: f.solver.tolerance.map(|x| x.0),
                    max_iterations: f.solver.max_iterations,
                },
                penalty: penalty(&f.penalty),
            },
            title: f.title.unwrap_or(stem),
            places: Places { source: self.source.clone(), names: self.names, items: self.items },
        })
    }

    /// The bits of groups by name: `default` is the first, others follow in the order in which bodies join them.
    fn group_bits(&self, names: &Spanned<Vec<String>>, f: &SceneFile) -> Result<u32> {
        let mut known = vec!["default"];
        for name in f.body.iter().filter_map(|b| b.groups.as_ref()).flat_map(|g| g.get_ref()) {
            if !known.contains(&name.as_str()) {
                known.push(name);
            }
        }
        if known.len() > u32::BITS as usize {
            let e = format!("{} groups are more than {}", known.len(), u32::BITS);
            return Err(self.source.error(names.span(), e, "use fewer groups, or `[[pair]]` rules"));
        }
        let bit = |name: &String| match known.iter().position(|k| k == name) {
            Some(k) => Ok(1 << k),
            None => {
                let e = format!("no body belongs to the group `{name}`");
                let remedy = known_names(name, "groups", known.iter().copied());
                Err(self.source.error(names.span(), e, remedy))
            }
        };
        names.get_ref().iter().map(bit).try_fold(0, |bits, b| Ok(bits | b?))
    }

    fn body(&mut self, t: &BodyTable, f: &SceneFile, scene: &mut Scene) -> Result<()> {
        let d = &f.defaults;
        if t.shape.0.is_empty() {
            let e = format!("body `{}` has an empty list of shapes", t.name.get_ref());
            return Err(self.source.error(t.name.span(), e, "give it at least one shape"));
        }
        let pose = pose(t.position, t.rotation);
        let motion = self.motion(t, &pose)?;
        let shapes = t.shape.0.iter().map(|s| self.shape(s, t, d)).collect::<Result<Vec<_>>>()?;
        let body = Body {
            name: t.name.get_ref().clone(),
            mass: self.mass(t, d, &motion)?,
            motion,
            pose,
            velocity: t.velocity.as_ref().map_or(Vec3::ZERO, |v| v.get_ref().vec()),
            spin: t.spin.as_ref().map_or(Vec3::ZERO, |v| v.get_ref().vec()),
            shapes,
            groups: t.groups.as_ref().map_or(Ok(1), |g| self.group_bits(g, f))?,
            mask: t.collides_with.as_ref().map_or(Ok(u32::MAX), |g| self.group_bits(g, f))?,
        };
        let Some(r) = &t.repeat else {
            self.name(&body.name, t.name.span())?;
            scene.bodies.push(body);
            return Ok(());
        };
        let remark = |e: String| {
            let (what, remedy) = e.split_once(": ").unwrap_or((&e, ""));
            self.source.error(r.span(), what, remedy)
        };
        if matches!(body.motion, Motion::Keyframes { .. }) {
            return Err(remark(
                "keyframes give one path, not one per copy: write the bodies one by one".into(),
            ));
        }
        let copies = repeat::copies(&body, r.get_ref()).map_err(remark)?;
        if scene.bodies.len() + copies.len() > MOST_BODIES {
            return Err(remark(format!("more than {MOST_BODIES} bodies: make fewer copies")));
        }
        for b in copies {
            self.name(&b.name, t.name.span())?;
            scene.bodies.push(b);
        }
        Ok(())
    }

    fn motion(&self, t: &BodyTable, own: &Pose) -> Result<Motion> {
        let Some(m) = &t.motion else { return Ok(Motion::Free) };
        let motion = match m.get_ref() {
            MotionTable::Free => return Ok(Motion::Free),
            MotionTable::Fixed => Motion::Fixed,
            MotionTable::Given(g) => match &g.keyframes {
                None => Motion::Constant { velocity: or_zero(g.velocity), spin: or_zero(g.spin) },
                Some(_) if g.velocity.is_some() || g.spin.is_some() => {
                    let e = "a body moves at a constant velocity or through keyframes, not both";
                    return Err(self.source.error(
                        m.span(),
                        e,
                        "remove `velocity` and `spin`, or the keyframes",
                    ));
                }
                Some(keys) => {
                    let ascending = keys.get_ref().windows(2).all(|w| w[0].time.0 < w[1].time.0);
                    if keys.get_ref().is_empty() || !ascending {
                        let e = "keyframes need ascending times, and at least one";
                        return Err(self.source.error(
                            keys.span(),
                            e,
                            "sort them by `time`, without repeats",
                        ));
                    }
                    Motion::Keyframes {
                        keys: keys.get_ref().iter().map(|k| keyframe(k, own)).collect(),
                        ease: g.ease.unwrap_or_default(),
                    }
                }
            },
        };
        if let Some(v) = t.velocity.as_ref().or(t.spin.as_ref()) {
            let e = "an initial velocity or spin belongs to a free body";
            let remedy = "remove it; a body that moves by rule has `motion = { velocity = …, spin = … }`";
            return Err(self.source.error(v.span(), e, remedy));
        }
        Ok(motion)
    }

    fn mass(&self, t: &BodyTable, d: &Defaults, motion: &Motion) -> Result<MassSpec> {
        let given = [
            t.mass.as_ref().map(Spanned::span),
            t.density.as_ref().map(Spanned::span),
            t.inertia.as_ref().map(Spanned::span),
            t.center_of_mass.as_ref().map(Spanned::span),
        ];
        let any = given.iter().flatten().next().cloned();
        let error = |span: Range<usize>, e: &str, remedy: &str| Err(self.source.error(span, e, remedy));
        if let (Some(span), false) = (&any, *motion == Motion::Free) {
            let remedy = "remove mass, density and inertia, or make the body free";
            return error(span.clone(), "a body that does not move freely needs no mass", remedy);
        }
        match (&t.mass, &t.density, &t.inertia, &t.center_of_mass) {
            (None, None, None, None) => Ok(MassSpec::Density(d.density.map_or(DENSITY, |x| x.0))),
            (None, Some(x), None, None) => Ok(MassSpec::Density(x.get_ref().0)),
            (Some(m), None, None, None) => Ok(MassSpec::Mass(m.get_ref().0)),
            (Some(m), None, Some(i), com) => {
                let [xx, yy, zz, xy, xz, yz] = i.get_ref().0;
                Ok(MassSpec::Given {
                    mass: m.get_ref().0,
                    inertia: Mat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]),
                    com: com.as_ref().map_or(Vec3::ZERO, |c| c.get_ref().vec()),
                })
            }
            _ => error(
                any.unwrap_or_else(|| t.name.span()),
                "mass, density, inertia and centre of mass do not go together",
                "give `density`, or `mass`, or `mass` and `inertia` (with `center_of_mass`)",
            ),
        }
    }

    fn shape(&mut self, s: &ShapeTable, b: &BodyTable, d: &Defaults) -> Result<Shape> {
        let mut pose = pose(s.position, s.rotation);
        let geometry = match &s.geometry {
            ShapeKind::Plane(p) => {
                if let Some(n) = p.normal {
                    pose.rotation *= Quat::from_rotation_arc(Vec3::Z, n.unit());
                }
                Geometry::Plane
            }
            ShapeKind::Sphere(x) => Geometry::Sphere { radius: x.radius.0 },
            ShapeKind::Box(x) => Geometry::Box { half: 0.5 * x.size.vec() },
            ShapeKind::Capsule(x) => Geometry::Capsule { half_height: 0.5 * x.length.0, radius: x.radius.0 },
            ShapeKind::Cylinder(x) => {
                Geometry::Cylinder { half_height: 0.5 * x.height.0, radius: x.radius.0 }
            }
            ShapeKind::Cone(x) => Geometry::Cone { half_height: 0.5 * x.height.0, radius: x.radius.0 },
            ShapeKind::Heightfield(x) => {
                let rows = x.heights.get_ref();
                let columns = rows.first().map_or(0, Vec::len);
                if let Some(k) = rows.iter().position(|r| r.len() != columns) {
                    let e = format!("row {k} has {} heights, row 0 has {columns}", rows[k].len());
                    return Err(self.source.error(x.heights.span(), e, "give all rows the same length"));
                }
                let heights = rows.iter().flatten().map(|z| z.0).collect();
                let (size, base) = (x.size.map(|s| s.0), x.base.map(|b| b.0));
                Geometry::Heightfield(Heightfield { heights, columns, size, base })
            }
            ShapeKind::Hull(x) => {
                let points: Vec<Vec3> = x.points.get_ref().iter().map(|p| p.vec()).collect();
                if points.len() < 4 {
                    let e = format!("a hull of {} points has no volume", points.len());
                    return Err(self.source.error(x.points.span(), e, "give at least four points"));
                }
                Geometry::ConvexHull { points }
            }
            ShapeKind::Mesh(x) => {
                let TriMesh { mut vertices, triangles } = self.mesh(&x.file)?;
                let scale = x.scale.map_or(1.0, |f| f.0);
                vertices.iter_mut().for_each(|v| *v *= scale);
                if !vertices.iter().all(|v| v.is_finite()) {
                    let e = "the scaled mesh is too large for numbers";
                    return Err(self.source.error(x.file.span(), e, "choose a smaller `scale`"));
                }
                match x.kind {
                    MeshKind::ConvexHull => Geometry::ConvexHull { points: vertices },
                    MeshKind::Triangles => Geometry::TriMesh { vertices, triangles },
                }
            }
        };
        Ok(Shape {
            geometry,
            pose,
            friction: match s.friction.or(b.friction).or(d.friction) {
                None => SurfaceFriction::Isotropic(FRICTION),
                Some(Friction::Same(mu)) => SurfaceFriction::Isotropic(mu.0),
                Some(Friction::Elliptic(e)) => SurfaceFriction::Elliptic {
                    mu1: e.along.0,
                    mu2: e.across.0,
                    direction: e.direction.unit(),
                },
            },
            restitution: s.restitution.or(b.restitution).or(d.restitution).map_or(0.0, |e| e.0),
        })
    }

    /// The mesh of a file; read once however often it is used.
    pub(super) fn mesh(&mut self, file: &Spanned<String>) -> Result<TriMesh> {
        let name = file.get_ref();
        if let Some(m) = self.meshes.get(name) {
            return Ok(m.clone());
        }
        let mesh = match name.strip_prefix("builtin:") {
            Some(name) => mesh::builtin(name)
                .map_err(|e| self.source.error(file.span(), format!("mesh file {e}"), e.remedy()))?,
            None => self.files.read(self.source, file, (mesh::load, mesh::load_with))?,
        };
        self.meshes.insert(name.clone(), mesh.clone());
        Ok(mesh)
    }

    /// Notes the name of a body, soft body or particle; refuses one that is taken, empty, or would break tables.
    pub(super) fn name(&mut self, name: &str, span: Range<usize>) -> Result<()> {
        if name.is_empty() || name.chars().any(|c| c.is_control() || c == ',' || c == '"') {
            let e = format!("`{}` cannot be a name", name.escape_debug());
            let remedy = "use letters, digits and marks other than commas and quotes";
            return Err(self.source.error(span, e, remedy));
        }
        if let Some(first) = self.names.insert(name.into(), span.clone()) {
            let line = self.source.text[..first.start.min(self.source.text.len())].matches('\n').count() + 1;
            let e = format!("the name `{name}` is taken (line {line})");
            return Err(self.source.error(span, e, "give each body, soft body and particle its own name"));
        }
        Ok(())
    }

    /// Notes where an item that compiling may complain about stands.
    pub(super) fn item(&mut self, item: String, span: Range<usize>) {
        self.items.insert(item, span);
    }

    /// The name, if a body or particle has it.
    pub(super) fn known(&self, name: &Spanned<String>) -> Result<String> {
        if self.names.contains_key(name.get_ref()) {
            return Ok(name.get_ref().clone());
        }
        let e = format!("no body, soft body or particle is called `{}`", name.get_ref());
        let known = known_names(name.get_ref(), "names", self.names.keys().map(String::as_str));
        Err(self.source.error(name.span(), e, known))
    }

    fn known_joint(&self, name: &Spanned<String>, f: &SceneFile) -> Result<String> {
        let mut names = f.joint.iter().map(|j| j.name.get_ref().as_str());
        if names.clone().any(|n| n == name.get_ref()) {
            return Ok(name.get_ref().clone());
        }
        let e = format!("no joint is called `{}`", name.get_ref());
        Err(self.source.error(name.span(), e, known_names(name.get_ref(), "joints", names.by_ref())))
    }

    fn known_body(&self, name: &Spanned<String>, scene: &Scene) -> Result<String> {
        let name_ok = self.known(name)?;
        if scene.particles.iter().any(|p| p.name == name_ok) {
            let e = format!("`{name_ok}` is a particle");
            return Err(self.source.error(name.span(), e, "pair rules are for bodies"));
        }
        Ok(name_ok)
    }
}

fn contact_settings(f: &SceneFile) -> ContactSettings {
    let d = ContactSettings::default();
    let c = &f.contact;
    ContactSettings {
        margin: c.margin.map(|x| x.0),
        thickness: c.thickness.map_or(d.thickness, |x| x.0),
        manifold: c.manifold.unwrap_or(d.manifold),
        recovery_speed: c.recovery_speed.map_or(d.recovery_speed, |x| x.0),
        restitution_threshold: c.restitution_threshold.map_or(d.restitution_threshold, |x| x.0),
        combine_friction: c.combine_friction.unwrap_or(d.combine_friction),
        combine_restitution: c.combine_restitution.unwrap_or(d.combine_restitution),
    }
}

/// When bodies may fall asleep.
fn penalty(p: &PenaltyTable) -> Chosen {
    let printed = p.linear_damping.map(|x| ContactDamping::Printed(x.0));
    Chosen {
        scheme: p.bdf.map(|b| if b.0 == 2 { Bdf::Two } else { Bdf::One }),
        friction: p.friction,
        stiffness: p.stiffness.map(|x| x.0),
        onset: p.onset.map(|x| x.0),
        damping: printed.or(p.damping.map(|x| ContactDamping::HuntCrossley(x.0))),
        joint_stiffness: p.joint_stiffness.map(|x| x.0),
    }
}

fn sleep(s: &SleepTable) -> Sleep {
    let d = Sleep::default();
    Sleep { speed: s.speed.map_or(d.speed, |x| x.0), time: s.time.map_or(d.time, |x| x.0) }
}

pub(super) fn pose(position: Option<Place>, rotation: Option<Rotation>) -> Pose {
    Pose { rotation: rotation.map_or(Quat::IDENTITY, |r| r.0), translation: or_zero(position) }
}

fn keyframe(k: &KeyframeTable, own: &Pose) -> Keyframe {
    let mut pose = *own;
    if let Some(p) = k.position {
        pose.translation = p.vec();
    }
    if let Some(r) = k.rotation {
        pose.rotation = r.0;
    }
    Keyframe { time: k.time.0, pose }
}

/// Friction of a particle, which has no directions: the mean of an elliptic default.
pub(super) fn mean_friction(f: Option<Friction>) -> f64 {
    match f {
        None => FRICTION,
        Some(Friction::Same(mu)) => mu.0,
        Some(Friction::Elliptic(e)) => (e.along.0 * e.across.0).sqrt(),
    }
}
