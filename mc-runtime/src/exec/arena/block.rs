//! A block of memory: who made it and who freed it.

use super::{HEADER, Moment};

/// A block of an arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Its first byte.
    pub start: usize,
    /// In bytes.
    pub size: usize,
    /// The top of the arena before it.
    pub(super) before: usize,
    /// The slot of the thread that made it.
    pub slot: u32,
    /// How many events its thread had made.
    pub events: u32,
    /// No longer in use.
    pub freed: bool,
    /// Who freed it, by its slot, after how many of its events.
    pub freed_by: Moment,
    /// An `Arc` freed it, or a value in one, whose counts nobody sees: another owner could have been the last.
    pub freed_by_owner: bool,
    /// Something in it was accessed that its end has to be ordered with.
    pub(super) watched: bool,
    /// It is a leak if nobody frees it, also where others are not.
    pub tracked: bool,
}

impl Block {
    /// One in use, made by the thread in this slot after so many of its events.
    #[inline(always)]
    pub(super) fn new(start: usize, size: usize, before: usize, (slot, events): Moment) -> Self {
        Self {
            start,
            size,
            before,
            slot,
            events,
            freed: false,
            freed_by: (0, 0),
            freed_by_owner: false,
            watched: false,
            tracked: false,
        }
    }

    /// What it holds, word by word.
    pub(crate) fn words(self) -> impl Iterator<Item = usize> {
        let at = self.start as *const usize;
        // SAFETY: the block lies in the mapping of its region and is aligned to 16 as all are; words that were never written are read as whatever they hold.
        (0..self.size / size_of::<usize>()).map(move |word| unsafe { at.add(word).read_volatile() })
    }

    /// Its first two words, where an `Arc` of std's counts its owners.
    pub(super) fn counts(&self) -> Option<[usize; 2]> {
        // SAFETY: the block lies in the mapping of its region, is aligned to 16 as all are, and has that many bytes.
        (self.size >= 16).then(|| unsafe { (self.start as *const [usize; 2]).read() })
    }

    /// How many bytes a block of this size has room for.
    pub(crate) fn room(size: usize) -> usize {
        size.max(1).next_multiple_of(HEADER)
    }

    /// Has it room for so many bytes, and no more?
    pub(crate) fn fits(&self, size: usize) -> bool {
        Self::room(self.size) == Self::room(size)
    }
}
