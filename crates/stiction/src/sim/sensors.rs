//! What sensors show.

use super::Readout;
use crate::linalg::Vec3;
use crate::model::{Owner, SensorKind};

impl Readout<'_> {
    /// Appends the values of sensor `i` (see [`ModelSensor::columns`](crate::model::ModelSensor::columns)).
    pub fn read_sensor(&self, i: usize, out: &mut Vec<f64>) {
        let kin = self.kin;
        match kin.model.sensors[i].kind {
            SensorKind::Pose(Owner::Body(b)) => {
                let p = kin.body_pose(b);
                out.extend(p.translation.to_array());
                out.extend([p.rotation.w, p.rotation.x, p.rotation.y, p.rotation.z]);
            }
            SensorKind::Pose(Owner::Node(n)) => {
                out.extend(kin.node_position(n).to_array());
            }
            SensorKind::Pose(Owner::Solid(s)) => {
                out.extend(kin.model.solids[s.index()].mean(|a| kin.position(a)).to_array());
            }
            SensorKind::Point { solid, vertices, weights } => {
                let x = |k: usize| kin.vertex_position(solid, vertices[k] as usize);
                out.extend((0..4).map(|k| weights[k] * x(k)).sum::<Vec3>().to_array());
            }
            SensorKind::Velocity(Owner::Body(b)) => {
                out.extend(kin.body(b).v.to_array());
                out.extend(kin.body(b).w.to_array());
            }
            SensorKind::Velocity(Owner::Node(n)) => {
                out.extend(kin.node_velocity(n).to_array());
            }
            SensorKind::Velocity(Owner::Solid(s)) => {
                out.extend(kin.model.solids[s.index()].mean(|a| kin.velocity(a)).to_array());
            }
            SensorKind::ContactForce(on) => out.extend(self.force_on(on, None).to_array()),
            SensorKind::PairForce(on, by) => out.extend(self.force_on(on, Some(by)).to_array()),
            SensorKind::Joint(j) => {
                let (x, rate) = self.joint_position(j);
                out.extend([x, rate]);
            }
            SensorKind::JointForce(j) => {
                let (force, moment) = self.joint_force(j);
                out.extend(force.to_array());
                out.extend(moment.to_array());
            }
            SensorKind::Energy => {
                let e = self.energy();
                out.extend([e.kinetic, e.potential, e.elastic, e.total()]);
            }
        }
    }
}
