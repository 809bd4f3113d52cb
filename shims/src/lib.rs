//! std's concurrency under its own names, for `cargo mc test` to check under every schedule and every value that the memory
//! model allows:
//!
//! ```
//! use mc::sync::atomic::{AtomicUsize, Ordering};
//! use mc::sync::{Arc, Mutex};
//! use mc::thread;
//! # let (_, _, _) = (Arc::new(Mutex::new(AtomicUsize::new(0))), Ordering::SeqCst, thread::current());
//! ```
//!
//! Without `--cfg mc` these names *are* std's. With it (set by `cargo mc`, which builds in a directory of its own) they are
//! checked types, which outside of a checked test still do what std's do.
//!
//! With the feature `parking_lot`, `mc::parking_lot` is that crate, or its checked types. The package in `shims/parking_lot-compat` stands in
//! for it by `[patch]`, for dependencies.
//!
//! What is here beyond std: [`test`](macro@test), [`shim`](macro@shim), [`choose`], [`choose_from`], [`assume`], [`unsize!`],
//! [`cell::UnsafeCell`] with accesses that can be checked, and [`future`].
//!
//! # Where a checked type differs
//! - [`sync::Arc`] does not turn into `Arc<dyn Trait>` by itself, and is no receiver (`self: Arc<Self>`): stable Rust lets std
//!   alone do that. `Arc::from(Box::new(x) as Box<dyn Trait>)` and `mc::unsize!(x, dyn Trait)` work with both.
//! - [`cell::Cell`]'s `get` and `replace` are not `const`.
//! - [`sync::mpsc`] promises the order that std documents: a send before the receive of its message, and both ways for a channel of capacity 0. Room in a
//!   bounded channel orders nothing.
//! - [`time::Instant`] and [`time::SystemTime`] are virtual: only waiting moves them.
//! - A [`sync::Condvar`] has room for 32 waiters under control, a [`sync::Barrier`] is for fewer than 65,536 threads.

mod choice;
pub mod future;
mod test_macro;
#[cfg(feature = "unmodified")]
#[doc(hidden)]
pub mod unmodified;
mod unsize;

#[doc(hidden)]
pub mod __private;

#[cfg(any(mc, feature = "checked"))]
mod checked;
#[cfg(all(any(mc, feature = "checked"), feature = "lock_api"))]
pub use checked::parking_lot;
#[cfg(any(mc, feature = "checked"))]
pub use checked::{cell, hint, sync, thread, time};

#[cfg(any(mc, feature = "checked"))]
pub mod compat;

#[cfg(not(any(mc, feature = "checked")))]
pub mod cell;
#[cfg(not(any(mc, feature = "checked")))]
pub use std::{hint, sync, thread, thread_local, time};

#[cfg(all(not(any(mc, feature = "checked")), feature = "parking_lot"))]
pub use ::parking_lot;

pub use choice::{Integer, Range, assume, choose, choose_from};
pub use mc_macros::{shim, test};

#[cfg(all(any(mc, feature = "checked"), feature = "allocator"))]
#[global_allocator]
static ALLOCATOR: mc_runtime::Allocator = mc_runtime::Allocator;
