//! Rounds of loops that undo what they do, as a look under a lock: `while !*ready.lock().unwrap() {}`.
//!
//! A write that a thread makes in a round, and with which an atomic has the value again that it had before, has no effect when the round is over, unless somebody has looked at the atomic in between. So a thread
//! stops where it comes back to the same update in the same state, as after a round that only read (`spin`), and the execution in which it comes there later is another one.
//! That such loops are there is learned, from a thread that goes on and on; that somebody looks too. Then the exploration starts again.
//! The argument is in `docs/reductions.md`. Source: rounds with zero net effect, as in Kokologiannakis, Ren, Vafeiadis: Dynamic partial order reductions for spinloops, FMCAD 2021.

use super::readers::counts;
use super::round::{Arrival, Round};
use super::spin::Rounds;
use super::state::{Around, Frame};
use super::{Engine, Guide, Step};
use crate::graph::event::Event;
use crate::graph::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{BY_CHANCE, Code, Operation, UNDONE};
use crate::place::Place;

/// The updates with which rounds begin that undo what they do, by their places in the code.
#[derive(Clone, Debug, Default)]
pub(super) struct Polls {
    /// With what each writes, once that is known: it must be the same each time.
    known: Vec<(Place, Option<u64>)>,
    refuted: Vec<Place>,
}

impl Polls {
    /// Are there any?
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        !self.known.is_empty()
    }

    fn knows(&self, site: Site) -> bool {
        site.is_some_and(|site| self.known.iter().any(|(known, _)| *known == site))
    }

    fn refute(&mut self, site: Place) {
        self.known.retain(|(known, _)| *known != site);
        self.refuted.push(site);
    }

    /// May the place always write another value?
    fn varies(&mut self, site: Place, value: u64) -> bool {
        let Some((_, always)) = self.known.iter_mut().find(|(known, _)| *known == site) else { return false };
        *always.get_or_insert(value) != value
    }
}

/// What a thread has done since it did something last that stays done.
#[derive(Debug, Default)]
pub(super) struct Undone {
    /// Is there anything?
    is_used: bool,
    /// What is not undone yet.
    open: Vec<Change>,
    /// How many changes there were.
    made: usize,
    /// When the thread came to updates at places that are known, the last [`FEW`] of them.
    begins: Vec<Begin>,
    /// What was touched without an event: where, and how many bytes.
    touched: Vec<(usize, usize)>,
}

/// How many updates a round may make.
const FEW: usize = 8;

/// An atomic has another value than before.
#[derive(Debug)]
struct Change {
    location: LocationId,
    old: u64,
    /// What led to the old value happens before what the thread does next.
    acquires: bool,
    number: usize,
}

/// A thread has come to an update.
#[derive(Debug)]
struct Begin {
    state: Round,
    /// How many events it had made.
    position: usize,
    /// How many changes it had made, and how many of them were not undone.
    made: usize,
    open: usize,
}

impl Undone {
    pub(super) fn clear(&mut self) {
        if self.is_used {
            self.forget();
        }
    }

    #[inline(never)]
    fn forget(&mut self) {
        self.is_used = false;
        self.open.clear();
        self.begins.clear();
        self.touched.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_used
    }

    /// Is there a state to come back to?
    pub(super) fn any(&self) -> bool {
        !self.begins.is_empty()
    }

    /// As [`Rounds::interrupted`](super::spin::Rounds::interrupted).
    pub(super) fn interrupted(&mut self, left: &[u8], now: &[u8]) {
        for begin in self.begins.iter_mut().filter(|begin| begin.state.shared == left) {
            begin.state.shared.clear();
            begin.state.shared.extend_from_slice(now);
        }
    }

    pub(super) fn touch(&mut self, at: usize, size: usize) {
        if self.any() && !self.touched.contains(&(at, size)) {
            self.touched.push((at, size));
        }
    }

    /// The thread has made an event that changes something. Can it be undone, or does it undo something itself?
    fn change(&mut self, graph: &Graph, event: &Event) -> bool {
        self.is_used = true;
        let own = self.open.iter().position(|change| change.location == event.location);
        if counts(event) == Some(false) {
            return own.map(|own| self.open.remove(own)).is_some();
        }
        if let Some(own) = own {
            let Change { old, acquires, .. } = self.open.remove(own);
            return event.value == old && (event.updates() || acquires && event.order().releases());
        }
        if may_begin(&event.operation) {
            let old = graph.value(event.location, event.rf);
            let (acquires, number) = (event.order().acquires(), self.made);
            self.open.push(Change { location: event.location, old, acquires, number });
            self.made += 1;
            return true;
        }
        false
    }

    /// Is the round over that began there, with all undone that it did?
    fn is_over(&self, begin: &Begin) -> bool {
        self.open.len() == begin.open && self.open.iter().all(|change| change.number < begin.made)
    }
}

impl Rounds {
    /// The thread has made an event that changes something: a round of loads is over.
    #[inline(never)]
    pub(super) fn change(&mut self, graph: &Graph, event: &Event) {
        if self.undone.change(graph, event) {
            self.clear_loads();
        } else {
            self.clear();
        }
    }
}

/// Can what it changes be undone? The beginning of what a writer of an `RwLock` does separates readers.
fn may_begin(operation: &Operation) -> bool {
    use Code::{AwaitExchange, CompareExchange, Guarded, ReadLock, Rmw};
    matches!(operation.code, Rmw(_) | CompareExchange | AwaitExchange | Guarded(..) | ReadLock)
}

/// Has the event changed what can be undone?
fn begins(graph: &Graph, event: &Event) -> bool {
    let changes = || event.writes && event.value != graph.value(event.location, event.rf);
    may_begin(&event.operation) && (event.operation.code == Code::ReadLock || changes())
}

impl Engine {
    /// The running thread goes on and on. Are there updates among its last events that it has undone again and again?
    #[inline(never)]
    pub(super) fn looks_for_polls<T>(&mut self) -> Option<Step<T>> {
        const OFTEN: usize = 4;
        const LAST: usize = 64;
        let graph = &self.explorer.graph;
        let events = graph.thread(self.current());
        let touched = &self.loops.touched;
        let is_on = self.options.reductions.poll && !touched.keeps_one && !touched.mixes;
        if !events.len().is_multiple_of(self.turn) || !is_on || !matches!(self.guide, Guide::Explore) {
            return None;
        }
        let last = &events[events.len().saturating_sub(LAST)..];
        let undoes = |event: &Event, next: &Event| match counts(next) {
            Some(more) => !more,
            None => next.writes && next.value == graph.value(event.location, event.rf),
        };
        let is_undone = |(at, event): (usize, &Event)| {
            let mut later = last[at + 1..].iter().filter(|next| next.location == event.location);
            let next = later.find(|next| next.writes || counts(next).is_some());
            begins(graph, event) && next.is_some_and(|next| undoes(event, next))
        };
        let sites = last.iter().enumerate().filter(|known| is_undone(*known)).filter_map(|(_, event)| event.site);
        let polls = &self.loops.polls;
        let is_new = |site: &Place| !polls.knows(Some(*site)) && !polls.refuted.contains(site);
        let sites: Vec<Place> = sites.filter(is_new).collect();
        let often = |site: &Place| sites.iter().filter(|other| *other == site).count() >= OFTEN;
        let site = sites.iter().copied().find(often)?;
        self.loops.polls.known.push((site, None));
        Some(self.start_again())
    }

    /// The running thread comes to an access, and rounds are followed that undo what they do. Has it come back?
    #[inline(never)]
    pub(super) fn comes_to_poll(&mut self, arrival: Arrival<'_>) {
        if !self.loops.polls.knows(Some(arrival.site)) || !may_begin(&arrival.asked.1) {
            return;
        }
        self.find_shared();
        let around = Around { base: self.stack.base, shared: &self.shared };
        let dead = self.loops.dead(arrival.frame.code);
        let undone = &self.threads.me_ref().rounds.undone;
        let is_here = |begin: &&Begin| {
            undone.is_over(begin) && begin.state.is_of(&arrival) && begin.state.is_at(arrival.frame, dead, around)
        };
        let Some(position) = undone.begins.iter().rev().find(is_here).map(|begin| begin.position) else { return };
        if !self.leaves_poll_out(position) {
            return;
        }
        let events = &self.explorer.graph.thread(self.current())[position..self.me_ref().position];
        let by_chance = events.iter().any(|event| event.chooses_weak() && event.value != 0);
        let reads = events.iter().filter(|event| event.reads()).count() as u32;
        self.me().repeats = Some(reads | UNDONE | if by_chance { BY_CHANCE } else { 0 });
    }

    /// A round that began with that event has led nowhere. Is it left out? (As `leaves_out`.)
    fn leaves_poll_out(&mut self, position: usize) -> bool {
        let touched = &mut self.loops.touched;
        if touched.keeps_one || touched.mixes {
            return false;
        }
        let (graph, me) = (&self.explorer.graph, self.threads.me_ref());
        let loads = graph.thread(self.threads.running())[position..me.position].iter().filter(|event| event.reads());
        let places = loads.filter_map(|e| Some((self.locations.address(e.location)?, e.operation.width.bytes())));
        let mut matters = false;
        for (at, size) in places.chain(me.rounds.undone.touched.iter().copied()) {
            matters |= touched.leave_out(at, size);
        }
        !matters || self.keep_one::<()>().is_none()
    }

    /// The access at a place that is known is made now: where the thread may come back to.
    #[inline(never)]
    pub(super) fn begin_poll(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) {
        let Some(site) = site.filter(|_| self.loops.polls.knows(site) && may_begin(operation)) else { return };
        if self.guide.decides() {
            return;
        }
        self.find_shared();
        let around = Around { base: self.stack.base, shared: &self.shared };
        let mut state = Round::new(Arrival { site, asked: (at, *operation), frame });
        state.keep(frame, self.loops.dead(frame.code), around);
        let me = self.threads.me();
        let (position, undone) = (me.position, &mut me.rounds.undone);
        if undone.begins.len() == FEW {
            undone.begins.remove(0);
        }
        let (made, open) = (undone.made, undone.open.len());
        undone.begins.push(Begin { state, position, made, open });
        undone.is_used = true;
    }

    /// The execution is over. Has somebody looked at what a round does before that was undone? Then such rounds are not left out from now on.
    #[inline]
    pub(super) fn looks_between(&mut self) -> bool {
        self.loops.polls.any() && self.has_looked_between()
    }

    #[inline(never)]
    fn has_looked_between(&mut self) -> bool {
        let graph = &self.explorer.graph;
        let polls = &mut self.loops.polls;
        let mut refuted = Vec::new();
        for location in (0..graph.locations() as u32).map(LocationId) {
            let begins = |id: &EventId| !id.is_init() && begins(graph, graph.event(*id));
            let known = |id: EventId| graph.site(id).filter(|_| polls.knows(graph.site(id)) && begins(&id));
            let pairs = graph.mo(location).windows(2).map(|pair| (pair[0], pair[1]));
            let reads = graph.reads(location).iter().map(|read| (graph.event(*read).rf, *read));
            let seen = pairs.chain(reads).filter(|(write, other)| !write.is_init() && write.thread != other.thread);
            refuted.extend(seen.filter_map(|(write, _)| known(write)));
        }
        for thread in graph.ranks() {
            for event in graph.thread(*thread).iter().filter(|event| event.writes && begins(graph, event)) {
                refuted.extend(event.site.filter(|site| polls.varies(*site, event.value)));
            }
        }
        for site in &refuted {
            polls.refute(*site);
        }
        !refuted.is_empty()
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
    fn undone_since(&self, thread: ThreadId) -> Option<usize> {
        let stop = self.explorer.graph.thread(thread).last()?.operation;
        let is_stop = stop.code == Code::Block && stop.b as u32 & UNDONE != 0;
        let first = || self.round(thread).last().map(|first| first.index as usize);
        if is_stop { first() } else { None }
    }
}
