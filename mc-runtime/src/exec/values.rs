//! A read that gets from another write the value that its thread has read directly before: it is as if both had read from that one.
//!
//! So the thread stops after it (`explore::values`). Whether what it does in between would be the same is tried, as in `reread`: it is put back to where the earlier read was, which is answered the same value again, and
//! has to come to the same operation in the same state. Where it does not, as in a stack whose top is the same again and what is below it is not, nothing is left out.
//! The argument is in `docs/reductions.md`.

use super::access::Accessed;
use super::probe::Way;
use super::round::Arrival;
use super::state::Frame;
use super::{Engine, Guide, Step};
use crate::graph::Site;
use crate::ids::{EventId, LocationId};
use crate::operation::{NO_ROUND, Operation};

impl Engine {
    /// The running thread is about to add an access, or to replay one. If that is a read which may get from another write the value that was read before, the way there is tried.
    #[inline(always)]
    pub(super) fn tries_value(
        &mut self,
        at: usize,
        operation: &Operation,
        location: LocationId,
        site: Site,
        frame: &Frame,
    ) -> Option<Step<Accessed>> {
        if !self.explorer.follows_read(self.current(), self.me_ref().position, operation, location) {
            return None;
        }
        self.try_value(Arrival { site: site?, asked: (at, *operation), frame }, location)
    }

    #[inline(never)]
    fn try_value(&mut self, arrival: Arrival<'_>, location: LocationId) -> Option<Step<Accessed>> {
        let (me, thread) = (self.me_ref(), self.current());
        let repeats = match self.explorer.graph.thread(thread).len() - me.position {
            0 => self.explorer.may_repeat_value(thread, &arrival.asked.1, location),
            1 => self.ends_in_equal(self.next_event()),
            _ => false,
        };
        let is_on = self.options.reductions.value && matches!(self.guide, Guide::Explore) && self.heap.is_some();
        if !repeats || !is_on || self.explorer.same_way {
            return None;
        }
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            return None; // plain accesses on the way would be told of twice
        }
        let graph = &self.explorer.graph;
        let last = graph.thread(thread)[..me.position].iter().rev().find(|event| !event.chooses_weak())?;
        let value = graph.value(location, last.rf);
        let earlier = me.rounds.recent().next()?;
        let path = [earlier.site?, arrival.site, arrival.site];
        let is_it = earlier.asked.1 == last.operation && earlier.stack == arrival.frame.stack();
        if !is_it || self.loops.values.is_refuted(path) {
            return None;
        }
        self.try_way((Way::Same, path, 1), value, arrival)
    }

    /// The way to the read that the running thread has made was the same. Does it stop?
    pub(super) fn stop_at_value(&mut self) {
        if self.ends_in_equal(self.current().event(self.me_ref().position - 1)) {
            self.me().repeats = Some(NO_ROUND);
        }
    }

    /// Is the event a read that gets from another write the value which its thread has read before?
    pub(super) fn ends_in_equal(&self, id: EventId) -> bool {
        let event = self.explorer.graph.event(id);
        event.reads() && self.explorer.repeats_value(id, event.rf)
    }

    /// The running thread replays a read. Is its last event, directly afterwards, such a read?
    pub(super) fn is_before_equal(&self) -> bool {
        let events = self.explorer.graph.thread(self.current());
        let last = events.len() - 1;
        let between = events.get(self.me_ref().position + 1..last);
        between.is_some_and(|events| events.iter().all(|event| event.chooses_weak()))
            && self.ends_in_equal(self.current().event(last))
    }
}
