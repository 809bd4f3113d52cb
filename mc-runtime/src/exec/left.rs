//! Clocks that threads leave at addresses, for a destructor that runs once nobody can leave another.

use crate::ids::ThreadId;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A clock that was left at an address: that of a thread, after so many of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub at: usize,
    pub thread: ThreadId,
    pub events: u32,
}

/// In the order in which they were left; of those of a thread at an address, the last.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    all: Vec<Left>,
    /// Where each is. What was taken back may still be named.
    index: FxHashMap<(usize, ThreadId), usize>,
}

impl Clocks {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.index.clear();
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
    pub(super) fn leave(&mut self, left: Left, kept: usize) {
        let key = (left.at, left.thread);
        let of_key = |known: &&mut Left| (known.at, known.thread) == key;
        // A loop that clones and drops leaves its clock at the address of the one before.
        if self.all.len() > kept
            && let Some(known) = self.all.last_mut().filter(of_key)
        {
            known.events = known.events.max(left.events);
            return;
        }
        let index = self.index.entry(key).or_insert(usize::MAX);
        match self.all.get_mut(*index).filter(of_key) {
            Some(known) if known.events >= left.events => {}
            Some(known) if *index >= kept => known.events = left.events,
            _ => {
                *index = self.all.len();
                self.all.push(left);
            }
        }
    }

    /// Forgets those in the range: the memory is freed.
    pub(super) fn forget(&mut self, range: &Range<usize>) {
        let before = self.all.len();
        self.all.retain(|left| !range.contains(&left.at));
        if self.all.len() != before {
            self.index.clear();
            let places = self.all.iter().enumerate();
            self.index.extend(places.map(|(index, left)| ((left.at, left.thread), index)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_clock_of_a_thread_at_an_address_stays() {
        let left = |at, events| Left { at, thread: ThreadId(1), events };
        let mut clocks = Clocks::default();
        for events in 1..4 {
            clocks.leave(left(8, events), 0);
            clocks.leave(left(16, events), 0);
        }
        assert_eq!(clocks.all, [left(8, 3), left(16, 3)]);
        clocks.leave(left(8, 5), 2);
        assert_eq!(clocks.all, [left(8, 3), left(16, 3), left(8, 5)]);
        clocks.truncate(2);
        clocks.leave(left(8, 4), 0);
        assert!(clocks.any(|l| *l == left(8, 4)));
        clocks.forget(&(0..10));
        assert_eq!(clocks.all, [left(16, 3)]);
        clocks.leave(left(16, 6), 0);
        assert_eq!(clocks.all, [left(16, 6)]);
    }
}
