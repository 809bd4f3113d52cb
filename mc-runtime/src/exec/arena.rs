//! The heap of a test: one arena per thread, growing upwards, so that addresses are the same whenever the thread did the same,
//! and freed memory is never mistaken for new memory. It is handed out again only where somebody could see that, and then as a choice ([`reuse`](super::reuse)).
//!
//! [`Allocator`] is the global allocator of the test binary. On a thread of a running execution it serves from the arenas,
//! everywhere else (and for the engine itself) from the system.

mod again;
mod allocator;
mod block;
#[cfg(feature = "unmodified")]
mod c;
mod kept;
mod snapshot;

pub(crate) use again::{At, Free, Moment};
pub use allocator::Allocator;
pub(crate) use allocator::{in_region, is_installed};
pub(crate) use block::Block;
pub(crate) use snapshot::Snapshot;

use rustc_hash::FxHashMap;
use std::alloc::{GlobalAlloc as _, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Where the regions are, so that addresses are the same in every process.
const BASE: usize = 0x2000_0000_0000;
/// Address space for one heap. Only touched pages count.
const REGION: usize = 1 << 40;
/// How many checks can run in one process at once.
const REGIONS: usize = 16;
const ARENA: usize = REGION / ARENAS;
/// Arenas: one per thread slot.
pub(crate) const ARENAS: usize = 256;
/// Bytes before each block: zeros, and its index in its arena.
const HEADER: usize = 16;
/// In the header, with the index: the block was freed. So the states of a thread before and after differ (`exec::state`).
const FREED: usize = 1 << (usize::BITS - 1);

/// Which regions are in use, and which are mapped, a bit each.
static USED: Mutex<(u32, u32)> = Mutex::new((0, 0));

/// What is kept at the bottom of the arenas of each region that has been used, see [`Heap::keep`]: it outlives the check, too.
static KEPT: Mutex<[Vec<usize>; REGIONS]> = Mutex::new([const { Vec::new() }; REGIONS]);

thread_local! {
    /// The heap of the running execution, while its code runs on this thread of the operating system; null in the engine.
    static HEAP: Cell<*mut Heap> = const { Cell::new(ptr::null_mut()) };
}

/// Lets allocations of this thread of the operating system go to `heap` (to the system, if null). Returns what was before.
#[inline]
pub(crate) fn switch(heap: *mut Heap) -> *mut Heap {
    // SAFETY: a heap that is switched to lives until another one is.
    #[cfg(feature = "unmodified")]
    crate::system_calls::select(unsafe { heap.as_ref() }.is_some_and(|heap| heap.watches_calls));
    HEAP.replace(heap)
}

/// Do allocations of this thread of the operating system go to a heap, and was this memory allocated there since the execution began?
#[inline]
pub(crate) fn is_of_execution(at: usize) -> bool {
    // SAFETY: a heap that is switched to lives until another one is.
    let heap = unsafe { HEAP.get().as_ref() };
    heap.is_some_and(|heap| heap.contains(at) && (heap.kept == 0 || !heap.is_kept(at)))
}

/// Do allocations of this thread of the operating system go to a heap?
#[cfg(feature = "unmodified")]
pub(crate) fn is_used() -> bool {
    !HEAP.get().is_null()
}

#[derive(Debug, Default)]
struct Arena {
    /// What is below was kept after an execution, see `kept`.
    floor: usize,
    top: usize,
    blocks: Vec<Block>,
    live: usize,
    /// The block that was asked for last.
    found: Cell<usize>,
}

impl Arena {
    /// The execution is over, and its memory, which starts there, goes back to the system, but for so much.
    #[cold]
    #[inline(never)]
    fn shrink(&self, start: usize, most: usize) {
        let keep = most + self.floor.next_multiple_of(most);
        let start = (start + keep) as *mut libc::c_void;
        // SAFETY: the range is part of the private mapping of `region`, past what any live object uses: the execution is over.
        unsafe { libc::madvise(start, self.top.saturating_sub(keep), libc::MADV_DONTNEED) };
    }
}

/// All arenas of an execution.
#[derive(Debug)]
pub(crate) struct Heap {
    base: usize,
    limit: usize,
    used: usize,
    current: usize,
    /// How many events the running thread has made.
    pub events: u32,
    /// The highest slot that was entered in this execution.
    highest: usize,
    arenas: Vec<Arena>,
    /// The bytes below the floors of all arenas.
    kept: usize,
    /// How often a block was freed.
    #[cfg(feature = "unmodified")]
    pub frees: u64,
    /// Freed ranges of watched blocks that the engine has not yet looked at.
    pub freed: Vec<(usize, usize)>,
    /// How many values and blocks of `Arc`s come to their end just now, whose counts nobody sees.
    pub ending: u32,
    /// What blocks that were handed out again had been before.
    earlier: Vec<Block>,
    /// The rooms of what was freed, as bits.
    freed_rooms: u64,
    /// Blocks are handed out again, if that is chosen.
    pub reuses: bool,
    /// A block that was freed twice.
    pub double_free: Option<usize>,
    /// What new blocks hold, where what an earlier execution has left there must not make a difference.
    pub fill: Option<u8>,
    /// System calls of the code that it is for are looked at.
    #[cfg(feature = "unmodified")]
    pub watches_calls: bool,
    /// The limit was reached.
    pub exhausted: bool,
    /// There may be owners that are not seen, see `Options::origin`.
    pub owned_unseen: bool,
    /// Then: a block like one of std's `Arc` was freed since the engine last looked.
    pub freed_arc: bool,
    /// Served by the system instead: the rehearsal, in which what is made once per process is made.
    pub rehearsal: bool,
    /// What the rehearsal allocated, and whether it freed it. Freed for real only after it: a test that frees twice, or uses what it has
    /// freed, must not damage the heap of the process.
    rehearsed: FxHashMap<usize, (Layout, bool)>,
    /// What rehearsals that are over have freed: another one gets other addresses.
    spent: Vec<(usize, Layout)>,
    /// The bytes that are kept back.
    kept_back: usize,
}

impl Heap {
    /// A heap of at most `limit` bytes. `None` if its address space cannot be had (it is in use, or limited).
    pub(crate) fn new(limit: usize) -> Option<Self> {
        let base = take_region()?;
        let kept = std::mem::take(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner)[(base - BASE) / REGION]);
        let bytes_kept = kept.iter().sum();
        let floors = kept.into_iter().chain(std::iter::repeat(0)).take(ARENAS);
        let arenas = floors.map(|floor| Arena { floor, top: floor, ..Arena::default() }).collect();
        Some(Heap {
            base,
            limit: limit.min(ARENA),
            used: 0,
            current: 0,
            events: 0,
            highest: 0,
            arenas,
            kept: bytes_kept,
            #[cfg(feature = "unmodified")]
            frees: 0,
            freed: Vec::new(),
            ending: 0,
            earlier: Vec::new(),
            freed_rooms: 0,
            reuses: false,
            double_free: None,
            fill: None,
            #[cfg(feature = "unmodified")]
            watches_calls: false,
            exhausted: false,
            owned_unseen: false,
            freed_arc: false,
            rehearsal: false,
            rehearsed: FxHashMap::default(),
            spent: Vec::new(),
            kept_back: 0,
        })
    }

    /// Where an address is in the arena of `slot`, if it is in that one.
    pub(crate) fn offset(&self, at: usize, slot: usize) -> Option<usize> {
        at.checked_sub(self.base + slot * ARENA).filter(|offset| *offset < ARENA)
    }

    /// The thread in `slot` runs next, and has made `events` events.
    pub(crate) fn enter(&mut self, slot: usize, events: u32) {
        (self.current, self.events) = (slot, events);
        self.highest = self.highest.max(slot);
    }

    /// Another execution begins.
    pub(crate) fn reset(&mut self) {
        for (slot, arena) in self.arenas[..=self.highest].iter_mut().enumerate() {
            const KEEP: usize = 4 << 20;
            if arena.top > KEEP {
                arena.shrink(self.base + slot * ARENA, KEEP);
            }
            (arena.top, arena.live) = (arena.floor, 0);
            arena.blocks.clear();
        }
        (self.used, self.highest, self.ending) = (0, 0, 0);
        self.freed.clear();
        self.earlier.clear();
        self.double_free = None;
        (self.exhausted, self.freed_arc, self.freed_rooms) = (false, false, 0);
    }

    /// Are there blocks that are still in use?
    pub(crate) fn any_live(&self) -> bool {
        self.arenas[..=self.highest].iter().any(|arena| arena.live > 0)
    }

    /// The blocks that are still in use, with the slot of the thread that made them.
    pub(crate) fn live(&self) -> impl Iterator<Item = (usize, Block)> + '_ {
        let arenas = self.arenas[..=self.highest].iter().filter(|arena| arena.live > 0);
        arenas.flat_map(|arena| arena.blocks.iter().filter(|b| !b.freed).map(|b| (b.slot as usize, *b)))
    }

    /// The bytes of the other threads' arenas that were handed out, for the comparison of states.
    pub(crate) fn memory_of_others(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..=self.highest)
            .filter(|slot| *slot != self.current)
            .map(|slot| self.memory(slot))
            .filter(|(_, len)| *len > 0)
    }

    /// Those of the running thread's.
    pub(crate) fn own_memory(&self) -> (usize, usize) {
        self.memory(self.current)
    }

    fn memory(&self, slot: usize) -> (usize, usize) {
        let arena = &self.arenas[slot];
        (self.base + slot * ARENA + arena.floor, arena.top - arena.floor)
    }

    /// Is the address in the arenas?
    pub(crate) fn contains(&self, at: usize) -> bool {
        (self.base..self.base + REGION).contains(&at)
    }

    /// The block that holds the address.
    pub(crate) fn block(&self, at: usize) -> Option<Block> {
        self.find(at).map(|(arena, index)| self.arenas[arena].blocks[index])
    }

    /// The block that holds the address; from now on, its end is looked at.
    pub(crate) fn watch(&mut self, at: usize) -> Option<Block> {
        let (arena, index) = self.find(at)?;
        let block = &mut self.arenas[arena].blocks[index];
        block.watched = true;
        Some(*block)
    }

    /// The block in use that an access leaves, or misses: a part of it is outside.
    #[cfg(feature = "unmodified")]
    pub(crate) fn overrun(&self, at: usize, size: usize) -> Option<Block> {
        if !self.contains(at) {
            return None;
        }
        let arena = &self.arenas[(at - self.base) / ARENA];
        let index = arena.blocks.partition_point(|b| b.start <= at).checked_sub(1)?;
        let block = arena.blocks[index];
        let is_last = index + 1 == arena.blocks.len();
        // What is above the last was another's, and was given back.
        let is_near = !is_last || at < block.start + block.size.max(1).next_multiple_of(HEADER);
        (!block.freed && is_near && at + size > block.start + block.size).then_some(block)
    }

    /// Which block holds the address.
    pub(crate) fn find(&self, at: usize) -> Option<At> {
        if !self.contains(at) {
            return None;
        }
        let number = (at - self.base) / ARENA;
        let arena = &self.arenas[number];
        let holds = |b: &Block| b.start <= at && at < b.start + b.size.max(1);
        // As a rule, it is where the last one was.
        if arena.blocks.get(arena.found.get()).is_some_and(holds) {
            return Some((number, arena.found.get()));
        }
        let index = arena.blocks.partition_point(|b| b.start <= at).checked_sub(1)?;
        arena.found.set(index);
        holds(&arena.blocks[index]).then_some((number, index))
    }

    /// Is the address in the arenas, but not in a block that is in use?
    pub(crate) fn is_dead(&self, at: usize) -> bool {
        self.contains(at) && !self.is_kept(at) && self.block(at).is_none_or(|b| b.freed)
    }

    /// The rehearsal is over. Did it leave something behind?
    pub(crate) fn end_rehearsal(&mut self) -> bool {
        let outlives = self.rehearsed.values().any(|(_, freed)| !freed);
        self.rehearsal = false;
        self.spent
            .extend(self.rehearsed.drain().filter(|(_, (_, freed))| *freed).map(|(at, (layout, _))| (at, layout)));
        outlives
    }

    /// There are no more of them: what they freed goes back to the system.
    pub(crate) fn end_rehearsals(&mut self) {
        self.kept_back = 0;
        for (at, layout) in self.spent.drain(..) {
            // SAFETY: from `System`, with that layout; the test has given it up, and its rehearsal is over.
            unsafe { System.dealloc(at as *mut u8, layout) };
        }
    }

    /// The rehearsal gets a block of the system's.
    ///
    /// # Safety
    /// As [`std::alloc::GlobalAlloc::alloc`].
    #[cold]
    #[inline(never)]
    unsafe fn rehearse(&mut self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller's promise.
        let at = unsafe { System.alloc(layout) };
        self.rehearsed.insert(at as usize, (layout, false));
        at
    }

    /// The rehearsal frees a block of the system's. True if it is kept back.
    fn keep_back(&mut self, at: *mut u8) -> bool {
        const MOST: usize = 64 << 20;
        let Some((layout, freed)) = self.rehearsed.get_mut(&(at as usize)) else { return false };
        if std::mem::replace(freed, true) {
            self.double_free = Some(at as usize);
        } else if self.kept_back + layout.size() > MOST {
            self.rehearsed.remove(&(at as usize));
            return false;
        } else {
            self.kept_back += layout.size();
        }
        true
    }

    /// Can a block be handed out for which nothing is allocated?
    #[inline(always)]
    fn has_room(&self) -> bool {
        let blocks = &self.arenas[self.current].blocks;
        blocks.len() < blocks.capacity() && !self.rehearsal && !self.reuses
    }

    /// A block, where there [is room](Self::has_room) for what is noted of it; null when the heap is exhausted.
    #[inline(always)]
    fn place(&mut self, layout: Layout) -> *mut u8 {
        let start = self.base + self.current * ARENA;
        let arena = &mut self.arenas[self.current];
        // A power of two, so that no division is needed.
        let align = layout.align().max(HEADER);
        let at = (start + arena.top + HEADER + align - 1) & !(align - 1);
        let top = at + layout.size() - start;
        if top > ARENA || self.used + (top - arena.top) > self.limit {
            self.exhausted = true;
            return ptr::null_mut();
        }
        let index = arena.blocks.len();
        let (before, events) = (arena.top, self.events);
        arena.blocks.push(Block::new(at, layout.size(), before, (self.current as u32, events)));
        self.used += top - arena.top;
        arena.top = top;
        arena.live += 1;
        self.set_header(at, index);
        self.fill(at, layout.size());
        at as *mut u8
    }

    /// Writes what stands before a block that is handed out.
    #[inline(always)]
    fn set_header(&self, at: usize, index: usize) {
        let header = (at - HEADER) as *mut [usize; 2];
        // SAFETY: the header lies between the block before and this one, below the top of the arena: mapped, aligned to 16, nobody else's.
        unsafe { header.write([0, index]) };
    }

    /// Writes what such a block holds, if something is wanted there.
    #[inline(always)]
    fn fill(&self, at: usize, size: usize) {
        if let Some(byte) = self.fill {
            // SAFETY: the block that is handed out.
            unsafe { ptr::write_bytes(at as *mut u8, byte, size) };
        }
    }

    /// The same, where room may have to be made first.
    fn allocate_with_room(&mut self, layout: Layout) -> *mut u8 {
        self.arenas[self.current].blocks.reserve(1);
        self.place(layout)
    }

    fn free(&mut self, at: *mut u8) {
        let offset = (at as usize).wrapping_sub(self.base);
        let slot = offset / ARENA;
        let Some(arena) = self.arenas.get_mut(slot).filter(|arena| offset % ARENA >= arena.floor) else {
            return; // of another check of this process, or of an execution that is over
        };
        #[cfg(feature = "unmodified")]
        {
            self.frees += 1;
        }
        // SAFETY: every block of the region was made by `place`, which put its header right before it; the region stays mapped.
        let header = unsafe { &mut *((at as usize - HEADER) as *mut [usize; 2]) };
        let (index, current) = (header[1] & !FREED, self.current);
        // What is there again may have been seen before.
        let last = index + 1 == arena.blocks.len() && !self.earlier.iter().any(|earlier| earlier.start == at as usize);
        // A block that is not known was freed before, and its room given back.
        let Some(block) = arena.blocks.get_mut(index).filter(|b| b.start == at as usize && !b.freed) else {
            self.double_free = Some(at as usize);
            return;
        };
        block.freed = true;
        (block.freed_by, block.freed_by_owner) = ((current as u32, self.events), self.ending > 0);
        header[1] |= FREED;
        self.freed_arc |= self.owned_unseen && block.counts() == Some([0, 0]);
        arena.live -= 1;
        // Made and freed between two events of its thread: nobody else can have seen it, so the room is free again.
        if last && slot == current && block.events == self.events {
            self.used -= arena.top - block.before;
            arena.top = block.before;
            arena.blocks.pop();
            return;
        }
        self.freed_rooms |= again::bit_of_room(block.size);
        if block.watched {
            let range = (block.start, block.start + block.size.max(1));
            self.note_freed(range);
        }
    }

    /// The engine is to look at this range.
    #[inline(never)]
    fn note_freed(&mut self, range: (usize, usize)) {
        // The system has the memory for that.
        let heap = HEAP.replace(ptr::null_mut());
        self.freed.push(range);
        HEAP.set(heap);
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        let floors = self.arenas.iter().map(|arena| arena.floor).collect();
        KEPT.lock().unwrap_or_else(PoisonError::into_inner)[(self.base - BASE) / REGION] = floors;
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        used.0 &= !(1 << ((self.base - BASE) / REGION));
    }
}

/// A region for one heap.
fn take_region() -> Option<usize> {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let free = (0..REGIONS).find(|r| used.0 >> r & 1 == 0)?;
    let at = BASE + free * REGION;
    if used.1 >> free & 1 == 0 {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a new private mapping; `MAP_FIXED_NOREPLACE` never takes addresses that are in use.
        let got = unsafe { libc::mmap(at as *mut _, REGION, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if got as usize != at {
            return None;
        }
    }
    *used = (used.0 | 1 << free, used.1 | 1 << free);
    Some(at)
}
