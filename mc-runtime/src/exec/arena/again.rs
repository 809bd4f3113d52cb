//! Blocks that were freed and are handed out again, at the address that they had.

use super::{ARENA, Block, HEADER, Heap};
use std::alloc::Layout;

/// Which block it is: its arena, and its number there. That is the same wherever the heap is, and whatever earlier executions have left there.
pub(crate) type At = (usize, usize);

/// A point in what a thread does: its slot, and how many events it had made.
pub(crate) type Moment = (u32, u32);

/// A block that a thread knows to be free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Free<'a> {
    pub at: At,
    /// What it was when it was freed.
    pub was: &'a Block,
    /// Another thread has got it since, without this one's knowing.
    pub taken: bool,
}

/// The rooms of blocks, as bits: those of one bit are told apart by the blocks themselves.
pub(super) fn bit_of_room(size: usize) -> u64 {
    1 << (Block::room(size) / HEADER % u64::BITS as usize)
}

impl Heap {
    /// What was freed, handed out again or not, but for what nobody else can have seen.
    pub(crate) fn freed_blocks(&self) -> impl Iterator<Item = &Block> + '_ {
        let blocks = self.arenas[..=self.highest].iter().flat_map(|arena| &arena.blocks);
        self.earlier.iter().chain(blocks.filter(|block| block.freed))
    }

    /// May something have been freed that had the room of the block with this address?
    pub(crate) fn freed_such(&self, at: usize) -> bool {
        self.block_to(at).is_some_and(|block| self.freed_rooms & bit_of_room(block.size) != 0)
    }

    /// The block that holds the address, or ends there.
    fn block_to(&self, at: usize) -> Option<Block> {
        self.block(at).or_else(|| self.block(at.wrapping_sub(1)))
    }

    /// Of what has been where two addresses are, those that fit in each other's place so that the addresses would be the same.
    pub(crate) fn equal_in(&self, one: usize, other: usize) -> impl Iterator<Item = (Block, Block)> + '_ {
        let pairs = self.uses(one).flat_map(move |block| self.uses(other).map(move |another| (block, another)));
        pairs.filter(move |(block, another)| {
            block.fits(another.size) && one.wrapping_sub(block.start) == other.wrapping_sub(another.start)
        })
    }

    /// What has been where this address is: the block that holds it, and what that was before.
    fn uses(&self, at: usize) -> impl Iterator<Item = Block> + '_ {
        let last = self.block_to(at);
        let before = self.earlier.iter().filter(move |earlier| last.is_some_and(|last| last.start == earlier.start));
        last.into_iter().chain(before.copied())
    }

    /// Those of some blocks that this fits and that the running thread knows to be free, in the order of their addresses. `knows`: does what a thread did after so many of its
    /// events happen before what the running one does now?
    pub(crate) fn fitting(
        &self,
        layout: Layout,
        of: impl Fn(At) -> bool,
        knows: impl Fn(Moment) -> bool,
    ) -> impl Iterator<Item = Free<'_>> {
        let arenas = self.arenas[..=self.highest].iter().enumerate();
        let blocks =
            arenas.flat_map(|(arena, a)| a.blocks.iter().enumerate().map(move |(index, b)| ((arena, index), b)));
        let fits = move |b: &Block| layout.align() <= HEADER && b.fits(layout.size());
        blocks
            .filter(move |(at, block)| fits(block) && of(*at))
            .filter_map(move |(at, block)| self.known_free(at, block, &knows))
    }

    /// The last of all that a block has been, as far as the running thread knows, if it knows that to be freed.
    fn known_free<'a>(&'a self, at: At, block: &'a Block, knows: impl Fn(Moment) -> bool) -> Option<Free<'a>> {
        let before = self.earlier.iter().rev().filter(|earlier| earlier.start == block.start);
        for (later, was) in std::iter::once(block).chain(before).enumerate() {
            if was.freed && knows(was.freed_by) {
                return Some(Free { at, was, taken: later > 0 });
            }
            if knows((was.slot, was.events)) {
                return None;
            }
        }
        None
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
