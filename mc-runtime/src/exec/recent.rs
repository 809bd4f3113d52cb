//! The plain accesses that the running thread made at the present moment: to make one of them again tells nothing new.
//!
//! A moment lasts until the engine is asked for anything else than a plain access, another thread runs, or memory is freed. Within it, what is ordered with what does not change, and neither
//! does what is in use, so that a second access of the same bytes finds what the first has found. Who reads what he has written finds no more than that has.

/// By a hash of the line, the last one.
#[derive(Debug)]
pub(super) struct Recent(Box<[Entry; Recent::MANY]>);

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    moment: u64,
    line: usize,
    /// The bytes of it that were accessed, and those of them that were written.
    accessed: u64,
    written: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Self(Box::new([Entry::default(); Self::MANY]))
    }
}

impl Recent {
    /// So many are known at most.
    pub(super) const MANY: usize = 128;

    /// Were these bytes of a line accessed at this moment, and written, if they are now?
    #[inline]
    pub(super) fn has(&self, moment: u64, (line, mask): (usize, u64), writes: bool) -> bool {
        let entry = &self.0[line % Self::MANY];
        let covered = if writes { entry.written } else { entry.accessed };
        (entry.moment, entry.line) == (moment, line) && mask & !covered == 0
    }

    /// They were.
    #[inline]
    pub(super) fn note(&mut self, moment: u64, (line, mask): (usize, u64), writes: bool) {
        let entry = &mut self.0[line % Self::MANY];
        if (entry.moment, entry.line) != (moment, line) {
            *entry = Entry { moment, line, accessed: 0, written: 0 };
        }
        entry.accessed |= mask;
        entry.written |= if writes { mask } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_accessed_is_known_until_the_moment_is_over() {
        let mut recent = Recent::default();
        recent.note(1, (7, 0b1100), false);
        assert!(recent.has(1, (7, 0b1000), false));
        assert!(!recent.has(1, (7, 0b1000), true), "it was only read");
        assert!(!recent.has(1, (7, 0b0110), false), "one of the bytes was not");
        assert!(!recent.has(2, (7, 0b1000), false));
        recent.note(1, (7, 0b0010), true);
        assert!(recent.has(1, (7, 0b0110), false));
        assert!(recent.has(1, (7, 0b0010), true));
        recent.note(2, (7, 1), true);
        assert!(!recent.has(2, (7, 0b0010), false));
    }

    #[test]
    fn a_line_takes_the_place_of_another() {
        let mut recent = Recent::default();
        recent.note(1, (7, 1), true);
        recent.note(1, (7 + Recent::MANY, 2), true);
        assert!(!recent.has(1, (7, 1), true));
        assert!(recent.has(1, (7 + Recent::MANY, 2), true));
        assert!(!recent.has(1, (7 + Recent::MANY, 1), true));
    }
}
