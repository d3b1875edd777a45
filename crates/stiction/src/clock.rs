//! The one place where time is read, for reports. No result depends on it.

/// Measures stretches of work. On targets without a clock, as `wasm32-unknown-unknown`, all of them take no time.
pub(crate) struct Clock {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    start: std::time::Instant,
}

impl Clock {
    /// Starts now.
    pub fn start() -> Clock {
        Clock {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            start: std::time::Instant::now(),
        }
    }

    /// Since the start [s].
    pub fn seconds(&self) -> f64 {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        return self.start.elapsed().as_secs_f64();
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        return 0.0;
    }

    /// Since the start or the last lap, which it ends [s].
    pub fn lap(&mut self) -> f64 {
        let now = Clock::start();
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        let seconds = (now.start - self.start).as_secs_f64();
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        let seconds = 0.0;
        *self = now;
        seconds
    }
}
