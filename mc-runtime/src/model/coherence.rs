//! Coherence and atomicity for an event at the end of its thread.
//!
//! Such a read may see write `w` unless a write mo-after `w` happens before the read, or is read by a read that happens before it.
//! Source: C++20 [intro.races] 14 to 18, in the incremental form of Kokologiannakis et al., POPL 2018 (RCMC).

use crate::graph::Graph;
use crate::ids::{EventId, LocationId, ThreadId};

/// The first position of modification order that an access at the end of `thread` (of which `count` events are there) may
/// read, and directly after which it may be placed; not before what its twin reads, or where that is placed.
#[inline(always)]
pub(crate) fn earliest(graph: &Graph, location: LocationId, thread: ThreadId, count: usize) -> usize {
    let (newest, first) = (graph.mo(location).len(), coherent(graph, location, thread, count));
    // There is nothing behind the newest write, so the twin is not looked at.
    if first == newest { first } else { first.max(graph.not_before_twin(thread.event(count), location)) }
}

/// Likewise, as far as coherence is concerned.
#[inline(always)]
pub(crate) fn coherent(graph: &Graph, location: LocationId, thread: ThreadId, count: usize) -> usize {
    let order = graph.mo(location);
    let own = |w: &EventId| w.thread == thread && (w.index as usize) < count;
    if order.last().is_none_or(own) { order.len() } else { coherent_among(graph, location, thread, count) }
}

/// Where the last write is of another thread.
fn coherent_among(graph: &Graph, location: LocationId, thread: ThreadId, count: usize) -> usize {
    let order = graph.mo(location);
    let past = graph.past(thread, count);
    let written = order.iter().rposition(|w| past.contains(*w)).map_or(0, |index| index + 1);
    if written == order.len() || graph.is_synchronised(thread, count) {
        return written; // nobody before has read a later write
    }
    let seen = graph.reads(location).iter().filter(|read| past.contains(**read));
    seen.map(|read| graph.mo_index(graph.event(*read).rf)).fold(written, usize::max)
}

/// The update that reads the write at this position, if any.
pub(crate) fn rival(graph: &Graph, location: LocationId, index: usize) -> Option<EventId> {
    let next = *graph.mo(location).get(index)?;
    let event = graph.event(next);
    (event.updates() && event.rf == graph.mo_at(location, index)).then_some(next)
}

/// Does every update of the location directly follow what it reads? Only the graphs through which a guarded or unguarded
/// update comes before its rivals are not so, and they are not explored themselves.
pub(crate) fn is_atomic(graph: &Graph, location: LocationId) -> bool {
    let mut before = EventId::INIT;
    graph.mo(location).iter().all(|write| {
        let event = graph.event(*write);
        let follows = !event.updates() || event.rf == before;
        before = *write;
        follows
    })
}
