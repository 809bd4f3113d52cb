//! Compare-exchanges that go on until they succeed: they wait as the lock of a mutex does, and so block no execution.
//!
//! Nobody says that one is such a loop: it is taken for one, by its place in the code, once it has come back from a value at which it fails. Each other value is still tried where it can be
//! read (`awaits`); one from which it does something else, and writes of its location that are not ordered, are noticed, and then the exploration starts again without.
//! Source: rule `engine` of `tests/spec/awaits.py`; the argument is in `docs/reductions.md`.

use super::{Engine, Step};
use crate::graph::{Graph, Site};
use crate::ids::{EventId, LocationId};
use crate::operation::{Code, Operation};
use crate::place::Place;

/// The compare-exchanges, by their places, that are known to be guards, and those that are known not to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Guards {
    known: Vec<Place>,
    refuted: Vec<Place>,
}

impl Guards {
    fn has(&self, site: Site) -> bool {
        site.is_some_and(|site| self.known.contains(&site))
    }

    fn refute(&mut self, site: Place) {
        self.known.retain(|known| *known != site);
        self.refuted.push(site);
    }

    pub(super) fn refute_all(&mut self) {
        self.refuted.append(&mut self.known);
    }
}

impl Engine {
    /// A compare-exchange that succeeds, as what waits until it does where it is known to.
    pub(super) fn as_guard(&self, operation: Operation, site: Site) -> Operation {
        Operation {
            code: if self.is_guard(&operation, site) { Code::AwaitExchange } else { operation.code },
            ..operation
        }
    }

    /// Is it known of the operation that it goes on until it succeeds?
    pub(super) fn is_guard(&self, operation: &Operation, site: Site) -> bool {
        operation.code == Code::CompareExchange && self.loops.guards.has(site)
    }

    /// The running thread has come back to this operation from reading in vain.
    pub(super) fn learns_guard<T>(&mut self, operation: &Operation, site: Place) -> Option<Step<T>> {
        let (guards, touched) = (&mut self.loops.guards, &self.loops.touched);
        let unknown =
            !touched.keeps_one && !touched.mixes && !guards.known.contains(&site) && !guards.refuted.contains(&site);
        if operation.code != Code::CompareExchange || !unknown {
            return None;
        }
        guards.known.push(site);
        Some(self.start_again())
    }

    /// The running thread does something else than to come back from a read that it made to try it. Was that of a guard?
    pub(super) fn loses_guard(&mut self, read: EventId) {
        let event = self.explorer.graph.event(read);
        if let Some(place) = event.site.filter(|_| self.is_guard(&event.operation, event.site)) {
            self.loops.guards.refute(place);
            let _: Step<()> = self.start_again();
        }
    }

    /// The running execution is over. Has a location of a guard a plain store that is not ordered with another write? Then nothing is a guard from now on.
    #[inline]
    pub(super) fn waits_unordered(&mut self) -> bool {
        !self.loops.guards.known.is_empty() && self.refutes_guards()
    }

    #[inline(never)]
    fn refutes_guards(&mut self) -> bool {
        let graph = &self.explorer.graph;
        let waits = |location| {
            let here =
                |t: &super::Thread| t.waiting.is_some_and(|w| w.location == location && self.loops.guards.has(w.site));
            self.threads.iter().any(here)
        };
        let is_guard = |read: &EventId| graph.event(*read).operation.code == Code::AwaitExchange;
        let mut locations = (0..graph.locations() as u32).map(LocationId);
        let unordered =
            locations.any(|l| has_unordered_store(graph, l) && (graph.reads(l).iter().any(is_guard) || waits(l)));
        if unordered {
            self.loops.guards.refute_all();
        }
        unordered
    }
}

/// Was a plain store added where another write was not ordered with it, or an update directly before it?
fn has_unordered_store(graph: &Graph, location: LocationId) -> bool {
    let writes = graph.mo(location);
    let happens_before = |a: EventId, b: EventId| graph.knows(b.thread, b.index as usize + 1, a.thread) > a.index;
    let stores = || writes.iter().enumerate().filter(|(_, w)| graph.event(**w).operation.code == Code::Store);
    stores().any(|(place, store)| {
        let stamp = graph.event(*store).stamp;
        let before = place.checked_sub(1).map(|index| graph.event(writes[index]));
        let overtaken = before.is_some_and(|write| write.updates() && write.stamp > stamp);
        let unordered = |write: &EventId| {
            write != store
                && graph.event(*write).stamp < stamp
                && !happens_before(*write, *store)
                && !happens_before(*store, *write)
        };
        overtaken || writes.iter().any(unordered)
    })
}
