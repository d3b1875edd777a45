//! The `[[soft]]` table: mesh, material, damping and what holds its nodes.

use crate::scene::value::{
    Direction, Fraction, Length, NonNegative, Number, Place, Positive, Reach, Rotation, Sizes, Triple,
    exactly,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;
use stiction::elastic::Preset;
use stiction::scene::MassMatrix;
use toml::Spanned;

/// A deformable solid.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Soft {
    /// Unique name.
    #[schemars(with = "String")]
    pub name: Spanned<String>,
    /// Tetrahedra: a file or a shape that is made here.
    #[schemars(with = "TetShape")]
    pub mesh: Spanned<TetShape>,
    /// Where the frame of the mesh stands [m].
    pub position: Option<Place>,
    /// Orientation of the frame of the mesh.
    pub rotation: Option<Rotation>,
    /// Initial velocity [m/s].
    pub velocity: Option<Triple>,
    /// Initial spin about the centre of mass [rad/s].
    pub spin: Option<Triple>,
    /// What it is made of.
    #[schemars(with = "Material")]
    pub material: Spanned<Material>,
    /// How it loses energy; not at all where it is left out.
    #[serde(default)]
    pub damping: Damping,
    /// `lumped` (default) or `consistent`.
    #[serde(default)]
    #[schemars(schema_with = "mass_names")]
    pub mass_matrix: Option<MassMatrix>,
    /// Nodes that the world or a rigid body holds.
    #[serde(default)]
    pub attach: Vec<Attach>,
    /// Stiff directions of parts of it, and muscles.
    #[serde(default)]
    pub fibre: Vec<FibreLayer>,
    /// Pressures inside parts of it.
    #[serde(default)]
    pub inflate: Vec<Inflate>,
    /// Parts with other moduli, such as hollow chambers; later ones win.
    #[serde(default)]
    pub fill: Vec<Fill>,
    /// A surface mesh (OBJ or STL, in the frame of the tetrahedra) that is drawn in its place.
    #[schemars(with = "Option<String>")]
    pub visual: Option<Spanned<String>>,
    /// Friction coefficient of its surface.
    pub friction: Option<NonNegative>,
    /// Restitution of its surface, 0 to 1.
    pub restitution: Option<Fraction>,
    /// Thickness of the layer about its surface nodes that touches [m]; 0 where it is left out.
    pub thickness: Option<Reach>,
    /// False: its surface touches nothing.
    pub collide: Option<bool>,
    /// True: its surface touches itself too.
    pub self_contact: Option<bool>,
    /// True (default): corners and edges of rigid bodies touch its faces. False: only its own nodes touch rigid bodies.
    pub rigid_edges: Option<bool>,
}

/// Tetrahedra: exactly one of file, cover, block, sphere, cylinder, torus, sheet and ring.
#[derive(Debug, Deserialize)]
#[serde(try_from = "TetShapeKeys")]
pub(crate) enum TetShape {
    File(TetFile),
    Cover(Cover),
    Block(Block),
    Sphere(Sphere),
    Cylinder(Cylinder),
    Torus(Torus),
    Sheet(Sheet),
    Ring(Ring),
}

impl JsonSchema for TetShape {
    fn schema_name() -> Cow<'static, str> {
        "TetShape".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        TetShapeKeys::json_schema(g)
    }
}

/// Tetrahedra: exactly one of file, cover, block, sphere, cylinder, torus, sheet and ring.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TetShapeKeys {
    /// A mesh file: Gmsh .msh, TetGen .node and .ele, legacy VTK .vtk or Medit .mesh; relative to the scene file.
    #[schemars(with = "Option<String>")]
    file: Option<Spanned<String>>,
    /// Factor of a mesh file's coordinates; 1 where it is left out.
    scale: Option<Positive>,
    /// Volume of the part that a mesh file covers [m³]: its mass is the density times this. That of the mesh where it is
    /// left out.
    volume: Option<Positive>,
    cover: Option<Cover>,
    block: Option<Block>,
    sphere: Option<Sphere>,
    cylinder: Option<Cylinder>,
    torus: Option<Torus>,
    sheet: Option<Sheet>,
    ring: Option<Ring>,
}

impl TryFrom<TetShapeKeys> for TetShape {
    type Error = &'static str;

    fn try_from(k: TetShapeKeys) -> Result<TetShape, &'static str> {
        if k.scale.is_some() && k.file.is_none() {
            return Err("`scale` belongs to a mesh `file`; give sizes instead");
        }
        if k.volume.is_some() && k.file.is_none() {
            return Err("`volume` belongs to a mesh `file`");
        }
        let scale = k.scale.map_or(1.0, |s| s.0);
        let kinds = [
            k.file.map(|file| TetShape::File(TetFile { file, scale, volume: k.volume.map(|v| v.0) })),
            k.cover.map(TetShape::Cover),
            k.block.map(TetShape::Block),
            k.sphere.map(TetShape::Sphere),
            k.cylinder.map(TetShape::Cylinder),
            k.torus.map(TetShape::Torus),
            k.sheet.map(TetShape::Sheet),
            k.ring.map(TetShape::Ring),
        ];
        let mut given = kinds.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(kind), None) => Ok(kind),
            _ => Err(
                "a mesh is exactly one of `file`, `cover`, `block`, `sphere`, `cylinder`, `torus`, `sheet` and `ring`",
            ),
        }
    }
}

#[derive(Debug)]
pub(crate) struct TetFile {
    pub file: Spanned<String>,
    pub scale: f64,
    pub volume: Option<f64>,
}

/// Cells of a lattice that a closed surface touches or encloses, six tetrahedra each, with the mass of what it encloses.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cover {
    /// The surface: OBJ or STL, relative to the scene file. It is what is drawn.
    #[schemars(with = "String")]
    pub file: Spanned<String>,
    /// Factor of its coordinates; 1 where it is left out.
    pub scale: Option<Positive>,
    /// Size of the cells [m].
    pub cell: Length,
}

/// A block that stands on z = 0, centred in x and y; six tetrahedra per cell.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block {
    /// Cells along x, y and z.
    #[serde(deserialize_with = "exactly")]
    pub cells: [Count; 3],
    /// Lengths [m].
    pub size: Sizes,
}

/// A ball about the origin.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sphere {
    /// Radius [m].
    pub radius: Length,
    /// Layers from the middle to the surface; seven give 1415 nodes and 6860 tetrahedra.
    pub shells: Count,
}

/// A cylinder along z that stands on z = 0.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cylinder {
    /// Radius [m].
    pub radius: Length,
    /// Length [m].
    pub length: Length,
    /// Rings across the radius.
    pub rings: Count,
    /// Layers along the axis.
    pub layers: Count,
}

/// A torus about z.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Torus {
    /// Radius of the middle line [m].
    pub radius: Length,
    /// Radius of the tube [m].
    pub tube: Length,
    /// Rings across the tube.
    pub rings: Count,
    /// Segments around; at least 3.
    pub segments: Count,
}

/// A sheet one cell thick.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sheet {
    /// Cells along x and y.
    #[serde(deserialize_with = "exactly")]
    pub cells: [Count; 2],
    /// Lengths along x and y [m].
    #[serde(deserialize_with = "exactly")]
    pub size: [Length; 2],
    /// Thickness [m].
    pub thickness: Length,
}

/// A ring of square section about z.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ring {
    /// Radius of the middle line [m].
    pub radius: Length,
    /// Side of the square [m].
    pub side: Length,
    /// Segments around; at least 3.
    pub segments: Count,
}

/// A whole number from 1 to 400.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
pub(crate) struct Count(#[schemars(range(min = 1, max = 400))] pub usize);

impl TryFrom<i64> for Count {
    type Error = String;

    fn try_from(n: i64) -> Result<Count, String> {
        match usize::try_from(n) {
            Ok(n @ 1..=400) => Ok(Count(n)),
            _ => Err(format!("{n} is not allowed: give a whole number from 1 to 400")),
        }
    }
}

/// A material: a preset, constants, or a preset with some constants replaced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Material {
    /// A named material; see docs/materials.md.
    #[serde(default)]
    #[schemars(schema_with = "preset_names")]
    pub preset: Option<Preset>,
    /// `corotated` (default), `linear`, `st-venant-kirchhoff`, `neo-hookean` or `stable-neo-hookean`.
    #[schemars(with = "Option<String>")]
    pub law: Option<Spanned<String>>,
    /// Volume ratio below which `neo-hookean` is extrapolated.
    pub threshold: Option<Number>,
    /// Young's modulus [Pa].
    pub young: Option<Number>,
    /// Poisson's ratio.
    pub poisson: Option<Number>,
    /// Density [kg/m³].
    pub density: Option<Number>,
}

/// Energy losses.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Damping {
    /// Rayleigh damping by mass [1/s].
    pub mass: Option<NonNegative>,
    /// Rayleigh damping by stiffness [s].
    pub stiffness: Option<NonNegative>,
    /// Viscosity of the rate of Green's strain [Pa·s].
    pub viscosity: Option<NonNegative>,
}

/// Fibres through all tetrahedra whose middle lies in a box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FibreLayer {
    /// Smallest and largest coordinates of the box in the frame of the mesh [m].
    #[serde(rename = "box", deserialize_with = "exactly")]
    pub corners: [Place; 2],
    /// Direction of the fibres at rest.
    pub direction: Direction,
    /// What they add to Young's modulus along them [Pa].
    pub stiffness: NonNegative,
    /// What they pull with [Pa]; 0 where it is left out.
    pub tension: Option<Number>,
}

/// A pressure in all tetrahedra whose middle lies in a box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inflate {
    /// Smallest and largest coordinates of the box in the frame of the mesh [m].
    #[serde(rename = "box", deserialize_with = "exactly")]
    pub corners: [Place; 2],
    /// Pairs of time [s] and pressure [Pa]; straight lines between them.
    pub pressure: Vec<[Number; 2]>,
}

/// Other moduli in all tetrahedra whose middle lies in a box.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fill {
    /// Smallest and largest coordinates of the box in the frame of the mesh [m].
    #[serde(rename = "box", deserialize_with = "exactly")]
    pub corners: [Place; 2],
    /// Young's modulus [Pa].
    pub young: Positive,
    /// Poisson's ratio, above −1 and below 0.5.
    pub poisson: Number,
}

/// Nodes that are held: exactly one of `nodes` and `box`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attach {
    /// Numbers of nodes, counted from 0.
    #[schemars(with = "Option<Vec<u32>>")]
    pub nodes: Option<Spanned<Vec<u32>>>,
    /// Smallest and largest coordinates of a box in the frame of the mesh [m].
    #[serde(rename = "box", default, deserialize_with = "corners")]
    #[schemars(with = "Option<[Place; 2]>")]
    pub corners: Option<[Place; 2]>,
    /// The rigid body that holds them; the world where it is left out.
    #[schemars(with = "Option<String>")]
    pub to: Option<Spanned<String>>,
}

fn corners<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<[Place; 2]>, D::Error> {
    exactly(d).map(Some)
}

fn preset_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": Preset::ALL })
}

fn mass_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": ["lumped", "consistent"] })
}
