//! `SystemTime`: under control each execution starts at the same date.
//!
//! Beyond std: it is made of std's and becomes it, for files, whose dates are those of the real clock.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::{Duration, SystemTimeError};

use mc_runtime::ops;

/// As [`std::time::SystemTime`]; under control it counts the virtual time since the first of January 2026.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct SystemTime(std::time::SystemTime);

/// The first of January 1970.
pub const UNIX_EPOCH: SystemTime = SystemTime(std::time::UNIX_EPOCH);

/// Where virtual time starts.
const START: Duration = Duration::from_secs(1_767_225_600);

impl SystemTime {
    /// The first of January 1970.
    pub const UNIX_EPOCH: Self = UNIX_EPOCH;

    /// The present moment.
    #[must_use]
    pub fn now() -> Self {
        match ops::now() {
            Some(elapsed) => UNIX_EPOCH + START + elapsed,
            None => Self(std::time::SystemTime::now()),
        }
    }

    /// The time from `earlier` until `self`.
    ///
    /// # Errors
    /// When `earlier` is later; the error knows by how much.
    pub fn duration_since(&self, earlier: Self) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// The time since this one.
    ///
    /// # Errors
    /// When it is in the future; the error knows by how much.
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        Self::now().duration_since(*self)
    }

    /// `self + duration`, if that can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// `self - duration`, if that can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl From<std::time::SystemTime> for SystemTime {
    fn from(time: std::time::SystemTime) -> Self {
        Self(time)
    }
}

impl From<SystemTime> for std::time::SystemTime {
    fn from(time: SystemTime) -> Self {
        time.0
    }
}

impl Add<Duration> for SystemTime {
    type Output = Self;
    fn add(self, dur: Duration) -> Self {
        Self(self.0 + dur)
    }
}

impl AddAssign<Duration> for SystemTime {
    fn add_assign(&mut self, other: Duration) {
        self.0 += other;
    }
}

impl Sub<Duration> for SystemTime {
    type Output = Self;
    fn sub(self, dur: Duration) -> Self {
        Self(self.0 - dur)
    }
}

impl SubAssign<Duration> for SystemTime {
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other;
    }
}

impl fmt::Debug for SystemTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
