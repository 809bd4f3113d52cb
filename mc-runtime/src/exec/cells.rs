//! Non-atomic accesses that shims report, and the data races between them.
//!
//! Two accesses of a cell race if one writes and neither happens before the other. Happens-before is a property of the graph, so the order in which
//! this execution happens to make them does not matter: each is compared with the last read and write of every other thread.
//! Source: C++20 [intro.races] 21; the per-thread last accesses of Djit+ (Pozniansky, Schuster, PPoPP 2003).

use crate::graph::Site;
use crate::ids::ThreadId;
use rustc_hash::FxHashMap;

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Whose.
    pub thread: ThreadId,
    /// How many events that thread had made before.
    pub events: u32,
    /// How many clocks had been left in the execution before.
    pub left: u32,
    /// Where.
    pub site: Site,
    /// Whether it writes.
    pub writes: bool,
}

#[derive(Clone, Debug, Default)]
struct CellState {
    at: usize,
    size: usize,
    /// At most one read and one write of each thread: the last.
    last: Vec<Access>,
}

/// All cells of the running execution.
#[derive(Debug, Default)]
pub(super) struct Cells {
    by_address: FxHashMap<usize, usize>,
    cells: Vec<CellState>,
    used: usize,
}

impl Cells {
    /// Another execution begins.
    pub(super) fn reset(&mut self) {
        if self.used > 0 {
            self.forget_all();
        }
    }

    #[inline(never)]
    fn forget_all(&mut self) {
        self.by_address.clear();
        self.used = 0;
    }

    /// Makes them what the others were.
    pub(super) fn copy_from(&mut self, other: &Self) {
        copy_fields!(Cells, other => self; by_address, used but cells);
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells[..other.used]) {
            copy_fields!(CellState, theirs => mine; at, size, last but);
        }
        let known = self.cells.len().min(other.used);
        self.cells.extend_from_slice(&other.cells[known..other.used]);
    }

    /// Records an access; gives an earlier one that races with it. `ordered`: does that one happen before this?
    pub(super) fn access(
        &mut self,
        at: usize,
        size: usize,
        new: Access,
        ordered: impl Fn(&Access) -> bool,
    ) -> Option<Access> {
        let index = *self.by_address.entry(at).or_insert(self.used);
        if index == self.used {
            self.used += 1;
            if self.cells.len() < self.used {
                self.cells.push(CellState::default());
            }
            self.cells[index].last.clear();
        }
        let cell = &mut self.cells[index];
        (cell.at, cell.size) = (at, size);
        let conflicts = |old: &Access| old.thread != new.thread && (old.writes || new.writes);
        let race = cell.last.iter().copied().find(|old| conflicts(old) && !ordered(old));
        match cell.last.iter_mut().find(|old| old.thread == new.thread && old.writes == new.writes) {
            // One that lasts may be told of after a later one.
            Some(old) if old.events > new.events => {}
            Some(old) => *old = new,
            None => cell.last.push(new),
        }
        race
    }

    /// Was any cell in the range accessed?
    pub(super) fn any_in(&self, range: (usize, usize)) -> bool {
        self.cells[..self.used].iter().any(|c| (range.0..range.1).contains(&c.at) && !c.last.is_empty())
    }

    /// An access in memory that is freed, and that does not happen before that.
    pub(super) fn unordered(&self, range: (usize, usize), ordered: impl Fn(&Access) -> bool) -> Option<&Access> {
        let freed = self.cells[..self.used].iter().filter(|c| (range.0..range.1).contains(&c.at));
        freed.flat_map(|c| &c.last).find(|a| !ordered(a))
    }

    /// The memory was freed: forgets the cells in it.
    pub(super) fn free(&mut self, range: (usize, usize)) {
        for cell in self.cells[..self.used].iter_mut().filter(|c| (range.0..range.1).contains(&c.at)) {
            cell.last.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(thread: u32, writes: bool) -> Access {
        Access { thread: ThreadId(thread), events: 1, left: 0, site: None, writes }
    }

    #[test]
    fn reads_do_not_race_and_a_write_races_with_an_unordered_read() {
        let mut cells = Cells::default();
        assert!(cells.access(8, 4, access(1, false), |_| false).is_none());
        assert!(cells.access(8, 4, access(2, false), |_| false).is_none());
        assert!(cells.access(8, 4, access(1, true), |_| false).is_some());
        assert!(cells.access(16, 4, access(1, true), |_| false).is_none());
    }

    #[test]
    fn an_ordered_access_does_not_race() {
        let mut cells = Cells::default();
        assert!(cells.access(8, 4, access(1, true), |_| true).is_none());
        assert!(cells.access(8, 4, access(2, true), |old| old.thread == ThreadId(1)).is_none());
    }
}
