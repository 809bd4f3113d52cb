//! What instrumented code does to memory, byte by byte, and the data races in it.
//!
//! As [`cells`](super::cells), for accesses of any size at any address, and with those of atomics among them, which race with plain ones only. Memory is looked at
//! in lines of 64 bytes; of each byte, the last accesses of each thread are kept, and those that a thread made between two events are one.

use super::calls::Spot;
use crate::ids::ThreadId;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Bytes of a line, which are bits of a mask.
const LINE: usize = u64::BITS as usize;
/// Of what has bytes in the same word, the place is known word by word.
const WORD: usize = 8;
/// Lines of a page.
const PAGE: usize = 64;
/// No more are kept from one execution to the next: 64 MiB.
const MOST_PAGES: usize = 1 << 13;
/// So many accesses of a line have their place in it. Those of most are of one thread.
const FEW: usize = 2;

/// Who accesses, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Whose access.
    pub thread: ThreadId,
    /// How many events that thread had made before.
    pub events: u32,
    /// How many clocks had been left in the execution before.
    pub left: u32,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is an atomic access.
    pub atomic: bool,
    /// Whether a read before it was taken back, see `awaits`.
    pub in_vain: bool,
    /// Where.
    pub place: Spot,
}

impl Touch {
    /// For a message: with an `s`, what it does.
    pub(crate) fn verb(&self) -> &'static str {
        if self.writes { "write" } else { "read" }
    }
}

/// Accesses of one kind that a thread made between two moments that count.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// [`Touch::events`], then [`Touch::left`].
    when: u64,
    /// The bytes of the line.
    mask: u64,
    /// The slot of the thread, then whether it was in vain, whether it writes, and whether it is atomic.
    kind: u32,
    /// Of each word.
    spots: [Spot; LINE / WORD],
}

const IN_VAIN: u32 = 4;
const WRITES: u32 = 2;
const ATOMIC: u32 = 1;

#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The execution that it was accessed in; in others there is nothing.
    execution: u64,
    count: u32,
    /// Where there were more than a few: the number of the list that has all, from 1.
    list: u32,
    few: [Last; FEW],
}

#[derive(Debug)]
struct Page {
    execution: u64,
    lines: Box<[Line; PAGE]>,
}

/// All accesses of the running execution that can still race.
#[derive(Debug)]
pub(super) struct Shadow {
    execution: u64,
    /// By number, where in `pages`.
    index: FxHashMap<usize, usize>,
    /// The pages that were looked for last, by their hash.
    recent: [(usize, usize); Shadow::RECENT],
    pages: Vec<Page>,
    lists: Vec<Vec<Last>>,
    used: usize,
}

impl Default for Shadow {
    fn default() -> Self {
        Self {
            execution: 1,
            index: FxHashMap::default(),
            recent: [(usize::MAX, 0); Self::RECENT],
            pages: Vec::new(),
            lists: Vec::new(),
            used: 0,
        }
    }
}

impl Shadow {
    const RECENT: usize = 32;

    /// Another execution begins.
    pub(super) fn reset(&mut self) {
        self.execution += 1;
        self.used = 0;
        if self.pages.len() > MOST_PAGES {
            // Memory may have another address in each execution.
            *self = Self { execution: self.execution, ..Self::default() };
        }
    }

    /// The line with this number.
    #[inline]
    fn line(&mut self, number: usize) -> &mut Line {
        let page = number / PAGE;
        // Stacks and arenas begin at multiples of large powers of two.
        let hash = (page ^ page >> 9 ^ page >> 20) % Self::RECENT;
        if self.recent[hash].0 != page {
            self.recent[hash] = (page, self.find(page));
        }
        let page = &mut self.pages[self.recent[hash].1];
        page.execution = self.execution;
        &mut page.lines[number % PAGE]
    }

    #[cold]
    fn find(&mut self, page: usize) -> usize {
        *self.index.entry(page).or_insert_with(|| {
            self.pages.push(Page { execution: 0, lines: Box::new([Line::default(); PAGE]) });
            self.pages.len() - 1
        })
    }

    /// Records an access; gives an earlier one that races with it. `ordered`: does that one happen before this?
    pub(super) fn access(
        &mut self,
        at: usize,
        size: usize,
        new: Touch,
        ordered: impl Fn(&Touch) -> bool,
    ) -> Option<Touch> {
        let mut race = None;
        for (number, mask) in lines(at, size) {
            let new = Last::of(&new, mask);
            let execution = self.execution;
            let line = self.line(number);
            if line.execution != execution {
                (line.execution, line.count, line.list) = (execution, 1, 0);
                line.few[0] = new;
                continue;
            }
            if line.list == 0 {
                let lasts = &mut line.few[..line.count as usize];
                race = race.or_else(|| find_race(lasts, &new, &ordered));
                let (kept, is_in) = enter(lasts, &new);
                line.count = kept as u32;
                if is_in {
                    continue;
                }
                if let Some(free) = line.few.get_mut(kept) {
                    *free = new;
                    line.count += 1;
                    continue;
                }
                self.begin_list(number, new);
                continue;
            }
            let lasts = self.list(number);
            race = race.or_else(|| find_race(lasts, &new, &ordered));
            let (kept, is_in) = enter(lasts, &new);
            lasts.truncate(kept);
            if !is_in {
                lasts.push(new);
            }
        }
        race
    }

    /// There are to be more accesses in a line than have their place in it.
    #[cold]
    fn begin_list(&mut self, number: usize, new: Last) {
        let used = self.used;
        let line = self.line(number);
        line.list = used as u32 + 1;
        let few = line.few;
        self.used += 1;
        if self.lists.len() < self.used {
            self.lists.push(Vec::new());
        }
        self.lists[used].clear();
        self.lists[used].extend(few);
        self.lists[used].push(new);
    }

    fn list(&mut self, number: usize) -> &mut Vec<Last> {
        let list = self.line(number).list as usize - 1;
        &mut self.lists[list]
    }

    /// Is any of the accesses that are known in the range such a one?
    pub(super) fn any(&self, (start, end): (usize, usize), test: impl Fn(&Touch) -> bool) -> bool {
        by_page(start..end).any(|(page, at, size)| {
            let page = self.index.get(&page).map(|index| &self.pages[*index]);
            let Some(page) = page.filter(|page| page.execution == self.execution) else { return false };
            lines(at, size).any(|(number, mask)| {
                let line = &page.lines[number % PAGE];
                let lasts = match line.list as usize {
                    _ if line.execution != self.execution => &[],
                    0 => &line.few[..line.count as usize],
                    list => &self.lists[list - 1][..],
                };
                lasts.iter().any(|old| old.mask & mask != 0 && test(&old.touch(mask)))
            })
        })
    }

    /// The memory was freed: gives an access in it that does not happen before that, and forgets what was done to it.
    pub(super) fn free(&mut self, (start, end): (usize, usize), ordered: impl Fn(&Touch) -> bool) -> Option<Touch> {
        let mut race = None;
        for (page, at, size) in by_page(start..end) {
            let Some(index) = self.index.get(&page) else { continue };
            let page = &mut self.pages[*index];
            if page.execution != self.execution {
                continue;
            }
            for (number, mask) in lines(at, size) {
                let line = &mut page.lines[number % PAGE];
                if line.execution != self.execution {
                    continue;
                }
                let lasts = match line.list as usize {
                    0 => &mut line.few[..line.count as usize],
                    list => &mut self.lists[list - 1][..],
                };
                for last in lasts {
                    if last.mask & mask != 0 {
                        race = race.or_else(|| Some(last.touch(mask)).filter(|touch| !ordered(touch)));
                        last.mask &= !mask;
                    }
                }
            }
        }
        race
    }
}

/// A range, page by page: the number of each, what part of the range is in it, and how many bytes that has.
fn by_page(range: Range<usize>) -> impl Iterator<Item = (usize, usize, usize)> {
    const BYTES: usize = PAGE * LINE;
    (range.start / BYTES..range.end.div_ceil(BYTES)).map(move |number| {
        let start = range.start.max(number * BYTES);
        (number, start, range.end.min((number + 1) * BYTES) - start)
    })
}

/// Takes the bytes of a new access from the older ones of its kind. How many of these are left, which are the first then, and whether the new one is in one of them.
#[inline]
fn enter(lasts: &mut [Last], new: &Last) -> (usize, bool) {
    let (mut kept, mut is_in) = (0, false);
    for index in 0..lasts.len() {
        let old = &mut lasts[index];
        if old.mask == 0 {
            continue;
        }
        if old.kind == new.kind {
            if !is_in && old.takes(new) {
                old.add(new);
                is_in = true;
            } else if old.mask & new.mask != 0 {
                old.mask &= !new.mask;
                if old.mask == 0 {
                    continue;
                }
            }
        }
        if kept < index {
            lasts[kept] = lasts[index];
        }
        kept += 1;
    }
    (kept, is_in)
}

#[inline]
fn find_race(lasts: &[Last], new: &Last, ordered: impl Fn(&Touch) -> bool) -> Option<Touch> {
    let conflicting = lasts.iter().filter(|old| old.conflicts(new));
    conflicting.map(|old| old.touch(new.mask)).find(|touch| !ordered(touch))
}

impl Last {
    #[inline]
    fn of(touch: &Touch, mask: u64) -> Self {
        let Touch { thread, events, left, writes, atomic, in_vain, place } = *touch;
        let kind = (thread.0 << 3) | (u32::from(in_vain) << 2) | (u32::from(writes) << 1) | u32::from(atomic);
        Last { when: u64::from(events) << u32::BITS | u64::from(left), mask, kind, spots: [place; LINE / WORD] }
    }

    /// The first of those that have some of these bytes.
    fn touch(&self, mask: u64) -> Touch {
        let first = (self.mask & mask).trailing_zeros() as usize % LINE;
        Touch {
            thread: ThreadId(self.kind >> 3),
            events: (self.when >> u32::BITS) as u32,
            left: self.when as u32,
            writes: self.kind & WRITES != 0,
            atomic: self.kind & ATOMIC != 0,
            in_vain: self.kind & IN_VAIN != 0,
            place: self.spots[first / WORD],
        }
    }

    #[inline]
    fn conflicts(&self, new: &Self) -> bool {
        self.mask & new.mask != 0
            && (self.kind ^ new.kind) >> 3 != 0
            && (self.kind | new.kind) & WRITES != 0
            && self.kind & new.kind & ATOMIC == 0
    }

    /// Can a newer one of its kind be in it? Of other bytes in a word that both have, the places must be the same.
    #[inline]
    fn takes(&self, new: &Self) -> bool {
        self.when == new.when && (self.mask & !new.mask == 0 || self.has_room_for(new))
    }

    fn has_room_for(&self, new: &Self) -> bool {
        let bytes = |word: usize| 0xff << (word * WORD);
        (0..LINE / WORD).all(|word| {
            new.mask & bytes(word) == 0
                || self.mask & !new.mask & bytes(word) == 0
                || self.spots[word] == new.spots[word]
        })
    }

    #[inline]
    fn add(&mut self, new: &Self) {
        self.mask |= new.mask;
        for word in 0..LINE / WORD {
            if new.mask >> (word * WORD) & 0xff != 0 {
                self.spots[word] = new.spots[word];
            }
        }
    }
}

/// The lines of a range, each with the bytes of it that are in the range.
#[inline]
pub(super) fn lines(at: usize, size: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = at + size;
    (at / LINE..end.div_ceil(LINE)).map(move |number| {
        let start = number * LINE;
        let from = at.saturating_sub(start);
        let to = (end - start).min(LINE);
        (number, u64::MAX << from & u64::MAX >> (LINE - to))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_pcg::Pcg64;

    fn touch(thread: u32, writes: bool, atomic: bool) -> Touch {
        Touch { thread: ThreadId(thread), events: 1, left: 0, writes, atomic, in_vain: false, place: Spot::default() }
    }

    fn races(shadow: &mut Shadow, at: usize, size: usize, new: Touch) -> bool {
        shadow.access(at, size, new, |_| false).is_some()
    }

    #[test]
    fn bytes_count_not_words() {
        let mut shadow = Shadow::default();
        assert!(!races(&mut shadow, 0, 4, touch(1, true, false)));
        assert!(!races(&mut shadow, 4, 4, touch(2, true, false)));
        assert!(races(&mut shadow, 3, 2, touch(2, false, false)), "byte 3 is another thread's");
        assert!(!races(&mut shadow, 12, 8, touch(1, true, false)));
        assert!(races(&mut shadow, 19, 1, touch(2, true, false)), "an access may lie in two words");
    }

    #[test]
    fn a_later_access_of_the_same_thread_does_not_hide_what_it_does_not_cover() {
        let mut shadow = Shadow::default();
        assert!(!races(&mut shadow, 0, 8, touch(1, true, false)));
        assert!(!races(&mut shadow, 0, 2, touch(1, true, false)));
        assert!(races(&mut shadow, 6, 1, touch(2, false, false)));
    }

    #[test]
    fn atomics_race_with_plain_accesses_only() {
        let mut shadow = Shadow::default();
        assert!(!races(&mut shadow, 8, 8, touch(1, true, true)));
        assert!(!races(&mut shadow, 8, 8, touch(2, true, true)));
        assert!(races(&mut shadow, 8, 1, touch(3, false, false)));
        assert!(!races(&mut shadow, 16, 8, touch(3, false, false)));
        assert!(!races(&mut shadow, 16, 8, touch(1, false, true)), "nobody writes");
    }

    #[test]
    fn what_was_freed_is_forgotten_and_a_free_races_as_a_write_does() {
        let mut shadow = Shadow::default();
        assert!(!races(&mut shadow, 8, 8, touch(1, false, false)));
        assert!(shadow.free((0, 64), |old| old.thread == ThreadId(1)).is_none());
        assert!(!races(&mut shadow, 8, 8, touch(2, true, false)));
        assert!(shadow.free((12, 13), |_| false).is_some());
    }

    #[test]
    fn the_place_is_that_of_the_byte() {
        let mut spots = super::super::calls::Spots::default();
        let mut calls = super::super::calls::Calls::default();
        let mut write = |code| Touch { place: spots.in_code(code, &mut calls), ..touch(1, true, false) };
        let (first, second, third) = (write(1), write(2), write(3));
        let mut shadow = Shadow::default();
        for (at, new) in [(0, first), (2, second), (4, third), (4, first), (8, second), (8, third)] {
            assert!(!races(&mut shadow, at, 2, new));
        }
        for (at, place) in [(0, first), (3, second), (5, first), (9, third)] {
            let race = shadow.access(at, 1, touch(2, false, false), |_| false);
            assert_eq!(race.map(|old| old.place), Some(place.place), "{at}");
        }
    }

    /// Each byte with all accesses of it, of which those that are of one kind, and of one thread, count as their last.
    #[derive(Default)]
    struct Bytes(Vec<(usize, Touch)>);

    impl Bytes {
        /// What was found must be one of these accesses of the range, place and all; and one must be found if there are any.
        fn assert_found(&self, found: Option<Touch>, range: Range<usize>, of: impl Fn(&Touch) -> bool) {
            let all = |t: &Touch| (t.thread, t.events, t.left, t.writes, t.atomic, t.place);
            let mut wanted = self.0.iter().filter(|(at, touch)| range.contains(at) && of(touch));
            match found {
                Some(found) => assert!(wanted.any(|(_, touch)| all(touch) == all(&found)), "{found:?}"),
                None => assert!(wanted.next().is_none(), "{:?}", wanted.next()),
            }
        }

        fn access(&mut self, range: Range<usize>, new: Touch) {
            let kind = |t: &Touch| (t.thread, t.writes, t.atomic);
            self.0.retain(|(at, old)| !range.contains(at) || kind(old) != kind(&new));
            self.0.extend(range.map(|at| (at, new)));
        }
    }

    /// Against a list of bytes: many threads and places at few addresses, around the end of a page.
    #[test]
    fn no_race_is_lost_or_made_up() {
        let mut rng = Pcg64::new(1, 2);
        let mut shadow = Shadow::default();
        let mut spots = super::super::calls::Spots::default();
        let places = [1, 2, 3].map(|code| spots.in_code(code, &mut super::super::calls::Calls::default()));
        let start = PAGE * LINE - 24;
        for _ in 0..2_000 {
            let mut bytes = Bytes::default();
            shadow.reset();
            for step in 0..60 {
                let at = start + rng.random_range(0..40) + if rng.random_bool(0.1) { LINE } else { 0 };
                let longest = if rng.random_bool(0.1) { 3 * LINE } else { 20 };
                let range = at..at + rng.random_range(1..longest);
                let seen = (rng.random_range(0..10), rng.random_range(0..2));
                let ordered = |old: &Touch| (old.events, old.left) < seen;
                match rng.random_range(0..8) {
                    0 => {
                        let found = shadow.free((range.start, range.end), ordered);
                        bytes.assert_found(found, range.clone(), |old| !ordered(old));
                        bytes.0.retain(|(at, _)| !range.contains(at));
                    }
                    1 => {
                        let is_one = |old: &Touch| (old.events, old.left) == seen;
                        let found = shadow.any((range.start, range.end), is_one);
                        assert_eq!(found, bytes.0.iter().any(|(at, touch)| range.contains(at) && is_one(touch)));
                    }
                    _ => {
                        let (writes, atomic) = (rng.random_bool(0.5), rng.random_bool(0.3));
                        let (events, left) = (step / 6, rng.random_range(0..2));
                        let place = places[rng.random_range(0..places.len())];
                        let new = Touch { events, left, place, ..touch(rng.random_range(0..4), writes, atomic) };
                        let are_two = |old: &Touch| old.thread != new.thread && (old.writes || new.writes);
                        let races = |old: &Touch| are_two(old) && !(old.atomic && new.atomic) && !ordered(old);
                        let found = shadow.access(range.start, range.len(), new, ordered);
                        bytes.assert_found(found, range.clone(), races);
                        bytes.access(range, new);
                    }
                }
            }
        }
    }
}
