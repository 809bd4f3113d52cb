//! Ctrl-C: the first asks workers to say what they know, the second ends them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mc_protocol::client::Control;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How often the user has asked this process to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// Listens from now on. Without it a signal ends the process, and workers with it.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let interrupt = Self::default();
        let count = interrupt.clone();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        std::thread::Builder::new().name("mc-signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                count.0.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        Ok(interrupt)
    }

    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// What running workers are to do.
    pub(crate) fn control(&self) -> Control {
        match self.0.load(Ordering::Relaxed) {
            0 => Control::Continue,
            1 => Control::Stop,
            _ => Control::Kill,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stops_and_the_second_kills() {
        let interrupt = Interrupt::default();
        let mut controls = vec![interrupt.control()];
        for _ in 0..2 {
            interrupt.0.fetch_add(1, Ordering::Relaxed);
            controls.push(interrupt.control());
        }
        assert_eq!(controls, [Control::Continue, Control::Stop, Control::Kill]);
    }
}
