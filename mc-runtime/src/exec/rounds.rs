//! Where rounds of loops are looked at: a thread comes to a load, makes it, is left in the middle of a round, and runs again.
//!
//! Not here: what is remembered of a round, and compared (`spin`, `state`).

use super::access::{Accessed, has_effect};
use super::round::{Arrival, copy};
use super::spin::Spin;
use super::state::{Around, Frame, NOWHERE};
use super::thread::State;
use super::{Engine, Step};
use crate::graph::Site;
use crate::operation::{Code, Operation};
use crate::place::Place;

impl Engine {
    /// The running thread comes to an access that could be part of a spin loop.
    pub(super) fn look_for_spin(
        &mut self,
        at: usize,
        operation: &Operation,
        site: Site,
        frame: &Frame,
    ) -> Option<Step<Accessed>> {
        let me = self.threads.me();
        if std::mem::replace(&mut me.entered, true) || operation.code == Code::Store || self.guide.decides() {
            return None;
        }
        let is_followed = me.rounds.undone.is_followed();
        let site = site?;
        if is_followed {
            std::hint::cold_path();
            self.comes_to_poll(Arrival { site, asked: (at, *operation), frame });
        }
        if operation.is_of_shim() {
            return None;
        }
        self.loops.reach(self.stack.base.saturating_sub(frame.stack()));
        let rounds = &self.me_ref().rounds;
        if rounds.may_have(at) || rounds.loads_again() { self.look_back(at, operation, site, frame) } else { None }
    }

    /// The same, where there may have been a load of that address, or the last one was of an address that was loaded before.
    #[inline(never)]
    fn look_back(&mut self, at: usize, operation: &Operation, site: Place, frame: &Frame) -> Option<Step<Accessed>> {
        let arrival = Arrival { site, asked: (at, *operation), frame };
        let rounds = &self.me_ref().rounds;
        if rounds.has(&arrival) {
            return self.arrive(arrival);
        }
        if rounds.loads_again() { self.reread(arrival) } else { None }
    }

    /// The running thread comes to a load that it has made before, since it did anything else.
    #[inline(never)]
    fn arrive(&mut self, arrival: Arrival<'_>) -> Option<Step<Accessed>> {
        self.find_shared();
        let thread = self.threads.me();
        let around = Around { base: self.stack.base, shared: &self.shared };
        match self.loops.arrive(&thread.rounds, arrival, around) {
            Spin::No => self.reread(arrival),
            Spin::Learned => Some(self.start_again()),
            Spin::Repeats { reads } => {
                if !self.leaves_out(reads) {
                    return None;
                }
                let thread = self.threads.me();
                thread.comes_back = true;
                if let Some(open) = thread.open.take_if(|_| reads == 1) {
                    self.take_back(open);
                    if self.cutting {
                        return Some(self.cut_step());
                    }
                    return self.learns_guard(&arrival.asked.1, arrival.site);
                }
                thread.repeats = Some(reads);
                self.was_in_vain(reads, arrival.frame).then_some(Step::Wait)
            }
        }
    }

    /// The running thread reads, perhaps to update. Does that end its round?
    #[inline(always)]
    pub(super) fn remember_read(&mut self, ends: bool, at: usize, operation: &Operation, site: Site, frame: &Frame) {
        if !ends {
            self.remember_round(at, operation, site, frame);
        }
        if self.me_ref().rounds.undone.is_followed() {
            std::hint::cold_path();
            self.begin_poll(at, operation, site, frame);
        }
    }

    /// The access is made now: what its state is, for the next round. (Threads may have run since it was come to.)
    fn remember_round(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) {
        let Some(site) = site else { return };
        if self.guide.decides() {
            return;
        }
        let new = Arrival { site, asked: (at, *operation), frame };
        let goes_back = self.me_ref().open.is_some_and(|open| open.again.is_some());
        if goes_back || self.loops.keeps(site) {
            return self.keep_round(new, goes_back);
        }
        let rounds = &mut self.threads.me().rounds;
        if !rounds.goes_on() {
            rounds.pass(&new);
        }
        self.note_unused(&new);
    }

    /// As [`Engine::remember_round`], where the state is kept.
    #[inline(never)]
    fn keep_round(&mut self, new: Arrival<'_>, goes_back: bool) {
        self.find_shared();
        let around = Around { base: self.stack.base, shared: &self.shared };
        self.loops.remember(&mut self.threads.me().rounds, new, around, goes_back);
        self.note_unused(&new);
    }

    /// See [`Round::is_unused`](super::round::Round::is_unused), which is asked of exchanges that do not acquire where they fail.
    fn note_unused(&mut self, new: &Arrival<'_>) {
        let operation = &new.asked.1;
        let may_matter = operation.code == Code::CompareExchange && !operation.order(false).acquires();
        let is_asked = may_matter && self.compares_states();
        if is_asked && self.loops.is_unused(new.frame.code, new.frame.stack(), self.stack.base) {
            self.me().rounds.last_is_unused();
        }
    }

    /// The same access is made again. Where an event follows that ends the round, nothing will be compared with its state.
    pub(super) fn remember_replayed(&mut self, at: usize, operation: &Operation, site: Site, frame: &Frame) {
        if self.me_ref().rounds.undone.is_followed() {
            std::hint::cold_path();
            self.begin_poll(at, operation, site, frame);
        }
        let Some(site) = site else { return };
        let graph = &self.explorer.graph;
        let from_here = || &graph.thread(self.current())[self.me_ref().position..];
        let ends = || from_here().iter().rev().any(|event| has_effect(graph, event));
        let new = Arrival { site, asked: (at, *operation), frame };
        if !self.loops.keeps(site) || ends() && !self.is_before_equal() {
            self.me().rounds.pass(&new);
            self.note_unused(&new);
        } else if !self.guide.decides() {
            self.keep_round(new, false);
        }
    }

    /// The running thread waits in the middle of a round: others may run.
    pub(crate) fn leave_round(&mut self) {
        self.me().left.clear();
        self.me().rounds.leave();
        // Who joins has an effect, and so ends the round.
        let ends = matches!(self.me().state, State::Join(_));
        if !self.guide.decides() && !ends && self.me().rounds.any() {
            self.keep_shared();
        }
    }

    #[inline(never)]
    fn keep_shared(&mut self) {
        self.find_shared();
        copy(&mut self.threads.me().left, |look| self.shared.all(look));
    }

    /// It runs again.
    pub(crate) fn return_to_round(&mut self) {
        if !self.me().left.is_empty() {
            self.compare_shared();
        }
    }

    #[inline(never)]
    fn compare_shared(&mut self) {
        self.find_shared();
        self.shared.copy_to(&mut self.now);
        let me = self.threads.me();
        if me.left != self.now {
            me.rounds.interrupted(&me.left, &self.now);
        }
    }

    /// The running thread has done something that is in none of its states: a round with it is no other's like.
    pub(crate) fn leaves_trace(&mut self) {
        self.close();
        self.probe.forget();
        self.me().rounds.clear();
    }

    /// See `Loops::dead`.
    #[cfg(feature = "axioms")]
    pub(crate) fn dead(&mut self, code: u64) -> super::liveness::Places {
        self.loops.dead(code)
    }

    /// Where states are compared: what others can change.
    pub(super) fn find_shared(&mut self) {
        if !self.loops.any() {
            return;
        }
        if self.shared.is_empty() {
            self.find_shared_of_others();
        }
        self.shared.set_own(self.heap.as_ref().map_or(NOWHERE, |heap| heap.own_memory()));
    }

    /// Once for each turn of a thread.
    #[inline(never)]
    fn find_shared_of_others(&mut self) {
        self.shared.find(self.heap.as_deref());
        let alive = self.threads.iter().filter(|t| !matches!(t.state, State::Absent | State::Ended));
        for (fiber, at) in alive.filter_map(|t| Some((t.fiber.as_ref()?, t.suspended_at))) {
            self.shared.add(at, fiber.bounds.base.saturating_sub(at));
            if let Some((start, size)) = fiber.thread_locals() {
                self.shared.add(start, size);
            }
        }
    }

    /// Does a loop have to be looked at in this check?
    pub(crate) fn compares_states(&self) -> bool {
        self.loops.any()
    }

    /// How many bytes below an address of the running stack must be as new, because they may become part of a state.
    #[inline]
    pub(crate) fn compared_below(&self, here: usize) -> usize {
        if self.compares_states() { self.reached_below(here) } else { 0 }
    }

    #[inline(never)]
    fn reached_below(&self, here: usize) -> usize {
        // Nothing is compared before an event that is still to come, and will have an effect.
        let settled = (1..=self.me_ref().settled).contains(&self.me_ref().position);
        let reaches = !settled && self.stack.base - self.loops.deepest() < here;
        if reaches { here.saturating_sub(self.stack.base - self.loops.compared()) } else { 0 }
    }
}
