//! Operations whose result nobody reads, and whose place among others shows nowhere: updates that commute, and loads. They are no events.
//!
//! An update changes memory at once. That is right as long as everything else that is done to the address is ordered with it, which is looked at on both sides: where an
//! update is made, and where anything else is (as for plain accesses, see `unsync`). What finds the order of updates out is learned, by the place in the
//! code, and the exploration starts again, with events. The argument is in `docs/reductions.md`.

use super::access::Accessed;
use super::spin::Loops;
use super::state::Frame;
use super::{Engine, Guide, Step};
use crate::graph::Site;
use crate::ids::ThreadId;
use crate::operation::{Code, Operation, Order};
use crate::ops::{Label, Rmw};
use crate::options::{MemoryModel, Options};
use crate::place::Place;

/// What was left out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// No more of it.
    off: bool,
    /// Places in the code of updates whose order shows.
    ordered: Vec<Place>,
    /// All of the running execution.
    made: Vec<Made>,
    /// Of the updates of a thread at an address from one place in the code, the last.
    updates: Vec<Update>,
    /// Whether there was a fence that acquires.
    fenced: bool,
}

/// An operation that is no event, for who follows the execution with all events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// How many events had been executed before.
    pub before: usize,
    pub thread: ThreadId,
    pub code: Code,
}

#[derive(Clone, Copy, Debug)]
struct Update {
    at: usize,
    size: usize,
    kind: Rmw,
    thread: ThreadId,
    /// How many events that thread had made before, and how many clocks had been left.
    events: u32,
    left: u32,
    place: Place,
}

impl Update {
    fn overlaps(&self, at: usize, size: usize) -> bool {
        at < self.at + self.size && self.at < at + size
    }
}

/// Updates of the same kind commute.
fn kind(code: Code) -> Option<Rmw> {
    match code {
        Code::Rmw(Rmw::Add | Rmw::Sub) => Some(Rmw::Add),
        Code::Rmw(
            what @ (Rmw::And
            | Rmw::Or
            | Rmw::Xor
            | Rmw::MaxSigned
            | Rmw::MinSigned
            | Rmw::MaxUnsigned
            | Rmw::MinUnsigned),
        ) => Some(what),
        _ => None,
    }
}

impl LeftOut {
    pub(super) fn new(options: &Options) -> Self {
        let off = !options.reductions.unused || options.memory_model != MemoryModel::Rc20;
        LeftOut { off, ..LeftOut::default() }
    }

    pub(super) fn reset(&mut self) {
        self.made.clear();
        self.updates.clear();
        self.fenced = false;
    }

    /// Starts with what another check of the same test has learned.
    pub(super) fn take_knowledge(&mut self, other: &Self) {
        self.off |= other.off;
        self.ordered.clone_from(&other.ordered);
    }

    /// In the order in which they were made.
    pub(crate) fn made(&self) -> &[Made] {
        &self.made
    }

    /// Could the operation be left out, if nobody reads its result?
    fn suits(&self, operation: &Operation, site: Site) -> bool {
        let possible = match operation.code {
            Code::Load => operation.order == Order::Relaxed,
            // What it releases is for who acquires from it, and that is ordered anyway.
            code => matches!(operation.order, Order::Relaxed | Order::Release) && kind(code).is_some(),
        };
        possible && operation.label == Label::Atomic && site.is_some_and(|s| !self.ordered.contains(&s))
    }

    /// Does nobody read the result of an operation that returns to this frame? The running stack ends at `base`.
    pub(super) fn leaves_out(
        &self,
        loops: &mut Loops,
        operation: &Operation,
        site: Site,
        frame: &Frame,
        base: usize,
    ) -> bool {
        !self.off && self.suits(operation, site) && loops.is_unused(frame.code, frame.stack, base)
    }
}

impl Engine {
    /// Is it to be done without an event?
    #[inline]
    pub(super) fn is_left_out(&mut self, operation: &Operation, site: Site, frame: &Frame) -> bool {
        let explores = !matches!(self.guide, Guide::Follow(_));
        explores && self.left_out.leaves_out(&mut self.loops, operation, site, frame, self.stack.base)
    }

    /// Does it.
    pub(super) fn leave_out(&mut self, at: usize, operation: &Operation, site: Site) -> Step<Accessed> {
        if self.left_out.fenced {
            return self.stop_leaving_out();
        }
        let Some(place) = site else { return self.stop_leaving_out() };
        let (kind, size) = (kind(operation.code), operation.width.bytes());
        if let Some(kind) = kind
            && self.order_shows(at, size, Some(kind))
        {
            return self.order_updates(at, size, Some(place));
        }
        if self.explorer.graph.len() as u64 + self.left_out.made.len() as u64 >= self.options.max_events {
            (self.too_long, self.cutting) = (true, true);
            return self.cut_step();
        }
        match self.touch_unused(at, operation, site) {
            Step::Done(()) => {}
            Step::Wait => return Step::Wait,
            Step::Inert => return Step::Inert,
            Step::Cut => return Step::Cut,
        }
        let (thread, before) = (self.current, self.order.len());
        // With the axioms, whoever reads it nevertheless is found out.
        let result = |old: u64| if cfg!(feature = "axioms") { !old } else { old };
        self.left_out.made.push(Made { before, thread, code: operation.code });
        let heap = self.heap.as_deref_mut();
        let Some(kind) = kind else {
            let old = self.locations.read_at(at, operation.width);
            return Step::Done(Accessed { old: result(old), wrote: false });
        };
        let old = self.locations.update(at, operation, heap);
        self.me().rounds.clear();
        let (events, left) = (self.me_ref().position as u32, self.left.made());
        let new = Update { at, size, kind, thread, events, left, place };
        let same = |u: &&mut Update| (u.at, u.size, u.thread, u.place) == (at, size, thread, place);
        match self.left_out.updates.iter_mut().find(same) {
            Some(update) => *update = new,
            None => self.left_out.updates.push(new),
        }
        Step::Done(Accessed { old: result(old), wrote: true })
    }

    /// What any access does that is not plain: looks for those that it races with.
    fn touch_unused(&mut self, at: usize, operation: &Operation, site: Site) -> Step<()> {
        if self.outlives_at(at) && operation.code != Code::Load {
            return self.outlived(site);
        }
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            self.close();
            self.me().activity += 1;
            self.touch_between_events(at, operation.width.bytes(), operation.code != Code::Load, site);
            return if self.cutting { self.cut_step() } else { Step::Done(()) };
        }
        let what = if operation.code == Code::Load { "load" } else { "update" };
        let until = (self.me().position, self.left.made());
        self.cell_until(at, operation.width.bytes(), false, what, until, site)
    }

    /// An access that is an event begins. Does it find out in which order updates were made? Then the exploration starts again.
    #[inline]
    pub(super) fn looks_at_updates<T>(&mut self, at: usize, size: usize, site: Site) -> Option<Step<T>> {
        let shows = !self.left_out.updates.is_empty() && self.update_shows(at, size, None);
        shows.then(|| self.order_updates(at, size, site))
    }

    /// Likewise, of a fence that acquires: it synchronises with what the updates before it have read from.
    pub(super) fn fences_updates<T>(&mut self, operation: &Operation) -> Option<Step<T>> {
        self.left_out.fenced |= operation.code == Code::Fence && operation.order.acquires();
        (self.left_out.fenced && !self.left_out.made.is_empty()).then(|| self.stop_leaving_out())
    }

    fn stop_leaving_out<T>(&mut self) -> Step<T> {
        self.left_out.off = true;
        self.start_again()
    }

    /// From now on the updates of this memory are events, and what is done at `site`, too.
    fn order_updates<T>(&mut self, at: usize, size: usize, site: Site) -> Step<T> {
        let here = self.left_out.updates.iter().filter(|u| u.overlaps(at, size)).map(|u| u.place);
        self.left_out.ordered.extend(here.chain(site));
        self.start_again()
    }

    /// Would it show in which order an update of this kind was made, and something else that the execution has done so far?
    fn order_shows(&self, at: usize, size: usize, kind: Option<Rmw>) -> bool {
        let unordered = |location| {
            let mut accesses = self.explorer.graph.accesses(location).filter(|id| self.executed(*id));
            let waits = |t: &super::Thread| t.waiting.is_some_and(|w| w.location == location);
            self.threads.iter().any(waits) || accesses.any(|id| !self.is_event_ordered(id))
        };
        self.update_shows(at, size, kind)
            || self.locations.sharing_bytes(at, size).any(unordered)
            || self.unsync_between(at, size)
    }

    /// The same of the updates among them.
    fn update_shows(&self, at: usize, size: usize, kind: Option<Rmw>) -> bool {
        let commutes = |u: &Update| (u.at, u.size, Some(u.kind)) == (at, size, kind);
        let shows = |u: &&Update| u.overlaps(at, size) && !commutes(u);
        self.left_out.updates.iter().filter(shows).any(|u| !self.is_ordered(u.thread, u.events, u.left))
    }
}
