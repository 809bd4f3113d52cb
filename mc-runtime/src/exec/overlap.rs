//! Atomic accesses of different sizes that have bytes in common.
//!
//! Each address and size is a location of its own, and no write to one is seen in another. That is right where the accesses are ordered by happens-before, since memory
//! holds what was written last. Where they are not, and one of them writes, Rust leaves what happens undefined (`std::sync::atomic`, "Memory model for
//! atomic accesses"): a data race.

use super::Engine;
use super::access::describe;
use super::memory::place;
use crate::ids::EventId;

impl Engine {
    /// What is wrong with an atomic access that was just made, if it and another one overlap without being ordered.
    #[inline]
    pub(super) fn overlap_race(&self, id: EventId) -> Option<String> {
        if self.locations.any_overlap() { self.find_overlap_race(id) } else { None }
    }

    #[cold]
    fn find_overlap_race(&self, id: EventId) -> Option<String> {
        let graph = &self.explorer.graph;
        let event = graph.event(id);
        let others = self.locations.overlapping(event.location).flat_map(|other| graph.accesses(other));
        let mut unordered = others.filter(|other| self.executed(*other) && !self.is_event_ordered(*other));
        let other = unordered.find(|other| event.writes || graph.event(*other).writes)?;
        let tell = |id: EventId| {
            let operation = &graph.event(id).operation;
            let bytes = operation.width.bytes();
            format!(
                "{} does `{}` of {bytes} bytes at {}",
                self.thread_name(id.thread),
                describe(operation),
                place(graph.site(id))
            )
        };
        let (one, two) = (tell(id), tell(other));
        Some(format!(
            "data race: atomic accesses of different sizes have bytes in common, and neither happens before the other\n{one}\n{two}"
        ))
    }
}
