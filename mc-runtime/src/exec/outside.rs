//! What a test does outside of itself: real input and output, real waits, threads that are not under control.

use super::{Engine, Found, Step};
use crate::outcome::FailureKind;
use crate::symbols;
use libc::c_int;

/// What is known of it.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// What the only thread did there in this execution.
    by_main: Option<Found>,
    /// Whether one did so in any execution.
    pub ever: bool,
    /// What this execution has open.
    files: Vec<c_int>,
}

/// May the running thread reach out of the test?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// It is the only one so far.
    Alone,
    /// That failed the execution; it must not go on.
    Refused,
}

impl Outside {
    /// Another execution begins.
    pub(super) fn reset(&mut self) {
        self.by_main = None;
        for file in self.files.drain(..) {
            // SAFETY: the execution that has opened it is over, and has not closed it.
            unsafe { libc::close(file) };
        }
    }
}

impl Engine {
    /// The running thread is about to do something there.
    pub(crate) fn reach_out(&mut self, what: &str, makes_thread: bool) -> Reached {
        let message = if makes_thread {
            format!("{what} makes a thread that is not under control\n{SHIMMED}")
        } else {
            format!("{what} reaches out of the test, and what others do meanwhile is in no execution\n{ALONE}")
        };
        let found = Found { kind: FailureKind::Uncontrolled, message, thread: self.current, site: symbols::caller() };
        if makes_thread || self.explorer.graph.ranks().len() > 1 {
            self.record(found);
            return Reached::Refused;
        }
        self.outside.ever = true;
        self.outside.by_main.get_or_insert(found);
        if let Some(heap) = &mut self.heap {
            heap.watches_calls = false;
        }
        Reached::Alone
    }

    /// The running thread is about to call a function by which the C library orders threads; whether it must not, for there are others.
    pub(crate) fn shares_with_c(&mut self, function: &str) -> bool {
        let refused = self.explorer.graph.ranks().len() > 1;
        if refused {
            let message =
                format!("`{function}` orders threads, or makes them wait, and is not under control\n{SHIMMED}");
            self.record(Found {
                kind: FailureKind::Uncontrolled,
                message,
                thread: self.current,
                site: symbols::caller(),
            });
        }
        refused
    }

    /// The running thread is about to spawn another: fails if it has reached out before.
    pub(super) fn has_reached_out<T>(&mut self) -> Option<Step<T>> {
        let found = self.outside.by_main.take()?;
        self.record(found);
        Some(self.cut_step())
    }

    /// The running thread has opened a file.
    pub(crate) fn open_file(&mut self, file: c_int) {
        self.outside.files.push(file);
    }

    /// It is about to close one.
    pub(crate) fn close_file(&mut self, file: c_int) {
        self.outside.files.retain(|open| *open != file);
    }
}

const SHIMMED: &str =
    "Threads and locks of std are, and so are futexes. Code that has others cannot be checked as it is.";
const ALONE: &str =
    "A test with one thread may do that. In one with more, leave it out, or take what it does as given.";
