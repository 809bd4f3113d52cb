//! Values that the checker chooses, and assumptions about them.

use std::ops::RangeInclusive;

mod sealed {
    pub trait Sealed {}
}

/// The integers that [`choose`] can give.
pub trait Integer: sealed::Sealed + Copy {
    /// How many values there are from `self` to `end`, `end` included; `None` when there are none.
    #[doc(hidden)]
    fn count_to(self, end: Self) -> Option<u128>;
    /// The `n`-th after `self`.
    #[doc(hidden)]
    fn after(self, n: usize) -> Self;
    /// The one before.
    #[doc(hidden)]
    fn before(self) -> Option<Self>;
}

macro_rules! integers {
    ($($int:ident),*) => {$(
        impl sealed::Sealed for $int {}
        impl Integer for $int {
            fn count_to(self, end: Self) -> Option<u128> {
                (self <= end).then(|| (end as u128).wrapping_sub(self as u128).saturating_add(1))
            }
            fn after(self, n: usize) -> Self {
                self.wrapping_add(n as $int)
            }
            fn before(self) -> Option<Self> {
                self.checked_sub(1)
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// The ranges that [`choose`] takes: `a..b` and `a..=b` of integers.
pub trait Range: sealed::Sealed {
    /// What is chosen.
    type Value: Integer;
    /// The first and the last value; `None` when the range is empty.
    #[doc(hidden)]
    fn bounds(self) -> Option<(Self::Value, Self::Value)>;
}

impl<T> sealed::Sealed for std::ops::Range<T> {}
impl<T: Integer> Range for std::ops::Range<T> {
    type Value = T;
    fn bounds(self) -> Option<(T, T)> {
        Some((self.start, self.end.before()?))
    }
}

impl<T> sealed::Sealed for RangeInclusive<T> {}
impl<T: Integer> Range for RangeInclusive<T> {
    type Value = T;
    fn bounds(self) -> Option<(T, T)> {
        Some(self.into_inner())
    }
}

/// One of the values of `range`: in a checked test each of them in turn, otherwise the first.
///
/// ```
/// let items = ["a", "b", "c"];
/// let index = mc::choose(0..items.len());
/// assert!(items.get(index).is_some());
/// ```
///
/// # Panics
/// When the range is empty, or has more values than a `usize` can count.
#[track_caller]
pub fn choose<R: Range>(range: R) -> R::Value {
    let bounds = range.bounds().and_then(|(first, last)| Some((first, first.count_to(last)?)));
    let Some((first, count)) = bounds else { panic!("`mc::choose` from an empty range") };
    let Ok(count) = usize::try_from(count) else { panic!("`mc::choose` from a range of {count} values") };
    first.after(pick(count))
}

/// One of `items`: in a checked test each of them in turn, otherwise the first.
///
/// # Panics
/// When there are none.
#[track_caller]
pub fn choose_from<T>(items: &[T]) -> &T {
    assert!(!items.is_empty(), "`mc::choose_from` an empty slice");
    &items[pick(items.len())]
}

/// Drops the execution unless `condition` holds: nothing that comes after it is checked or reported. Where it holds in no execution, nothing is proved (`BOUNDED`).
///
/// # Panics
/// When the condition does not hold and no checker runs: there is no other execution to go on with.
#[inline]
#[track_caller]
pub fn assume(condition: bool) {
    if !condition {
        refuse();
    }
}

#[cfg(any(mc, feature = "checked"))]
#[track_caller]
fn pick(count: usize) -> usize {
    mc_runtime::ops::choose(count).unwrap_or(0)
}

#[cfg(not(any(mc, feature = "checked")))]
fn pick(_count: usize) -> usize {
    0
}

#[cold]
#[track_caller]
fn refuse() {
    #[cfg(any(mc, feature = "checked"))]
    {
        mc_runtime::ops::assume(false);
        if mc_runtime::ops::inert() {
            return;
        }
    }
    panic!("`mc::assume`: the condition does not hold, and no checker runs that could drop this execution");
}
