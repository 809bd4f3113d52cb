//! Spin loops, proved: a thread that comes back to the same load with the same state, having only read since, will do so for ever.
//!
//! Nothing else ran in between, so equal states (`state`) mean that the round had no effect. The thread then
//! stops for good before its second read; a later write revisits the first one, as for an `await` of the specification.
//! States are kept only at loads that are known to be in loops: when one is learned, the exploration starts again.
//! They are copied, not hashed: most differ from the next in a register or near the top of the stack, and a copy is cheaper than a hash.

use super::state::{Around, Frame, pieces};
use std::panic::Location;
use std::ptr;

/// The loads of a thread since its last event with an effect, the last [`LONGEST`] of them.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// As a ring; its memory is kept.
    rounds: Vec<Round>,
    /// How many loads there were.
    made: usize,
}

#[derive(Debug)]
struct Round {
    site: *const Location<'static>,
    stack: usize,
    /// What the state was; empty at a load that is not known to be in a loop.
    state: Vec<u8>,
}

impl Rounds {
    /// There was an event with an effect.
    pub(crate) fn clear(&mut self) {
        self.made = 0;
    }

    /// The last load was taken back.
    pub(super) fn forget_last(&mut self) {
        self.made -= 1;
    }

    /// The loads, the last first.
    fn recent(&self) -> impl Iterator<Item = &Round> {
        let kept = self.made.min(LONGEST);
        (self.made - kept..self.made).rev().map(|i| &self.rounds[i % LONGEST])
    }

    /// The place of the next load.
    fn next(&mut self) -> &mut Round {
        let at = self.made % LONGEST;
        self.made += 1;
        if at == self.rounds.len() {
            self.rounds.push(Round { site: ptr::null(), stack: 0, state: Vec::new() });
        }
        &mut self.rounds[at]
    }
}

impl Round {
    /// Is the state what it was?
    fn is_at(&self, frame: &Frame, around: Around<'_>) -> bool {
        let mut rest = &self.state[..];
        let same = |piece: &[u8]| match rest.split_at_checked(piece.len()) {
            Some((known, after)) if known == piece => {
                rest = after;
                true
            }
            _ => false,
        };
        pieces(frame, around, same) && rest.is_empty()
    }
}

/// What is known of a thread that is about to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spin {
    /// It goes on.
    No,
    /// The round since the last load here had no effect.
    Repeats {
        /// How many reads the round made.
        reads: u32,
    },
    /// It was here before, and states were not yet compared here.
    Learned,
}

/// How many loads back a round may have begun.
const LONGEST: usize = 256;

/// The loads that are known to be in loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    known: Vec<*const Location<'static>>,
    deepest: usize,
}

impl Loops {
    /// Are there any?
    pub(super) fn any(&self) -> bool {
        !self.known.is_empty()
    }

    /// Is the load known to be in a loop?
    pub(super) fn knows(&self, site: &'static Location<'static>) -> bool {
        self.known.contains(&ptr::from_ref(site))
    }

    /// The farthest from the base of a stack that a load was made.
    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    /// How much of a stack must be as new when a thread starts: what an earlier execution left there must not make a difference.
    pub(super) fn compared(&self) -> usize {
        if self.any() { (self.deepest + 512).next_multiple_of(512) } else { 0 }
    }

    /// A thread comes to a load.
    pub(super) fn arrive(
        &mut self,
        rounds: &Rounds,
        site: &'static Location<'static>,
        frame: Frame,
        around: Around<'_>,
    ) -> Spin {
        self.deepest = self.deepest.max(around.base.saturating_sub(frame.stack));
        let site = ptr::from_ref(site);
        let same = |r: &Round| r.site == site && r.stack == frame.stack;
        if !rounds.recent().any(same) {
            return Spin::No;
        }
        if !self.known.contains(&site) {
            self.known.push(site);
            return Spin::Learned;
        }
        match rounds.recent().position(|r| same(r) && r.is_at(&frame, around)) {
            Some(back) => Spin::Repeats { reads: back as u32 + 1 },
            None => Spin::No,
        }
    }

    /// The thread makes the load.
    pub(super) fn remember(
        &self,
        rounds: &mut Rounds,
        site: &'static Location<'static>,
        frame: Frame,
        around: Around<'_>,
    ) {
        let round = rounds.next();
        (round.site, round.stack) = (ptr::from_ref(site), frame.stack);
        round.state.clear();
        if self.known.contains(&round.site) {
            pieces(&frame, around, |piece| {
                round.state.extend_from_slice(piece);
                true
            });
        }
    }
}
