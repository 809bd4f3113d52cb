//! The places of a bounded channel, each with a word that says how often its message was received.
//!
//! As in std's channel, that is all that a sender learns of receives: of the place that it is to take. It may have missed the receive that freed it, and then finds the
//! channel full; and of later receives it learns nothing.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mc_runtime::ops::{self, Guard, Label, Test, Update};

use crate::checked::word::Word32;

/// In the word of the place that would be taken next: there is no receiver any more.
const GONE: u32 = 1 << 30;
/// Rounds are counted so far.
const ROUNDS: u32 = GONE - 1;

/// One word for each place.
pub(super) struct Places(Box<[Word32]>);

impl Places {
    pub(super) fn new(bound: u32) -> Self {
        Self((0..bound).map(|_| Word32::new(0)).collect())
    }

    /// The place of the `n`-th message, and how often a message must have been received from it before.
    fn of(&self, n: u64) -> (&Word32, u32) {
        let bound = self.0.len() as u64;
        (&self.0[(n % bound) as usize], (n / bound) as u32 & ROUNDS)
    }

    /// Waits for the place of the `n`-th message; whether there is a receiver to free it.
    #[track_caller]
    pub(super) fn wait(&self, n: u64) -> bool {
        let (word, round) = self.of(n);
        if n < self.0.len() as u64 {
            return true;
        }
        // A sender may wait for a place that was taken again long ago, and then goes on at once. Outside of a check it sees what is there now, and rounds may begin anew.
        let test = if ops::controlled() {
            Test::Range { lo: round as i32, hi: i32::MAX }
        } else {
            Test::Not { mask: !0, unwanted: round.wrapping_sub(1) & ROUNDS }
        };
        let guard = Guard { test, update: Update::KeepAdd { keep: !0, add: 0 } };
        word.wait(guard, Acquire, Label::ChannelSend) & GONE == 0
    }

    /// Is the place of the `n`-th message free, as far as the caller sees?
    #[track_caller]
    pub(super) fn is_free(&self, n: u64) -> bool {
        let (word, round) = self.of(n);
        n < self.0.len() as u64 || word.load(Acquire, Label::ChannelSend) & ROUNDS == round
    }

    /// The `n`-th message was received.
    #[track_caller]
    pub(super) fn free(&self, n: u64) {
        let (word, round) = self.of(n);
        word.store((round + 1) & ROUNDS, Release, Label::ChannelPlace);
    }

    /// The receiver goes, and there is no room for the `n`-th message: who waits for that is told.
    #[track_caller]
    pub(super) fn give_up(&self, n: u64) {
        self.of(n).0.store(GONE, Relaxed, Label::ChannelClosed);
    }
}
