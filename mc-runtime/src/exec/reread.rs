//! Reads after which a thread goes on as if an earlier one had seen what they see: `Err(newer) => old = newer`.
//!
//! The round in between has led nowhere, and the execution in which the earlier read sees the newer value is another one. So the thread stops there, as after a round that comes back to equal operands (`spin`).
//! Whether a read is one of these is tried, each time: when the thread comes to what follows, it is put back to where the earlier read was, whose answer is the newer value now, and has to come to the same
//! operation in the same state. Where it does not, this is noted for the two places in the code, and the exploration starts again.
//! The argument is in `docs/reductions.md`.

use super::access::Accessed;
use super::spin::{Arrival, Round, copy, is_equal};
use super::state::{Around, Frame, image, own, put_back};
use super::{Engine, Step};
use crate::graph::event::Event;
use crate::operation::{Code, Operation, Order};
use crate::place::Place;

/// Where the two reads stand in the code.
type Pair = [Place; 2];

/// The pairs that are known to be such, or not to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Rereads {
    known: Vec<Pair>,
    refuted: Vec<Pair>,
}

impl Rereads {
    /// Are there any?
    pub(super) fn any(&self) -> bool {
        !self.known.is_empty()
    }

    /// Does one of them begin here?
    pub(super) fn begins_at(&self, site: Place) -> bool {
        self.known.iter().any(|[first, _]| *first == site)
    }
}

/// The running thread goes on from an earlier read.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// Which pair is tried, and how many reads the round has.
    tried: Option<(Pair, usize)>,
    /// What it came to before it was put back, and in which state. As long as the latter can be said.
    asked: Option<(usize, Operation)>,
    own: Vec<u8>,
}

impl Probe {
    /// Does it?
    #[inline(always)]
    pub(super) fn runs(&self) -> bool {
        self.tried.is_some()
    }

    /// It is over.
    pub(super) fn stop(&mut self) {
        self.tried = None;
    }

    /// Something was done on the way whose traces are in no state.
    pub(super) fn forget(&mut self) {
        self.asked = None;
    }
}

impl Engine {
    /// The running thread comes to a read whose place it has come to before, and the last read was of what was read before. Has the round led nowhere?
    #[inline(never)]
    pub(super) fn reread(&mut self, arrival: Arrival<'_>) -> Option<Step<Accessed>> {
        #[cfg(feature = "unmodified")]
        if crate::instrumentation::is_on() {
            return None; // plain accesses on the way would be told of twice
        }
        let graph = &self.explorer.graph;
        let me = self.me_ref();
        let (events, next) = graph.thread(self.current).split_at(me.position);
        // In a replay, it is known whether the thread stops here; but not whether it has gone on since it keeps this round.
        let matters = next.first().is_none_or(|e| self.loops.touched.keeps_one && e.operation.code != Code::Block);
        // A weak compare-exchange that is next has chosen by now.
        let last = events.iter().rev().find(|event| !event.chooses_weak()).filter(|_| matters)?;
        if !self.loops.leaves_retries_out() || self.heap.is_none() || last.writes || !last.reads() {
            return None;
        }
        let value = graph.value(last.location, last.rf);
        let (reads, pair) = self.earlier(&arrival, last, value)?;
        if !self.loops.rereads.known.contains(&pair) {
            self.loops.rereads.known.push(pair);
            return Some(self.start_again());
        }
        self.find_shared();
        let earlier = self.me_ref().rounds.recent().nth(reads - 1)?;
        // Nothing that is compared must have changed but its stack, whose end says where the thread was resumed from.
        let same_end = earlier.image.last_chunk::<LINK>() == image(arrival.frame, self.stack.base).last_chunk();
        if earlier.image.is_empty() || !same_end || !is_equal(&earlier.shared, |look| self.shared.all(look)) {
            return None;
        }
        let dead = self.loops.dead(arrival.frame.code);
        copy(&mut self.probe.own, |look| own(arrival.frame, dead, self.stack.base, look));
        (self.probe.tried, self.probe.asked) = (Some((pair, reads)), Some(arrival.asked));
        Some(Step::Done(Accessed { old: value, wrote: false }))
    }

    /// The latest earlier read that could have seen this value, and was followed by what the thread comes to now: how many reads there were since, itself included.
    fn earlier(&self, arrival: &Arrival<'_>, last: &Event, value: u64) -> Option<(usize, Pair)> {
        let rounds = || self.me_ref().rounds.recent();
        let newest = rounds().next().filter(|newest| newest.asked.1 == last.operation)?;
        let follows = |next: &Round| (next.site, next.stack) == (Some(arrival.site), arrival.frame.stack());
        let mut pairs = rounds().zip(rounds().skip(1)).enumerate().filter(|(_, (next, _))| follows(next));
        pairs.find_map(|(back, (_, earlier))| {
            let pair = [earlier.site?, newest.site?];
            let fits = !earlier.by_chance
                && earlier.stack == arrival.frame.stack()
                && earlier.asked.0 == newest.asked.0
                && could_be(&earlier.asked.1, &last.operation, value);
            (fits && !self.loops.rereads.refuted.contains(&pair)).then_some((back + 2, pair))
        })
    }

    /// The running thread was answered what it came to before: it is where it was at the earlier read.
    #[inline(never)]
    pub(super) fn begin_probe(&mut self, frame: &mut Frame) {
        let Some((_, reads)) = self.probe.tried else { return };
        if let Some(earlier) = self.me_ref().rounds.recent().nth(reads - 1) {
            // SAFETY: the frame of the earlier read was at this address (`earlier` compares it), and the caller's functions are all that has run on this part of the stack.
            unsafe { put_back(frame, &earlier.image) };
        }
    }

    /// It comes to an access from there. Is that the same, in the same state? Then it stops.
    #[cold]
    pub(super) fn end_probe(&mut self, at: usize, operation: &Operation, frame: &Frame) -> Option<Step<Accessed>> {
        let (_, reads) = self.probe.tried?;
        self.find_shared();
        let dead = self.loops.dead(frame.code);
        let around = Around { base: self.stack.base, shared: &self.shared };
        let earlier = self.me_ref().rounds.recent().nth(reads - 1)?;
        let frees = self.heap.as_ref().is_some_and(|heap| !heap.freed.is_empty() || heap.double_free.is_some());
        let is_same = !frees
            && self.probe.asked == Some((at, self.as_modelled(operation)))
            && is_equal(&self.probe.own, |look| own(frame, dead, around.base, look))
            && is_equal(&earlier.shared, |look| around.shared.all(look));
        if !is_same {
            return Some(self.fails_probe());
        }
        self.probe.stop();
        if self.leaves_out(reads as u32) {
            let me = self.me();
            me.repeats = Some(me.rounds.in_vain(reads as u32));
        }
        None
    }

    /// It does something else.
    #[cold]
    pub(super) fn fails_probe<T>(&mut self) -> Step<T> {
        if let Some((pair, _)) = self.probe.tried.take() {
            self.loops.rereads.known.retain(|known| *known != pair);
            self.loops.rereads.refuted.push(pair);
        }
        self.start_again()
    }
}

/// How many bytes at the end of a stack at most are a coroutine's link to what has resumed it.
const LINK: usize = 32;

/// Could the operation `earlier` have read this value as the last one has, without an effect? It must not forbid more than that.
fn could_be(earlier: &Operation, last: &Operation, value: u64) -> bool {
    let is_read = |o: &Operation| matches!(o.code, Code::Load | Code::CompareExchange);
    let (before, after) = (earlier.order(false), last.order(false));
    let is_weaker = (!before.acquires() || after.acquires()) && (before != Order::SeqCst || after == Order::SeqCst);
    // Under x86, a compare-exchange that fails is a fence too.
    let is_no_fence = earlier.code == Code::Load || last.code == Code::CompareExchange;
    is_read(earlier)
        && is_read(last)
        && earlier.width == last.width
        && earlier.label == last.label
        && earlier.result(value).is_none()
        && is_weaker
        && is_no_fence
}
