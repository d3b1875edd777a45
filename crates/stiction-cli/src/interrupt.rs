//! SIGINT (Ctrl+C), SIGTERM and SIGHUP ask a run to end in good order: the first one ends it after the present step, the
//! second one kills.

#[cfg(unix)]
mod unix {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    const SIGNALS: [(i32, &str); 3] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")];

    /// Listens for signals.
    pub struct Interrupt(Arc<AtomicUsize>);

    impl Interrupt {
        /// Starts to listen. A signal that is ignored already, as under `nohup`, stays ignored.
        pub fn listen() -> Interrupt {
            let (first, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
            let ignored = ignored();
            for (signal, _) in SIGNALS.into_iter().filter(|s| ignored >> (s.0 - 1) & 1 == 0) {
                // In this order: what the second signal does is asked for before the first one is noted. Where a handler
                // cannot be installed, the signal ends the process as it would have.
                let _ = flag::register_conditional_default(signal, seen.clone())
                    .and_then(|_| flag::register(signal, seen.clone()))
                    .and_then(|_| flag::register_usize(signal, first.clone(), signal as usize));
            }
            Interrupt(first)
        }

        /// Number and name of the signal that came.
        pub fn signal(&self) -> Option<(u8, &'static str)> {
            let came = self.0.load(Ordering::Relaxed) as i32;
            SIGNALS.into_iter().find(|s| s.0 == came).map(|(n, name)| (n as u8, name))
        }
    }

    /// Bit n − 1 is set where signal n is ignored. Only Linux tells.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
        mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(unix)]
pub use unix::Interrupt;

/// Without signals nothing interrupts.
#[cfg(not(unix))]
pub struct Interrupt;

#[cfg(not(unix))]
impl Interrupt {
    /// Does nothing.
    pub fn listen() -> Interrupt {
        Interrupt
    }

    /// None ever comes.
    pub fn signal(&self) -> Option<(u8, &'static str)> {
        None
    }
}
