//! What the arenas hold, to be put back there.

use super::{Arena, Block, Heap};
use std::ptr;

/// The arenas between two turns of an execution.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    arenas: Vec<Part>,
    /// What they hold, one after the other.
    bytes: Vec<u8>,
    used: usize,
    freed: Vec<(usize, usize)>,
    earlier: Vec<Block>,
    freed_arc: bool,
    freed_rooms: u64,
    ending: u32,
    /// What was kept below them then.
    kept: usize,
}

#[derive(Debug, Default)]
struct Part {
    top: usize,
    live: usize,
    found: usize,
    blocks: Vec<Block>,
}

impl Heap {
    /// How many bytes the arenas hold.
    pub(crate) fn size(&self) -> usize {
        self.used
    }

    /// Whether a snapshot of the heap would be whole.
    pub(crate) fn can_be_kept(&self) -> bool {
        !self.rehearsal && self.double_free.is_none() && !self.exhausted
    }

    /// The memory below the arenas, which outlives executions.
    pub(crate) fn kept_memory(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let arenas = self.arenas.iter().enumerate().filter(|(_, arena)| arena.floor > 0);
        arenas.map(|(slot, arena)| (self.base + slot * super::ARENA, arena.floor))
    }

    /// Copies what the arenas hold.
    pub(crate) fn keep_in(&self, snapshot: &mut Snapshot) {
        let count = self.highest + 1;
        snapshot.arenas.resize_with(count, Part::default);
        snapshot.bytes.clear();
        for (slot, (part, arena)) in snapshot.arenas.iter_mut().zip(&self.arenas[..count]).enumerate() {
            (part.top, part.live, part.found) = (arena.top, arena.live, arena.found.get());
            part.blocks.clone_from(&arena.blocks);
            let (start, size) = self.memory(slot);
            // SAFETY: mapped memory of the arena that was handed out; no code of the test runs, and what was never written is copied as whatever it is.
            snapshot.bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(start as *const u8, size) });
        }
        (snapshot.used, snapshot.freed_arc, snapshot.kept) = (self.used, self.freed_arc, self.kept);
        (snapshot.ending, snapshot.freed_rooms) = (self.ending, self.freed_rooms);
        snapshot.freed.clone_from(&self.freed);
        snapshot.earlier.clone_from(&self.earlier);
    }

    /// Can the snapshot be put back? What was kept since may lie where its blocks were.
    pub(crate) fn suits(&self, snapshot: &Snapshot) -> bool {
        self.kept == snapshot.kept
    }

    /// Puts it back, into arenas that are [reset](Heap::reset).
    pub(crate) fn put_back(&mut self, snapshot: &Snapshot) {
        let mut rest = &snapshot.bytes[..];
        self.highest = snapshot.arenas.len() - 1;
        for (slot, part) in snapshot.arenas.iter().enumerate() {
            let Arena { top, blocks, live, found, .. } = &mut self.arenas[slot];
            (*top, *live) = (part.top, part.live);
            found.set(part.found);
            blocks.clone_from(&part.blocks);
            let (start, size) = self.memory(slot);
            let (bytes, after) = rest.split_at(size);
            rest = after;
            // SAFETY: memory of this arena that had been handed out when it was copied; the execution that used it since is over, and no code of the test runs.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), start as *mut u8, size) };
        }
        (self.used, self.freed_arc, self.ending) = (snapshot.used, snapshot.freed_arc, snapshot.ending);
        self.freed_rooms = snapshot.freed_rooms;
        self.freed.clone_from(&snapshot.freed);
        self.earlier.clone_from(&snapshot.earlier);
    }
}
