//! From a `[[joint]]` table to a [`Joint`].

use super::build::Builder;
use super::file::joint::{Joint as JointTable, Kind, Limits, Motor as MotorTable, Spring as SpringTable};
use super::value::{Direction, Number};
use crate::error::Result;
use std::ops::Range;
use stiction::Vec3;
use stiction::scene::{Joint, JointAnchor, JointKind, JointSprings, Motor, Path, Spring, Target};

impl Builder<'_> {
    pub(super) fn joint(&mut self, t: &JointTable) -> Result<Joint> {
        let kind = *t.kind.get_ref();
        let error = |span: Range<usize>, e: &str, remedy: &str| Err(self.source.error(span, e, remedy));
        if t.second_axis.is_some() != (kind == Kind::Universal) {
            let e = "a universal joint, and no other, has a second axis";
            return error(t.kind.span(), e, "give `second_axis` with kind \"universal\" only");
        }
        if t.length.is_some() && kind != Kind::Distance {
            return error(t.kind.span(), "only a distance has a length", "remove `length`");
        }
        let anchor = match (t.at, t.anchor_a, t.anchor_b) {
            (None, None, None) => JointAnchor::OriginOfB,
            (Some(p), None, None) => JointAnchor::World(p.vec()),
            (None, Some(a), Some(b)) => JointAnchor::Points { a: a.vec(), b: b.vec() },
            _ => {
                let e = "a joint sits at one point of the world, or at one point of each body";
                return error(t.name.span(), e, "give `at`, or both `anchor_a` and `anchor_b`");
            }
        };
        let unit = |d: Option<Direction>| d.map_or(Vec3::Z, Direction::unit);
        Ok(Joint {
            name: t.name.get_ref().clone(),
            kind: match kind {
                Kind::Ball => JointKind::Ball,
                Kind::Hinge => JointKind::Hinge,
                Kind::Prismatic => JointKind::Prismatic,
                Kind::Cylindrical => JointKind::Cylindrical,
                Kind::Universal => JointKind::Universal { second: unit(t.second_axis) },
                Kind::Fixed => JointKind::Fixed,
                Kind::Distance => JointKind::Distance { length: t.length.map(|l| l.0) },
            },
            a: t.a.as_ref().map(|a| self.known(a)).transpose()?,
            b: self.known(&t.b)?,
            anchor,
            axis: unit(t.axis),
            springs: JointSprings {
                linear: t.springs.linear.map(spring),
                bend: t.springs.bend.map(spring),
                twist: t.springs.twist.map(spring),
                slide: t.springs.slide.map(spring),
            },
            limits: t.limits.as_ref().map(|l| self.limits(l.get_ref(), l.span(), kind)).transpose()?,
            friction: t.friction.map_or(0.0, |f| f.0),
            motor: t.motor.as_ref().map(|m| self.motor(m.get_ref(), m.span(), kind)).transpose()?,
            collide: t.collide.unwrap_or(false),
        })
    }

    fn limits(&self, l: &Limits, span: Range<usize>, kind: Kind) -> Result<[f64; 2]> {
        let lower = self.one_of(l.lower, l.lower_deg, &span, kind)?;
        let upper = self.one_of(l.upper, l.upper_deg, &span, kind)?;
        Ok([lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY)])
    }

    /// A number as it is, or in degrees.
    fn one_of(
        &self,
        plain: Option<Number>,
        degrees: Option<Number>,
        span: &Range<usize>,
        kind: Kind,
    ) -> Result<Option<f64>> {
        if degrees.is_some() && kind != Kind::Hinge {
            let e = "only a hinge has angles to limit or drive";
            return Err(self.source.error(span.clone(), e, "use the key without `_deg`, in metres"));
        }
        match (plain, degrees) {
            (Some(_), Some(_)) => {
                let e = "a position is given twice";
                Err(self.source.error(span.clone(), e, "use the key with `_deg` or the one without"))
            }
            (plain, degrees) => Ok(plain.map(|x| x.0).or(degrees.map(|x| x.0.to_radians()))),
        }
    }

    fn motor(&self, m: &MotorTable, span: Range<usize>, kind: Kind) -> Result<Motor> {
        let angles = m.position_deg.is_some() || m.path_deg.is_some();
        if angles && kind != Kind::Hinge {
            let e = "only a hinge has angles to limit or drive";
            return Err(self.source.error(span, e, "use the key without `_deg`, in metres"));
        }
        let constant = |x: Number| Path::constant(x.0);
        let through = |keys: &Vec<[Number; 2]>, factor: f64| Path {
            keys: keys.iter().map(|k| [k[0].0, factor * k[1].0]).collect(),
        };
        let degree = 1f64.to_radians();
        let targets = [
            m.position.map(|x| Target::Position(constant(x))),
            m.position_deg.map(|x| Target::Position(Path::constant(x.0.to_radians()))),
            m.path.as_ref().map(|k| Target::Position(through(k, 1.0))),
            m.path_deg.as_ref().map(|k| Target::Position(through(k, degree))),
            m.velocity.map(|x| Target::Velocity(constant(x))),
            m.velocity_path.as_ref().map(|k| Target::Velocity(through(k, 1.0))),
        ];
        let mut given = targets.into_iter().flatten();
        let (Some(target), None) = (given.next(), given.next()) else {
            let e = "a motor has exactly one target";
            let remedy =
                "give one of `position`, `position_deg`, `path`, `path_deg`, `velocity` and `velocity_path`";
            return Err(self.source.error(span, e, remedy));
        };
        Ok(Motor {
            target,
            stiffness: m.stiffness.map_or(0.0, |x| x.0),
            damping: m.damping.map_or(0.0, |x| x.0),
            limit: m.limit.map_or(f64::INFINITY, |x| x.0),
        })
    }
}

fn spring(s: SpringTable) -> Spring {
    Spring { stiffness: s.stiffness.0, damping: s.damping.map_or(0.0, |d| d.0) }
}
