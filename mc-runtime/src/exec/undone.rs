//! What a thread has done and may undo, see `polls`: which locations have another value than before, and where a round may have begun.

use super::readers::counts;
use super::round::{Arrival, Round};
use super::spin::Rounds;
use crate::graph::Graph;
use crate::graph::event::Event;
use crate::ids::{EventId, LocationId};
use crate::operation::{Code, Operation};
use std::hint::cold_path;

/// What a thread has done since it did something last that stays done.
#[derive(Debug, Default)]
pub(super) struct Undone {
    /// Are there such loops in this test?
    is_followed: bool,
    /// Has the thread done anything?
    is_used: bool,
    /// What is not undone yet.
    open: Vec<Change>,
    /// How many changes there were.
    made: usize,
    /// When the thread came to updates at places that are known, the last [`FEW`] of them: the first so many. Their memory is kept.
    begins: Vec<Begin>,
    kept: usize,
    /// What was touched without an event: where, and how many bytes.
    pub(super) touched: Vec<(usize, usize)>,
}

/// How many updates a round may make.
const FEW: usize = 8;

/// An atomic has another value than before.
#[derive(Debug)]
struct Change {
    location: LocationId,
    by: EventId,
    old: u64,
    /// What led to the old value happens before what the thread does next.
    acquires: bool,
    number: usize,
}

/// A thread has come to an update.
#[derive(Debug)]
pub(super) struct Begin {
    pub state: Round,
    /// How many events it had made.
    pub position: usize,
    /// How many changes it had made, and how many of them were not undone.
    made: usize,
    open: usize,
}

impl Undone {
    /// Are there such loops in this test? Where there are none, nothing is noted.
    #[inline(always)]
    pub(super) fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// The thread begins.
    #[inline(always)]
    pub(super) fn follow(&mut self, is_followed: bool) {
        self.is_followed = is_followed;
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        if self.is_used {
            cold_path();
            self.forget();
        }
    }

    #[inline(never)]
    fn forget(&mut self) {
        self.is_used = false;
        self.kept = 0;
        self.open.clear();
        self.touched.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_used
    }

    /// Is there a state to come back to?
    pub(super) fn any(&self) -> bool {
        self.kept > 0
    }

    /// Where the thread may come back to, the earliest first.
    pub(super) fn begins(&self) -> &[Begin] {
        &self.begins[..self.kept]
    }

    /// It is at another update. Its state is to be filled in.
    pub(super) fn begin(&mut self, arrival: &Arrival<'_>, position: usize) -> &mut Round {
        self.is_used = true;
        if self.kept == FEW {
            self.begins.rotate_left(1);
        } else {
            self.kept += 1;
        }
        let last = self.kept - 1;
        if last == self.begins.len() {
            self.begins.push(Begin { state: Round::new(), position, made: 0, open: 0 });
        }
        let begin = &mut self.begins[last];
        (begin.position, begin.made, begin.open) = (position, self.made, self.open.len());
        begin.state.begin(arrival);
        &mut begin.state
    }

    /// As [`Rounds::interrupted`](super::spin::Rounds::interrupted).
    pub(super) fn interrupted(&mut self, left: &[u8], now: &[u8]) {
        self.begins[..self.kept].iter_mut().for_each(|begin| begin.state.interrupted(left, now));
    }

    pub(super) fn touch(&mut self, at: usize, size: usize) {
        if self.any() && !self.touched.contains(&(at, size)) {
            self.touched.push((at, size));
        }
    }

    /// The thread has made an event that changes something. Can it be undone, or does it undo something itself?
    fn change(&mut self, graph: &Graph, id: EventId, event: &Event) -> bool {
        self.is_used = true;
        let own = self.open.iter().position(|change| change.location == event.location);
        if counts(event) == Some(false) {
            // (A second lock of the same reader is below: what it undoes neither updates nor releases.)
            return own.map(|own| self.open.remove(own)).is_some();
        }
        if let Some(own) = own {
            let Change { by, old, acquires, .. } = self.open.remove(own);
            // Where another has updated in between, it has seen what this thread did.
            let closes = if event.updates() { event.rf == by } else { acquires && event.order().releases() };
            return closes && event.value == old;
        }
        if may_begin(&event.operation) {
            let old = graph.value(event.location, event.rf);
            let (acquires, number) = (event.order().acquires(), self.made);
            self.open.push(Change { location: event.location, by: id, old, acquires, number });
            self.made += 1;
            return true;
        }
        false
    }

    /// Is the round over that began there, with all undone that it did?
    pub(super) fn is_over(&self, begin: &Begin) -> bool {
        self.open.len() == begin.open && self.open.iter().all(|change| change.number < begin.made)
    }
}

impl Rounds {
    /// The thread has made an event that changes something: a round of loads is over.
    #[inline(never)]
    pub(super) fn change(&mut self, graph: &Graph, id: EventId, event: &Event) {
        if self.undone.change(graph, id, event) {
            self.clear_loads();
        } else {
            self.clear();
        }
    }
}

/// Can what it changes be undone? The beginning of what a writer of an `RwLock` does separates readers.
pub(super) fn may_begin(operation: &Operation) -> bool {
    use Code::{AwaitExchange, CompareExchange, Guarded, ReadLock, Rmw};
    matches!(operation.code, Rmw(_) | CompareExchange | AwaitExchange | Guarded(..) | ReadLock)
}

/// Has the event changed what can be undone?
pub(super) fn begins(graph: &Graph, event: &Event) -> bool {
    let changes = || event.writes && event.value != graph.value(event.location, event.rf);
    may_begin(&event.operation) && (event.operation.code == Code::ReadLock || changes())
}

/// With which of these events, one thread's in a row, does it change what it has not changed before, or has undone?
pub(super) fn openings<'a>(graph: &Graph, events: &'a [Event]) -> impl Iterator<Item = &'a Event> {
    let mut open = Vec::new();
    let changes = |event: &Event| match event.operation.code {
        Code::Store | Code::ReadUnlock => true,
        _ => begins(graph, event),
    };
    events.iter().filter(move |event| changes(event)).filter(move |event| {
        let own = open.iter().position(|location| *location == event.location);
        if let Some(own) = own {
            open.swap_remove(own);
        } else {
            open.push(event.location);
        }
        own.is_none()
    })
}
