//! The state words of the blocking shims: an engine event under control, the same function on real memory otherwise.
//!
//! A shim is written once, in terms of these. Three cases, decided here and nowhere else:
//! under control the engine answers; outside of a check the operation is done on the memory, and a wait really blocks
//! (see [`real`](super::real)); while an execution is torn down nothing blocks: a wait whose test does not hold changes nothing.

use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update, Width};

use super::real;

/// Does `test` hold for `old`?
fn holds(test: Test, old: u64) -> bool {
    let low = old as u32;
    match test {
        Test::Bit { bit, set } => (old >> bit) & 1 == u64::from(set),
        Test::Mask { mask, want } => low & mask == want,
        Test::Not { mask, unwanted } => low & mask != unwanted,
        Test::Range { lo, hi } => (lo..=hi).contains(&(low as i32)),
    }
}

/// What `update` makes of `old`.
fn updated(update: Update, old: u64) -> u64 {
    let low = old as u32;
    match update {
        Update::KeepAdd { keep, add } => u64::from((low & keep).wrapping_add(add)),
        Update::Claim { from, to } => u64::from(if low == from { to } else { low }),
        Update::ClearPair { bit } => old & !(1 << bit | 1 << (bit + 32)),
    }
}

/// What `what` makes of `old`, in 64 bits. Signed and unsigned extremes are not needed on state words.
fn applied(what: Rmw, old: u64, operand: u64) -> u64 {
    let (waiting, notified) = (old as u32, (old >> 32) as u32);
    let pending = waiting & !notified;
    match what {
        Rmw::Add => old.wrapping_add(operand),
        Rmw::Sub => old.wrapping_sub(operand),
        Rmw::And => old & operand,
        Rmw::Nand => !(old & operand),
        Rmw::Or => old | operand,
        Rmw::Xor => old ^ operand,
        Rmw::Swap => operand,
        Rmw::CondvarEnqueue => old | u64::from(waiting.wrapping_add(1) & !waiting),
        Rmw::CondvarNotifySole if pending.is_power_of_two() => old | u64::from(pending) << 32,
        Rmw::CondvarNotifySole => old,
        Rmw::CondvarNotifyPrefer => {
            let preferred = 1_u32.checked_shl(operand as u32).unwrap_or(0) & pending;
            let lowest = pending & pending.wrapping_neg();
            old | u64::from(if preferred != 0 { preferred } else { lowest }) << 32
        }
        Rmw::CondvarNotifyAll => old | u64::from(waiting) << 32,
        Rmw::MaxSigned | Rmw::MinSigned | Rmw::MaxUnsigned | Rmw::MinUnsigned => {
            unreachable!("no state word takes {what:?}")
        }
    }
}

macro_rules! word {
    ($(#[$doc:meta])* $name:ident, $atomic:ident, $int:ident, $width:expr) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub(crate) struct $name($atomic);

        impl $name {
            pub(crate) const fn new(value: $int) -> Self {
                Self($atomic::new(value))
            }

            /// The address by which the engine knows it.
            pub(crate) fn at(&self) -> *mut () {
                self.0.as_ptr().cast()
            }

            #[track_caller]
            #[inline]
            pub(crate) fn load(&self, order: Ordering, label: Label) -> $int {
                match ops::load(self.at(), $width, order, label) {
                    Some(value) => value as $int,
                    None => self.0.load(order),
                }
            }

            #[track_caller]
            #[inline]
            pub(crate) fn rmw(&self, what: Rmw, operand: $int, order: Ordering, label: Label) -> $int {
                match ops::rmw(self.at(), $width, what, u64::from(operand), order, label) {
                    Some(old) => old as $int,
                    None => self.really_rmw(what, operand),
                }
            }

            #[cold]
            #[inline(never)]
            fn really_rmw(&self, what: Rmw, operand: $int) -> $int {
                let new = |old| Some(applied(what, u64::from(old), u64::from(operand)) as $int);
                let old = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, new).expect("`new` is total");
                real::changed(self.at());
                old
            }

            /// A strong compare-exchange.
            #[track_caller]
            #[inline]
            pub(crate) fn compare_exchange(
                &self,
                expected: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
                label: Label,
            ) -> Result<$int, $int> {
                let (from, to) = (u64::from(expected), u64::from(new));
                match ops::compare_exchange(self.at(), $width, from, to, success, failure, false, label) {
                    Some(done) => done.map(|old| old as $int).map_err(|old| old as $int),
                    None => self.really_compare_exchange(expected, new, success, failure),
                }
            }

            #[cold]
            #[inline(never)]
            fn really_compare_exchange(
                &self,
                expected: $int,
                new: $int,
                ok: Ordering,
                failed: Ordering,
            ) -> Result<$int, $int> {
                let done = self.0.compare_exchange(expected, new, ok, failed);
                if done.is_ok() {
                    real::changed(self.at());
                }
                done
            }

            /// Waits until the guard's test holds, updates, and returns the old value.
            #[track_caller]
            #[inline]
            pub(crate) fn wait(&self, guard: Guard, order: Ordering, label: Label) -> $int {
                match ops::wait(self.at(), $width, guard, order, label) {
                    Some(old) => old as $int,
                    None => self.really_wait(guard),
                }
            }

            #[cold]
            #[inline(never)]
            fn really_wait(&self, guard: Guard) -> $int {
                if ops::inert() {
                    return self.attempt(guard).unwrap_or_else(|old| {
                        ops::looked(None);
                        old
                    });
                }
                self.wait_until(guard, None).expect("without a deadline it ends only when the test holds")
            }

            /// Waits for real, for callers that are not under control; `None` when the deadline passed first.
            pub(crate) fn wait_until(&self, guard: Guard, deadline: Option<Instant>) -> Option<$int> {
                let old = real::block(self.at(), deadline, || self.attempt(guard).ok())?;
                real::changed(self.at());
                Some(old)
            }

            fn attempt(&self, guard: Guard) -> Result<$int, $int> {
                self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| {
                    let old = u64::from(old);
                    holds(guard.test, old).then(|| updated(guard.update, old) as $int)
                })
            }
        }
    };
}

word!(
    /// A state word of 32 bits.
    Word32, AtomicU32, u32, Width::W32
);
word!(
    /// A state word of 64 bits.
    Word64, AtomicU64, u64, Width::W64
);

/// What only state words of 32 bits need.
impl Word32 {
    /// The word of which this is the memory.
    pub(crate) fn of(memory: &AtomicU32) -> &Self {
        // SAFETY: a word is nothing but its memory (`repr(transparent)`).
        unsafe { &*ptr::from_ref(memory).cast() }
    }

    /// The memory itself, for what is no event.
    pub(crate) fn raw(&self) -> &AtomicU32 {
        &self.0
    }

    /// The value, through exclusive access: no event.
    pub(crate) fn get_mut(&mut self) -> &mut u32 {
        self.0.get_mut()
    }

    #[track_caller]
    #[inline]
    pub(crate) fn store(&self, value: u32, order: Ordering, label: Label) {
        if !ops::store(self.at(), Width::W32, u64::from(value), order, label) {
            self.really_store(value, order);
        }
    }

    #[cold]
    #[inline(never)]
    fn really_store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
        real::changed(self.at());
    }

    /// As [`wait`](Self::wait); false when nobody can move, and the caller is to look once more for what it waits for (see [`ops::looked`]).
    #[track_caller]
    pub(crate) fn wait_or_look(&self, guard: Guard, order: Ordering, label: Label) -> bool {
        if ops::wait(self.at(), Width::W32, guard, order, label).is_some() {
            return true;
        }
        if !ops::looks_again() {
            self.wait(guard, order, label);
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_takes_the_lowest_clear_bit_and_none_when_all_are_taken() {
        assert_eq!(applied(Rmw::CondvarEnqueue, 0b1011, 0), 0b1111);
        let full = u64::from(u32::MAX);
        assert_eq!(applied(Rmw::CondvarEnqueue, full, 0), full);
    }

    #[test]
    fn only_a_sole_pending_waiter_is_notified_without_a_choice() {
        assert_eq!(applied(Rmw::CondvarNotifySole, 0b100, 0), 0b100 | 0b100 << 32);
        assert_eq!(applied(Rmw::CondvarNotifySole, 0b110, 0), 0b110);
        assert_eq!(applied(Rmw::CondvarNotifySole, 0b110 | 0b010 << 32, 0), 0b110 | 0b110 << 32);
        assert_eq!(applied(Rmw::CondvarNotifySole, 0, 0), 0);
    }

    #[test]
    fn a_preferred_waiter_that_has_gone_is_replaced_by_the_lowest() {
        assert_eq!(applied(Rmw::CondvarNotifyPrefer, 0b110, 2), 0b110 | 0b100 << 32);
        assert_eq!(applied(Rmw::CondvarNotifyPrefer, 0b110, 0), 0b110 | 0b010 << 32);
        assert_eq!(applied(Rmw::CondvarNotifyPrefer, 0, 0), 0);
    }

    #[test]
    fn a_woken_waiter_clears_both_of_its_bits() {
        assert_eq!(updated(Update::ClearPair { bit: 31 }, u64::MAX), !(1 << 31 | 1 << 63));
    }

    #[test]
    fn a_wait_outside_of_a_check_blocks_until_another_thread_makes_its_test_hold() {
        let word = Word32::new(0);
        let guard = Guard { test: Test::Mask { mask: 1, want: 1 }, update: Update::KeepAdd { keep: !1, add: 0 } };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                word.rmw(Rmw::Or, 1, Ordering::Release, Label::Unpark);
            });
            assert_eq!(word.wait(guard, Ordering::Acquire, Label::Park), 1);
        });
        assert_eq!(word.load(Ordering::Relaxed, Label::Park), 0);
    }
}
