//! A flag that one thread waits for: a word, taken by a guarded read-modify-write.

use std::sync::atomic::Ordering::{Acquire, Release};

use mc_runtime::ops::{self, Guard, Label, Looked, Rmw, Test, Update};

use crate::checked::word::Word32;

/// Takes the flag when it is given.
const TAKE: Guard = Guard { test: Test::Mask { mask: 1, want: 1 }, update: Update::KeepAdd { keep: !1, add: 0 } };

pub(crate) struct Signal(Word32);

impl Signal {
    pub(crate) const fn new() -> Self {
        Self(Word32::new(0))
    }

    /// Gives it. Nothing more happens if it was given already.
    #[track_caller]
    pub(crate) fn notify(&self) {
        self.0.rmw(Rmw::Or, 1, Release, Label::Wake);
    }

    /// Waits until it is given, and takes it. False when nobody can give it any more: then the caller says what came of what it waits for, to [`looked`](Self::looked).
    #[track_caller]
    pub(crate) fn wait(&self) -> bool {
        self.0.wait_or_look(TAKE, Acquire, Label::BlockOn)
    }

    /// Is this the last time that the caller polls?
    pub(crate) fn looks_again() -> bool {
        ops::looks_again()
    }

    /// What came of the last poll, of a future that `owners` can wake. Does not return after [`wait`](Self::wait) has given false.
    pub(crate) fn looked(ready: bool, owners: usize) {
        ops::looked(Some(Looked { ready, wakers: owners }));
    }

    /// Does the one who waits go on, now, without being notified? A choice.
    #[track_caller]
    pub(crate) fn may_wake_spuriously() -> bool {
        ops::choose(2) == Some(1)
    }
}
