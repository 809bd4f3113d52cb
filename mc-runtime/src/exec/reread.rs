//! Reads after which a thread goes on as if an earlier one had seen what they see: `Err(newer) => old = newer`.
//!
//! The round in between has led nowhere, and the execution in which the earlier read sees the newer value is another one. So the thread stops there, as after a round that comes back to equal operands (`spin`).
//! Whether a read is one of these is tried, each time: when the thread comes to what follows, it is put back to where the earlier read was, whose answer is the newer value now, and has to come to the same
//! operation in the same state. Where it does not, this is noted for these three places in the code, and the exploration starts again.
//! The argument is in `docs/reductions.md`.

use super::access::Accessed;
use super::probe::{Path, Way};
use super::round::{Arrival, Round};
use super::state::Frame;
use super::{Engine, Step};
use crate::graph::event::Event;
use crate::operation::{Code, Operation};

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
        let (events, next) = graph.thread(self.current()).split_at(me.position);
        // In a replay, it is known whether the thread stops here; but not whether it has gone on since it keeps this round.
        let goes_on = next.first().map_or(graph.has_ended(self.current()), |e| e.operation.code != Code::Block);
        let matters = if goes_on { self.loops.touched.keeps_one } else { next.is_empty() };
        // A weak compare-exchange that is next has chosen by now.
        let last = events.iter().rev().find(|event| !event.chooses_weak()).filter(|_| matters)?;
        if !self.loops.leaves_retries_out() || self.heap.is_none() || last.writes || !last.reads() {
            return None;
        }
        let value = graph.value(last.location, last.rf);
        let (reads, path) = self.earlier(&arrival, last, value)?;
        self.try_way((Way::Newer, path, reads), value, arrival)
    }

    /// The last so many reads of the running thread have led nowhere.
    pub(super) fn repeats_reads(&mut self, reads: u32, frame: &Frame) -> Option<Step<Accessed>> {
        if self.leaves_out(reads) {
            let me = self.me();
            let reads = me.rounds.in_vain(reads);
            (me.comes_back, me.repeats) = (false, Some(reads));
            return self.was_in_vain(reads, frame).then_some(Step::Wait);
        }
        None
    }

    /// The latest earlier read that could have seen this value, and was followed by what the thread comes to now, or by the last read: how many reads there were since, itself included.
    fn earlier(&self, arrival: &Arrival<'_>, last: &Event, value: u64) -> Option<(usize, Path)> {
        let rounds = || self.me_ref().rounds.recent();
        let newest = rounds().next().filter(|newest| newest.asked.1 == last.operation)?;
        let follows = |next: &Round| (next.site, next.stack) == (Some(arrival.site), arrival.frame.stack());
        let may_be = |(back, (next, _)): &(usize, (&Round, &Round))| *back == 0 || follows(next);
        let mut pairs = rounds().zip(rounds().skip(1)).enumerate().filter(may_be);
        pairs.find_map(|(back, (_, earlier))| {
            let path = [earlier.site?, newest.site?, arrival.site];
            let fits = !earlier.by_chance
                && earlier.stack == arrival.frame.stack()
                && earlier.asked.0 == newest.asked.0
                && could_be(&earlier.asked.1, &last.operation, value);
            (fits && !self.loops.rereads.is_refuted(path)).then_some((back + 2, path))
        })
    }
}

/// Could the operation `earlier` have read this value as the last one has, without an effect? It must not forbid more than that.
fn could_be(earlier: &Operation, last: &Operation, value: u64) -> bool {
    let is_read = |o: &Operation| matches!(o.code, Code::Load | Code::CompareExchange);
    // Under x86, a compare-exchange that fails is a fence too.
    let is_no_fence = earlier.code == Code::Load || last.code == Code::CompareExchange;
    is_read(earlier)
        && is_read(last)
        && earlier.width == last.width
        && earlier.label == last.label
        && earlier.result(value).is_none()
        && earlier.order(false).asks_no_more_than(last.order(false))
        && is_no_fence
}
