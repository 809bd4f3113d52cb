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
use crate::ids::{LocationId, ThreadId};
use crate::operation::{Code, Operation, Order};
use crate::ops::{Label, Rmw, Width};
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
    /// Of those of one kind, of a thread at an address from one place in the code, the last.
    lasts: Vec<Last>,
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
struct Last {
    at: usize,
    size: usize,
    /// `None` for a load.
    kind: Option<Rmw>,
    thread: ThreadId,
    /// How many events that thread had made before, and how many clocks had been left.
    events: u32,
    left: u32,
    place: Place,
}

impl Last {
    fn overlaps(&self, at: usize, size: usize) -> bool {
        at < self.at + self.size && self.at < at + size
    }

    fn is_in(&self, range: (usize, usize)) -> bool {
        (range.0..range.1).contains(&self.at)
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
        self.lasts.clear();
        self.fenced = false;
    }

    /// Makes what was left out of the execution what it was then.
    pub(super) fn copy_from(&mut self, other: &Self) {
        copy_fields!(LeftOut, other => self; made, lasts, fenced but off, ordered);
    }

    /// Starts with what another check of the same test has learned.
    pub(super) fn take_knowledge(&mut self, other: &Self) {
        self.off |= other.off;
        self.ordered.clone_from(&other.ordered);
    }

    /// Was anything in the range accessed?
    pub(super) fn any_in(&self, range: (usize, usize)) -> bool {
        self.lasts.iter().any(|l| l.is_in(range))
    }

    /// The memory is freed.
    pub(super) fn forget(&mut self, range: (usize, usize)) {
        self.lasts.retain(|l| !l.is_in(range));
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
        !self.off && self.suits(operation, site) && loops.is_unused(frame.code, frame.stack(), base)
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
    #[inline(never)]
    pub(super) fn leave_out(&mut self, at: usize, operation: &Operation, site: Site) -> Step<Accessed> {
        let Some(place) = site.filter(|_| !self.left_out.fenced) else { return self.stop_leaving_out() };
        let (kind, size) = (kind(operation.code), operation.width.bytes());
        let (events, left) = (self.me_ref().position as u32, self.left.made());
        let new = Last { at, size, kind, thread: self.current(), events, left, place };
        let same = |l: &Last| (l.at, l.size, l.kind, l.thread, l.place) == (at, size, kind, new.thread, place);
        let known = self.left_out.lasts.iter().position(same);
        // A loop that only loads may wait for ever, which is seen of events.
        let repeats = known.is_some_and(|known| kind.is_none() && self.left_out.lasts[known].events == events);
        if repeats || self.order_shows(at, size, kind) {
            return self.order(at, size, site);
        }
        if self.explorer.graph.len() as u64 + self.left_out.made.len() as u64 >= self.options.max_events {
            return self.stop_too_long();
        }
        or_return!(self.touch_left_out(at, operation, site));
        self.locations.meet(at, operation.width);
        or_return!(self.mixes_sizes());
        self.left_out.made.push(Made { before: self.order.len(), thread: self.current(), code: operation.code });
        match known {
            Some(known) => self.left_out.lasts[known] = new,
            None => self.left_out.lasts.push(new),
        }
        let old = if kind.is_some() {
            self.me().rounds.clear();
            self.locations.update(at, operation, self.heap.as_deref_mut())
        } else {
            self.locations.read_at(at, operation.width)
        };
        // With the axioms, whoever reads it nevertheless is found out.
        let old = if cfg!(feature = "axioms") { !old } else { old };
        Step::Done(Accessed { old, wrote: kind.is_some() })
    }

    /// What every access of an atomic does: is its memory alive, and known to the thread, and does that outlive the execution?
    fn touch_left_out<T>(&mut self, at: usize, operation: &Operation, site: Site) -> Option<Step<T>> {
        self.close();
        if let Some(step) = self.acts(true) {
            return Some(step);
        }
        if let Some(step) = self.is_between_joins() {
            return Some(step);
        }
        let step = self.touches(at, operation.width.bytes());
        if step.is_some() {
            return step;
        }
        self.me().activity += 1;
        let block = self.heap.as_mut().and_then(|h| h.watch(at));
        if self.is_freed(at, block) {
            return Some(self.access_freed(at, operation, site));
        }
        if let Some(maker) = block.and_then(|b| self.unordered((ThreadId(b.slot), b.events))) {
            return Some(self.uninitialised(maker, "read", site));
        }
        let old = self.locations.read_at(at, operation.width);
        if operation.result(old).is_some_and(|new| new != old) && block.is_none() && self.is_kept_outside(at) {
            return Some(self.outlived(site));
        }
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            self.touch_between_events(at, operation.width.bytes(), operation.code != Code::Load, site);
            return self.cutting.then(|| self.cut_step());
        }
        None
    }

    /// An access that is an event begins. Does it find out in which order something was done that is none? Then the exploration starts again.
    #[inline]
    pub(super) fn looks_at_updates<T>(&mut self, at: usize, width: Width, site: Site) -> Option<Step<T>> {
        if self.left_out.lasts.is_empty() { None } else { self.looks_at_lasts(at, width.bytes(), site) }
    }

    #[inline(never)]
    fn looks_at_lasts<T>(&mut self, at: usize, size: usize, site: Site) -> Option<Step<T>> {
        let shows = self.last_shows(at, size, |l| (l.at, l.size, l.kind) == (at, size, None));
        shows.then(|| self.order(at, size, site))
    }

    /// Likewise, of an access that is not atomic.
    pub(super) fn looks_plainly<T>(&mut self, at: usize, size: usize) -> Option<Step<T>> {
        self.last_shows(at, size, |_| false).then(|| self.order(at, size, None))
    }

    /// Likewise, of a fence that acquires: it synchronises with what the updates before it have read from.
    pub(super) fn fences_updates<T>(&mut self, operation: &Operation) -> Option<Step<T>> {
        self.left_out.fenced |= operation.code == Code::Fence && operation.order.acquires();
        (self.left_out.fenced && !self.left_out.made.is_empty()).then(|| self.stop_leaving_out())
    }

    #[cold]
    fn stop_leaving_out<T>(&mut self) -> Step<T> {
        self.left_out.off = true;
        self.start_again()
    }

    /// From now on what was done to this memory without an event has one, and what is done at `site`, too.
    #[cold]
    fn order<T>(&mut self, at: usize, size: usize, site: Site) -> Step<T> {
        let here = self.left_out.lasts.iter().filter(|l| l.overlaps(at, size)).map(|l| l.place);
        self.left_out.ordered.extend(here.chain(site));
        self.start_again()
    }

    /// Would it show in which order this was done, and something else that the execution has done so far? `kind`: of update; a load has none.
    fn order_shows(&self, at: usize, size: usize, kind: Option<Rmw>) -> bool {
        let unordered = |(location, same): (LocationId, bool)| {
            let mut accesses = self.explorer.graph.accesses(location).filter(|id| self.executed(*id));
            let waits = |t: &super::Thread| t.waiting.is_some_and(|w| w.location == location);
            // A load sees whatever it may see, and nobody sees it.
            (kind.is_some() || !same)
                && (self.threads.iter().any(waits) || accesses.any(|id| !self.is_event_ordered(id)))
        };
        let commutes =
            |l: &Last| (l.at, l.size) == (at, size) && (kind.is_none() || l.kind.is_none_or(|k| Some(k) == kind));
        self.last_shows(at, size, commutes)
            || self.locations.sharing_bytes(at, size).any(unordered)
            || self.unsync_between(at, size)
    }

    /// The same of what was left out among them, but for what commutes.
    #[inline(never)]
    fn last_shows(&self, at: usize, size: usize, commutes: impl Fn(&Last) -> bool) -> bool {
        let shows = |l: &&Last| l.overlaps(at, size) && !commutes(l);
        self.left_out.lasts.iter().filter(shows).any(|l| !self.is_ordered(l.thread, l.events, l.left))
    }

    /// Who has accessed this memory, which is freed, without an event and without an order, and where.
    pub(super) fn unordered_left_out(&self, range: (usize, usize)) -> Option<(ThreadId, Site)> {
        let mut here = self.left_out.lasts.iter().filter(|l| l.is_in(range));
        here.find(|l| !self.is_ordered(l.thread, l.events, l.left)).map(|l| (l.thread, Some(l.place)))
    }
}
