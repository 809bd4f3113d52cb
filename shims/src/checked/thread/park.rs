//! Parking: the token is a word, taken by a guarded read-modify-write. Whether a time-out comes first is a choice.

use std::sync::atomic::Ordering::Acquire;
use std::time::Duration;

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};

use super::current::current;

/// Takes the calling thread's token when there is one.
const TAKE: Guard = Guard { test: Test::Mask { mask: 1, want: 1 }, update: Update::KeepAdd { keep: !1, add: 0 } };

/// Waits for the calling thread's token and takes it. May return without one.
#[track_caller]
pub fn park() {
    match current().token() {
        Some(_) if ops::wakes_spuriously() => ops::woken_spuriously(false),
        Some(token) => {
            token.wait(TAKE, Acquire, Label::Park);
        }
        None if ops::inert() => {}
        None => std::thread::park(),
    }
}

/// Waits for the calling thread's token, or until the time is over, and takes the token if there is one.
#[track_caller]
pub fn park_timeout(dur: Duration) {
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
