//! Spurious wake-ups: how many a thread may still have, and whether more of them could matter.
//!
//! Each thread has a number of its own, so that what it does follows from what it did. One that has used them up waits as if there were none. Nothing is
//! lost by that where code waits in a loop that looks again (`docs/wakeups.md`); where a thread was seen to go on without looking, the bound is named.

use super::Engine;
use crate::operation::Code;

/// The last spurious wake-up of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Woken {
    /// How many events the thread had made when it went on.
    at: usize,
    /// Nothing that it can look at under its lock had changed.
    unchanged: bool,
}

impl Engine {
    /// The running thread is about to wait. May it be woken spuriously?
    pub(crate) fn may_wake_spuriously(&mut self) -> bool {
        let limit = self.options.spurious_wakeups;
        let looked_again = self.has_looked_again();
        let me = self.me();
        me.woken = None;
        me.unlooked |= !looked_again;
        if me.wakeups < limit {
            return true;
        }
        if me.unlooked && limit > 0 {
            self.wakeups_cut += 1;
        }
        false
    }

    /// The running thread was woken spuriously. With `by_lock`, its last event took the lock again under which it waits.
    pub(crate) fn wakes_spuriously(&mut self, by_lock: bool) {
        let thread = self.current;
        let at = self.me().position;
        let unchanged = by_lock && at > 0 && {
            let graph = &self.explorer.graph;
            graph.event(thread.event(at - 1)).rf.thread == thread
        };
        let me = self.me();
        me.wakeups += 1;
        me.woken = Some(Woken { at, unchanged: unchanged || !by_lock });
    }

    /// Has the running thread, since it was woken last, looked again before it did anything else, and come back to wait where nothing had changed?
    fn has_looked_again(&self) -> bool {
        let me = self.me_ref();
        let Some(woken) = me.woken.filter(|woken| woken.unchanged) else { return true };
        let graph = &self.explorer.graph;
        let since = (woken.at..me.position).map(|index| graph.event(self.current.event(index)));
        let mut effects = since.filter(|event| event.writes || !event.reads() && event.operation.code != Code::Choose);
        effects.next().is_none()
    }
}
