//! Tests that were written for no checker: what stands in for libtest calls this (`cargo mc test --std`).

pub(crate) mod pthread;

use crate::exec::Engine;
use crate::instrumentation;
use crate::models::{self, Bounds};
use crate::ops;
use crate::options::Threads;
use crate::outcome::Outcome;
use crate::{symbols, worker};
use std::ffi::CStr;

/// What the crates of this process have for std.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Std {
    /// The checker's types, by a facade.
    Checked,
    /// The toolchain's own, instrumented.
    Real,
}

/// Gets this process ready. `checker`: the names of the crates that the checker itself is made of; statics of all others start afresh in each execution.
/// `folder`: where the sources of its types are; what they do to memory is not looked at.
///
/// Ends the process when that cannot be done, and says why.
pub fn begin(checker: &[&str], folder: &'static str, std: Std) {
    symbols::set_checker(folder);
    if std == Std::Real {
        instrumentation::set_std();
    }
    if let Err(message) = crate::exec::tested_data::remember(checker) {
        worker::cannot_begin(message);
    }
}

/// What have they?
pub fn std() -> Std {
    if instrumentation::is_on_in_std() { Std::Real } else { Std::Checked }
}

/// The calling thread is about to call, from code at this address, a function by which the C library orders threads or makes them wait. Where others run, that fails the
/// execution, and the thread goes no further. What shared libraries do among themselves, such as the unwinder, is their own.
pub fn reach_out(function: &CStr, from: usize) {
    let refused = |e: &mut Engine| e.shares_with_c(&function.to_string_lossy());
    if ops::runs_test() && symbols::is_linked(from) && ops::with_engine(refused) == Some(true) {
        ops::stop_for_good();
    }
}

/// Checks a test, as [`models::check`] does a model.
///
/// # Panics
/// As that.
#[track_caller]
pub fn check(body: impl Fn() + Send + Sync + 'static) -> Outcome {
    let (replay, threads) = if instrumentation::is_on_in_std() {
        ("cargo mc replay --std=real", Some(Threads::Os)) // std keeps much in thread-locals
    } else {
        ("cargo mc replay --std", None)
    };
    models::check(Bounds { unmodified: true, replay: Some(replay), threads, ..Bounds::default() }, body)
}
