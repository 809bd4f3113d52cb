//! Vector clocks: how many events of each thread are before a point. Rows in one vector, shared between events, never changed.
//!
//! A row leaves out the component of the thread whose event holds it, so that most events share the row of the one before.

use crate::ids::ThreadId;

/// A row of [`Clocks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockRef(u32);

impl ClockRef {
    /// The row in which nothing is known.
    pub(crate) const EMPTY: ClockRef = ClockRef(0);
}

/// All rows of a graph, in the order in which they were made; truncating a graph truncates them.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    /// Each row is its length, then the components.
    data: Vec<u32>,
}

impl Default for Clocks {
    fn default() -> Self {
        Clocks { data: vec![0] }
    }
}

impl Clocks {
    /// A mark for [`Clocks::truncate`].
    pub(crate) fn mark(&self) -> u32 {
        u32::try_from(self.data.len()).expect("clocks are limited by the number of events")
    }

    /// Forgets all rows made since `mark`.
    pub(crate) fn truncate(&mut self, mark: u32) {
        self.data.truncate(mark as usize);
    }

    /// The components of a row; those beyond its end are 0.
    pub(crate) fn row(&self, clock: ClockRef) -> &[u32] {
        let at = clock.0 as usize;
        &self.data[at + 1..at + 1 + self.data[at] as usize]
    }

    /// How many events of `thread` the row knows.
    pub(crate) fn get(&self, clock: ClockRef, thread: ThreadId) -> u32 {
        self.row(clock).get(thread.slot()).copied().unwrap_or(0)
    }

    /// The least upper bound of `base`, `other` and `(thread, count)`, without the component of `own`; `base` itself if it already is that.
    pub(crate) fn join(
        &mut self,
        base: ClockRef,
        other: ClockRef,
        also: (ThreadId, u32),
        own: Option<ThreadId>,
    ) -> ClockRef {
        let own = own.map_or(usize::MAX, ThreadId::slot);
        let extra = (also.0.slot(), also.1);
        let value = |row: &[u32], i: usize| row.get(i).copied().unwrap_or(0);
        let (b, o) = (self.row(base), self.row(other));
        let grows = (0..o.len()).any(|i| i != own && o[i] > value(b, i))
            || (extra.1 > 0 && extra.0 != own && extra.1 > value(b, extra.0));
        if !grows {
            return base;
        }
        let extra_len = if extra.1 > 0 && extra.0 != own { extra.0 + 1 } else { 0 };
        let len = b.len().max(o.len()).max(extra_len);
        let at = self.mark();
        self.data.push(len as u32);
        for i in 0..len {
            let mut known = value(self.row(base), i).max(value(self.row(other), i));
            if i == extra.0 {
                known = known.max(extra.1);
            }
            self.data.push(if i == own { 0 } else { known });
        }
        ClockRef(at)
    }

    /// Copies a row of another graph.
    pub(crate) fn copy(&mut self, from: &Clocks, clock: ClockRef) -> ClockRef {
        if clock == ClockRef::EMPTY {
            return clock;
        }
        let at = self.mark();
        let start = clock.0 as usize;
        let end = start + 1 + from.data[start] as usize;
        self.data.extend_from_slice(&from.data[start..end]);
        ClockRef(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: (ThreadId, u32) = (ThreadId(0), 0);

    #[test]
    fn joining_what_is_known_gives_the_same_row() {
        let mut clocks = Clocks::default();
        let a = clocks.join(ClockRef::EMPTY, ClockRef::EMPTY, (ThreadId(2), 5), None);
        let b = clocks.join(ClockRef::EMPTY, ClockRef::EMPTY, (ThreadId(2), 3), None);
        assert_eq!(clocks.join(a, b, NOBODY, None), a);
        let c = clocks.join(b, a, (ThreadId(0), 1), None);
        assert_eq!(clocks.row(c), [1, 0, 5]);
    }

    #[test]
    fn the_own_component_is_left_out() {
        let mut clocks = Clocks::default();
        let a = clocks.join(ClockRef::EMPTY, ClockRef::EMPTY, (ThreadId(1), 5), None);
        assert_eq!(clocks.join(ClockRef::EMPTY, a, NOBODY, Some(ThreadId(1))), ClockRef::EMPTY);
    }

    #[test]
    fn truncating_to_a_mark_forgets_later_rows_only() {
        let mut clocks = Clocks::default();
        let a = clocks.join(ClockRef::EMPTY, ClockRef::EMPTY, (ThreadId(1), 5), None);
        let mark = clocks.mark();
        clocks.join(a, ClockRef::EMPTY, (ThreadId(3), 1), None);
        clocks.truncate(mark);
        assert_eq!(clocks.row(a), [0, 5]);
        assert_eq!(clocks.mark(), mark);
    }
}
