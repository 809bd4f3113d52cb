//! Non-atomic accesses that last: what is ordered after their beginning alone races with their end, so they are compared at both.
//!
//! Happens-before says nothing of accesses of one thread, so those that are open are known: one that writes tolerates no other.

use super::memory::place;
use super::{Engine, Step};
use crate::graph::Site;
use crate::outcome::FailureKind;

/// An access that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    number: u64,
    at: usize,
    size: usize,
    writes: bool,
    /// What its thread had done then.
    activity: u64,
    site: Site,
}

impl Engine {
    /// An access of the running thread begins. Gives its number.
    pub(crate) fn hold(&mut self, at: usize, size: usize, writes: bool, site: Site) -> Step<u64> {
        match self.cell(at, size, writes, site) {
            Step::Done(()) => {}
            Step::Wait => return Step::Wait,
            Step::Inert => return Step::Inert,
            Step::Cut => return Step::Cut,
        }
        if let Some(other) = self.held.iter().find(|h| h.at == at && (h.writes || writes)) {
            let what = |writes| if writes { "writes" } else { "reads" };
            let message = format!(
                "data race: {} {} at {} what is still accessed by the pointer of {}, which {} it",
                self.thread_name(self.current),
                what(writes),
                place(site),
                place(other.site),
                what(other.writes),
            );
            return self.fail(FailureKind::DataRace, message, site);
        }
        let number = self.held.last().map_or(0, |h| h.number + 1);
        let activity = self.me().activity;
        self.held.push(Held { number, at, size, writes, activity, site });
        Step::Done(number)
    }

    /// An access of the running thread ends.
    pub(crate) fn let_go(&mut self, number: u64) -> Step<()> {
        if let Some(step) = self.enter() {
            return step;
        }
        let Some(index) = self.held.iter().rposition(|h| h.number == number) else { return Step::Done(()) };
        let Held { at, size, writes, activity, site, .. } = self.held.remove(index);
        // Without anything in between the end is where the beginning was; and what is gone is not accessed.
        let gone = self.heap.as_ref().is_some_and(|h| h.is_dead(at));
        if activity == self.me().activity || gone {
            return Step::Done(());
        }
        self.cell(at, size, writes, site)
    }
}
