//! Blocks that were freed and are handed out again, at the address that they had.

use super::{ARENA, Block, HEADER, Heap};
use std::alloc::Layout;

/// Which block it is: its arena, and its number there. That is the same wherever the heap is, and whatever earlier executions have left there.
pub(crate) type At = (usize, usize);

impl Block {
    /// How many bytes a block of this size has room for.
    pub(crate) fn room(size: usize) -> usize {
        size.max(1).next_multiple_of(HEADER)
    }

    /// Could an allocator that hands out again what a thread has freed have put this one where `old` was? That was freed by its thread before.
    pub(crate) fn could_be_at(&self, old: &Block) -> bool {
        old.freed && old.freed_by.0 == self.slot && old.freed_by.1 <= self.events && old.fits(self.size)
    }

    fn fits(&self, size: usize) -> bool {
        Self::room(self.size) == Self::room(size)
    }
}

impl Heap {
    /// What was freed, handed out again or not, but for what nobody else can have seen.
    pub(crate) fn freed_blocks(&self) -> impl Iterator<Item = &Block> + '_ {
        let blocks = self.arenas[..=self.highest].iter().flat_map(|arena| &arena.blocks);
        self.earlier.iter().chain(blocks.filter(|block| block.freed))
    }

    /// The blocks that the running thread has freed and that this fits, in the order of their addresses.
    pub(crate) fn fitting(&self, layout: Layout) -> impl Iterator<Item = At> {
        let thread = self.current as u32;
        let arenas = self.arenas[..=self.highest].iter().enumerate();
        let blocks =
            arenas.flat_map(|(arena, a)| a.blocks.iter().enumerate().map(move |(index, b)| ((arena, index), b)));
        let aligned = layout.align() <= HEADER;
        let fits = move |b: &Block| aligned && b.freed && b.freed_by.0 == thread && b.fits(layout.size());
        blocks.filter(move |(_, block)| fits(block)).map(|(at, _)| at)
    }

    /// Hands out one of them. Where it begins and ends.
    pub(crate) fn hand_out(&mut self, (arena, index): At, layout: Layout) -> (usize, usize) {
        let (slot, events) = (self.current as u32, self.events);
        let block = &mut self.arenas[arena].blocks[index];
        self.earlier.push(*block);
        let size = layout.size();
        *block = Block { size, slot, events, freed: false, freed_by: (0, 0), watched: false, tracked: false, ..*block };
        let start = block.start;
        let top = &mut self.arenas[arena].top;
        *top = (*top).max(start + size - (self.base + arena * ARENA));
        self.arenas[arena].live += 1;
        self.set_header(start, index);
        self.fill(start, size);
        (start, start + Block::room(size))
    }
}
