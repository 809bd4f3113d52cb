//! Giving way, and the passing of time.

use std::io;
use std::num::NonZero;
use std::time::Duration;

use mc_runtime::ops;

/// What [`available_parallelism`] answers under control: the same on every machine.
const PARALLELISM: NonZero<usize> = NonZero::new(2).expect("not 0");

/// Lets others run: under control only a hint, since any of them may run at any point.
#[track_caller]
pub fn yield_now() {
    if ops::controlled() {
        ops::yield_now();
    } else if !ops::inert() {
        std::thread::yield_now();
    }
}

/// Sleeps; under control the virtual clock moves on and no time passes.
#[track_caller]
pub fn sleep(dur: Duration) {
    if !ops::sleep(dur) && !ops::inert() {
        std::thread::sleep(dur);
    }
}

/// As [`sleep`], in milliseconds.
#[deprecated(since = "1.6.0", note = "replaced by `std::thread::sleep`")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(u64::from(ms)));
}

/// How many threads run at once; under control, 2 on every machine.
///
/// # Errors
/// As [`std::thread::available_parallelism`].
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    if ops::controlled() { Ok(PARALLELISM) } else { std::thread::available_parallelism() }
}
