//! Wall and processor time of a stretch of work.

use std::time::Instant;

/// Started at the beginning of the work.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<f64>,
}

/// Seconds that some work took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elapsed {
    /// On the wall [s].
    pub wall: f64,
    /// Of all threads of this process together [s]; `None` where the system does not tell.
    pub cpu: Option<f64>,
}

impl std::ops::Add for Elapsed {
    type Output = Elapsed;

    fn add(self, o: Elapsed) -> Elapsed {
        Elapsed { wall: self.wall + o.wall, cpu: self.cpu.zip(o.cpu).map(|(a, b)| a + b) }
    }
}

impl Stopwatch {
    /// Starts now.
    pub fn start() -> Stopwatch {
        Stopwatch { wall: Instant::now(), cpu: cpu_seconds() }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Elapsed {
        let cpu = cpu_seconds().zip(self.cpu).map(|(now, then)| now - then);
        Elapsed { wall: self.wall.elapsed().as_secs_f64(), cpu }
    }
}

#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}
