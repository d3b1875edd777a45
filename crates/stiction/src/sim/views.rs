//! What a simulation looks like now, by name: bodies, joints, soft bodies, rods, springs, particles, sensors, contact forces.
//!
//! A view borrows the simulation, so it ends before the next step. Keep names or ids across steps, not views. Positions and
//! velocities are those of the present state; contact and joint forces are those of the last step.

use super::Readout;
use crate::collide::Contact;
use crate::coords::{Anchor, BodyId, JointId, NodeId, Pose, RodId, SensorId, SoftId, SpringId};
use crate::error::{NameError, NameKind};
use crate::linalg::{Quat, Vec3};
use crate::model::{JointKind, ModelBody, ModelJoint, ModelRod, ModelSolid, Owner, Side};
use std::fmt;
use std::ops::Range;

/// A rigid body now.
#[derive(Clone, Copy)]
pub struct BodyView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) body: &'a ModelBody,
    pub(super) id: BodyId,
}

impl<'a> BodyView<'a> {
    /// Its id.
    pub fn id(&self) -> BodyId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.body.name
    }

    /// Mass [kg], with the soft nodes that it holds; infinite for fixed and kinematic bodies.
    pub fn mass(&self) -> f64 {
        self.body.mass
    }

    /// Pose of the body frame, the one in which the scene states its shapes.
    pub fn pose(&self) -> Pose {
        self.of.kin.body_pose(self.id)
    }

    /// Origin of the body frame [m].
    pub fn position(&self) -> Vec3 {
        self.pose().translation
    }

    /// Rotation from the body frame to the world.
    pub fn rotation(&self) -> Quat {
        self.of.kin.body(self.id).com.rotation
    }

    /// Centre of mass [m].
    pub fn centre_of_mass(&self) -> Vec3 {
        self.of.kin.body(self.id).com.translation
    }

    /// Velocity of the centre of mass [m/s].
    pub fn velocity(&self) -> Vec3 {
        self.of.kin.body(self.id).v
    }

    /// Angular velocity, world axes [rad/s].
    pub fn angular_velocity(&self) -> Vec3 {
        self.of.kin.body(self.id).w
    }

    /// Where a point of the body frame is in the world [m].
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.of.kin.position(&self.anchor(local))
    }

    /// Velocity of a point of the body frame [m/s].
    pub fn velocity_of(&self, local: Vec3) -> Vec3 {
        self.of.kin.velocity(&self.anchor(local))
    }

    /// Sum of the contact forces of the last step on it [N], world axes.
    pub fn force(&self) -> Vec3 {
        self.of.force_on(Owner::Body(self.id), None)
    }

    fn anchor(&self, local: Vec3) -> Anchor {
        Anchor::Body { body: self.id, local: local - self.body.com }
    }
}

/// A particle now.
#[derive(Clone, Copy)]
pub struct ParticleView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) id: NodeId,
}

impl<'a> ParticleView<'a> {
    /// Its id.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.of.kin.model.nodes[self.id.index()].name
    }

    /// Mass [kg].
    pub fn mass(&self) -> f64 {
        self.of.kin.model.nodes[self.id.index()].mass
    }

    /// Position [m].
    pub fn position(&self) -> Vec3 {
        self.of.kin.node_position(self.id)
    }

    /// Velocity [m/s].
    pub fn velocity(&self) -> Vec3 {
        self.of.kin.node_velocity(self.id)
    }

    /// Sum of the contact forces of the last step on it [N], world axes.
    pub fn force(&self) -> Vec3 {
        self.of.force_on(Owner::Node(self.id), None)
    }
}

/// A soft body or cloth now.
#[derive(Clone, Copy)]
pub struct SoftView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) solid: &'a ModelSolid,
    pub(super) id: SoftId,
}

impl<'a> SoftView<'a> {
    /// Its id.
    pub fn id(&self) -> SoftId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.solid.name
    }

    /// Mass of all vertices [kg], held ones included.
    pub fn mass(&self) -> f64 {
        self.solid.mass.iter().sum()
    }

    /// Positions of its vertices [m], in the order of its mesh.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Vec3> + use<'a> {
        let kin = self.of.kin;
        self.solid.vertices.iter().map(move |a| kin.position(a))
    }

    /// Velocities of its vertices [m/s], in the order of its mesh.
    pub fn vertex_velocities(&self) -> impl ExactSizeIterator<Item = Vec3> + use<'a> {
        let kin = self.of.kin;
        self.solid.vertices.iter().map(move |a| kin.velocity(a))
    }

    /// Position of one vertex [m]; nothing beyond the last.
    pub fn vertex(&self, i: usize) -> Option<Vec3> {
        self.solid.vertices.get(i).map(|a| self.of.kin.position(a))
    }

    /// Triangles of its surface, three vertices each, counter-clockwise seen from outside.
    pub fn surface(&self) -> &'a [[u32; 3]] {
        &self.solid.surface
    }

    /// Centre of mass [m].
    pub fn centre_of_mass(&self) -> Vec3 {
        let kin = self.of.kin;
        self.solid.mean(|a| kin.position(a))
    }

    /// Velocity of the centre of mass [m/s].
    pub fn velocity(&self) -> Vec3 {
        let kin = self.of.kin;
        self.solid.mean(|a| kin.velocity(a))
    }

    /// Sum of the contact forces of the last step on it [N], world axes.
    pub fn force(&self) -> Vec3 {
        self.of.force_on(Owner::Solid(self.id), None)
    }
}

/// A rod now: a line of links, each of which is a rigid body.
#[derive(Clone, Copy)]
pub struct RodView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) rod: &'a ModelRod,
    pub(super) id: RodId,
}

impl<'a> RodView<'a> {
    /// Its id.
    pub fn id(&self) -> RodId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.rod.name
    }

    /// Its links, from start to end. The frame of a link stands at its middle with z along it.
    pub fn links(&self) -> impl ExactSizeIterator<Item = BodyView<'a>> + use<'a> {
        let of = self.of;
        self.range().map(move |b| of.body_at(BodyId(b as u32)))
    }

    /// One link; nothing beyond the last.
    pub fn link(&self, i: usize) -> Option<BodyView<'a>> {
        self.links().nth(i)
    }

    /// Mass [kg].
    pub fn mass(&self) -> f64 {
        self.links().map(|l| l.mass()).sum()
    }

    /// Centre of mass [m].
    pub fn centre_of_mass(&self) -> Vec3 {
        self.links().map(|l| l.mass() * l.centre_of_mass()).sum::<Vec3>() / self.mass()
    }

    /// Velocity of the centre of mass [m/s].
    pub fn velocity(&self) -> Vec3 {
        self.links().map(|l| l.mass() * l.velocity()).sum::<Vec3>() / self.mass()
    }

    /// Sum of the contact forces of the last step on it [N], world axes; its links on each other add nothing.
    pub fn force(&self) -> Vec3 {
        self.of.force_between(&Side::Links(self.range()), None)
    }

    fn range(&self) -> Range<usize> {
        self.rod.links.clone()
    }
}

/// A spring now.
#[derive(Clone, Copy)]
pub struct SpringView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) id: SpringId,
}

impl<'a> SpringView<'a> {
    /// Its id.
    pub fn id(&self) -> SpringId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.of.kin.model.springs[self.id.index()].name
    }

    /// From its first end to its second [m], world axes.
    pub fn span(&self) -> Vec3 {
        self.of.kin.span(&self.of.kin.model.springs[self.id.index()])
    }

    /// Distance of its ends [m].
    pub fn length(&self) -> f64 {
        self.span().length()
    }
}

/// A joint now.
#[derive(Clone, Copy)]
pub struct JointView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) joint: &'a ModelJoint,
    pub(super) id: JointId,
}

impl<'a> JointView<'a> {
    /// Its id.
    pub fn id(&self) -> JointId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.joint.name
    }

    /// What it leaves free.
    pub fn kind(&self) -> JointKind {
        self.joint.kind
    }

    /// Position along its free direction [m or rad], b as seen from a; angles count full turns. Nothing for joints with no free
    /// direction or with several: balls, universal joints and welds.
    pub fn position(&self) -> Option<f64> {
        self.coordinate().map(|(x, _)| x)
    }

    /// Rate of the position [m/s or rad/s]; nothing where there is no position.
    pub fn rate(&self) -> Option<f64> {
        self.coordinate().map(|(_, rate)| rate)
    }

    /// Where its anchor on body b is [m]. Its force acts there.
    pub fn anchor(&self) -> Vec3 {
        self.of.kin.joint(self.joint).anchor_b
    }

    /// Force of the last step on its body b [N], world axes.
    pub fn force(&self) -> Vec3 {
        self.of.joint_force(self.id.index()).0
    }

    /// Moment of the last step about the anchor on its body b [N·m], world axes.
    pub fn moment(&self) -> Vec3 {
        self.of.joint_force(self.id.index()).1
    }

    fn coordinate(&self) -> Option<(f64, f64)> {
        self.joint.coordinate().map(|_| self.of.joint_position(self.id.index()))
    }
}

/// A sensor now.
#[derive(Clone, Copy)]
pub struct SensorView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) id: SensorId,
}

impl<'a> SensorView<'a> {
    /// Its id.
    pub fn id(&self) -> SensorId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.of.kin.model.sensors[self.id.index()].name
    }

    /// Names of its values, in order.
    pub fn columns(&self) -> &'static [&'static str] {
        self.of.kin.model.sensors[self.id.index()].columns()
    }

    /// Its values, one per column.
    pub fn values(&self) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.columns().len());
        self.of.read_sensor(self.id.index(), &mut out);
        out
    }

    /// The value of one column, such as `fz` or `position`.
    ///
    /// ```
    /// use stiction::scene::{Reads, Sensor};
    /// use stiction::{Body, Geometry, Scene, SimSettings, Simulation};
    ///
    /// let mut scene = Scene::default();
    /// scene.bodies.push(Body::new("ball", Geometry::Sphere { radius: 0.1 }).at(0.0, 0.0, 0.5));
    /// scene.sensors.push(Sensor { name: "height".into(), reads: Reads::Pose("ball".into()) });
    /// let sim = Simulation::new(scene.compile()?, SimSettings::default());
    /// assert_eq!(sim.sensor("height")?.value("z")?, 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value(&self, column: &str) -> Result<f64, NameError> {
        let columns = self.columns();
        let at = columns.iter().position(|c| *c == column);
        let at = at.ok_or_else(|| NameError::new(NameKind::Column, column, columns.iter().copied()))?;
        Ok(self.values()[at])
    }
}

/// A contact of the last step, as seen from one of its sides.
#[derive(Clone, Copy)]
pub struct ContactView<'a> {
    pub(super) of: Readout<'a>,
    pub(super) contact: &'a Contact,
    /// 1 as seen from side a, −1 from side b.
    pub(super) sign: f64,
    pub(super) force: Vec3,
}

impl<'a> ContactView<'a> {
    /// Name of the other side.
    pub fn with(&self) -> &'a str {
        let key = &self.contact.key;
        let other = if self.sign > 0.0 { key.shape_b } else { key.shape_a };
        self.of.kin.model.name_of(self.of.whole_of(other))
    }

    /// Force on this side [N], world axes.
    pub fn force(&self) -> Vec3 {
        self.sign * self.force
    }

    /// Unit normal, towards this side: a force along it pushes.
    pub fn normal(&self) -> Vec3 {
        self.sign * self.contact.normal()
    }

    /// Where the sides touch [m]: halfway between both points.
    pub fn point(&self) -> Vec3 {
        self.contact.point
    }

    /// Distance along the normal [m] that the step was solved with; negative where the sides overlap.
    pub fn gap(&self) -> f64 {
        self.contact.gap
    }

    /// The contact itself, with anchors, frame and friction.
    pub fn contact(&self) -> &'a Contact {
        self.contact
    }
}

/// Views print as what they are and their names.
macro_rules! debug {
    ($($view:ident),*) => {
        $(impl fmt::Debug for $view<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($view)).field(&self.name()).finish()
            }
        })*
    };
}

debug!(BodyView, ParticleView, SoftView, RodView, SpringView, JointView, SensorView);

impl fmt::Debug for ContactView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("ContactView");
        f.field("with", &self.with()).field("force", &self.force()).field("gap", &self.gap()).finish()
    }
}
