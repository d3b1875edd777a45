//! The `[[body]]` table: shapes, motion, mass, friction and copies.

use crate::scene::one_or_many::OneOrMany;
use crate::scene::value::{
    Coordinate, Direction, Fraction, Length, NonNegative, Number, Place, Positive, Rotation, Sizes, Triple,
    exactly, maybe_exactly,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor, value::MapAccessDeserializer};
use std::borrow::Cow;
use std::fmt;
use stiction::scene::Ease;
use toml::Spanned;

/// A rigid body, or many with `repeat`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// One shape, or a list of shapes that move together.
    pub shape: OneOrMany<Shape>,
    /// `free` (default), `fixed`, `{ velocity, spin }` or `{ keyframes }`.
    #[schemars(with = "Option<Motion>")]
    pub motion: Option<Spanned<Motion>>,
    /// Position of the body frame [m].
    pub position: Option<Place>,
    /// Orientation of the body frame.
    pub rotation: Option<Rotation>,
    /// Initial velocity of the centre of mass [m/s] of a free body.
    #[schemars(with = "Option<Triple>")]
    pub velocity: Option<Spanned<Triple>>,
    /// Initial angular velocity [rad/s], world axes, of a free body.
    #[schemars(with = "Option<Triple>")]
    pub spin: Option<Spanned<Triple>>,
    /// Mass [kg]; its inertia follows from the shapes unless `inertia` is given.
    #[schemars(with = "Option<Positive>")]
    pub mass: Option<Spanned<Positive>>,
    /// Density [kg/m³].
    #[schemars(with = "Option<Positive>")]
    pub density: Option<Spanned<Positive>>,
    /// Inertia about the centre of mass in body axes [kg·m²]: ixx, iyy, izz or ixx, iyy, izz, ixy, ixz, iyz.
    /// Needs `mass`.
    #[schemars(with = "Option<Inertia>")]
    pub inertia: Option<Spanned<Inertia>>,
    /// Centre of mass in the body frame [m]; with `inertia` only.
    #[schemars(with = "Option<Place>")]
    pub center_of_mass: Option<Spanned<Place>>,
    /// Friction of all its shapes.
    pub friction: Option<Friction>,
    /// Restitution of all its shapes, 0 to 1.
    pub restitution: Option<Fraction>,
    /// Names of groups to which it belongs; `default` where it is left out.
    #[schemars(with = "Option<Vec<String>>")]
    pub groups: Option<Spanned<Vec<String>>>,
    /// Names of the groups that it touches; all where it is left out. Two bodies touch where both agree.
    #[schemars(with = "Option<Vec<String>>")]
    pub collides_with: Option<Spanned<Vec<String>>>,
    /// Makes many copies.
    #[schemars(with = "Option<Repeat>")]
    pub repeat: Option<Spanned<Repeat>>,
}

/// A collision shape: exactly one of the geometries, with its place in the body.
#[derive(Debug, Deserialize)]
#[serde(try_from = "ShapeKeys")]
pub(crate) struct Shape {
    pub geometry: ShapeKind,
    pub position: Option<Place>,
    pub rotation: Option<Rotation>,
    pub friction: Option<Friction>,
    pub restitution: Option<Fraction>,
}

impl JsonSchema for Shape {
    fn schema_name() -> Cow<'static, str> {
        "Shape".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        ShapeKeys::json_schema(g)
    }
}

#[derive(Debug)]
pub(crate) enum ShapeKind {
    Plane(Plane),
    Sphere(Sphere),
    Box(BoxSize),
    Capsule(Capsule),
    Cylinder(Cylinder),
    Cone(Cone),
    Hull(Hull),
    Mesh(Mesh),
    Heightfield(Heightfield),
}

/// A collision shape: exactly one of plane, sphere, box, capsule, cylinder, cone, hull, mesh and heightfield.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShapeKeys {
    plane: Option<Plane>,
    sphere: Option<Sphere>,
    #[serde(rename = "box")]
    cuboid: Option<BoxSize>,
    capsule: Option<Capsule>,
    cylinder: Option<Cylinder>,
    cone: Option<Cone>,
    hull: Option<Hull>,
    mesh: Option<Mesh>,
    heightfield: Option<Heightfield>,
    /// Position in the body frame [m].
    position: Option<Place>,
    /// Orientation in the body frame.
    rotation: Option<Rotation>,
    /// Friction of this shape.
    friction: Option<Friction>,
    /// Restitution of this shape, 0 to 1.
    restitution: Option<Fraction>,
}

impl TryFrom<ShapeKeys> for Shape {
    type Error = &'static str;

    fn try_from(k: ShapeKeys) -> Result<Shape, &'static str> {
        let kinds = [
            k.plane.map(ShapeKind::Plane),
            k.sphere.map(ShapeKind::Sphere),
            k.cuboid.map(ShapeKind::Box),
            k.capsule.map(ShapeKind::Capsule),
            k.cylinder.map(ShapeKind::Cylinder),
            k.cone.map(ShapeKind::Cone),
            k.hull.map(ShapeKind::Hull),
            k.mesh.map(ShapeKind::Mesh),
            k.heightfield.map(ShapeKind::Heightfield),
        ];
        let mut given = kinds.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(geometry), None) => Ok(Shape {
                geometry,
                position: k.position,
                rotation: k.rotation,
                friction: k.friction,
                restitution: k.restitution,
            }),
            _ => Err(
                "a shape is exactly one of `plane`, `sphere`, `box`, `capsule`, `cylinder`, `cone`, `hull`, \
                      `mesh` and `heightfield`; write a list of shapes for a compound",
            ),
        }
    }
}

/// Everything below a plane through the origin of the shape. Fixed and moving-by-rule bodies only.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plane {
    /// Direction away from the solid side; [0, 0, 1] where it is left out.
    pub normal: Option<Direction>,
}

/// A ball.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sphere {
    /// Radius [m].
    pub radius: Length,
}

/// A box about the origin of the shape.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoxSize {
    /// Full lengths of the edges along x, y and z [m].
    pub size: Sizes,
}

/// A cylinder with round ends along z.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capsule {
    /// Length of the straight part [m].
    pub length: Length,
    /// Radius [m].
    pub radius: Length,
}

/// A cylinder along z.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cylinder {
    /// Full height [m].
    pub height: Length,
    /// Radius [m].
    pub radius: Length,
}

/// A cone along z, its tip up at half of the height.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cone {
    /// Full height [m].
    pub height: Length,
    /// Radius of the base [m].
    pub radius: Length,
}

/// Ground over a grid about the origin, solid below; collided as triangles.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Heightfield {
    /// Full lengths along x and y [m].
    #[serde(deserialize_with = "exactly")]
    pub size: [Length; 2],
    /// Heights [m]: two rows or more of equal length, from the smallest y up; each runs along x.
    #[schemars(with = "Vec<Vec<Coordinate>>")]
    pub heights: Spanned<Vec<Vec<Coordinate>>>,
    /// Height of a flat bottom [m], below all heights. A free body needs one, to have a volume.
    pub base: Option<Coordinate>,
}

/// The convex hull of points.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hull {
    /// At least four points [m] that are not all in one plane.
    #[schemars(with = "Vec<Place>")]
    pub points: Spanned<Vec<Place>>,
}

/// A mesh from a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mesh {
    /// An OBJ or STL file; relative paths start at the scene file. `builtin:NAME` is a mesh of the gallery.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Factor on all coordinates, for files in other units; 1 where it is left out.
    pub scale: Option<Positive>,
    /// `convex-hull` (default) or `triangles`.
    #[serde(default)]
    pub kind: MeshKind,
}

/// What a mesh file is collided as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MeshKind {
    /// The convex hull of its vertices.
    #[default]
    ConvexHull,
    /// Its triangles as they are: a closed surface, counter-clockwise seen from outside.
    Triangles,
}

/// How a body moves.
#[derive(Debug)]
pub(crate) enum Motion {
    Free,
    Fixed,
    Given(GivenMotion),
}

/// Moved by rule, whatever pushes: at a constant velocity and spin, or through keyframes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenMotion {
    /// Velocity of the body frame [m/s].
    pub velocity: Option<Triple>,
    /// Angular velocity [rad/s], world axes.
    pub spin: Option<Triple>,
    /// Poses at ascending times; straight lines and constant spin between them.
    #[schemars(with = "Option<Vec<Keyframe>>")]
    pub keyframes: Option<Spanned<Vec<Keyframe>>>,
    /// `linear` (default) or `smooth`: from rest to rest between two keys.
    #[serde(default)]
    #[schemars(schema_with = "ease_names")]
    pub ease: Option<Ease>,
}

fn ease_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["linear", "smooth"] })
}

/// A pose at a time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keyframe {
    /// Time [s].
    pub time: Number,
    /// Position of the body frame [m]; the body's own where it is left out.
    pub position: Option<Place>,
    /// Orientation of the body frame; the body's own where it is left out.
    pub rotation: Option<Rotation>,
}

impl<'de> Deserialize<'de> for Motion {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Motion, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Motion;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"free\", \"fixed\", { velocity = …, spin = … } or { keyframes = […] }")
            }

            fn visit_str<E: de::Error>(self, s: &str) -> Result<Motion, E> {
                match s {
                    "free" => Ok(Motion::Free),
                    "fixed" => Ok(Motion::Fixed),
                    _ => Err(E::invalid_value(de::Unexpected::Str(s), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Motion, A::Error> {
                GivenMotion::deserialize(MapAccessDeserializer::new(map)).map(Motion::Given)
            }
        }
        d.deserialize_any(V)
    }
}

impl JsonSchema for Motion {
    fn schema_name() -> Cow<'static, str> {
        "Motion".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let given = g.subschema_for::<GivenMotion>();
        json_schema!({
            "description": "How a body moves.",
            "anyOf": [{ "enum": ["free", "fixed"] }, given],
        })
    }
}

/// Friction of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Friction {
    Same(NonNegative),
    Elliptic(EllipticFriction),
}

/// Friction that depends on the direction of sliding.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EllipticFriction {
    /// Coefficient along `direction`.
    pub along: Positive,
    /// Coefficient across it.
    pub across: Positive,
    /// A direction in the frame of the shape; it is projected on the surface.
    pub direction: Direction,
}

impl<'de> Deserialize<'de> for Friction {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Friction, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Friction;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a coefficient or { along = …, across = …, direction = […] }")
            }

            fn visit_f64<E: de::Error>(self, x: f64) -> Result<Friction, E> {
                NonNegative::check(x).map(Friction::Same)
            }

            fn visit_i64<E: de::Error>(self, x: i64) -> Result<Friction, E> {
                self.visit_f64(x as f64)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Friction, A::Error> {
                EllipticFriction::deserialize(MapAccessDeserializer::new(map)).map(Friction::Elliptic)
            }
        }
        d.deserialize_any(V)
    }
}

impl JsonSchema for Friction {
    fn schema_name() -> Cow<'static, str> {
        "Friction".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let elliptic = g.subschema_for::<EllipticFriction>();
        json_schema!({
            "description": "Friction of a surface: one coefficient, or two with a direction.",
            "anyOf": [{ "type": "number", "minimum": 0 }, elliptic],
        })
    }
}

/// Three or six numbers of an inertia matrix.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Vec<Number>")]
pub(crate) struct Inertia(pub [f64; 6]);

impl TryFrom<Vec<Number>> for Inertia {
    type Error = String;

    fn try_from(x: Vec<Number>) -> Result<Inertia, String> {
        let mut m = [0.0; 6];
        if x.len() != 3 && x.len() != 6 {
            return Err(format!(
                "an inertia has 3 numbers (ixx, iyy, izz) or 6 (ixx, iyy, izz, ixy, ixz, iyz), not {}",
                x.len()
            ));
        }
        for (to, from) in m.iter_mut().zip(x) {
            *to = from.0;
        }
        Ok(Inertia(m))
    }
}

impl JsonSchema for Inertia {
    fn schema_name() -> Cow<'static, str> {
        "Inertia".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "ixx, iyy, izz or ixx, iyy, izz, ixy, ixz, iyz [kg·m²].",
            "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 6,
        })
    }
}

/// Copies of a body. A line with `count` and `step`, or a grid with `grid` and `spacing`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeat {
    /// How many copies. A grid is filled along x, then y, then z, and stops here; without it, it is full.
    pub count: Option<usize>,
    /// From each copy of a line to the next [m].
    pub step: Option<Place>,
    /// How many along x, y and z.
    #[serde(default, deserialize_with = "maybe_exactly")]
    pub grid: Option<[usize; 3]>,
    /// Distances within the grid along x, y and z [m].
    pub spacing: Option<Place>,
    /// Shifts every other layer of the grid (odd z) [m]: the bond of a brick wall.
    pub stagger: Option<Place>,
    /// Each copy of a line has this times the mass (or density) of the one before.
    pub mass_factor: Option<Positive>,
    /// Each copy of a line has this times the size of the one before.
    pub size_factor: Option<Positive>,
    /// Chance, the same at every run.
    #[serde(default)]
    pub random: Random,
}

/// Chance in copies: the same numbers at every run and on every machine.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Random {
    /// Start of the sequence; another seed gives another scene.
    #[serde(default)]
    pub seed: u64,
    /// Each position moves by up to this, either way, along x, y and z [m].
    pub shift: Option<Place>,
    /// Factors on the size are drawn between these two: one per axis for a box, one in all for other bodies.
    #[serde(default, deserialize_with = "maybe_exactly")]
    pub size: Option<[Positive; 2]>,
    /// True: orientations are uniformly random.
    #[serde(default)]
    pub rotation: bool,
}
