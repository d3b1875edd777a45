//! Rods: links become bodies of the scene first, then elements of the model join them.

use super::rod_path;
use super::soft::{Holder, Names};
use super::spring::not_negative;
use super::{err, find, friction_coefficient, positive, restitution, vector};
use crate::coords::{Anchor, BodyId, Pose};
use crate::elastic::{ElasticError, RodElement};
use crate::error::SceneError;
use crate::linalg::rotation;
use crate::linalg::{Mat3, Quat, Vec3};
use crate::model::{Model, ModelRod, ModelRodJoint, Owner, RodEnd};
use crate::scene::{Body, Fixing, Geometry, MassSpec, PairRule, RestShape, Rod, Scene};

/// Most links of one rod.
const MOST_SEGMENTS: usize = 100_000;

/// A link: its ends, and a frame at its middle with z along it.
struct Link {
    length: f64,
    pose: Pose,
}

impl Scene {
    /// The same scene with the links of its rods as bodies.
    pub(super) fn with_links(&self) -> Result<Scene, SceneError> {
        let mut scene = self.clone();
        for (i, rod) in self.rods.iter().enumerate() {
            if rod.name.is_empty() {
                return err(format!("rod number {}", i + 1), "the name is empty; give it one");
            }
            let item = format!("rod `{}`", rod.name);
            if self.rods[..i].iter().any(|r| r.name == rod.name) {
                return err(item, "the name is taken; names of rods are unique");
            }
            rod.check(&item)?;
            let links = rod.links(&item)?;
            scene.bodies.extend(links.iter().enumerate().map(|(i, link)| rod.body(i, link)));
            // A holder is inside the rod's end, so they must not push each other.
            let near = rod.reach(&links).min(rod.segments);
            for (end, hold) in rod.ends.iter().enumerate() {
                let Some(name) = hold.as_ref().and_then(|h| h.to.as_ref()) else { continue };
                for k in 0..near {
                    let link = if end == 0 { k } else { rod.segments - 1 - k };
                    let (a, b) = (rod.link(link), name.clone());
                    let known = scene.pairs.iter().any(|p| (p.a == a && p.b == b) || (p.a == b && p.b == a));
                    if !known {
                        scene.pairs.push(PairRule {
                            a,
                            b,
                            collide: false,
                            friction: None,
                            restitution: None,
                        });
                    }
                }
            }
        }
        Ok(scene)
    }
}

impl Rod {
    fn check(&self, item: &str) -> Result<(), SceneError> {
        for p in &self.points {
            vector(item, "each point", *p)?;
        }
        not_negative(item, "the radius of corners", self.corner_radius)?;
        if self.segments == 0 || self.segments > MOST_SEGMENTS {
            return err(item, format!("{} segments; give 1 to {MOST_SEGMENTS}", self.segments));
        }
        let s = &self.section;
        positive(item, "radius", s.radius)?;
        if !(s.young > 0.0 && s.young.is_finite()) {
            return err(item, ElasticError::Young(s.young).to_string());
        }
        if !(s.poisson > -1.0 && s.poisson < 0.5) {
            return err(item, ElasticError::Poisson(s.poisson).to_string());
        }
        if !(self.density > 0.0 && self.density.is_finite()) {
            return err(item, ElasticError::Density(self.density).to_string());
        }
        not_negative(item, "damping", self.damping)?;
        friction_coefficient(item, self.friction)?;
        restitution(item, self.restitution)
    }

    /// The links with frames that do not twist from one to the next.
    fn links(&self, item: &str) -> Result<Vec<Link>, SceneError> {
        let nodes = rod_path::divide(&self.points, self.corner_radius, self.segments)
            .map_err(|problem| SceneError::new(item, problem))?;
        let mut links = Vec::with_capacity(self.segments);
        let (mut turn, mut before) = (Quat::IDENTITY, Vec3::Z);
        for (i, w) in nodes.windows(2).enumerate() {
            let Some(along) = (w[1] - w[0]).try_normalize() else {
                return err(item, format!("link {i} has no length; use fewer segments or a longer line"));
            };
            turn = (Quat::from_rotation_arc(before, along) * turn).normalize();
            before = along;
            let pose = Pose { rotation: turn, translation: 0.5 * (w[0] + w[1]) };
            links.push(Link { length: w[0].distance(w[1]), pose });
        }
        Ok(links)
    }

    fn body(&self, i: usize, link: &Link) -> Body {
        let (r, l) = (self.section.radius, link.length);
        let mass = self.density * self.section.area() * l;
        let across = mass * (3.0 * r * r + l * l) / 12.0;
        let mut body = Body::new(self.link(i), Geometry::Capsule { half_height: 0.5 * l, radius: r })
            .with_friction(self.friction);
        body.shapes[0].restitution = self.restitution;
        body.pose = link.pose;
        // The ends of capsules lie inside their neighbours and weigh nothing.
        body.mass = MassSpec::Given {
            mass,
            inertia: Mat3::from_diagonal(Vec3::new(across, across, 0.5 * mass * r * r)),
            com: Vec3::ZERO,
        };
        body
    }

    /// Links fewer places apart than this never touch.
    fn apart(&self, links: &[Link]) -> usize {
        if self.self_contact { self.reach(links) } else { usize::MAX }
    }

    /// Links fewer places apart than this overlap by their round ends, or nearly.
    fn reach(&self, links: &[Link]) -> usize {
        let shortest = links.iter().map(|l| l.length).fold(f64::INFINITY, f64::min);
        1 + (4.0 * self.section.radius / shortest).ceil() as usize
    }

    pub(super) fn add_to(&self, model: &mut Model, names: &Names) -> Result<(), SceneError> {
        let item = format!("rod `{}`", self.name);
        let links = self.links(&item)?;
        let Owner::Body(BodyId(first)) = find(names, &item, &self.link(0))? else {
            unreachable!("links are bodies");
        };
        let (first, rod) = (first as usize, model.rods.len());
        for i in 0..self.segments {
            model.bodies[first + i].link = Some((rod, i));
        }
        let (stretch, bend) = (self.section.stretch_stiffness(), self.section.bend_stiffness());
        let end = |i: usize, side: f64| RodEnd {
            anchor: Anchor::Body {
                body: BodyId((first + i) as u32),
                local: Vec3::Z * (0.5 * side * links[i].length),
            },
            frame: Quat::IDENTITY,
        };
        let mut joints = Vec::with_capacity(self.segments + 1);
        joints.extend(self.hold(0, &links, end(0, -1.0), model, names, &item)?);
        for i in 0..self.segments - 1 {
            let drawn = links[i].pose.rotation.conjugate() * links[i + 1].pose.rotation;
            let rest_turn = match self.rest {
                RestShape::Straight => Vec3::ZERO,
                RestShape::AsDrawn => rotation::log(drawn),
            };
            let length = 0.5 * (links[i].length + links[i + 1].length);
            joints.push(ModelRodJoint {
                ends: [end(i, 1.0), end(i + 1, -1.0)],
                element: RodElement { stretch, bend, length, rest_turn },
            });
        }
        let last = self.segments - 1;
        joints.extend(self.hold(1, &links, end(last, 1.0), model, names, &item)?);
        model.rods.push(ModelRod {
            name: self.name.clone(),
            links: first..first + self.segments,
            joints,
            damping: self.damping,
            apart: self.apart(&links),
        });
        Ok(())
    }

    /// The element between an end of the rod and what holds it: half a link long.
    fn hold(
        &self,
        which: usize,
        links: &[Link],
        own: RodEnd,
        model: &Model,
        names: &Names,
        item: &str,
    ) -> Result<Option<ModelRodJoint>, SceneError> {
        let Some(hold) = &self.ends[which] else { return Ok(None) };
        let link = if which == 0 { &links[0] } else { &links[links.len() - 1] };
        let side = if which == 0 { -0.5 } else { 0.5 };
        let point = link.pose.transform_point(Vec3::Z * (side * link.length));
        let holder = match &hold.to {
            None => Holder::World,
            Some(name) => match find(names, item, name)? {
                Owner::Body(b) if model.bodies[b.index()].link.is_none_or(|l| l.0 != model.rods.len()) => {
                    Holder::Body(b)
                }
                Owner::Body(_) => {
                    return err(
                        item,
                        format!("`{name}` is a link of the rod itself; hold it by another body"),
                    );
                }
                _ => {
                    return err(item, format!("`{name}` is not a rigid body; rods are held by rigid bodies"));
                }
            },
        };
        let frame = match holder {
            Holder::World => link.pose.rotation,
            Holder::Body(b) => {
                model.bodies[b.index()].pose_at_start().rotation.conjugate() * link.pose.rotation
            }
        };
        let other = RodEnd { anchor: holder.anchor(model, point), frame };
        let bend = match hold.fixing {
            Fixing::Clamped => self.section.bend_stiffness(),
            Fixing::Pinned => Vec3::ZERO,
        };
        let element = RodElement {
            stretch: self.section.stretch_stiffness(),
            bend,
            length: 0.5 * link.length,
            rest_turn: Vec3::ZERO,
        };
        Ok(Some(ModelRodJoint { ends: if which == 0 { [other, own] } else { [own, other] }, element }))
    }
}
