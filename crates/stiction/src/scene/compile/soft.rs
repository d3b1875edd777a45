//! Deformable solids: from the user's description to numbered nodes, held vertices and elements.

use super::mass::MassProps;
use super::spring::not_negative;
use super::{err, find, friction_coefficient, pose, restitution, vector};
use crate::coords::{Anchor, BlockKind, BodyId, NodeId, Pose, ShapeId, SoftId};
use crate::elastic::{Elements, Fibre, Material};
use crate::error::SceneError;
use crate::linalg::{Mat3, Vec3};
use crate::mesh::{Locator, Surface, TetMesh};
use crate::model::{EmbeddedSurface, Model, ModelNode, ModelShape, ModelSolid, Owner, SurfaceFriction};
use crate::scene::{Attachment, FibreLayer, Filling, MassMatrix, NodeSelection, Scene, SoftBody};
use parry3d_f64::query::PointQueryWithLocation;
use parry3d_f64::shape::{SharedShape, Triangle};
use std::collections::HashMap;
use std::sync::Arc;

pub(super) type Names<'a> = HashMap<&'a str, Owner>;

impl Scene {
    /// Masses of the soft nodes that each body holds, in the frame of the body.
    pub(super) fn held_masses(&self, names: &Names) -> Result<Vec<Vec<MassProps>>, SceneError> {
        let mut held = vec![Vec::new(); self.bodies.len()];
        for solid in &self.solids {
            let item = format!("soft body `{}`", solid.name);
            solid.check(&item)?;
            let place = pose(&item, "the pose", &solid.pose)?;
            let mass = solid.lumped_mass();
            for (i, holder) in solid.holders(&item, names)?.into_iter().enumerate() {
                if let Some(Holder::Body(b)) = holder {
                    let frame = &self.bodies[b.index()].pose;
                    let com = frame.inverse_transform_point(place.transform_point(solid.mesh.vertices[i]));
                    held[b.index()].push(MassProps { mass: mass[i], com, inertia: Mat3::ZERO });
                }
            }
        }
        for sheet in &self.sheets {
            sheet.held_masses(&self.bodies, names, &mut held)?;
        }
        Ok(held)
    }
}

/// Who holds a vertex.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Holder {
    World,
    Body(BodyId),
}

impl Holder {
    /// The point that is at `x` at t = 0.
    pub(super) fn anchor(self, model: &Model, x: Vec3) -> Anchor {
        match self {
            Holder::World => Anchor::World { p: x },
            Holder::Body(b) => {
                let body = &model.bodies[b.index()];
                Anchor::Body { body: b, local: body.pose_at_start().inverse_transform_point(x) - body.com }
            }
        }
    }
}

impl SoftBody {
    fn check(&self, item: &str) -> Result<(), SceneError> {
        self.mesh.check().map_err(|e| SceneError::new(item, format!("{e}; {}", e.remedy())))?;
        self.material.check().map_err(|e| SceneError::new(item, e.to_string()))?;
        vector(item, "the velocity", self.velocity)?;
        vector(item, "the spin", self.spin)?;
        friction_coefficient(item, self.friction)?;
        restitution(item, self.restitution)?;
        self.damping.check().map_err(|e| SceneError::new(item, e.to_string()))?;
        for (k, layer) in self.fibres.iter().enumerate() {
            let which = format!("{item}, fibre layer {}", k + 1);
            self.some_tets_in(&which, layer.min, layer.max)?;
            vector(&which, "the direction", layer.direction)?;
            if layer.direction == Vec3::ZERO {
                return err(which, "the direction has zero length; give one along the fibres");
            }
            not_negative(&which, "the stiffness", layer.stiffness)?;
            if !layer.tension.is_finite() {
                return err(which, format!("the tension must be finite; got {}", layer.tension));
            }
        }
        for (k, inflation) in self.inflations.iter().enumerate() {
            let which = format!("{item}, inflation {}", k + 1);
            self.some_tets_in(&which, inflation.min, inflation.max)?;
            let keys = &inflation.pressure;
            let good =
                keys.iter().flatten().all(|x| x.is_finite()) && keys.windows(2).all(|w| w[0][0] < w[1][0]);
            if keys.is_empty() || !good {
                return err(which, "it needs finite pressures at increasing times, and at least one");
            }
        }
        for (k, filling) in self.fillings.iter().enumerate() {
            let which = format!("{item}, filling {}", k + 1);
            self.some_tets_in(&which, filling.min, filling.max)?;
            self.filled_with(filling).check().map_err(|e| SceneError::new(which, e.to_string()))?;
        }
        not_negative(item, "thickness", self.thickness)
    }

    fn filled_with(&self, filling: &Filling) -> Material {
        Material { young: filling.young, poisson: filling.poisson, ..self.material }
    }

    /// The material of the body and of its fillings, and which of them each tetrahedron has.
    fn materials_by_tet(&self) -> (Vec<Material>, Vec<u32>) {
        let mut materials = vec![self.material];
        let mut of = vec![0; self.mesh.tets.len()];
        for filling in &self.fillings {
            let number = materials.len() as u32;
            materials.push(self.filled_with(filling));
            self.tets_in(filling.min, filling.max).into_iter().for_each(|t| of[t as usize] = number);
        }
        (materials, of)
    }

    /// An error where a box holds the middle of no tetrahedron.
    fn some_tets_in(&self, which: &str, min: Vec3, max: Vec3) -> Result<(), SceneError> {
        if !self.tets_in(min, max).is_empty() {
            return Ok(());
        }
        let (low, high) = bounds(&self.mesh.vertices);
        err(
            which,
            format!(
                "no tetrahedron has its middle in the box from {min} to {max}; the mesh reaches from {low} to {high} m"
            ),
        )
    }

    /// Tetrahedra whose middle lies in a box.
    fn tets_in(&self, min: Vec3, max: Vec3) -> Vec<u32> {
        let middle = |t: usize| self.mesh.corners(t).iter().sum::<Vec3>() / 4.0;
        let inside = |t: &usize| middle(*t).cmpge(min).all() && middle(*t).cmple(max).all();
        (0..self.mesh.tets.len()).filter(inside).map(|t| t as u32).collect()
    }

    fn fibres_by_tet(&self) -> Vec<Fibre> {
        let layer = |l: &FibreLayer| {
            let FibreLayer { direction, stiffness, tension, .. } = *l;
            self.tets_in(l.min, l.max).into_iter().map(move |tet| Fibre {
                tet,
                direction,
                stiffness,
                tension,
            })
        };
        self.fibres.iter().flat_map(layer).collect()
    }

    fn embed_visual(&self, item: &str) -> Result<Option<EmbeddedSurface>, SceneError> {
        let Some(v) = &self.visual else { return Ok(None) };
        if let Some(i) = v.vertices.iter().position(|x| !x.is_finite()) {
            return err(item, format!("vertex {i} of the visual surface is not finite; export it again"));
        }
        let count = v.vertices.len() as u32;
        if let Some(t) = v.triangles.iter().position(|t| t.iter().any(|&k| k >= count)) {
            return err(
                item,
                format!("triangle {t} of the visual surface names a vertex beyond its {count}; count from 0"),
            );
        }
        let vertices = Locator::new(&self.mesh).embed_surface(v);
        Ok(Some(EmbeddedSurface { vertices, triangles: v.triangles.clone() }))
    }

    /// A quarter of each tetrahedron to each of its vertices [kg].
    fn lumped_mass(&self) -> Vec<f64> {
        let mut mass = vec![0.0; self.mesh.vertices.len()];
        for (t, volume) in self.mesh.tets.iter().zip(self.mesh.volumes()) {
            for &v in t {
                mass[v as usize] += 0.25 * self.material.density * volume;
            }
        }
        mass
    }

    /// Who holds each vertex.
    fn holders(&self, item: &str, names: &Names) -> Result<Vec<Option<Holder>>, SceneError> {
        holders(item, &self.attachments, &self.mesh.vertices, names)
    }

    /// Numbers the nodes and adds the solid. Bodies are in the model already, with the masses that they hold.
    pub(super) fn add_to(&self, model: &mut Model, names: &Names) -> Result<(), SceneError> {
        let item = format!("soft body `{}`", self.name);
        let place = pose(&item, "the pose", &self.pose)?;
        let id = SoftId(model.solids.len() as u32);
        let mass = self.lumped_mass();
        let surface = Surface::of(&self.mesh).triangles;
        let mut on_surface = vec![false; mass.len()];
        for &v in surface.iter().flatten() {
            on_surface[v as usize] = true;
        }
        let start: Vec<Vec3> = self.mesh.vertices.iter().map(|x| place.transform_point(*x)).collect();
        let centre = start.iter().zip(&mass).map(|(x, m)| *x * *m).sum::<Vec3>() / mass.iter().sum::<f64>();
        let edge = self.mesh.mean_edge();
        let skin = skin(id, self.thickness, self.friction, self.restitution, edge);
        let first = model.nodes.len();
        let mut vertices = Vec::with_capacity(mass.len());
        for (i, holder) in self.holders(&item, names)?.into_iter().enumerate() {
            let x = start[i];
            vertices.push(match holder {
                Some(holder) => holder.anchor(model, x),
                None => {
                    let v = self.velocity + self.spin.cross(x - centre);
                    let touches = (on_surface[i] && self.collide).then_some(&skin);
                    add_node(model, format!("{}[{i}]", self.name), id, (x, v), mass[i], touches)
                }
            });
        }
        if model.nodes.len() == first {
            model.warnings.push(format!("{item}: every node is held, so it does not deform freely"));
        }
        let (materials, material_of) = self.materials_by_tet();
        let elements =
            Elements::new(&self.mesh.vertices, &self.mesh.tets, &materials, &material_of, self.damping)
                .and_then(|e| e.with_fibres(&self.fibres_by_tet()))
                .map_err(|e| SceneError::new(&item, e.to_string()))?;
        model.solids.push(ModelSolid {
            inflations: self.inflations.iter().map(|i| (i.clone(), self.tets_in(i.min, i.max))).collect(),
            visual: self.embed_visual(&item)?.map(Arc::new),
            name: self.name.clone(),
            vertices: vertices.into(),
            elements: elements.into(),
            rest: self.mesh.vertices.clone().into(),
            tets: self.mesh.tets.clone().into(),
            surface: surface.into(),
            mass: mass.into(),
            consistent_mass: self.mass == MassMatrix::Consistent,
            nodes: first..model.nodes.len(),
            edge,
            self_contact: self.self_contact,
            rigid_edges: self.rigid_edges,
        });
        Ok(())
    }
}

/// The shape that every surface node of a solid or sheet gets; `scale` is the length of its edges [m].
pub(super) fn skin(solid: SoftId, thickness: f64, friction: f64, restitution: f64, scale: f64) -> ModelShape {
    ModelShape {
        owner: Owner::Solid(solid),
        geometry: SharedShape::ball(thickness),
        local: Pose::IDENTITY,
        friction: SurfaceFriction::Isotropic(friction),
        restitution,
        reach: thickness,
        scale,
    }
}

/// Numbers a free node of a solid or sheet, with its shape if it touches.
pub(super) fn add_node(
    model: &mut Model,
    name: String,
    solid: SoftId,
    (x, v): (Vec3, Vec3),
    mass: f64,
    skin: Option<&ModelShape>,
) -> Anchor {
    let node = NodeId(model.nodes.len() as u32);
    let shape = skin.map(|skin| {
        model.shapes.push(ModelShape { owner: Owner::Node(node), ..skin.clone() });
        ShapeId(model.shapes.len() as u32 - 1)
    });
    let block = Arc::make_mut(&mut model.layout).push(BlockKind::Node);
    let b = model.layout.blocks()[block];
    let initial = Arc::make_mut(&mut model.initial);
    initial.q.extend(x.to_array());
    initial.v.extend(v.to_array());
    model.nodes.push(ModelNode { name, block, dof: b.v, q: b.q, mass, shape, solid: Some(solid) });
    Anchor::Node(node)
}

/// Who holds each of the vertices of a mesh or sheet.
pub(super) fn holders(
    item: &str,
    attachments: &[Attachment],
    vertices: &[Vec3],
    names: &Names,
) -> Result<Vec<Option<Holder>>, SceneError> {
    let count = vertices.len();
    let mut holders = vec![None; count];
    for (k, a) in attachments.iter().enumerate() {
        let which = format!("{item}, attachment {}", k + 1);
        let holder = match &a.to {
            None => Holder::World,
            Some(name) => match find(names, &which, name)? {
                Owner::Body(b) => Holder::Body(b),
                _ => {
                    return err(which, format!("`{name}` is not a rigid body; nodes attach to rigid bodies"));
                }
            },
        };
        if let NodeSelection::Nodes(nodes) = &a.nodes
            && let Some(n) = nodes.iter().find(|n| **n as usize >= count)
        {
            return err(which, format!("there is no node {n}; the mesh has {count}, counted from 0"));
        }
        let mut any = false;
        for (i, x) in vertices.iter().enumerate() {
            if !a.nodes.holds(i as u32, *x) {
                continue;
            }
            any = true;
            if holders[i].is_some_and(|h| h != holder) {
                return err(
                    which,
                    format!("node {i} is held by another attachment already; leave it out of one of the two"),
                );
            }
            holders[i] = Some(holder);
        }
        if !any {
            let problem = match &a.nodes {
                NodeSelection::Nodes(_) => "it names no node; list at least one".to_string(),
                NodeSelection::Box { min, max } => {
                    let (low, high) = bounds(vertices);
                    format!(
                        "no node lies in the box from {min} to {max}; the mesh reaches from {low} to {high} m"
                    )
                }
            };
            return err(which, problem);
        }
    }
    Ok(holders)
}

fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let low = points.iter().fold(Vec3::INFINITY, |m, x| m.min(*x));
    (low, points.iter().fold(Vec3::NEG_INFINITY, |m, x| m.max(*x)))
}

impl ModelSolid {
    /// Mean of something over the vertices by mass.
    pub(crate) fn mean(&self, of: impl Fn(&Anchor) -> Vec3) -> Vec3 {
        let sum: Vec3 = self.vertices.iter().zip(&self.mass).map(|(a, m)| of(a) * *m).sum();
        sum / self.mass.iter().sum::<f64>()
    }

    /// Four vertices and their weights at a point of the rest shape, or at the nearest one. Of a sheet three count.
    pub(super) fn find(&self, at: Vec3) -> ([u32; 4], [f64; 4]) {
        if self.tets.is_empty() {
            return self.find_on_surface(at);
        }
        let mesh = TetMesh { vertices: self.rest.to_vec(), tets: self.tets.to_vec() };
        let e = Locator::new(&mesh).embed(at);
        (self.tets[e.tet as usize], e.weights)
    }

    fn find_on_surface(&self, at: Vec3) -> ([u32; 4], [f64; 4]) {
        let place = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.rest[v as usize]);
            let (point, where_) = Triangle::new(a, b, c).project_local_point_and_get_location(at, true);
            let weights = where_.barycentric_coordinates().unwrap_or([1.0, 0.0, 0.0]);
            (point.point.distance_squared(at), *t, weights)
        };
        let nearest = self.surface.iter().map(place).min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, [a, b, c], [u, v, w]) = nearest.expect("a sheet has triangles");
        ([a, b, c, a], [u, v, w, 0.0])
    }
}
