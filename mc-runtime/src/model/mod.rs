//! Memory models: which writes a new read may see, where a new write may be placed, and whether a graph is consistent.
//!
//! A model sees only graphs. Source of RC20: C++20 [intro.races], [atomics.order], with (program order or reads-from) acyclic
//! as in RC11 (Lahav et al., PLDI 2017). Differs: no load buffering. `sc`: (po, rf, mo, fr) acyclic.
//! Not here: which of the allowed writes is tried next (`explore`), and how a value gets to its thread (`exec`).

pub(crate) mod coherence;
mod cycle;
#[cfg(any(test, feature = "axioms"))]
pub(crate) mod naive;
mod sc;
mod seq_cst;

use crate::graph::Graph;
use crate::options::MemoryModel;

pub(crate) use cycle::Cycles;

/// Is the graph consistent as far as more than coherence is concerned? Coherence and atomicity are kept by construction.
///
/// Adding an event that reads from, or is placed at, the end of modification order never makes a graph inconsistent:
/// it has no edge to an older event. So only other choices need this.
pub(crate) fn order_exists(model: MemoryModel, graph: &Graph, cycles: &mut Cycles) -> bool {
    let exists = match model {
        MemoryModel::Rc20 => seq_cst::order_exists(graph, cycles),
        MemoryModel::Sc => sc::order_exists(graph, cycles),
    };
    #[cfg(any(test, feature = "axioms"))]
    assert_eq!(exists, naive::consistent(graph, model), "the axioms disagree about\n{graph:#?}");
    exists
}
