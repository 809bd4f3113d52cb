//! Addresses that are used again: memory that was freed is handed out once more, as another object, to who knows that it was.
//!
//! That makes a difference only to whoever compares addresses, and is a mistake where an old one is taken for the new one (ABA). So nothing is handed out again until a compare-exchange
//! compares an address in memory that was freed with one at which that memory could have been used again: of a block that fits, and which was allocated after that had been freed.
//! Then the exploration starts again, and wherever a thread allocates what fits, it is a data choice whether it gets new memory or such a block.
//!
//! "After" is happens-before: a thread gets what it has freed itself, as from an allocator's cache for threads, or what was freed before something that it has acquired. So what there is to get follows from what comes before
//! in the graph. If two that do not know of each other choose the same block, that is no execution. What was freed by another one at just any time before is no choice ([`handed_over`](super::handed_over)).
//! Where an `Arc` frees whose counts nobody sees, that is whichever owner goes last in the one order that is explored. As soon as another one has allocated since what fits, all counts are seen.
//! The argument is in `docs/addresses.md`.

use super::arena::{At, Block, Free, Moment};
use super::learned::short;
use super::{Engine, Step};
use crate::graph::clock::Past;
use crate::ids::{EventId, ThreadId};
use crate::operation::{Code, Operation};
use crate::ops::{Label, OWNER_ORDER};
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
        self.handed_over.compared = true;
        self.learns_reuse(id, expected)
    }

    /// Could what it expects and one of the values at its location, whichever it has read, be at the same address?
    #[inline(never)]
    fn learns_reuse<T>(&mut self, id: EventId, expected: usize) -> Option<Step<T>> {
        let heap = self.heap.as_ref()?;
        let any_owner_gone = self.left.len() > 0;
        if !any_owner_gone && !heap.freed_such(expected) {
            return None;
        }
        let keys = |old: &Block| Some([ADDRESS_REUSE, of_room(old.size), of_block(heap.find(old.start)?)]);
        let is_news = |old: &Block| keys(old).is_some_and(|keys| keys.iter().any(|key| !self.has_learned(*key)));
        let is_followed = |old: &Block, new: &Block| old.freed && is_news(old) && self.could_follow(new, old.freed_by);
        let followed = self.could_be_equal(id).find(|(old, new)| is_followed(old, new));
        if let Some(keys) = followed.and_then(|(old, _)| keys(&old)) {
            self.learned.extend(keys.map(short));
            // Which block is meant depends on who has made it.
            return Some(self.told_apart());
        }
        let is_owned = |old: &Block| if old.freed { old.freed_by_owner } else { any_owner_gone };
        let is_of_owner = |(old, new): (Block, Block)| is_owned(&old) && self.could_be_of_owner(&new);
        if !self.has_learned(OWNER_ORDER) && self.could_be_equal(id).any(is_of_owner) {
            return Some(self.learn_now(OWNER_ORDER));
        }
        None
    }

    /// Two blocks, the second of which could have been made where the first one was, as far as what they hold goes: one is where a compare-exchange expects an address, the other one where, at
    /// the same distance from its begin, a value of its location is that it could find.
    pub(super) fn could_be_equal(&self, id: EventId) -> impl Iterator<Item = (Block, Block)> + '_ {
        let graph = &self.explorer.graph;
        let event = graph.event(id);
        let expected = event.operation.a as usize;
        // What is written after it, or by itself, it does not find, nor what was overwritten before.
        let before = graph.past(id.thread, id.index as usize);
        let mo = graph.mo(event.location);
        let overwrites = mo.iter().rposition(|write| before.contains(*write));
        let is_found = move |write: &EventId| !graph.past(write.thread, write.index as usize + 1).contains(id);
        let first = overwrites.is_none().then_some(EventId::INIT);
        let writes = first.into_iter().chain(mo[overwrites.unwrap_or(0)..].iter().copied().filter(is_found));
        let values = writes.map(move |write| graph.value(event.location, write) as usize);
        let both = move |found: usize| self.heap.iter().flat_map(move |heap| heap.equal_in(expected, found));
        values
            .filter(move |found| *found != expected)
            .flat_map(both)
            .flat_map(|(one, other)| [(one, other), (other, one)])
    }

    /// Could it have been put where another one was, had an owner that has gone by then been the last one of the `Arc` that frees that?
    fn could_be_of_owner(&self, new: &Block) -> bool {
        self.left.any(|left| self.could_follow(new, (left.thread.slot() as u32, left.events)))
    }

    /// Could an allocator that hands out again what was freed have put it where something was that was freed then? Others may have been there in between, and of each the thread that
    /// freed it knew by what it had read, however that was ordered.
    fn could_follow(&self, new: &Block, freed: Moment) -> bool {
        let past = |other, count| self.explorer.graph.prefix_of(other, count);
        is_before(freed, (new.slot, new.events), past)
    }

    /// Could the running thread get a block again for this, for all that is known without looking for one?
    pub(crate) fn may_reuse(&self, layout: Layout) -> bool {
        self.has_learned(of_room(layout.size()))
    }

    /// The running thread allocates. The block that it gets again, if there is a choice and that says so.
    ///
    /// It does not wait for its turn, nor is it stopped here: locks of the system's may be held around an allocation. So the event may be added while others still replay theirs; as nobody else can tell, its place
    /// among theirs makes no difference.
    pub(crate) fn reuses(&mut self, layout: Layout) -> Option<usize> {
        let among = self.reusable(layout).count() as u64;
        if among == 0 || self.enter::<()>().is_some() {
            return None; // a thread that is cut notices at its next operation
        }
        self.close();
        if !self.has_learned(OWNER_ORDER) && self.reusable(layout).any(|free| free.was.freed_by_owner) {
            let _: Step<()> = self.learn_now(OWNER_ORDER); // another one may have freed it the next time
            return None;
        }
        let choice = Operation { a: among + 1, label: Label::AddressReuse, ..Operation::plain(Code::Choose) };
        let which = self.chooses_at_once(&choice)?.checked_sub(1)?;
        let Free { at, taken, .. } = self.reusable(layout).nth(which as usize)?;
        if taken {
            (self.dropped, self.cutting) = (true, true); // nobody gets what another one has
            return None;
        }
        Some(self.reuse(at, layout))
    }

    fn reusable(&self, layout: Layout) -> impl Iterator<Item = Free<'_>> {
        let now = (self.current().0, self.me_ref().position as u32);
        let knows = move |freed| is_before(freed, now, |thread, count| self.explorer.graph.past(thread, count));
        let is_found = |at| self.has_learned(of_block(at));
        self.heap.iter().flat_map(move |heap| heap.fitting(layout, is_found, knows))
    }

    /// A choice of the running thread, now. `None`: it is to stop, or has gone another way, and notices at its next operation.
    fn chooses_at_once(&mut self, choice: &Operation) -> Option<u64> {
        let (id, graph) = (self.next_event(), &self.explorer.graph);
        let recorded = graph.thread(id.thread).get(id.index as usize);
        let value = match recorded.map(|event| (event.operation, event.value)) {
            Some((operation, value)) if operation == *choice => {
                self.replayed += 1;
                value
            }
            Some((Operation { code: Code::Block, .. }, _)) => return None,
            Some(_) => {
                let _: Step<()> = self.diverged(id, "memory is allocated", None);
                return None;
            }
            None if graph.has_ended(id.thread) || self.stops_next() => return None,
            None if self.minds_observers::<()>(choice).is_some() => return None,
            None => {
                self.granted = false; // that was for this event, where a schedule or chance has picked the thread
                self.add_plain(id, choice, None).ok()?
            }
        };
        self.me().rounds.clear();
        self.executed_event(id);
        self.trace(id, None, 0);
        Some(value)
    }

    /// Is the running thread to stop, instead of its next event?
    fn stops_next(&self) -> bool {
        self.me_ref().repeats.is_some() || self.guide.stops_now(self.explorer.graph.len()).is_some()
    }

    /// The running thread gets a block again. What is known by its address was of another object.
    fn reuse(&mut self, at: At, layout: Layout) -> usize {
        let Some(heap) = &mut self.heap else { unreachable!("there is a block that was freed") };
        let (start, end) = heap.hand_out(at, layout);
        self.locations.retire((start, end));
        self.held.retain(|held| !held.begins_in(start..end));
        // The choice has closed what was open.
        self.left.forget(&(start..end), 0);
        start
    }
}

/// Does what one thread did after so many of its events, and before the next one, come before what another one did then, by what is in the past of that? What a thread itself did
/// between two of its events may come before it or after it.
pub(super) fn is_before<'a>(
    (one, events): Moment,
    (other, count): Moment,
    past: impl FnOnce(ThreadId, usize) -> Past<'a>,
) -> bool {
    if one == other { events <= count } else { past(ThreadId(other), count as usize).of(ThreadId(one)) > events }
}

/// What is learned of blocks with as much room as one of this size.
fn of_room(size: usize) -> u64 {
    scatter(Block::room(size) as u64)
}

/// What is learned of a block.
fn of_block((arena, index): At) -> u64 {
    scatter(!((arena as u64) << u32::BITS | index as u64))
}

/// Sixteen bits, which is what counts of a key.
fn scatter(name: u64) -> u64 {
    name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48
}
