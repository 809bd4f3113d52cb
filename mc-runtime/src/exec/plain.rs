//! Events that touch no location: fences, choices, threads, and stopping for good.

use super::access::describe;
use super::thread::{Body, Life, State};
use super::{Engine, Step};
use crate::graph::Site;
use crate::ids::{EventId, ThreadId};
use crate::operation::{BlockReason, Code, Operation, Order};
use crate::outcome::FailureKind;

/// How many threads an execution may have at once: one arena each.
const MOST_THREADS: u32 = super::arena::ARENAS as u32;

impl Engine {
    /// An event without a location; gives its value. Called again when it had to wait.
    pub(crate) fn plain(&mut self, mut operation: Operation, site: Site) -> Step<u64> {
        or_return!(self.enter());
        self.close();
        or_return!(self.fences_updates(&operation));
        if operation.code == Code::Fence && self.sequential() {
            (operation.order, operation.failure) = (Order::SeqCst, Order::SeqCst);
        }
        self.entered_plain(&operation, site)
    }

    /// Such an event, where the operation was entered and closed what was open.
    fn entered_plain(&mut self, operation: &Operation, site: Site) -> Step<u64> {
        #[cfg(feature = "unmodified")]
        let site = self.placed(site);
        let id = self.next_event();
        let value = if let Some(recorded) = self.explorer.graph.thread(id.thread).get(id.index as usize) {
            if recorded.operation != *operation {
                return self.does_another(operation, id, site);
            }
            self.replayed += 1;
            recorded.value
        } else {
            or_return!(self.turn(None));
            let stops = self.guide.stops_now(self.explorer.graph.len());
            if let Some(reads) = stops.or(self.me_ref().repeats) {
                std::hint::cold_path();
                return self.block(BlockReason::Spin, reads, site);
            }
            or_return!(self.minds_observers(operation));
            or_return!(self.leaves_twin(id, operation));
            match self.add_plain(id, operation, site) {
                Ok(value) => value,
                Err(step) => return step,
            }
        };
        if operation.code != Code::Fence && !operation.may_repeat(value) {
            self.me().rounds.clear();
        }
        self.executed_event(id);
        self.trace(id, site, 0);
        Step::Done(value)
    }

    /// The running thread does another operation than the one that is recorded.
    #[cold]
    fn does_another<T>(&mut self, operation: &Operation, id: EventId, site: Site) -> Step<T> {
        let recorded = &self.explorer.graph.event(id).operation;
        if (recorded.code, operation.code) == (Code::Spawn, Code::Spawn) && recorded.a != operation.a {
            // Another twin was found for the thread: the captured state is not the same each time.
            return self.told_apart();
        }
        self.does_otherwise(&describe(operation), id, site)
    }

    /// The running thread comes to something else than what is recorded.
    #[cold]
    fn does_otherwise<T>(&mut self, found: &str, id: EventId, site: Site) -> Step<T> {
        if self.explorer.graph.event(id).operation.code == Code::Block {
            return self.block(BlockReason::Spin, 0, site);
        }
        self.diverged(id, found, site)
    }

    /// Adds an event to the graph; gives its value.
    #[inline(always)]
    pub(super) fn add_plain(&mut self, id: EventId, operation: &Operation, site: Site) -> Result<u64, Step<u64>> {
        let value = match operation.code {
            Code::Choose if !self.guide.decides() => {
                self.explorer.add_choice(id.thread, operation, site);
                return Ok(0);
            }
            Code::Choose => self.choose_guided(operation.a, site)?,
            Code::Spawn => match self.explorer.graph.free_slot() {
                slot if slot.0 < MOST_THREADS => u64::from(slot.0),
                _ => return Err(self.too_many_threads(site)),
            },
            _ => 0,
        };
        self.explorer.graph.add_plain_as(id, operation, value, site);
        Ok(value)
    }

    /// A choice among `n` values, where a schedule or chance decides.
    #[cold]
    fn choose_guided(&mut self, n: u64, site: Site) -> Result<u64, Step<u64>> {
        match self.guide.choose(self.explorer.graph.len(), n) {
            value if value < n => Ok(value),
            _ => Err(self.off_schedule("a choice has fewer values than the schedule says", site)),
        }
    }

    #[cold]
    fn too_many_threads<T>(&mut self, site: Site) -> Step<T> {
        let message = format!("more than {MOST_THREADS} threads in an execution: the engine keeps an arena for each");
        self.fail(FailureKind::Contract, message, site)
    }

    /// A thread starts another; gives its slot.
    pub(crate) fn spawn(
        &mut self,
        name: Option<&str>,
        stack: usize,
        body: &mut Option<Body>,
        site: Site,
    ) -> Step<ThreadId> {
        #[cfg(feature = "unmodified")]
        or_return!(self.has_reached_out());
        or_return!(self.enter());
        self.close();
        let operation = self.spawning(name, stack);
        self.alike.found |= operation.a != 0;
        let activity = self.me_ref().activity;
        let step = self.entered_plain(&operation, site);
        let Step::Done(slot) = step else { return step.not_done() };
        let child = ThreadId(slot as u32);
        self.threads.ensure(child);
        self.spawned(child, activity);
        let clock = self.me().clock;
        let thread = &mut self.threads[child.slot()];
        thread.state = State::Unstarted;
        thread.stack_size = stack;
        if let Some(name) = name {
            std::hint::cold_path();
            thread.name = Some(name.to_owned());
        }
        // A new thread has none yet: by a swap, nothing is to be dropped.
        std::mem::swap(&mut thread.body, body);
        thread.clock = clock;
        Step::Done(child)
    }

    /// The running thread has done all that it does. That is no event, since it follows from those before.
    pub(crate) fn end_thread(&mut self) -> Step<()> {
        if self.owes_failure() {
            return self.assume_false(None);
        }
        or_return!(self.enter());
        self.close();
        let thread = self.current();
        let (is_over, ended) = self.explorer.graph.is_at_end(thread, self.me_ref().position);
        if !is_over {
            return self.does_otherwise("nothing more", self.next_event(), None);
        }
        if !ended {
            if let Some(reads) = self.me_ref().repeats.or_else(|| self.guide.stops(thread)) {
                return self.stop_at_end(reads);
            }
            if self.explorer.observers != 0 && self.replaying() {
                return self.waits_as(State::Replayed); // what observers have to do with it is looked at then
            }
            or_return!(self.acts(true));
            or_return!(self.is_between_joins());
            self.explorer.graph.end_thread(thread);
        }
        self.note_life(thread, true);
        self.trace_end_of(thread);
        Step::Done(())
    }

    /// The running thread stops for good, where it would end.
    #[cold]
    fn stop_at_end<T>(&mut self, reads: u32) -> Step<T> {
        or_return!(self.turn(None));
        self.block(BlockReason::Spin, reads, None)
    }

    /// A thread begins to run, or has ended.
    pub(super) fn note_life(&mut self, thread: ThreadId, over: bool) {
        self.lives.push(Life { before: self.order.len(), left_out: self.left_out.made().len(), thread, over });
    }

    /// Waits for a thread to end.
    pub(crate) fn join(&mut self, child: ThreadId, site: Site) -> Step<u64> {
        or_return!(self.enter());
        self.close();
        if self.threads[child.slot()].state != State::Ended {
            let me = self.me();
            (me.state, me.waiting) = (State::Join(child), None);
            return Step::Wait;
        }
        let operation = Operation { a: u64::from(child.0), ..Operation::plain(Code::Join) };
        let step = self.entered_plain(&operation, site);
        if matches!(step, Step::Done(_)) {
            let clock = self.threads[child.slot()].clock;
            let me = self.me();
            (me.clock, me.joined) = (me.clock.max(clock), me.position);
        }
        step
    }

    /// The test asks for the execution to be dropped.
    pub(crate) fn assume(&mut self, site: Site) -> Step<()> {
        self.assumes = true;
        self.assume_false(site)
    }

    /// The running thread stops for good.
    fn assume_false<T>(&mut self, site: Site) -> Step<T> {
        or_return!(self.enter());
        self.close();
        let new = self.me().position >= self.explorer.graph.thread(self.current()).len();
        match if new { self.turn(None) } else { None } {
            Some(step) => step,
            None => self.block(BlockReason::Assume, 0, site),
        }
    }

    /// The running thread stops for good; if it spins, after a round of so many reads (which a replay takes from the graph).
    #[inline(never)]
    pub(crate) fn block<T>(&mut self, reason: BlockReason, reads: u32, site: Site) -> Step<T> {
        let operation = Operation { a: reason as u64, b: u64::from(reads), ..Operation::plain(Code::Block) };
        let id = self.next_event();
        let recorded = self.explorer.graph.thread(self.current()).get(id.index as usize);
        match recorded.map(|r| r.operation) {
            Some(known) if (known.code, known.a) == (operation.code, operation.a) => self.replayed += 1,
            Some(_) => return self.diverged(id, "the thread stops here", site),
            None => {
                or_return!(self.leaves_twin(id, &operation));
                if reason == BlockReason::Spin {
                    self.forget_failures(reads);
                    if self.is_hopeless(reads) {
                        (self.dropped, self.cutting) = (true, true);
                        return self.cut_step();
                    }
                }
                self.explorer.graph.add_plain(self.current(), &operation, 0, site);
            }
        }
        self.trace(id, site, 0);
        self.executed_event(id);
        self.me().state = State::Blocked(reason);
        Step::Wait
    }
}
