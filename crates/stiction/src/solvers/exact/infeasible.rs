//! A certificate that no solution exists: ADMM from zero runs off along a direction `d` of the cone with `W d ≈ 0`
//! and `q·d < 0`. It proves infeasibility of the shift-free problem, so it is only asked after a failed solve.

use super::chain::Chain;
use crate::contact::delassus::Delassus;
use crate::linalg::Vec3;

impl<D: Delassus> Chain<'_, D> {
    /// The contacts that contradict each other, if the certificate holds.
    pub fn infeasible(&mut self) -> Option<Vec<usize>> {
        let n = self.d.contacts();
        let mut s = self.splitting(&vec![Vec3::ZERO; n]);
        let mut run = |chain: &mut Self, steps: usize| -> Option<f64> {
            for _ in 0..steps {
                if !chain.admm_step(&mut s) {
                    return None;
                }
            }
            Some(s.z.iter().map(|v| v.length_squared()).sum::<f64>().sqrt())
        };
        let early = run(self, 300)?;
        let late = run(self, 600)?;
        if !(late > 2.0 * early && late > 0.0) {
            return None;
        }
        let direction: Vec<Vec3> = s.z.iter().map(|v| *v / late).collect();
        let image = self.scaled_product(&direction);
        let image_size = image.iter().map(|v| v.length_squared()).sum::<f64>().sqrt();
        let (mut along, mut size) = (0.0, 0.0);
        for c in 0..n {
            let q = self.d.free(c) / self.d.scale(c).sqrt();
            along += q.dot(direction[c]);
            size += q.length_squared();
        }
        if image_size > 1e-7 || along > -1e-3 * size.sqrt() {
            return None;
        }
        let largest = direction.iter().map(|v| v.length()).fold(0.0, f64::max);
        Some((0..n).filter(|&c| direction[c].length() > 1e-3 * largest).collect())
    }
}
