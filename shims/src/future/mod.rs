//! Futures without a runtime: [`block_on`], [`join`], [`join_all`], [`AtomicWaker`], and [`waker`]s.
//!
//! Not in std. All are written in terms of this crate's own types, so they are controlled in a checked test, and std's otherwise.

mod atomic_waker;
mod block_on;
mod join;
#[cfg(not(any(mc, feature = "checked")))]
mod signal;
mod waker;

pub use atomic_waker::AtomicWaker;
pub use block_on::block_on;
pub use join::{join, join_all};
pub use waker::{Wake, waker};
