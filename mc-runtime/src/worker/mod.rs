//! Worker processes: a test binary that was started with [`ENVIRONMENT`](crate::message::ENVIRONMENT) set runs one task and speaks [`Message`](crate::message::Message)s.
//!
//! The protocol is one JSON object a line on the worker's standard output. Before `main`, the worker moves that pipe out of
//! the way and points its own standard output at its standard error, so that nothing a body prints gets into the protocol:
//! the client gives `/dev/null` as standard error for a check, and its own for a replay that may print.

pub(crate) mod crash;
pub(crate) mod models;
mod replay;
mod server;

use crate::options::Options;
#[cfg(feature = "unmodified")]
use crate::options::Origin;
pub(crate) use replay::retrace;
use server::STOP;
#[cfg(feature = "unmodified")]
pub(crate) use server::cannot_begin;
pub use server::run_test;

/// Set in the environment of a worker whose executions do not go on from snapshots, because the process before it crashed or hung in one that did.
pub(crate) const NO_SNAPSHOTS: &str = "MC_NO_SNAPSHOTS";

/// Before executions run on the calling thread of the operating system.
pub(crate) fn prepare_thread(options: &Options) {
    crash::use_signal_stack();
    #[cfg(feature = "unmodified")]
    if options.origin == Origin::Unmodified {
        crate::system_calls::watch();
    }
    #[cfg(not(feature = "unmodified"))]
    let _ = options;
}
