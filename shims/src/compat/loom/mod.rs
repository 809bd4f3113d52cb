//! loom's names (0.7, and so 0.5), over this crate's types: a suite that was written for loom runs unchanged.
//!
//! The packages in `shims/loom-compat` give these names to a crate that depends on loom, by a `[patch]`; `cargo mc test --loom`
//! does that without an edit.
//!
//! # Where it differs from loom
//! - **What is explored.** Each class of executions once, under C++20 without load buffering; `SeqCst` accesses are, and a proof needs no bound.
//!   So [`model::Builder`]'s `preemption_bound` is not needed and not used, and [`stop_exploring`], [`explore`] and [`skip_branch`] do nothing:
//!   what they would leave out is explored too.
//! - **Time-outs** of `Condvar::wait_timeout` and `Receiver::recv_timeout` fire or do not fire, loom's never do; `compare_exchange_weak` may
//!   fail spuriously; [`sync::Barrier`] and `recv_timeout` work, in loom they panic.
//! - **Spurious wake-ups.** [`sync::Notify::wait`] may end without a notification as often as `spurious_wakeups` allows each thread (once, if nobody says
//!   otherwise), and so may `Condvar::wait` and `park`. In loom, only the first does, once for each `Notify`, and another thread that can go on
//!   makes a step before its own does.
//! - **Memory.** As in loom, what must be freed is what is made by `loom::sync::Arc`, `loom::alloc` and `Track`; an access after the free of any memory is
//!   found, but that a free comes too early by the order of events alone only where no `std::sync::Arc` is at work, whose counts are not seen.
//! - **`lazy_static!`** values are dropped when all threads have ended; in loom when the first has, and a use after that fails.

pub mod alloc;
pub mod cell;
pub mod lazy_static;
pub mod model;
pub mod sync;
pub mod thread;

pub use crate::__loom_lazy_static as lazy_static;
pub use crate::__loom_thread_local as thread_local;
#[doc(inline)]
pub use model::model;

/// How many threads loom allows in a model. Here there may be more.
pub const MAX_THREADS: usize = 5;

/// `loom::future`.
pub mod future {
    pub use crate::future::{AtomicWaker, block_on};
}

/// `loom::hint`.
pub mod hint {
    pub use crate::hint::{spin_loop, unreachable_unchecked};
}

/// In loom, exploration goes on from here. Here it was never stopped.
pub fn explore() {}

/// In loom, what comes from here on is not explored. Here it is.
pub fn stop_exploring() {}

/// In loom, what comes from here on is not explored in this execution. Here it is.
pub fn skip_branch() {}

/// `loom::thread_local!`: as std's.
#[doc(hidden)]
#[macro_export]
macro_rules! __loom_thread_local {
    ($($declarations:tt)*) => { $crate::thread_local! { $($declarations)* } };
}
