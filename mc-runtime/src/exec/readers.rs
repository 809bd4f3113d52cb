//! Reader-writer locks whose readers have no order: when that holds, and when a writer has its turn.
//!
//! Not here: what such a lock is in the graph (`graph::readers`), and which sections a writer comes after (`explore::readers`).

use super::thread::{State, Waiting};
use super::{Engine, Guide, Step};
use crate::explore::MOST_SECTIONS;
use crate::graph::Graph;
use crate::graph::event::Event;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation, WRITER};
use crate::ops::READER_ORDER;

impl Engine {
    /// Before an operation of a reader-writer lock: is there something that only a count in modification order can tell? That must be known from the start.
    #[inline(never)]
    pub(super) fn counts_readers<T>(&mut self, operation: &Operation, location: LocationId) -> Option<Step<T>> {
        let graph = &self.explorer.graph;
        let last = graph.mo_max(location);
        let cannot = match operation.code {
            // A revisit may bring each of them into one generation, which may begin with a downgrade.
            Code::ReadLock => read_locks(graph, location) + 2 > MOST_SECTIONS,
            Code::ReadUnlock => graph.open_sections(location, last, Some(self.current())) == 0,
            Code::WriteLock => false,
            _ => return None,
        };
        let was_locked = graph.value(location, EventId::INIT) != 0;
        (cannot || was_locked).then(|| self.learn_now(READER_ORDER))
    }

    /// Does the running thread wait with a writer's lock until nobody can do anything else? Then the sections that could come before it are there, and no reader has to come before it
    /// later. Its twin, if that waits so, too, goes on first.
    #[inline(never)]
    pub(super) fn lets_readers_first(&self, operation: &Operation) -> bool {
        let others = || self.explorer.graph.ranks().iter().filter(|t| **t != self.current());
        operation.code == Code::WriteLock
            && matches!(self.guide, Guide::Explore)
            && (others().any(|t| self.can_move(*t) && !self.waits_to_write(*t) && !self.explorer.observes(*t))
                || self.waits_behind_twin(self.current()))
    }

    /// Does the twin of a thread, which has not come farther, wait to write, and could?
    pub(super) fn waits_behind_twin(&self, thread: ThreadId) -> bool {
        self.twin_in_front(thread).is_some_and(|twin| self.waits_to_write(twin) && self.can_move(twin))
    }

    /// Has a thread come to a writer's lock?
    pub(super) fn waits_to_write(&self, thread: ThreadId) -> bool {
        let thread = &self.threads[thread.slot()];
        thread.state == State::Guard && thread.waiting.is_some_and(|w| w.operation.code == Code::WriteLock)
    }

    /// The end of a section that is not executed yet, before which this lock of a writer must not be either.
    #[inline(never)]
    pub(super) fn missing_section(&mut self, id: EventId) -> Option<EventId> {
        let event = self.explorer.graph.event(id);
        let mut sections = std::mem::take(&mut self.sections);
        self.explorer.graph.sections(event.location, event.rf, &mut sections);
        let missing = sections.iter().filter_map(|section| section.end).find(|end| !self.executed(*end));
        self.sections = sections;
        missing
    }

    /// The reader through whom a lock is held that a writer waits for.
    #[inline(never)]
    pub(super) fn reader(&self, wait: &Waiting) -> Option<EventId> {
        let graph = &self.explorer.graph;
        let mut sections = Vec::new();
        graph.sections(wait.location, graph.mo_max(wait.location), &mut sections);
        let open = sections.iter().rev().find(|section| section.end.is_none());
        open.filter(|_| wait.operation.code == Code::WriteLock).map(|section| section.begin)
    }
}

fn read_locks(graph: &Graph, location: LocationId) -> usize {
    graph.reads(location).iter().filter(|id| graph.event(**id).operation.code == Code::ReadLock).count()
}

/// Does an event change how many readers a lock has: one more, or one less?
pub(super) fn counts(event: &Event) -> Option<bool> {
    match event.operation.code {
        Code::ReadLock => Some(true),
        Code::ReadUnlock => Some(false),
        _ => None,
    }
}

const _: () = assert!(WRITER > MOST_SECTIONS as u64, "readers are counted below the bit of the writer");
