//! x86-TSO: how the processor runs what the operations are usually compiled to.
//!
//! | operation | instruction |
//! |---|---|
//! | load | `mov` |
//! | store, relaxed or release | `mov` |
//! | store, SeqCst | `xchg`, which is locked |
//! | read-modify-write, a compare-exchange that fails too | locked |
//! | fence, SeqCst | `mfence` |
//! | any other fence | nothing |
//!
//! The store that frees a lock is a `mov` here (std uses `xchg`: fewer behaviours). A spawn is a store, and so is the end of a thread, though no event; the join reads that of the end,
//! and the thread that of its spawn, before all else that it does. Neither is a barrier by itself.
//!
//! Source: Owens, Sarkar, Sewell, TPHOLs 2009; as axioms in herd's `x86tso.cat`: coherence, atomicity, and (program order but for a store before
//! a load without a barrier between them, external reads-from, modification order, from-read) is acyclic.
//! Coherence is that of `coherence`, by happens-before: nothing that it forbids is consistent here (`tests/spec/tso.py` compares).
//! Not here: what a compiler makes of relaxed accesses. It may reorder them more than this processor does.

use super::search::{Relation, Search, Suspect, joins, next_write, readers};
use crate::graph::Graph;
use crate::graph::event::Event;
use crate::ids::{EventId, ThreadId};
use crate::operation::{Code, Order};

/// Is there an order in which all stores reach memory?
pub(super) fn order_exists(graph: &Graph, suspect: Suspect, search: &mut Search) -> bool {
    search.acyclic::<GlobalHappensBefore>(graph, suspect)
}

struct GlobalHappensBefore;

impl Relation for GlobalHappensBefore {
    fn successors(graph: &Graph, id: EventId, visit: &mut impl FnMut(EventId)) {
        let event = graph.event(id);
        program_order(graph, id.thread, id.index as usize + 1, role(event), visit);
        if event.operation.code == Code::Spawn {
            program_order(graph, ThreadId(event.value as u32), 0, Role::Load, visit);
        }
        readers(graph, id, &mut |reader: EventId| {
            if reader.thread != id.thread {
                visit(reader);
            }
        });
        if let Some(write) = next_write(graph, id) {
            visit(write);
        }
    }
}

/// What an event is to the store buffer of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Load,
    /// It waits in the buffer.
    Store,
    /// It empties the buffer: ordered with everything.
    Barrier,
    None,
}

fn role(event: &Event) -> Role {
    match event.operation.code {
        Code::Load | Code::Pass | Code::Join => Role::Load,
        Code::Store | Code::Fence if event.operation.order == Order::SeqCst => Role::Barrier,
        Code::Store | Code::Spawn => Role::Store,
        Code::Rmw(_) | Code::CompareExchange | Code::AwaitExchange | Code::Guarded(..) | Code::Arrive => Role::Barrier,
        Code::ReadLock | Code::ReadUnlock | Code::WriteLock => Role::Barrier,
        Code::Fence | Code::Choose | Code::Block => Role::None,
    }
}

/// The steps of program order that count, from what is directly before the event `from` of a thread, and has this role: to the next store or barrier, and unless
/// that is a store, to the next load or barrier. The others follow from them. The end of the thread is a store, which its joins read.
fn program_order(graph: &Graph, thread: ThreadId, from: usize, before: Role, visit: &mut impl FnMut(EventId)) {
    let events = graph.thread(thread);
    let mut next = |other: Role| {
        let rest = events.iter().enumerate().skip(from);
        let mut found = rest.filter(|(_, e)| [other, Role::Barrier].contains(&role(e)));
        match found.next() {
            Some((index, _)) => visit(thread.event(index)),
            None if other == Role::Store => joins(graph, thread, visit),
            None => {}
        }
    };
    match before {
        Role::None => {}
        Role::Store => next(Role::Store),
        Role::Load | Role::Barrier => {
            next(Role::Store);
            next(Role::Load);
        }
    }
}
