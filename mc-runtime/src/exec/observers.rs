//! Threads that only look: they read, and nothing that they do shows to others. What one of them reads makes no difference to another one.
//!
//! They run when nobody else can, so that all that they can read is there. All ways of each are explored, beside one way of the others: the first, in which every read sees the newest write.
//! That a thread is one is a guess, made when the first execution is over, and whatever speaks against it is noticed: an event that is no read, something else than its joins that happens before all of them
//! have ended, a thread that knows by one of them what it would not know otherwise, or that one has changed memory in another way than it did at first. Then the exploration starts again without it.
//! The argument is in `docs/reductions.md`. Not here: which reads are left out (`explore`).

use super::state::{memory, thread_locals};
use super::thread::State;
use super::writable::compared;
use super::{Engine, Guide, Step};
use crate::graph::event::Event;
use crate::ids::{EventId, ThreadId};
use crate::operation::{Code, Operation};
use crate::options::{Origin, Strategy};
use std::ops::Range;
use std::time::Duration;

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Observers {
    /// The first execution was looked at.
    guessed: bool,
    /// What they change is looked at by another check of the same test.
    trusted: bool,
    window: Window,
    /// What each has changed in this execution, by slot.
    changes: Vec<Changes>,
    /// What it changes when all of them read the newest writes.
    known: Vec<Known>,
    /// Memory that is kept.
    effect: Effect,
}

/// What others can see, when an observer begins to run.
#[derive(Debug, Default)]
struct Window {
    ranges: Vec<(usize, usize)>,
    bytes: Vec<u8>,
}

/// What an observer has done to it.
#[derive(Debug, Default)]
struct Changes {
    /// Where, what was there, and what is there now.
    bytes: Vec<(usize, u8, u8)>,
    /// Reference counts, which change together with others: where, and by how much.
    counts: Vec<(usize, u32)>,
    /// Where it has left its clock.
    left: Vec<usize>,
    /// Where it leaves that it has returned nothing. What else stands there has no meaning.
    nothing: Range<usize>,
    /// It has run, and nobody has looked what changed.
    unseen: bool,
}

/// The same, for comparison.
#[derive(Debug, Default, PartialEq, Eq)]
struct Effect {
    bytes: Vec<(usize, u8)>,
    counts: Vec<(usize, u32)>,
    left: Vec<usize>,
    clock: Duration,
}

/// What an observer changes after these events of the other threads.
#[derive(Debug, Default)]
struct Known {
    context: Vec<Fact>,
    effect: Effect,
}

/// An event with what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    id: EventId,
    rf: EventId,
    place: u32,
    code: Code,
    value: u64,
}

impl Observers {
    #[inline(never)]
    fn forget_changes(&mut self) {
        self.changes.iter_mut().for_each(Changes::clear);
    }
}

impl Changes {
    fn clear(&mut self) {
        self.bytes.clear();
        self.counts.clear();
        self.left.clear();
        (self.nothing, self.unseen) = (0..0, false);
    }

    /// The thread has run: what is different?
    fn add(&mut self, window: &Window) {
        let mut at = 0;
        for &(start, len) in &window.ranges {
            let (before, now) = (&window.bytes[at..at + len], memory(start, len));
            at += len;
            // Nearly all of it is the same.
            if before == now {
                continue;
            }
            const PIECE: usize = 64;
            let (befores, before) = before.as_chunks::<PIECE>();
            let (nows, now) = now.as_chunks::<PIECE>();
            for (piece, (before, now)) in befores.iter().zip(nows).enumerate() {
                if before != now {
                    self.add_piece(start + piece * PIECE, before, now);
                }
            }
            if before != now {
                self.add_piece(start + befores.len() * PIECE, before, now);
            }
        }
    }

    #[inline(never)]
    fn add_piece(&mut self, start: usize, before: &[u8], now: &[u8]) {
        const WORD: usize = size_of::<u64>();
        let (olds, old) = before.as_chunks::<WORD>();
        let (news, new) = now.as_chunks::<WORD>();
        for (word, (old, new)) in olds.iter().zip(news).enumerate() {
            // The bits of its bytes that are different.
            let mut different = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new);
            while different != 0 {
                let byte = different.trailing_zeros() as usize / 8;
                self.change(start + word * WORD + byte, old[byte], new[byte]);
                different &= !(0xff << (8 * byte));
            }
        }
        let bytes = old.iter().zip(new).enumerate();
        for (offset, (old, new)) in bytes.filter(|(_, (old, new))| old != new) {
            self.change(start + olds.len() * WORD + offset, *old, *new);
        }
    }

    fn change(&mut self, at: usize, old: u8, new: u8) {
        if self.nothing.contains(&at) {
            return;
        }
        let in_count = self.left.iter().find(|count| (**count..**count + size_of::<u32>()).contains(&at));
        if let Some(&count) = in_count {
            let shift = 8 * (at - count) as u32;
            let by = (u32::from(new) << shift).wrapping_sub(u32::from(old) << shift);
            match self.counts.iter_mut().find(|(known, _)| *known == count) {
                Some((_, sum)) => *sum = sum.wrapping_add(by),
                None => self.counts.push((count, by)),
            }
            return;
        }
        match self.bytes.iter_mut().find(|(known, ..)| *known == at) {
            Some((.., last)) => *last = new,
            None => self.bytes.push((at, old, new)),
        }
    }

    /// Writes what there is now into `effect`.
    fn tell(&self, clock: Duration, effect: &mut Effect) {
        let Effect { bytes, counts, left, clock: when } = effect;
        *when = clock;
        bytes.clear();
        counts.clear();
        left.clear();
        bytes.extend(self.bytes.iter().filter(|(_, old, new)| old != new).map(|(at, _, new)| (*at, *new)));
        counts.extend(self.counts.iter().filter(|(_, by)| *by != 0));
        left.extend(&self.left);
        bytes.sort_unstable();
        counts.sort_unstable();
        left.sort_unstable();
    }
}

impl Engine {
    /// Another execution begins.
    pub(super) fn reset_observers(&mut self) {
        if self.explorer.observers != 0 {
            self.observers.forget_changes();
        }
    }

    /// Starts with what another check of the same test has learned.
    pub(super) fn take_observers(&mut self, other: &Engine) {
        if matches!(self.guide, Guide::Explore) {
            (self.observers.guessed, self.observers.trusted) = (other.observers.guessed, true);
            self.explorer.observers = other.explorer.observers;
        }
    }

    /// Are there some, which were not known, in the first execution that is complete?
    pub(super) fn finds_observers(&mut self) -> bool {
        let explores = matches!(self.guide, Guide::Explore) && self.options.strategy == Strategy::Dfs;
        let is_on = self.options.reductions.observers && self.options.origin == Origin::Own && self.heap.is_some();
        if self.rehearses() || std::mem::replace(&mut self.observers.guessed, true) || !explores || !is_on {
            return false;
        }
        let graph = &self.explorer.graph;
        let looks = |t: &&ThreadId| {
            let events = graph.thread(**t);
            let looks_only = events.iter().all(|event| may_look(event.operation.code) && !event.writes);
            looks_only && (0..events.len()).any(|index| self.explorer.has_choice(t.event(index)))
        };
        let threads = graph.ranks().iter().filter(|t| **t != ThreadId::MAIN && t.0 < u64::BITS);
        let observers = threads.filter(looks).fold(0, |all, t| all | 1 << t.0);
        self.explorer.set_observers(observers);
        self.explorer.observers != 0
    }

    /// Something speaks against it that the thread is one.
    #[cold]
    pub(super) fn is_no_observer<T>(&mut self, thread: ThreadId) -> Step<T> {
        self.explorer.set_observers(self.explorer.observers & !(1 << thread.0));
        self.start_again()
    }

    /// The running thread is about to add an event without a location.
    #[inline(always)]
    pub(super) fn minds_observers<T>(&mut self, operation: &Operation) -> Option<Step<T>> {
        if self.explorer.observers == 0 {
            return None;
        }
        if self.explorer.observes(self.current()) {
            return (!may_look(operation.code)).then(|| self.is_no_observer(self.current()));
        }
        if operation.code == Code::Join { None } else { self.acts_among_observers() }
    }

    /// It is about to access something, perhaps without an event. `looks`: others cannot see that.
    #[inline(always)]
    pub(super) fn acts<T>(&mut self, looks: bool) -> Option<Step<T>> {
        if self.explorer.observers == 0 {
            return None;
        }
        if self.explorer.observes(self.current()) {
            return (!looks).then(|| self.is_no_observer(self.current()));
        }
        self.acts_among_observers()
    }

    /// A thread that is no observer does something else than to join one: all that have begun must have ended before, and it must know nothing through them alone.
    #[inline(never)]
    fn acts_among_observers<T>(&mut self) -> Option<Step<T>> {
        // What is replayed was looked at when it was new.
        if self.replaying() {
            return None;
        }
        let graph = &self.explorer.graph;
        let has_begun = |t: &ThreadId| self.threads[t.slot()].state != State::Unstarted;
        let mut begun = graph.ranks().iter().copied().filter(|t| self.explorer.observes(*t) && has_begun(t));
        let spoils = |t: &ThreadId| !self.has_ended_before_me(*t) || self.tells_me_news(*t);
        let found = begun.find(spoils)?;
        Some(self.is_no_observer(found))
    }

    fn position(&self, thread: ThreadId) -> usize {
        self.threads[thread.slot()].position
    }

    /// Does the end of the thread happen before this point of the running thread?
    fn has_ended_before_me(&self, thread: ThreadId) -> bool {
        let known = self.explorer.graph.knows(self.current(), self.me_ref().position, thread) as usize;
        self.threads[thread.slot()].state == State::Ended && known > self.position(thread)
    }

    /// Is there an event on which this observer depends, and which the running thread knows only since it has joined observers?
    fn tells_me_news(&self, observer: ThreadId) -> bool {
        let graph = &self.explorer.graph;
        let events = &graph.thread(self.current())[..self.me_ref().position];
        let run = events.iter().rev().take_while(|e| e.operation.code == Code::Join).count();
        let before = events.len() - run;
        let joined =
            || events[before..].iter().filter_map(Event::joins).filter(|thread| !self.explorer.observes(*thread));
        let depends = graph.prefix_of(observer, self.position(observer));
        let knows = |thread: ThreadId, count: u32| {
            graph.knows(self.current(), before, thread) >= count
                || joined().any(|joined| graph.end(joined).of(thread) >= count)
        };
        let mut others = graph.ranks().iter().copied();
        others.any(|t| t != self.current() && !self.explorer.observes(t) && !knows(t, depends.of(t)))
    }

    /// The running thread leaves its clock at the address of a count.
    #[inline(always)]
    pub(super) fn notes_left(&mut self, at: usize) {
        if self.explorer.observers != 0 && self.explorer.observes(self.current()) {
            self.note_left(at);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_left(&mut self, at: usize) {
        changes_of(&mut self.observers.changes, self.threads.running()).left.push(at);
    }

    /// See `ops::returns_nothing`.
    pub(crate) fn returns_nothing(&mut self, at: usize, size: usize) {
        if self.explorer.observers != 0 && self.explorer.observes(self.current()) {
            self.note_nothing(at..at + size);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_nothing(&mut self, at: Range<usize>) {
        changes_of(&mut self.observers.changes, self.threads.running()).nothing = at;
    }

    /// A thread is about to run. Is it an observer, whose changes are looked for? They are those of one that deviates, and of all when they first come to this.
    #[inline(always)]
    pub(super) fn begins_to_look(&mut self, thread: ThreadId) -> bool {
        self.explorer.observers != 0 && self.explorer.observes(thread) && self.opens_window(thread)
    }

    #[inline(never)]
    fn opens_window(&mut self, thread: ThreadId) -> bool {
        let another_deviates = self.explorer.look_at_others(thread);
        let runs = !another_deviates && !self.cutting && !self.rehearses() && !self.observers.trusted;
        let looks = runs && (self.explorer.deviates(thread) || !self.knows_effect(thread));
        if looks {
            self.open_window();
        } else {
            changes_of(&mut self.observers.changes, thread).unseen = true;
        }
        looks
    }

    /// Is it known what the observer changes after the events that the other threads have made?
    fn knows_effect(&self, thread: ThreadId) -> bool {
        let known = self.observers.known.get(thread.slot());
        known.is_some_and(|known| self.context().eq(known.context.iter().copied()))
    }

    /// Those events.
    fn context(&self) -> impl Iterator<Item = Fact> + '_ {
        let graph = &self.explorer.graph;
        graph.order().iter().filter(|id| !self.explorer.observes(id.thread)).map(|id| {
            let event = graph.event(*id);
            Fact { id: *id, rf: event.rf, place: event.place, code: event.operation.code, value: event.value }
        })
    }

    #[inline(never)]
    fn open_window(&mut self) {
        let Window { ranges, bytes } = &mut self.observers.window;
        ranges.clear();
        ranges.extend(self.heap.iter().flat_map(|heap| heap.memory_of_others()));
        ranges.extend(compared());
        ranges.push(thread_locals());
        // The one that runs has no stack here.
        let alive = self.threads.iter().filter(|t| !matches!(t.state, State::Absent | State::Ended));
        for (fiber, at) in alive.filter_map(|t| Some((t.fiber.as_ref()?, t.suspended_at))).filter(|(_, at)| *at != 0) {
            ranges.push((at, fiber.bounds.base.saturating_sub(at)));
            ranges.extend(fiber.thread_locals());
        }
        bytes.clear();
        ranges.iter().for_each(|(start, len)| bytes.extend_from_slice(memory(*start, *len)));
    }

    /// The observer has run, and perhaps ended.
    #[inline(never)]
    pub(super) fn has_looked(&mut self, thread: ThreadId, ended: bool) {
        if self.cutting {
            return;
        }
        let changes = changes_of(&mut self.observers.changes, thread);
        changes.add(&self.observers.window);
        let is_whole = !changes.unseen;
        if !ended {
            return;
        }
        if self.heap.iter().any(|heap| heap.live().any(|(slot, _)| slot == thread.slot())) {
            // Of what it leaves behind there, only the address would be compared.
            let _: Step<()> = self.is_no_observer(thread);
            return;
        }
        let mut effect = std::mem::take(&mut self.observers.effect);
        changes.tell(self.threads[thread.slot()].clock, &mut effect);
        if !self.explorer.deviates(thread) {
            if is_whole {
                self.learn_effect(thread, &mut effect);
            }
        } else if !is_whole || !self.knows_effect(thread) || self.observers.known[thread.slot()].effect != effect {
            let _: Step<()> = self.is_no_observer(thread);
        }
        self.observers.effect = effect;
    }

    fn learn_effect(&mut self, thread: ThreadId, effect: &mut Effect) {
        let all = &mut self.observers.known;
        if all.len() <= thread.slot() {
            all.resize_with(thread.slot() + 1, Known::default);
        }
        let mut known = std::mem::take(&mut all[thread.slot()]);
        known.context.clear();
        known.context.extend(self.context());
        std::mem::swap(&mut known.effect, effect);
        self.observers.known[thread.slot()] = known;
    }
}

fn changes_of(all: &mut Vec<Changes>, thread: ThreadId) -> &mut Changes {
    if all.len() <= thread.slot() {
        all.resize_with(thread.slot() + 1, Changes::default);
    }
    &mut all[thread.slot()]
}

/// Is an event of this kind one that others cannot see? (A compare-exchange, if it fails.)
fn may_look(code: Code) -> bool {
    matches!(code, Code::Load | Code::CompareExchange | Code::Fence | Code::Block)
}
