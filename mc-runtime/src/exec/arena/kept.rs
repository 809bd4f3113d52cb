//! Memory that outlives its execution, and owners that are not seen: of tests that were written for another checker.

use super::{ARENA, Block, HEADER, Heap};
use crate::options::{Options, Origin};

impl Heap {
    /// A heap for the check of one test. `None` if its address space cannot be had.
    pub(crate) fn of(options: &Options) -> Option<Self> {
        let limit = options.max_memory.map_or(2 << 30, |m| m as usize);
        let mut heap = Heap::new(limit)?;
        heap.owned_unseen = options.origin != Origin::Own;
        Some(heap)
    }

    /// Keeps what is still in use at the end of an execution: something outside of it may point there. Only what `is_kept` says is, if not all.
    /// Gives the bytes that are kept in all.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(&Block) -> bool) -> usize {
        for (slot, arena) in self.arenas[..=self.highest].iter_mut().enumerate().filter(|(_, a)| a.live > 0) {
            let start = self.base + slot * ARENA;
            if let Some(last) = arena.blocks.iter().rfind(|b| !b.freed && is_kept(b)) {
                let before = arena.floor;
                arena.floor = (last.start + last.size).next_multiple_of(HEADER) - start;
                self.kept += arena.floor - before;
            }
        }
        self.kept
    }

    /// Is the address in memory that an earlier execution left behind?
    pub(crate) fn is_kept(&self, at: usize) -> bool {
        self.contains(at) && (at - self.base) % ARENA < self.arenas[(at - self.base) / ARENA].floor
    }

    /// The block that holds the address must be freed.
    pub(crate) fn track(&mut self, at: usize) {
        if let Some((arena, index)) = self.find(at) {
            self.arenas[arena].blocks[index].tracked = true;
        }
    }

    /// Is a block in use whose first words are those of an `Arc` of std's whose value is being dropped?
    pub(crate) fn drops_arc(&self) -> bool {
        self.live().any(|(_, block)| block.counts() == Some([0, 1]))
    }
}
