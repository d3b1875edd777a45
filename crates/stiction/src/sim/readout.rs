//! What can be read of a simulation: the present state and the last step, by name.

use super::{
    BodyView, ContactView, JointView, ParticleView, RodView, SensorView, Simulation, SoftView, SpringView,
};
use crate::collide::Contact;
use crate::coords::{BodyId, JointId, NodeId, RodId, SensorId, ShapeId, SoftId, SpringId};
use crate::error::NameError;
use crate::kinematics::Kinematics;
use crate::linalg::Vec3;
use crate::model::{Owner, Side};
use crate::steppers::velocity::coordinate;
use crate::steppers::{Energy, Memory, StepOutput, report};

/// The present state and the last step of a simulation, or of one world of a [`Batch`](super::Batch). Everything that is read
/// comes from here, whichever method took the step. Ids are those of its own model: an id of another model panics or means
/// something else.
#[derive(Clone, Copy)]
pub struct Readout<'a> {
    /// The model at the present state.
    pub kin: Kinematics<'a>,
    /// What carries over to the next step.
    pub memory: &'a Memory,
    /// The record of the last step.
    pub out: &'a StepOutput,
}

impl<'a> Readout<'a> {
    /// A rigid body by name. Links of the rod `rope` are `rope[0]`, `rope[1]`, …
    pub fn body(&self, name: &str) -> Result<BodyView<'a>, NameError> {
        Ok(self.body_at(self.kin.model.names.find(name)?))
    }

    /// A rigid body by id.
    pub fn body_at(&self, id: BodyId) -> BodyView<'a> {
        BodyView { of: *self, body: &self.kin.model.bodies[id.index()], id }
    }

    /// A particle by name.
    pub fn particle(&self, name: &str) -> Result<ParticleView<'a>, NameError> {
        Ok(self.particle_at(self.kin.model.names.find(name)?))
    }

    /// A particle by id.
    pub fn particle_at(&self, id: NodeId) -> ParticleView<'a> {
        ParticleView { of: *self, id }
    }

    /// A soft body or cloth by name.
    pub fn soft(&self, name: &str) -> Result<SoftView<'a>, NameError> {
        Ok(self.soft_at(self.kin.model.names.find(name)?))
    }

    /// A soft body or cloth by id.
    pub fn soft_at(&self, id: SoftId) -> SoftView<'a> {
        SoftView { of: *self, solid: &self.kin.model.solids[id.index()], id }
    }

    /// A rod by name.
    pub fn rod(&self, name: &str) -> Result<RodView<'a>, NameError> {
        Ok(self.rod_at(self.kin.model.names.find(name)?))
    }

    /// A rod by id.
    pub fn rod_at(&self, id: RodId) -> RodView<'a> {
        RodView { of: *self, rod: &self.kin.model.rods[id.index()], id }
    }

    /// A spring by name.
    pub fn spring(&self, name: &str) -> Result<SpringView<'a>, NameError> {
        Ok(self.spring_at(self.kin.model.names.find(name)?))
    }

    /// A spring by id.
    pub fn spring_at(&self, id: SpringId) -> SpringView<'a> {
        SpringView { of: *self, id }
    }

    /// A joint by name.
    pub fn joint(&self, name: &str) -> Result<JointView<'a>, NameError> {
        Ok(self.joint_at(self.kin.model.names.find(name)?))
    }

    /// A joint by id.
    pub fn joint_at(&self, id: JointId) -> JointView<'a> {
        JointView { of: *self, joint: &self.kin.model.joints[id.index()], id }
    }

    /// A sensor by name.
    pub fn sensor(&self, name: &str) -> Result<SensorView<'a>, NameError> {
        Ok(self.sensor_at(self.kin.model.names.find(name)?))
    }

    /// A sensor by id.
    pub fn sensor_at(&self, id: SensorId) -> SensorView<'a> {
        SensorView { of: *self, id }
    }

    /// Sum of the contact forces of the last step on one thing [N], world axes: those by another one, or by anything. Bodies, soft
    /// bodies, cloth, particles and rods have such forces. Contacts of a thing with itself add nothing.
    pub fn force(&self, on: &str, by: Option<&str>) -> Result<Vec3, NameError> {
        let (on, by) =
            (self.kin.model.names.side(on)?, by.map(|name| self.kin.model.names.side(name)).transpose()?);
        Ok(self.force_between(&on, by.as_ref()))
    }

    /// Contacts of the last step that a body, soft body, cloth, particle or rod takes part in, those of sleeping bodies last, as
    /// seen from it. A contact of a thing with itself comes once, as seen from side a of the contact. Where more contacts hold
    /// something than it needs, such as the four corners of a box, their single forces are not unique, but their sum is: see
    /// [`force`](Self::force).
    pub fn contacts_of(
        &self,
        name: &str,
    ) -> Result<impl Iterator<Item = ContactView<'a>> + use<'a>, NameError> {
        let side = self.kin.model.names.side(name)?;
        let of = *self;
        Ok(self.contacts().filter_map(move |(contact, force)| {
            let is_a = side.has(of.whole_of(contact.key.shape_a));
            let touches = is_a || side.has(of.whole_of(contact.key.shape_b));
            touches.then_some(ContactView { of, contact, sign: if is_a { 1.0 } else { -1.0 }, force })
        }))
    }

    /// The whole body to which a shape belongs.
    pub(super) fn whole_of(&self, shape: ShapeId) -> Owner {
        self.kin.model.whole(self.kin.model.shapes[shape.index()].owner)
    }

    /// Sum of the contact forces [N] on one side, by another one or by anything.
    pub(super) fn force_between(&self, on: &Side, by: Option<&Side>) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for (c, f) in self.contacts() {
            let (a, b) = (self.whole_of(c.key.shape_a), self.whole_of(c.key.shape_b));
            let (on_a, on_b) = (on.has(a), on.has(b));
            if on_a && !on_b && by.is_none_or(|o| o.has(b)) {
                sum += f;
            } else if on_b && !on_a && by.is_none_or(|o| o.has(a)) {
                sum -= f;
            }
        }
        sum
    }

    /// The contacts of the last step with the force [N], world axes, on side a; those of sleeping bodies last.
    pub fn contacts(&self) -> impl Iterator<Item = (&'a Contact, Vec3)> + use<'a> {
        self.out.contacts.iter().zip(self.out.forces.iter().copied())
    }

    /// Position [m or rad] and rate of joint `j` along its free direction, b as seen from a; zeros where it has none.
    pub fn joint_position(&self, j: usize) -> (f64, f64) {
        coordinate(self.kin, &self.memory.joints, j)
    }

    /// Force [N] and moment about the anchor [N·m], world axes, of joint `j` on its body b in the last step.
    pub fn joint_force(&self, j: usize) -> (Vec3, Vec3) {
        self.out.joints.get(j).copied().unwrap_or_default()
    }

    /// Sum of contact forces [N], world axes, on `on`, by anything or by one other; contacts of `on` with itself add nothing.
    pub fn force_on(&self, on: Owner, by: Option<Owner>) -> Vec3 {
        self.force_between(&Side::Owner(on), by.map(Side::Owner).as_ref())
    }

    /// Energies of the present state, found anew from every element.
    pub fn energy(&self) -> Energy {
        report::energy(self.kin)
    }
}

/// What is in it, by name and by id.
impl Simulation {
    /// A rigid body by name. Links of the rod `rope` are `rope[0]`, `rope[1]`, …
    ///
    /// ```
    /// use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
    ///
    /// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    /// scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    /// let half = Vec3::splat(0.1);
    /// scene.bodies.push(Body::new("crate", Geometry::Box { half }).with_mass(2.0).at(0.0, 0.0, 0.1));
    /// let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
    /// sim.step(0.01)?;
    ///
    /// let body = sim.body("crate")?;
    /// assert!((body.position() - Vec3::new(0.0, 0.0, 0.1)).length() < 1e-9);
    /// assert!((body.force().z - 2.0 * 9.81).abs() < 1e-6);
    /// let unknown = sim.body("crat").unwrap_err();
    /// assert_eq!(unknown.nearest.as_deref(), Some("crate"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn body(&self, name: &str) -> Result<BodyView<'_>, NameError> {
        self.readout().body(name)
    }

    /// A rigid body by id.
    pub fn body_at(&self, id: BodyId) -> BodyView<'_> {
        self.readout().body_at(id)
    }

    /// A particle by name.
    pub fn particle(&self, name: &str) -> Result<ParticleView<'_>, NameError> {
        self.readout().particle(name)
    }

    /// A particle by id.
    pub fn particle_at(&self, id: NodeId) -> ParticleView<'_> {
        self.readout().particle_at(id)
    }

    /// A soft body or cloth by name.
    ///
    /// ```
    /// use stiction::elastic::Preset;
    /// use stiction::mesh::shapes;
    /// use stiction::scene::SoftBody;
    /// use stiction::{Scene, SimSettings, Simulation, Vec3};
    ///
    /// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    /// let mesh = shapes::block([1, 1, 1], Vec3::splat(0.1));
    /// scene.solids.push(SoftBody::new("jelly", mesh, Preset::Rubber.material()));
    /// let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
    /// let before = sim.soft("jelly")?.centre_of_mass();
    /// sim.step(0.01)?;
    /// let jelly = sim.soft("jelly")?;
    /// assert!((jelly.velocity().z + 9.81 * 0.01).abs() < 1e-9);
    /// assert!(jelly.centre_of_mass().z < before.z);
    /// let lowest = jelly.vertices().map(|x| x.z).fold(f64::INFINITY, f64::min);
    /// assert!(lowest < jelly.centre_of_mass().z);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn soft(&self, name: &str) -> Result<SoftView<'_>, NameError> {
        self.readout().soft(name)
    }

    /// A soft body or cloth by id.
    pub fn soft_at(&self, id: SoftId) -> SoftView<'_> {
        self.readout().soft_at(id)
    }

    /// A rod by name.
    pub fn rod(&self, name: &str) -> Result<RodView<'_>, NameError> {
        self.readout().rod(name)
    }

    /// A rod by id.
    pub fn rod_at(&self, id: RodId) -> RodView<'_> {
        self.readout().rod_at(id)
    }

    /// A spring by name.
    pub fn spring(&self, name: &str) -> Result<SpringView<'_>, NameError> {
        self.readout().spring(name)
    }

    /// A spring by id.
    pub fn spring_at(&self, id: SpringId) -> SpringView<'_> {
        self.readout().spring_at(id)
    }

    /// A joint by name.
    ///
    /// ```
    /// use stiction::scene::{Joint, JointKind};
    /// use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
    ///
    /// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    /// let half = Vec3::splat(0.1);
    /// scene.bodies.push(Body::new("arm", Geometry::Box { half }).with_mass(1.0).at(0.0, 0.0, -0.5));
    /// scene.joints.push(Joint::to_world("elbow", JointKind::Hinge, "arm").at(Vec3::ZERO).about(Vec3::Y));
    /// let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
    /// sim.step(0.01)?;
    /// let elbow = sim.joint("elbow")?;
    /// assert!(elbow.position().unwrap().abs() < 1e-9, "the arm hangs straight down");
    /// assert!((elbow.force().z - 9.81).abs() < 1e-6, "the joint carries the weight of the arm");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn joint(&self, name: &str) -> Result<JointView<'_>, NameError> {
        self.readout().joint(name)
    }

    /// A joint by id.
    pub fn joint_at(&self, id: JointId) -> JointView<'_> {
        self.readout().joint_at(id)
    }

    /// A sensor by name.
    pub fn sensor(&self, name: &str) -> Result<SensorView<'_>, NameError> {
        self.readout().sensor(name)
    }

    /// A sensor by id.
    pub fn sensor_at(&self, id: SensorId) -> SensorView<'_> {
        self.readout().sensor_at(id)
    }

    /// Sum of the contact forces of the last step on one thing [N], world axes: those by another one, or by anything. Bodies, soft
    /// bodies, cloth, particles and rods have such forces. Contacts of a thing with itself add nothing.
    ///
    /// ```
    /// use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
    ///
    /// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    /// let cube = |name| Body::new(name, Geometry::Box { half: Vec3::splat(0.1) }).with_mass(1.0);
    /// scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    /// scene.bodies.push(cube("lower").at(0.0, 0.0, 0.1));
    /// scene.bodies.push(cube("upper").at(0.0, 0.0, 0.3));
    /// let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
    /// sim.step(0.01)?;
    /// assert!((sim.force("lower", Some("floor"))?.z - 2.0 * 9.81).abs() < 1e-6);
    /// assert!((sim.force("lower", Some("upper"))?.z + 9.81).abs() < 1e-6);
    /// assert!((sim.force("lower", None)?.z - 9.81).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn force(&self, on: &str, by: Option<&str>) -> Result<Vec3, NameError> {
        self.readout().force(on, by)
    }

    /// Contacts of the last step that a body, soft body, cloth, particle or rod takes part in, those of sleeping bodies last, as
    /// seen from it. A contact of a thing with itself comes once, as seen from side a of the contact. Where more contacts hold
    /// something than it needs, such as the four corners of a box, their single forces are not unique, but their sum is: see
    /// [`force`](Self::force).
    ///
    /// ```
    /// use stiction::{Body, Geometry, Scene, SimSettings, Simulation, Vec3};
    ///
    /// let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    /// scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
    /// scene.bodies.push(Body::new("ball", Geometry::Sphere { radius: 0.1 }).with_mass(1.0).at(0.0, 0.0, 0.1));
    /// let mut sim = Simulation::new(scene.compile()?, SimSettings::default());
    /// sim.step(0.01)?;
    /// for contact in sim.contacts_of("ball")? {
    ///     assert_eq!(contact.with(), "floor");
    ///     assert!((contact.normal() - Vec3::Z).length() < 1e-9, "it points into the ball");
    ///     assert!((contact.force().z - 9.81).abs() < 1e-6);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn contacts_of(&self, name: &str) -> Result<impl Iterator<Item = ContactView<'_>>, NameError> {
        self.readout().contacts_of(name)
    }
}
