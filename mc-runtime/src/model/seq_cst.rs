//! Is there a total order of the sequentially consistent operations? C++20 [atomics.order] 4, in its full strength.
//!
//! Strongly happens before is [intro.races] 12, coherence-ordered before is (rf, mo, fr)+. Only graphs with two or more
//! such operations need it.
//!
//! The relation is searched in a graph of the SeqCst events and, for each location, a chain of positions: coherence orders the
//! accesses of one location by the position of the write that they are or read, writes before their readers, so an event points into the chain
//! right after its own position, and the chain points to the events at each position. Of what a thread has before an event only the last counts, of what it
//! has after it only the first: program order gives the others. That is linear where the relation itself is quadratic.
//!
//! Most graphs need none of this: each step of that relation is a path of program order, reads-from, modification order and from-read, so that a new cycle of it is one of
//! theirs through what is new. Where there is none, the order exists; where there is one, and all accesses are sequentially consistent, each of its steps is one
//! of the relation.

use super::cycle::Cycles;
use super::sc;
use super::search::{self, Suspect};
use crate::graph::Graph;
use crate::ids::{EventId, LocationId, ThreadId};

/// Memory that is kept between calls.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    cycles: Cycles,
    events: Vec<Rows>,
    fences: Vec<Rows>,
}

/// The SeqCst events of a thread in program order: the index of each, and its node.
type Rows = Vec<(u32, usize)>;

/// Whether the order exists.
pub(super) fn order_exists(
    graph: &Graph,
    suspect: Suspect,
    search: &mut search::Search,
    buffers: &mut Buffers,
) -> bool {
    if graph.seq_cst_events() < 2 || sc::order_exists(graph, suspect, search) {
        return true;
    }
    let accesses = || graph.order().iter().map(|id| graph.event(*id)).filter(|e| e.operation.has_location());
    accesses().any(|access| !access.is_seq_cst()) && is_acyclic(graph, buffers)
}

/// Is the relation acyclic?
fn is_acyclic(graph: &Graph, buffers: &mut Buffers) -> bool {
    let Buffers { cycles, events, fences } = buffers;
    events.iter_mut().chain(fences.iter_mut()).for_each(Vec::clear);
    let mut nodes = 0;
    for id in graph.order() {
        let event = graph.event(*id);
        if !event.is_seq_cst() {
            continue;
        }
        for (rows, wanted) in [(&mut *events, true), (&mut *fences, event.is_seq_cst_fence())] {
            if rows.len() <= id.thread.slot() {
                rows.resize_with(id.thread.slot() + 1, Vec::new);
            }
            if wanted {
                rows[id.thread.slot()].push((id.index, nodes));
            }
        }
        nodes += 1;
    }
    let search = Search { graph, events, fences };
    cycles.reset(nodes);
    search.strongly_happens_before(cycles);
    search.synchronises(cycles);
    for location in (0..graph.locations()).map(|l| LocationId(l as u32)) {
        search.coherence(location, cycles);
    }
    cycles.acyclic()
}

struct Search<'a> {
    graph: &'a Graph,
    /// All SeqCst events, by thread.
    events: &'a [Rows],
    /// Those of them that are fences.
    fences: &'a [Rows],
}

/// The last of those before `index`.
fn last_before(row: &Rows, index: u32) -> Option<usize> {
    let count = row.partition_point(|(at, _)| *at < index);
    Some(row[count.checked_sub(1)?].1)
}

/// The threads that have any, with what they have.
fn threads(rows: &[Rows]) -> impl Iterator<Item = (ThreadId, &Rows)> {
    rows.iter().enumerate().filter(|(_, row)| !row.is_empty()).map(|(slot, row)| (ThreadId(slot as u32), row))
}

impl Search<'_> {
    /// Program order, and program order; happens-before; program order.
    fn strongly_happens_before(&self, cycles: &mut Cycles) {
        for (thread, row) in threads(self.events) {
            for pair in row.windows(2) {
                cycles.edge(pair[0].1, pair[1].1);
            }
            for (other, before) in threads(self.events).filter(|(other, _)| *other != thread) {
                let mut last = None;
                for (index, node) in row {
                    let known = self.graph.knows(thread, *index as usize, other);
                    // All but the last event that is known have another one between.
                    let now = last_before(before, known.saturating_sub(1));
                    if now != last
                        && let Some(head) = now
                    {
                        cycles.edge(head, *node);
                    }
                    last = now;
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
        let row = self.events.get(id.thread.slot())?;
        row.binary_search_by_key(&id.index, |(index, _)| *index).ok().map(|at| row[at].1)
    }

    /// The first SeqCst fence of its thread after `id`.
    fn fence_after(&self, id: EventId) -> Option<usize> {
        let row = self.fences.get(id.thread.slot())?;
        row.get(row.partition_point(|(index, _)| *index <= id.index)).map(|(_, node)| *node)
    }

    /// The last SeqCst fence of its thread before `id`.
    fn fence_before(&self, id: EventId) -> Option<usize> {
        last_before(self.fences.get(id.thread.slot())?, id.index)
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
            for (thread, fences) in threads(self.fences) {
                let known = if thread == id.thread {
                    id.index
                } else {
                    self.graph.knows(id.thread, id.index as usize + 1, thread)
                };
                if let Some(fence) = last_before(fences, known) {
                    cycles.edge(fence, at + 1);
                }
                let before = |(index, _): &(u32, usize)| !self.happens_before(id, thread.event(*index as usize));
                if let Some((_, fence)) = fences.get(fences.partition_point(before)) {
                    cycles.edge(at, *fence);
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
