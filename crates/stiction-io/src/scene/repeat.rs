//! `repeat`: one body of the file becomes many of the scene.

use super::file::Repeat;
use super::rng::Rng;
use super::value::or_zero;
use stiction::Vec3;
use stiction::scene::{Body, Geometry, MassSpec};

/// Most copies of one body: far above what a step can take, far below what memory can.
pub(crate) const MOST_COPIES: usize = 1_000_000;

/// Most points (of hulls and meshes) that copies may hold together.
const MOST_POINTS: usize = 50_000_000;

/// Makes the copies. An error says what is wrong with the rule.
pub(crate) fn copies(first: &Body, r: &Repeat) -> Result<Vec<Body>, String> {
    let places = places(first, r)?;
    let points: usize = first.shapes.iter().map(|s| points(&s.geometry)).sum();
    if places.len().saturating_mul(points) > MOST_POINTS {
        return Err(format!(
            "{} copies of {points} points each: use fewer copies or a coarser mesh",
            places.len()
        ));
    }
    let mut rng = Rng::new(r.random.seed);
    let (mut mass, mut size) = (1.0, 1.0);
    let mut out = Vec::with_capacity(places.len());
    for (name, at) in places {
        let mut b = first.clone();
        b.name = name;
        b.pose.translation += at;
        if let Some(s) = r.random.shift {
            b.pose.translation += rng.shift(s.vec().abs());
        }
        let mut factor = Vec3::splat(size);
        if let Some([lo, hi]) = r.random.size {
            let one_box = matches!(b.shapes.as_slice(), [s] if matches!(s.geometry, Geometry::Box { .. }));
            factor *= if one_box {
                Vec3::new(rng.between(lo.0, hi.0), rng.between(lo.0, hi.0), rng.between(lo.0, hi.0))
            } else {
                Vec3::splat(rng.between(lo.0, hi.0))
            };
        }
        if r.random.rotation {
            b.pose.rotation = rng.rotation();
        }
        scale(&mut b, factor, mass)?;
        out.push(b);
        mass *= r.mass_factor.map_or(1.0, |f| f.0);
        size *= r.size_factor.map_or(1.0, |f| f.0);
    }
    Ok(out)
}

/// Name and offset of every copy.
fn places(first: &Body, r: &Repeat) -> Result<Vec<(String, Vec3)>, String> {
    let most = |n: usize| {
        if n == 0 || n > MOST_COPIES { Err(format!("{n} copies: give 1 to {MOST_COPIES}")) } else { Ok(n) }
    };
    let name = &first.name;
    match (r.count, r.step, r.grid, r.spacing) {
        (Some(count), Some(step), None, None) if r.stagger.is_none() => {
            Ok((0..most(count)?).map(|i| (format!("{name}-{i}"), i as f64 * step.vec())).collect())
        }
        (count, None, Some(grid), Some(spacing)) if r.mass_factor.is_none() && r.size_factor.is_none() => {
            let full = most(grid[0].saturating_mul(grid[1]).saturating_mul(grid[2]))?;
            let count = most(count.unwrap_or(full))?;
            if count > full {
                return Err(format!("{count} copies in a grid of {full}: make the grid larger"));
            }
            let d = spacing.vec();
            let place = |n: usize| {
                let (i, j, k) = (n % grid[0], n / grid[0] % grid[1], n / grid[0] / grid[1]);
                let mut at = d * Vec3::new(i as f64, j as f64, k as f64);
                if k % 2 == 1 {
                    at += or_zero(r.stagger);
                }
                (format!("{name}-{i}-{j}-{k}"), at)
            };
            Ok((0..count).map(place).collect())
        }
        _ => Err(
            "a repeat is a line or a grid: give `count` and `step` (with `mass_factor`, `size_factor`), or \
                  `grid` and `spacing` (with `stagger`, `count`)"
                .into(),
        ),
    }
}

fn points(g: &Geometry) -> usize {
    match g {
        Geometry::ConvexHull { points } => points.len(),
        Geometry::TriMesh { vertices, triangles } => vertices.len() + triangles.len(),
        Geometry::Heightfield(field) => 3 * field.heights.len(),
        _ => 1,
    }
}

/// Scales the shapes and their places by `size`, and the mass by `mass`.
fn scale(b: &mut Body, size: Vec3, mass: f64) -> Result<(), String> {
    let uniform = size.x;
    for s in &mut b.shapes {
        s.pose.translation *= size;
        match &mut s.geometry {
            Geometry::Plane => {}
            Geometry::Sphere { radius } => *radius *= uniform,
            Geometry::Box { half } => *half *= size,
            Geometry::Capsule { half_height, radius }
            | Geometry::Cylinder { half_height, radius }
            | Geometry::Cone { half_height, radius } => {
                *half_height *= uniform;
                *radius *= uniform;
            }
            Geometry::ConvexHull { points } => points.iter_mut().for_each(|p| *p *= uniform),
            Geometry::Heightfield(field) => {
                field
                    .heights
                    .iter_mut()
                    .chain(&mut field.size)
                    .chain(&mut field.base)
                    .for_each(|x| *x *= uniform);
            }
            Geometry::TriMesh { vertices, .. } => vertices.iter_mut().for_each(|p| *p *= uniform),
        }
    }
    match &mut b.mass {
        MassSpec::Density(d) => *d *= mass,
        MassSpec::Mass(m) => *m *= mass,
        MassSpec::Given { .. } if size != Vec3::ONE => {
            return Err(
                "the inertia is given, so the size cannot change: give `mass` or `density` alone".into()
            );
        }
        MassSpec::Given { mass: m, inertia, .. } => {
            *m *= mass;
            *inertia *= mass;
        }
    }
    if let Some(bad) = [uniform, mass].into_iter().find(|f| !(f.is_finite() && *f > 0.0)) {
        return Err(format!("the factor grows to {bad}: use a factor nearer to 1 or fewer copies"));
    }
    Ok(())
}
