//! From a `[[soft]]` table to a [`SoftBody`].

use super::build::{Builder, mean_friction, pose};
use super::file::Defaults;
use super::file::soft::{Attach, Material as MaterialTable, Soft, TetShape};
use super::value::or_zero;
use crate::error::{Result, known_names};
use crate::tet_mesh;
use stiction::elastic::{Damping, Law, Material, Preset};
use stiction::mesh::{TetMesh, TriMesh, shapes};
use stiction::scene::{Attachment, FibreLayer, Filling, Inflation, NodeSelection, SoftBody};
use toml::Spanned;

/// Volume ratio below which the neo-Hookean law is extrapolated where the scene says nothing.
const THRESHOLD: f64 = 0.5;

/// The mesh of a solid.
struct Tets {
    mesh: TetMesh,
    /// What its mass fills, where that is less [m³].
    volume: Option<f64>,
    /// What it looks like, where that is not its own surface.
    surface: Option<TriMesh>,
}

impl Builder<'_> {
    pub(super) fn soft(&mut self, t: &Soft, d: &Defaults) -> Result<SoftBody> {
        self.name(t.name.get_ref(), t.name.span())?;
        let Tets { mesh, volume, surface } = self.tet_mesh(&t.mesh)?;
        let mut material = self.material(&t.material)?;
        if let Some(volume) = volume {
            material.density *= volume / mesh.volume();
        }
        let visual = t.visual.as_ref().map(|file| self.mesh(file)).transpose()?.or(surface);
        Ok(SoftBody {
            name: t.name.get_ref().clone(),
            mesh,
            pose: pose(t.position, t.rotation),
            velocity: or_zero(t.velocity),
            spin: or_zero(t.spin),
            material,
            damping: Damping {
                mass: t.damping.mass.map_or(0.0, |x| x.0),
                stiffness: t.damping.stiffness.map_or(0.0, |x| x.0),
                viscosity: t.damping.viscosity.map_or(0.0, |x| x.0),
            },
            mass: t.mass_matrix.unwrap_or_default(),
            attachments: t.attach.iter().map(|a| self.attachment(a, &t.name)).collect::<Result<_>>()?,
            fibres: t
                .fibre
                .iter()
                .map(|f| FibreLayer {
                    min: f.corners[0].vec(),
                    max: f.corners[1].vec(),
                    direction: f.direction.unit(),
                    stiffness: f.stiffness.0,
                    tension: f.tension.map_or(0.0, |x| x.0),
                })
                .collect(),
            inflations: t
                .inflate
                .iter()
                .map(|i| Inflation {
                    min: i.corners[0].vec(),
                    max: i.corners[1].vec(),
                    pressure: i.pressure.iter().map(|k| k.map(|x| x.0)).collect(),
                })
                .collect(),
            fillings: t
                .fill
                .iter()
                .map(|f| Filling {
                    min: f.corners[0].vec(),
                    max: f.corners[1].vec(),
                    young: f.young.0,
                    poisson: f.poisson.0,
                })
                .collect(),
            visual,
            friction: t.friction.map_or(mean_friction(d.friction), |x| x.0),
            restitution: t.restitution.or(d.restitution).map_or(0.0, |e| e.0),
            thickness: t.thickness.map_or(0.0, |x| x.0),
            collide: t.collide.unwrap_or(true),
            self_contact: t.self_contact.unwrap_or(false),
            rigid_edges: t.rigid_edges.unwrap_or(true),
        })
    }

    fn tet_mesh(&mut self, shape: &Spanned<TetShape>) -> Result<Tets> {
        let three = |n: usize| match n {
            3.. => Ok(n),
            _ => Err(self.source.error(shape.span(), "fewer than 3 segments", "give at least 3 `segments`")),
        };
        let mesh = match shape.get_ref() {
            TetShape::File(f) => {
                let file = self.files.read(self.source, &f.file, (tet_mesh::load, tet_mesh::load_with))?;
                let mut mesh = file.mesh;
                mesh.vertices.iter_mut().for_each(|v| *v *= f.scale);
                return Ok(Tets { mesh, volume: f.volume, surface: None });
            }
            TetShape::Cover(c) => {
                let mut surface = self.mesh(&c.file)?;
                surface.vertices.iter_mut().for_each(|v| *v *= c.scale.map_or(1.0, |s| s.0));
                let cover = surface.cover(c.cell.0).map_err(|e| {
                    let e = format!("`{}` cannot be covered: {e}", c.file.get_ref());
                    self.source.error(c.file.span(), e, "see `stiction mesh check`")
                })?;
                return Ok(Tets {
                    mesh: cover.mesh,
                    volume: Some(cover.surface_volume),
                    surface: Some(surface),
                });
            }
            TetShape::Block(b) => shapes::block(b.cells.map(|c| c.0), b.size.vec()),
            TetShape::Sphere(s) => shapes::sphere(s.radius.0, s.shells.0),
            TetShape::Cylinder(c) => shapes::cylinder(c.radius.0, c.length.0, c.rings.0, c.layers.0),
            TetShape::Torus(t) => {
                if t.tube.0 >= t.radius.0 {
                    let e = "the tube of the torus is as thick as its ring";
                    return Err(self.source.error(shape.span(), e, "make `tube` smaller than `radius`"));
                }
                shapes::torus(t.radius.0, t.tube.0, t.rings.0, three(t.segments.0)?)
            }
            TetShape::Sheet(s) => shapes::sheet(s.cells.map(|c| c.0), s.size.map(|x| x.0), s.thickness.0),
            TetShape::Ring(r) => {
                if 0.5 * r.side.0 >= r.radius.0 {
                    let e = "the ring is thicker than it is wide";
                    return Err(self.source.error(
                        shape.span(),
                        e,
                        "make `side` smaller than twice the `radius`",
                    ));
                }
                shapes::ring(r.radius.0, r.side.0, three(r.segments.0)?)
            }
        };
        Ok(Tets { mesh, volume: None, surface: None })
    }

    fn material(&self, t: &Spanned<MaterialTable>) -> Result<Material> {
        let (span, t) = (t.span(), t.get_ref());
        let base = t.preset.map(Preset::material);
        let law = match &t.law {
            None => base.as_ref().map_or(Law::Corotated, |m| m.law),
            Some(name) => match name.get_ref().as_str() {
                "linear" => Law::Linear,
                "corotated" => Law::Corotated,
                "st-venant-kirchhoff" => Law::StVenantKirchhoff,
                "neo-hookean" => Law::NeoHookean { threshold: t.threshold.map_or(THRESHOLD, |x| x.0) },
                "stable-neo-hookean" => Law::StableNeoHookean,
                other => {
                    let e = format!("no law is called `{other}`");
                    let known =
                        ["linear", "corotated", "st-venant-kirchhoff", "neo-hookean", "stable-neo-hookean"];
                    let remedy = known_names(other, "laws", known);
                    return Err(self.source.error(name.span(), e, remedy));
                }
            },
        };
        if t.threshold.is_some() && !matches!(law, Law::NeoHookean { .. }) {
            let e = "`threshold` belongs to the law `neo-hookean`";
            return Err(self.source.error(span, e, "remove it, or choose that law"));
        }
        let need = |given: Option<f64>, preset: Option<f64>, key: &str| {
            given.or(preset).ok_or_else(|| {
                let e = format!("the material has no `{key}`");
                self.source.error(span.clone(), e, "give `young`, `poisson` and `density`, or a `preset`")
            })
        };
        let m = Material {
            law,
            young: need(t.young.map(|x| x.0), base.as_ref().map(|m| m.young), "young")?,
            poisson: need(t.poisson.map(|x| x.0), base.as_ref().map(|m| m.poisson), "poisson")?,
            density: need(t.density.map(|x| x.0), base.as_ref().map(|m| m.density), "density")?,
        };
        let remedy = "see docs/materials.md for usual values";
        m.check().map_err(|e| self.source.error(span.clone(), e.to_string(), remedy))?;
        Ok(m)
    }

    pub(super) fn attachment(&self, a: &Attach, of: &Spanned<String>) -> Result<Attachment> {
        let nodes = match (&a.nodes, a.corners) {
            (Some(nodes), None) => NodeSelection::Nodes(nodes.get_ref().clone()),
            (None, Some([min, max])) => NodeSelection::Box { min: min.vec(), max: max.vec() },
            _ => {
                let e = format!("an attachment of `{}` does not say which nodes", of.get_ref());
                let remedy = "give exactly one of `nodes = [0, 1, …]` and `box = [[x, y, z], [x, y, z]]`";
                return Err(self.source.error(of.span(), e, remedy));
            }
        };
        Ok(Attachment { nodes, to: a.to.as_ref().map(|to| self.known(to)).transpose()? })
    }
}
