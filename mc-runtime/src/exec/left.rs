//! Clocks that threads leave at addresses, for a destructor that runs once nobody can leave another.

use crate::ids::ThreadId;
use std::cmp::Reverse;
use std::ops::Range;

/// A clock that was left at an address: that of a thread, after so many of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub at: usize,
    pub thread: ThreadId,
    pub events: u32,
    /// How many clocks were left before, in the execution: what the thread did between two of its events may come before it or after it.
    pub order: u32,
}

impl Left {
    /// Where it was left, and by whom.
    fn place(&self) -> (usize, ThreadId) {
        (self.at, self.thread)
    }

    /// When it was left, to be compared with others of its thread.
    fn moment(&self) -> (u32, u32) {
        (self.events, self.order)
    }
}

/// All that were left. Of those of a thread at an address only the last one counts, so that the others are forgotten now and then.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    all: Vec<Left>,
    /// How many were left, with those that were taken back.
    made: u32,
    /// How many there may be until those are forgotten that do not count.
    limit: usize,
}

/// So many take no time to speak of.
const FEW: usize = 64;

impl Clocks {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        (self.made, self.limit) = (0, FEW);
    }

    /// Makes them what the others were.
    pub(super) fn copy_from(&mut self, other: &Self) {
        copy_fields!(Clocks, other => self; all, made, limit but);
    }

    /// How many were left so far in the execution, with those that were taken back.
    pub(super) fn made(&self) -> u32 {
        self.made
    }

    /// Another one is about to be left: how many were before.
    pub(super) fn make(&mut self) -> u32 {
        self.made += 1;
        self.made - 1
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Takes back what was left after the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.all.truncate(len);
    }

    pub(super) fn get(&self, index: usize) -> Left {
        self.all[index]
    }

    pub(super) fn any(&self, test: impl FnMut(&Left) -> bool) -> bool {
        self.all.iter().any(test)
    }

    /// Leaves a clock. The first `kept` stay as they are, for the others may be taken back.
    #[inline]
    pub(super) fn leave(&mut self, left: Left, kept: usize) {
        // A loop that clones and drops leaves its clock at the address of the one before.
        let last = if self.all.len() > kept { self.all.last_mut() } else { None };
        match last.filter(|last| last.place() == left.place()) {
            Some(last) if last.moment() >= left.moment() => {}
            Some(last) => *last = left,
            None => self.all.push(left),
        }
    }

    /// Forgets, where there are many, those that do not count, but for the first `kept`.
    #[inline]
    pub(super) fn tidy(&mut self, kept: usize) {
        if self.all.len() > self.limit {
            self.forget_earlier(kept);
        }
    }

    #[cold]
    fn forget_earlier(&mut self, kept: usize) {
        self.all[kept..].sort_unstable_by_key(|left| (left.place(), Reverse(left.moment())));
        let mut len = kept;
        for index in kept..self.all.len() {
            if len == kept || self.all[len - 1].place() != self.all[index].place() {
                self.all[len] = self.all[index];
                len += 1;
            }
        }
        self.all.truncate(len);
        self.limit = FEW.max(2 * len);
    }

    /// Forgets those in the range: the memory is freed. How many of the first `kept` there are then.
    pub(super) fn forget(&mut self, range: &Range<usize>, kept: usize) -> usize {
        let stays = |left: &Left| !range.contains(&left.at);
        let kept = self.all[..kept].iter().filter(|left| stays(left)).count();
        self.all.retain(stays);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_pcg::Pcg64;
    use std::collections::BTreeMap;

    #[test]
    fn the_last_clock_of_a_thread_at_an_address_stays() {
        let left = |at, events| Left { at, thread: ThreadId(1), events, order: 0 };
        let mut clocks = Clocks::default();
        clocks.clear();
        let rounds = FEW as u32;
        for events in 1..=rounds {
            clocks.leave(left(8, events), 0);
            clocks.leave(left(16, events), 0);
            clocks.tidy(0);
        }
        assert!(clocks.len() <= FEW);
        clocks.forget_earlier(0);
        assert_eq!(clocks.all, [left(8, rounds), left(16, rounds)]);
        clocks.leave(left(8, 5), 2);
        clocks.leave(left(8, 7), 3);
        clocks.leave(left(8, 6), 3);
        clocks.forget_earlier(3);
        assert_eq!(clocks.all, [left(8, rounds), left(16, rounds), left(8, 5), left(8, 7)]);
        clocks.truncate(2);
        assert_eq!(clocks.forget(&(0..10), 2), 1);
        assert_eq!(clocks.all, [left(16, rounds)]);
        clocks.leave(left(16, rounds + 1), 0);
        assert_eq!(clocks.all, [left(16, rounds + 1)]);
    }

    /// Against a list in which each clock that was left stays.
    #[test]
    fn no_clock_is_lost_or_too_late() {
        let mut rng = Pcg64::new(1, 2);
        let last = |all: &[Left]| {
            let mut last = BTreeMap::new();
            for left in all {
                let moment = last.entry((left.at, left.thread)).or_insert((0, 0));
                *moment = left.moment().max(*moment);
            }
            last
        };
        for _ in 0..2_000 {
            let (mut clocks, mut every, mut position) = (Clocks::default(), Vec::new(), [0; 3]);
            clocks.limit = rng.random_range(0..9);
            // While a read is open, its thread runs: what it has left is the length of both by then.
            let (mut open, mut current): (Option<(usize, usize)>, usize) = (None, 0);
            for _ in 0..60 {
                let kept = open.map_or(0, |(kept, _)| kept);
                match rng.random_range(0..12) {
                    0 if open.is_none() => {
                        position[current] += 1;
                        open = Some((clocks.len(), every.len()));
                    }
                    0 => {
                        let (kept, of_every) = open.take().unwrap();
                        clocks.truncate(kept);
                        every.truncate(of_every);
                        position[current] -= 1;
                    }
                    1 => open = None,
                    2 if open.is_none() => current = rng.random_range(0..3),
                    3 if open.is_none() => position[current] += 1,
                    4 => {
                        let start = rng.random_range(0..6);
                        let range = start..start + rng.random_range(0..2);
                        let kept = clocks.forget(&range, kept);
                        let stays = |left: &Left| !range.contains(&left.at);
                        let of_every = open.map_or(0, |(_, of_every)| of_every);
                        let of_every = every[..of_every].iter().filter(|left| stays(left)).count();
                        every.retain(stays);
                        open = open.map(|_| (kept, of_every));
                    }
                    5 => {
                        // What was left at one address is passed on to another.
                        let (from, at) = (rng.random_range(0..6), rng.random_range(0..6));
                        for index in 0..if from == at { 0 } else { clocks.len() } {
                            if clocks.get(index).at == from {
                                clocks.leave(Left { at, ..clocks.get(index) }, kept);
                            }
                        }
                        let passed: Vec<Left> = every.iter().copied().filter(|left| left.at == from).collect();
                        every.extend(passed.into_iter().filter(|_| from != at).map(|left| Left { at, ..left }));
                    }
                    _ => {
                        let thread = ThreadId(current as u32);
                        let (at, order) = (rng.random_range(0..6), every.len() as u32);
                        let left = Left { at, thread, events: position[current], order };
                        clocks.leave(left, kept);
                        every.push(left);
                    }
                }
                clocks.tidy(open.map_or(0, |(kept, _)| kept));
                assert_eq!(last(&clocks.all), last(&every));
            }
        }
    }
}
