//! What the compiler's instrumentation tells: plain accesses, and the atomics in generic code of std, which are the counts of `Arc`.
//!
//! The compiler takes the calls for ones that never unwind. So nothing here cuts an execution by unwinding: a thread that may not go on is suspended for good.

use super::access::is_static;
use super::calls::{Calls, Spot, Spots, Trace};
use super::recent::Recent;
use super::shadow::{Shadow, Touch, lines};
use super::thread::Open;
use super::{Engine, Found, Step, state};
use crate::graph::Site;
use crate::ids::ThreadId;
use crate::ops::OWNER_ORDER;
use crate::options::Threads;
use crate::outcome::FailureKind;
use crate::place::Place;
use crate::symbols;
use std::ops::Range;

/// What instrumented code tells of itself.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The calls that the running thread is in.
    pub calls: Calls,
    pub(super) spots: Spots,
    pub(super) recent: Recent,
    pub(super) shadow: Shadow,
    /// How often the engine was asked for anything but a plain access.
    pub calls_of_engine: u64,
}

/// A plain access that was made while a read was open, see `awaits`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Later {
    at: usize,
    size: usize,
    touch: Touch,
}

/// The value of an `Arc` is being dropped by its last owner, or its block freed: what the other owners did before they went has happened. Not for what the thread does
/// then: it is chance that it was the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dropping {
    /// The block of the counts.
    at: usize,
    end: usize,
    /// What the thread had done that can be seen, when the value began to be dropped.
    activity: u64,
    /// The thread unwound already then.
    unwinds: bool,
    /// How many blocks it had read then, see `Thread::read_in_drops`.
    reads: usize,
    /// The block is about to be freed.
    frees: bool,
}

impl Dropping {
    /// Where the owners left their clocks.
    pub(super) fn counts(&self) -> Range<usize> {
        self.at..self.at + 16
    }
}

impl Engine {
    /// A plain access by the running thread; whether it may go on.
    pub(crate) fn plain_access(&mut self, at: usize, size: usize, writes: bool, code: usize) -> bool {
        if self.cutting || size == 0 {
            return true;
        }
        let moment = self.moment();
        self.end_drops(false);
        let place = self.told.spots.in_code(code, &mut self.told.calls);
        // Not even remembered: it would take the place of what the crates did there before.
        if place.is_checkers() {
            return true;
        }
        if !self.me_ref().dropping.is_empty() && self.is_shared(at, writes) {
            self.me().shared_accesses += 1;
        }
        let touch = self.touch_here(writes, false, place);
        self.touch(at, size, touch);
        if !self.stack.holds(at) {
            let _: Option<Step<()>> = self.touches(at, size);
        }
        if self.options.uninit {
            if !writes {
                self.note_filling(at, size, place);
            }
        } else {
            lines(at, size).take(Recent::MANY).for_each(|bytes| self.told.recent.note(moment, bytes, writes));
        }
        !self.cutting
    }

    /// Has the running thread made this plain access before, and nothing else since that could make a difference?
    #[inline]
    pub(crate) fn has_just_accessed(&self, at: usize, size: usize, writes: bool) -> bool {
        self.progress.count_other(); // code that computes for long does not hang
        let moment = self.moment();
        lines(at, size).all(|bytes| self.told.recent.has(moment, bytes, writes))
    }

    /// Grows with all that is not a plain access.
    #[inline]
    fn moment(&self) -> u64 {
        self.told.calls_of_engine + self.heap.as_ref().map_or(0, |heap| heap.frees)
    }

    /// An address in the code of the running thread, and where the calls around it were made from.
    pub(crate) fn trace_of_calls(&self, code: usize) -> Trace {
        self.told.calls.trace(Some(code))
    }

    /// Where the code under test is, if an event was made in the checker's: what it calls is a function of the C library then, as all is where std is no facade.
    pub(crate) fn placed(&self, site: Site) -> Site {
        let in_checker = crate::instrumentation::is_on_in_std() || self.told.calls.call_system();
        match site {
            Some(place) if in_checker && place.is_in_source() => Some(Place::of_code(self.told.calls.trace(None))),
            other => other,
        }
    }

    /// Can others see a write there, or change what is read, while an `Arc` is being dropped? Not on the stack, nor in what is being dropped. Of what is read in other
    /// blocks that is known later.
    fn is_shared(&mut self, at: usize, writes: bool) -> bool {
        const RECENT: usize = 8;
        let dropped = |dropping: &Dropping| (dropping.at..dropping.end).contains(&at);
        if self.stack.holds(at) || self.me_ref().dropping.last().is_some_and(dropped) {
            return false;
        }
        if writes {
            return true;
        }
        if let Some(block) = self.heap.as_ref().and_then(|heap| heap.block(at)) {
            let reads = &mut self.me().read_in_drops;
            if !reads.iter().rev().take(RECENT).any(|start| *start == block.start) {
                reads.push(block.start);
            }
            return false;
        }
        let mut fibers = self.threads.iter().filter_map(|thread| thread.fiber.as_ref());
        is_static(at) || fibers.any(|fiber| fiber.bounds.holds(at))
    }

    /// Did the running thread, in a drop that is over, read memory that is still there?
    fn read_what_stays(&self, dropping: &Dropping) -> bool {
        let stays = |start: &usize| {
            let block = self.heap.as_ref().and_then(|heap| heap.block(*start));
            block.is_some_and(|block| !block.freed && block.start == *start)
        };
        self.me_ref().read_in_drops.get(dropping.reads..).is_some_and(|reads| reads.iter().any(stays))
    }

    /// An access of an atomic that is an event.
    pub(super) fn touch_atomic(&mut self, at: usize, size: usize, writes: bool, site: Site) {
        let events = (self.me_ref().position - 1) as u32;
        let place = self.told.spots.in_source(site);
        self.touch(at, size, Touch { events, left: u32::MAX, ..self.touch_here(writes, true, place) });
        if self.options.uninit && !writes {
            self.note_filling(at, size, place);
        }
    }

    /// One that is no event, between two events of the running thread.
    pub(super) fn touch_between_events(&mut self, at: usize, size: usize, writes: bool, site: Site) {
        let place = self.told.spots.in_source(site);
        self.touch(at, size, self.touch_here(writes, true, place));
    }

    /// An access that the running thread makes now, between two of its events.
    fn touch_here(&self, writes: bool, atomic: bool, place: Spot) -> Touch {
        let (thread, events, left) = (self.current(), self.me_ref().position as u32, self.left.made());
        Touch { thread, events, left, writes, atomic, in_vain: false, place }
    }

    fn touch(&mut self, at: usize, size: usize, touch: Touch) {
        // Blocks of the system's heap, and with them the counts of an `Arc` and what they order, are not known.
        if self.rehearses() {
            return;
        }
        let heap = self.heap.as_mut().filter(|heap| heap.contains(at));
        let is_in_heap = heap.is_some();
        let block = heap.and_then(|h| h.watch(at));
        let misses = is_in_heap && block.is_none_or(|b| b.freed || at + size > b.start + b.size);
        if misses && self.misses_blocks(at, size, touch) {
            return;
        }
        if let Some(maker) = block.and_then(|b| self.unordered((ThreadId(b.slot), b.events))) {
            let message = format!(
                "data race: {} {}s at {} what {} has allocated and initialised, and nothing orders that before",
                self.thread_name(touch.thread),
                touch.verb(),
                self.where_is(touch.place),
                self.thread_name(maker),
            );
            return self.found(FailureKind::DataRace, message, touch);
        }
        let range = (at, at + size);
        if !touch.atomic && self.conflicts_between_joins(range, touch.writes)
            || self.conflicts_between_spawns(range, touch.writes)
        {
            let _: Step<()> = self.told_apart();
            return;
        }
        if self.me_ref().open.is_some() {
            self.later.push(Later { at, size, touch });
        } else {
            self.hold_against_others(at, size, touch);
        }
    }

    /// Is it an access to the arenas, not wholly in a block that is in use? That is a failure.
    #[cold]
    fn misses_blocks(&mut self, at: usize, size: usize, touch: Touch) -> bool {
        let Some(heap) = self.heap.as_ref().filter(|heap| heap.contains(at)) else { return false };
        if let Some(block) = heap.overrun(at, size) {
            let message = format!(
                "out of bounds: {} {}s {size} bytes at {}, from byte {} of a block that has {}",
                self.thread_name(touch.thread),
                touch.verb(),
                self.where_is(touch.place),
                at - block.start,
                block.size,
            );
            self.found(FailureKind::OutOfBounds, message, touch);
        } else {
            let kind = if touch.atomic { "atomic" } else { "non-atomic" };
            let message = format!("{kind} {} of memory that was freed{}", touch.verb(), self.who_freed(at));
            self.found(FailureKind::UseAfterFree, message, touch);
        }
        true
    }

    /// What was done after an open read that stays was done.
    pub(super) fn flush_later(&mut self) {
        self.hold_later(|touch| touch);
    }

    /// An open read is about to be taken back: what was done after it is in no execution with what comes later, and is remembered as such.
    pub(super) fn keep_in_vain(&mut self, open: Open) {
        let (events, left) = (open.read.index, open.left as u32);
        self.hold_later(|touch| Touch { events, left, in_vain: true, ..touch });
    }

    fn hold_later(&mut self, made: impl Fn(Touch) -> Touch) {
        let mut later = std::mem::take(&mut self.later);
        for Later { at, size, touch } in later.drain(..) {
            if !self.cutting {
                self.hold_against_others(at, size, made(touch));
            }
        }
        self.later = later;
    }

    fn hold_against_others(&mut self, at: usize, size: usize, touch: Touch) {
        let (shadow, order) = self.shadow_and_order();
        let race = shadow.access(at, size, touch, |old| order.has(old.thread, old.events, old.left));
        let Some(other) = race.filter(|_| !self.is_of_each_thread(at)) else { return };
        if other.in_vain || touch.in_vain {
            return self.take_nothing_back();
        }
        let with = |touch: &Touch| if touch.atomic { ", with an atomic operation," } else { "" };
        let message = format!(
            "data race: {} {}s at {}{} what {} {}s at {}{} and neither happens before the other",
            self.thread_name(touch.thread),
            touch.verb(),
            self.where_is(touch.place),
            with(&touch),
            self.thread_name(other.thread),
            other.verb(),
            self.where_is(other.place),
            if other.atomic { with(&other) } else { "," },
        );
        self.found(FailureKind::DataRace, message, touch);
    }

    /// Is the address in a thread-local of std's own (the keys of the next `HashMap`, say), which coroutines share and threads do not? Those of the crates under test lie elsewhere.
    fn is_of_each_thread(&self, at: usize) -> bool {
        let (start, size) = state::thread_locals();
        self.options.threads == Threads::Coroutines && (start..start + size).contains(&at)
    }

    /// For a message.
    pub(super) fn where_is(&self, place: Spot) -> String {
        symbols::place(self.told.spots.place(place))
    }

    fn found(&mut self, kind: FailureKind, message: String, touch: Touch) {
        let site = symbols::source(self.told.spots.place(touch.place));
        self.record(Found { kind, message, thread: touch.thread, site });
    }

    /// Memory was freed in which something was accessed.
    pub(super) fn free_touched(&mut self, range: (usize, usize)) {
        let (shadow, order) = self.shadow_and_order();
        let race = shadow.free(range, |old| order.has(old.thread, old.events, old.left));
        let Some(other) = race else { return };
        if other.in_vain {
            return self.take_nothing_back();
        }
        let message = format!(
            "{} frees memory that {} {}s at {}, and that access does not happen before the free",
            self.thread_name(self.current()),
            self.thread_name(other.thread),
            other.verb(),
            self.where_is(other.place),
        );
        let site = symbols::source(self.told.spots.place(other.place));
        self.record(Found { kind: FailureKind::UseAfterFree, message, thread: self.current(), site });
    }

    /// Is the address where an `Arc` of std's counts its owners or its `Weak`s? These are the first two words of a block.
    pub(crate) fn is_count(&self, at: usize) -> bool {
        let block = self.heap.as_ref().and_then(|h| h.block(at));
        block.is_some_and(|b| b.size >= 16 && !b.freed && [0, 8].contains(&(at - b.start)))
    }

    /// A count that nobody looks at has gone down from `old`: plain memory, and a clock that is left for the last. Whether the thread may go on.
    pub(crate) fn count_down(&mut self, at: usize, old: u64) -> bool {
        self.progress.count_other();
        self.end_drops(false);
        let Some(block) = self.heap.as_ref().and_then(|h| h.block(at)) else { return true };
        let (start, end) = (block.start, block.start + block.size);
        let activity = self.me_ref().activity + self.me_ref().shared_accesses;
        let is_value = at == start;
        if !is_value {
            self.look_at_frees(); // those of the value
            let unwinds = self.unwinds();
            if let Some(dropping) = self.ends_drop(|dropping| dropping.at == start)
                && ((dropping.activity, dropping.unwinds) != (activity, unwinds) || self.read_what_stays(&dropping))
                && self.learn_count(start)
            {
                return false; // which owner was the last can be seen
            }
        }
        if old == 1 {
            self.look_at_frees(); // those before it is dropped
            let unwinds = self.unwinds();
            if self.me_ref().dropping.is_empty() {
                self.me().read_in_drops.clear();
            }
            let reads = self.me_ref().read_in_drops.len();
            self.me().dropping.push(Dropping { at: start, end, activity, unwinds, reads, frees: !is_value });
            self.ends_owned(1);
        } else {
            self.leave_clock(at);
        }
        !self.cutting
    }

    fn unwinds(&self) -> bool {
        std::thread::panicking() && self.current_is_unwinding()
    }

    /// A count, or what else std's generic code has atomics in, is changed in memory that was freed. That is a failure.
    pub(crate) fn is_count_of_freed(&mut self, at: usize, size: usize, writes: bool, code: usize) -> bool {
        let heap = self.heap.as_ref().filter(|heap| !heap.rehearsal && heap.contains(at));
        let freed = heap.is_some_and(|heap| heap.block(at).is_none_or(|block| block.freed));
        if freed {
            let place = self.told.spots.in_code(code, &mut self.told.calls);
            let touch = self.touch_here(writes, true, place);
            self.misses_blocks(at, size, touch);
        }
        freed
    }

    /// Blocks that were to be freed have been: for sure at the next event, otherwise if that can be told.
    pub(super) fn end_drops(&mut self, at_event: bool) {
        while self.has_ended_drop(at_event) {
            self.look_at_frees();
            self.ends_drop(|_| true);
        }
    }

    fn ends_drop(&mut self, is_over: impl FnOnce(&mut Dropping) -> bool) -> Option<Dropping> {
        let ended = self.me().dropping.pop_if(is_over)?;
        self.ends_owned(-1);
        Some(ended)
    }

    fn has_ended_drop(&self, at_event: bool) -> bool {
        let heap = self.heap.as_deref();
        let is_freed = |at| heap.and_then(|h| h.block(at)).is_none_or(|block| block.freed);
        let is_over = |dropping: &Dropping| dropping.frees && (at_event || is_freed(dropping.at));
        self.me_ref().dropping.last().is_some_and(is_over)
    }

    /// From now on, the count at the address is an event. True if it was not so far: the exploration starts again.
    pub(crate) fn learn_count(&mut self, at: usize) -> bool {
        let key = count_key(at);
        if self.has_learned(key) {
            return false;
        }
        self.close();
        let _: Step<()> = self.learn_now(key);
        true
    }

    /// The running thread has made an event of a count.
    pub(crate) fn note_count(&mut self) {
        self.has_seen_counts = true;
        self.me().has_seen_count = true;
    }

    /// Has it?
    pub(crate) fn has_seen_count(&self) -> bool {
        self.me_ref().has_seen_count
    }

    /// Is the count at the address an event?
    pub(crate) fn sees_count(&self, at: usize) -> bool {
        !self.learned.is_empty() && (self.has_learned(OWNER_ORDER) || self.has_learned(count_key(at)))
    }
}

fn count_key(at: usize) -> u64 {
    (at as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48 | 1
}
