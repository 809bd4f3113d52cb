//! Virtual time: each thread has a clock, which its own sleeps move on. What it has seen of other threads is not later than what it sees then.

use super::{Engine, Thread};
use std::time::Duration;

impl Thread {
    /// Time passes.
    pub(crate) fn sleep(&mut self, time: Duration) {
        self.clock = self.clock.saturating_add(time);
        self.sleeps.push((self.position as u32, self.clock));
    }
}

impl Engine {
    /// The clock of the running thread, now that somebody looks: no earlier than those of other threads were when they did what it has seen.
    pub(crate) fn catch_up(&mut self) -> Duration {
        let me = self.me_ref();
        let mut clock = me.clock;
        let seen = self.explorer.graph.prefix_of(self.current(), me.position);
        for thread in self.explorer.graph.ranks() {
            let sleeps = &self.threads[thread.slot()].sleeps;
            let before = sleeps.iter().rev().find(|(events, _)| *events < seen.of(*thread));
            clock = before.map_or(clock, |(_, then)| clock.max(*then));
        }
        self.me().clock = clock;
        clock
    }
}
