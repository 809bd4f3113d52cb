//! Rounds that undo what they do, see `polls`, when an execution is over: has anybody looked at what they do before it is undone, and are they stuck?

use super::Engine;
use super::polls::{UpdateAt, update_at};
use super::undone::begins;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation, UNDONE};

impl Engine {
    /// The execution is over. Has somebody looked at what a round does before that was undone? Then such rounds are not left out from now on.
    #[inline]
    pub(super) fn looks_between(&mut self) -> bool {
        self.loops.polls.any() && self.has_looked_between()
    }

    #[inline(never)]
    fn has_looked_between(&mut self) -> bool {
        let (graph, polls) = (&self.explorer.graph, &mut self.loops.polls);
        let mut seen = Vec::new();
        for location in (0..graph.locations() as u32).map(LocationId) {
            let pairs = graph.mo(location).windows(2).map(|pair| (pair[0], pair[1]));
            let reads = graph.reads(location).iter().map(|read| (graph.event(*read).rf, *read));
            let by_others = |(write, other): &(EventId, EventId)| !write.is_init() && write.thread != other.thread;
            seen.extend(pairs.chain(reads).filter(by_others).map(|(write, _)| write));
        }
        seen.sort_unstable();
        let is_seen = |id: &EventId| seen.binary_search(id).is_ok();
        let mut refuted = Vec::new();
        for location in (0..graph.locations() as u32).map(LocationId) {
            let mut accesses = graph.mo(location).iter().chain(graph.reads(location));
            let is_read = accesses.any(|id| !always_updates(&graph.event(*id).operation));
            for id in graph.mo(location).iter().filter(|id| begins(graph, graph.event(**id))) {
                let event = graph.event(*id);
                refuted.extend(
                    update_at(event).filter(|update| polls.is_looked_at(*update, event.value, is_seen(id), is_read)),
                );
            }
        }
        for thread in graph.ranks().iter().copied() {
            let is_seen = self.passing(thread).any(|id| is_seen(&id));
            refuted.extend(self.begin_of_round(thread).filter(|_| is_seen));
        }
        self.refute_polls(&refuted)
    }

    fn refute_polls(&mut self, updates: &[UpdateAt]) -> bool {
        updates.iter().for_each(|update| self.loops.polls.refute(*update));
        !updates.is_empty()
    }

    /// Nobody can move. Could a thread that is stuck go on if it saw what another, which is stopped after a round that undid what it did, does in each?
    pub(super) fn could_see_more(&mut self) -> bool {
        self.loops.polls.any() && self.could_see_passing()
    }

    #[inline(never)]
    fn could_see_passing(&mut self) -> bool {
        let graph = &self.explorer.graph;
        let mut refuted = Vec::new();
        for thread in graph.ranks().iter().copied() {
            let is_seen = self.passing(thread).any(|id| {
                let event = graph.event(id);
                let goes_on = |(location, operation): (LocationId, Operation)| {
                    location == event.location && !operation.must_wait(event.value)
                };
                let others = graph.ranks().iter().copied().filter(|other| *other != thread);
                others.flat_map(|other| self.looks_of(other)).any(goes_on)
            });
            refuted.extend(self.begin_of_round(thread).filter(|_| is_seen));
        }
        self.refute_polls(&refuted)
    }

    /// What a thread that is stuck looks at, again and again.
    fn looks_of(&self, thread: ThreadId) -> impl Iterator<Item = (LocationId, Operation)> {
        let graph = &self.explorer.graph;
        let waits = self.threads[thread.slot()].waiting.map(|w| (w.location, self.as_guard(w.operation, w.site)));
        let is_stopped = graph.thread(thread).last().is_some_and(|stop| stop.operation.code == Code::Block);
        let round = is_stopped.then(|| self.round(thread)).into_iter().flatten();
        waits.into_iter().chain(round.map(|read| (graph.event(read).location, graph.event(read).operation)))
    }

    /// The writes of the round after which a thread is stopped, if that has undone what it did, but for those with which it did so for good.
    fn passing(&self, thread: ThreadId) -> impl Iterator<Item = EventId> {
        let events = self.explorer.graph.thread(thread);
        let round = &events[self.undone_since(thread).unwrap_or(events.len())..];
        let first = events.len() - round.len();
        let is_passing = |(at, _): &(usize, _)| {
            let event = &round[*at];
            event.writes && round[at + 1..].iter().any(|next| next.writes && next.location == event.location)
        };
        round.iter().enumerate().filter(is_passing).map(move |(at, _)| thread.event(first + at))
    }

    /// Where the round begins after which a thread is stopped, if that has undone what it did.
    fn begin_of_round(&self, thread: ThreadId) -> Option<UpdateAt> {
        update_at(&self.explorer.graph.thread(thread)[self.undone_since(thread)?])
    }

    /// Does a thread that is stopped after a round which undid what it did look at what has changed since? What others do that are stopped so is undone, too.
    pub(super) fn is_overtaken(&self, thread: ThreadId) -> bool {
        let graph = &self.explorer.graph;
        let is_stopped =
            |write: &EventId| self.undone_since(write.thread).is_some_and(|since| write.index as usize >= since);
        let is_old = |read: &EventId| {
            let event = graph.event(*read);
            let writes = graph.mo(event.location);
            let after = writes.iter().position(|write| *write == event.rf).map_or(0, |at| at + 1);
            !writes[after..].iter().all(is_stopped)
        };
        let Some(since) = self.undone_since(thread) else { return false };
        let end = graph.thread(thread).len() - 1;
        (since..end).map(|at| thread.event(at)).filter(|id| graph.event(*id).reads()).any(|read| is_old(&read))
    }

    /// With which event does the last round of a thread begin, if it is stopped after one that undid what it did?
    pub(super) fn undone_since(&self, thread: ThreadId) -> Option<usize> {
        let stop = self.explorer.graph.thread(thread).last()?.operation;
        let is_stop = stop.code == Code::Block && stop.b as u32 & UNDONE != 0;
        let first = || self.round(thread).last().map(|first| first.index as usize);
        if is_stop { first() } else { None }
    }
}

/// Does it write whatever it reads, once it is made? (Only the checker's own locks and the like are used by nothing else.)
fn always_updates(operation: &Operation) -> bool {
    matches!(operation.code, Code::Rmw(_) | Code::Guarded(..))
}
