//! Spin loops, proved: a thread that comes back to the same load with the same state, having only read since, will do so for ever.
//!
//! Nothing else ran in between, so equal states (`state`) mean that the round had no effect. The thread then
//! stops for good before its second read; a later write revisits the first one, as for an `await` of the specification.
//! States are kept only at loads that are known to be in loops: when one is learned, the exploration starts again.
//! They are copied, not hashed: most differ from the next in a register or near the top of the stack, and a copy is cheaper than a hash.

use super::guards::Guards;
use super::liveness::{Liveness, Places};
use super::polls::Polls;
use super::probe::Paths;
use super::round::{Arrival, Round};
use super::state::{Around, image};
use super::touched::Touched;
use super::undone::Undone;
use crate::operation::BY_CHANCE;
use crate::options::Reductions;
use crate::place::Place;

/// The loads of a thread since its last event with an effect, the last [`LONGEST`] of them.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// As a ring; its memory is kept.
    rounds: Vec<Round>,
    /// How many loads there were.
    made: usize,
    /// The addresses that were loaded, by a bit of each.
    loaded: u64,
    /// The last one may have been of an address that was loaded before.
    again: bool,
    /// What is kept after the last one is of the load that the thread is about to make: it has just come back to that.
    kept: bool,
    /// A round that led nowhere was not left out.
    has_kept: bool,
    /// How many bytes of states were copied since it was last looked at how much memory they take.
    copied: usize,
    /// What was touched otherwise, in some round: where, and how many bytes.
    pub(super) touched: Vec<(usize, usize)>,
    /// Effects that may be undone.
    pub(super) undone: Undone,
}

impl Rounds {
    /// There was an event with an effect.
    pub(crate) fn clear(&mut self) {
        self.clear_loads();
        self.undone.clear();
    }

    /// Its effect may be undone.
    pub(super) fn clear_loads(&mut self) {
        (self.made, self.loaded) = (0, 0);
        (self.again, self.kept, self.has_kept) = (false, false, false);
        self.touched.clear();
    }

    /// Were there none, and was nothing touched otherwise?
    pub(super) fn is_empty(&self) -> bool {
        self.made == 0 && self.touched.is_empty() && !self.has_kept && self.undone.is_empty()
    }

    /// The last load was of a weak compare-exchange, which failed for no reason.
    pub(super) fn failed_by_chance(&mut self) {
        if let Some(last) = self.made.checked_sub(1) {
            self.rounds[last % LONGEST].by_chance = true;
        }
    }

    /// Nobody reads what the last load gave.
    pub(super) fn last_is_unused(&mut self) {
        if let Some(last) = self.made.checked_sub(1) {
            self.rounds[last % LONGEST].is_unused = true;
        }
    }

    /// A round of so many reads led nowhere: as a `Block` event has it.
    pub(super) fn in_vain(&self, reads: u32) -> u32 {
        let by_chance = self.recent().take(reads as usize).any(|round| round.by_chance);
        if by_chance { reads | BY_CHANCE } else { reads }
    }

    /// The last load was taken back: the thread is as it was before it.
    pub(super) fn forget_last(&mut self) {
        self.made -= 1;
        self.kept = true;
    }

    /// That load.
    pub(super) fn taken_back(&self) -> Option<&Round> {
        self.kept.then(|| &self.rounds[self.made % LONGEST])
    }

    /// A round led nowhere. If it is the first, it is not left out, alone or with what follows.
    pub(super) fn keep_first(&mut self) -> bool {
        if self.has_kept {
            return false;
        }
        self.clear();
        self.has_kept = true;
        true
    }

    /// The thread touches memory without an event, perhaps in a round.
    pub(super) fn touch(&mut self, at: usize, size: usize) {
        if self.made > 0 && !self.touched.contains(&(at, size)) {
            self.touched.push((at, size));
        }
        self.undone.touch(at, size);
    }

    /// Others run now.
    pub(super) fn leave(&mut self) {
        self.kept = false;
    }

    /// Was the last load of something that was loaded before, as far as is known?
    #[inline]
    pub(super) fn loads_again(&self) -> bool {
        self.again
    }

    /// The loads, the last first.
    pub(super) fn recent(&self) -> impl Iterator<Item = &Round> {
        let kept = self.made.min(LONGEST);
        (self.made - kept..self.made).rev().map(|i| &self.rounds[i % LONGEST])
    }

    /// Is there a round whose state is known?
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.made > 0 && self.recent().any(|round| !round.own.is_empty()) || self.undone.any()
    }

    /// Others ran in the middle of a round. Where the thread had changed nothing that others can change until it was left, it is now as if it had
    /// come to its load only after they ran.
    pub(super) fn interrupted(&mut self, left: &[u8], now: &[u8]) {
        self.rounds.iter_mut().for_each(|round| round.interrupted(left, now));
        self.undone.interrupted(left, now);
    }

    /// Was this load made since something had an effect? One of something else, as in a loop over an array, begins no round that could repeat.
    #[inline]
    pub(super) fn has(&self, new: &Arrival<'_>) -> bool {
        self.may_have(new.asked.0) && self.recent().any(|round| round.is_of(new))
    }

    /// Is there one of this address among them, as far as is known?
    #[inline]
    pub(super) fn may_have(&self, at: usize) -> bool {
        self.made > 0 && self.loaded & bit(at) != 0
    }

    /// The load that the thread makes is the one that it has come back to: what is kept of that still holds.
    pub(super) fn goes_on(&mut self) -> bool {
        let kept = std::mem::take(&mut self.kept);
        self.made += usize::from(kept);
        kept
    }

    /// There was a load that nothing will be compared with.
    pub(super) fn pass(&mut self, new: &Arrival<'_>) {
        self.begin(new);
    }

    /// The round that begins with a load, without its state.
    fn begin(&mut self, new: &Arrival<'_>) -> &mut Round {
        let bit = bit(new.asked.0);
        self.again = self.loaded & bit != 0;
        self.loaded |= bit;
        self.kept = false;
        let round = self.next();
        round.begin(new);
        round
    }

    /// The last state was copied. Where they take too much memory, the oldest ones are forgotten.
    fn limit_memory(&mut self) {
        let last = self.recent().next().map_or(0, |last| last.own.len() + last.shared.len() + last.image.len());
        self.copied += last;
        if self.copied > MOST_KEPT {
            self.forget_oldest();
        }
    }

    #[cold]
    fn forget_oldest(&mut self) {
        self.copied = 0;
        let mut kept: usize = self.rounds.iter().map(Round::memory).sum();
        // Behind the last one are those of before the last effect, or else the oldest.
        let (all, after) = (self.rounds.len(), self.made % LONGEST);
        let (newer, older) = self.rounds.split_at_mut(after.min(all));
        let all_but_last = all.saturating_sub(1);
        for round in older.iter_mut().chain(newer).take(all_but_last) {
            if kept <= MOST_KEPT {
                return;
            }
            kept -= round.memory();
            (round.own, round.shared, round.image) = Default::default();
        }
    }

    /// The place of the next load.
    #[inline]
    fn next(&mut self) -> &mut Round {
        let at = self.made % LONGEST;
        self.made += 1;
        if at == self.rounds.len() {
            self.rounds.push(Round::new());
        }
        &mut self.rounds[at]
    }
}

/// The bit of an address among those that were loaded.
fn bit(at: usize) -> u64 {
    1 << (at / size_of::<u32>() % u64::BITS as usize)
}

/// What is known of a thread that is about to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spin {
    /// It goes on.
    No,
    /// The round since the last load here had no effect.
    Repeats {
        /// How many reads the round made; see [`Rounds::in_vain`].
        reads: u32,
    },
    /// It was here before, and states were not yet compared here.
    Learned,
}

/// How many loads back a round may have begun.
const LONGEST: usize = 256;

/// How many bytes the states of a thread's loads may take, but for the last one. In a test with much memory, few loads back are known.
const MOST_KEPT: usize = 8 << 20;

/// The loads that are known to be in loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops {
    /// Are values that are never read again left out of the states?
    retries: bool,
    liveness: Liveness,
    known: Vec<Place>,
    pub(super) guards: Guards,
    /// See `reread`.
    pub(super) rereads: Paths,
    /// See `values`.
    pub(super) values: Paths,
    /// Exchanges that have failed, after which the thread came back. See `older`.
    failing: Vec<Place>,
    never_older: bool,
    pub(super) touched: Touched,
    pub(super) polls: Polls,
    deepest: usize,
}

impl Loops {
    /// None yet.
    pub(super) fn new(reductions: Reductions) -> Self {
        Loops { retries: reductions.retry, liveness: Liveness::handed_on(), ..Loops::default() }
    }

    /// Is what a thread will not read again left out of its states?
    pub(super) fn leaves_retries_out(&self) -> bool {
        self.retries
    }

    /// What a thread that goes on at `code` will not read.
    pub(super) fn dead(&mut self, code: u64) -> Places {
        if self.retries { self.liveness.dead(code) } else { Places::default() }
    }

    /// See [`Liveness::is_unused`].
    pub(super) fn is_unused(&mut self, code: u64, stack: usize, base: usize) -> bool {
        self.liveness.is_unused(code, stack, base)
    }

    /// Are there any, or other loads whose states are compared?
    pub(super) fn any(&self) -> bool {
        !self.known.is_empty() || self.rereads.any() || self.values.any() || self.polls.any()
    }

    /// Is the load known to be in a loop?
    pub(super) fn knows(&self, site: Place) -> bool {
        self.known.contains(&site)
    }

    /// May older writes be read first there?
    pub(super) fn reads_older_first(&self, site: Place) -> bool {
        !self.never_older && (self.failing.contains(&site) || self.rereads.ends_with(site))
    }

    /// They are nowhere from now on.
    pub(super) fn never_older_first(&mut self) {
        self.never_older = true;
    }

    /// An exchange has failed there, and its thread has come back.
    pub(super) fn learn_older_first(&mut self, site: Place) {
        if !self.failing.contains(&site) {
            self.failing.push(site);
        }
    }

    /// Is its state kept?
    pub(super) fn keeps(&self, site: Place) -> bool {
        self.knows(site) || self.goes_back_to(site)
    }

    /// May a thread be put back to it?
    fn goes_back_to(&self, site: Place) -> bool {
        self.rereads.begins_at(site) || self.values.begins_at(site)
    }

    /// The farthest from the base of a stack that a load was made.
    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    /// How much of a stack must be as new when a thread starts: what an earlier execution left there must not make a difference.
    pub(super) fn compared(&self) -> usize {
        if self.any() { (self.deepest + 512).next_multiple_of(512) } else { 0 }
    }

    /// A thread comes to a load so far from the base of its stack.
    pub(super) fn reach(&mut self, depth: usize) {
        self.deepest = self.deepest.max(depth);
    }

    /// A thread comes to a load that it [has](Rounds::has) made before.
    pub(super) fn arrive(&mut self, rounds: &Rounds, new: Arrival<'_>, around: Around<'_>) -> Spin {
        if !self.knows(new.site) {
            self.known.push(new.site);
            return Spin::Learned;
        }
        let dead = self.dead(new.frame.code);
        match rounds.recent().position(|r| r.is_of(&new) && r.is_at(new.frame, dead, around)) {
            Some(back) => Spin::Repeats { reads: rounds.in_vain(back as u32 + 1) },
            None => Spin::No,
        }
    }

    /// The thread makes the load, whose state is [kept](Loops::keeps).
    pub(super) fn remember(&mut self, rounds: &mut Rounds, new: Arrival<'_>, around: Around<'_>, goes_back: bool) {
        if rounds.goes_on() {
            return;
        }
        let round = rounds.begin(&new);
        round.keep(new.frame, self.dead(new.frame.code), around);
        if goes_back || self.goes_back_to(new.site) {
            round.image.extend_from_slice(image(new.frame, around.base));
        }
        rounds.limit_memory();
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::{Frame, Shared};
    use super::*;
    use crate::operation::{Code, Operation};
    use std::panic::Location;

    #[test]
    fn only_the_same_load_of_the_same_address_repeats() {
        let frame = Frame { registers: [0; 6], code: 0 };
        let site = Place::from(Location::caller());
        let load = Operation::plain(Code::Load);
        let of = |at, operation| Arrival { site, asked: (at, operation), frame: &frame };
        let mut rounds = Rounds::default();
        let last = 8 * LONGEST;
        for at in (0..=last).step_by(8) {
            assert!(!rounds.has(&of(at, load)), "it is the first of {at}");
            rounds.pass(&of(at, load));
            assert!(rounds.has(&of(at, load)));
        }
        assert!(!rounds.has(&of(last, Operation { a: 1, ..load })));
        let elsewhere = Place::from(Location::caller());
        assert_ne!(site, elsewhere);
        assert!(!rounds.has(&Arrival { site: elsewhere, ..of(last, load) }));
        assert!(!rounds.has(&of(0, load)), "it was too long ago");
        rounds.clear();
        assert!(!rounds.has(&of(last, load)));
    }

    #[test]
    fn the_states_of_many_loads_take_no_more_than_some_memory() {
        let frame = Frame { registers: [0; 6], code: 0 };
        let memory = vec![0u8; MOST_KEPT / 4];
        let mut shared = Shared::default();
        shared.add(memory.as_ptr().addr(), memory.len());
        let around = Around { base: frame.stack(), shared: &shared };
        let site = Place::from(Location::caller());
        let of = |at| Arrival { site, asked: (at, Operation::plain(Code::Load)), frame: &frame };
        let mut loops = Loops { known: vec![site], ..Loops::default() };
        let mut rounds = Rounds::default();
        for _ in 0..2 {
            for at in 0..2 * LONGEST {
                loops.remember(&mut rounds, of(at), around, false);
                let kept: usize = rounds.rounds.iter().map(Round::memory).sum();
                assert!(kept <= 3 * MOST_KEPT, "{kept} after {at}");
                assert_eq!(loops.arrive(&rounds, of(at), around), Spin::Repeats { reads: 1 });
            }
            assert_eq!(loops.arrive(&rounds, of(2 * LONGEST - 2), around), Spin::Repeats { reads: 2 });
            assert_eq!(loops.arrive(&rounds, of(LONGEST + 1), around), Spin::No, "it was forgotten");
            rounds.clear();
        }
    }
}
