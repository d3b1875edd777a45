//! Numbers of scene files with their rules: a bad one is refused where it stands in the file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::fmt;
use stiction::scene::bounds::{LONGEST, LONGEST_RUN, LONGEST_STEP, SHORTEST, SHORTEST_STEP};
use stiction::{Quat, Vec3};

/// A number with a rule. The rule is checked inside serde's visitor, because only there the error learns where the
/// number stands within a list.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident, $ok:expr, $remedy:literal) => {
        #[derive(Clone, Copy, Debug, JsonSchema)]
        $(#[$doc])*
        pub(crate) struct $name(pub f64);

        impl $name {
            pub fn check<E: de::Error>(x: f64) -> Result<$name, E> {
                let ok: fn(f64) -> bool = $ok;
                if ok(x) { Ok($name(x)) } else { Err(E::custom(format!("{} is not allowed: {}", shown(x), $remedy))) }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<$name, D::Error> {
                struct V;
                impl Visitor<'_> for V {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a number")
                    }

                    fn visit_f64<E: de::Error>(self, x: f64) -> Result<$name, E> {
                        $name::check(x)
                    }

                    fn visit_i64<E: de::Error>(self, x: i64) -> Result<$name, E> {
                        $name::check(x as f64)
                    }

                    fn visit_u64<E: de::Error>(self, x: u64) -> Result<$name, E> {
                        $name::check(x as f64)
                    }
                }
                d.deserialize_any(V)
            }
        }
    };
}

/// A number for a message: 1e200 is not written with 200 digits.
fn shown(x: f64) -> String {
    if x != 0.0 && !(1e-6..1e15).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}

number!(
    /// A finite number. TOML knows `nan` and `inf`; scenes do not.
    Number,
    f64::is_finite,
    "give a finite number"
);
number!(
    /// A number > 0.
    #[schemars(extend("exclusiveMinimum" = 0))]
    Positive,
    |x| x.is_finite() && x > 0.0,
    "give a positive number"
);
number!(
    /// A number ≥ 0.
    #[schemars(extend("minimum" = 0))]
    NonNegative,
    |x| x.is_finite() && x >= 0.0,
    "give zero or a positive number"
);
number!(
    /// A number from 0 to 1.
    #[schemars(extend("minimum" = 0, "maximum" = 1))]
    Fraction,
    |x| (0.0..=1.0).contains(&x),
    "give a number from 0 to 1"
);

number!(
    /// A size of something [m]: its squares and products stay far from overflow and from zero.
    #[schemars(extend("minimum" = SHORTEST, "maximum" = LONGEST))]
    Length,
    |x| (SHORTEST..=LONGEST).contains(&x),
    "give a positive length, from 1e-9 to 1e9 m"
);
number!(
    /// A length that may be zero [m].
    #[schemars(extend("minimum" = 0, "maximum" = LONGEST))]
    Reach,
    |x| (0.0..=LONGEST).contains(&x),
    "give zero or a positive length, at most 1e9 m"
);
number!(
    /// A coordinate [m].
    #[schemars(extend("minimum" = -LONGEST, "maximum" = LONGEST))]
    Coordinate,
    |x| x.abs() <= LONGEST,
    "give a finite coordinate, at most 1e9 m"
);
number!(
    /// A time step [s].
    #[schemars(extend("minimum" = SHORTEST_STEP, "maximum" = LONGEST_STEP))]
    TimeStep,
    |x| (SHORTEST_STEP..=LONGEST_STEP).contains(&x),
    "give a positive time step, from 1e-9 to 1000 s"
);
number!(
    /// How long something takes [s].
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = LONGEST_RUN))]
    TimeSpan,
    |x| x > 0.0 && x <= LONGEST_RUN,
    "give a positive time, at most 1e9 s"
);

/// A list of N elements: serde's own arrays leave what is too much unread.
pub(crate) fn exactly<'de, D, T, const N: usize>(d: D) -> Result<[T; N], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct V<T, const N: usize>(std::marker::PhantomData<T>);
    impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for V<T, N> {
        type Value = [T; N];

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{N} numbers, such as [{}]", ["0"; N].join(", "))
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<[T; N], A::Error> {
            let mut items = Vec::with_capacity(N);
            while let Some(x) = seq.next_element()? {
                items.push(x);
            }
            let n = items.len();
            items.try_into().map_err(|_| {
                let given = if n == 1 { "1 number is" } else { &format!("{n} numbers are") };
                de::Error::custom(format!("{given} given, {N} are needed: write a list of {N} numbers"))
            })
        }
    }
    d.deserialize_any(V(std::marker::PhantomData))
}

/// [`exactly`] for a key that may be left out.
pub(crate) fn maybe_exactly<'de, D, T, const N: usize>(d: D) -> Result<Option<[T; N]>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    exactly(d).map(Some)
}

/// Three finite numbers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) struct Triple(#[serde(deserialize_with = "exactly")] pub [Number; 3]);

impl Triple {
    pub fn vec(self) -> Vec3 {
        Vec3::from_array(self.0.map(|x| x.0))
    }
}

impl From<Triple> for Vec3 {
    fn from(x: Triple) -> Vec3 {
        x.vec()
    }
}

/// A point, or the way from one to another [m].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) struct Place(#[serde(deserialize_with = "exactly")] pub [Coordinate; 3]);

impl Place {
    pub fn vec(self) -> Vec3 {
        Vec3::from_array(self.0.map(|x| x.0))
    }
}

impl From<Place> for Vec3 {
    fn from(x: Place) -> Vec3 {
        x.vec()
    }
}

/// The vector, or zero where none is given.
pub(crate) fn or_zero<T: Into<Vec3>>(x: Option<T>) -> Vec3 {
    x.map_or(Vec3::ZERO, T::into)
}

/// Three sizes [m].
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) struct Sizes(#[serde(deserialize_with = "exactly")] pub [Length; 3]);

impl Sizes {
    pub fn vec(self) -> Vec3 {
        Vec3::from_array(self.0.map(|x| x.0))
    }
}

/// A direction: three numbers, not all zero; any length.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "Triple")]
pub(crate) struct Direction(pub [Number; 3]);

impl TryFrom<Triple> for Direction {
    type Error = String;

    fn try_from(x: Triple) -> Result<Self, String> {
        match x.vec().try_normalize() {
            Some(_) => Ok(Direction(x.0)),
            None => Err("a direction of zero length: give a vector that points somewhere".into()),
        }
    }
}

impl Direction {
    /// The unit vector.
    pub fn unit(self) -> Vec3 {
        Triple(self.0).vec().normalize()
    }
}

/// A rotation, in exactly one of three ways.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "RotationKeys")]
pub(crate) struct Rotation(#[schemars(with = "RotationKeys")] pub Quat);

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RotationKeys {
    /// Quaternion w, x, y, z; normalised when read.
    #[serde(default, deserialize_with = "maybe_exactly")]
    quaternion: Option<[Number; 4]>,
    /// Roll, pitch, yaw [degrees]: about the fixed x axis, then y, then z.
    #[serde(default, deserialize_with = "maybe_exactly")]
    euler_deg: Option<[Number; 3]>,
    /// Axis of rotation, with `angle_deg`.
    axis: Option<Direction>,
    /// Angle about `axis` [degrees].
    angle_deg: Option<Number>,
}

impl TryFrom<RotationKeys> for Rotation {
    type Error = String;

    fn try_from(r: RotationKeys) -> Result<Self, String> {
        match (r.quaternion, r.euler_deg, r.axis, r.angle_deg) {
            (Some([w, x, y, z]), None, None, None) => {
                let q = Quat::from_xyzw(x.0, y.0, z.0, w.0);
                // A quaternion far from unit length is more likely a slip (xyzw order, degrees) than a wish.
                if (q.length() - 1.0).abs() > 1e-2 {
                    return Err(format!(
                        "quaternion of length {}: give a unit quaternion in the order w, x, y, z",
                        q.length()
                    ));
                }
                Ok(Rotation(q.normalize()))
            }
            (None, Some([x, y, z]), None, None) => Ok(Rotation(
                Quat::from_rotation_z(z.0.to_radians())
                    * Quat::from_rotation_y(y.0.to_radians())
                    * Quat::from_rotation_x(x.0.to_radians()),
            )),
            (None, None, Some(axis), Some(angle)) => {
                Ok(Rotation(Quat::from_axis_angle(axis.unit(), angle.0.to_radians())))
            }
            _ => {
                Err("a rotation is one of { quaternion = [w, x, y, z] }, { euler_deg = [roll, pitch, yaw] } \
                      and { axis = [x, y, z], angle_deg = a }"
                    .into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(text: &str) -> Result<Quat, toml::de::Error> {
        Ok(Rotation::deserialize(toml::de::ValueDeserializer::parse(text)?)?.0)
    }

    #[test]
    fn three_ways_to_write_a_quarter_turn_about_z() {
        let q = Quat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        for text in [
            "{ quaternion = [0.7071067811865476, 0, 0, 0.7071067811865476] }",
            "{ euler_deg = [0, 0, 90] }",
            "{ axis = [0, 0, 7], angle_deg = 90 }",
        ] {
            assert!(rotation(text).unwrap().dot(q).abs() > 1.0 - 1e-15, "{text}");
        }
        assert!(rotation("{ axis = [0, 0, 1] }").is_err());
        assert!(rotation("{ quaternion = [1, 1, 0, 0] }").is_err());
    }

    #[test]
    fn euler_angles_turn_about_fixed_axes_in_order() {
        let q = rotation("{ euler_deg = [90, 0, 90] }").unwrap();
        // y → z by the roll, and z stays under the yaw.
        assert!((q * Vec3::Y - Vec3::Z).length() < 1e-15);
        // x stays under the roll, then → y.
        assert!((q * Vec3::X - Vec3::Y).length() < 1e-15);
    }
}
