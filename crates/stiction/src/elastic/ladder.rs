//! The shared checker of derivatives: what a first-order expansion leaves must fall like the square of the step.

/// Slope of log |remainder(t)| against log t between two small steps; 2 where the derivative is right.
pub(crate) fn taylor_slope(remainder: impl Fn(f64) -> f64) -> f64 {
    let (large, small) = (1e-2, 1e-3);
    (remainder(large).abs() / remainder(small).abs()).log10()
}
