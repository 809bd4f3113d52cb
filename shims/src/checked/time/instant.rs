//! `Instant`.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;
use std::time::Duration;

use mc_runtime::ops;

/// As [`std::time::Instant`]; under control it counts the virtual time since the start of the execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(std::time::Instant);

/// Where virtual time starts: one real instant per process, so that instants of both kinds can be compared.
static START: OnceLock<std::time::Instant> = OnceLock::new();

impl Instant {
    /// The present moment.
    #[must_use]
    pub fn now() -> Self {
        match ops::now() {
            Some(elapsed) => Self(*START.get_or_init(std::time::Instant::now) + elapsed),
            None => Self(std::time::Instant::now()),
        }
    }

    /// The time from `earlier` until `self`; zero when `earlier` is later.
    #[must_use]
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// The time from `earlier` until `self`; `None` when `earlier` is later.
    #[must_use]
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// The time from `earlier` until `self`; zero when `earlier` is later.
    #[must_use]
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// The time since this instant.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
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

/// For what takes std's, such as the deadlines of `parking_lot`.
impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> Self {
        instant.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, other: Duration) -> Self {
        Self(self.0 + other)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, other: Duration) {
        self.0 += other;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;
    fn sub(self, other: Duration) -> Self {
        Self(self.0 - other)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other;
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, other: Self) -> Duration {
        self.duration_since(other)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
