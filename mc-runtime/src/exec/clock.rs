//! Virtual time: each thread has a clock, which its own sleeps move on. What it has seen of other threads is not later than what it sees then.

use super::{Engine, Step, Thread};
use std::time::Duration;

impl Thread {
    /// Time passes.
    pub(crate) fn sleep(&mut self, time: Duration) {
        self.clock = self.clock.saturating_add(time);
        let now = (self.position as u32, self.clock);
        match self.sleeps.last_mut() {
            Some(last) if last.0 == now.0 => *last = now,
            _ => self.sleeps.push(now),
        }
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

    /// The running thread looks at its clock, which shows whom it has joined, and, in a destructor, who runs that.
    pub(crate) fn look_at_clock(&mut self) -> Step<Duration> {
        if !self.cutting {
            or_return!(self.is_between_joins());
        }
        self.asks_who_it_is();
        let clock = self.catch_up();
        self.me().rounds.clear(); // a loop that looks at the clock is not proved to be the same for ever
        Step::Done(clock)
    }

    /// Its clock goes on, which may be looked at.
    pub(crate) fn sleep(&mut self, time: Duration, looked_at: bool) {
        if looked_at {
            self.asks_who_it_is();
            self.catch_up();
            self.me().rounds.clear();
        }
        self.me().sleep(time);
        self.hint();
    }
}
