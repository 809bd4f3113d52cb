//! Rounds of loops that undo what they do, as a look under a lock: `while !*ready.lock().unwrap() {}`.
//!
//! A write that a thread makes in a round, and with which an atomic has the value again that it had before, has no effect when the round is over, unless somebody has looked at the atomic in between. So a thread
//! stops where it comes back to the same update in the same state, as after a round that only read (`spin`), and the execution in which it comes there later is another one.
//! That such loops are there is learned, from a thread that goes on and on; that somebody looks too. Then the exploration starts again.
//! The argument is in `docs/reductions.md`. Source: rounds with zero net effect, as in Kokologiannakis, Ren, Vafeiadis: Dynamic partial order reductions for spinloops, FMCAD 2021.

use super::readers::counts;
use super::round::Arrival;
use super::state::{Around, Frame};
use super::undone::{Begin, begins, may_begin, openings};
use super::{Engine, Guide, Step};
use crate::graph::Site;
use crate::graph::event::Event;
use crate::operation::{BY_CHANCE, Operation, UNDONE};
use crate::ops::Label;
use crate::place::Place;

/// An update in the code: where it is, and what, for a shim may make several at one place.
pub(super) type UpdateAt = (Place, Label);

/// That of an event.
pub(super) fn update_at(event: &Event) -> Option<UpdateAt> {
    Some((event.site?, event.operation.label))
}

/// The updates of rounds that undo them.
#[derive(Clone, Debug, Default)]
pub(super) struct Polls {
    known: Vec<Poll>,
    /// Those that others look at. No round with one of them is left out.
    refuted: Vec<UpdateAt>,
}

/// What is known of one, from all executions.
#[derive(Clone, Debug)]
struct Poll {
    update: UpdateAt,
    /// What it has written first.
    wrote: Option<u64>,
    /// It has written something else, or another thread has read what it wrote, or written behind that.
    differs: bool,
    /// What it changes may be read, or written, other than by an update. (Who updates it comes before what undoes it, and then that undoes nothing.)
    is_read: bool,
}

impl Polls {
    /// Are there any?
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        !self.known.is_empty()
    }

    pub(super) fn knows(&self, update: Option<UpdateAt>) -> bool {
        update.is_some_and(|update| self.known.iter().any(|known| known.update == update))
    }

    pub(super) fn refute(&mut self, update: UpdateAt) {
        self.known.retain(|known| known.update != update);
        if !self.refuted.contains(&update) {
            self.refuted.push(update);
        }
    }

    /// Is nothing known of it?
    fn is_new(&self, update: UpdateAt) -> bool {
        !self.knows(Some(update)) && !self.refuted.contains(&update)
    }

    /// One was made. Could somebody who looks at one of a round that is left out not look at one of a round that is not?
    pub(super) fn is_looked_at(&mut self, update: UpdateAt, wrote: u64, is_seen: bool, is_read: bool) -> bool {
        let Some(known) = self.known.iter_mut().find(|known| known.update == update) else { return false };
        known.differs |= is_seen || *known.wrote.get_or_insert(wrote) != wrote;
        known.is_read |= is_read;
        known.differs && known.is_read
    }
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
        let updates =
            last.iter().enumerate().filter(|known| is_undone(*known)).filter_map(|(_, event)| update_at(event));
        let updates: Vec<UpdateAt> = updates.filter(|update| self.loops.polls.is_new(*update)).collect();
        let often = |update: &UpdateAt| updates.iter().filter(|other| *other == update).count() >= OFTEN;
        let update = updates.iter().copied().find(often)?;
        Some(self.watches(update))
    }

    /// Whether others look at what is written there is noted from now on.
    fn watches<T>(&mut self, update: UpdateAt) -> Step<T> {
        self.loops.polls.known.push(Poll { update, wrote: None, differs: false, is_read: false });
        self.start_again()
    }

    /// The running thread comes to an access, and rounds are followed that undo what they do. Has it come back?
    #[inline(never)]
    pub(super) fn comes_to_poll(&mut self, arrival: Arrival<'_>) {
        if !self.loops.polls.knows(Some((arrival.site, arrival.asked.1.label))) || !may_begin(&arrival.asked.1) {
            return;
        }
        self.find_shared();
        let around = Around { base: self.stack.base, shared: &self.shared };
        let dead = self.loops.dead(arrival.frame.code);
        let undone = &self.threads.me_ref().rounds.undone;
        let is_here = |begin: &&Begin| {
            undone.is_over(begin) && begin.state.is_of(&arrival) && begin.state.is_at(arrival.frame, dead, around)
        };
        let Some(position) = undone.begins().iter().rev().find(is_here).map(|begin| begin.position) else { return };
        if !self.watches_all(position) || !self.leaves_poll_out(position) {
            return;
        }
        let events = &self.explorer.graph.thread(self.current())[position..self.me_ref().position];
        let by_chance = events.iter().any(|event| event.chooses_weak() && event.value != 0);
        let reads = events.iter().filter(|event| event.reads()).count() as u32;
        self.me().repeats = Some(reads | UNDONE | if by_chance { BY_CHANCE } else { 0 });
    }

    /// Is it noted whether others look at what the round writes that began with that event?
    fn watches_all(&mut self, position: usize) -> bool {
        let events = &self.explorer.graph.thread(self.current())[position..self.me_ref().position];
        let polls = &self.loops.polls;
        let unknown = openings(&self.explorer.graph, events).map(update_at).find(|update| !polls.knows(*update));
        let Some(unknown) = unknown else { return true };
        if let Some(update) = unknown.filter(|update| polls.is_new(*update)) {
            let _: Step<()> = self.watches(update);
        }
        false
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
        let Some(site) = site.filter(|_| may_begin(operation)) else { return };
        if self.guide.decides() || !self.loops.polls.knows(Some((site, operation.label))) {
            return;
        }
        self.find_shared();
        let around = Around { base: self.stack.base, shared: &self.shared };
        let arrival = Arrival { site, asked: (at, *operation), frame };
        let dead = self.loops.dead(frame.code);
        let me = self.threads.me();
        me.rounds.undone.begin(&arrival, me.position).keep(frame, dead, around);
    }
}
