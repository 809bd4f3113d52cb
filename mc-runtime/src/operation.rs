//! What an event does: its operation with its operands, and the pure functions that give a read-modify-write its result.
//!
//! A revisit evaluates these functions again with another old value, so they may depend on nothing else.

use crate::ops::{Guard, Label, Rmw, Test, Update, Width};
use std::mem::offset_of;
use std::sync::atomic::Ordering;

/// The memory ordering of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Order {
    /// `Relaxed`
    Relaxed,
    /// `Acquire`
    Acquire,
    /// `Release`
    Release,
    /// `AcqRel`
    AcqRel,
    /// `SeqCst`
    SeqCst,
}

impl Order {
    /// Does it have acquire semantics?
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Does it have release semantics?
    pub(crate) fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// Of reads: does one of this ordering forbid nothing that one of the other in its place would allow?
    pub(crate) fn asks_no_more_than(self, other: Order) -> bool {
        (!self.acquires() || other.acquires()) && (self != Order::SeqCst || other == Order::SeqCst)
    }
}

impl From<Ordering> for Order {
    fn from(order: Ordering) -> Self {
        match order {
            Ordering::Relaxed => Order::Relaxed,
            Ordering::Acquire => Order::Acquire,
            Ordering::Release => Order::Release,
            Ordering::AcqRel => Order::AcqRel,
            _ => Order::SeqCst,
        }
    }
}

/// What an operation is. First what writes, then what reads and perhaps writes, then what has no location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)] // or the tag would be hidden in what a variant carries, and be decoded wherever it is asked for
pub(crate) enum Code {
    /// A write of `a`.
    Store,
    /// A read.
    Load,
    /// A read-modify-write with operand `a`.
    Rmw(Rmw),
    /// Writes `b` if the old value is `a`; otherwise it is a read.
    CompareExchange,
    /// A compare-exchange in a loop that goes on until it succeeds: waits until the value is `a`, then writes `b`. (Found out: what is asked for is a compare-exchange.)
    AwaitExchange,
    /// Waits for a test (`a`), then updates (`b`).
    Guarded(TestCode, UpdateCode),
    /// Comes to a barrier of `a` places: waits while all are taken, then takes one. Which of those that meet came first is no choice.
    Arrive,
    /// Waits until a barrier has left the generation `a`; reads who ended it.
    Pass,
    /// Waits until no writer holds a reader-writer lock, then joins its readers: they have no order (see `graph::readers`). Reads who left it to them.
    ReadLock,
    /// Leaves the readers.
    ReadUnlock,
    /// Waits until nobody holds a reader-writer lock, and takes it.
    WriteLock,
    /// A fence.
    Fence,
    /// A data choice among `a` values.
    Choose,
    /// Starts the thread in slot `value`; its twin is the one in slot `a - 1`, if `a` is not 0.
    Spawn,
    /// Waits for the end of the thread in slot `a`.
    Join,
    /// The thread stops here: `a` is a [`BlockReason`], `b` the number of reads of the last round of a spin loop, perhaps with [`BY_CHANCE`] or [`UNDONE`].
    Block,
}

/// In the round before a thread stops, a weak compare-exchange has failed for no reason, as it does not for ever.
pub(crate) const BY_CHANCE: u32 = 1 << 31;

/// The round that led nowhere has undone what it did.
pub(crate) const UNDONE: u32 = 1 << 30;

/// In [`Code::Block`]: no round is repeated, but the thread has read what another execution shows as well (`explore::values`).
pub(crate) const NO_ROUND: u32 = BY_CHANCE;

/// Why a thread stops for good at a `Block` event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum BlockReason {
    /// `assume` of something false.
    Assume,
    /// A spin loop whose round had no effect.
    Spin,
}

/// The kind of a [`Test`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum TestCode {
    Bit,
    Mask,
    Not,
    Range,
}

/// The kind of an [`Update`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum UpdateCode {
    KeepAdd,
    Claim,
    ClearPair,
}

/// An operation with its operands.
#[derive(Clone, Copy, Debug, Eq)]
#[repr(C)] // made of its parts as they are, see `Kind`
pub(crate) struct Operation {
    /// First operand, see [`Code`].
    pub a: u64,
    /// Second operand.
    pub b: u64,
    /// What it is.
    pub code: Code,
    /// Its ordering.
    pub order: Order,
    /// That of a failed compare-exchange.
    pub failure: Order,
    /// The width of the location.
    pub width: Width,
    /// What it is to the user.
    pub label: Label,
}

/// An operation without its operands: one word, which goes in a register. All of its bytes have a value: where one had none, what stands there could go from one round of a loop to the next, and no
/// round would be like another.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct Kind {
    code: [u8; size_of::<Code>()],
    order: Order,
    failure: Order,
    width: Width,
    label: Label,
    rest: u8,
}

/// An operation in two parts.
#[repr(C)]
struct Parts {
    operands: [u64; 2],
    kind: Kind,
}

/// Is a field of [`Operation`] where it is in its [`Parts`]?
macro_rules! same_place {
    ($($field:ident)*) => {
        $(const _: () = assert!(offset_of!(Operation, $field) == offset_of!(Parts, kind) + offset_of!(Kind, $field));)*
    };
}
same_place!(code order failure width label);
const _: () = assert!(offset_of!(Operation, a) == 0 && offset_of!(Operation, b) == 8 && size_of::<Operation>() == 24);
const _: () = assert!(size_of::<Kind>() == 8 && size_of::<Code>() == 3);

impl Kind {
    #[inline(always)]
    pub(crate) fn of(operation: &Operation) -> Self {
        let Operation { code, order, failure, width, label, .. } = *operation;
        Kind { code: code.bytes(), order, failure, width, label, rest: 0 }
    }

    #[inline(always)]
    pub(crate) fn operation(self, a: u64, b: u64) -> Operation {
        // SAFETY: both are `repr(C)`, with the same fields at the same places (`same_place`); the bytes of the code are those of one.
        unsafe { std::mem::transmute::<Parts, Operation>(Parts { operands: [a, b], kind: self }) }
    }
}

/// The bit of the writer in the word of a reader-writer lock. The rest counts readers: in a write of such a word, the writer itself, if that is a reader then.
pub(crate) const WRITER: u64 = 1 << 31;

/// The part of a barrier's word that counts who has come; the rest is the generation.
pub(crate) const ARRIVALS: u64 = 0xffff;

fn pair(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn halves(x: u64) -> (u32, u32) {
    ((x >> 32) as u32, x as u32)
}

impl Code {
    /// Its tag and what it carries, 0 where that is nothing.
    #[inline(always)]
    fn bytes(self) -> [u8; size_of::<Code>()] {
        let (first, second) = match self {
            Code::Rmw(rmw) => (rmw as u8, 0),
            Code::Guarded(test, update) => (test as u8, update as u8),
            _ => (0, 0),
        };
        // SAFETY: the tag of a `repr(u8)` type is its first byte.
        let tag = unsafe { *std::ptr::from_ref(&self).cast::<u8>() };
        [tag, first, second]
    }

    /// What its thread has asked for.
    #[inline(always)]
    pub(crate) fn asked(self) -> Self {
        if self == Code::AwaitExchange { Code::CompareExchange } else { self }
    }
}

impl PartialEq for Operation {
    /// What is most often different first; the rest at once.
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        (self.a, self.b) == (other.a, other.b) && self.code == other.code && self.details() == other.details()
    }
}

impl Operation {
    /// How it is done, and on what.
    #[inline(always)]
    pub(crate) fn details(&self) -> [u8; 4] {
        let Operation { a: _, b: _, code: _, order, failure, width, label } = *self;
        [order as u8, failure as u8, width as u8, label as u8]
    }

    /// An operation without operands or location.
    pub(crate) fn plain(code: Code) -> Self {
        let order = Order::Relaxed;
        Operation { a: 0, b: 0, code, order, failure: order, width: Width::W64, label: Label::Atomic }
    }

    /// A guarded read-modify-write.
    pub(crate) fn guarded(guard: Guard, width: Width, order: Order, label: Label) -> Self {
        let (test, a) = match guard.test {
            Test::Bit { bit, set } => (TestCode::Bit, pair(u32::from(bit), u32::from(set))),
            Test::Mask { mask, want } => (TestCode::Mask, pair(mask, want)),
            Test::Not { mask, unwanted } => (TestCode::Not, pair(mask, unwanted)),
            Test::Range { lo, hi } => (TestCode::Range, pair(lo as u32, hi as u32)),
        };
        let (update, b) = match guard.update {
            Update::KeepAdd { keep, add } => (UpdateCode::KeepAdd, pair(keep, add)),
            Update::Claim { from, to } => (UpdateCode::Claim, pair(from, to)),
            Update::ClearPair { bit } => (UpdateCode::ClearPair, u64::from(bit)),
        };
        Operation { a, b, code: Code::Guarded(test, update), order, failure: order, width, label }
    }

    /// Does it choose whether a weak compare-exchange fails for no reason?
    #[inline]
    pub(crate) fn chooses_weak(&self) -> bool {
        self.code == Code::Choose && self.label == Label::SpuriousFailure
    }

    /// Is it a choice of `value` that a round of a loop may make, and the next one just as well?
    #[inline]
    pub(crate) fn may_repeat(&self, value: u64) -> bool {
        self.code == Code::Choose
            && match self.label {
                Label::SpuriousFailure => true,
                Label::SpuriousWakeup => value == 0,
                Label::TimeOut => value != 0,
                _ => false,
            }
    }

    /// The ordering that counts: that of the failure for a compare-exchange that does not write.
    pub(crate) fn order(&self, writes: bool) -> Order {
        if self.code == Code::CompareExchange && !writes { self.failure } else { self.order }
    }

    /// Does it read, write or update a location?
    pub(crate) fn has_location(&self) -> bool {
        self.code == Code::Store || self.reads()
    }

    /// Does it read a location, perhaps to update it?
    pub(crate) fn reads(&self) -> bool {
        matches!(
            self.code,
            Code::Load
                | Code::Rmw(_)
                | Code::CompareExchange
                | Code::AwaitExchange
                | Code::Guarded(..)
                | Code::Arrive
                | Code::Pass
                | Code::ReadLock
                | Code::ReadUnlock
                | Code::WriteLock
        )
    }

    /// Does it lock a reader-writer lock?
    pub(crate) fn locks(&self) -> bool {
        matches!(self.code, Code::ReadLock | Code::WriteLock)
    }

    /// Is it none of those that an atomic type has?
    pub(crate) fn is_of_shim(&self) -> bool {
        !matches!(self.code, Code::Store | Code::Load | Code::Rmw(_) | Code::CompareExchange | Code::AwaitExchange)
    }

    /// Does it belong to the meeting of threads at a barrier? There is one way to add such an event.
    pub(crate) fn meets(&self) -> bool {
        matches!(self.code, Code::Arrive | Code::Pass)
    }

    /// Are there values as long as which it waits?
    pub(crate) fn may_wait(&self) -> bool {
        matches!(self.code, Code::Guarded(..) | Code::AwaitExchange) || self.meets() || self.locks()
    }

    /// Does it wait as long as the value is `old`?
    pub(crate) fn must_wait(&self, old: u64) -> bool {
        let test = match self.code {
            Code::Guarded(test, _) => test,
            Code::AwaitExchange => return old != self.a,
            Code::Arrive => return old & ARRIVALS == self.a,
            Code::Pass => return old & !ARRIVALS == self.a,
            Code::ReadLock | Code::WriteLock => return old & WRITER != 0,
            _ => return false,
        };
        let (x, y) = halves(self.a);
        !match test {
            TestCode::Bit => (old >> x & 1) as u32 == y,
            TestCode::Mask => old as u32 & x == y,
            TestCode::Not => old as u32 & x != y,
            TestCode::Range => (x as i32..=y as i32).contains(&(old as u32 as i32)),
        }
    }

    /// What a read-modify-write that reads `old` writes; `None` when it only reads.
    pub(crate) fn result(&self, old: u64) -> Option<u64> {
        match self.code {
            Code::Rmw(rmw) => Some(modify(rmw, old, self.a, self.width)),
            Code::CompareExchange | Code::AwaitExchange => (old == self.a).then_some(self.b),
            Code::Guarded(..) | Code::Arrive if self.must_wait(old) => None,
            Code::Arrive => Some(old + 1),
            Code::WriteLock => (!self.must_wait(old)).then_some(WRITER),
            Code::Guarded(_, update) => {
                let (x, y) = halves(self.b);
                let low = old as u32;
                let high = old & !0xffff_ffff;
                Some(match update {
                    UpdateCode::KeepAdd => high | u64::from((low & x).wrapping_add(y)),
                    UpdateCode::Claim => high | u64::from(if low == x { y } else { low }),
                    UpdateCode::ClearPair => old & !(0x1_0000_0001 << self.b),
                })
            }
            _ => None,
        }
    }
}

fn modify(rmw: Rmw, old: u64, operand: u64, width: Width) -> u64 {
    let waiting = old as u32;
    let notified = (old >> 32) as u32;
    let deaf = waiting & !notified;
    let notify = |bits: u32| old | u64::from(bits) << 32;
    let lowest = |bits: u32| bits & bits.wrapping_neg();
    let signed = |x: u64| {
        let unused = 64 - bits(width);
        (x << unused) as i64 >> unused
    };
    let new = match rmw {
        Rmw::Add => old.wrapping_add(operand),
        Rmw::Sub => old.wrapping_sub(operand),
        Rmw::And => old & operand,
        Rmw::Nand => !(old & operand),
        Rmw::Or => old | operand,
        Rmw::Xor => old ^ operand,
        Rmw::Swap => operand,
        Rmw::MaxSigned => {
            if signed(old) >= signed(operand) {
                old
            } else {
                operand
            }
        }
        Rmw::MinSigned => {
            if signed(old) <= signed(operand) {
                old
            } else {
                operand
            }
        }
        Rmw::MaxUnsigned => old.max(operand),
        Rmw::MinUnsigned => old.min(operand),
        Rmw::CondvarEnqueue => old | u64::from(lowest(!waiting)),
        Rmw::CondvarNotifySole => {
            if deaf.count_ones() == 1 {
                notify(deaf)
            } else {
                old
            }
        }
        Rmw::CondvarNotifyPrefer => {
            let preferred = 1u32.checked_shl(operand as u32).unwrap_or(0) & deaf;
            notify(if preferred != 0 { preferred } else { lowest(deaf) })
        }
        Rmw::CondvarNotifyAll => notify(waiting),
    };
    new & (u64::MAX >> (64 - bits(width)))
}

fn bits(width: Width) -> u32 {
    8 << width as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rmw(rmw: Rmw, old: u64, operand: u64, width: Width) -> u64 {
        modify(rmw, old, operand, width)
    }

    #[test]
    fn arithmetic_wraps_in_the_width_of_the_location() {
        assert_eq!(rmw(Rmw::Add, 0xff, 1, Width::W8), 0);
        assert_eq!(rmw(Rmw::Sub, 0, 1, Width::W16), 0xffff);
        assert_eq!(rmw(Rmw::Nand, 0, 0, Width::W32), 0xffff_ffff);
    }

    #[test]
    fn signed_extremes_compare_by_sign() {
        assert_eq!(rmw(Rmw::MaxSigned, 0xff, 1, Width::W8), 1); // -1 < 1
        assert_eq!(rmw(Rmw::MinSigned, 0xff, 1, Width::W8), 0xff);
        assert_eq!(rmw(Rmw::MaxUnsigned, 0xff, 1, Width::W8), 0xff);
    }

    #[test]
    fn notify_one_prefers_the_chosen_waiter_and_falls_back_to_the_lowest() {
        let two_wait = 0b11;
        assert_eq!(rmw(Rmw::CondvarNotifySole, two_wait, 0, Width::W64), two_wait);
        assert_eq!(rmw(Rmw::CondvarNotifySole, 0b10, 0, Width::W64), 0b10 | 0b10 << 32);
        assert_eq!(rmw(Rmw::CondvarNotifyPrefer, two_wait, 1, Width::W64), two_wait | 0b10 << 32);
        let second_notified = two_wait | 0b10 << 32;
        assert_eq!(rmw(Rmw::CondvarNotifyPrefer, second_notified, 1, Width::W64), two_wait | 0b11 << 32);
    }

    #[test]
    fn a_guard_waits_until_its_test_holds() {
        let guard = Guard { test: Test::Mask { mask: 1, want: 0 }, update: Update::KeepAdd { keep: !0, add: 1 } };
        let lock = Operation::guarded(guard, Width::W32, Order::Acquire, Label::MutexLock);
        assert_eq!((lock.must_wait(0), lock.result(0)), (false, Some(1)));
        assert_eq!((lock.must_wait(1), lock.result(1)), (true, None));
    }

    #[test]
    fn a_range_is_signed() {
        let guard =
            Guard { test: Test::Range { lo: -1, hi: 9 }, update: Update::KeepAdd { keep: !0, add: -5i32 as u32 } };
        let wait = Operation::guarded(guard, Width::W32, Order::Relaxed, Label::Atomic);
        assert_eq!(wait.result(-1i32 as u32 as u64), Some(-6i32 as u32 as u64));
        assert!(wait.must_wait(-2i32 as u32 as u64));
    }
}
