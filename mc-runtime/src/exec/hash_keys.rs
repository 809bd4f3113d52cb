//! The keys of std's hash maps are the same in every execution, and in every process: otherwise the order of what is in a map would be the chance of the day.
//!
//! std draws them once per thread of the operating system, and counts one of both up for each map. They are found by what they hold.

use super::state;
use std::cell::Cell;
use std::hash::RandomState;
use std::ptr;

/// What the first map of an execution gets, but for what std adds.
const FIRST: [u64; 2] = [0x6d63, 0];

thread_local! {
    /// Where this thread keeps the keys of its next map: 0 if that was not looked for yet, 1 if it was not found.
    static KEYS: Cell<usize> = const { Cell::new(0) };
}

/// Begins with the first keys again. Where std keeps them otherwise than expected, nothing is done, and a test to which the order matters is told that it does not
/// do the same each time.
pub(super) fn reset() {
    if KEYS.get() == 0 {
        KEYS.set(find().unwrap_or(1));
    }
    if KEYS.get() > 1 {
        // SAFETY: found by `find`, on this thread of the operating system: two aligned words of its thread-locals, which stay while it lives.
        unsafe { ptr::write_volatile(KEYS.get() as *mut [u64; 2], FIRST) };
    }
}

/// The two words that the next map gets: what the last one got, one of them counted up.
fn find() -> Option<usize> {
    let [last, next] = [draw()?, draw()?];
    let counted = (0..2).find(|i| next[*i] == last[*i].wrapping_add(1) && next[1 - *i] == last[1 - *i])?;
    let mut wanted = next;
    wanted[counted] = wanted[counted].wrapping_add(1);
    let (start, size) = state::thread_locals();
    let start = start.next_multiple_of(align_of::<u64>());
    // SAFETY: the executable's block of thread-locals of this thread, mapped and readable; whatever the words hold is only compared.
    (start..)
        .step_by(size_of::<u64>())
        .take((size / 8).saturating_sub(1))
        .find(|at| unsafe { ptr::read_volatile(*at as *const [u64; 2]) } == wanted)
}

/// The keys of a new map.
fn draw() -> Option<[u64; 2]> {
    let keys = RandomState::new();
    if size_of::<RandomState>() != size_of::<[u64; 2]>() {
        return None;
    }
    // SAFETY: as large, without padding then, and read as plain words.
    Some(unsafe { ptr::read((&raw const keys).cast()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher as _;

    #[test]
    fn the_first_map_after_a_reset_hashes_the_same_on_any_thread() {
        let first = || {
            reset();
            RandomState::new().hash_one(42)
        };
        let here = first();
        assert_ne!(here, RandomState::new().hash_one(42), "the next map has other keys");
        assert_eq!(here, first());
        assert_eq!(here, std::thread::spawn(first).join().unwrap());
    }
}
