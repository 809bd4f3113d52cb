//! What shims say about an operation: width, update, guard, and what it is to the user.

/// The width of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Width {
    /// 8 bits
    W8,
    /// 16 bits
    W16,
    /// 32 bits
    W32,
    /// 64 bits
    W64,
}

impl Width {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::W8 => 1,
            Self::W16 => 2,
            Self::W32 => 4,
            Self::W64 => 8,
        }
    }
}

/// What a read-modify-write does with the old value. All wrap, in the width of the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rmw {
    /// `old + operand`
    Add,
    /// `old - operand`
    Sub,
    /// `old & operand`
    And,
    /// `!(old & operand)`
    Nand,
    /// `old | operand`
    Or,
    /// `old ^ operand`
    Xor,
    /// `operand`
    Swap,
    /// The greater, both taken as signed.
    MaxSigned,
    /// The lesser, both taken as signed.
    MinSigned,
    /// The greater, both taken as unsigned.
    MaxUnsigned,
    /// The lesser, both taken as unsigned.
    MinUnsigned,
    /// A waiter joins: sets the lowest clear bit of the low half (of a 64-bit word), none when all 32 are set.
    CondvarEnqueue,
    /// Sets the high-half bit of the only waiter that has none yet; nothing when there are none or several.
    CondvarNotifySole,
    /// Sets the high-half bit of waiter `operand` if it waits and has none yet, else of the lowest such waiter, if any.
    CondvarNotifyPrefer,
    /// Sets the high-half bit of every waiter.
    CondvarNotifyAll,
}

/// The condition of a guarded read-modify-write over a 32- or 64-bit state word. A pure function of the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// `old & (1 << bit) == (set as u64) << bit`
    Bit {
        /// Which bit.
        bit: u8,
        /// Whether it must be set.
        set: bool,
    },
    /// `old & mask == want` (on the low 32 bits)
    Mask {
        /// The bits that are looked at.
        mask: u32,
        /// What they must be.
        want: u32,
    },
    /// `old & mask != unwanted` (on the low 32 bits)
    Not {
        /// The bits that are looked at.
        mask: u32,
        /// What they must not be.
        unwanted: u32,
    },
    /// `lo <= old <= hi`, signed 32-bit.
    Range {
        /// Lowest value.
        lo: i32,
        /// Highest value.
        hi: i32,
    },
}

/// What a guarded read-modify-write writes once its test holds. A pure function of the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// `(old & keep) + add`, 32 bits.
    KeepAdd {
        /// The bits that stay.
        keep: u32,
        /// What is added.
        add: u32,
    },
    /// `to` if old is `from`, otherwise old.
    Claim {
        /// The value that is replaced.
        from: u32,
        /// By this one.
        to: u32,
    },
    /// Clears bit `bit` and bit `bit + 32`: a woken waiter leaves a condition variable's word.
    ClearPair {
        /// The lower bit.
        bit: u8,
    },
}

/// A guarded read-modify-write: the thread waits until `test` holds for the old value, then writes `update` of it, in one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// When it may go on.
    pub test: Test,
    /// What it then writes.
    pub update: Update,
}

/// In the word of a channel: there is no receiver any more.
pub const RECEIVER_GONE: u64 = 1;
/// What is found in the place of a channel's next message where there will be none.
pub const NO_MESSAGE: u64 = 2;

/// What an operation is to the user, for traces and for the explanation of a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is named after the method, std's where it is one")]
pub enum Label {
    Atomic,
    MutexLock,
    MutexTryLock,
    MutexUnlock,
    RwLockRead,
    RwLockTryRead,
    RwLockReadUnlock,
    RwLockWrite,
    RwLockTryWrite,
    RwLockWriteUnlock,
    RwLockDowngrade,
    CondvarEnqueue,
    CondvarWait,
    CondvarWaitTimeout,
    CondvarTimeout,
    CondvarNotifyOne,
    CondvarNotifyAll,
    BarrierArrive,
    BarrierWait,
    OnceCall,
    OnceComplete,
    OnceGet,
    Park,
    ParkTimeout,
    Unpark,
    BlockOn,
    Wake,
    ArcClone,
    ArcDrop,
    ArcObserve,
    ThreadFinished,
    ThreadDone,
    ChannelSend,
    ChannelSent,
    ChannelRecv,
    ChannelTryRecv,
    ChannelRoom,
    ChannelPlace,
    ChannelClone,
    ChannelDrop,
    ChannelGone,
    SpuriousWakeup,
    SpuriousFailure,
    TimeOut,
    AddressReuse,
    ChannelClosed,
    ChannelEmptied,
}
