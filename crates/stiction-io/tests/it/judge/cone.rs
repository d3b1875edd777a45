//! Coulomb's law at each contact: its coefficients as the scene gives them, pushing, the cone, closing, and slip.

use crate::judge::record::{NORMS, Place, Record};
use crate::judge::verdict::{LawOf, Verdict};
use stiction::collide::Contact;
use stiction::contact::Friction;
use stiction::coords::{Anchor, ShapeId};
use stiction::scene::{Combine, ModelShape, Owner, SurfaceFriction};
use stiction::{Quat, Scheme, Vec3};

/// Friction is compared with the cone to rounding of its parts.
const ROUNDING: f64 = 1e-9;
/// What a curved or turning surface leaves of a linearised gap: the second-order term of a turn is half of angle² times
/// arm, and both sides, both ends of the step and the turn of the normal count.
const CURVATURE: f64 = 2.0;
/// Overlaps are pushed out down to this share of the smaller shape.
pub const SLOP: f64 = 2e-4;

/// What a solver promises beyond cone and momentum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Coulomb's law.
    Coulomb,
    /// Forces that push and stay in the cone.
    Cone,
}

fn combine(rule: Combine, a: f64, b: f64) -> f64 {
    match rule {
        Combine::GeometricMean => (a * b).sqrt(),
        Combine::Mean => (a + b) / 2.0,
        Combine::Min => a.min(b),
        Combine::Max => a.max(b),
    }
}

/// Coefficients along two directions of the surface, the first of which is given where they differ.
fn coefficients(r: &Record, c: &Contact) -> ([f64; 2], Option<Vec3>) {
    let of = |s: ShapeId| &r.model.shapes[s.index()];
    let (a, b) = (of(c.key.shape_a), of(c.key.shape_b));
    let rule = r.model.pair_rule(r.model.whole(a.owner), r.model.whole(b.owner));
    if let Some(mu) = rule.and_then(|p| p.friction) {
        return ([mu; 2], None);
    }
    let pair = |s: &ModelShape| match s.friction {
        SurfaceFriction::Isotropic(mu) => ([mu, mu], None),
        SurfaceFriction::Elliptic { mu1, mu2, direction } => {
            ([mu1, mu2], Some(rotation(r, s.owner) * (s.local.rotation * direction)))
        }
    };
    let ((x, dx), (y, dy)) = (pair(a), pair(b));
    let stretch = |m: [f64; 2]| m[0].max(m[1]) / m[0].min(m[1]);
    let keeps_first = match (dx, dy) {
        (Some(_), Some(_)) => stretch(x) >= stretch(y),
        (_, None) => true,
        (None, Some(_)) => false,
    };
    let (long, direction, other) = if keeps_first { (x, dx, y) } else { (y, dy, x) };
    let round = (other[0] * other[1]).sqrt();
    (long.map(|m| combine(r.model.contact.combine_friction, m, round)), direction)
}

fn rotation(r: &Record, owner: Owner) -> Quat {
    match owner {
        Owner::Body(b) => r.pose(r.before, b).rotation,
        _ => Quat::IDENTITY,
    }
}

/// The restitution of a contact as the scene gives it.
fn restitution(r: &Record, c: &Contact) -> f64 {
    let of = |s: ShapeId| &r.model.shapes[s.index()];
    let (a, b) = (of(c.key.shape_a), of(c.key.shape_b));
    let rule = r.model.pair_rule(r.model.whole(a.owner), r.model.whole(b.owner));
    let combined = combine(r.model.contact.combine_restitution, a.restitution, b.restitution);
    rule.and_then(|p| p.restitution).unwrap_or(combined)
}

/// The friction that brakes most within the ellipse of a normal force.
fn braking(slip: [f64; 2], mu: [f64; 2], normal: f64) -> [f64; 2] {
    let s = (mu[0] * slip[0]).hypot(mu[1] * slip[1]);
    [0, 1].map(|i| if s > 0.0 { -normal * mu[i] * (mu[i] * slip[i] / s) } else { 0.0 })
}

/// How far friction lies outside the ellipse, as a share of the normal force; directions without friction count whole.
fn excess(f: [f64; 2], mu: [f64; 2], normal: f64) -> f64 {
    let allowed = mu.map(|m| m * normal.max(0.0));
    // Along the direction of the force the ellipse reaches as far as 1/√(Σ (d_i/allowed_i)²).
    let size = f[0].hypot(f[1]);
    if size == 0.0 {
        return 0.0;
    }
    let inverse = [0, 1].map(|i| if f[i] == 0.0 { 0.0 } else { f[i] / size / allowed[i] });
    let reach = if inverse.iter().any(|x| !x.is_finite()) { 0.0 } else { 1.0 / inverse[0].hypot(inverse[1]) };
    size - reach
}

/// Where forces below this do not count [N]: what a velocity error of the solver weighs at this contact.
fn force_tolerance(r: &Record, c: &Contact, error: f64, largest: f64) -> f64 {
    let n = c.frame.row(0);
    let mobility = r.mobility(&c.a, c.point, n) + r.mobility(&c.b, c.point, n);
    let heavy = if mobility > 0.0 { error / (mobility * r.h) } else { 0.0 };
    // Nodes of elastic bodies are stiffer than their mass alone: there the largest force of the step is the scale.
    let soft = is_soft(&c.a) || is_soft(&c.b);
    heavy + ROUNDING * largest + if soft { NORMS * r.tolerance * largest } else { 0.0 }
}

fn is_soft(anchor: &Anchor) -> bool {
    matches!(anchor, Anchor::Node(_) | Anchor::Surface { .. })
}

/// Judges every contact of a step.
pub fn judge(r: &Record, promise: Promise, out: &mut Verdict) {
    let error = r.error();
    let largest = r.contacts.iter().map(|(_, f)| f.length()).fold(0.0, f64::max);
    for (k, ((c, f), &placed)) in r.contacts.iter().zip(&r.placed).enumerate() {
        let name = || name(r, c);
        let (mu, direction) = coefficients(r, c);
        judge_coefficients(r, c, mu, direction, out);

        let n = c.frame.row(0);
        let (t1, t2) = axes(c, direction);
        let (normal, friction) = (f.dot(n), [f.dot(t1), f.dot(t2)]);
        let least = force_tolerance(r, c, error, largest);
        out.judge(LawOf::Push, -normal, ROUNDING * largest + least, || format!("{} pulls", name()));
        let beyond = excess(friction, mu, normal);
        out.judge(LawOf::Cone, beyond, ROUNDING * largest + mu[0].max(1.0) * least, || {
            format!("{}: friction {friction:?} N, normal {normal:e} N, μ {mu:?}", name())
        });
        if promise == Promise::Coulomb && !r.strikes(k) {
            judge_gap(r, c, placed, (normal, least, error), out);
            judge_slip(r, k, ((t1, t2), mu), (normal, friction), (least, error), out);
        }
    }
}

/// Tangents along the directions of the coefficients; any where these agree.
fn axes(c: &Contact, direction: Option<Vec3>) -> (Vec3, Vec3) {
    let n = c.frame.row(0);
    let along = direction.map(|d| d - n * d.dot(n)).filter(|d| d.length() > 1e-5);
    match along {
        Some(d) => (d.normalize(), n.cross(d.normalize())),
        None => (c.frame.row(1), c.frame.row(2)),
    }
}

fn judge_coefficients(r: &Record, c: &Contact, mu: [f64; 2], direction: Option<Vec3>, out: &mut Verdict) {
    let name = || name(r, c);
    let stated = match c.friction {
        Friction::Isotropic(m) => [m, m],
        Friction::Elliptic(m1, m2) => [m1, m2],
    };
    let n = c.frame.row(0);
    let along_normal = direction.is_some_and(|d| (d - n * d.dot(n)).length() < 1e-5);
    let mu = if along_normal { [(mu[0] * mu[1]).sqrt(); 2] } else { mu };
    let off = (mu[0] - stated[0]).abs().max((mu[1] - stated[1]).abs());
    out.judge(LawOf::Coefficients, off, 1e-12, || format!("{}: friction {stated:?} for {mu:?}", name()));
    let e = restitution(r, c);
    out.judge(LawOf::Coefficients, (e - c.restitution).abs(), 1e-12, || format!("{}: restitution", name()));
    let frame = c.frame * c.frame.transpose();
    let skew = (frame - stiction::linalg::Mat3::IDENTITY)
        .to_cols_array()
        .into_iter()
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    out.judge(LawOf::Coefficients, skew, 1e-12, || format!("{}: its frame is not orthonormal", name()));
}

/// Share of its size by which a shape may be moved where overlaps are pushed out: what moves one body moves its neighbours.
pub fn pushed_out(r: &Record) -> f64 {
    let is_deep = |c: &Contact| {
        let of = |s: ShapeId| r.model.shapes[s.index()].scale;
        c.gap < -0.5 * SLOP * of(c.key.shape_a).min(of(c.key.shape_b))
    };
    if r.contacts.iter().any(|(c, _)| is_deep(c)) { SLOP } else { 0.0 }
}

/// Closing, opening, impact.
fn judge_gap(
    r: &Record,
    c: &Contact,
    placed: bool,
    (normal, least, error): (f64, f64, f64),
    out: &mut Verdict,
) {
    let name = || name(r, c);
    let n = c.frame.row(0);
    let [a0, a1] = r.track(&c.a, c.point);
    let [b0, b1] = r.track(&c.b, c.point);
    // The gap at the end between the two material points, along the normal, and what its linearisation leaves.
    let end = c.gap + n.dot((a1 - a0) - (b1 - b0));
    let bent: f64 = [&c.a, &c.b]
        .map(|s| 0.5 * (r.h * r.turning(s)).powi(2) * (r.arm(s, c.point) + c.gap.abs()))
        .iter()
        .sum();
    let shape = |s: ShapeId| r.model.shapes[s.index()].scale;
    let size = shape(c.key.shape_a).min(shape(c.key.shape_b));
    let rounding = 1e-10 * if size.is_finite() { size } else { 1.0 };
    let kept = r.kept(c.key.shape_a, c.key.shape_b);
    let near = r.h * error
        + CURVATURE * bent
        + rounding
        + kept
        + pushed_out(r) * if size.is_finite() { size } else { 0.0 };
    let rate = n.dot(r.velocity(&c.a, c.point) - r.velocity(&c.b, c.point));
    let before = n.dot(r.velocity_before(&c.a, c.point) - r.velocity_before(&c.b, c.point));
    let turn: f64 = [&c.a, &c.b].map(|s| r.h * r.turning(s).powi(2) * r.arm(s, c.point)).iter().sum();
    let slow = error + CURVATURE * turn;

    // Bodies end no nearer than touching, and no nearer than before where they overlap.
    out.judge(LawOf::Approach.if_placed(placed), c.gap.min(0.0) - end, near, || {
        format!("{}: gap {:e} m before, {end:e} m after", name(), c.gap)
    });
    if normal <= least {
        return;
    }
    let threshold = r.model.contact.restitution_threshold;
    let is_impact = c.restitution > 0.0 && before < -threshold + slow;
    if is_impact && end > near {
        // Newton's law of impact.
        let off = (rate + c.restitution * before).abs();
        out.judge(LawOf::Closed.if_placed(placed), off, slow, || {
            format!("{}: {before:e} m/s before, {rate:e} m/s after, restitution {}", name(), c.restitution)
        });
        // Straight motion to the impact and from it: the surfaces touch within the step, or the impulse acted at a distance.
        out.judge(LawOf::Touch, c.gap.min(end), near, || {
            format!("{}: {normal:e} N across a gap of {:e} m before and {end:e} m after", name(), c.gap)
        });
        return;
    }
    // The rate of the gap: what the gap allows, or with the midpoint rule, whose end velocity has a law of its own, Newton's.
    let rebound = if before < -threshold { -c.restitution * before } else { 0.0 };
    let closing = -c.gap.max(0.0) / r.h;
    let wanted = match r.scheme {
        Scheme::Midpoint => rebound,
        Scheme::ImplicitEuler if is_impact && before < closing => rebound.max(closing),
        Scheme::ImplicitEuler => closing,
    };
    let clear = kept == 0.0
        && !is_soft(&c.a)
        && !is_soft(&c.b)
        && r.place == Place::Start
        && (before + threshold).abs() > slow;
    out.judge(
        LawOf::Closed.if_placed(placed),
        if clear { (rate - wanted).abs() } else { 0.0 },
        slow + rounding / r.h,
        || format!("{}: {normal:e} N, rate {rate:e} m/s instead of {wanted:e} m/s", name()),
    );
    // An overlap that is being pushed out may end anywhere up to touching.
    out.judge(
        LawOf::Closed.if_placed(placed),
        end,
        near + SLOP * if size.is_finite() { size } else { 0.0 } * f64::from(c.gap < 0.0),
        || format!("{}: {normal:e} N, gap {:e} m before and {end:e} m after", name(), c.gap),
    );
}

/// Stick, slip, and friction against the slip.
fn judge_slip(
    r: &Record,
    k: usize,
    ((t1, t2), mu): ((Vec3, Vec3), [f64; 2]),
    (normal, friction): (f64, [f64; 2]),
    (least, error): (f64, f64),
    out: &mut Verdict,
) {
    if normal <= least {
        return;
    }
    let (c, v) = (&r.contacts[k].0, r.slip(k));
    // Bodies on paths: the mean velocity of a step and that of its material points differ by the chord.
    let chord: f64 = [(&c.a, &c.b), (&c.b, &c.a)]
        .map(|(s, other)| match s {
            Anchor::Body { body, .. } if !r.model.is_free(*body) => {
                let w = r.turning(s);
                r.h * w * w * (r.arm(s, c.point) + r.arm(other, c.point))
            }
            _ => 0.0,
        })
        .iter()
        .sum();
    judge_friction(r, c, (v, [t1, t2], mu), (normal, friction), (least, error + chord), out);
}

/// Friction opposes the slip velocity `v`, which is known up to `doubt`.
fn judge_friction(
    r: &Record,
    c: &Contact,
    (v, tangents, mu): (Vec3, [Vec3; 2], [f64; 2]),
    (normal, friction): (f64, [f64; 2]),
    (least, doubt): (f64, f64),
    out: &mut Verdict,
) {
    let slip = tangents.map(|t| v.dot(t));
    let speed = slip[0].hypot(slip[1]);
    let want = braking(slip, mu, normal);
    let off = (friction[0] - want[0]).hypot(friction[1] - want[1]);
    // Below the doubt about the slip any friction in the cone will do; above, its direction is as good as that of the slip.
    let most = mu[0].max(mu[1]) * normal;
    let stretch = mu[0].max(mu[1]) / mu[0].min(mu[1]).max(f64::MIN_POSITIVE);
    let stretch = if mu[0] == mu[1] { 1.0 } else { stretch };
    let limit = most * (stretch * doubt / speed.max(f64::MIN_POSITIVE)).min(2.0)
        + ROUNDING * most
        + least * mu[0].max(1.0);
    out.judge(LawOf::Slip, off, limit, || {
        format!(
            "{}: slip {slip:?} m/s, friction {friction:?} N for {want:?}, normal {normal:e} N",
            name(r, c)
        )
    });
}

/// Friction of an impact opposes the slip `v` with which the sides leave each other, which is known up to `doubt`.
pub fn judge_impact_friction(r: &Record, contact: usize, v: Vec3, doubt: f64, out: &mut Verdict) {
    let (c, f) = &r.contacts[contact];
    let (mu, direction) = coefficients(r, c);
    let (t1, t2) = axes(c, direction);
    let (normal, friction) = (f.dot(c.frame.row(0)), [f.dot(t1), f.dot(t2)]);
    let least = impact_force(r, contact);
    if normal > least {
        judge_friction(r, c, (v, [t1, t2], mu), (normal, friction), (least, doubt), out);
    }
}

/// Where the force of an impact does not count [N].
pub fn impact_force(r: &Record, contact: usize) -> f64 {
    let largest = r.contacts.iter().map(|(_, f)| f.length()).fold(0.0, f64::max);
    force_tolerance(r, &r.contacts[contact].0, r.error(), largest)
}

/// A contact in words.
pub fn name(r: &Record, c: &Contact) -> String {
    let of = |s: ShapeId| r.model.describe(r.model.shapes[s.index()].owner);
    format!("{} – {}", of(c.key.shape_a), of(c.key.shape_b))
}
