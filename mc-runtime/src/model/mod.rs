//! Memory models: which writes a new read may see, where a new write may be placed, and whether a graph is consistent.
//!
//! A model sees only graphs. Source of RC20: C++20 [intro.races], [atomics.order], with (program order or reads-from) acyclic
//! as in RC11 (Lahav et al., PLDI 2017). Differs: no load buffering. `sc`: (po, rf, mo, fr) acyclic. `tso`: what an x86 processor does.
//! Not here: which of the allowed writes is tried next (`explore`), and how a value gets to its thread (`exec`).

pub(crate) mod coherence;
mod cycle;
#[cfg(any(test, feature = "axioms"))]
pub(crate) mod naive;
mod sc;
mod search;
mod seq_cst;
mod tso;

use crate::graph::Graph;
use crate::options::MemoryModel;

pub(crate) use search::Suspect;

/// Memory that is kept between questions.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    seq_cst: seq_cst::Buffers,
    search: search::Search,
}

/// Is the graph consistent as far as more than coherence is concerned? Coherence and atomicity are kept by construction.
///
/// Adding an event that reads from, or is placed at, the end of modification order never makes a graph inconsistent:
/// it has no edge to an older event, and edges between older events do not depend on it. So only other choices need to be looked at.
pub(crate) fn order_exists(model: MemoryModel, graph: &Graph, suspect: Suspect, buffers: &mut Buffers) -> bool {
    let newest = matches!(suspect, Suspect::Event(id) if search::next_write(graph, id).is_none());
    let exists = match model {
        _ if newest => true,
        MemoryModel::Rc20 => seq_cst::order_exists(graph, suspect, &mut buffers.search, &mut buffers.seq_cst),
        MemoryModel::Sc => sc::order_exists(graph, suspect, &mut buffers.search),
        MemoryModel::Tso => tso::order_exists(graph, suspect, &mut buffers.search),
    };
    #[cfg(any(test, feature = "axioms"))]
    assert_eq!(exists, naive::consistent(graph, model), "the axioms disagree about\n{graph:#?}");
    exists
}
