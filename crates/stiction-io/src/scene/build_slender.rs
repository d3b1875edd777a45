//! From the tables `[[spring]]`, `[[rod]]` and `[[cloth]]` to the scene.

use super::build::{Builder, DENSITY, mean_friction, pose};
use super::file::Defaults;
use super::file::slender::{Cloth, Hold, Rod as RodTable, Spring, SpringEnd as EndTable};
use super::value::{Place, or_zero};
use crate::error::Result;
use stiction::elastic::{Action, Section};
use stiction::scene::{Rod, RodHold, Sheet, SpringEnd, SpringSpec};
use toml::Spanned;

/// Poisson's ratio of rods that give none.
const POISSON: f64 = 0.3;

impl Builder<'_> {
    pub(super) fn spring(&mut self, t: &Spring) -> Result<SpringSpec> {
        self.item(format!("spring `{}`", t.name.get_ref()), t.name.span());
        Ok(SpringSpec {
            name: t.name.get_ref().clone(),
            ends: [self.spring_end(&t.a)?, self.spring_end(&t.b)?],
            stiffness: t.stiffness.0,
            damping: t.damping.map_or(0.0, |x| x.0),
            rest_length: t.rest_length.map(|x| x.0),
            action: if t.rope.unwrap_or(false) { Action::PullOnly } else { Action::Both },
        })
    }

    fn spring_end(&self, t: &Spanned<EndTable>) -> Result<SpringEnd> {
        let EndTable { on, at } = t.get_ref();
        if on.is_none() && at.is_none() {
            let e = "an end of a spring says neither on what it is nor where";
            return Err(self.source.error(
                t.span(),
                e,
                "give `on = \"NAME\"`, `at = [x, y, z]` for a point of the world, or both",
            ));
        }
        Ok(SpringEnd { on: on.as_ref().map(|n| self.known(n)).transpose()?, at: or_zero(*at) })
    }

    pub(super) fn rod(&mut self, t: &RodTable, d: &Defaults) -> Result<Rod> {
        let rod = Rod {
            name: t.name.get_ref().clone(),
            points: t.points.iter().copied().map(Place::vec).collect(),
            corner_radius: t.corner_radius.map_or(0.0, |x| x.0),
            segments: t.segments.0,
            section: Section {
                radius: t.radius.0,
                young: t.young.0,
                poisson: t.poisson.map_or(POISSON, |x| x.0),
            },
            density: t.density.or(d.density).map_or(DENSITY, |x| x.0),
            damping: t.damping.map_or(0.0, |x| x.0),
            rest: t.rest.unwrap_or_default(),
            ends: [self.hold(&t.start)?, self.hold(&t.end)?],
            friction: t.friction.map_or(mean_friction(d.friction), |x| x.0),
            restitution: t.restitution.or(d.restitution).map_or(0.0, |e| e.0),
            self_contact: t.self_contact.unwrap_or(false),
        };
        self.item(format!("rod `{}`", rod.name), t.name.span());
        for i in 0..rod.segments {
            self.name(&rod.link(i), t.name.span())?;
        }
        Ok(rod)
    }

    fn hold(&self, t: &Option<Hold>) -> Result<Option<RodHold>> {
        let Some(t) = t else { return Ok(None) };
        let to = t.to.as_ref().map(|n| self.known(n)).transpose()?;
        Ok(Some(RodHold { to, fixing: t.fixing.unwrap_or_default() }))
    }

    pub(super) fn cloth(&mut self, t: &Cloth, d: &Defaults) -> Result<Sheet> {
        self.name(t.name.get_ref(), t.name.span())?;
        Ok(Sheet {
            name: t.name.get_ref().clone(),
            cells: t.cells.map(|n| n.0),
            size: t.size.map(|x| x.0),
            pose: pose(t.position, t.rotation),
            velocity: or_zero(t.velocity),
            area_density: t.area_density.0,
            stretch: t.stretch.0,
            shear: t.shear.0,
            bend: t.bend.map_or(0.0, |x| x.0),
            damping: t.damping.map_or(0.0, |x| x.0),
            thickness: t.thickness.0,
            rigid_edges: t.rigid_edges.unwrap_or(true),
            attachments: t.attach.iter().map(|a| self.attachment(a, &t.name)).collect::<Result<_>>()?,
            friction: t.friction.map_or(mean_friction(d.friction), |x| x.0),
            restitution: t.restitution.or(d.restitution).map_or(0.0, |e| e.0),
            self_contact: t.self_contact.unwrap_or(false),
        })
    }
}
