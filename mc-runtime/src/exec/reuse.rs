//! Addresses that are used again: memory that a thread has freed is handed out to it once more, as another object.
//!
//! That makes a difference only to whoever compares addresses, and is a mistake where an old one is taken for the new one (ABA). So nothing is handed out again until a compare-exchange
//! expects an address in memory that was freed, where there is one at which that memory could have been used again: of a block that fits, and which the thread that has freed it has allocated since.
//! Then the exploration starts again, and wherever that thread allocates what fits, it is a data choice whether it gets new memory or such a block.
//!
//! A thread gets what it has freed itself, as from an allocator's cache for threads. What another one has freed it would get after an event of the allocator's, and which of two
//! gets it would be another choice; and whether there is something to get would not follow from what a thread itself has done.
//! The argument is in `docs/addresses.md`.

use super::arena::At;
use super::learned::short;
use super::{Engine, Step};
use crate::ids::EventId;
use crate::operation::{Code, Operation};
use crate::ops::Label;
use std::alloc::Layout;

/// Learned when an address that is used again could be seen. Of which blocks is learned beside it.
pub(super) const ADDRESS_REUSE: u64 = u64::from_le_bytes(*b"reuse_at") | 1;

impl Engine {
    /// Is memory handed out again, which in a rehearsal none is?
    pub(crate) fn reuses_addresses(&self) -> bool {
        self.has_learned(ADDRESS_REUSE)
    }

    /// The running thread has made a compare-exchange.
    #[inline]
    pub(super) fn may_meet_reuse<T>(&mut self, id: EventId) -> Option<Step<T>> {
        let expected = self.explorer.graph.event(id).operation.a as usize;
        if !self.heap.as_ref()?.contains(expected) {
            return None;
        }
        self.learns_reuse(id, expected)
    }

    /// Is one of the values at its location, whichever it has read, an address at which what it expects could be?
    #[inline(never)]
    fn learns_reuse<T>(&mut self, id: EventId, expected: usize) -> Option<Step<T>> {
        let heap = self.heap.as_ref()?;
        let old = heap.block(expected).filter(|block| block.freed)?;
        let key = key(heap.name(&old));
        if self.has_learned(ADDRESS_REUSE) && self.has_learned(key) {
            return None;
        }
        let (graph, location) = (&self.explorer.graph, self.explorer.graph.event(id).location);
        let could_be_there = |write: EventId| {
            let found = graph.value(location, write) as usize;
            let new = heap.block(found).filter(|new| new.could_be_at(&old));
            new.is_some_and(|new| found - new.start == expected - old.start)
        };
        let mut writes = graph.mo(location).iter().copied().chain([EventId::INIT]);
        if !writes.any(could_be_there) {
            return None;
        }
        self.learned.extend([ADDRESS_REUSE, key].map(short));
        // Which block is meant depends on who has made it.
        Some(self.told_apart())
    }

    /// How many blocks the running thread could get again for this.
    pub(crate) fn count_reusable(&self, layout: Layout) -> u64 {
        self.reusable(layout).count() as u64
    }

    fn reusable(&self, layout: Layout) -> impl Iterator<Item = At> {
        let heap = self.heap.as_ref();
        let known = heap.into_iter().flat_map(move |heap| heap.fitting(layout).map(|(at, b)| (at, key(heap.name(b)))));
        known.filter(|(_, key)| self.has_learned(*key)).map(|(at, _)| at)
    }

    /// Does it get one of them, and which? Called again when it had to wait.
    pub(crate) fn choose_reuse(&mut self, layout: Layout, among: u64) -> Step<Option<usize>> {
        let choice = Operation { a: among + 1, label: Label::AddressReuse, ..Operation::plain(Code::Choose) };
        let step = self.plain(choice, None);
        let Step::Done(chosen) = step else { return step.not_done() };
        let Some(which) = chosen.checked_sub(1) else { return Step::Done(None) };
        let Some(at) = self.reusable(layout).nth(which as usize) else { return Step::Done(None) };
        Step::Done(Some(self.reuse(at, layout)))
    }

    /// The running thread gets a block again. What is known by its address was of another object.
    fn reuse(&mut self, at: At, layout: Layout) -> usize {
        let Some(heap) = &mut self.heap else { unreachable!("it has freed a block of its own") };
        let (start, end) = heap.hand_out(at, layout);
        self.locations.retire((start, end));
        self.held.retain(|held| !held.begins_in(start..end));
        // The choice has closed what was open.
        self.left.forget(&(start..end), 0);
        start
    }
}

/// What is learned of a block.
fn key(name: u64) -> u64 {
    (name >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48
}
