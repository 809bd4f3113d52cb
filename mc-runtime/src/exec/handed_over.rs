//! Memory that one thread frees and another one allocates that does not know of it. An allocator may hand it over, and orders the two by that: an event of its own, which is not there.
//! So it is [used again](super::reuse) in no execution, and wherever a compare-exchange could tell, nothing is proved.
//!
//! It could where it compares an address in memory that was freed with one at which that could be: of a block that fits, allocated neither before that was freed nor with that known.

use super::arena::{Block, Moment};
use super::reuse::is_before;
use super::{Ending, Engine, Guide, Step};
use crate::graph::event::Event;
use crate::ids::{EventId, ThreadId};
use crate::operation::Code;
use crate::ops::OWNER_ORDER;
use crate::outcome::Spot;
use crate::trace::site_of;

/// Who could have told.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    /// A compare-exchange has expected an address in the arenas.
    pub compared: bool,
    /// In how many executions one could have told.
    pub executions: u64,
    /// The first one that could.
    pub first: Option<Spot>,
}

impl Engine {
    /// The execution is over. How it ended, or that the exploration starts again.
    #[inline]
    pub(super) fn minds_handed_over(&mut self, ending: Ending) -> Ending {
        if self.handed_over.compared { self.looks_for_handed_over(ending) } else { ending }
    }

    #[inline(never)]
    fn looks_for_handed_over(&mut self, ending: Ending) -> Ending {
        let is_new = matches!(self.guide, Guide::Explore) && !self.cutting && !self.repeats();
        if !is_new || !matches!(ending, Ending::Complete | Ending::Blocked) {
            return ending;
        }
        let Some((told_by, old)) = self.threads().find_map(|thread| self.tells_handed_over(thread)) else {
            return ending;
        };
        if old.freed_by_owner && !self.has_learned(OWNER_ORDER) {
            let _: Step<()> = self.learn_now(OWNER_ORDER); // more is known of who frees it when counts are events
            return Ending::Restart;
        }
        let site = self.explorer.graph.site(told_by).map(site_of);
        let spot = Spot { thread: self.thread_name(told_by.thread), site };
        self.handed_over.executions += 1;
        self.handed_over.first.get_or_insert(spot);
        ending
    }

    /// A compare-exchange of the thread that could have told, and what was freed there.
    fn tells_handed_over(&self, thread: ThreadId) -> Option<(EventId, Block)> {
        let graph = &self.explorer.graph;
        let heap = self.heap.as_ref()?;
        let is_such = |event: &Event| {
            let compares = event.operation.code.asked() == Code::CompareExchange;
            compares && heap.freed_such(event.operation.a as usize)
        };
        graph.thread(thread).iter().enumerate().filter(|(_, event)| is_such(event)).find_map(|(index, _)| {
            let id = thread.event(index);
            Some((id, self.handed_over_to(id)?))
        })
    }

    /// What was freed, unknown to who made the other one of what this compare-exchange takes for the same, if both could be at one address.
    fn handed_over_to(&self, id: EventId) -> Option<Block> {
        let past = |thread, events| self.explorer.graph.past(thread, events);
        let is_after = |(thread, events): Moment| past(ThreadId(thread), events as usize).contains(id);
        let is_handed_over = |old: &Block, new: &Block| {
            let made = (new.slot, new.events);
            old.freed
                && !is_after(old.freed_by)
                && !is_after(made)
                && !is_before(made, old.freed_by, past)
                && !is_before(old.freed_by, made, past)
        };
        let (old, _) = self.could_be_equal(id).find(|(old, new)| is_handed_over(old, new))?;
        Some(old)
    }
}
