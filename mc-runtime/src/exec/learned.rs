//! What must be known from the start of a test: once it is learned, the exploration starts again.

use super::{Engine, Guide, Step};
use crate::ops::{BARRIER_ORDER, READER_ORDER};
use crate::options::Options;
use std::sync::atomic::{AtomicU64, Ordering};

impl Engine {
    /// See `ops::learn`.
    pub(crate) fn learn(&mut self, key: u64) -> Step<()> {
        or_return!(self.enter());
        self.close();
        if self.has_learned(key) {
            return Step::Done(());
        }
        self.learn_now(key)
    }

    #[cold]
    pub(super) fn learn_now<T>(&mut self, key: u64) -> Step<T> {
        self.learned.insert(short(key));
        self.start_again()
    }

    /// See `ops::learned`.
    pub(crate) fn has_learned(&self, key: u64) -> bool {
        self.learned.contains(&short(key))
    }

    /// Starts with what another check of the same test has learned.
    pub(crate) fn take_knowledge(&mut self, other: &Engine) {
        self.learned.extend(&other.learned);
        self.left_out.take_knowledge(&other.left_out);
        self.symmetry &= other.symmetry;
        self.take_observers(other);
        self.loops = other.loops.clone();
        self.progress = other.progress.clone();
    }

    /// Was a count of an `Arc` of std's an event? In a rehearsal, none is.
    pub(crate) fn sees_counts(&self) -> bool {
        #[cfg(feature = "unmodified")]
        return self.has_seen_counts;
        #[cfg(not(feature = "unmodified"))]
        false
    }
}

/// What is taken as known: the order of what reductions that are off leave out. A sampler adds one event after the other, each at its place.
pub(super) fn from_start(options: &Options, guide: &Guide) -> impl Iterator<Item = u64> {
    let barriers = (!options.reductions.barriers).then_some(BARRIER_ORDER);
    let counts_readers = !options.reductions.readers || matches!(guide, Guide::Sample(_));
    barriers.into_iter().chain(counts_readers.then_some(READER_ORDER)).map(short)
}

/// Keys of what is learned count by their low 16 bits, which is what a schedule carries.
pub(super) fn short(key: u64) -> u64 {
    key & u64::from(u16::MAX)
}

/// The key of what is at this address for as long as the process lives, such as the name of a type or of a place. It is asked for often, so those that were asked for last are
/// known: the address, and behind it the bits that count.
pub(crate) fn key_of(at: usize, key: impl FnOnce() -> u64) -> u64 {
    const BITS: u32 = u16::BITS;
    static KNOWN: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];
    let known = &KNOWN[(at >> 4) % KNOWN.len()];
    let last = known.load(Ordering::Relaxed);
    if last >> BITS == at as u64 {
        return short(last);
    }
    let key = short(key());
    known.store((at as u64) << BITS | key, Ordering::Relaxed);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_that_of_its_address_and_is_made_once() {
        let place = |at: usize| 0x7fff_0000_1000 + 16 * at;
        for at in [1, 2, 257, 1] {
            assert_eq!(key_of(place(at), || 0xabcd_0000 + at as u64), at as u64);
            assert_eq!(key_of(place(at), || unreachable!("it is known")), at as u64);
        }
    }
}
