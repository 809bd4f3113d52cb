//! Spurious wake-ups: how many a thread may still have, and whether more of them could matter.
//!
//! Each thread has a number of its own, so that what it does follows from what it did. One that has used them up waits as if there were none. Nothing is
//! lost by that where code waits in a loop that looks again (`docs/wakeups.md`); where a thread was seen to go on without looking, the bound is named.

use super::Engine;
use crate::operation::{Code, Operation};
use crate::ops::Label;
use std::panic::Location;

/// The last spurious wake-up of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Woken {
    /// Where the thread waits.
    site: *const Location<'static>,
    /// How many events it had made when it went on.
    at: usize,
    /// Others did nothing under its lock meanwhile, so it cannot have found a reason to go on.
    unchanged: bool,
}

impl Engine {
    /// The running thread is about to wait at `site`. May it be woken spuriously?
    pub(crate) fn may_wake_spuriously(&mut self, site: &'static Location<'static>) -> bool {
        let limit = self.options.spurious_wakeups;
        let looked_again = self.has_looked_again(site);
        let me = self.me();
        me.woken = None;
        me.unlooked |= !looked_again;
        if me.wakeups < limit {
            return true;
        }
        if me.unlooked && limit > 0 {
            self.spurious.wakeups_cut += 1;
        }
        false
    }

    /// The running thread was woken spuriously at `site`. With `by_lock`, its last event took the lock again under which it waits.
    pub(crate) fn wakes_spuriously(&mut self, by_lock: bool, site: &'static Location<'static>) {
        let thread = self.current();
        let at = self.me().position;
        let graph = &self.explorer.graph;
        let unchanged = !by_lock || at > 0 && graph.event(thread.event(at - 1)).rf.thread == thread;
        let me = self.me();
        me.wakeups += 1;
        me.woken = Some(Woken { site, at, unchanged });
    }

    /// Has the running thread looked again, since it was woken last, before it did anything that others can see?
    fn has_looked_again(&self, site: *const Location<'static>) -> bool {
        let me = self.me_ref();
        let Some(woken) = me.woken.filter(|woken| woken.unchanged) else { return true };
        let graph = &self.explorer.graph;
        let mut since = (woken.at..me.position).map(|index| graph.event(self.current().event(index)).operation);
        let counts = |done: &Operation| {
            done.code != Code::Choose
                && !matches!(done.label, Label::MutexLock | Label::MutexTryLock | Label::MutexUnlock)
        };
        // What it looks at may be plain memory under the lock: then it comes straight back to where it waits.
        since.find(counts).map_or(woken.site == site, |first| first.reads())
    }
}
