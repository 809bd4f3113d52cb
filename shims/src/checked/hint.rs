//! `std::hint`.

pub use std::hint::{assert_unchecked, black_box, cold_path, select_unpredictable, unreachable_unchecked};

use mc_runtime::ops;

/// As [`std::hint::spin_loop`]; under control a hint that this thread waits for another one.
#[inline]
#[track_caller]
pub fn spin_loop() {
    if ops::controlled() {
        ops::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
