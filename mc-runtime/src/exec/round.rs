//! A round of a loop: where it began, and in which state; and whether a thread that comes there again is in the same.

use super::liveness::Places;
use super::state::{Around, Frame, own};
use crate::operation::{Code, Operation};
use crate::place::Place;

#[derive(Debug)]
pub(super) struct Round {
    /// `None` where there was none yet.
    pub site: Option<Place>,
    pub stack: usize,
    /// What is loaded, and how.
    pub asked: (usize, Operation),
    /// What the state was: what is the thread's own, and what others can change too. The former is empty, and the latter means nothing, at a load that is not known to be in a loop.
    pub own: Vec<u8>,
    pub shared: Vec<u8>,
    /// See [`image`](super::state::image); of a load to which a thread may be put back.
    pub image: Vec<u8>,
    /// It was of a weak compare-exchange, which failed for no reason.
    pub by_chance: bool,
    /// Nobody reads what it gave.
    pub is_unused: bool,
}

impl Round {
    /// One without a state.
    pub(super) fn new() -> Self {
        let asked = (0, Operation::plain(Code::Load));
        let (own, shared, image) = Default::default();
        Round { site: None, stack: 0, asked, own, shared, image, by_chance: false, is_unused: false }
    }

    /// It begins here; what its state is is not known.
    pub(super) fn begin(&mut self, new: &Arrival<'_>) {
        (self.site, self.stack, self.asked) = (Some(new.site), new.frame.stack(), new.asked);
        self.own.clear();
        self.image.clear();
        (self.by_chance, self.is_unused) = (false, false);
    }

    /// What the state is, of a thread to which what is `dead` does not matter.
    pub(super) fn keep(&mut self, frame: &Frame, dead: Places, around: Around<'_>) {
        self.own.reserve(size_of::<Frame>() + around.base.saturating_sub(frame.stack()));
        own(frame, dead, around.base, |piece| {
            self.own.extend_from_slice(piece);
            true
        });
        around.shared.copy_to(&mut self.shared);
    }

    /// Others ran, who have made of `left` what it is `now`. See [`Rounds::interrupted`](super::spin::Rounds::interrupted).
    pub(super) fn interrupted(&mut self, left: &[u8], now: &[u8]) {
        if self.shared == left {
            self.shared.clear();
            self.shared.extend_from_slice(now);
        }
    }

    /// How many bytes its state takes.
    pub(super) fn memory(&self) -> usize {
        self.own.capacity() + self.shared.capacity() + self.image.capacity()
    }

    /// Did it begin with this load?
    pub(super) fn is_of(&self, new: &Arrival<'_>) -> bool {
        (self.asked.0, self.site, self.stack) == (new.asked.0, Some(new.site), new.frame.stack())
            && self.asked.1 == new.asked.1
    }

    /// Is the state what it was?
    pub(super) fn is_at(&self, frame: &Frame, dead: Places, around: Around<'_>) -> bool {
        is_equal(&self.own, |look| own(frame, dead, around.base, look))
            && is_equal(&self.shared, |look| around.shared.all(look))
    }
}

/// Are these the pieces that `state` passes on?
pub(super) fn is_equal(known: &[u8], state: impl FnOnce(&mut dyn FnMut(&[u8]) -> bool) -> bool) -> bool {
    let mut rest = known;
    let mut same = |piece: &[u8]| match rest.split_at_checked(piece.len()) {
        Some((known, after)) if known == piece => {
            rest = after;
            true
        }
        _ => false,
    };
    state(&mut same) && rest.is_empty()
}

/// Makes `copy` a copy of the pieces that `state` passes on.
pub(super) fn copy(copy: &mut Vec<u8>, state: impl FnOnce(&mut dyn FnMut(&[u8]) -> bool) -> bool) {
    copy.clear();
    state(&mut |piece| {
        copy.extend_from_slice(piece);
        true
    });
}

/// A thread comes to a load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'a> {
    pub site: Place,
    /// What is loaded, and how.
    pub asked: (usize, Operation),
    pub frame: &'a Frame,
}
