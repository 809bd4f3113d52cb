//! What a test does outside of itself: real input and output, real waits, threads that are not under control.

use super::{Engine, Found, Step};
use crate::ids::ThreadId;
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
    files: Vec<File>,
}

/// A file that is open. Where it is read next is shared by all who read it.
#[derive(Debug)]
struct File {
    number: c_int,
    /// Who has read last, or opened it, and after how many of its events.
    last: (ThreadId, u32),
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
            unsafe { libc::close(file.number) };
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
        let found = self.uncontrolled(message);
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
            self.record(self.uncontrolled(message));
        }
        refused
    }

    fn uncontrolled(&self, message: String) -> Found {
        Found { kind: FailureKind::Uncontrolled, message, thread: self.current(), site: symbols::caller() }
    }

    /// The running thread is about to spawn another: fails if it has reached out before.
    pub(super) fn has_reached_out<T>(&mut self) -> Option<Step<T>> {
        let found = self.outside.by_main.take()?;
        self.record(found);
        Some(self.cut_step())
    }

    /// The running thread has opened a file.
    pub(crate) fn open_file(&mut self, number: c_int) {
        let last = (self.current(), self.me().position as u32);
        self.outside.files.push(File { number, last });
    }

    /// It is about to read one, or to go to another place in it; whether the execution has opened it, and everybody who did so before happens before.
    pub(crate) fn moves_in_file(&mut self, number: c_int) -> bool {
        let Some(at) = self.outside.files.iter().position(|file| file.number == number) else { return false };
        let (thread, events) = self.outside.files[at].last;
        let ordered = self.is_ordered(thread, events, 0);
        self.close();
        let me = self.me();
        me.rounds.clear(); // the place in the file is no part of a state
        let events = me.position as u32;
        self.outside.files[at].last = (self.current(), events);
        ordered
    }

    /// It is about to close one.
    pub(crate) fn close_file(&mut self, file: c_int) {
        self.outside.files.retain(|open| open.number != file);
    }
}

const SHIMMED: &str =
    "Threads and locks of std are, and so are futexes. Code that has others cannot be checked as it is.";
const ALONE: &str =
    "A test with one thread may do that. In one with more, leave it out, or take what it does as given.";
