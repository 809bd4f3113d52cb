//! Non-atomic accesses that last: what is ordered after their beginning alone races with their end, so they are compared at both.
//!
//! Happens-before says nothing of accesses of one thread, so those that are open are known: one that writes tolerates no other.
//!
//! Other threads may have run between the last event of an access and its end, so the end is also compared with what came after it.

use super::memory::place;
use super::{Engine, Step};
use crate::graph::Site;
use crate::ids::ThreadId;
use crate::outcome::FailureKind;
use std::ops::Range;

/// How long an access that is let go may have accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until now.
    Now,
    /// Until the last event of its thread: by that one it may have been handed on.
    LastEvent,
}

/// An access that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    number: u64,
    thread: ThreadId,
    at: usize,
    size: usize,
    writes: bool,
    /// What its thread had done then, and how many events it had made.
    activity: u64,
    events: usize,
    left: u32,
    site: Site,
}

impl Held {
    pub(super) fn begins_in(&self, range: Range<usize>) -> bool {
        range.contains(&self.at)
    }
}

impl Engine {
    /// An access of the running thread begins. Gives its number. `alone`: see `ops::hold`.
    pub(crate) fn hold(&mut self, at: usize, size: usize, writes: bool, alone: bool, site: Site) -> Step<u64> {
        match self.cell(at, size, writes, site) {
            Step::Done(()) => {}
            Step::Wait => return Step::Wait,
            Step::Inert => return Step::Inert,
            Step::Cut => return Step::Cut,
        }
        let excludes = |h: &&Held| alone && h.thread == self.current() && h.at == at && (h.writes || writes);
        if let Some(other) = self.held.iter().find(excludes) {
            let what = |writes| if writes { "writes" } else { "reads" };
            let message = format!(
                "data race: {} {} at {} what is still accessed by the pointer of {}, which {} it",
                self.thread_name(self.current()),
                what(writes),
                place(site),
                place(other.site),
                what(other.writes),
            );
            return self.fail(FailureKind::DataRace, message, site);
        }
        let number = self.held.last().map_or(0, |h| h.number + 1);
        let (thread, activity, events) = (self.current(), self.me().activity, self.me().position);
        let left = self.left.made();
        self.held.push(Held { number, thread, at, size, writes, activity, events, left, site });
        Step::Done(number)
    }

    /// An access of the running thread ends.
    pub(crate) fn let_go(&mut self, number: u64, until: Until) -> Step<()> {
        or_return!(self.enter());
        let Some(index) = self.held.iter().rposition(|h| h.number == number) else { return Step::Done(()) };
        let Held { at, size, writes, activity, events, left, site, .. } = self.held.remove(index);
        // Without anything in between the end is where the beginning was; and what is gone is not accessed.
        let gone = self.heap.as_ref().is_some_and(|h| h.is_dead(at));
        let now = self.me().position;
        let last = match until {
            Until::Now if (activity, left) != (self.me_ref().activity, self.left.made()) => (now, self.left.made()),
            Until::LastEvent if now > events => (now - 1, left),
            Until::Now | Until::LastEvent => return Step::Done(()),
        };
        if gone { Step::Done(()) } else { self.cell_until(at, size, writes, last, site) }
    }
}
