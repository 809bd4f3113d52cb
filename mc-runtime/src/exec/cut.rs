//! How an execution is cut short: it failed, or something was learned, and its threads are given up or unwind.

use super::thread::State;
use super::{Engine, Found, Step};
use crate::graph::Site;
use crate::hooks;
use crate::ids::ThreadId;
use crate::outcome::{FailureKind, Spot};
use crate::place::is_of_toolchain;
use crate::trace::site_of;

impl Engine {
    /// Are threads of a cut execution given up where they are? All that they own is in the arenas, and goes with them. (Unwinding would run destructors
    /// that find nothing as they left it: one that asserts would end the process.) Without arenas, they are unwound.
    pub(crate) fn abandons(&self) -> bool {
        self.heap.is_some()
    }

    /// How an operation of a cut execution goes on.
    #[cold]
    pub(super) fn cut_step<T>(&mut self) -> Step<T> {
        const PATIENCE: u32 = 100;
        const INERT: u32 = 1_000_000;
        let abandons = self.abandons();
        // Where another thread is suspended in the middle of unwinding, this one is given up like any.
        let unwinding = std::thread::panicking() && (!abandons || self.current_is_unwinding());
        let me = self.me();
        if unwinding || me.only_inert {
            me.inert += 1;
            if me.inert > INERT {
                me.state = State::Abandoned;
                self.tainted = true;
                return Step::Wait;
            }
            return Step::Inert;
        }
        me.raised += 1;
        if abandons || me.raised > PATIENCE {
            me.state = State::Abandoned;
            return Step::Wait;
        }
        Step::Cut
    }

    /// The execution fails here.
    #[cold]
    pub(crate) fn fail<T>(&mut self, kind: FailureKind, message: String, site: Site) -> Step<T> {
        #[cfg(feature = "unmodified")]
        let site = self.placed(site);
        let site = site.filter(|s| !is_of_toolchain(s.file())).map(|s| (s.file().to_owned(), s.line()));
        self.record(Found { kind, message, thread: self.current(), site });
        self.cut_step()
    }

    /// The execution fails, and is cut as soon as its threads notice.
    #[cold]
    pub(crate) fn record(&mut self, found: Found) {
        self.close();
        if self.failure.is_none() && !self.restart {
            // A panic is seen where it was raised, but for one that is only handed on.
            if found.kind != FailureKind::Panic || !hooks::has_stopped() {
                hooks::stop_debugger(self, &found.message);
            }
            self.failure = Some(found);
        }
        self.cutting = true;
    }

    /// Was the last execution stopped where it reached out of the test? It may hold what no other can take then: locks of std's own.
    pub(crate) fn has_reached_outside(&self) -> bool {
        self.failure.as_ref().is_some_and(|found| found.kind == FailureKind::Uncontrolled)
    }

    /// The execution has as many events as it may have.
    #[cold]
    pub(super) fn stop_too_long<T>(&mut self) -> Step<T> {
        (self.too_long, self.cutting) = (true, true);
        self.cut_step()
    }

    /// Who made the most events of the execution.
    #[cold]
    pub(crate) fn busiest(&self) -> Spot {
        let graph = &self.explorer.graph;
        let left_out = |thread| self.left_out.made().iter().filter(|made| made.thread == thread).count();
        let made = |thread: &ThreadId| graph.thread(*thread).len() + left_out(*thread);
        let thread = self.threads().max_by_key(made).unwrap_or(ThreadId::MAIN);
        let mut places = graph.thread(thread).iter().rev().filter_map(|event| event.site);
        let place = places.find(|place| !is_of_toolchain(place.file()));
        Spot { thread: self.thread_name(thread), site: place.map(site_of) }
    }

    /// Something was learned: this execution is cut, and the exploration starts again.
    #[cold]
    pub(super) fn start_again<T>(&mut self) -> Step<T> {
        self.restart = true;
        self.cutting = true;
        self.cut_step()
    }
}
