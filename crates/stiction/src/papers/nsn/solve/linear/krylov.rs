//! Krylov methods for symmetric systems: PCG, PCR and MINRES, one product per iteration.

use super::{LinearReport, Run, note};
use crate::linalg::Real;
use crate::linalg::real::{add_scaled, dot};

/// Preconditioned conjugate gradients (Hestenes & Stiefel 1952).
#[doc(alias = "PCG")]
pub fn conjugate_gradient<T: Real>(
    run: &Run<T>,
    x: &mut [T],
    work: &mut [Vec<T>],
    history: &mut Option<Vec<f64>>,
) -> LinearReport {
    let [r, z, p, sp, y, ..] = work else { unreachable!("nine vectors") };
    r.copy_from_slice(run.b);
    run.p.apply(r, z);
    p.copy_from_slice(z);
    let mut rz = dot(r, z);
    let stop = run.tolerance * run.tolerance * rz;
    for k in 0..run.most {
        if rz <= stop || rz == T::ZERO {
            return LinearReport { iterations: k, broken: false };
        }
        run.s.apply(p, sp, y);
        let curvature = dot(p, sp);
        if !curvature.is_number() || curvature <= T::ZERO {
            return LinearReport { iterations: k, broken: !curvature.is_number() };
        }
        let alpha = rz / curvature;
        add_scaled(x, alpha, p);
        add_scaled(r, -alpha, sp);
        run.p.apply(r, z);
        note(history, r, z);
        let next = dot(r, z);
        let beta = next / rz;
        rz = next;
        for i in 0..p.len() {
            p[i] = z[i] + beta * p[i];
        }
    }
    LinearReport { iterations: run.most, broken: false }
}

/// Preconditioned conjugate residuals (Saad 2003): minimises √(rᵀP r) over the Krylov space, so that it never rises, and
/// stopping early is safe (69).
#[doc(alias = "PCR")]
pub fn conjugate_residual<T: Real>(
    run: &Run<T>,
    x: &mut [T],
    work: &mut [Vec<T>],
    history: &mut Option<Vec<f64>>,
) -> LinearReport {
    let [r, z, p, sp, sz, psp, y, ..] = work else { unreachable!("nine vectors") };
    r.copy_from_slice(run.b);
    run.p.apply(r, z);
    let stop = run.tolerance * run.tolerance * dot(r, z);
    run.s.apply(z, sz, y);
    let mut rho = dot(z, sz);
    p.copy_from_slice(z);
    sp.copy_from_slice(sz);
    for k in 0..run.most {
        if dot(r, z) <= stop || rho == T::ZERO {
            return LinearReport { iterations: k, broken: false };
        }
        run.p.apply(sp, psp);
        let below = dot(sp, psp);
        // ρ ≤ 0: the matrix is not definite, or rounding is all that is left.
        if !(below > T::ZERO && rho > T::ZERO) {
            return LinearReport { iterations: k, broken: !below.is_number() || !rho.is_number() };
        }
        let alpha = rho / below;
        add_scaled(x, alpha, p);
        add_scaled(r, -alpha, sp);
        add_scaled(z, -alpha, psp);
        note(history, r, z);
        run.s.apply(z, sz, y);
        let next = dot(z, sz);
        let beta = next / rho;
        rho = next;
        for i in 0..p.len() {
            p[i] = z[i] + beta * p[i];
            sp[i] = sz[i] + beta * sp[i];
        }
    }
    LinearReport { iterations: run.most, broken: false }
}

/// MINRES (Paige & Saunders 1975) with a positive definite preconditioner: like PCR, and safe where the matrix is
/// indefinite.
#[doc(alias = "MINRES")]
pub fn minres<T: Real>(
    run: &Run<T>,
    x: &mut [T],
    work: &mut [Vec<T>],
    history: &mut Option<Vec<f64>>,
) -> LinearReport {
    let [old, now, z, v, sv, w_old, w_now, w, y] = work else { unreachable!("nine vectors") };
    // Lanczos in the inner product of the preconditioner: z_k = P v_k.
    now.copy_from_slice(run.b);
    run.p.apply(now, z);
    let mut beta = dot(now, z).larger(T::ZERO).root();
    let stop = run.tolerance * beta;
    let (mut beta_old, mut eta) = (T::ZERO, beta);
    let (mut c_old, mut c, mut s_old, mut s) = (T::ONE, T::ONE, T::ZERO, T::ZERO);
    for k in 0..run.most {
        if beta == T::ZERO || eta.size() <= stop {
            return LinearReport { iterations: k, broken: false };
        }
        if !beta.is_number() {
            return LinearReport { iterations: k, broken: true };
        }
        for i in 0..v.len() {
            v[i] = z[i] / beta;
        }
        run.s.apply(v, sv, y);
        let alpha = dot(v, sv);
        for i in 0..v.len() {
            let mut next = sv[i] - alpha / beta * now[i];
            if beta_old > T::ZERO {
                next -= beta / beta_old * old[i];
            }
            sv[i] = next;
        }
        std::mem::swap(old, now);
        std::mem::swap(now, sv);
        run.p.apply(now, z);
        let beta_next = dot(now, z).larger(T::ZERO).root();
        // The two last Givens rotations, then the new one.
        let (delta, epsilon) = (c * alpha - c_old * s * beta, s_old * beta);
        let above = s * alpha + c_old * c * beta;
        let rho = (delta * delta + beta_next * beta_next).root();
        if rho == T::ZERO {
            return LinearReport { iterations: k, broken: false };
        }
        (c_old, s_old) = (c, s);
        (c, s) = (delta / rho, beta_next / rho);
        for i in 0..w.len() {
            w[i] = (v[i] - epsilon * w_old[i] - above * w_now[i]) / rho;
        }
        add_scaled(x, c * eta, w);
        eta = -s * eta;
        if let Some(h) = history {
            h.push(eta.to_f64().abs());
        }
        std::mem::swap(w_old, w_now);
        std::mem::swap(w_now, w);
        (beta_old, beta) = (beta, beta_next);
    }
    LinearReport { iterations: run.most, broken: false }
}
