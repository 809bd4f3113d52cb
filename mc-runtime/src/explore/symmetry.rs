//! Whether leaving out symmetric executions loses none here.
//!
//! That holds as long as (program order, reads-from or modification order) has no cycle. `sc` and `tso` forbid one. `rc20` does not, if the ends of each
//! modification-order edge of it are unordered and the second is a plain store. Each such cycle is near an execution without one that shows this, and that one is explored.
//! The argument is in `docs/reductions.md`.

use super::Explorer;
use crate::graph::Graph;
use crate::ids::{EventId, LocationId};
use crate::model::coherence;
use crate::operation::Code;
use crate::options::MemoryModel;

impl Explorer {
    /// Is there perhaps an execution with such a cycle, of which another one that is like it is not explored?
    #[inline(never)]
    pub(crate) fn may_lose_symmetric(&self) -> bool {
        if self.model != MemoryModel::Rc20 {
            return false;
        }
        let mut unordered = 0;
        for location in (0..self.graph.locations() as u32).map(LocationId) {
            match stores(&self.graph, location) {
                Stores::Ordered => {}
                Stores::Unordered => unordered += 1,
                Stores::Inverted => return true,
            }
        }
        unordered > 1
    }
}

/// How the plain stores to a location, and its other writes, are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stores {
    /// One happens before the other.
    Ordered,
    /// Of some two, neither does.
    Unordered,
    /// And one could still have come to be first in modification order, although it depends on the other.
    Inverted,
}

fn stores(graph: &Graph, location: LocationId) -> Stores {
    let writes = graph.mo(location);
    let is_store = |w: &&EventId| graph.event(**w).operation.code == Code::Store;
    let in_row = || writes.windows(2).all(|w| happens_before(graph, w[0], w[1]));
    let waits = |read: &EventId| matches!(graph.event(*read).operation.code, Code::Guarded(..) | Code::AwaitExchange);
    // What is waited for by guards is written by updates, and by stores of whoever holds it.
    if !writes.iter().any(|w| is_store(&w)) || in_row() || graph.reads(location).iter().any(waits) {
        return Stores::Ordered;
    }
    let mut found = Stores::Ordered;
    for store in writes.iter().filter(is_store) {
        for other in writes.iter().filter(|w| w.thread != store.thread) {
            if happens_before(graph, *store, *other) || happens_before(graph, *other, *store) {
                continue;
            }
            let depends = graph.prefix_of(other.thread, other.index as usize).contains(*store);
            let first = coherence::coherent(graph, location, other.thread, other.index as usize);
            if depends && first < graph.mo_index(*store) {
                return Stores::Inverted;
            }
            found = Stores::Unordered;
        }
    }
    found
}

/// Does `a` happen before `b`, whatever `b` itself reads?
fn happens_before(graph: &Graph, a: EventId, b: EventId) -> bool {
    graph.knows(b.thread, b.index as usize, a.thread) > a.index
}
