//! The state of a thread at an operation: all that could tell one round of a loop from another, byte by byte.
//!
//! The place in the code, the registers that a call preserves, the stack from the caller of the operation to its base, the stacks of the other
//! threads (it may count in what they lend it), the arenas, the writable data and the thread-locals of the executable.

use super::arena::Heap;
use super::headers::Headers;
use super::liveness::Places;
use super::writable::{compared, data};
use std::ptr;
use std::sync::OnceLock;

/// What a thread has in its registers at an operation, as that finds it on the stack: pushed last first, directly below the caller's frame.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Frame {
    /// The registers that calls preserve: `rbx`, `rbp`, `r12` to `r15`.
    pub registers: [u64; 6],
    /// Where the thread goes on after the operation. A loop that the compiler unrolled has one for each round.
    pub code: u64,
}

impl Frame {
    /// The lowest address of the caller's stack.
    #[inline]
    pub(crate) fn stack(&self) -> usize {
        ptr::from_ref(self).addr() + size_of::<Self>()
    }
}

/// What a loop could change, besides its own frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'a> {
    /// The end of the running thread's stack.
    pub base: usize,
    pub shared: &'a Shared,
}

/// Of no bytes, at an address that is not null.
pub(super) const NOWHERE: (usize, usize) = (1, 0);

/// What others can change too: the other threads' stacks, the arenas, the writable data and the thread-locals. First the arena of the running thread: where the
/// others are stays, as long as that runs.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Those that are not empty, but for the first.
    ranges: Vec<(usize, usize)>,
    lengths: Vec<[u8; size_of::<usize>()]>,
    /// How many bytes they have together.
    size: usize,
}

impl Shared {
    /// Another thread runs.
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.lengths.clear();
        self.size = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds all but the stacks.
    pub(super) fn find(&mut self, heap: Option<&Heap>) {
        self.ranges.push(NOWHERE); // the running thread's arena
        self.lengths.push(NOWHERE.1.to_ne_bytes());
        for (start, length) in heap.into_iter().flat_map(Heap::memory_of_others) {
            self.add(start, length);
        }
        for (start, length) in compared() {
            self.add(*start, *length);
        }
        let (start, length) = thread_locals();
        self.add(start, length);
    }

    pub(super) fn add(&mut self, start: usize, length: usize) {
        self.lengths.push(length.to_ne_bytes());
        if length > 0 {
            self.ranges.push((start, length));
            self.size += length;
        }
    }

    /// The arena of the running thread has changed.
    pub(super) fn set_own(&mut self, (start, length): (usize, usize)) {
        self.size = self.size - self.ranges[0].1 + length;
        (self.ranges[0], self.lengths[0]) = ((start, length), length.to_ne_bytes());
    }

    /// Makes `copy` a copy of it.
    #[inline]
    pub(super) fn copy_to(&self, copy: &mut Vec<u8>) {
        let lengths = self.lengths.as_flattened();
        // As a rule it has as many bytes as the last one.
        copy.resize(lengths.len() + self.size, 0);
        let (head, mut rest) = copy.split_at_mut(lengths.len());
        head.copy_from_slice(lengths);
        for (start, length) in &self.ranges {
            let (piece, after) = rest.split_at_mut(*length);
            piece.copy_from_slice(memory(*start, *length));
            rest = after;
        }
    }

    /// Passes it to `look`, piece by piece, until that says no. Returns whether it never did.
    pub(super) fn all(&self, mut look: impl FnMut(&[u8]) -> bool) -> bool {
        look(self.lengths.as_flattened()) && self.ranges.iter().all(|(start, length)| look(memory(*start, *length)))
    }
}

/// Passes what is only the thread's own to `look`, piece by piece, until that says no: the frame but for what is `dead` in it, and the stack above it. Returns whether it never did.
pub(super) fn own(frame: &Frame, dead: Places, base: usize, mut look: impl FnMut(&[u8]) -> bool) -> bool {
    let live = |which: usize| if dead.has_register(which) { 0 } else { frame.registers[which] };
    let words = [live(0), live(1), live(2), live(3), live(4), live(5), frame.code].map(u64::to_ne_bytes);
    let mut from = frame.stack();
    look(words.as_flattened())
        && dead.slots().all(|slot| {
            let start = std::mem::replace(&mut from, frame.stack() + (slot + 1) * size_of::<u64>());
            look(memory(start, frame.stack() + slot * size_of::<u64>() - start))
        })
        && look(memory(from, base.saturating_sub(from)))
}

/// The frame, and the stack above it: all that a thread has but for what it shares with others.
pub(super) fn image<'a>(frame: &Frame, base: usize) -> &'a [u8] {
    let start = ptr::from_ref(frame).addr();
    memory(start, base - start)
}

/// Makes them what they were.
///
/// # Safety
/// The image is one of a frame at the same address of the same stack, on which nothing was made since that lives below it and is still used.
pub(super) unsafe fn put_back(frame: &mut Frame, image: &[u8]) {
    // SAFETY: our caller's promise: the image ends where the stack does, which is mapped and the running thread's own. It is in memory of the checker's.
    unsafe { ptr::copy_nonoverlapping(image.as_ptr(), ptr::from_mut(frame).cast(), image.len()) };
}

pub(super) fn memory<'a>(start: usize, len: usize) -> &'a [u8] {
    // SAFETY: the ranges are the calling thread's own stack above its frame, those of suspended threads, handed-out memory of the arenas, and the executable's writable
    // segments: all mapped and readable. No other thread runs while the slice is looked at; bytes that were never written are read as whatever they hold.
    unsafe { std::slice::from_raw_parts(start as *const u8, len) }
}

/// The executable's thread-locals of this thread of the operating system.
pub(super) fn thread_locals() -> (usize, usize) {
    static SIZE: OnceLock<usize> = OnceLock::new();
    let size = *SIZE.get_or_init(|| {
        let block = Headers::of_executable().of_kind(libc::PT_TLS).next();
        block.map_or(0, |(range, header)| range.len().next_multiple_of(header.p_align.max(1) as usize))
    });
    let end: usize;
    // SAFETY: the x86-64 ABI for thread-local storage: the word at `fs:0` is the thread pointer, and the executable's block ends there.
    unsafe { std::arch::asm!("mov {}, fs:0", out(reg) end, options(nostack, readonly, preserves_flags)) };
    (end - size, size)
}

/// What looks like an address that is `wanted`, in the writable data of the executable and the thread-locals of this thread of the operating system.
pub(super) fn pointers(wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut found = Vec::new();
    for (start, size) in data().iter().copied().chain([thread_locals()]) {
        let start = start.next_multiple_of(size_of::<usize>());
        for word in 0..size / size_of::<usize>() {
            // SAFETY: memory of this process that stays mapped; nobody else runs, and what is read is only compared.
            let value = unsafe { ((start + word * size_of::<usize>()) as *const usize).read_volatile() };
            if wanted(value) {
                found.push(value);
            }
        }
    }
    found
}
