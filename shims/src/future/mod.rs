//! Futures without a runtime: [`block_on`], and [`AtomicWaker`].
//!
//! Not in std. Both are written in terms of this crate's own types, so they are controlled in a checked test, and std's otherwise.

mod atomic_waker;
mod block_on;
#[cfg(not(mc))]
mod signal;

pub use atomic_waker::AtomicWaker;
pub use block_on::block_on;
