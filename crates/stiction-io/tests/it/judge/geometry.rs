//! Signed distances of two shapes, from their support functions alone.
//!
//! | pair | how |
//! |---|---|
//! | sphere, capsule, box, cylinder, cone, hull, particle with each other | the point of A − B nearest to the origin (Wolfe 1976); where the cores overlap, the best of many separating planes |
//! | these with a plane | the lowest point along its normal |
//! | these with triangles | the same with each triangle, and the inside by the solid angle |
//! | triangles with triangles or a plane | each triangle with each, their corners |
//!
//! Any plane bounds the overlap from above. So an overlap is never missed where the planes tried say that there is one; that
//! it is less deep than it seems is possible. Left out: soft surfaces against each other, and their faces against rigid
//! corners; their nodes are judged against rigid shapes.

use stiction::coords::Pose;
use stiction::scene::ModelShape;
use stiction::{Quat, Vec3};

/// The part of a shape about which its rounding lies, in its own frame.
#[derive(Clone, Debug)]
pub enum Core {
    /// Convex hull of points: point, segment, triangle, polytope.
    Points(Vec<Vec3>),
    Box(Vec3),
    /// Half height along y and radius.
    Cylinder(f64, f64),
    /// Half height along y (the tip up) and radius.
    Cone(f64, f64),
}

/// A shape in plain terms.
#[derive(Clone, Debug)]
pub enum Solid {
    /// A core and its rounding radius.
    Convex(Core, f64),
    /// Everything on the side against the normal of a plane through the origin.
    Half(Vec3),
    /// A surface of triangles.
    Triangles(Vec<[Vec3; 3]>),
    Unknown,
}

impl Solid {
    pub fn of(shape: &ModelShape) -> Solid {
        let g = &shape.geometry;
        if let Some(ball) = g.as_ball() {
            Solid::Convex(Core::Points(vec![Vec3::ZERO]), ball.radius)
        } else if let Some(block) = g.as_cuboid() {
            Solid::Convex(Core::Box(block.half_extents), 0.0)
        } else if let Some(c) = g.as_capsule() {
            Solid::Convex(Core::Points(vec![c.segment.a, c.segment.b]), c.radius)
        } else if let Some(c) = g.as_cylinder() {
            Solid::Convex(Core::Cylinder(c.half_height, c.radius), 0.0)
        } else if let Some(c) = g.as_cone() {
            Solid::Convex(Core::Cone(c.half_height, c.radius), 0.0)
        } else if let Some(hull) = g.as_convex_polyhedron() {
            Solid::Convex(Core::Points(hull.points().to_vec()), 0.0)
        } else if let Some(plane) = g.as_halfspace() {
            Solid::Half(plane.normal)
        } else if let Some(mesh) = g.as_trimesh() {
            let at = |k: u32| mesh.vertices()[k as usize];
            Solid::Triangles(mesh.indices().iter().map(|t| t.map(at)).collect())
        } else {
            Solid::Unknown
        }
    }

    fn at(&self, pose: &Pose) -> Placed {
        match self {
            Solid::Convex(core, radius) => {
                Placed::Convex(Body { core: core.clone(), radius: *radius, pose: *pose })
            }
            Solid::Half(n) => Placed::Half(pose.rotation * *n, pose.translation),
            Solid::Triangles(t) => {
                Placed::Triangles(t.iter().map(|t| t.map(|p| pose.transform_point(p))).collect())
            }
            Solid::Unknown => Placed::Unknown,
        }
    }
}

enum Placed {
    Convex(Body),
    /// Normal and a point.
    Half(Vec3, Vec3),
    Triangles(Vec<[Vec3; 3]>),
    Unknown,
}

/// A convex shape in the world.
#[derive(Clone)]
struct Body {
    core: Core,
    radius: f64,
    pose: Pose,
}

impl Body {
    fn triangle(t: &[Vec3; 3]) -> Body {
        Body { core: Core::Points(t.to_vec()), radius: 0.0, pose: Pose::IDENTITY }
    }

    /// The point of the core that is farthest along a direction.
    fn support(&self, d: Vec3) -> Vec3 {
        let d = self.pose.rotation.conjugate() * d;
        let rim = |r: f64| {
            let flat = Vec3::new(d.x, 0.0, d.z);
            flat.normalize_or_zero() * r
        };
        let p = match &self.core {
            Core::Points(points) => {
                *points.iter().max_by(|p, q| p.dot(d).total_cmp(&q.dot(d))).expect("a core has points")
            }
            Core::Box(half) => Vec3::new(half.x.copysign(d.x), half.y.copysign(d.y), half.z.copysign(d.z)),
            Core::Cylinder(half, r) => rim(*r) + Vec3::Y * half.copysign(d.y),
            Core::Cone(half, r) => {
                let (tip, base) = (Vec3::Y * *half, rim(*r) - Vec3::Y * *half);
                if tip.dot(d) > base.dot(d) { tip } else { base }
            }
        };
        self.pose.transform_point(p)
    }

    fn centre(&self) -> Vec3 {
        match &self.core {
            Core::Points(p) => self.pose.transform_point(p.iter().sum::<Vec3>() / p.len() as f64),
            _ => self.pose.translation,
        }
    }

    /// Directions in which flat faces look.
    fn faces(&self) -> Vec<Vec3> {
        let turn = |v: Vec3| self.pose.rotation * v;
        match &self.core {
            Core::Box(_) => vec![turn(Vec3::X), turn(Vec3::Y), turn(Vec3::Z)],
            Core::Cylinder(..) | Core::Cone(..) => vec![turn(Vec3::Y)],
            Core::Points(p) if p.len() == 3 => {
                vec![turn((p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero())]
            }
            Core::Points(_) => Vec::new(),
        }
    }

    /// Directions of straight edges.
    fn edges(&self) -> Vec<Vec3> {
        match &self.core {
            Core::Points(p) if p.len() == 2 => vec![self.pose.rotation * (p[1] - p[0]).normalize_or_zero()],
            Core::Points(p) if p.len() == 3 => {
                (0..3).map(|k| self.pose.rotation * (p[(k + 1) % 3] - p[k]).normalize_or_zero()).collect()
            }
            Core::Points(_) => Vec::new(),
            _ => self.faces(),
        }
    }
}

/// How far a plane across `d` (of length one, from b to a) holds two bodies apart; negative where it does not.
fn apart(a: &Body, b: &Body, d: Vec3) -> f64 {
    d.dot(a.support(-d)) - d.dot(b.support(d)) - a.radius - b.radius
}

/// The point of the hull of a few points that is nearest to the origin, with the points that carry it: the best of all
/// subsets of up to four whose nearest point lies inside of them.
fn nearest_of(points: &[Vec3]) -> (Vec3, Vec<Vec3>) {
    let mut best = (Vec3::INFINITY, Vec::new());
    for mask in (1..1_u32 << points.len()).filter(|m| m.count_ones() <= 4) {
        let set: Vec<Vec3> = (0..points.len()).filter(|k| mask >> k & 1 == 1).map(|k| points[k]).collect();
        let p0 = set[0];
        let e: Vec<Vec3> = set[1..].iter().map(|p| *p - p0).collect();
        let Some(t) = weights(&e, -p0) else { continue };
        if t.iter().all(|x| *x >= 0.0) && t.iter().sum::<f64>() <= 1.0 {
            let x = p0 + e.iter().zip(&t).map(|(e, t)| *e * *t).sum::<Vec3>();
            if x.length_squared() < best.0.length_squared() {
                best = (x, set);
            }
        }
    }
    best
}

/// Least squares of Σ t_i e_i = x by orthogonalisation; nothing where the directions depend on each other.
fn weights(e: &[Vec3], x: Vec3) -> Option<Vec<f64>> {
    let mut q: Vec<Vec3> = Vec::new();
    let mut r = vec![[0.0; 3]; e.len()];
    for (j, v) in e.iter().enumerate() {
        let mut rest = *v;
        for (i, q) in q.iter().enumerate() {
            r[j][i] = q.dot(rest);
            rest -= *q * r[j][i];
        }
        r[j][j] = rest.length();
        if r[j][j] <= 1e-12 * v.length() {
            return None;
        }
        q.push(rest / r[j][j]);
    }
    let mut t = vec![0.0; e.len()];
    for i in (0..e.len()).rev() {
        t[i] = q[i].dot(x);
        for j in i + 1..e.len() {
            t[i] -= r[j][i] * t[j];
        }
        t[i] /= r[i][i];
    }
    Some(t)
}

/// Most points that are taken into the search; each one brings it nearer, by half or more on flat shapes.
const SEARCH: usize = 200;
/// The search ends where bounds from both sides agree to this share of the sizes.
const CLOSE: f64 = 1e-12;

/// Signed distance of two convex bodies [m]: the gap, or an upper bound of the overlap, negative. `hints` are directions to try.
fn convex(a: &Body, b: &Body, hints: &[Vec3]) -> f64 {
    // The point of the difference of the cores that is nearest to the origin.
    let mut x = a.centre() - b.centre();
    if x == Vec3::ZERO {
        x = Vec3::Z;
    }
    let mut set = Vec::new();
    let size = x.length().max(1e-300);
    let mut lower = f64::NEG_INFINITY;
    for _ in 0..SEARCH {
        let d = x.normalize_or_zero();
        let c = a.support(-d) - b.support(d);
        lower = lower.max(d.dot(c));
        if x.length() - lower <= CLOSE * size && !set.is_empty() || set.contains(&c) {
            break;
        }
        set.push(c);
        let (next, carriers) = nearest_of(&set);
        if next.length() >= x.length() && set.len() > 1 {
            break;
        }
        (x, set) = (next, carriers);
        if x.length() <= CLOSE * size {
            break;
        }
    }
    let mut best = lower - a.radius - b.radius;
    if lower > 1e-9 * size {
        return best;
    }
    // The cores touch or overlap: the plane that parts them best.
    let mut try_all = |directions: &mut dyn Iterator<Item = Vec3>| {
        for d in directions.filter(|d| d.length_squared() > 1e-12).map(Vec3::normalize) {
            best = best.max(apart(a, b, d)).max(apart(a, b, -d));
        }
    };
    try_all(&mut hints.iter().copied());
    try_all(&mut a.faces().into_iter().chain(b.faces()));
    let (ea, eb) = (a.edges(), b.edges());
    try_all(&mut ea.iter().flat_map(|e| eb.iter().map(|f| e.cross(*f))));
    best
}

/// The same with planes of all directions, refined about the best ones: for bodies whose overlap nothing explains.
fn convex_at_length(a: &Body, b: &Body, hints: &[Vec3]) -> f64 {
    let mut best = convex(a, b, hints);
    let mut at = Vec3::Z;
    let mut widest = f64::NEG_INFINITY;
    for k in 0..800 {
        // Directions spread evenly by the golden angle.
        let z = 1.0 - (2.0 * f64::from(k) + 1.0) / 800.0;
        let (s, c) = (f64::from(k) * 2.399_963_229_728_653).sin_cos();
        let d = Vec3::new(c, s, 0.0) * (1.0 - z * z).sqrt() + Vec3::Z * z;
        let s = apart(a, b, d);
        if s > widest {
            (widest, at) = (s, d);
        }
    }
    let mut step = 0.1;
    while step > 1e-9 {
        let mut moved = false;
        for e in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
            let d = (at + e * step).normalize();
            let s = apart(a, b, d);
            if s > widest {
                (widest, at, moved) = (s, d, true);
            }
        }
        if !moved {
            step /= 2.0;
        }
    }
    best = best.max(widest);
    best
}

/// Is a point inside a closed surface? By the solid angle of all triangles (van Oosterom & Strackee 1983).
fn is_inside(p: Vec3, triangles: &[[Vec3; 3]]) -> bool {
    let angle = |t: &[Vec3; 3]| {
        let [a, b, c] = t.map(|v| v - p);
        let (x, y, z) = (a.length(), b.length(), c.length());
        2.0 * a.dot(b.cross(c)).atan2(x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
    };
    triangles.iter().map(angle).sum::<f64>() > 2.0 * std::f64::consts::PI
}

/// A shape and where it stands.
pub type Stands<'a> = (&'a Solid, Pose);

/// Signed distance of two shapes [m], negative where they overlap; `None` for pairs that are not covered. With `deep` no
/// plane is left untried.
pub fn signed_distance((a, pa): Stands, (b, pb): Stands, hints: &[Vec3], deep: bool) -> Option<f64> {
    let pair = |x: &Body, y: &Body| if deep { convex_at_length(x, y, hints) } else { convex(x, y, hints) };
    match (a.at(&pa), b.at(&pb)) {
        (Placed::Convex(x), Placed::Convex(y)) => Some(pair(&x, &y)),
        (Placed::Convex(x), Placed::Half(n, p)) | (Placed::Half(n, p), Placed::Convex(x)) => {
            Some(n.dot(x.support(-n) - p) - x.radius)
        }
        (Placed::Convex(x), Placed::Triangles(t)) | (Placed::Triangles(t), Placed::Convex(x)) => {
            let reach =
                (x.support(Vec3::X) - x.centre()).length().max((x.support(Vec3::ONE) - x.centre()).length());
            let near = t.iter().filter(|t| {
                let far = t.iter().map(|p| p.distance(t[0])).fold(0.0, f64::max);
                t[0].distance(x.centre()) <= far + 3.0 * reach + 2.0 * x.radius
            });
            let least = near.map(|t| pair(&x, &Body::triangle(t))).fold(f64::INFINITY, f64::min);
            // A centre inside lies as deep as the surface is far, and the rounding deeper still.
            let sunk = -(least + x.radius).abs() - x.radius;
            Some(if is_inside(x.centre(), &t) { sunk } else { least })
        }
        (Placed::Triangles(t), Placed::Half(n, p)) | (Placed::Half(n, p), Placed::Triangles(t)) => {
            Some(t.iter().flatten().map(|v| n.dot(*v - p)).fold(f64::INFINITY, f64::min))
        }
        (Placed::Triangles(s), Placed::Triangles(t)) => {
            let one = |s: &[Vec3; 3], t: &[Vec3; 3]| pair(&Body::triangle(s), &Body::triangle(t));
            Some(s.iter().flat_map(|s| t.iter().map(move |t| one(s, t))).fold(f64::INFINITY, f64::min))
        }
        _ => None,
    }
}

/// The pose of a shape in the world, given that of the centre of mass of its owner.
pub fn placed(owner: &Pose, local: &Pose) -> Pose {
    let rotation: Quat = owner.rotation * local.rotation;
    Pose { rotation, translation: owner.translation + owner.rotation * local.translation }
}

mod tests {
    use super::*;

    fn sphere(r: f64) -> Solid {
        Solid::Convex(Core::Points(vec![Vec3::ZERO]), r)
    }

    fn at(x: f64, y: f64, z: f64) -> Pose {
        Pose { rotation: Quat::IDENTITY, translation: Vec3::new(x, y, z) }
    }

    fn check(a: Stands, b: Stands, want: f64) {
        for (a, b) in [((a.0, a.1), (b.0, b.1)), ((b.0, b.1), (a.0, a.1))] {
            let got = signed_distance(a, b, &[], false).unwrap();
            assert!((got - want).abs() < 1e-9, "{a:?} {b:?}: {got} for {want}");
        }
    }

    #[test]
    fn distances_of_simple_pairs_are_those_of_closed_forms() {
        let cube = Solid::Convex(Core::Box(Vec3::splat(0.5)), 0.0);
        let capsule = Solid::Convex(Core::Points(vec![-Vec3::Z, Vec3::Z]), 0.1);
        let tin = Solid::Convex(Core::Cylinder(1.0, 0.5), 0.0);
        let ground = Solid::Half(Vec3::Z);
        let o = at(0.0, 0.0, 0.0);
        check((&sphere(0.5), o), (&sphere(0.25), at(0.6, 0.8, 0.0)), 0.25);
        check((&sphere(0.5), o), (&sphere(0.25), at(0.3, 0.4, 0.0)), -0.25);
        check((&sphere(0.1), at(1.0, 1.0, 1.0)), (&cube, o), 0.75_f64.sqrt() - 0.1);
        check((&sphere(0.1), at(0.0, 0.1, 0.45)), (&cube, o), -0.15);
        check((&capsule, at(0.7, 0.3, 0.0)), (&cube, o), 0.1);
        check((&cube, at(1.25, 0.3, 0.2)), (&cube, o), 0.25);
        check((&cube, at(0.98, 0.3, 0.2)), (&cube, o), -0.02);
        check((&sphere(0.1), at(0.9, 0.3, 0.0)), (&tin, o), 0.3);
        check((&sphere(0.1), at(0.3, 1.3, 0.4)), (&tin, o), 0.2);
        check((&tin, at(0.0, 0.0, 0.45)), (&ground, o), -0.05);
        check((&cube, at(0.0, 0.0, 0.7)), (&ground, o), 0.2);
        // Two capsules that cross at right angles.
        let turned =
            Pose { rotation: Quat::from_rotation_y(std::f64::consts::FRAC_PI_2), translation: Vec3::Y };
        check((&capsule, o), (&capsule, turned), 0.8);
    }

    #[test]
    fn triangles_have_an_inside() {
        let c: Vec<Vec3> =
            (0..8).map(|k| Vec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2))).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let cube = Solid::Triangles(
            quads.iter().flat_map(|q| [[c[q[0]], c[q[1]], c[q[2]]], [c[q[0]], c[q[2]], c[q[3]]]]).collect(),
        );
        check((&sphere(0.1), at(0.5, 0.5, 1.3)), (&cube, at(0.0, 0.0, 0.0)), 0.2);
        check((&sphere(0.1), at(0.5, 0.5, 1.05)), (&cube, at(0.0, 0.0, 0.0)), -0.05);
        assert!(is_inside(
            Vec3::splat(0.3),
            match &cube {
                Solid::Triangles(t) => t,
                _ => &[],
            }
        ));
        assert!(!is_inside(
            Vec3::new(0.3, 0.3, 1.1),
            match &cube {
                Solid::Triangles(t) => t,
                _ => &[],
            }
        ));
    }

    #[test]
    fn planes_of_all_directions_find_the_overlap_of_cubes() {
        let cube = Solid::Convex(Core::Box(Vec3::splat(0.5)), 0.0);
        let turned = Pose {
            rotation: Quat::from_rotation_z(std::f64::consts::FRAC_PI_4),
            translation: Vec3::new(1.15, 0.0, 0.1),
        };
        let o = at(0.0, 0.0, 0.0);
        let got = signed_distance((&cube, turned), (&cube, o), &[], true).unwrap();
        assert!((got - (1.15 - 0.5 - 0.5_f64.sqrt())).abs() < 1e-6, "{got}");
    }
}
