//! `std::time`: under control, a virtual clock that only waiting moves.

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

pub use instant::Instant;
pub use system::{SystemTime, UNIX_EPOCH};

mod instant;
mod system;

/// Is this longer than any clock goes? A time-out after that never comes, as in std and parking_lot.
pub(crate) fn is_never(time: Duration) -> bool {
    // Only one of that order need be held against the clock.
    time.as_secs() > i64::MAX as u64 / 2 && std::time::Instant::now().checked_add(time).is_none()
}
