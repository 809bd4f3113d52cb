//! Blocks that were freed and are handed out again, at the address that they had.

use super::{ARENA, Block, HEADER, Heap};
use std::alloc::Layout;

/// Which block it is: its arena, and its number there. That is the same wherever the heap is, and whatever earlier executions have left there.
pub(crate) type At = (usize, usize);

impl Heap {
    /// What was freed, handed out again or not, but for what nobody else can have seen.
    pub(crate) fn freed_blocks(&self) -> impl Iterator<Item = &Block> + '_ {
        let blocks = self.arenas[..=self.highest].iter().flat_map(|arena| &arena.blocks);
        self.earlier.iter().chain(blocks.filter(|block| block.freed))
    }

    /// The blocks that the running thread has freed and that this fits, in the order of their addresses.
    pub(crate) fn fitting(&self, layout: Layout) -> impl Iterator<Item = (At, &Block)> {
        let thread = self.current as u32;
        let arenas = self.arenas[..=self.highest].iter().enumerate();
        let blocks =
            arenas.flat_map(|(arena, a)| a.blocks.iter().enumerate().map(move |(index, b)| ((arena, index), b)));
        let aligned = layout.align() <= HEADER;
        let fits = move |b: &Block| aligned && b.freed && b.freed_by.0 == thread && b.fits(layout.size());
        blocks.filter(move |(_, block)| fits(block))
    }

    /// Hands out one of them. Where it begins and ends.
    pub(crate) fn hand_out(&mut self, (arena, index): At, layout: Layout) -> (usize, usize) {
        let (slot, events) = (self.current as u32, self.events);
        let block = &mut self.arenas[arena].blocks[index];
        self.earlier.push(*block);
        let size = layout.size();
        *block = Block::new(block.start, size, block.before, (slot, events));
        let start = block.start;
        let top = &mut self.arenas[arena].top;
        *top = (*top).max(start + size - (self.base + arena * ARENA));
        self.arenas[arena].live += 1;
        self.set_header(start, index);
        self.fill(start, size);
        (start, start + Block::room(size))
    }
}
