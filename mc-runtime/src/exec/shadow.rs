//! What instrumented code does to memory, byte by byte, and the data races in it.
//!
//! As [`cells`](super::cells), for accesses of any size at any address, and with those of atomics among them, which race with plain ones only. Memory is looked at
//! in granules of 8 bytes; of each, the last accesses of each thread are kept.

use crate::graph::Site;
use crate::ids::ThreadId;
use rustc_hash::FxHashMap;

const GRANULE: usize = 8;

/// Addresses in the code.
pub(crate) type Trace = [usize; 6];

/// Where an access stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    /// In the source.
    Source(Site),
    /// In the code: the return address of the call that tells of it, and those of the calls around it, outwards; 0 where there are no more.
    Code(Trace),
}

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
    /// Where.
    pub place: Where,
}

impl Touch {
    /// For a message: with an `s`, what it does.
    pub(crate) fn verb(&self) -> &'static str {
        if self.writes { "write" } else { "read" }
    }
}

#[derive(Clone, Copy, Debug)]
struct Last {
    touch: Touch,
    /// The bytes of the granule.
    mask: u8,
}

/// All accesses of the running execution that can still race.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    granules: FxHashMap<usize, usize>,
    lasts: Vec<Vec<Last>>,
    used: usize,
}

impl Shadow {
    /// Another execution begins.
    pub(super) fn reset(&mut self) {
        self.granules.clear();
        self.used = 0;
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
        for (granule, mask) in granules(at, size) {
            let index = *self.granules.entry(granule).or_insert(self.used);
            if index == self.used {
                self.used += 1;
                if self.lasts.len() < self.used {
                    self.lasts.push(Vec::new());
                }
                self.lasts[index].clear();
            }
            let lasts = &mut self.lasts[index];
            race = race.or_else(|| {
                lasts.iter().find(|old| old.races(&new, mask) && !ordered(&old.touch)).map(|old| old.touch)
            });
            lasts.retain_mut(|old| {
                let replaced =
                    (old.touch.thread, old.touch.writes, old.touch.atomic) == (new.thread, new.writes, new.atomic);
                if replaced {
                    old.mask &= !mask;
                }
                old.mask != 0
            });
            lasts.push(Last { touch: new, mask });
        }
        race
    }

    /// Is any of the accesses that are known in the range such a one?
    pub(super) fn any(&self, (start, end): (usize, usize), test: impl Fn(&Touch) -> bool) -> bool {
        granules(start, end - start).any(|(granule, mask)| {
            let lasts = self.granules.get(&granule).map_or(&[][..], |index| &self.lasts[*index]);
            lasts.iter().any(|old| old.mask & mask != 0 && test(&old.touch))
        })
    }

    /// The memory was freed: gives an access in it that does not happen before that, and forgets what was done to it.
    pub(super) fn free(&mut self, range: (usize, usize), ordered: impl Fn(&Touch) -> bool) -> Option<Touch> {
        let mut race = None;
        for (granule, mask) in granules(range.0, range.1 - range.0) {
            let Some(index) = self.granules.get(&granule) else { continue };
            let lasts = &mut self.lasts[*index];
            race = race
                .or_else(|| lasts.iter().find(|old| old.mask & mask != 0 && !ordered(&old.touch)).map(|old| old.touch));
            lasts.retain_mut(|old| {
                old.mask &= !mask;
                old.mask != 0
            });
        }
        race
    }
}

impl Last {
    fn races(&self, new: &Touch, mask: u8) -> bool {
        let old = &self.touch;
        self.mask & mask != 0 && old.thread != new.thread && (old.writes || new.writes) && !(old.atomic && new.atomic)
    }
}

/// The granules of a range, each with the bytes of it that are in the range.
fn granules(at: usize, size: usize) -> impl Iterator<Item = (usize, u8)> {
    let end = at + size;
    (at / GRANULE..end.div_ceil(GRANULE)).map(move |granule| {
        let start = granule * GRANULE;
        let from = at.saturating_sub(start);
        let to = (end - start).min(GRANULE);
        (granule, (0xff_u8 << from) & (0xff_u8 >> (GRANULE - to)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(thread: u32, writes: bool, atomic: bool) -> Touch {
        Touch { thread: ThreadId(thread), events: 1, left: 0, writes, atomic, place: Where::Code([thread as usize; 6]) }
    }

    fn races(shadow: &mut Shadow, at: usize, size: usize, new: Touch) -> bool {
        shadow.access(at, size, new, |_| false).is_some()
    }

    #[test]
    fn bytes_count_not_granules() {
        let mut shadow = Shadow::default();
        assert!(!races(&mut shadow, 0, 4, touch(1, true, false)));
        assert!(!races(&mut shadow, 4, 4, touch(2, true, false)));
        assert!(races(&mut shadow, 3, 2, touch(2, false, false)), "byte 3 is another thread's");
        assert!(!races(&mut shadow, 12, 8, touch(1, true, false)));
        assert!(races(&mut shadow, 19, 1, touch(2, true, false)), "an access may lie in two granules");
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
}
