//! All solutions of a tiny problem by trying every combination of open, stick and slip.
//!
//! For given slip directions the impulses follow from a linear system (`u = 0` where it sticks, `u_n = 0` where it
//! slips); the directions must then be those of the slip velocities, which is one equation per sliding contact and is
//! solved by Newton from a grid of starts. Shares no code with the solvers.

use super::Dense;
use stiction::contact::LocalProblem;
use stiction::linalg::Vec3;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Open,
    Stick,
    Slip,
}

/// Starting directions per sliding contact.
const STARTS: usize = 8;
/// Slack of the inequalities, relative to the largest impulse or free velocity.
const SLACK: f64 = 1e-9;

/// Contact velocities of every solution, each once.
pub fn solutions(p: &LocalProblem) -> Vec<Vec<Vec3>> {
    let n = p.contacts();
    let mut found: Vec<Vec<Vec3>> = Vec::new();
    for code in 0..3usize.pow(n as u32) {
        let modes: Vec<Mode> =
            (0..n).map(|c| [Mode::Open, Mode::Stick, Mode::Slip][code / 3usize.pow(c as u32) % 3]).collect();
        let slips: Vec<usize> = (0..n).filter(|&c| modes[c] == Mode::Slip).collect();
        for start in 0..STARTS.pow(slips.len() as u32) {
            let angle = |k: usize| {
                std::f64::consts::TAU * ((start / STARTS.pow(k as u32) % STARTS) as f64 + 0.1) / STARTS as f64
            };
            let mut angles: Vec<f64> = (0..slips.len()).map(angle).collect();
            let Some((r, u)) = newton(p, &modes, &slips, &mut angles) else { continue };
            if admissible(p, &modes, &slips, &angles, &r, &u) {
                let scale = free_speed(p);
                let known = |w: &Vec<Vec3>| w.iter().zip(&u).all(|(a, b)| (*a - *b).length() < 1e-7 * scale);
                if !found.iter().any(known) {
                    found.push(u);
                }
            }
        }
    }
    found
}

/// The largest free velocity.
fn free_speed(p: &LocalProblem) -> f64 {
    p.q.iter().map(|q| q.length()).fold(1e-300, f64::max)
}

/// Newton on the directions: the part of u_t across the direction vanishes.
fn newton(
    p: &LocalProblem,
    modes: &[Mode],
    slips: &[usize],
    angles: &mut [f64],
) -> Option<(Vec<Vec3>, Vec<Vec3>)> {
    let across = |angles: &[f64]| {
        let (r, u) = impulses(p, modes, slips, angles)?;
        let f: Vec<f64> =
            slips.iter().zip(angles).map(|(&c, a)| u[c].z * a.cos() - u[c].y * a.sin()).collect();
        Some((r, u, f))
    };
    let scale = free_speed(p);
    for _ in 0..30 {
        let (r, u, f) = across(angles)?;
        if f.iter().all(|x| x.abs() <= 1e-12 * scale) {
            return Some((r, u));
        }
        let m = slips.len();
        let mut jacobian = Dense::new(m, m);
        for k in 0..m {
            let mut moved = angles.to_vec();
            moved[k] += 1e-6;
            let (_, _, g) = across(&moved)?;
            for i in 0..m {
                *jacobian.at_mut(i, k) = (g[i] - f[i]) / 1e-6;
            }
        }
        let step = jacobian.solve(&f)?;
        let longest = step.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let t = if longest > 0.5 { 0.5 / longest } else { 1.0 };
        for k in 0..m {
            angles[k] -= t * step[k];
        }
    }
    None
}

/// Impulses and velocities for given modes and slip directions.
fn impulses(
    p: &LocalProblem,
    modes: &[Mode],
    slips: &[usize],
    angles: &[f64],
) -> Option<(Vec<Vec3>, Vec<Vec3>)> {
    let n = p.contacts();
    // One column per unknown: three unit impulses of a sticking contact, e_n − μ(cos, sin) of a sliding one.
    let mut columns: Vec<(usize, Vec3)> = Vec::new();
    for c in 0..n {
        match modes[c] {
            Mode::Open => {}
            Mode::Stick => columns.extend(Vec3::AXES.map(|e| (c, e))),
            Mode::Slip => {
                let a = angles[slips.iter().position(|&s| s == c)?];
                columns.push((c, Vec3::new(1.0, -p.law[c].mu() * a.cos(), -p.law[c].mu() * a.sin())));
            }
        }
    }
    let row = |k: usize| match modes[columns[k].0] {
        Mode::Stick => columns[k].1,
        _ => Vec3::X,
    };
    let m = columns.len();
    let mut matrix = Dense::new(m, m);
    let mut rhs = vec![0.0; m];
    for i in 0..m {
        let c = columns[i].0;
        rhs[i] = -row(i).dot(p.q[c]);
        for j in 0..m {
            *matrix.at_mut(i, j) = row(i).dot(p.get(c, columns[j].0) * columns[j].1);
        }
    }
    let x = matrix.solve(&rhs)?;
    let mut r = vec![Vec3::ZERO; n];
    for (k, (c, e)) in columns.iter().enumerate() {
        r[*c] += x[k] * *e;
    }
    let u = (0..n).map(|c| p.q[c] + (0..n).map(|d| p.get(c, d) * r[d]).sum::<Vec3>()).collect();
    Some((r, u))
}

fn admissible(
    p: &LocalProblem,
    modes: &[Mode],
    slips: &[usize],
    angles: &[f64],
    r: &[Vec3],
    u: &[Vec3],
) -> bool {
    let fast = SLACK * free_speed(p);
    let strong = SLACK * r.iter().map(|r| r.length()).fold(1e-300, f64::max);
    (0..p.contacts()).all(|c| match modes[c] {
        Mode::Open => u[c].x >= -fast,
        Mode::Stick => r[c].x >= -strong && r[c].y.hypot(r[c].z) <= p.law[c].mu() * r[c].x + strong,
        Mode::Slip => {
            let a = angles[slips.iter().position(|&s| s == c).expect("a sliding contact has an angle")];
            r[c].x >= -strong && u[c].y * a.cos() + u[c].z * a.sin() >= -fast
        }
    })
}
