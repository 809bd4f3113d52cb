//! What a watchdog on another thread of the operating system looks at.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts that only grow.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    operations: AtomicU64,
    others: AtomicU64,
}

impl Progress {
    /// Operations, and what else was told of: plain accesses and hints.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.operations.load(Ordering::Relaxed), self.others.load(Ordering::Relaxed))
    }

    /// Another operation.
    #[inline(always)]
    pub(super) fn count_operation(&self) {
        count(&self.operations);
    }

    /// The running thread has done something that is no operation: without end, that is a hang too.
    #[inline(always)]
    pub(super) fn count_other(&self) {
        count(&self.others);
    }
}

/// Nobody else writes the count: no read-modify-write is needed.
#[inline(always)]
fn count(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
