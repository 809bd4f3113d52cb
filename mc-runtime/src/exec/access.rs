//! Accesses of atomic locations: replayed from the graph, or added to it.

use super::locations::Followed;
use super::readers::counts;
use super::state::Frame;
use super::thread::{State, Waiting};
use super::{Engine, Step};
use crate::graph::event::Event;
use crate::graph::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{BlockReason, Code, Operation, Order};
use crate::ops::{BARRIER_ORDER, Width};
use crate::outcome::FailureKind;
use std::hint::cold_path;

/// What an access of the running thread found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accessed {
    /// The value that was read.
    pub old: u64,
    /// Whether it wrote.
    pub wrote: bool,
}

impl Engine {
    /// As [`Engine::access`], where the caller may be put back: it goes on as `frame` says then.
    pub(crate) fn access_or_reread(
        &mut self,
        at: usize,
        operation: &Operation,
        site: Site,
        frame: &mut Frame,
    ) -> Step<Accessed> {
        let mut ended = None;
        if self.probe.is_on() {
            cold_path();
            ended = self.end_probe(at, operation, frame);
        }
        let mut earlier;
        let (mut at, mut operation, mut site) = (at, operation, site);
        loop {
            let step = match ended.take() {
                Some(step) => step,
                None => self.access(at, operation, site, frame),
            };
            if !self.probe.is_on() {
                return step;
            }
            cold_path();
            if let Some(step) = self.go_on_probing(step, frame) {
                return step;
            }
            (at, earlier, site) = self.return_to(frame);
            operation = &earlier;
        }
    }

    /// An access at an address. Called again when it had to wait.
    pub(crate) fn access(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) -> Step<Accessed> {
        if let Some(step) = self.enter() {
            cold_path();
            if matches!(step, Step::Inert) {
                self.locations.keep(at, operation.width);
            }
            return step;
        }
        #[cfg(feature = "unmodified")]
        let site = self.placed(site);
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on_in_std() {
            or_return!(self.repeat(at, operation, frame));
            let step = self.access_at(at, operation, site, frame);
            if matches!(step, Step::Done(_)) {
                self.note_load(at, operation, site, frame);
            }
            return step;
        }
        if self.is_left_out(operation, site, frame) {
            cold_path();
            return self.leave_out(at, operation, site);
        }
        or_return!(self.looks_at_updates(at, operation.width, site));
        self.access_at(at, operation, site, frame)
    }

    fn access_at(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) -> Step<Accessed> {
        let sequential;
        let operation = if self.sequential() {
            cold_path();
            sequential = self.as_modelled(operation);
            &sequential
        } else {
            operation
        };
        let settled = self.is_settled();
        if settled {
            if let Some(accessed) = self.replay_settled(at, operation) {
                return Step::Done(accessed);
            }
        } else {
            or_return!(self.look_for_spin(at, operation, site, frame));
        }
        self.close();
        if settled || self.me_ref().position < self.explorer.graph.thread(self.current()).len() {
            self.replay_access(at, operation, site, frame)
        } else {
            self.new_access(at, operation, site, frame)
        }
    }

    /// The operation as it counts in the memory model.
    pub(super) fn as_modelled(&self, operation: &Operation) -> Operation {
        match self.sequential() {
            true => Operation { order: Order::SeqCst, failure: Order::SeqCst, ..*operation },
            false => *operation,
        }
    }

    #[inline(never)]
    fn replay_access(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) -> Step<Accessed> {
        let (id, settled) = (self.next_event(), self.is_settled());
        let recorded = self.explorer.graph.event(id);
        if recorded.operation.code == Code::Block {
            cold_path();
            return self.block(BlockReason::Spin, 0, site);
        }
        let (location, rf, writes, reads) = (recorded.location, recorded.rf, recorded.writes, recorded.reads());
        let fits = same_kind(&recorded.operation, operation) && self.same_operands(&recorded.operation, operation) && {
            let graph = &mut self.explorer.graph;
            self.locations.matches(graph, location, at, operation.width, self.heap.as_deref_mut())
        };
        if !fits {
            return self.diverged(id, &describe(operation), site);
        }
        if reads {
            let missing = if settled { Some(rf).filter(|rf| !self.executed(*rf)) } else { self.missing_source(id) };
            let section = || if operation.code == Code::WriteLock { self.missing_section(id) } else { None };
            if let Some(source) = missing.or_else(section) {
                self.me().state = State::Source(source);
                return Step::Wait;
            }
        }
        let old = if reads { self.explorer.graph.value(location, rf) } else { 0 };
        let value = if reads { operation.result(old) } else { Some(operation.a) };
        if value.is_some() != writes {
            return self.diverged(id, &describe(operation), site);
        }
        if writes && self.explorer.observes(self.current()) {
            return self.is_no_observer(self.current()); // it has not written at the newest value
        }
        self.explorer.graph.refresh(id, operation.a, operation.b, value.unwrap_or(0));
        if reads && !settled {
            if self.explorer.graph.thread(id.thread).len() == id.index as usize + 1 {
                or_return!(self.tries_value(at, operation, location, site, frame));
            }
            self.remember_replayed(at, operation, site, frame);
        }
        self.replayed += 1;
        self.after(id, site, old)
    }

    /// Are the operands of a recorded operation what they are now? Those that may be addresses are not compared.
    pub(super) fn same_operands(&self, recorded: &Operation, now: &Operation) -> bool {
        recorded.a == now.a && recorded.b == now.b || self.are_addresses(recorded, now)
    }

    #[inline(never)]
    fn are_addresses(&self, recorded: &Operation, now: &Operation) -> bool {
        let comparable = |value: u64| now.width != Width::W64 || (self.heap.is_some() && value >> 32 == 0);
        let same = |old, new| old == new || !comparable(old) || !comparable(new);
        same(recorded.a, now.a) && same(recorded.b, now.b)
    }

    /// The write that has to be executed before this read. Within a run of reads all sources are waited for at its start, so
    /// that nothing else runs between the rounds of a spin loop. (No other thread can depend on one of these reads.)
    fn missing_source(&self, id: EventId) -> Option<EventId> {
        let (before, events) = self.explorer.graph.thread(id.thread).split_at(id.index as usize);
        let only_reads = |e: &Event| e.reads() && !e.writes && counts(e).is_none();
        let is_in_run = |e: &&Event| only_reads(e) || e.chooses_weak();
        let is_missing = |rf: &EventId| !self.executed(*rf);
        if !self.loops.any() || !only_reads(&events[0]) {
            return Some(events[0].rf).filter(is_missing);
        }
        if before.iter().rev().take_while(is_in_run).any(only_reads) {
            return None; // not the start
        }
        events.iter().take_while(is_in_run).map(|e| e.rf).find(is_missing)
    }

    fn new_access(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) -> Step<Accessed> {
        or_return!(self.turn(Some((at, operation))));
        if let Some(reads) = self.guide.stops_now(self.explorer.graph.len()) {
            return self.block(BlockReason::Spin, reads, site);
        }
        if let Some(reads) = self.me().repeats {
            cold_path();
            return self.block(BlockReason::Spin, reads, site);
        }
        let location = self.locations.resolve(&mut self.explorer.graph, at, operation.width, self.heap.as_deref_mut());
        if self.is_dead(location, at) {
            return self.access_freed(at, operation, site);
        }
        or_return!(self.mixes_sizes());
        if operation.is_of_shim()
            && let Some(step) = self.waits_for_turn(at, operation, location, site)
        {
            cold_path();
            return step;
        }
        or_return!(self.acts(matches!(operation.code, Code::Load | Code::CompareExchange)));
        or_return!(self.is_between_joins());
        or_return!(self.follows_twin(operation, location, at, site));
        or_return!(self.tries_value(at, operation, location, site, frame));
        let id = if operation.meets() {
            cold_path();
            or_return!(self.is_crowded(operation, location));
            self.explorer.meet(self.current(), *operation, location, site)
        } else if self.tries(operation, site) {
            match self.try_read(*operation, location, site) {
                Some(id) => id,
                None => {
                    cold_path();
                    return self.await_write(*operation, location, site);
                }
            }
        } else if self.guide.decides() {
            cold_path();
            match self.guided_access(operation, location, site) {
                Ok(id) => id,
                Err(step) => return step,
            }
        } else {
            self.add_access(operation, location, site)
        };
        let event = self.explorer.graph.event(id);
        if event.writes && self.explorer.observes(self.current()) {
            return self.is_no_observer(self.current());
        }
        let (reads, frees) = (event.reads(), event.writes || counts(event) == Some(false));
        let old = if reads { self.explorer.graph.value(location, event.rf) } else { 0 };
        // What has an effect ends the round.
        if reads {
            let ends = has_effect(&self.explorer.graph, event);
            self.remember_read(ends, at, operation, site, frame);
        }
        // What a destructor knows by the clocks that were left for it, its thread does not know afterwards.
        let for_good = self.me_ref().acquired().next().is_none();
        let maker = self.locations.maker(location, self.current(), for_good);
        if let Some(maker) = maker.and_then(|m| self.unordered(m)) {
            cold_path();
            return self.uninitialised(maker, if reads { "read" } else { "write" }, site);
        }
        or_return!(self.accesses_part(id));
        let step = self.after(id, site, old);
        if frees && !self.guide.decides() && self.waits_left_of_current() {
            self.wake_left_of(location);
        }
        step
    }

    /// The word of a lock or the like is come to: has the running thread to wait, or must something be known from the start?
    #[inline(never)]
    fn waits_for_turn<T>(
        &mut self,
        at: usize,
        operation: &Operation,
        location: LocationId,
        site: Site,
    ) -> Option<Step<T>> {
        let has_readers = operation.locks() || operation.code == Code::ReadUnlock;
        if has_readers && let Some(step) = self.counts_readers(operation, location) {
            return Some(step);
        }
        if self.explorer.must_wait(operation, location) || has_readers && self.lets_readers_first(operation) {
            let me = self.me();
            me.state = State::Guard;
            me.waiting = Some(Waiting { operation: *operation, location, site });
            self.announce(at, operation);
            return Some(Step::Wait);
        }
        None
    }

    /// Have more threads come to a barrier than it has places? Then it matters who comes first, and this must be known from the start.
    #[inline(never)]
    fn is_crowded<T>(&mut self, operation: &Operation, location: LocationId) -> Option<Step<T>> {
        let graph = &self.explorer.graph;
        let arrived = |read: &EventId| graph.event(*read).operation.code == Code::Arrive;
        let comes = |t: &&ThreadId| {
            **t == self.current() || graph.reads(location).iter().any(|read| read.thread == **t && arrived(read))
        };
        let crowded = operation.code == Code::Arrive && graph.ranks().iter().filter(comes).count() as u64 > operation.a;
        crowded.then(|| self.learn_now(BARRIER_ORDER))
    }

    /// Common to replayed and new accesses: memory, detectors, and what the thread gets.
    #[inline(always)]
    fn after(&mut self, id: EventId, site: Site, old: u64) -> Step<Accessed> {
        let event = self.explorer.graph.event(id);
        let (wrote, reads) = (event.writes, event.reads());
        let compares = event.operation.code.asked() == Code::CompareExchange;
        let changes = wrote && event.value != old || counts(event).is_some();
        if changes || !reads {
            let rounds = &mut self.threads.me().rounds;
            if rounds.undone.is_followed() {
                cold_path();
                rounds.change(&self.explorer.graph, id, event);
            } else {
                rounds.clear_loads();
            }
        }
        let Followed { freed, outside } = self.locations.follow(&self.explorer.graph, id, event);
        let outlives = changes && outside.is_some_and(|at| self.is_kept_outside(at));
        if freed {
            cold_path();
            // Not counted as executed: a replay may find memory that was never accessed as this, and then adds no event.
            let Event { operation, location, .. } = *self.explorer.graph.event(id);
            let at = self.locations.address(location).unwrap_or_default();
            return self.access_freed(at, &operation, site);
        }
        self.executed_event(id);
        if let Some(message) = self.overlap_race(id) {
            cold_path();
            return self.fail(FailureKind::DataRace, message, site);
        }
        if outlives {
            cold_path();
            return self.outlived(site);
        }
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            let event = self.explorer.graph.event(id);
            let (size, at) = (event.operation.width.bytes(), self.locations.address(event.location));
            if let Some(at) = at {
                self.touch_atomic(at, size, wrote, site);
                if self.cutting {
                    return self.cut_step();
                }
            }
        }
        self.trace(id, site, old);
        if compares {
            or_return!(self.may_meet_reuse(id));
        }
        // With the axioms, whoever reads it nevertheless is found out.
        let is_unused = cfg!(feature = "axioms") && !wrote && self.last_round(id).is_some_and(|round| round.is_unused);
        Step::Done(Accessed { old: if is_unused { !old } else { old }, wrote })
    }

    /// The access is of memory that was freed.
    #[cold]
    pub(super) fn access_freed<T>(&mut self, at: usize, operation: &Operation, site: Site) -> Step<T> {
        let message = format!("{} of an atomic in memory that was freed{}", describe(operation), self.who_freed(at));
        self.fail(FailureKind::UseAfterFree, message, site)
    }

    /// Does what is changed at this address, which is in no arena, outlive the execution? Apart: most is in one.
    #[inline(never)]
    pub(super) fn is_kept_outside(&self, at: usize) -> bool {
        self.outlives_outside(at)
    }

    /// What the access changes outlives the execution.
    #[cold]
    pub(super) fn outlived<T>(&mut self, site: Site) -> Step<T> {
        self.fail(FailureKind::Contract, OUTLIVES.to_owned(), site)
    }

    /// Does a thread left of the running one wait at a guard? None begins to before another one runs.
    #[inline(always)]
    fn waits_left_of_current(&mut self) -> bool {
        if self.waits_left.is_none() {
            self.waits_left = Some(self.finds_waits_left());
        }
        self.waits_left == Some(true)
    }

    #[inline(never)]
    fn finds_waits_left(&self) -> bool {
        let left = self.explorer.graph.ranks().iter().take_while(|t| **t != self.current());
        left.filter_map(|t| self.threads.get(t.slot())).any(|t| t.state == State::Guard)
    }

    /// A thread left of this one waits for the location, and could go on now.
    #[inline(never)]
    fn wake_left_of(&mut self, location: LocationId) {
        let graph = &self.explorer.graph;
        let left = graph.ranks().iter().take_while(|t| **t != self.current());
        self.preempt |= left.into_iter().any(|t| {
            let thread = &self.threads[t.slot()];
            thread.state == State::Guard
                && thread
                    .waiting
                    .is_some_and(|w| w.location == location && !self.explorer.must_wait(&w.operation, location))
        });
    }

    /// Is this the first access of an address in memory that was freed?
    fn is_dead(&self, location: LocationId, at: usize) -> bool {
        !self.explorer.graph.is_accessed(location) && self.heap.as_ref().is_some_and(|h| h.is_dead(at))
    }

    /// The name of the running thread's next event.
    pub(super) fn next_event(&self) -> EventId {
        self.current().event(self.threads.me_ref().position)
    }
}

/// Is a round of a loop with this event something else than a round without it?
pub(super) fn has_effect(graph: &Graph, event: &Event) -> bool {
    match event.operation.code {
        Code::Fence => false,
        Code::Choose => !event.operation.may_repeat(event.value),
        Code::ReadLock | Code::ReadUnlock => true,
        _ if event.reads() => event.writes && event.value != graph.value(event.location, event.rf),
        _ => true,
    }
}

pub(super) fn same_kind(recorded: &Operation, now: &Operation) -> bool {
    recorded.code.asked() == now.code && recorded.details() == now.details()
}

/// Is the address in writable data of the executable?
pub(crate) fn is_static(at: usize) -> bool {
    super::data().iter().any(|(start, len)| (*start..start + len).contains(&at))
}

/// What a test is told that changes something which the next execution would find changed.
const OUTLIVES: &str = "this was made before the execution, and is changed in it: the next execution would find it changed\n\
    What several executions share (here through a `std::sync::OnceLock` or the like, or by a body that captures it) keeps its value. \
    Make it in the body, or put it into a `static` of `mc`'s types, such as `mc::sync::LazyLock`.";

/// An operation in words.
pub(super) fn describe(operation: &Operation) -> String {
    crate::trace::operation(operation)
}
