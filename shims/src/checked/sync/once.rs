//! `Once`: its state is claimed by a guarded read-modify-write and given up by another.
//!
//! An initialisation that calls itself waits for ever, as std allows, and so is found as a deadlock.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc_runtime::ops::{Guard, Label, Rmw, Test, Update};

use crate::checked::word::Word32;

const INCOMPLETE: u32 = 0;
const RUNNING: u32 = 1;
const COMPLETE: u32 = 2;
const POISONED: u32 = 3;
const STATE: u32 = 3;

/// Runs something once, as [`std::sync::Once`].
pub struct Once {
    word: Word32,
}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

/// What [`Once::call_once_force`] tells its closure.
pub struct OnceState {
    poisoned: bool,
    /// Not `Sync`, as std's is not.
    not_sync: PhantomData<Cell<()>>,
}

impl OnceState {
    /// Did an earlier call panic?
    #[inline]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

/// Start value of a [`Once`].
#[deprecated(since = "1.38.0", note = "the `Once::new()` function is now preferred")]
#[expect(clippy::declare_interior_mutable_const, reason = "std has it so")]
pub const ONCE_INIT: Once = Once::new();

/// Ends a call: complete, or poisoned when it is dropped while still `POISONED`.
struct Running<'a> {
    once: &'a Once,
    end: u32,
}

impl Drop for Running<'_> {
    #[track_caller]
    fn drop(&mut self) {
        self.once.word.rmw(Rmw::Swap, self.end, Release, Label::OnceComplete);
    }
}

impl Once {
    /// A new one, not run yet.
    #[must_use]
    #[inline]
    #[expect(clippy::new_without_default, reason = "std has no `Default` either")]
    pub const fn new() -> Self {
        Self { word: Word32::new(INCOMPLETE) }
    }

    /// Runs `f` if nobody did so before; waits when somebody is at it.
    ///
    /// # Panics
    /// When an earlier call panicked, or `f` does.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        let mut f = Some(f);
        self.call(Poison::Panics, &mut |_| f.take().expect("called once")());
    }

    /// As [`call_once`](Self::call_once), also when an earlier call panicked.
    ///
    /// # Panics
    /// When `f` does.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        let mut f = Some(f);
        self.call(Poison::Ignored, &mut |state| f.take().expect("called once")(state));
    }

    /// Is it done?
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.word.load(Acquire, Label::OnceGet) == COMPLETE
    }

    /// Waits until it is done.
    ///
    /// # Panics
    /// When a call panicked.
    #[track_caller]
    pub fn wait(&self) {
        if !self.is_completed() && self.await_end(Test::Mask { mask: COMPLETE, want: COMPLETE }) == POISONED {
            poisoned();
        }
    }

    /// Waits until it is done, whatever panics meanwhile.
    #[track_caller]
    pub fn wait_force(&self) {
        if !self.is_completed() {
            self.await_end(Test::Mask { mask: STATE, want: COMPLETE });
        }
    }

    /// Where it stands.
    #[cfg(feature = "lock_api")]
    #[track_caller]
    pub(in crate::checked) fn stage(&self) -> Stage {
        match self.word.load(Acquire, Label::OnceGet) {
            INCOMPLETE => Stage::Incomplete,
            RUNNING => Stage::Running,
            COMPLETE => Stage::Complete,
            _ => Stage::Poisoned,
        }
    }

    /// Done, through exclusive access: no event.
    pub(super) fn is_completed_mut(&mut self) -> bool {
        *self.word.get_mut() == COMPLETE
    }

    /// Did the last call panic? Through exclusive access: no event.
    pub(super) fn is_poisoned_mut(&mut self) -> bool {
        *self.word.get_mut() == POISONED
    }

    /// Ends it through exclusive access: no event.
    pub(super) fn complete_mut(&mut self) {
        *self.word.get_mut() = COMPLETE;
    }

    /// Poisons it through exclusive access: no event.
    pub(super) fn poison_mut(&mut self) {
        *self.word.get_mut() = POISONED;
    }

    #[track_caller]
    fn await_end(&self, test: Test) -> u32 {
        self.word.wait(Guard { test, update: Update::KeepAdd { keep: !0, add: 0 } }, Acquire, Label::OnceGet)
    }

    #[track_caller]
    fn call(&self, poison: Poison, f: &mut dyn FnMut(&OnceState)) {
        if self.is_completed() {
            return;
        }
        let claim = Guard {
            test: Test::Not { mask: STATE, unwanted: RUNNING },
            update: Update::Claim { from: INCOMPLETE, to: RUNNING },
        };
        loop {
            let old = self.word.wait(claim, Acquire, Label::OnceCall);
            match (old, poison) {
                // `RUNNING` is seen only while an execution is torn down: whoever ran it will not end it.
                (INCOMPLETE | RUNNING, _) => return self.run(f, OnceState { poisoned: false, not_sync: PhantomData }),
                (POISONED, Poison::Panics) => poisoned(),
                (POISONED, Poison::Ignored) => {
                    if self.word.compare_exchange(POISONED, RUNNING, Acquire, Relaxed, Label::OnceCall).is_ok() {
                        return self.run(f, OnceState { poisoned: true, not_sync: PhantomData });
                    }
                }
                _ => return,
            }
        }
    }

    #[track_caller]
    fn run(&self, f: &mut dyn FnMut(&OnceState), state: OnceState) {
        let mut running = Running { once: self, end: POISONED };
        f(&state);
        running.end = COMPLETE;
    }
}

/// Where a [`Once`] stands.
#[cfg(feature = "lock_api")]
pub(in crate::checked) enum Stage {
    Incomplete,
    Running,
    Complete,
    Poisoned,
}

/// What an earlier panic does to a call.
#[derive(Clone, Copy)]
enum Poison {
    Panics,
    Ignored,
}

#[cold]
#[track_caller]
fn poisoned() -> ! {
    panic!("Once instance has previously been poisoned")
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned()).finish()
    }
}
