//! Numbers of scene files with their rules: a bad one is refused where it stands in the file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use std::fmt;
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
                if ok(x) { Ok($name(x)) } else { Err(E::custom(format!("{x} is not allowed: {}", $remedy))) }
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

/// The vector, or zero where none is given.
pub(crate) fn or_zero(x: Option<Triple>) -> Vec3 {
    x.map_or(Vec3::ZERO, Triple::vec)
}

/// Three positive numbers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) struct Sizes(#[serde(deserialize_with = "exactly")] pub [Positive; 3]);

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
