//! Sequential consistency: (program order, reads-from, modification order, from-read) is acyclic.
//!
//! Of modification order and from-read only the steps to the next write are searched; the others follow from them.

use super::search::{Relation, Search, Suspect, joins, next_write, readers};
use crate::graph::Graph;
use crate::ids::EventId;

/// Is there a total order of all events that explains what they read?
pub(super) fn order_exists(graph: &Graph, suspect: Suspect, search: &mut Search) -> bool {
    search.acyclic::<Together>(graph, suspect)
}

/// (po, rf, mo, fr).
struct Together;

impl Relation for Together {
    fn successors(graph: &Graph, id: EventId, visit: &mut impl FnMut(EventId)) {
        let next = EventId { index: id.index + 1, ..id };
        if graph.contains(next) {
            visit(next);
        } else {
            joins(graph, id.thread, visit);
        }
        readers(graph, id, visit);
        if let Some(write) = next_write(graph, id) {
            visit(write);
        }
    }
}
