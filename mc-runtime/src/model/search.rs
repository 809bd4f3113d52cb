//! Is a relation on the events of a graph acyclic? A depth-first search that asks for successors as it goes, with buffers that are kept.
//!
//! Also here: what reads-from, modification order and from-read say of one event, which `sc` and `tso` have in common.
//! Not here: program order, of which `tso` keeps a part only.

use crate::graph::Graph;
use crate::ids::{EventId, ThreadId};
use crate::operation::Code;

/// Which part of a graph may be at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspect {
    /// Without this event, which nothing follows, the graph is consistent: a cycle goes through it.
    Event(EventId),
    /// Without these two, of which the second may read from the first and nothing else follows them, it is.
    Events(EventId, EventId),
    /// Anything.
    Anything,
}

/// A relation that is searched.
pub(super) trait Relation {
    /// Visits the events directly after `id`.
    fn successors(graph: &Graph, id: EventId, visit: &mut impl FnMut(EventId));
}

/// The search, with the memory that it keeps.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// By stamp.
    state: Vec<State>,
    stack: Vec<Task>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    New,
    /// On the path from the start.
    Open,
    /// It leads to no cycle.
    Closed,
}

#[derive(Clone, Copy, Debug)]
enum Task {
    Open(EventId),
    Close(EventId),
}

impl Search {
    /// Has the relation no cycle?
    pub(super) fn acyclic<R: Relation>(&mut self, graph: &Graph, suspect: Suspect) -> bool {
        self.state.clear();
        self.state.resize(graph.len(), State::New);
        match suspect {
            Suspect::Event(id) => self.leads_to_none::<R>(graph, id),
            Suspect::Events(a, b) => self.leads_to_none::<R>(graph, a) && self.leads_to_none::<R>(graph, b),
            Suspect::Anything => graph.order().iter().all(|id| self.leads_to_none::<R>(graph, *id)),
        }
    }

    fn leads_to_none<R: Relation>(&mut self, graph: &Graph, start: EventId) -> bool {
        let Search { state, stack } = self;
        stack.clear();
        stack.push(Task::Open(start));
        while let Some(task) = stack.pop() {
            let id = match task {
                Task::Open(id) => id,
                Task::Close(id) => {
                    state[graph.event(id).stamp as usize] = State::Closed;
                    continue;
                }
            };
            let stamp = graph.event(id).stamp as usize;
            if state[stamp] != State::New {
                continue;
            }
            state[stamp] = State::Open;
            stack.push(Task::Close(id));
            let mut cycle = false;
            R::successors(graph, id, &mut |next: EventId| match state[graph.event(next).stamp as usize] {
                State::New => stack.push(Task::Open(next)),
                State::Open => cycle = true,
                State::Closed => {}
            });
            if cycle {
                return false;
            }
        }
        true
    }
}

/// The first write that is later in modification order than what the access is or reads: modification order, and from-read.
pub(super) fn next_write(graph: &Graph, id: EventId) -> Option<EventId> {
    let event = graph.event(id);
    if !event.operation.has_location() {
        return None;
    }
    let known = if event.writes { id } else { event.rf };
    graph.mo(event.location).get(graph.mo_index(known)).copied()
}

/// Visits what reads from an event: the readers of a write; from a spawn, the first event of the thread.
pub(super) fn readers(graph: &Graph, id: EventId, visit: &mut impl FnMut(EventId)) {
    let event = graph.event(id);
    match event.operation.code {
        _ if event.writes => {
            let reads = graph.reads(event.location).iter();
            reads.filter(|r| graph.event(**r).rf == id).for_each(|r| visit(*r));
        }
        Code::Spawn => {
            let first = ThreadId(event.value as u32).event(0);
            if graph.contains(first) {
                visit(first);
            } else {
                joins(graph, first.thread, visit);
            }
        }
        _ => {}
    }
}

/// Visits the joins of a thread.
pub(super) fn joins(graph: &Graph, child: ThreadId, visit: &mut impl FnMut(EventId)) {
    if !graph.has_ended(child) {
        return;
    }
    let end = graph.end(child).count;
    let knows_end = |t: &ThreadId| *t != child && graph.prefix_of(*t, graph.thread(*t).len()).of(child) == end;
    for thread in graph.ranks().iter().copied().filter(knows_end) {
        let events = graph.thread(thread).iter().enumerate();
        let joins = events.filter(|(_, event)| event.joins() == Some(child));
        joins.for_each(|(index, _)| visit(thread.event(index)));
    }
}
