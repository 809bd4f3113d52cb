//! Futexes: what crates that bring their own locks block on.
//!
//! Of each, a word of ours has a bit for each thread that waits, as for a `Condvar`: who is woken is a choice, and so is whether a time-out comes first. The kernel looks at the
//! futex while it holds its queue; here a thread joins the queue before it looks, so that no wake-up is missed either: what happens before a wake-up that came too early is seen by that look. A thread that
//! was woken knows nothing by that: no order is promised.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update, Width};
use mc_runtime::outcome::FailureKind;

use crate::checked::word::Word64;

/// The futexes of an execution, in the order of their first use.
static QUEUES: [Queue; MOST] = [const { Queue { futex: AtomicUsize::new(0), word: Word64::new(0) } }; MOST];
const MOST: usize = 64;

/// The execution that they are of.
static EXECUTION: AtomicU64 = AtomicU64::new(0);

struct Queue {
    futex: AtomicUsize,
    word: Word64,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// Woken.
    Woken,
    /// The futex has another value.
    Changed,
    /// The time was over first.
    Late,
}

/// Waits as long as the futex has this value and nobody wakes the thread.
#[track_caller]
pub(super) fn wait(futex: *mut u32, value: u32, has_timeout: bool) -> Waited {
    let word = &queue(futex).word;
    let bit = (word.rmw(Rmw::CondvarEnqueue, 0, Acquire, Label::Park) as u32).trailing_ones();
    if bit >= 32 {
        ops::fail(
            FailureKind::Uncontrolled,
            "more than 32 threads wait for one futex: there is room for 32".to_owned(),
        );
    }
    let both = 1 << bit | 1 << (bit + 32);
    if ops::load(futex.cast(), Width::W32, Relaxed, Label::Atomic) != Some(u64::from(value)) {
        word.rmw(Rmw::And, !both, Relaxed, Label::Park);
        return Waited::Changed;
    }
    if has_timeout && ops::choose_time_out(2) == Some(1) {
        let old = word.rmw(Rmw::And, !both, Relaxed, Label::Park);
        return if old >> (bit + 32) & 1 == 1 { Waited::Woken } else { Waited::Late };
    }
    let bit = bit as u8;
    let notified = Guard { test: Test::Bit { bit: bit + 32, set: true }, update: Update::ClearPair { bit } };
    let _time_out = has_timeout.then(ops::TimeOut::begin);
    word.wait(notified, Relaxed, if has_timeout { Label::ParkTimeout } else { Label::Park });
    Waited::Woken
}

/// Wakes threads that wait, at most so many; how many there were.
#[track_caller]
pub(super) fn wake(futex: *mut u32, most: usize) -> usize {
    let word = &queue(futex).word;
    let pending = |old: u64| old as u32 & !((old >> 32) as u32);
    if most > 32 {
        return pending(word.rmw(Rmw::CondvarNotifyAll, 0, Release, Label::Unpark)).count_ones() as usize;
    }
    for woken in 0..most {
        let waiting = pending(word.rmw(Rmw::CondvarNotifySole, 0, Release, Label::Unpark));
        match waiting.count_ones() {
            0 => return woken,
            1 => {}
            several => {
                let chosen = ops::choose(several as usize).unwrap_or(0);
                let bit = (0..32).filter(|bit| waiting >> bit & 1 == 1).nth(chosen).unwrap_or(0);
                word.rmw(Rmw::CondvarNotifyPrefer, bit, Relaxed, Label::Unpark);
            }
        }
    }
    most
}

#[track_caller]
fn queue(futex: *mut u32) -> &'static Queue {
    // Threads of an execution run one at a time: these are plain words.
    let execution = ops::execution().unwrap_or(0);
    if EXECUTION.swap(execution, Relaxed) != execution {
        QUEUES.iter().for_each(|queue| queue.futex.store(0, Relaxed));
    }
    let at = futex.addr();
    for queue in &QUEUES {
        match queue.futex.load(Relaxed) {
            0 => queue.futex.store(at, Relaxed),
            known if known != at => continue,
            _ => {}
        }
        return queue;
    }
    ops::fail(FailureKind::Uncontrolled, format!("more than {MOST} futexes in an execution: there is room for {MOST}"))
}
