//! What rounds of loops that are left out have touched.
//!
//! That a round is left out loses no outcome. But an access that only it makes might race with one of another thread, which comes to that only by what the first thread does afterwards, and is not ordered
//! by it: the execution that ends with the round does not have the second access, and the one without the round not the first. So accesses that are made after events of another
//! thread without an order are noted, and what rounds that are left out touch, in all executions. Where both touch the same, one such round is kept: between two events with an effect, the first one is no more left
//! out, and the exploration starts again. The argument is in `docs/reductions.md`.

use super::parts::Parts;
use super::{Engine, Step};
use crate::ids::{EventId, ThreadId};
use crate::operation::BY_CHANCE;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Of all executions since the exploration began, by words of eight bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    /// By rounds that were left out.
    left_out: BTreeSet<usize>,
    /// By accesses that are not ordered after all that led to them.
    unordered: FxHashSet<usize>,
    /// Memory that was freed so: where it begins and ends.
    freed: BTreeMap<usize, usize>,
    /// Are there atomics that have bytes in common with one of another size? What follows is known only then.
    pub mixes: bool,
    /// Atomics that rounds loaded which were left out.
    parts_left_out: Parts,
    /// Those of accesses that are not ordered after all that led to them.
    parts_unordered: Parts,
    /// Is the first round kept?
    pub keeps_one: bool,
    /// Do reads stay, after which memory is accessed that others access, too, without an order?
    pub keeps_reads: bool,
}

impl Touched {
    /// A round that touches this is left out. Does it matter? What is known already has been asked about.
    pub(super) fn leave_out(&mut self, at: usize, size: usize) -> bool {
        words(at, size).any(|word| self.left_out.insert(word) && self.is_unordered(word))
    }

    /// Was the word touched, or freed, without an order?
    #[inline(never)]
    fn is_unordered(&self, word: usize) -> bool {
        let is_freed = || self.freed.range(..=word).next_back().is_some_and(|(_, end)| word < *end);
        self.unordered.contains(&word) || is_freed()
    }

    /// This is touched without an order. Does it matter?
    fn touch(&mut self, at: usize, size: usize) -> bool {
        words(at, size).any(|word| self.unordered.insert(word) && self.left_out.contains(&word))
    }

    /// A round that loads this atomic is left out. Does it matter?
    #[cold]
    fn leave_part_out(&mut self, at: usize, size: usize) -> bool {
        self.parts_left_out.add(at, size);
        self.parts_unordered.mix(at, size)
    }

    /// This atomic is accessed without an order. Does it matter?
    fn access(&mut self, at: usize, size: usize) -> bool {
        self.parts_unordered.add(at, size);
        self.parts_left_out.mix(at, size)
    }

    /// This is freed without an order. Does it matter?
    fn free(&mut self, range: Range<usize>) -> bool {
        // Those that overlap are one, so that only the last that begins before a word can hold it.
        let (mut start, mut end) = (range.start, range.end);
        while let Some((known, until)) = self.freed.range(..end).next_back().filter(|(_, until)| **until > start) {
            (start, end) = (start.min(*known), end.max(*until));
            let known = *known;
            self.freed.remove(&known);
        }
        self.freed.insert(start, end);
        self.left_out.range(range).next().is_some()
    }
}

/// May an atomic have so many bytes?
fn is_atomic(size: usize) -> bool {
    matches!(size, 1 | 2 | 4 | 8)
}

/// The words that have some of these bytes, by number.
fn words(at: usize, size: usize) -> Range<usize> {
    at / size_of::<u64>()..(at + size).div_ceil(size_of::<u64>())
}

impl Engine {
    /// A round of so many reads has led nowhere. Is it left out? Otherwise it is the one that is kept.
    pub(super) fn leaves_out(&mut self, reads: u32) -> bool {
        let rounds = &mut self.threads.me().rounds;
        let touched = &mut self.loops.touched;
        if touched.keeps_one && rounds.keep_first() {
            return false;
        }
        let reads = rounds.recent().take((reads & !BY_CHANCE) as usize);
        let reads = reads.map(|read| (read.asked.0, read.asked.1.width.bytes()));
        let mut matters = false;
        for (at, size) in reads.chain(rounds.touched.iter().copied()) {
            matters |= touched.leave_out(at, size);
            // Loads whose result nobody uses are among what was touched; what has another size is plain.
            matters |= touched.mixes && is_atomic(size) && touched.leave_part_out(at, size);
        }
        if matters {
            let _: Option<Step<()>> = self.keep_one();
        }
        true
    }

    /// The running thread has come to a new location. Has that bytes in common with an atomic of another size, and are there rounds? Then the exploration starts again, and notes what they load.
    #[inline]
    pub(super) fn mixes_sizes<T>(&mut self) -> Option<Step<T>> {
        if self.locations.mix() && !self.loops.touched.mixes { self.notes_sizes() } else { None }
    }

    #[cold]
    fn notes_sizes<T>(&mut self) -> Option<Step<T>> {
        self.loops.touched.mixes = true;
        self.loops.guards.refute_all(); // who waits there makes no round
        Some(self.start_again())
    }

    /// The running thread has accessed an atomic.
    #[inline]
    pub(super) fn accesses_part<T>(&mut self, id: EventId) -> Option<Step<T>> {
        if self.loops.touched.mixes { self.note_access(id) } else { None }
    }

    #[cold]
    fn note_access<T>(&mut self, id: EventId) -> Option<Step<T>> {
        let graph = &self.explorer.graph;
        let event = graph.event(id);
        let led_in_order = graph.is_synchronised(id.thread, id.index as usize + 1);
        let at = self.locations.address(event.location).filter(|_| !led_in_order)?;
        if self.loops.touched.access(at, event.operation.width.bytes()) { self.keep_one() } else { None }
    }

    /// The running thread touches memory otherwise than by an event.
    #[inline]
    pub(super) fn touches<T>(&mut self, at: usize, size: usize) -> Option<Step<T>> {
        if self.loops.any() { self.note_touch(at, size) } else { None }
    }

    #[inline(never)]
    fn note_touch<T>(&mut self, at: usize, size: usize) -> Option<Step<T>> {
        self.me().rounds.touch(at, size);
        if self.loops.touched.keeps_one {
            return None;
        }
        let led_in_order = self.explorer.graph.is_synchronised(self.current(), self.me_ref().position);
        let matters = !led_in_order && self.loops.touched.touch(at, size);
        if matters { self.keep_one() } else { None }
    }

    /// The running execution is over. Was memory freed where that matters?
    #[inline]
    pub(super) fn frees_what_matters(&mut self) -> bool {
        self.loops.any() && !self.loops.touched.keeps_one && self.note_frees()
    }

    #[inline(never)]
    fn note_frees(&mut self) -> bool {
        let Some(heap) = &self.heap else { return false };
        let (graph, touched) = (&self.explorer.graph, &mut self.loops.touched);
        // As a rule a thread frees several in a row.
        let mut last = None;
        let mut led_in_order = |by: (u32, u32)| match last {
            Some((known, led)) if known == by => led,
            _ => last.insert((by, graph.is_synchronised(ThreadId(by.0), by.1 as usize))).1,
        };
        let unordered = heap.freed_blocks().filter(|block| !led_in_order(block.freed_by));
        // All are noted.
        let matter = unordered.filter(|block| touched.free(words(block.start, block.size))).count() > 0;
        if matter { self.keep_one::<()>().is_some() } else { false }
    }

    /// What was done after a read that was taken back may race with what others do. In an execution that has both that is found.
    #[cfg(feature = "unmodified")]
    #[cold]
    pub(super) fn take_nothing_back(&mut self) {
        self.loops.touched.keeps_reads = true;
        self.loops.guards.refute_all();
        let _: Step<()> = self.start_again();
    }

    #[cold]
    pub(super) fn keep_one<T>(&mut self) -> Option<Step<T>> {
        if self.loops.touched.keeps_one {
            return None;
        }
        self.loops.touched.keeps_one = true;
        self.loops.guards.refute_all();
        Some(self.start_again())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_each_range_that_was_freed() {
        let mut touched = Touched::default();
        assert!(!touched.free(10..100));
        assert!(!touched.free(20..30), "within it");
        assert!(!touched.free(95..120), "across its end");
        assert!(!touched.free(200..201));
        let word = |number: usize| (number * size_of::<u64>(), 1);
        for (number, freed) in [(9, false), (10, true), (50, true), (119, true), (120, false), (200, true)] {
            let (at, size) = word(number);
            assert_eq!(touched.leave_out(at, size), freed, "{number}");
        }
        assert!(touched.free(118..130), "where a round has been");
    }

    #[test]
    fn it_makes_no_difference_which_comes_first() {
        let mut touched = Touched::default();
        assert!(!touched.touch(64, 16));
        assert!(touched.leave_out(72, 1));
        assert!(!touched.leave_out(80, 1));
        assert!(touched.touch(80, 8));
    }
}
