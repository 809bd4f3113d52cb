//! Accesses of an atomic that are not atomic (`with_mut`, `unsync_load` of loom): they race with the atomic ones as plain memory does.
//!
//! Happens-before is a property of the graph: an atomic access that this execution made earlier must happen before the plain one, one that it makes
//! later must happen after it. The first is asked when the plain access is made, the second when the execution ends.

use super::memory::place;
use super::{Engine, Found, Step};
use crate::graph::Site;
use crate::ids::{EventId, ThreadId};
use crate::outcome::FailureKind;

/// A plain access of what is atomic otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsync {
    at: usize,
    writes: bool,
    thread: ThreadId,
    /// How many events that thread had made before.
    events: u32,
    /// How many events had been executed before.
    executed: usize,
    site: Site,
}

impl Engine {
    /// A plain access by the running thread.
    pub(crate) fn unsync(&mut self, at: usize, size: usize, writes: bool, site: Site) -> Step<()> {
        or_return!(self.looks_plainly(at, size));
        match self.cell(at, size, writes, site) {
            Step::Done(()) => {}
            other => return other,
        }
        self.me().rounds.clear(); // `touched` knows nothing of the atomic accesses that it may race with
        let events = self.me().position as u32;
        let access = Unsync { at, writes, thread: self.current, events, executed: self.order.len(), site };
        let ordered = |id: &EventId| self.is_event_ordered(*id);
        let race = self.order.iter().copied().find(|id| self.conflicts(&access, *id) && !ordered(id));
        if let Some(id) = race {
            let message = self.explain_unsync(&access, id);
            return self.fail(FailureKind::DataRace, message, site);
        }
        self.unsync.push(access);
        Step::Done(())
    }

    /// Was there one of this memory that does not happen before this point of the running thread?
    pub(super) fn unsync_between(&self, at: usize, size: usize) -> bool {
        let touches = |a: &&Unsync| (at..at + size).contains(&a.at);
        self.unsync.iter().filter(touches).any(|a| !self.is_ordered(a.thread, a.events, u32::MAX))
    }

    /// At the end of an execution: fails if there is an atomic access that was made after a plain one, but does not happen after it.
    #[cold]
    pub(super) fn has_unsync_race(&mut self) -> bool {
        let race = self.unsync.iter().find_map(|access| {
            let later = self.order.get(access.executed..).unwrap_or_default();
            let id = later.iter().copied().find(|id| self.conflicts(access, *id) && !self.is_after(*id, access))?;
            Some((id.thread, self.explain_unsync(access, id), self.explorer.graph.site(id)))
        });
        let Some((thread, message, site)) = race else { return false };
        let site = site.map(|s| (s.file().to_owned(), s.line()));
        self.record(Found { kind: FailureKind::DataRace, message, thread, site });
        true
    }

    /// Does an event access the same, in another thread, and does one of the two write?
    fn conflicts(&self, access: &Unsync, id: EventId) -> bool {
        let event = self.explorer.graph.event(id);
        let touches = event.reads() || event.writes;
        id.thread != access.thread
            && touches
            && (access.writes || event.writes)
            && self.locations.is_at(event.location, access.at)
    }

    /// Does an event happen after a plain access?
    fn is_after(&self, id: EventId, access: &Unsync) -> bool {
        self.explorer.graph.knows(id.thread, id.index as usize + 1, access.thread) > access.events
    }

    fn explain_unsync(&self, access: &Unsync, id: EventId) -> String {
        let graph = &self.explorer.graph;
        format!(
            "data race: {} {}s at {}, without an atomic operation, what {} {} at {}, and neither happens before the other",
            self.thread_name(access.thread),
            if access.writes { "write" } else { "read" },
            place(access.site),
            self.thread_name(id.thread),
            if graph.event(id).writes { "writes" } else { "reads" },
            place(graph.site(id)),
        )
    }
}
