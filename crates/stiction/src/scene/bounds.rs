//! Bounds of lengths and times: what lies beyond them is a slip of units, and its squares and products leave what numbers can hold.

use super::compile::err;
use super::{Geometry, JointAnchor, MassSpec, Reads, Scene};
use crate::error::SceneError;
use crate::linalg::Vec3;
use crate::model::Motion;

/// Largest length and coordinate of a scene [m].
pub const LONGEST: f64 = 1e9;

/// Smallest size of a shape in a scene file [m].
pub const SHORTEST: f64 = 1e-9;

/// Smallest time step of a scene file and of the command line [s].
pub const SHORTEST_STEP: f64 = 1e-9;

/// Largest time step of a scene file and of the command line [s].
pub const LONGEST_STEP: f64 = 1e3;

/// Longest run [s].
pub const LONGEST_RUN: f64 = 1e9;

/// What is not finite has errors of its own.
fn length(item: &str, what: &str, x: f64) -> Result<(), SceneError> {
    if x.is_finite() && x.abs() > LONGEST {
        return err(
            item,
            format!("{what} is {x:e} m; lengths and coordinates are at most {LONGEST:e} m, check the units"),
        );
    }
    Ok(())
}

fn place(item: &str, what: &str, p: Vec3) -> Result<(), SceneError> {
    p.to_array().into_iter().try_for_each(|x| length(item, what, x))
}

fn places(item: &str, what: &str, all: &[Vec3]) -> Result<(), SceneError> {
    all.iter().try_for_each(|p| place(item, what, *p))
}

fn geometry(item: &str, g: &Geometry) -> Result<(), SceneError> {
    match g {
        Geometry::Plane => Ok(()),
        Geometry::Sphere { radius } => length(item, "its radius", *radius),
        Geometry::Box { half } => place(item, "its half size", *half),
        Geometry::Capsule { half_height, radius }
        | Geometry::Cylinder { half_height, radius }
        | Geometry::Cone { half_height, radius } => {
            length(item, "its half height", *half_height)?;
            length(item, "its radius", *radius)
        }
        Geometry::ConvexHull { points } => places(item, "a point of its hull", points),
        Geometry::TriMesh { vertices, .. } => places(item, "a vertex of its mesh", vertices),
        Geometry::Heightfield(f) => {
            f.size.iter().try_for_each(|x| length(item, "its size", *x))?;
            f.heights.iter().chain(&f.base).try_for_each(|x| length(item, "a height", *x))
        }
    }
}

impl Scene {
    /// Refuses lengths and coordinates beyond [`LONGEST`], wherever they come from: copies, factors and meshes too.
    pub(super) fn check_lengths(&self) -> Result<(), SceneError> {
        length("contact", "the margin", self.contact.margin.unwrap_or(0.0))?;
        length("contact", "the thickness", self.contact.thickness)?;
        for b in &self.bodies {
            let item = format!("body `{}`", b.name);
            place(&item, "its position", b.pose.translation)?;
            for s in &b.shapes {
                place(&item, "the position of a shape", s.pose.translation)?;
                geometry(&item, &s.geometry)?;
            }
            if let MassSpec::Given { com, .. } = &b.mass {
                place(&item, "its centre of mass", *com)?;
            }
            if let Motion::Keyframes { keys, .. } = &b.motion {
                keys.iter().try_for_each(|k| place(&item, "a keyframe", k.pose.translation))?;
            }
        }
        for p in &self.particles {
            let item = format!("particle `{}`", p.name);
            place(&item, "its position", p.position)?;
            length(&item, "its radius", p.radius)?;
        }
        for s in &self.solids {
            let item = format!("soft body `{}`", s.name);
            place(&item, "its position", s.pose.translation)?;
            places(&item, "a vertex of its mesh", &s.mesh.vertices)?;
            length(&item, "its thickness", s.thickness)?;
        }
        for s in &self.sheets {
            let item = format!("cloth `{}`", s.name);
            place(&item, "its position", s.pose.translation)?;
            s.size
                .iter()
                .chain([&s.thickness])
                .try_for_each(|x| length(&item, "its size or thickness", *x))?;
        }
        for r in &self.rods {
            let item = format!("rod `{}`", r.name);
            places(&item, "a point of its line", &r.points)?;
            length(&item, "its radius", r.section.radius)?;
            length(&item, "its corner radius", r.corner_radius)?;
        }
        for s in &self.springs {
            let item = format!("spring `{}`", s.name);
            s.ends.iter().try_for_each(|e| place(&item, "the point of an end", e.at))?;
            length(&item, "its rest length", s.rest_length.unwrap_or(0.0))?;
        }
        for f in &self.forces {
            place(&format!("force on `{}`", f.target), "the point of attack", f.at.unwrap_or(Vec3::ZERO))?;
        }
        for j in &self.joints {
            let item = format!("joint `{}`", j.name);
            match &j.anchor {
                JointAnchor::OriginOfB => {}
                JointAnchor::World(p) => place(&item, "its place", *p)?,
                JointAnchor::Points { a, b } => places(&item, "an anchor", &[*a, *b])?,
            }
        }
        for s in &self.sensors {
            if let Reads::Point { at, .. } = &s.reads {
                place(&format!("sensor `{}`", s.name), "the point", *at)?;
            }
        }
        Ok(())
    }
}
