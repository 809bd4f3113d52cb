//! The two counts of an `Arc`, and when they are events.
//!
//! Nobody can see a count unless the program asks for it, or dropping the value does something visible: then it matters
//! which owner was the last. Until either has happened for a type, its counts are plain memory, and a drop only leaves
//! its clock, so that the end of the value happens after all of them. The first time that it happens is learned, and the
//! exploration starts again with counts of that type as events, in std's orders. So it does with those of all types where
//! it could be seen who frees a block, by whose address is used again.
//!
//! What is learned belongs to the type with which the block was made: a pointer to it may be unsized later.

use std::any::type_name;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};

use crate::checked::sync::atomic::fence;
use crate::checked::word::Word32;

/// The weak count while a sole owner looks whether it is one.
const LOCKED: u32 = u32::MAX;
/// More owners than this are taken for a leak in a loop.
const MOST: u32 = i32::MAX as u32;

#[repr(C)]
pub(super) struct Counts {
    strong: Word32,
    /// One for all owners together, and one for each `Weak`.
    weak: Word32,
    /// The name of the type.
    name: fn() -> &'static str,
}

/// Was that the last one?
pub(super) enum Last {
    Yes,
    No,
}

impl Counts {
    pub(super) fn new<T: ?Sized>(strong: u32) -> Self {
        Self { strong: Word32::new(strong), weak: Word32::new(1), name: type_name::<T> }
    }

    /// What is learned of the strong counts of the type.
    fn strong_key(&self) -> u64 {
        ops::key_of(self.name as *const () as usize, || key((self.name)()))
    }

    /// What is learned of its weak ones.
    fn weak_key(&self) -> u64 {
        self.strong_key() + 1
    }

    #[inline]
    fn sees_strong(&self) -> bool {
        ops::learned_any() && self.has_learned(0)
    }

    #[inline]
    fn sees_weak(&self) -> bool {
        ops::learned_any() && self.has_learned(1)
    }

    /// Of the strong count, or of the one after it.
    #[inline(never)]
    fn has_learned(&self, which: u64) -> bool {
        ops::learned(ops::OWNER_ORDER) || ops::learned(self.strong_key() + which)
    }

    #[track_caller]
    pub(super) fn add_strong(&self) {
        if self.sees_strong() {
            return self.add_strong_seen();
        }
        limit(add(&self.strong, 1));
    }

    #[track_caller]
    #[inline(never)]
    fn add_strong_seen(&self) {
        limit(self.strong.rmw(Rmw::Add, 1, Relaxed, Label::ArcClone));
    }

    /// The value of a new cycle is in place.
    #[track_caller]
    pub(super) fn begin(&self) {
        if self.sees_strong() {
            self.strong.rmw(Rmw::Add, 1, Release, Label::ArcClone);
        } else {
            add(&self.strong, 1);
        }
    }

    /// An owner goes.
    #[track_caller]
    pub(super) fn release_strong(&self) -> Last {
        if self.sees_strong() {
            return self.release_strong_seen();
        }
        leave(&self.strong)
    }

    #[track_caller]
    #[inline(never)]
    fn release_strong_seen(&self) -> Last {
        let was_last = self.strong.rmw(Rmw::Sub, 1, Release, Label::ArcDrop) == 1;
        if was_last {
            fence(Acquire);
        }
        if was_last { Last::Yes } else { Last::No }
    }

    /// Ends the value by `drop`, after the last owner went.
    #[track_caller]
    pub(super) fn drop_value(&self, drop: &mut dyn FnMut()) {
        if !ops::controlled() || self.sees_strong() {
            return drop();
        }
        let before = ops::activity();
        let clocks = ops::with_clocks(self.strong.at(), size_of::<Word32>());
        let dropped = catch_unwind(AssertUnwindSafe(drop));
        std::mem::drop(clocks);
        if dropped.is_err() || ops::activity() != before {
            self.was_visible(dropped);
        }
    }

    #[cold]
    #[track_caller]
    fn was_visible(&self, dropped: std::thread::Result<()>) {
        if !ops::inert() {
            ops::learn(self.strong_key());
        }
        if let Err(payload) = dropped {
            resume_unwind(payload);
        }
    }

    /// A `Weak` from an owner.
    #[track_caller]
    pub(super) fn add_weak_of_strong(&self) {
        if ops::controlled() && !self.sees_weak() || ops::inert() {
            return limit(add(&self.weak, 1));
        }
        let unlocked = Test::Not { mask: !0, unwanted: LOCKED };
        let guard = Guard { test: unlocked, update: Update::KeepAdd { keep: !0, add: 1 } };
        limit(self.weak.wait(guard, Acquire, Label::ArcClone));
    }

    /// A `Weak` from a `Weak`.
    #[track_caller]
    pub(super) fn add_weak(&self) {
        limit(if self.sees_weak() { self.weak.rmw(Rmw::Add, 1, Relaxed, Label::ArcClone) } else { add(&self.weak, 1) });
    }

    /// A `Weak` goes, or all owners together; after the last the block is freed.
    #[track_caller]
    pub(super) fn release_weak(&self) -> Last {
        if self.sees_weak() {
            return self.release_weak_seen();
        }
        leave(&self.weak)
    }

    #[track_caller]
    #[inline(never)]
    fn release_weak_seen(&self) -> Last {
        let was_last = self.weak.rmw(Rmw::Sub, 1, Release, Label::ArcDrop) == 1;
        if was_last {
            fence(Acquire);
        }
        if was_last { Last::Yes } else { Last::No }
    }

    /// Frees the block by `free`, after the last `Weak` went: all that its owners did happens before.
    pub(super) fn free(&self, free: impl FnOnce()) {
        let _clocks = ops::with_clocks(self.strong.at(), size_of::<Self>());
        free();
    }

    /// A `Weak` becomes an owner, unless there is none any more.
    #[track_caller]
    pub(super) fn upgrade(&self) -> bool {
        ops::learn(self.strong_key());
        let mut count = self.strong.load(Relaxed, Label::ArcObserve);
        while count != 0 {
            limit(count);
            match self.strong.compare_exchange(count, count + 1, Acquire, Relaxed, Label::ArcObserve) {
                Ok(_) => return true,
                Err(found) => count = found,
            }
        }
        false
    }

    #[track_caller]
    pub(super) fn strong_count(&self) -> usize {
        ops::learn(self.strong_key());
        self.strong.load(Relaxed, Label::ArcObserve) as usize
    }

    /// Without the one that all owners hold together.
    #[track_caller]
    pub(super) fn weak_count(&self) -> usize {
        ops::learn(self.weak_key());
        match self.weak.load(Relaxed, Label::ArcObserve) {
            LOCKED => 0,
            count => count as usize - 1,
        }
    }

    /// From one owner to none; false when there are more.
    #[track_caller]
    pub(super) fn claim_sole(&self) -> bool {
        ops::learn(self.strong_key());
        let sole = self.strong.compare_exchange(1, 0, Relaxed, Relaxed, Label::ArcObserve).is_ok();
        if sole {
            fence(Acquire);
        }
        sole
    }

    /// An owner goes and asks whether it was the last.
    #[track_caller]
    pub(super) fn release_observed(&self) -> bool {
        ops::learn(self.strong_key());
        matches!(self.release_strong_seen(), Last::Yes)
    }

    /// Is there one owner and no `Weak`?
    #[track_caller]
    pub(super) fn is_unique(&self) -> bool {
        ops::learn(self.strong_key());
        ops::learn(self.weak_key());
        if self.weak.compare_exchange(1, LOCKED, Acquire, Relaxed, Label::ArcObserve).is_err() {
            return false;
        }
        // No `Weak` can be made meanwhile, so the other owners cannot leave one behind.
        let unique = self.strong.load(Acquire, Label::ArcObserve) == 1;
        self.weak.store(1, Release, Label::ArcObserve);
        unique
    }

    /// For `make_mut`: from one owner to none, and whether there are `Weak`s; `None` when there are more owners.
    #[track_caller]
    pub(super) fn claim_for_change(&self) -> Option<Claimed> {
        ops::learn(self.strong_key());
        ops::learn(self.weak_key());
        self.strong.compare_exchange(1, 0, Acquire, Relaxed, Label::ArcObserve).ok()?;
        if self.weak.load(Relaxed, Label::ArcObserve) != 1 {
            return Some(Claimed::WithWeak);
        }
        self.strong.store(1, Release, Label::ArcObserve);
        Some(Claimed::Unique)
    }

    /// The strong count of a `Weak`.
    #[track_caller]
    pub(super) fn weak_count_of_weak(&self) -> usize {
        ops::learn(self.strong_key());
        ops::learn(self.weak_key());
        let weak = self.weak.load(Acquire, Label::ArcObserve);
        let strong = self.strong.load(Relaxed, Label::ArcObserve);
        match (strong, weak) {
            (0, _) => 0,
            (_, LOCKED) => 0,
            (_, weak) => weak.max(1) as usize - 1,
        }
    }
}

/// What [`Counts::claim_for_change`] found.
pub(super) enum Claimed {
    /// Nobody else reaches the value; the owner is one again.
    Unique,
    /// The strong count is 0; the block belongs to the `Weak`s.
    WithWeak,
}

/// Adds to a count that is no event; returns what it was.
#[inline(always)]
fn add(count: &Word32, by: i32) -> u32 {
    let word = count.raw();
    if !ops::is_of_execution(count.at()) {
        return word.fetch_add(by as u32, AcqRel);
    }
    // Only its threads have it, and they run one at a time: a locked instruction would take as long as twenty others.
    let old = word.load(Relaxed);
    word.store(old.wrapping_add_signed(by), Relaxed);
    old
}

/// A plain decrement. Whoever is not the last leaves its clock for the last.
fn leave(count: &Word32) -> Last {
    if add(count, -1) == 1 {
        return Last::Yes;
    }
    ops::leave_clock(count.at());
    Last::No
}

/// Ends the process, as std does, before a count can overflow.
fn limit(old: u32) {
    if old > MOST && old != LOCKED {
        std::process::abort();
    }
}

/// FNV-1a; even, so that the next number is not the key of another type.
#[cold]
fn key(name: &str) -> u64 {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    hash & !1
}
