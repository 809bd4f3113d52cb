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

/// So many of the last are held against a new one.
const FEW: usize = 8;

impl Unsync {
    /// Is it the same, as far as others can tell?
    fn is_like(&self, new: &Self) -> bool {
        let of = |access: &Self| (access.at, access.writes, access.thread, access.events, access.executed);
        of(self) == of(new)
    }
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
        let access = Unsync { at, writes, thread: self.current(), events, executed: self.order.len(), site };
        if self.has_raced(&access) {
            let races = |id: &EventId| self.conflicts(&access, *id) && !self.is_event_ordered(*id);
            let id = self.order.iter().copied().find(races).expect("it has raced with an event of this execution");
            let message = self.explain_unsync(&access, id);
            return self.fail(FailureKind::DataRace, message, site);
        }
        if !self.unsync.iter().rev().take(FEW).any(|last| last.is_like(&access)) {
            self.unsync.push(access);
        }
        Step::Done(())
    }

    /// Was there an atomic access that conflicts with this one, and does not happen before it? Only those of its address are looked at.
    fn has_raced(&self, access: &Unsync) -> bool {
        let graph = &self.explorer.graph;
        let races = |id: &EventId| {
            id.thread != access.thread
                && self.executed(*id)
                && (access.writes || graph.event(*id).writes)
                && !self.is_event_ordered(*id)
        };
        let here = self.locations.within((access.at, access.at + 1));
        here.into_iter().any(|location| graph.accesses(location).any(|id| races(&id)))
    }

    /// Was there one of this memory that does not happen before this point of the running thread?
    pub(super) fn unsync_between(&self, at: usize, size: usize) -> bool {
        !self.unsync.is_empty() && self.any_unsync_between(at, size)
    }

    #[inline(never)]
    fn any_unsync_between(&self, at: usize, size: usize) -> bool {
        let touches = |a: &&Unsync| (at..at + size).contains(&a.at);
        self.unsync.iter().filter(touches).any(|a| !self.is_ordered(a.thread, a.events, u32::MAX))
    }

    /// At the end of an execution: fails if there is an atomic access that was made after a plain one, but does not happen after it.
    #[cold]
    pub(super) fn has_unsync_race(&mut self) -> bool {
        if !self.may_race_later() {
            return false;
        }
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

    /// Is there an event that was made after a plain access, conflicts with it, and does not happen after it? In one look at all events.
    fn may_race_later(&mut self) -> bool {
        let mut by_address = std::mem::take(&mut self.unsync_by_address);
        by_address.clear();
        by_address.extend(self.unsync.iter().enumerate().map(|(index, access)| (access.at, index)));
        by_address.sort_unstable();
        let races = |access: &Unsync, (index, id): (usize, EventId)| {
            access.executed <= index && self.conflicts(access, id) && !self.is_after(id, access)
        };
        let any = self.order.iter().copied().enumerate().any(|(index, id)| {
            let Some(at) = self.locations.address(self.explorer.graph.event(id).location) else { return false };
            let first = by_address.partition_point(|(other, _)| *other < at);
            let here = by_address[first..].iter().take_while(|(other, _)| *other == at);
            here.into_iter().any(|(_, access)| races(&self.unsync[*access], (index, id)))
        });
        self.unsync_by_address = by_address;
        any
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
