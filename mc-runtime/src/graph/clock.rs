//! Vector clocks: how many events of each thread are before a point. Rows in one vector, shared between events, never changed.
//!
//! A row leaves out the component of the thread whose event holds it, so that most events share the row of the one before.

use crate::ids::{EventId, ThreadId};
use std::num::NonZeroU32;
use std::ops::Range;

/// A row of [`Clocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockRef(NonZeroU32);

impl ClockRef {
    /// The row in which nothing is known.
    pub(crate) const EMPTY: ClockRef = ClockRef(NonZeroU32::MIN);

    fn start(self) -> usize {
        self.0.get() as usize
    }
}

/// Some first events of each thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Past<'a> {
    /// The thread whose past it is.
    pub thread: ThreadId,
    /// How many events of that thread; its end counts as one.
    pub count: u32,
    /// How many of each other one.
    pub others: &'a [u32],
}

impl Past<'_> {
    /// How many events of a thread are in it; its end counts as one.
    #[inline]
    pub(crate) fn of(&self, thread: ThreadId) -> u32 {
        if thread == self.thread { self.count } else { self.others.get(thread.slot()).copied().unwrap_or(0) }
    }

    /// Is `x` in it? The initial write always is.
    #[inline]
    pub(crate) fn contains(&self, x: EventId) -> bool {
        x.is_init() || x.index < self.of(x.thread)
    }
}

/// All rows of a graph, in the order in which they were made; truncating a graph truncates them.
#[derive(Debug)]
pub(crate) struct Clocks {
    /// Each row is its length, then the components. The first word is not used; then comes the empty row.
    data: Vec<u32>,
    /// Where the next row begins. What is there and after it is room.
    end: usize,
}

/// So many components are compared at once.
const AT_ONCE: usize = 8;

/// So many components are compared one by one: they come to an end before more at once would pay.
const FEW: usize = 7;

/// Behind the empty row.
const FIRST: usize = 2;

impl Default for Clocks {
    fn default() -> Self {
        Clocks { data: vec![0; FIRST], end: FIRST }
    }
}

impl Clone for Clocks {
    fn clone(&self) -> Self {
        Clocks { data: self.data[..self.end].to_vec(), end: self.end }
    }

    /// Keeps its memory.
    fn clone_from(&mut self, other: &Self) {
        if other.end > self.data.len() {
            self.make_room(other.end);
        }
        self.data[..other.end].copy_from_slice(&other.data[..other.end]);
        self.end = other.end;
    }
}

impl Clocks {
    /// A mark for [`Clocks::truncate`].
    pub(crate) fn mark(&self) -> u32 {
        self.end as u32
    }

    /// Forgets all rows but the empty one.
    pub(crate) fn clear(&mut self) {
        self.end = FIRST;
    }

    /// Forgets all rows made since `mark`.
    pub(crate) fn truncate(&mut self, mark: u32) {
        debug_assert!(mark <= self.mark(), "rows are forgotten, and none comes back");
        self.end = mark as usize;
    }

    /// The components of a row; those beyond its end are 0.
    pub(crate) fn row(&self, clock: ClockRef) -> &[u32] {
        &self.data[self.components(clock)]
    }

    /// Where they lie.
    fn components(&self, clock: ClockRef) -> Range<usize> {
        let at = clock.start();
        at + 1..at + 1 + self.data[at] as usize
    }

    /// The least upper bound of `base`, `other` and `(thread, count)`, without the component of `own`; `base` itself if it already is that.
    #[inline]
    pub(crate) fn join(
        &mut self,
        base: ClockRef,
        other: ClockRef,
        (thread, count): (ThreadId, u32),
        own: Option<ThreadId>,
    ) -> ClockRef {
        let count = if own == Some(thread) { 0 } else { count };
        if count == 0 && (base == other || other == ClockRef::EMPTY) {
            return base;
        }
        self.join_rows(base, other, (thread, count), own.map_or(usize::MAX, ThreadId::slot))
    }

    #[inline(never)]
    fn join_rows(&mut self, base: ClockRef, other: ClockRef, (thread, count): (ThreadId, u32), own: usize) -> ClockRef {
        let (at, others) = (self.components(base), self.components(other));
        let (b, o) = (&self.data[at.clone()], &self.data[others.clone()]);
        let is_more = count > b.get(thread.slot()).copied().unwrap_or(0);
        // One that is longer knows more as a rule, and one that is not is often that of a thread which has learned nothing of others.
        let may_be_known = !is_more || others.len() <= at.len();
        let is_known = || base == other || if o.len() > FEW { !exceeds(o, b, own) } else { !exceeds_few(o, b, own) };
        if may_be_known && is_known() {
            return if is_more { self.with(base, (thread, count)) } else { base };
        }
        self.join_anew(at, others, (thread.slot(), count), own)
    }

    /// The row with the component of a thread besides, which is none of the row's own that is higher.
    pub(crate) fn with(&mut self, row: ClockRef, (thread, count): (ThreadId, u32)) -> ClockRef {
        let (row, slot) = (self.components(row), thread.slot());
        let len = row.len();
        let (at, rows, new) = self.new_row(len.max(slot + 1));
        new[..len].copy_from_slice(&rows[row]);
        if slot > len {
            new[len..slot].fill(0);
        }
        new[slot] = count;
        at
    }

    /// Makes that row, of two that lie there.
    fn join_anew(
        &mut self,
        base: Range<usize>,
        other: Range<usize>,
        (also, count): (usize, u32),
        own: usize,
    ) -> ClockRef {
        // As a rule one of them has all that there is room for.
        let (longer, shorter) = if base.len() < other.len() { (other, base) } else { (base, other) };
        let most = longer.len();
        let (at, rows, new) = self.new_row(if count > 0 { most.max(also + 1) } else { most });
        new[..most].copy_from_slice(&rows[longer]);
        for (component, other) in new.iter_mut().zip(&rows[shorter]) {
            *component = (*component).max(*other);
        }
        if also < most {
            new[also] = new[also].max(count);
        } else if count > 0 {
            new[also] = count;
            if also > most {
                new[most..also].fill(0);
            }
        }
        if own < new.len() {
            new[own] = 0;
        }
        at
    }

    /// A row of `len` components, which are whatever they are; and all rows before it, as they lie.
    #[inline(always)]
    fn new_row(&mut self, len: usize) -> (ClockRef, &[u32], &mut [u32]) {
        let at = NonZeroU32::new(self.mark()).expect("the first word is not used");
        let start = self.end + 1;
        if start + len > self.data.len() {
            self.make_room(start + len);
        }
        self.data[self.end] = len as u32;
        self.end = start + len;
        let (rows, new) = self.data.split_at_mut(start);
        (ClockRef(at), rows, &mut new[..len])
    }

    /// Makes room for rows up to there.
    #[cold]
    fn make_room(&mut self, end: usize) {
        const MOST: usize = u32::MAX as usize;
        assert!(end <= MOST, "clocks are limited by the number of events");
        self.data.resize(end.max(2 * self.data.len()).min(MOST), 0);
    }

    /// Copies a row of another graph.
    pub(crate) fn copy(&mut self, from: &Clocks, clock: ClockRef) -> ClockRef {
        if clock == ClockRef::EMPTY {
            return clock;
        }
        let row = from.row(clock);
        let (at, _, new) = self.new_row(row.len());
        new.copy_from_slice(row);
        at
    }
}

/// Is any component of a row higher than in `base`, but for that of `own`?
#[inline(always)]
fn exceeds_few(row: &[u32], base: &[u32], own: usize) -> bool {
    let known = |i: usize| base.get(i).copied().unwrap_or(0);
    row.iter().enumerate().any(|(i, count)| *count > known(i) && i != own)
}

/// The same, of many, which are compared some at once.
#[inline(never)]
fn exceeds(row: &[u32], base: &[u32], own: usize) -> bool {
    let (pieces, known) = (row.as_chunks::<AT_ONCE>().0, base.as_chunks::<AT_ONCE>().0);
    for (number, (piece, known)) in pieces.iter().zip(known).enumerate() {
        let any = piece.iter().zip(known).fold(false, |any, (count, known)| any | (count > known));
        if any && exceeds_few(piece, known, own.wrapping_sub(number * AT_ONCE)) {
            return true;
        }
    }
    let compared = pieces.len().min(known.len()) * AT_ONCE;
    exceeds_few(&row[compared..], &base[compared..], own.wrapping_sub(compared))
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

    #[test]
    fn many_are_compared_as_few_are() {
        use rand::RngExt;
        let mut rng = rand_pcg::Pcg64::new(3, 4);
        let mut found = [0; 2];
        for _ in 0..20_000 {
            let mut row = |most: usize| (0..rng.random_range(0..most)).map(|_| 5).collect::<Vec<u32>>();
            let (mut row, base) = (row(60), row(60));
            for _ in 0..rng.random_range(0..3) {
                if let Some(at) = rng.random_range(0..60_usize).checked_rem(row.len()) {
                    row[at] = rng.random_range(4..7);
                }
            }
            row.truncate(base.len() + rng.random_range(0..2));
            let own = if rng.random_range(0..3) == 0 { usize::MAX } else { rng.random_range(0..60) };
            let exceeds = exceeds(&row, &base, own);
            assert_eq!(exceeds, exceeds_few(&row, &base, own), "{row:?} {base:?} {own}");
            found[usize::from(exceeds)] += 1;
        }
        assert!(found.iter().all(|count| *count > 2_000), "{found:?}");
    }
}
