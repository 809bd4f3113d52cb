//! `Once`: parking_lot's names for what [`sync::Once`] does.

use std::fmt;

use crate::checked::sync::{self, Stage};

/// Runs something once, as `parking_lot::Once`.
pub struct Once(sync::Once);

/// Where a [`Once`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnceState {
    /// Nobody has run it.
    New,
    /// Somebody did, and panicked.
    Poisoned,
    /// Somebody is at it.
    InProgress,
    /// It is done.
    Done,
}

impl OnceState {
    /// Did the last run panic?
    #[inline]
    pub fn poisoned(self) -> bool {
        matches!(self, OnceState::Poisoned)
    }

    /// Is it done?
    #[inline]
    pub fn done(self) -> bool {
        matches!(self, OnceState::Done)
    }
}

impl Once {
    /// A new one, not run yet.
    #[inline]
    pub const fn new() -> Self {
        Self(sync::Once::new())
    }

    /// Where it stands.
    #[inline]
    #[track_caller]
    pub fn state(&self) -> OnceState {
        match self.0.stage() {
            Stage::Incomplete => OnceState::New,
            Stage::Running => OnceState::InProgress,
            Stage::Complete => OnceState::Done,
            Stage::Poisoned => OnceState::Poisoned,
        }
    }

    /// Runs `f` if nobody did so before; waits when somebody is at it.
    ///
    /// # Panics
    /// When an earlier call panicked, or `f` does.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        self.0.call_once(f);
    }

    /// As [`call_once`](Self::call_once), also when an earlier call panicked: `f` is told.
    ///
    /// # Panics
    /// When `f` does.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(OnceState)>(&self, f: F) {
        self.0.call_once_force(|state| f(if state.is_poisoned() { OnceState::Poisoned } else { OnceState::New }));
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("state", &self.state()).finish()
    }
}
