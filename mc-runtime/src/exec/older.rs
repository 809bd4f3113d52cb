//! Reads with which rounds of loops have ended that led nowhere: they try older writes before they read the newest one.
//!
//! Where the round leads nowhere again (`spin`, `reread`), the execution would be given up there. So the read is taken out of the graph, as by an await (`awaits`), and the thread is put back to it, with one value less to try,
//! until only the newest write is left. If the thread does something else, the read stays, and what else it could read is for later.
//! The argument is in `docs/reductions.md`.

use super::access::Accessed;
use super::state::{Frame, put_back};
use super::{Engine, Step};
use crate::graph::Site;
use crate::ids::{EventId, LocationId};
use crate::operation::{BY_CHANCE, Code, Operation};
use crate::place::Place;

impl Engine {
    /// Adds an access that waits for nothing.
    #[inline(always)]
    pub(super) fn add_access(&mut self, operation: &Operation, location: LocationId, site: Site) -> EventId {
        if matches!(operation.code, Code::Load | Code::CompareExchange)
            && let Some(site) = site.filter(|site| self.loops.reads_older_first(*site))
        {
            return self.add_trying_older(operation, location, site);
        }
        self.explorer.add_access(self.current(), operation, location, &[], site)
    }

    #[inline(never)]
    fn add_trying_older(&mut self, operation: &Operation, location: LocationId, site: Place) -> EventId {
        let thread = self.current();
        while let Some(index) = self.untried_older(operation, location, site) {
            if let Some(id) = self.explorer.add_in_vain(thread, operation, location, index, Some(site)) {
                self.open(id, true);
                return id;
            }
            let write = self.explorer.graph.mo_at(location, index);
            self.me().unreadable.push(write);
        }
        let me = &mut self.threads[thread.slot()];
        let id = self.explorer.add_access(thread, operation, location, &me.tried, Some(site));
        me.forget_tries();
        id
    }

    /// The oldest write that the read is to try. An exchange changes those at which it succeeds, so they are not tried.
    fn untried_older(&self, operation: &Operation, location: LocationId, site: Place) -> Option<usize> {
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            return None; // who comes from there cannot be put back
        }
        let (thread, me, graph) = (self.current(), self.me_ref(), &self.explorer.graph);
        let write = |index: &usize| graph.mo_at(location, *index);
        let value = |index: &usize| graph.value(location, write(index));
        let changes_nothing = |index: &usize| operation.result(value(index)).is_none();
        let newest = graph.mo(location).len();
        // Where the round comes back whatever was read, it is enough that it does so from the newest write, if that is possible.
        let helps = !changes_nothing(&newest) || self.loops.rereads.ends_with(site);
        let is_in_round = me.rounds.any() && me.rounds.touched.is_empty();
        let is_alone = !self.explorer.observes(thread) && !self.is_behind_twin(thread);
        // What a rehearsal does to the system's heap is in no state.
        let is_seen = self.heap.as_ref().is_some_and(|heap| !heap.rehearsal) && self.leaves_awaits_out();
        if !helps || !is_in_round || !is_alone || !is_seen {
            return None;
        }
        let is_new = |index: &usize| !me.tried.contains(&value(index)) && !me.unreadable.contains(&write(index));
        (self.explorer.earliest(thread, location)..newest).filter(changes_nothing).find(is_new)
    }

    /// The running thread has come to this frame after a round of so many reads that led nowhere. If the last one has tried an older write, it is taken back, and [made again](Engine::return_to).
    pub(super) fn was_in_vain(&mut self, reads: u32, frame: &Frame) -> bool {
        let me = self.me_ref();
        let Some(open) = me.open else { return false };
        let Some(before) = open.again.filter(|before| me.has_as_many_choices(before)) else { return false };
        let Some(round) = self.last_round(open.read).filter(|_| reads < BY_CHANCE && !self.cutting) else {
            return false;
        };
        if !me.rounds.touched.is_empty() || !self.can_put_back(round, frame) {
            return false;
        }
        let event = *self.explorer.graph.event(open.read);
        let any_value = me.comes_back && round.is_unused && !event.order().acquires();
        let oldest = self.explorer.earliest(open.read.thread, event.location);
        self.me().open = None;
        self.take_back(open);
        self.me().put_back(&before);
        let newest = self.explorer.graph.mo(event.location).len();
        for index in (oldest..newest).filter(|_| any_value) {
            let graph = &self.explorer.graph;
            let value = graph.value(event.location, graph.mo_at(event.location, index));
            if event.operation.result(value).is_none() {
                self.threads.me().tried.push(value);
            }
        }
        self.probe.return_to_read();
        true
    }

    /// The running thread is put back to the read that was taken back, which is made next.
    #[cold]
    pub(super) fn return_to(&mut self, frame: &mut Frame) -> (usize, Operation, Site) {
        let Some(round) = self.me_ref().rounds.taken_back() else { unreachable!("it was taken back just now") };
        // SAFETY: the frame of that read was at this address (`can_put_back` has compared it), and the caller's functions are all that has run on this part of the stack.
        unsafe { put_back(frame, &round.image) };
        (round.asked.0, round.asked.1, round.site)
    }

    /// It has been made. Its caller would wait with what the thread had come to instead; but nobody has done anything since it did not have to.
    #[cold]
    pub(super) fn has_returned(&mut self, step: Step<Accessed>) -> Step<Accessed> {
        if !matches!(step, Step::Wait) || self.cutting {
            return step;
        }
        self.loops.never_older_first();
        self.start_again()
    }
}
