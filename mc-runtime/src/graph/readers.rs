//! The readers of a reader-writer lock: which of them have the lock together, and what orders them with writers.
//!
//! A *generation* of a lock begins with what leaves it to readers: its first state, the unlocking of a writer, or a downgrade, whose thread is a reader then. A
//! *section* is what is between the `ReadLock` and the `ReadUnlock` of a thread. Both read the beginning of their generation, and no order says more of them: only
//! the operations of writers have a place in modification order. A `WriteLock` reads the beginning of a generation too, and ends it: it comes after all sections of
//! that. An executable form, and its check, are in `tests/spec/readers.py`; the argument is in `docs/reductions.md`.

use super::Graph;
use super::clock::ClockRef;
use super::extend::New;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, WRITER};

/// A section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Its `ReadLock`, or the downgrade.
    pub begin: EventId,
    /// Its `ReadUnlock`, if that is there.
    pub end: Option<EventId>,
}

impl Graph {
    /// Finds the sections of the generation that begins with `start`, in the order in which they were added. Those of one thread are nested.
    pub(crate) fn sections(&self, location: LocationId, start: EventId, found: &mut Vec<Section>) {
        found.clear();
        if self.is_downgrade(location, start) {
            found.push(Section { begin: start, end: None });
        }
        for &read in self.reads(location) {
            let event = self.event(read);
            match event.operation.code {
                Code::ReadLock if event.rf == start => found.push(Section { begin: read, end: None }),
                Code::ReadUnlock if event.rf == start => {
                    let mut open = found.iter_mut().rev().filter(|s| s.end.is_none());
                    if let Some(section) = open.find(|s| s.begin.thread == read.thread) {
                        section.end = Some(read);
                    }
                }
                _ => {}
            }
        }
    }

    fn is_downgrade(&self, location: LocationId, start: EventId) -> bool {
        !start.is_init() && self.value(location, start) & !WRITER != 0
    }

    /// How many sections of the generation that begins with `start` are there, and have no end: those of `thread`, or of all.
    pub(crate) fn open_sections(&self, location: LocationId, start: EventId, thread: Option<ThreadId>) -> usize {
        let counts = |id: &EventId| thread.is_none_or(|t| t == id.thread);
        let mut open = usize::from(self.is_downgrade(location, start) && counts(&start));
        for read in self.reads(location).iter().filter(|read| counts(read)) {
            let event = self.event(*read);
            match event.operation.code {
                Code::ReadLock if event.rf == start => open += 1,
                Code::ReadUnlock if event.rf == start => open -= 1, // after what it unlocks, as added
                _ => {}
            }
        }
        open
    }

    /// The word of a lock, with its readers counted.
    pub(crate) fn lock_word(&self, location: LocationId) -> u64 {
        let last = self.mo_max(location);
        let value = self.value(location, last);
        if value & WRITER != 0 { value } else { self.open_sections(location, last, None) as u64 }
    }

    /// Adds to what a thread knows before its lock `id`, still to be added, the ends of sections that come before it: of a writer's lock those of the sections that are bits of `which`,
    /// of a reader's those that it depends on anyway.
    #[inline(never)]
    pub(super) fn join_sections(
        &mut self,
        id: EventId,
        new: &New,
        mut prefix: ClockRef,
        mut hb: ClockRef,
    ) -> (ClockRef, ClockRef) {
        let &New { location, rf: start, sections: which, .. } = new;
        if new.operation.code != Code::WriteLock && prefix == hb {
            return (prefix, hb); // there is none that it depends on and that does not happen before it
        }
        let mut sections = std::mem::take(&mut self.sections);
        self.sections(location, start, &mut sections);
        for (index, section) in sections.iter().enumerate() {
            let Some(end) = section.end else { continue };
            if end.thread == id.thread {
                continue;
            }
            let known = |row| self.clocks.row(row).get(end.thread.slot()).is_some_and(|count| *count > end.index);
            let joins = match new.operation.code {
                Code::WriteLock => which == ALL || which >> index & 1 == 1,
                _ => known(prefix) && !known(hb) && self.depends(id, start, end),
            };
            if joins {
                let (event, own) = (*self.event(end), (end.thread, end.index + 1));
                prefix = self.clocks.join(prefix, event.known.prefix, own, Some(id.thread));
                hb = self.clocks.join(hb, event.known.hb, own, Some(id.thread));
            }
        }
        self.sections = sections;
        (prefix, hb)
    }

    /// Is the event `id`, still to be added, which reads from `rf`, after `on` in (program order or reads-from)+? What twins do for each other does not count.
    fn depends(&self, id: EventId, rf: EventId, on: EventId) -> bool {
        let before = self.last(id.thread, id.index as usize);
        let (mut seen, mut open) = (vec![0; self.slots()], vec![before, rf]);
        open.retain(|id| !id.is_init());
        let mut sections = Vec::new();
        while let Some(id) = open.pop() {
            let known = &mut seen[id.thread.slot()];
            let from = std::mem::replace(known, (id.index + 1).max(*known));
            if from == 0 {
                open.extend(Some(self.parent(id.thread)).filter(|spawn| !spawn.is_init()));
            }
            let events = self.thread(id.thread).iter().enumerate();
            for (index, before) in events.take(id.index as usize + 1).skip(from as usize) {
                open.extend((!before.rf.is_init()).then_some(before.rf));
                open.extend(before.joins().map(|child| self.last(child, self.thread(child).len())));
                if before.operation.code == Code::WriteLock {
                    let prefix = self.prefix(id.thread.event(index));
                    self.sections(before.location, before.rf, &mut sections);
                    open.extend(sections.iter().filter_map(|s| s.end).filter(|end| prefix.contains(*end)));
                }
            }
        }
        seen[on.thread.slot()] > on.index
    }
}

/// All sections of a generation.
pub(crate) const ALL: u64 = u64::MAX;
