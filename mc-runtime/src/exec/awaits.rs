//! Awaits: a load (or a compare-exchange that fails) in a loop that does nothing until it reads what it waits for.
//!
//! Nobody says that a read is one: it is tried. A read at a load that is known to be in a loop stays *open* until the thread does something else. If it
//! comes back to the same load with the same state instead, the read had no effect and is taken out of the graph again, as if the thread had not come
//! there yet. A load tries what it may read, the oldest write first, and a value only once; when there is nothing left to try, the thread waits for another write.
//! So awaits block no execution. A round of several reads, and one whose read was changed by a revisit, ends with a `Block` event instead (`spin`).
//! Source: rule `tested` of `tests/spec/awaits.py`; the argument is in `docs/reductions.md`.

use super::access::Accessed;
use super::round::Round;
use super::thread::{Open, State, Waiting};
use super::{Engine, Guide, Step};
use crate::explore::Reading;
use crate::graph::Site;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{BlockReason, Code, NO_ROUND, Operation, UNDONE};

impl Engine {
    /// Is the read that the running thread is about to add to be tried?
    pub(super) fn tries(&self, operation: &Operation, site: Site) -> bool {
        let reads = matches!(operation.code, Code::Load | Code::CompareExchange);
        reads && self.leaves_awaits_out() && site.is_some_and(|s| self.loops.knows(s))
    }

    /// Are reads taken out of the graph again? Not where they may race with accesses of another size.
    pub(super) fn leaves_awaits_out(&self) -> bool {
        let touched = &self.loops.touched;
        self.options.reductions.awaits && matches!(self.guide, Guide::Explore) && !touched.mixes && !touched.keeps_reads
    }

    /// Adds a read that may be taken back. `None`: there is nothing left to try.
    #[inline(never)]
    pub(super) fn try_read(&mut self, operation: Operation, location: LocationId, site: Site) -> Option<EventId> {
        let thread = self.current();
        let id = loop {
            let index = self.untried(thread, &operation, location, site)?;
            let write = self.explorer.graph.mo_at(location, index);
            if operation.result(self.explorer.graph.value(location, write)).is_some() {
                let operation = self.as_guard(operation, site);
                let me = &mut self.threads[thread.slot()];
                let id = self.explorer.add_access(thread, &operation, location, &me.tried, site);
                me.forget_tries();
                return Some(id);
            }
            match self.explorer.add_in_vain(thread, &operation, location, index, site) {
                Some(id) => break id,
                None => self.me().unreadable.push(write),
            }
        };
        if self.explorer.observes(thread) && !self.explorer.graph.event(id).added_max {
            let _: Step<()> = self.is_no_observer(thread);
        }
        self.open(id, false);
        Some(id)
    }

    /// The running thread has made a read that may be taken back.
    pub(super) fn open(&mut self, read: EventId, again: bool) {
        let (left, same_way) = (self.left.len(), self.explorer.same_way);
        let me = self.me();
        let again = again.then(|| me.unseen());
        me.open = Some(Open { read, clock: me.clock, left, again, same_way });
    }

    /// The thread waits until there is something to try.
    #[inline(never)]
    pub(super) fn await_write(&mut self, operation: Operation, location: LocationId, site: Site) -> Step<Accessed> {
        let me = self.me();
        me.state = State::Await;
        me.waiting = Some(Waiting { operation, location, site });
        Step::Wait
    }

    /// The thread has come back from its open read to the load that made it, with nothing changed.
    #[inline(never)]
    pub(super) fn take_back(&mut self, open: Open) {
        #[cfg(feature = "unmodified")]
        self.keep_in_vain(open);
        let Open { read, clock, left, again: _, same_way: _ } = open;
        let thread = self.current();
        let event = self.explorer.graph.event(read);
        let value = self.explorer.graph.value(event.location, event.rf);
        let stamp = event.stamp as usize;
        self.explorer.truncate(stamp);
        self.order.pop();
        self.left.truncate(left);
        let me = &mut self.threads[thread.slot()];
        me.tried.push(value);
        me.repeats = None;
        me.position -= 1;
        me.clock = clock;
        me.sleeps.retain(|(_, until)| *until <= clock);
        me.rounds.forget_last();
        if let Some(heap) = &mut self.heap {
            heap.events = me.position as u32;
        }
    }

    /// The running thread does something else than to come back: what it has read stays, and what else it could have read is for later.
    #[inline(always)]
    pub(super) fn close(&mut self) {
        if let Some(Open { read, same_way, .. }) = &self.me_ref().open {
            self.close_read(*read, *same_way);
        }
    }

    #[inline(never)]
    fn close_read(&mut self, read: EventId, same_way: bool) {
        self.loses_guard(read);
        let me = self.threads.me();
        me.open = None;
        let now = std::mem::replace(&mut self.explorer.same_way, same_way);
        self.explorer.add_other_reads(read, &me.tried);
        self.explorer.same_way = now;
        me.forget_tries();
        #[cfg(feature = "unmodified")]
        self.flush_later();
    }

    /// Has a thread that waits something to try?
    pub(super) fn can_try(&self, thread: ThreadId) -> bool {
        let waiting = self.threads[thread.slot()].waiting;
        waiting.is_some_and(|w| self.untried(thread, &w.operation, w.location, w.site).is_some())
    }

    /// The oldest write that the thread may read and whose value it has not tried. A compare-exchange would change older ones at which it succeeds, so these are not tried; and
    /// older ones at which it fails not before it succeeds at the newest, but for a guard, which must come back from all.
    fn untried(&self, thread: ThreadId, operation: &Operation, location: LocationId, site: Site) -> Option<usize> {
        if self.is_behind_twin(thread) {
            return None;
        }
        let graph = &self.explorer.graph;
        let newest = graph.mo(location).len();
        let value = |index| graph.value(location, graph.mo_at(location, index));
        let me = &self.threads[thread.slot()];
        let is_new = |index: &usize| {
            let write = graph.mo_at(location, *index);
            !me.tried.contains(&graph.value(location, write)) && !me.unreadable.contains(&write)
        };
        let fails = |index: &usize| operation.result(value(*index)).is_none();
        let exchange_fails = operation.code != Code::Load && fails(&newest);
        if exchange_fails && (is_new(&newest) || !self.is_guard(operation, site)) {
            return Some(newest).filter(is_new);
        }
        if self.explorer.observes(thread) && is_new(&newest) {
            return Some(newest); // an observer reads that first
        }
        let oldest = self.explorer.earliest(thread, location);
        (oldest..newest).filter(fails).find(is_new).or_else(|| Some(newest).filter(is_new))
    }

    /// Nobody can move: threads that wait in an await read the newest write for ever.
    pub(super) fn stop_awaits(&mut self) {
        for rank in 0..self.explorer.graph.ranks().len() {
            self.threads.run(self.explorer.graph.ranks()[rank]);
            let thread = self.me_ref();
            let Some(w) = thread.waiting.filter(|_| thread.state == State::Await) else { continue };
            let newest = self.explorer.graph.mo(w.location).len();
            let read = self.explorer.add_at(self.current(), w.operation, w.location, newest, Reading::Any, w.site);
            debug_assert!(read.is_some(), "the newest write can always be read");
            self.executed_event(self.next_event());
            let _: Step<()> = self.block(BlockReason::Spin, 1, w.site);
        }
    }

    /// The running thread stops after a round of so many reads, of which the last is a compare-exchange that has failed and does not acquire. Had it read an older write of the same value, or of any at which it
    /// fails if nobody reads what it gave, the thread would have done the same, and be dropped ([`Engine::is_hopeless`]).
    pub(super) fn forget_failures(&mut self, reads: u32) {
        if !self.leaves_awaits_out() || !self.loops.leaves_retries_out() || reads >= UNDONE {
            return;
        }
        let Some(last) = self.me_ref().position.checked_sub(1) else { return };
        let last = self.current().event(last);
        let event = *self.explorer.graph.event(last);
        if event.operation.code != Code::CompareExchange || event.writes {
            return;
        }
        let me = self.me_ref();
        let learns_nothing = !event.order().acquires() && me.rounds.touched.is_empty();
        if let Some(round) = self.last_round(last).filter(|_| learns_nothing) {
            // Where the round goes on as if an earlier read had seen what this one has, the value matters even so.
            let any_value = me.comes_back && me.repeats.is_some() && round.is_unused;
            if let Some(site) = round.site.filter(|_| any_value) {
                self.loops.learn_older_first(site);
            }
            self.explorer.forget_failures(last, any_value);
        }
    }

    /// What is remembered of the access, if it is the last one that is.
    pub(super) fn last_round(&self, id: EventId) -> Option<&Round> {
        let (site, operation) = (self.explorer.graph.site(id), self.explorer.graph.event(id).operation);
        self.me_ref().rounds.recent().next().filter(|round| round.site == site && round.asked.1 == operation)
    }

    /// The running thread stops after a round of so many reads. Is it stuck at an old value that no revisit will change? Then no execution from here on counts: in another one, which lacks
    /// this read and is otherwise the same, the thread waits for a newer value; or it has read there what it has read here. But that one lacks what the thread has touched since, too.
    pub(super) fn is_hopeless(&self, reads: u32) -> bool {
        if !self.leaves_awaits_out() || reads & UNDONE != 0 || !self.me_ref().rounds.touched.is_empty() {
            return false;
        }
        let last = self.me_ref().position.checked_sub(1).map(|last| self.current().event(last));
        last.map(|id| self.explorer.graph.event(id)).is_some_and(|event| {
            let old = event.reads() && event.rf != self.explorer.graph.mo_max(event.location);
            (old || reads == NO_ROUND) && (event.settled || !event.added_max)
        })
    }
}
