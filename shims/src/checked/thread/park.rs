//! Parking: the token is a word, taken by a guarded read-modify-write. Whether a time-out comes first is a choice.

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, ThreadKey, Update};

use super::current::current;
use super::handle::{Name, Thread};
use crate::checked::time;

/// Takes the calling thread's token when there is one.
const TAKE: Guard = Guard { test: Test::Mask { mask: 1, want: 1 }, update: Update::KeepAdd { keep: !1, add: 0 } };

/// Learned when a thread parks: what it waits for in another way may then take its token.
fn parks(thread: ThreadKey) -> u64 {
    u64::from(thread.0 as u8) << 8 | 0x51
}

/// Is there a token that was meant for a [`park`] of the calling thread, which may be about to wait as std's channels and scopes do? These park until there is what they wait for. Where the thread
/// must wait, [`may_use_token`] follows.
#[track_caller]
pub(in crate::checked) fn has_token_of_park() -> bool {
    if !ops::learned_any() || !ops::controlled() {
        return false;
    }
    let Some(own) = who_parks() else { return false };
    let Some(token) = own.token() else { return false };
    token.load(Relaxed, Label::Park) & 1 == 1
}

/// The calling thread, if it parks anywhere.
fn who_parks() -> Option<Thread> {
    let me = ops::current().filter(|me| ops::learned(parks(*me)))?;
    Some(Thread::checked(me, Name::None))
}

/// Such a wait may use up the token.
#[track_caller]
pub(in crate::checked) fn may_use_token() {
    if ops::choose(2) == Some(1)
        && let Some(own) = who_parks()
        && let Some(token) = own.token()
    {
        token.rmw(Rmw::And, !1, Acquire, Label::Park);
    }
}

/// Waits for the calling thread's token and takes it. May return without one.
#[track_caller]
pub fn park() {
    learn_that_it_parks();
    match current().token() {
        Some(_) if ops::wakes_spuriously() => ops::woken_spuriously(false),
        Some(token) => {
            token.wait(TAKE, Acquire, Label::Park);
        }
        None if ops::inert() => {}
        None => std::thread::park(),
    }
}

fn learn_that_it_parks() {
    if let Some(me) = ops::current().filter(|_| ops::controlled()) {
        ops::learn(parks(me));
    }
}

/// Waits for the calling thread's token, or until the time is over, and takes the token if there is one.
#[track_caller]
pub fn park_timeout(dur: Duration) {
    if time::is_never(dur) {
        return park();
    }
    learn_that_it_parks();
    let current = current();
    let Some(token) = current.token() else {
        if !ops::inert() {
            std::thread::park_timeout(dur);
        }
        return;
    };
    if ops::choose_time_out(2) == Some(0) {
        let _time_out = ops::TimeOut::begin();
        token.wait(TAKE, Acquire, Label::ParkTimeout);
    } else if token.rmw(Rmw::And, !1, Acquire, Label::Park) & 1 == 0 {
        ops::sleep(dur);
    }
}

/// As [`park_timeout`], in milliseconds.
#[deprecated(since = "1.6.0", note = "replaced by `std::thread::park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(u64::from(ms)));
}
