//! `Barrier`: one word, arrivals in the low half, the generation in the high half.
//!
//! Whoever arrives last is the leader and starts the next generation. One that comes between that arrival and the
//! start of the next generation waits to arrive, so that a word never holds more arrivals than there are places.
//! Until somebody asks who the leader is, or more threads come than there are places, the order of arrivals is not explored.

use std::fmt;
use std::panic::RefUnwindSafe;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};

use crate::checked::word::Word32;

const ARRIVALS: u32 = 0xffff;
const GENERATION: u32 = !ARRIVALS;
const NEXT_GENERATION: u32 = ARRIVALS + 1;

/// A barrier, as [`std::sync::Barrier`]. It is for fewer than 65,536 threads.
pub struct Barrier {
    word: Word32,
    places: usize,
}

impl RefUnwindSafe for Barrier {}

/// What [`Barrier::wait`] returns.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Is the caller the one that came last?
    #[must_use]
    pub fn is_leader(&self) -> bool {
        ops::learn(ops::BARRIER_ORDER);
        self.0
    }
}

impl Barrier {
    /// A barrier for `n` threads; 0 is taken as 1.
    #[must_use]
    #[inline]
    pub const fn new(n: usize) -> Self {
        Self { word: Word32::new(0), places: n }
    }

    /// Waits until all have come.
    ///
    /// # Panics
    /// When the barrier is for 65,536 threads or more.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if self.places <= 1 {
            // std's takes its lock all the same.
            self.word.rmw(Rmw::Add, NEXT_GENERATION, AcqRel, Label::BarrierArrive);
            return BarrierWaitResult(true);
        }
        let places = u32::try_from(self.places).ok().filter(|places| *places <= ARRIVALS);
        let places = places
            .unwrap_or_else(|| panic!("a checked `Barrier` is for fewer than 65,536 threads, not {}", self.places));
        let Some(old) = self.arrive(places) else {
            return BarrierWaitResult(false); // the execution is torn down
        };
        let last = old & ARRIVALS == places - 1;
        if last {
            self.word.rmw(Rmw::Add, NEXT_GENERATION - places, AcqRel, Label::BarrierArrive);
        } else if !ops::pass(self.word.at(), old, Label::BarrierWait) {
            self.word.wait(left(old & GENERATION), Acquire, Label::BarrierWait);
        }
        BarrierWaitResult(last)
    }

    /// Takes a place; the word as it was before.
    #[track_caller]
    fn arrive(&self, places: u32) -> Option<u32> {
        if ops::controlled() && !ops::learned(ops::BARRIER_ORDER) {
            return ops::arrive(self.word.at(), places as u16, Label::BarrierArrive);
        }
        let free = Test::Not { mask: ARRIVALS, unwanted: places };
        let come = Guard { test: free, update: Update::KeepAdd { keep: !0, add: 1 } };
        Some(self.word.wait(come, AcqRel, Label::BarrierArrive))
    }
}

/// Waits for the end of a generation.
fn left(generation: u32) -> Guard {
    let test = Test::Not { mask: GENERATION, unwanted: generation };
    Guard { test, update: Update::KeepAdd { keep: !0, add: 0 } }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
