//! `std::thread`, checked.

pub use std::thread::Result;

pub use builder::{Builder, spawn};
pub use current::{current, panicking};
pub use handle::{Thread, ThreadId};
pub use join::JoinHandle;
pub use local::{AccessError, LocalKey};
#[expect(deprecated, reason = "std still has it")]
pub use park::park_timeout_ms;
pub(in crate::checked) use park::{has_token_of_park, may_use_token};
pub use park::{park, park_timeout};
pub use scoped::{Scope, ScopedJoinHandle, scope};
#[expect(deprecated, reason = "std still has it")]
pub use sleep::sleep_ms;
pub use sleep::{available_parallelism, sleep, yield_now};

mod builder;
mod code;
pub(crate) mod current;
mod handle;
mod join;
mod launch;
mod local;
mod local_cells;
mod local_macro;
pub(crate) mod locals;
mod park;
mod scoped;
mod sleep;
