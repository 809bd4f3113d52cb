//! Sequential consistency: (program order, reads-from, modification order, from-read) is acyclic.

use super::cycle::Cycles;
use crate::graph::Graph;
use crate::ids::{EventId, LocationId};

/// Is there a total order of all events that explains what they read?
pub(super) fn order_exists(graph: &Graph, cycles: &mut Cycles) -> bool {
    let node = |id: EventId| graph.event(id).stamp as usize;
    cycles.reset(graph.len());
    for &id in graph.order() {
        let event = graph.event(id);
        if id.index > 0 {
            cycles.edge(node(EventId { index: id.index - 1, ..id }), node(id));
        }
        if !event.rf.is_init() {
            cycles.edge(node(event.rf), node(id));
        }
    }
    for location in (0..graph.locations()).map(|l| LocationId(l as u32)) {
        let mo = graph.mo(location);
        for pair in mo.windows(2) {
            cycles.edge(node(pair[0]), node(pair[1]));
        }
        for &reader in graph.accesses(location) {
            let event = graph.event(reader);
            if event.reads() {
                let next = mo.get(graph.mo_index(event.rf)).copied();
                if let Some(next) = next.filter(|n| *n != reader) {
                    cycles.edge(node(reader), node(next));
                }
            }
        }
    }
    cycles.acyclic()
}
