//! `std::time`: under control, a virtual clock that only waiting moves.

pub use std::time::{Duration, SystemTimeError, TryFromFloatSecsError};

pub use instant::Instant;
pub use system::{SystemTime, UNIX_EPOCH};

mod instant;
mod system;
