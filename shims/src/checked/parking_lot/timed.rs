//! Locking with a time-out: under control, whether it comes first is a choice.

use std::time::{Duration, Instant};

use mc_runtime::ops;

use crate::checked::time;

/// Until when to wait.
#[derive(Clone, Copy)]
pub(super) enum Timeout {
    After(Duration),
    At(Instant),
}

impl Timeout {
    /// On the real clock; `None` when it never comes.
    pub(super) fn deadline(self) -> Option<Instant> {
        match self {
            Timeout::After(time) => Instant::now().checked_add(time),
            Timeout::At(deadline) => Some(deadline),
        }
    }

    /// How long that is, on the clock that the caller has.
    pub(super) fn duration(self) -> Duration {
        match self {
            Timeout::After(time) => time,
            Timeout::At(deadline) => deadline.saturating_duration_since(time::Instant::now().into()),
        }
    }

    /// Is it too far away for any clock? Then it never comes, as in parking_lot.
    pub(super) fn is_never(self) -> bool {
        matches!(self, Timeout::After(time) if time::is_never(time))
    }
}

/// How a lock that waits with a time-out ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It gets the lock, as if there were no time-out.
    Locks,
    /// The time is over: the lock cannot be had just then.
    IsOver,
    /// As `IsOver`, after others have seen that it waited.
    IsOverAndSeen,
}

/// The way in which the calling thread's wait ends: one of `ways`, or the first where time-outs never come. `None` when it is not under control.
#[track_caller]
pub(super) fn choose(timeout: Timeout, ways: &[Way]) -> Option<Way> {
    let ways = if timeout.is_never() { &ways[..1] } else { ways };
    ops::choose_time_out(ways.len()).map(|chosen| ways[chosen])
}

/// Takes a lock if that succeeds in time; whether it did.
#[track_caller]
pub(super) fn timed(
    timeout: Timeout,
    lock: impl FnOnce(),
    try_lock: impl FnOnce() -> bool,
    lock_until: impl FnOnce(Option<Instant>) -> bool,
) -> bool {
    match choose(timeout, &[Way::Locks, Way::IsOver]) {
        Some(Way::Locks) => {
            let _time_out = begin(timeout);
            lock();
            true
        }
        Some(_) => {
            over(timeout, try_lock());
            false
        }
        None if ops::inert() => try_lock(),
        None => lock_until(timeout.deadline()),
    }
}

/// The calling thread is about to wait until `timeout`.
pub(super) fn begin(timeout: Timeout) -> Option<ops::TimeOut> {
    (!timeout.is_never()).then(ops::TimeOut::begin)
}

/// The time is over. That it is over although the lock could be `taken` would be another execution of those in which it is taken.
#[track_caller]
pub(super) fn over(timeout: Timeout, taken: bool) {
    ops::assume(!taken);
    ops::sleep(timeout.duration());
}
