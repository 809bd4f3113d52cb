//! Operations that have no order among themselves, as long as nothing asks for it: who meets at a barrier, and the readers of a lock.

use super::entry::access;
use super::{Label, Width, operation};
use crate::operation::{ARRIVALS, Code};
use std::sync::atomic::Ordering;

/// [Learned](super::learn) when somebody asks who came last to a barrier, or more threads come than there are places: from then on [`arrive`] must not be called.
pub const BARRIER_ORDER: u64 = u64::from_le_bytes(*b"barriers") | 1;

/// Comes to a barrier of `places` places, whose 32-bit word has the number of arrivals in its low 16 bits and the generation above; returns the old word.
/// The last to come adds what makes the arrivals 0 and the generation the next.
///
/// Who comes first is no choice: whoever meets at a barrier goes on only after all have come. That holds as long as no more than `places` threads ever come;
/// otherwise [`BARRIER_ORDER`] is learned.
#[track_caller]
#[inline(always)]
pub fn arrive(at: *mut (), places: u16, label: Label) -> Option<u32> {
    let operation = operation(Code::Arrive, (u64::from(places), 0), Width::W32, Ordering::AcqRel, label);
    access(at, operation).map(|a| a.old as u32)
}

/// Waits until the barrier has left the generation of `word`; all arrivals of it happen before.
#[track_caller]
#[inline(always)]
pub fn pass(at: *mut (), word: u32, label: Label) -> bool {
    let generation = u64::from(word) & !ARRIVALS;
    access(at, operation(Code::Pass, (generation, 0), Width::W32, Ordering::Acquire, label)).is_some()
}

/// [Learned](super::learn) when the readers of a lock must be counted one after the other: from then on [`read_lock`], [`read_unlock`] and [`write_lock`] must not be called.
pub const READER_ORDER: u64 = u64::from_le_bytes(*b"rw_count") | 1;

/// Waits until no writer holds the reader-writer lock with this 32-bit word, and joins its readers. The highest bit of the word is the writer's, the others
/// count readers; it begins with 0.
///
/// Readers have no order among themselves. That holds as long as the word is changed by this, [`read_unlock`] and [`write_lock`], and by read-modify-writes of the writer that
/// holds it, and each thread leaves the readers that has joined them; otherwise [`READER_ORDER`] is to be learned.
#[track_caller]
#[inline(always)]
pub fn read_lock(at: *mut (), label: Label) -> bool {
    access(at, operation(Code::ReadLock, (0, 0), Width::W32, Ordering::Acquire, label)).is_some()
}

/// Leaves the readers of a lock, which the calling thread has joined by [`read_lock`], or by what it left of a writer's lock.
#[track_caller]
#[inline(always)]
pub fn read_unlock(at: *mut (), label: Label) -> bool {
    access(at, operation(Code::ReadUnlock, (0, 0), Width::W32, Ordering::Release, label)).is_some()
}

/// Waits until nobody holds the lock, and sets the writer's bit.
#[track_caller]
#[inline(always)]
pub fn write_lock(at: *mut (), label: Label) -> bool {
    access(at, operation(Code::WriteLock, (0, 0), Width::W32, Ordering::Acquire, label)).is_some()
}
