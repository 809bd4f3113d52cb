//! Which threads are like each other: found when they are spawned, and given up as soon as anything tells them apart.
//!
//! A new thread is the twin of one that the same thread spawned just before, with nothing but spawns in between, if its code, what it has captured (bit by bit), its
//! name and its stack are the same. Whatever could tell the two apart later is noticed here, and then the exploration starts again without twins: they do different things,
//! give different results, are not joined one directly after the other, or somebody asks who they are.
//! Not here: what is left out for the sake of twins (`graph::symmetry`).

use super::access::same_kind;
use super::liveness::unused_arguments;
#[cfg(feature = "unmodified")]
use super::shadow::Touch;
use super::thread::State;
use super::{Engine, Guide, Step, access::Accessed};
use crate::graph::Site;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation};
use crate::ops::{ARGUMENTS, Label};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// What a thread is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Likeness {
    /// The address of its code.
    pub code: usize,
    /// What it has captured, as far as the code ever looks at it; a number that follows from that, if it is more.
    words: [u64; ARGUMENTS],
    /// What it has captured, if it is more.
    captured: Vec<u8>,
}

impl Likeness {
    /// Most of what differs is known by its words.
    #[inline]
    fn is_like(&self, other: &Self) -> bool {
        let words = self.words.iter().zip(&other.words);
        self.code == other.code
            && words.fold(0, |differs, (one, another)| differs | (one ^ another)) == 0
            && self.captured.len() == other.captured.len()
            && (self.captured.is_empty() || same_bytes(&self.captured, &other.captured))
    }
}

/// A number that follows from what a thread has captured.
fn mark(captured: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let words = captured.chunks_exact(size_of::<u64>());
    words.fold(0, |mark, word| {
        let word = u64::from_ne_bytes(word.try_into().expect("as long as a word"));
        (mark ^ word).wrapping_mul(ODD).rotate_left(23)
    })
}

/// What is known of threads that may be alike.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// Some were, in some execution.
    pub found: bool,
    /// Which of its arguments their code never reads, by its address.
    unread: FxHashMap<usize, u8>,
    /// What was asked for last, which is asked for again as a rule, and all bits of those that it reads.
    last: usize,
    reads: [u64; ARGUMENTS],
}

impl Alike {
    /// All bits of those arguments that the code reads.
    fn reads(&mut self, code: usize) -> &[u64; ARGUMENTS] {
        if self.last != code {
            self.find(code);
        }
        &self.reads
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, code: usize) {
        let unused = *self.unread.entry(code).or_insert_with(|| unused_arguments(code));
        self.reads = std::array::from_fn(|n| if unused >> n & 1 == 1 { 0 } else { u64::MAX });
        self.last = code;
    }
}

/// A thread that was spawned.
#[derive(Clone, Debug)]
struct Spawned {
    thread: ThreadId,
    likeness: Likeness,
    clock: Duration,
}

/// The threads that a thread has spawned in a row, with nothing else in between.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// The first so many count; the others are kept for their memory.
    count: usize,
    spawned: Vec<Spawned>,
    /// See `Thread::activity`: what it was after the last of them.
    activity: u64,
}

impl Row {
    /// There is none.
    pub(super) fn clear(&mut self) {
        (self.count, self.activity) = (0, 0);
    }

    /// Adds one. What it has captured is taken if it is much, and what was there is left in its place, for its memory.
    fn push(&mut self, thread: ThreadId, likeness: &mut Likeness, clock: Duration) {
        if self.spawned.len() == self.count {
            self.make_room();
        }
        let new = &mut self.spawned[self.count];
        (new.thread, new.clock) = (thread, clock);
        (new.likeness.code, new.likeness.words) = (likeness.code, likeness.words);
        if !(likeness.captured.is_empty() && new.likeness.captured.is_empty()) {
            std::hint::cold_path();
            std::mem::swap(&mut new.likeness.captured, &mut likeness.captured);
        }
        self.count += 1;
    }

    #[cold]
    fn make_room(&mut self) {
        self.spawned.push(Spawned { thread: ThreadId::MAIN, likeness: Likeness::default(), clock: Duration::ZERO });
    }
}

impl Engine {
    fn has_symmetry(&self) -> bool {
        // In a rehearsal, what is a thread's own has no place of its own.
        self.symmetry && matches!(self.guide, Guide::Explore) && !self.rehearses()
    }

    /// See `ops::liken`.
    pub(crate) fn liken(&mut self, code: usize, captured: &[u8]) {
        let code = if self.has_symmetry() { code } else { 0 };
        let new = &mut self.threads.me().likeness;
        new.captured.clear();
        new.captured.extend_from_slice(captured);
        (new.code, new.words) = (code, [mark(captured), 0, 0, 0, 0]);
    }

    /// See `ops::liken_call`.
    pub(crate) fn liken_call(&mut self, code: usize, arguments: &[u64; ARGUMENTS]) {
        let is_asked = self.has_symmetry();
        let new = &mut self.threads.me().likeness;
        new.code = if is_asked { code } else { 0 };
        if new.code != 0 {
            let reads = self.alike.reads(code);
            new.words = std::array::from_fn(|n| arguments[n] & reads[n]);
            new.captured.clear();
        }
    }

    /// Something tells threads apart: the exploration starts again without twins.
    #[cold]
    pub(super) fn told_apart<T>(&mut self) -> Step<T> {
        self.symmetry = false;
        self.start_again()
    }

    /// The spawn of a thread, with the twin of that.
    pub(super) fn spawning(&self, name: Option<&str>, stack: usize) -> Operation {
        let me = self.me_ref();
        let row = &me.row;
        let of_new = &me.likeness;
        let alike = |s: &&Spawned| {
            let thread = &self.threads[s.thread.slot()];
            s.likeness.is_like(of_new)
                && s.clock == me.clock
                && same_name(thread.name.as_deref(), name)
                && thread.stack_size == stack
                && !thread.is_told_apart
        };
        let continues = self.has_symmetry() && of_new.code != 0 && row.activity == me.activity;
        let in_row = if continues { &row.spawned[..row.count] } else { &[] };
        let twin = in_row.iter().rev().find(alike);
        Operation { a: twin.map_or(0, |t| u64::from(t.thread.0) + 1), ..Operation::plain(Code::Spawn) }
    }

    /// Has any thread a twin? As long as there has been none in any execution, no graph is looked at.
    #[inline(always)]
    fn has_twins(&self) -> bool {
        self.twins_were_found() && self.explorer.graph.has_twins()
    }

    /// Was there one in any execution?
    #[inline(always)]
    fn twins_were_found(&self) -> bool {
        debug_assert!(self.alike.found || !self.explorer.graph.has_twins(), "twins are found when they are spawned");
        self.alike.found
    }

    /// The running thread has spawned another. `before`: its activity before that.
    pub(super) fn spawned(&mut self, thread: ThreadId, before: u64) {
        // Where nobody asks for twins it was set to that.
        let me = self.threads.me();
        if me.likeness.code == 0 {
            return;
        }
        if me.row.activity != before {
            me.row.count = 0;
        }
        me.row.push(thread, &mut me.likeness, me.clock);
        me.row.activity = me.activity;
        me.likeness.code = 0;
    }

    /// Before the running thread, which has a twin, accesses a location: waits until the twin has come as far, and gives up if it did something else.
    #[inline]
    pub(super) fn follows_twin(
        &mut self,
        operation: &Operation,
        location: LocationId,
        at: usize,
        site: Site,
    ) -> Option<Step<Accessed>> {
        self.explorer.graph.twin(self.current())?;
        let counterpart = self.explorer.graph.counterpart(self.next_event())?;
        self.follows(counterpart, operation, location, at, site)
    }

    #[inline(never)]
    fn follows(
        &mut self,
        counterpart: EventId,
        operation: &Operation,
        location: LocationId,
        at: usize,
        site: Site,
    ) -> Option<Step<Accessed>> {
        if !self.explorer.graph.contains(counterpart) {
            let twin = counterpart.thread;
            let sleeps = self.threads[twin.slot()].state == State::Await && !self.can_move(twin);
            return Some(if sleeps { self.await_write(*operation, location, site) } else { self.lets(twin) });
        }
        let other = self.explorer.graph.event(counterpart);
        let same = same_kind(&other.operation, operation)
            && self.same_operands(&other.operation, operation)
            && (other.location == location || self.is_own(operation.label, at, other.location, counterpart.thread));
        (!same).then(|| self.told_apart())
    }

    /// Before an event of the running thread that has no location: gives up if its twin did something else.
    #[inline(always)]
    pub(super) fn leaves_twin<T>(&mut self, id: EventId, operation: &Operation) -> Option<Step<T>> {
        if operation.code != Code::Join && self.has_joined_some() {
            return Some(self.told_apart());
        }
        let counterpart = self.explorer.graph.counterpart(id)?;
        self.leaves(counterpart, operation)
    }

    #[inline(never)]
    fn leaves<T>(&mut self, counterpart: EventId, operation: &Operation) -> Option<Step<T>> {
        if !self.explorer.graph.contains(counterpart) {
            return Some(self.lets(counterpart.thread));
        }
        let other = self.explorer.graph.event(counterpart).operation;
        let same = other.code == operation.code
            && other.order == operation.order
            && (other.code != Code::Choose || other.a == operation.a);
        (!same).then(|| self.told_apart())
    }

    /// The twin has not come as far as the running thread, which lets it go on first. If it cannot, it does something else.
    fn lets<T>(&mut self, twin: ThreadId) -> Step<T> {
        // One that waits to write does something else, too: who writes has waited before it came here.
        if !self.can_move(twin) || self.waits_to_write(twin) {
            return self.told_apart();
        }
        self.me().state = State::Ready;
        Step::Wait
    }

    /// Is the address to the running thread what the location is to its twin: at the same place of its arena or stack, or its park token?
    fn is_own(&self, label: Label, at: usize, theirs: LocationId, twin: ThreadId) -> bool {
        let Some(other) = self.locations.address(theirs) else { return false };
        let offset = |at: usize, thread: ThreadId| {
            let stack = self.threads[thread.slot()].fiber.as_ref().map(|f| f.bounds);
            let stack = if thread == self.current() { Some(self.stack) } else { stack }.unwrap_or_default();
            let on_stack = stack.holds(at).then(|| (true, stack.top - at));
            on_stack.or_else(|| self.heap.as_ref()?.offset(at, thread.slot()).map(|offset| (false, offset)))
        };
        let mine = offset(at, self.current());
        is_of_handle(label) && label != Label::Unpark || mine.is_some() && mine == offset(other, twin)
    }

    /// Are the last events of the running thread joins, of some threads that are like others which it has not joined?
    #[inline(always)]
    fn has_joined_some(&self) -> bool {
        self.alike.found && self.has_just_joined() && self.has_joined_only_some()
    }

    /// Is the last event of the running thread a join?
    #[inline(always)]
    fn has_just_joined(&self) -> bool {
        let me = self.me_ref();
        me.joined == me.position
    }

    /// It is: are there threads that are like those which were joined, and were not?
    fn has_joined_only_some(&self) -> bool {
        let graph = &self.explorer.graph;
        if !graph.has_twins() {
            return false;
        }
        let events = &graph.thread(self.current())[..self.me_ref().position];
        let run = events.len() - events.iter().rev().take_while(|e| e.operation.code == Code::Join).count();
        let others = graph.ranks().iter().filter(|t| **t != self.current());
        if events[run..].iter().map(|e| e.operation.a).eq(others.map(|t| u64::from(t.0))) {
            return false; // all others were, as most often
        }
        self.are_only_some(run)
    }

    /// Are those that it has joined since that event like others which it has not?
    #[cold]
    #[inline(never)]
    fn are_only_some(&self, run: usize) -> bool {
        let graph = &self.explorer.graph;
        let joins = &graph.thread(self.current())[run..self.me_ref().position];
        let joined = |thread: ThreadId| joins.iter().any(|e| e.operation.a == u64::from(thread.0));
        let mut others = graph.ranks().iter().filter(|t| !joined(**t));
        others.any(|t| graph.ranks().iter().any(|j| joined(*j) && graph.eldest(*j) == graph.eldest(*t)))
    }

    /// The running thread does something that is no event, but would be something else if it had joined others: gives up if it has joined only some of those that are
    /// alike.
    pub(super) fn is_between_joins<T>(&mut self) -> Option<Step<T>> {
        self.has_joined_some().then(|| self.told_apart())
    }

    /// Likewise, where it frees memory in which something was accessed.
    pub(super) fn frees_between_joins(&self, range: (usize, usize)) -> bool {
        self.has_joined_some() && self.any_accessed_in(range)
    }

    #[inline(never)]
    fn any_accessed_in(&self, range: (usize, usize)) -> bool {
        let is_accessed = |location| self.explorer.graph.is_accessed(location);
        self.left_out.any_in(range) || self.cells.any_in(range) || self.locations.within(range).any(is_accessed)
    }

    /// Likewise, where it accesses or frees plain memory in which some that are alike did something that conflicts with that.
    #[cfg(feature = "unmodified")]
    pub(super) fn conflicts_between_joins(&self, range: (usize, usize), writes: bool) -> bool {
        let conflicts = |old: &Touch| (writes || old.writes) && self.has_twin_or_is_one(old.thread);
        self.has_just_joined() && self.has_twins() && self.told.shadow.any(range, conflicts) && self.has_joined_some()
    }

    /// Likewise, where the running thread accesses or frees plain memory in which the one that has spawned it did something that conflicts with that, since it spawned
    /// another that is alike.
    #[cfg(feature = "unmodified")]
    pub(super) fn conflicts_between_spawns(&self, range: (usize, usize), writes: bool) -> bool {
        let graph = &self.explorer.graph;
        if graph.twin(self.current()).is_none() {
            return false;
        }
        let spawn = graph.parent(self.current());
        let between = graph.parent(graph.eldest(self.current())).index + 1..=spawn.index;
        let conflicts =
            |old: &Touch| old.thread == spawn.thread && between.contains(&old.events) && (writes || old.writes);
        self.told.shadow.any(range, conflicts)
    }

    /// See `ops::tell_apart`.
    pub(crate) fn tell_apart(&mut self, thread: ThreadId) -> Step<()> {
        or_return!(self.enter());
        let Some(told) = self.threads.get_mut(thread.slot()) else { return Step::Done(()) };
        told.is_told_apart = true;
        if self.alike.found && self.has_twin_or_is_one(thread) { self.told_apart() } else { Step::Done(()) }
    }

    /// See `ops::joined`.
    pub(crate) fn joined(&mut self, thread: ThreadId, result: &[u8]) -> Step<()> {
        or_return!(self.enter());
        if !self.alike.found || !self.has_twin_or_is_one(thread) {
            return Step::Done(());
        }
        let graph = &self.explorer.graph;
        let eldest = graph.eldest(thread);
        let differs = |t: &ThreadId| {
            let other = &self.threads[t.slot()];
            other.has_result && *t != thread && graph.eldest(*t) == eldest && other.result != result
        };
        if graph.ranks().iter().any(differs) {
            return self.told_apart();
        }
        let joined = &mut self.threads[thread.slot()];
        joined.has_result = true;
        joined.result.clear();
        joined.result.extend_from_slice(result);
        Step::Done(())
    }

    fn has_twin_or_is_one(&self, thread: ThreadId) -> bool {
        let graph = &self.explorer.graph;
        let exists = graph.ranks().contains(&thread);
        exists && (graph.twin(thread).is_some() || graph.ranks().iter().any(|t| graph.twin(*t) == Some(thread)))
    }

    /// The running execution is over: does it show that symmetric ones must not be left out?
    #[inline]
    pub(super) fn loses_symmetric(&mut self) -> bool {
        self.twins_were_found() && self.loses_twins()
    }

    #[inline(never)]
    fn loses_twins(&mut self) -> bool {
        let loses =
            self.has_twins() && self.has_symmetry() && (self.explorer.may_lose_symmetric() || self.ends_unlike_twin());
        self.symmetry &= !loses;
        loses
    }

    /// Nobody can move. Has a thread ended where its twin, which has done the same, goes on or waits?
    #[inline(never)]
    fn ends_unlike_twin(&self) -> bool {
        let graph = &self.explorer.graph;
        let has_ended = |thread: ThreadId| self.threads[thread.slot()].state == State::Ended;
        let differs = |c: EventId| graph.contains(c) || !has_ended(c.thread);
        let mut ended = graph.ranks().iter().filter(|t| has_ended(**t));
        ended.any(|t| graph.counterpart(t.event(graph.thread(*t).len())).is_some_and(differs))
    }

    /// Waits the thread for its twin to come as far?
    pub(super) fn is_behind_twin(&self, thread: ThreadId) -> bool {
        self.twin_in_front(thread).is_some()
    }

    /// That twin.
    pub(super) fn twin_in_front(&self, thread: ThreadId) -> Option<ThreadId> {
        let graph = &self.explorer.graph;
        let next: EventId = thread.event(graph.thread(thread).len());
        let twin = graph.counterpart(next).filter(|c| !graph.contains(*c))?.thread;
        Some(twin).filter(|twin| self.threads[twin.slot()].state != State::Ended)
    }
}

#[cold]
#[inline(never)]
fn same_bytes(one: &[u8], another: &[u8]) -> bool {
    one == another
}

/// As a rule, no thread has one.
#[inline]
fn same_name(one: Option<&str>, another: Option<&str>) -> bool {
    match (one, another) {
        (None, None) => true,
        (Some(one), Some(another)) => same_bytes(one.as_bytes(), another.as_bytes()),
        _ => false,
    }
}

/// Is it an operation on what the handle of a thread keeps for it?
fn is_of_handle(label: Label) -> bool {
    matches!(label, Label::Park | Label::ParkTimeout | Label::Unpark | Label::ThreadDone | Label::ThreadFinished)
}
