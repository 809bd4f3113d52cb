//! `Condvar`: up to 32 waiters as bits of one word, in the low half those who wait, in the high half those of them that were notified.
//!
//! Which waiter `notify_one` wakes is a choice, and so is whether a wait with a time-out times out, and whether a thread is woken for no reason.
//! One that is has not waited at all: it gives the lock away and takes it again (`docs/wakeups.md`).
//! Notifications order nothing: that is the mutex's business, as in std.

use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};
use mc_runtime::outcome::FailureKind;

use super::mutex::{MutexGuard, RawMutex};
use crate::checked::time::{Instant, is_never};
use crate::checked::word::Word64;

/// How long a waiter for whom there is no bit sleeps before it reports a spurious wake-up, outside of a check.
const CROWDED: Duration = Duration::from_millis(1);

/// A condition variable, as [`std::sync::Condvar`]. Under control at most 32 threads wait at a time: one more is a failure.
pub struct Condvar {
    word: Word64,
}

/// Whether a wait ended because its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Was the time over?
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A new condition variable.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self { word: Word64::new(0) }
    }

    /// Releases the lock, waits for a notification, and takes the lock again.
    ///
    /// # Errors
    /// When the mutex is poisoned by then; the error holds the guard.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_or_wake(guard).0
    }

    /// As [`wait`](Self::wait), and whether that ended for no reason.
    #[track_caller]
    fn wait_or_wake<'a, T>(&self, guard: MutexGuard<'a, T>) -> (LockResult<MutexGuard<'a, T>>, Woken) {
        let raw = guard.raw();
        if woken_spuriously(raw) {
            return (guard.relocked(), Woken::ForNoReason);
        }
        self.sleep(raw, None, |_| ());
        (guard.relocked(), Woken::Perhaps)
    }

    /// Waits as long as `condition` holds.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        let mut guard = guard;
        let mut woken = Woken::Perhaps;
        loop {
            let (waits, changed) = ask(&mut *guard, &mut condition, woken);
            if !waits {
                return Ok(guard);
            }
            waits_on(woken, changed);
            let result;
            (result, woken) = self.wait_or_wake(guard);
            guard = result?;
        }
    }

    /// As [`wait_timeout`](Self::wait_timeout), in milliseconds; false when the time was over.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[deprecated(since = "1.6.0", note = "replaced by `std::sync::Condvar::wait_timeout`")]
    #[track_caller]
    pub fn wait_timeout_ms<'a, T>(&self, guard: MutexGuard<'a, T>, ms: u32) -> LockResult<(MutexGuard<'a, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(u64::from(ms))) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(error) => {
                let (guard, result) = error.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// Releases the lock, waits for a notification or until the time is over, and takes the lock again.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        self.wait_timeout_or_wake(guard, dur).0
    }

    /// As [`wait_timeout`](Self::wait_timeout), and whether that ended for no reason.
    #[track_caller]
    fn wait_timeout_or_wake<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> (LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>, Woken) {
        let raw = guard.raw();
        let relocked = |guard: MutexGuard<'a, T>, timed_out| {
            let result = WaitTimeoutResult(timed_out);
            match guard.relocked() {
                Ok(guard) => Ok((guard, result)),
                Err(error) => Err(PoisonError::new((error.into_inner(), result))),
            }
        };
        if woken_spuriously(raw) {
            return (relocked(guard, false), Woken::ForNoReason);
        }
        let timed_out = self.sleep(raw, Some(dur), |_| ());
        (relocked(guard, timed_out), Woken::Perhaps)
    }

    /// Waits as long as `condition` holds and the time is not over.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = Instant::now();
        let mut guard = guard;
        let mut over = false;
        let mut woken = Woken::Perhaps;
        loop {
            let (waits, changed) = ask(&mut *guard, &mut condition, woken);
            if !waits {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let left = dur.saturating_sub(start.elapsed());
            // A virtual clock stands at the deadline exactly, so "over" is remembered, not read from it.
            if over || left.is_zero() && !dur.is_zero() {
                return Ok((guard, WaitTimeoutResult(true)));
            }
            waits_on(woken, changed);
            let result;
            (result, woken) = self.wait_timeout_or_wake(guard, left);
            let (again, result) = result?;
            (guard, over) = (again, result.timed_out());
        }
    }

    /// Wakes one waiter, if there is any.
    #[track_caller]
    pub fn notify_one(&self) {
        self.wake_one();
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        self.wake_all();
    }
}

/// For any lock that is a [`RawMutex`] beneath.
impl Condvar {
    /// Releases the lock, waits for a notification or until the time is over, and takes the lock again; true when it was over without one.
    /// `enqueued` is told the bits of those who wait already.
    #[track_caller]
    pub(in crate::checked) fn sleep(
        &self,
        raw: &RawMutex,
        time: Option<Duration>,
        enqueued: impl FnOnce(Queued),
    ) -> bool {
        let time = time.filter(|time| !is_never(*time));
        let timed_out = match (self.enqueue(enqueued), time) {
            (Some(bit), None) => {
                raw.unlock();
                self.word.wait(leave(bit), Relaxed, Label::CondvarWait);
                false
            }
            (Some(bit), Some(time)) => {
                raw.unlock();
                self.wait_notified_or_over(bit, time)
            }
            (None, time) => {
                let time = time.unwrap_or(Duration::MAX);
                crowded(raw, time.min(CROWDED));
                time <= CROWDED
            }
        };
        raw.lock();
        timed_out
    }

    /// Does somebody wait, as far as the caller knows? parking_lot's asks before it notifies, by a relaxed load.
    #[cfg(feature = "lock_api")]
    #[track_caller]
    pub(in crate::checked) fn is_awaited(&self) -> bool {
        pending(self.word.load(Relaxed, Label::CondvarNotifyOne)) != 0
    }

    /// Wakes one waiter, if there is any; whether there was.
    #[track_caller]
    pub(in crate::checked) fn wake_one(&self) -> bool {
        let mut old = self.word.rmw(Rmw::CondvarNotifySole, 0, Relaxed, Label::CondvarNotifyOne);
        let count = pending(old).count_ones();
        if count >= 2 {
            let chosen = ops::choose(count as usize).unwrap_or(0);
            let bit = bits(pending(old)).nth(chosen).expect("chosen among the bits that are set");
            // All may have gone meanwhile.
            old = self.word.rmw(Rmw::CondvarNotifyPrefer, u64::from(bit), Relaxed, Label::CondvarNotifyOne);
        }
        pending(old) != 0
    }

    /// Wakes all waiters; how many there were.
    #[track_caller]
    pub(in crate::checked) fn wake_all(&self) -> usize {
        let old = self.word.rmw(Rmw::CondvarNotifyAll, 0, Relaxed, Label::CondvarNotifyAll);
        pending(old).count_ones() as usize
    }

    /// Takes a bit, while the mutex is still held, after whoever holds another one. `None`, outside of a check only: all are taken.
    #[track_caller]
    fn enqueue(&self, enqueued: impl FnOnce(Queued)) -> Option<u8> {
        let old = self.word.rmw(Rmw::CondvarEnqueue, 0, Relaxed, Label::CondvarEnqueue);
        let bit = (old as u32).trailing_ones();
        if bit < 32 {
            enqueued(Queued { others: pending(old) != 0, condvar: self, bit: bit as u8 });
            return Some(bit as u8);
        }
        if ops::controlled() {
            let message = "more than 32 threads wait on one `Condvar`: a checked one has room for 32".to_owned();
            ops::fail(FailureKind::Contract, message);
        }
        None
    }

    /// A waiter goes without waiting on; whether it was notified by then.
    #[track_caller]
    fn give_up(&self, bit: u8) -> bool {
        let both = 1 << bit | 1 << (bit + 32);
        let old = self.word.rmw(Rmw::And, !both, Relaxed, Label::CondvarTimeout);
        (old >> (bit + 32)) & 1 == 1
    }

    /// Waits for a notification or until the time is over; true when it is over without one.
    #[track_caller]
    fn wait_notified_or_over(&self, bit: u8, dur: Duration) -> bool {
        match ops::choose_time_out(2) {
            Some(0) => {
                let _time_out = ops::TimeOut::begin();
                self.word.wait(leave(bit), Relaxed, Label::CondvarWaitTimeout);
                return false;
            }
            Some(_) => {}
            None if ops::inert() => {}
            None => {
                let deadline = std::time::Instant::now().checked_add(dur);
                if self.word.wait_until(leave(bit), deadline).is_some() {
                    return false;
                }
            }
        }
        let notified = self.give_up(bit);
        if !notified {
            ops::sleep(dur);
        }
        !notified
    }
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Woken {
    /// With a notification, or outside of a check.
    Perhaps,
    /// Without one.
    ForNoReason,
}

/// Learned when somebody was woken for no reason and waited on, which is as if that had not happened: but for who looks at the lock meanwhile.
const WAITS_ON: u64 = u64::from_le_bytes(*b"waits_on") | 1;
/// Learned when somebody then does.
const LOOKS: u64 = u64::from_le_bytes(*b"looks_at") | 1;

/// The calling thread looks at a lock without waiting for it.
pub(super) fn looks_at_a_lock() {
    if ops::learned_any() && ops::learned(WAITS_ON) {
        ops::learn(LOOKS);
    }
}

/// Is a thread that was `woken` to wait on, and has asking for that changed anything? That is looked at only after a wake-up for no reason.
fn ask<T>(data: &mut T, condition: &mut impl FnMut(&mut T) -> bool, woken: Woken) -> (bool, bool) {
    if woken == Woken::Perhaps {
        return (condition(data), true);
    }
    let (bytes, activity) = (ops::bytes(data).to_vec(), ops::activity());
    let waits = condition(data);
    (waits, ops::activity() != activity || ops::bytes(data) != bytes)
}

/// A thread waits on: after a wake-up for no reason that changed nothing, this is as if there had been none.
#[track_caller]
fn waits_on(woken: Woken, changed: bool) {
    if woken == Woken::ForNoReason && !changed {
        ops::learn(WAITS_ON);
        ops::assume(ops::learned(LOOKS));
    }
}

/// Is the calling thread, which holds the lock and is about to wait, woken for no reason? Then others have had the lock meanwhile.
#[track_caller]
fn woken_spuriously(raw: &RawMutex) -> bool {
    let woken = ops::wakes_spuriously();
    if woken {
        raw.unlock();
        raw.lock();
        ops::woken_spuriously(true);
    }
    woken
}

/// A waiter that has a bit and still holds its mutex.
#[cfg_attr(not(feature = "lock_api"), expect(dead_code, reason = "std does not ask"))]
pub(in crate::checked) struct Queued<'a> {
    /// Do others wait who are not notified yet?
    pub(in crate::checked) others: bool,
    condvar: &'a Condvar,
    bit: u8,
}

impl Queued<'_> {
    /// It will not wait after all.
    #[cfg(feature = "lock_api")]
    #[track_caller]
    pub(in crate::checked) fn leave(self) {
        self.condvar.give_up(self.bit);
    }
}

/// Those who wait and are not notified yet.
fn pending(word: u64) -> u32 {
    word as u32 & !((word >> 32) as u32)
}

/// The wait of the waiter with `bit`: until it is notified, then its bits are free again.
fn leave(bit: u8) -> Guard {
    Guard { test: Test::Bit { bit: bit + 32, set: true }, update: Update::ClearPair { bit } }
}

/// The positions of the bits that are set, lowest first.
fn bits(mask: u32) -> impl Iterator<Item = u8> {
    (0..32).filter(move |bit| mask >> bit & 1 == 1)
}

/// No bit is free: sleeps with the lock released, which the caller sees as a spurious wake-up.
fn crowded(raw: &RawMutex, time: Duration) {
    raw.unlock();
    if !ops::inert() {
        std::thread::sleep(time);
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked::sync::Mutex;

    #[test]
    fn more_waiters_than_bits_are_all_woken_outside_of_a_check() {
        let (mutex, condvar) = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            for _ in 0..40 {
                scope.spawn(|| drop(condvar.wait_while(mutex.lock().unwrap(), |ready| !*ready).unwrap()));
            }
            std::thread::sleep(Duration::from_millis(20));
            *mutex.lock().unwrap() = true;
            condvar.notify_all();
        });
        assert_eq!(condvar.word.load(Relaxed, Label::CondvarWait), 0, "every waiter gave its bit back");
    }
}
