//! Is there a total order of the sequentially consistent operations? C++20 [atomics.order] 4, in its full strength.
//!
//! Strongly happens before is [intro.races] 12, coherence-ordered before is (rf, mo, fr)+. Only graphs with two or more
//! such operations need it.
//!
//! The relation is searched in a graph of the SeqCst events and, for each location, a chain of positions: coherence orders the
//! accesses of one location by the position of the write that they are or read, writes before their readers, so an event points into the chain
//! right after its own position, and the chain points to the events at each position. That is linear where the relation itself is quadratic.

use super::cycle::Cycles;
use crate::graph::Graph;
use crate::ids::{EventId, LocationId};

/// Memory that is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    cycles: Cycles,
    events: Vec<EventId>,
    fences: Vec<usize>,
}

/// Whether the order exists.
pub(super) fn order_exists(graph: &Graph, buffers: &mut Buffers) -> bool {
    if graph.seq_cst_events() < 2 {
        return true;
    }
    let Buffers { cycles, events, fences } = buffers;
    events.clear();
    events.extend(graph.order().iter().copied().filter(|e| graph.event(*e).is_seq_cst()));
    fences.clear();
    fences.extend((0..events.len()).filter(|i| graph.event(events[*i]).is_seq_cst_fence()));
    let search = Search { graph, events, fences };
    cycles.reset(events.len());
    search.strongly_happens_before(cycles);
    search.synchronises(cycles);
    for location in (0..graph.locations()).map(|l| LocationId(l as u32)) {
        search.coherence(location, cycles);
    }
    cycles.acyclic()
}

struct Search<'a> {
    graph: &'a Graph,
    /// All SeqCst events.
    events: &'a [EventId],
    /// Those of them that are fences.
    fences: &'a [usize],
}

impl Search<'_> {
    /// Program order, and program order; happens-before; program order.
    fn strongly_happens_before(&self, cycles: &mut Cycles) {
        for (i, a) in self.events.iter().enumerate() {
            for (j, b) in self.events.iter().enumerate() {
                let before = if a.thread == b.thread {
                    a.index < b.index
                } else {
                    self.graph.knows(b.thread, b.index as usize, a.thread) > a.index + 1
                };
                if before {
                    cycles.edge(i, j);
                }
            }
        }
    }

    /// Synchronises-with between two SeqCst events.
    fn synchronises(&self, cycles: &mut Cycles) {
        for &id in self.graph.order() {
            let event = self.graph.event(id);
            if !event.reads() || event.rf.is_init() {
                continue;
            }
            let Some(end) = (if event.is_seq_cst() { self.node(id) } else { self.fence_after(id) }) else { continue };
            let mut write = event.rf;
            loop {
                let head =
                    if self.graph.event(write).is_seq_cst() { self.node(write) } else { self.fence_before(write) };
                if let Some(head) = head {
                    cycles.edge(head, end);
                }
                let source = self.graph.event(write);
                if !source.updates() || source.rf.is_init() {
                    break;
                }
                write = source.rf;
            }
        }
    }

    fn node(&self, id: EventId) -> Option<usize> {
        self.events.iter().position(|e| *e == id)
    }

    /// The first SeqCst fence of its thread after `id`.
    fn fence_after(&self, id: EventId) -> Option<usize> {
        let later = |i: &usize| self.events[*i].thread == id.thread && self.events[*i].index > id.index;
        self.fences.iter().copied().filter(later).min_by_key(|i| self.events[*i].index)
    }

    /// The last SeqCst fence of its thread before `id`.
    fn fence_before(&self, id: EventId) -> Option<usize> {
        let earlier = |i: &usize| self.events[*i].thread == id.thread && self.events[*i].index < id.index;
        self.fences.iter().copied().filter(earlier).max_by_key(|i| self.events[*i].index)
    }

    /// Coherence-ordered before, from SeqCst accesses (and accesses after SeqCst fences) to such accesses (and those before fences).
    fn coherence(&self, location: LocationId, cycles: &mut Cycles) {
        if !self.graph.is_accessed(location) {
            return;
        }
        let positions = 2 * self.graph.mo(location).len() + 3;
        let chain = cycles.add_nodes(positions);
        for k in 1..positions {
            cycles.edge(chain + k - 1, chain + k);
        }
        for id in self.graph.accesses(location) {
            let event = self.graph.event(id);
            let write = if event.writes { id } else { event.rf };
            let at = chain + 2 * self.graph.mo_index(write) + usize::from(!event.writes);
            if let Some(node) = event.is_seq_cst().then(|| self.node(id)).flatten() {
                cycles.edge(node, at + 1);
                cycles.edge(at, node);
            }
            for &f in self.fences {
                let fence = self.events[f];
                if self.happens_before(fence, id) {
                    cycles.edge(f, at + 1);
                } else if self.happens_before(id, fence) {
                    cycles.edge(at, f);
                }
            }
        }
    }

    fn happens_before(&self, a: EventId, b: EventId) -> bool {
        if a.thread == b.thread {
            return a.index < b.index;
        }
        a.index < self.graph.knows(b.thread, b.index as usize + 1, a.thread)
    }
}
