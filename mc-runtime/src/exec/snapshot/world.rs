//! Memory that outlives executions, and that a test may change nevertheless: the statics of the executable, the thread-locals of the thread that all coroutines share, and what is kept of the arenas.
//!
//! Nobody puts it back when an execution ends: a test may collect there what its executions came to. A snapshot holds what the execution had changed of it until then, byte by byte, and
//! leaves the rest as it is.

use super::super::arena::Heap;
use super::super::run::TestBody;
use super::super::state::{memory, thread_locals};
use super::super::writable::of_the_test;
use std::mem::MaybeUninit;
use std::ops::Range;

/// What was there when the execution began.
#[derive(Debug, Default)]
pub(super) struct World {
    ranges: Vec<(usize, usize)>,
    before: Vec<u8>,
    /// Bytes that the execution had changed when the snapshot was taken that it goes on from.
    changed: Vec<Change>,
}

/// A byte that an execution has changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    at: usize,
    /// Where it is in `World::before`.
    offset: usize,
    before: u8,
    now: u8,
}

impl World {
    /// An execution begins. Is all of it where it was?
    pub(super) fn begin(&mut self, heap: &Heap) -> bool {
        // The tests of the engine run beside each other, and have none.
        let statics = if cfg!(feature = "axioms") { &[] } else { of_the_test().unwrap_or_default() };
        let ranges = || statics.iter().copied().chain([thread_locals()]).chain(heap.kept_memory());
        let is_there = ranges().eq(self.ranges.iter().copied());
        if !is_there {
            self.ranges.clear();
            self.ranges.extend(ranges());
        }
        self.before.clear();
        self.ranges.iter().for_each(|(start, size)| self.before.extend_from_slice(memory(*start, *size)));
        self.changed.clear();
        is_there
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> usize {
        self.before.len()
    }

    /// What the execution has changed of it.
    pub(super) fn changes(&self, changes: &mut Vec<Change>) {
        const PIECE: usize = 64;
        changes.clear();
        let now = |at: usize| memory(at, 1)[0];
        // What is again as it was may be something else when the snapshot is put back.
        let again = self.changed.iter().filter(|c| now(c.at) == c.before);
        changes.extend(again.map(|c| Change { now: c.before, ..*c }));
        let mut offset = 0;
        for &(start, size) in &self.ranges {
            let pieces = self.before[offset..offset + size].chunks(PIECE).zip(memory(start, size).chunks(PIECE));
            for (piece, (before, now)) in pieces.enumerate().filter(|(_, (before, now))| before != now) {
                let bytes = before.iter().zip(now).enumerate().filter(|(_, (before, now))| before != now);
                changes.extend(bytes.map(|(index, (before, now))| {
                    let within = piece * PIECE + index;
                    Change { at: start + within, offset: offset + within, before: *before, now: *now }
                }));
            }
            offset += size;
        }
    }

    /// The execution goes on from where it had changed these.
    pub(super) fn put_back(&mut self, changes: &[Change]) {
        self.changed.clear();
        self.changed.extend_from_slice(changes);
        for change in changes {
            self.before[change.offset] = change.before;
            // SAFETY: a byte of the executable's writable data, of its thread-locals on this thread, or of an arena: mapped, and no code of the test runs.
            unsafe { (change.at as *mut u8).write(change.now) };
        }
    }
}

/// Does the body of a test, or a static of what it is made of, perhaps point to memory that is neither of these, nor in the arenas? What is changed there, no snapshot holds.
pub(super) fn reaches_outside(body: &TestBody) -> bool {
    let (Ok(mapped), Some(statics)) = (writable_memory(), of_the_test()) else { return true };
    let (start, end) = crate::exec::executable();
    let is_outside = |word: usize| {
        let is_known = (start..end).contains(&word) || crate::exec::arena::in_region(word as *mut u8);
        !is_known && mapped.iter().any(|range| range.contains(&word))
    };
    let captured = (std::ptr::from_ref(&**body).addr(), size_of_val(&**body));
    [captured].into_iter().chain(statics.iter().copied()).flat_map(words).any(is_outside)
}

/// The words of some memory.
fn words((start, size): (usize, usize)) -> impl Iterator<Item = usize> {
    const WORD: usize = size_of::<usize>();
    let first = start.next_multiple_of(WORD);
    let inside = (first..start + size).step_by(WORD).take_while(move |at| at + WORD <= start + size);
    // SAFETY: aligned words of the body, or of the executable's writable data, which nobody changes meanwhile; whatever they hold, it is only compared.
    inside.map(|at| unsafe { (at as *const MaybeUninit<usize>).read_volatile().assume_init() })
}

/// Where this process can write.
fn writable_memory() -> std::io::Result<Vec<Range<usize>>> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let range = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        rest.as_bytes().get(1).filter(|flag| **flag == b'w')?;
        Some(address(start)?..address(end)?)
    };
    Ok(maps.lines().filter_map(range).collect())
}
