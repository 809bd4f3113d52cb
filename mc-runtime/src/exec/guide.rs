//! Who decides: the exploration, a schedule that is followed, or chance.

use super::memory::place;
use super::sample::{Pending, Sampler};
use super::thread::State;
use super::{Engine, Step, access::Accessed};
use crate::explore::Reading;
use crate::graph::Site;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{Code, Operation};
use crate::ops::OWNER_ORDER;
use crate::options::Options;
use crate::outcome::FailureKind;
use crate::schedule::{Change, Digest, Schedule, Turns};

/// Who decides about threads and values beyond the prefix.
#[derive(Debug)]
pub(crate) enum Guide {
    /// The exploration: the leftmost thread that can move, the newest write, and everything else later.
    Explore,
    /// A schedule.
    Follow(Follower),
    /// Chance.
    Sample(Sampler),
}

/// A schedule that is followed.
#[derive(Debug)]
pub(crate) struct Follower {
    schedule: Schedule,
    digest: Digest,
    added: u32,
    turns: Turns,
}

impl Follower {
    /// To follow `schedule`.
    pub(crate) fn new(schedule: Schedule) -> Self {
        Follower { schedule, digest: Digest::default(), added: 0, turns: Turns::new() }
    }

    fn change(&self, at: usize, pick: impl Fn(Change) -> Option<u32>) -> Option<u32> {
        self.schedule.at(at).find_map(pick)
    }

    #[cold]
    fn stop_at(&self, at: usize) -> Option<u32> {
        self.change(at, |c| if let Change::Stop { reads } = c { Some(reads) } else { None })
    }

    /// The thread of the next event, or another one that starts before, and whether it does no more than that. Beyond the schedule it is a guess.
    fn thread(&self, at: usize, has_started: impl Fn(u32) -> bool) -> (u32, bool) {
        let mut named = self.schedule.at(at).filter_map(|c| if let Change::Thread(t) = c { Some(t) } else { None });
        let Some(mut thread) = named.next() else {
            return (self.turns.next(), false);
        };
        for next in named {
            if !has_started(thread) {
                return (thread, true);
            }
            thread = next;
        }
        (thread, false)
    }

    /// Is the event number `at` one of the schedule's?
    fn knows(&self, at: usize) -> bool {
        at < self.schedule.events as usize
    }

    fn choice(&self, at: usize) -> u32 {
        self.change(at, |c| if let Change::Choice(d) = c { Some(d) } else { None }).unwrap_or(0)
    }

    /// An event was added.
    pub(crate) fn added(&mut self, thread: ThreadId, code: Code, value: u64) {
        if self.added == self.schedule.events {
            return; // beyond what is recorded, as after a crash that no longer happens
        }
        self.added += 1;
        self.digest.add(thread.0, code);
        self.turns.made(thread.0, (code == Code::Spawn).then_some(value as u32));
        if code == Code::Block {
            self.turns.is_over(thread.0);
        }
    }

    /// Did the execution do what the schedule was made from?
    pub(crate) fn is_followed(&self) -> bool {
        self.digest.value() == self.schedule.digest && self.added == self.schedule.events
    }
}

/// How many events of a thread are a turn. An execution has room for several of each thread.
pub(super) fn turn(options: &Options) -> usize {
    const LONGEST: u64 = 256;
    // With the axioms, so few that short programs show that it makes no difference.
    if cfg!(feature = "axioms") { 3 } else { (options.max_events / 32).clamp(4, LONGEST) as usize }
}

impl Guide {
    /// Does it decide every event? (The exploration does not: it lets a thread run on.)
    pub(crate) fn decides(&self) -> bool {
        !matches!(self, Guide::Explore)
    }

    /// An execution begins.
    #[inline(never)]
    pub(crate) fn begin(&mut self) {
        match self {
            Guide::Explore => {}
            Guide::Follow(follower) => *follower = Follower::new(follower.schedule.clone()),
            Guide::Sample(sampler) => sampler.begin(),
        }
    }

    /// Is the running thread to stop for good instead of making the event number `at`? After a round of so many reads.
    pub(crate) fn stops_now(&self, at: usize) -> Option<u32> {
        let Guide::Follow(follower) = self else { return None };
        follower.stop_at(at)
    }

    /// Is the running thread, which has come to its end, to stop for good there? After a round of so many reads.
    pub(crate) fn stops(&self, thread: ThreadId) -> Option<u32> {
        let Guide::Follow(follower) = self else { return None };
        std::hint::cold_path();
        follower.schedule.stop_of(thread.0, follower.added)
    }

    /// A thread has ended.
    pub(crate) fn ended(&mut self, thread: ThreadId) {
        if let Guide::Follow(follower) = self {
            follower.turns.is_over(thread.0);
        }
    }

    /// The value of a data choice.
    #[inline(never)]
    pub(crate) fn choose(&mut self, at: usize, n: u64) -> u64 {
        match self {
            Guide::Explore => 0,
            Guide::Follow(follower) => u64::from(follower.choice(at)),
            Guide::Sample(sampler) => sampler.below(n),
        }
    }
}

impl Engine {
    /// The running thread has come to an access: what a sampler has to know of it before it is made.
    pub(super) fn announce(&mut self, at: usize, operation: &Operation) {
        if self.guide_samples() {
            self.announce_to_sampler(at, operation);
        }
    }

    #[cold]
    fn announce_to_sampler(&mut self, at: usize, operation: &Operation) {
        if let Guide::Sample(sampler) = &mut self.guide {
            sampler.announce(self.threads.running(), Pending { at, writes: operation.code != Code::Load });
        }
    }

    /// May the running thread make its next event, where a schedule or chance decides?
    #[inline(never)]
    pub(super) fn is_granted(&mut self, access: Option<(usize, &Operation)>) -> bool {
        std::mem::take(&mut self.granted) || self.grants_itself(access)
    }

    /// The running thread comes to its next event. If chance decides who makes the next one it does so here: a thread that goes on need not be left.
    fn grants_itself(&mut self, access: Option<(usize, &Operation)>) -> bool {
        if !self.guide_samples() {
            return false;
        }
        if let Some((at, operation)) = access {
            self.announce(at, operation);
        }
        let picked = self.pick();
        if picked == Some(self.current()) {
            self.granted = false;
            return true;
        }
        self.picked = picked;
        false
    }

    /// The thread that runs next, if any can. Searched for in loops, here and below: what an iterator's search asks of each thread became a function of its own, 1 to 4 % of the time of an execution.
    #[inline(always)]
    pub(crate) fn pick(&mut self) -> Option<ThreadId> {
        if self.cutting {
            return None;
        }
        if self.picked.is_some() {
            return self.picked.take();
        }
        #[cfg(feature = "unmodified")]
        if let Some(thread) = self.starts_again() {
            self.granted = false;
            return Some(thread);
        }
        if self.replaying() {
            return self.pick_to_replay();
        }
        if matches!(self.guide, Guide::Explore) {
            return self.pick_to_explore();
        }
        self.pick_guided()
    }

    #[inline(never)]
    fn pick_guided(&mut self) -> Option<ThreadId> {
        let mut runnable = std::mem::take(&mut self.runnable);
        runnable.clear();
        runnable.extend(self.explorer.graph.ranks().iter().copied().filter(|t| self.can_move(*t)));
        let picked = self.pick_of(&runnable);
        self.runnable = runnable;
        picked
    }

    /// As a schedule or chance decides.
    fn pick_of(&mut self, runnable: &[ThreadId]) -> Option<ThreadId> {
        let events = self.explorer.graph.len();
        self.granted = true;
        let (wanted, is_known) = match &mut self.guide {
            Guide::Sample(sampler) => {
                let picked = sampler.pick(runnable);
                // One that starts is asked again, when it has come to its first event.
                self.granted = picked.is_some_and(|t| self.threads[t.slot()].state != State::Unstarted);
                return picked;
            }
            Guide::Follow(follower) => {
                let has_started = |name: u32| {
                    let unstarted = |t: &ThreadId| t.0 == name && self.threads[t.slot()].state == State::Unstarted;
                    !runnable.iter().any(unstarted)
                };
                let (thread, starts) = follower.thread(events, has_started);
                self.granted = !starts;
                (thread, follower.knows(events))
            }
            Guide::Explore => unreachable!("the exploration picks by itself"),
        };
        let found = runnable.iter().copied().find(|t| t.0 == wanted);
        if !is_known {
            return found.or(runnable.first().copied());
        }
        if found.is_none() {
            let _: Step<()> = self.off_schedule(&format!("{} cannot make the next event", ThreadId(wanted)), None);
        }
        found
    }

    #[inline(always)]
    fn pick_to_replay(&mut self) -> Option<ThreadId> {
        let mut rank = 0;
        while let Some(thread) = self.explorer.graph.ranks().get(rank).copied() {
            if self.can_replay(thread) {
                return Some(thread);
            }
            rank = self.threads.next_rank(rank, thread);
        }
        None
    }

    /// The leftmost that has had as few turns as any, but for those that wait to write, and last of all those that only look. This must follow from the graph alone.
    #[inline(always)]
    fn pick_to_explore(&mut self) -> Option<ThreadId> {
        let mut rank = 0;
        while let Some(thread) = self.explorer.graph.ranks().get(rank).copied() {
            let is_early = self.is_able(thread) && self.explorer.graph.thread(thread).len() < self.turn;
            if is_early && !self.waits_to_write(thread) && !self.explorer.observes(thread) {
                return Some(thread);
            }
            rank = self.threads.next_rank(rank, thread);
        }
        self.pick_among_later()
    }

    /// Likewise, if none is in its first turn.
    #[inline(never)]
    fn pick_among_later(&self) -> Option<ThreadId> {
        let observes = |t: &ThreadId| self.explorer.observes(*t);
        let last = |t: &ThreadId| (observes(t), self.waits_to_write(*t), self.waits_behind_twin(*t), self.turns(*t));
        self.explorer.graph.ranks().iter().copied().filter(|t| self.is_able(*t)).min_by_key(last)
    }

    /// May the thread be [moved](Engine::can_move)? Of many threads, most have ended, or wait for one that has not.
    #[inline(always)]
    fn is_able(&self, thread: ThreadId) -> bool {
        match self.threads[thread.slot()].state {
            State::Ended => false,
            State::Unstarted | State::Ready => true,
            State::Join(child) => self.threads[child.slot()].state == State::Ended,
            _ => self.can_move(thread),
        }
    }

    /// How many turns a thread has had: one that goes round and round until another has done something would leave that no other chance.
    fn turns(&self, thread: ThreadId) -> usize {
        self.explorer.graph.thread(thread).len() / self.turn
    }

    /// Are there threads that are alike, and has any had more than its first turn, or waited to write?
    pub(crate) fn twins_took_turns(&self) -> bool {
        let graph = &self.explorer.graph;
        let writes = |t: &ThreadId| graph.thread(*t).iter().any(|e| e.operation.code == Code::WriteLock);
        graph.has_twins() && graph.ranks().iter().any(|t| self.turns(*t) > 0 || writes(t))
    }

    /// Is the running thread in its first turn?
    #[inline(always)]
    pub(super) fn is_in_first_turn(&self) -> bool {
        self.explorer.graph.thread(self.current()).len() < self.turn
    }

    /// Has the running thread, which is in a later one, had more turns than another that can move? Asked before each event: one that locks in each round leaves what it has locked at some of them only.
    #[inline(never)]
    pub(super) fn is_ahead(&self) -> bool {
        let graph = &self.explorer.graph;
        let least = self.turns(self.current()) * self.turn;
        let is_behind = |t: ThreadId| graph.thread(t).len() < least && self.can_move(t);
        let is_next = |t| !self.waits_to_write(t) && !self.explorer.observes(t);
        graph.ranks().iter().any(|t| *t != self.current() && is_behind(*t) && is_next(*t))
    }

    #[inline(always)]
    fn can_replay(&self, thread: ThreadId) -> bool {
        match self.threads.get(thread.slot()).map_or(State::Absent, |t| t.state) {
            // One that has done nothing may have been joined.
            State::Unstarted => !self.explorer.graph.thread(thread).is_empty() || self.explorer.graph.has_ended(thread),
            State::Ready => true,
            State::Source(id) => self.executed(id),
            State::Join(child) => self.threads[child.slot()].state == State::Ended,
            _ => false,
        }
    }

    pub(super) fn can_move(&self, id: ThreadId) -> bool {
        let thread = &self.threads[id.slot()];
        match thread.state {
            State::Unstarted | State::Ready | State::Replayed => true,
            State::Source(source) => self.executed(source),
            State::Join(child) => self.threads[child.slot()].state == State::Ended,
            State::Guard => thread.waiting.is_some_and(|w| !self.explorer.must_wait(&w.operation, w.location)),
            State::Await => self.can_try(id),
            State::Absent | State::Blocked(_) | State::Ended | State::Abandoned => false,
        }
    }

    /// Adds an access as a schedule or chance [decides](Guide::decides).
    #[inline(never)]
    pub(super) fn guided_access(
        &mut self,
        operation: &Operation,
        location: LocationId,
        site: Site,
    ) -> Result<EventId, Step<Accessed>> {
        let thread = self.current();
        let newest = self.explorer.graph.mo(location).len();
        let events = self.explorer.graph.len();
        match &mut self.guide {
            Guide::Explore => unreachable!("the exploration adds accesses itself"),
            Guide::Follow(follower) => {
                let back = follower.choice(events) as usize;
                let index = newest.checked_sub(back);
                let added =
                    index.and_then(|i| self.explorer.add_at(thread, *operation, location, i, Reading::Any, site));
                added.ok_or_else(|| self.off_schedule("a value that it names cannot be read here", site))
            }
            Guide::Sample(sampler) => {
                let mut added = None;
                if newest > 0 && sampler.looks_back() {
                    let first = self.explorer.earliest(thread, location);
                    if first < newest {
                        let index = first + sampler.below((newest - first) as u64) as usize;
                        added = self.explorer.add_at(thread, *operation, location, index, Reading::Coherent, site);
                    }
                }
                let id =
                    added.or_else(|| self.explorer.add_at(thread, *operation, location, newest, Reading::Any, site));
                Ok(id.expect("the newest write can always be read"))
            }
        }
    }

    /// The thread does something else than its recorded event.
    #[cold]
    pub(crate) fn diverged<T>(&mut self, id: EventId, found: &str, site: Site) -> Step<T> {
        let graph = &self.explorer.graph;
        let did = super::access::describe(&graph.event(id).operation);
        let before = format!("did `{did}` at {}", place(graph.site(id)));
        self.not_the_same(&before, &format!("does `{found}` at {}", place(site)), site)
    }

    /// The running thread does something else than before.
    #[cold]
    pub(super) fn not_the_same<T>(&mut self, before: &str, now: &str, site: Site) -> Step<T> {
        // As long as that is no event, it may be another owner than before who drops a value.
        if self.me_ref().acquired().next().is_some() && !self.has_learned(OWNER_ORDER) {
            return self.learn_now(OWNER_ORDER);
        }
        let message = format!(
            "the test does not do the same each time: {} {before} before, and {now} now\n\
             The usual suspects: the time, random numbers, the order of a hash map, addresses, state that is left over from an earlier execution.",
            self.thread_name(self.current()),
        );
        self.fail(FailureKind::Nondeterminism, message, site)
    }

    /// The program does something that the followed schedule does not fit.
    #[cold]
    pub(crate) fn off_schedule<T>(&mut self, what: &str, site: Site) -> Step<T> {
        let events = self.explorer.graph.len();
        let message = format!("the execution does not fit the schedule: {what} (event {} of it)", events + 1);
        self.off_schedule = true;
        self.fail(FailureKind::Nondeterminism, message, site)
    }
}
