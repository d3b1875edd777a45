//! Who has which name.

use super::{Model, Owner};
use crate::coords::{BodyId, ClothId, JointId, NodeId, RodId, SensorId, SoftId, SpringId};
use crate::error::{NameError, NameKind};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// An id that a name stands for.
pub trait Id: Copy {
    /// What it counts.
    const KIND: NameKind;

    /// The id of a place in the list that it counts.
    fn at(index: u32) -> Self;
}

macro_rules! named {
    ($($id:ident: $kind:ident),*) => {
        $(impl Id for $id {
            const KIND: NameKind = NameKind::$kind;

            fn at(index: u32) -> $id {
                $id(index)
            }
        })*
    };
}

named!(BodyId: Body, NodeId: Particle, SoftId: Soft, ClothId: Cloth, RodId: Rod, SpringId: Spring);
named!(JointId: Joint, SensorId: Sensor);

/// What contacts can act on as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// A body, soft body, cloth or particle.
    Owner(Owner),
    /// The links of a rod, a range of [`Model::bodies`].
    Links(Range<usize>),
}

impl Side {
    /// Is the owner of a shape it, or part of it? Nodes of soft bodies count as the [whole](Model::whole).
    pub fn has(&self, whole: Owner) -> bool {
        match (self, whole) {
            (Side::Owner(mine), _) => *mine == whole,
            (Side::Links(links), Owner::Body(b)) => links.contains(&b.index()),
            (Side::Links(_), _) => false,
        }
    }
}

/// Kinds that have a table of their own.
const KINDS: [NameKind; 8] = [
    NameKind::Body,
    NameKind::Particle,
    NameKind::Soft,
    NameKind::Cloth,
    NameKind::Rod,
    NameKind::Spring,
    NameKind::Joint,
    NameKind::Sensor,
];

/// Names of a kind, unique within it, and their places in the list of the model.
#[derive(Clone, Debug, Default)]
struct Table {
    list: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
}

/// Names of a model. Bodies, soft bodies, cloth and particles share one set of names; rods, springs, joints and sensors have one
/// each. Links of the rod `rope` are the bodies `rope[0]`, `rope[1]`, … The nodes of soft bodies have no names.
///
/// ```
/// use stiction::coords::BodyId;
/// use stiction::{Body, Geometry, Scene};
///
/// let mut scene = Scene::default();
/// scene.bodies.push(Body::new("floor", Geometry::Plane).fixed());
/// scene.bodies.push(Body::new("ball", Geometry::Sphere { radius: 0.1 }));
/// let model = scene.compile()?;
/// assert_eq!(model.names.find("ball"), Ok(BodyId(1)));
/// let unknown = model.names.find::<BodyId>("bal").unwrap_err();
/// assert_eq!(unknown.nearest.as_deref(), Some("ball"));
/// # Ok::<(), stiction::SceneError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// One of each of the [`KINDS`], shared by copies of the model.
    tables: Arc<[Table; KINDS.len()]>,
    /// Links of each rod.
    links: Vec<Range<usize>>,
}

impl Names {
    /// Of a model whose lists are complete.
    pub(crate) fn of(model: &Model) -> Names {
        let solids = model.solids.iter().map(|s| s.name.as_str());
        let cloth = model.sheets.iter().map(|s| model.solids[s.solid.index()].name.as_str());
        let particles = model.nodes.iter().take_while(|n| n.solid.is_none());
        Names {
            tables: Arc::new([
                Table::of(model.bodies.iter().map(|b| b.name.as_str())),
                Table::of(particles.map(|n| n.name.as_str())),
                Table::of(solids),
                Table::of(cloth),
                Table::of(model.rods.iter().map(|r| r.name.as_str())),
                Table::of(model.springs.iter().map(|s| s.name.as_str())),
                Table::of(model.joints.iter().map(|j| j.name.as_str())),
                Table::of(model.sensors.iter().map(|s| s.name.as_str())),
            ]),
            links: model.rods.iter().map(|r| r.links.clone()).collect(),
        }
    }

    /// The id of a name: [`BodyId`], [`NodeId`] (of a particle), [`SoftId`] (of a soft body or cloth), [`ClothId`], [`RodId`],
    /// [`SpringId`], [`JointId`] or [`SensorId`].
    pub fn find<I: Id>(&self, name: &str) -> Result<I, NameError> {
        self.place(I::KIND, name).map(I::at).ok_or_else(|| self.unknown(I::KIND, name))
    }

    /// The body, soft body, cloth or particle of a name.
    pub fn owner(&self, name: &str) -> Result<Owner, NameError> {
        self.owner_of(name).ok_or_else(|| self.unknown(NameKind::Owner, name))
    }

    /// What contacts can act on: the owner of a name, or the rod of that name as a whole where no owner has it.
    pub fn side(&self, name: &str) -> Result<Side, NameError> {
        if let Some(owner) = self.owner_of(name) {
            return Ok(Side::Owner(owner));
        }
        let rod = self.place(NameKind::Rod, name).ok_or_else(|| self.unknown(NameKind::Side, name))?;
        Ok(Side::Links(self.links[rod as usize].clone()))
    }

    /// The names of a kind in the order of the model; those of owners are bodies, then particles, then soft bodies and cloth.
    pub fn known(&self, kind: NameKind) -> impl Iterator<Item = &str> {
        let wanted = move |k: NameKind| match kind {
            NameKind::Owner => matches!(k, NameKind::Body | NameKind::Particle | NameKind::Soft),
            NameKind::Side => {
                matches!(k, NameKind::Body | NameKind::Particle | NameKind::Soft | NameKind::Rod)
            }
            _ => k == kind,
        };
        let tables = KINDS.iter().zip(&*self.tables).filter(move |(k, _)| wanted(**k));
        tables.flat_map(|(_, t)| t.list.iter().map(|n| &**n))
    }

    fn table(&self, kind: NameKind) -> Option<&Table> {
        KINDS.iter().position(|k| *k == kind).map(|i| &self.tables[i])
    }

    fn place(&self, kind: NameKind, name: &str) -> Option<u32> {
        self.table(kind)?.places.get(name).copied()
    }

    fn owner_of(&self, name: &str) -> Option<Owner> {
        let body = self.place(NameKind::Body, name).map(|i| Owner::Body(BodyId(i)));
        let particle = || self.place(NameKind::Particle, name).map(|i| Owner::Node(NodeId(i)));
        let soft = || self.place(NameKind::Soft, name).map(|i| Owner::Solid(SoftId(i)));
        body.or_else(particle).or_else(soft)
    }

    fn unknown(&self, kind: NameKind, name: &str) -> NameError {
        let e = NameError::new(kind, name, self.known(kind));
        // Cloth before soft bodies, whose table holds it, too.
        let other = |k: &&NameKind| **k != NameKind::Soft && self.place(**k, name).is_some();
        let soft = self.place(NameKind::Soft, name).map(|_| NameKind::Soft);
        match KINDS.iter().find(other).copied().or(soft) {
            Some(other) => e.but_is(other),
            None => e,
        }
    }
}

impl Table {
    fn of<'a>(names: impl Iterator<Item = &'a str>) -> Table {
        let list: Vec<Box<str>> = names.map(Box::from).collect();
        let places = list.iter().enumerate().map(|(i, n)| (n.clone(), i as u32)).collect();
        Table { list, places }
    }
}
