//! Concurrent structures of the kind that people publish, written for std and checked by `cargo mc test`.
//!
//! Each module is one structure, with tests that are small enough to be explored completely. What it needs of the memory model
//! is a type parameter: [`Correct`], or a mistake that somebody once published, with its source. A test of a mistake says which
//! failure must be found, so a checker that misses it fails.

pub mod arc;
pub mod chase_lev;
pub mod clh_lock;
pub mod futex_mutex;
pub mod hazard;
pub mod mcs_lock;
pub mod mpmc;
pub mod ms_queue;
pub mod once_cell;
pub mod rcu;
pub mod seqlock;
pub mod spsc_ring;
pub mod ticket_lock;
pub mod treiber;

#[cfg(test)]
mod failing_set;

/// The structure as it should be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Correct;
