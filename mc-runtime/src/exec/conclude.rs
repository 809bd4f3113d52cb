//! The end of an execution: complete, blocked, or one of the failures that show only then.

use super::access::has_effect;
use super::memory::place;
use super::thread::{State, Waiting};
use super::{Ending, Engine, Found};
use crate::ids::{EventId, ThreadId};
use crate::operation::{BY_CHANCE, BlockReason, Code, Operation, UNDONE};
use crate::ops::Label;
use crate::options::Origin;
use crate::outcome::FailureKind;

impl Engine {
    /// Nobody can move (or the execution was cut): what is it?
    pub(crate) fn conclude(&mut self) -> Ending {
        if self.waits_unordered() || self.frees_what_matters() {
            return Ending::Restart;
        }
        if self.cutting {
            return self.cut_by();
        }
        if self.replaying() {
            self.missing_events();
            return Ending::Failed;
        }
        if self.looks_between() {
            return Ending::Restart;
        }
        if !self.unsync.is_empty() && self.has_unsync_race() {
            return Ending::Failed;
        }
        if self.loses_symmetric() {
            return Ending::Restart;
        }
        if self.all_ended() {
            return if self.finds_observers() { Ending::Restart } else { Ending::Complete };
        }
        self.blocked()
    }

    /// Why it was cut.
    #[cold]
    fn cut_by(&self) -> Ending {
        match self {
            Engine { restart: true, .. } => Ending::Restart,
            Engine { failure: Some(_), .. } => Ending::Failed,
            Engine { dropped: true, .. } => Ending::Blocked,
            _ => Ending::TooLong,
        }
    }

    /// Is it an execution that was run before, run again for comparison?
    pub(super) fn repeats(&self) -> bool {
        #[cfg(feature = "unmodified")]
        if self.unwritten.repeats() {
            return true;
        }
        self.runs_again()
    }

    /// Has every thread ended?
    #[inline(never)]
    pub(super) fn all_ended(&self) -> bool {
        self.threads().all(|t| self.state(t) == State::Ended)
    }

    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.explorer.graph.ranks().iter().copied()
    }

    fn state(&self, thread: ThreadId) -> State {
        self.threads.get(thread.slot()).map_or(State::Absent, |t| t.state)
    }

    /// Some thread did less than is recorded.
    #[cold]
    fn missing_events(&mut self) {
        let did_less = |t: &ThreadId| self.threads[t.slot()].position < self.explorer.graph.thread(*t).len();
        let waits_for_others = |t: &ThreadId| matches!(self.state(*t), State::Source(_));
        let short = self.threads().filter(did_less);
        let thread = short.min_by_key(waits_for_others).expect("some thread did");
        let id = thread.event(self.threads[thread.slot()].position);
        self.threads.run(thread);
        let _: super::Step<()> = self.diverged(id, "nothing more", None);
    }

    /// Does the thread wait, and does that end by itself?
    fn is_timed(&self, thread: ThreadId) -> bool {
        let thread = &self.threads[thread.slot()];
        thread.waiting.is_some() && thread.has_time_out
    }

    fn blocked(&mut self) -> Ending {
        if matches!(self.guide, super::Guide::Explore) && !self.repeats() {
            self.add_overtakes();
        }
        if self.threads().any(|t| self.state(t) == State::Blocked(BlockReason::Assume)) {
            return Ending::Blocked;
        }
        let is_stale = |t| match self.undone_since(t) {
            Some(_) => self.is_overtaken(t),
            None => self.round(t).any(|read| self.is_stale(read)),
        };
        if self.spinning().any(|t| self.stops_by_chance(t) || is_stale(t)) {
            return Ending::Blocked; // whoever reads an old value for ever would see the new one in the end
        }
        if self.options.origin == Origin::Unmodified && self.state(ThreadId::MAIN) == State::Ended {
            return Ending::Complete; // the process would end now, with the threads that nobody waits for
        }
        let only_its_holder_ends = |wait: &Operation| wait.label == Label::MutexLock || wait.locks();
        if self.threads().any(|t| self.is_timed(t)) && self.cycle(only_its_holder_ends).is_empty() {
            return Ending::Blocked; // the time is over at last: that is another execution
        }
        if self.could_see_more() {
            return Ending::Restart;
        }
        let waits: Vec<(ThreadId, Waiting)> =
            self.threads().filter_map(|t| self.threads[t.slot()].waiting.map(|w| (t, w))).collect();
        self.stop_awaits();
        let spinning: Vec<ThreadId> = self.spinning().collect();
        let found = match spinning.first() {
            Some(thread) => self.livelock(*thread, &spinning),
            None => self.deadlock(&waits),
        };
        self.record(found);
        Ending::Failed
    }

    /// Where the running thread made its last event.
    pub(crate) fn last_site(&self) -> Option<(String, u32)> {
        let last = self.threads.get(self.current().slot())?.position.checked_sub(1)?;
        let id = self.current().event(last);
        let known = self.explorer.graph.contains(id).then(|| self.explorer.graph.site(id)).flatten()?;
        Some((known.file().to_owned(), known.line()))
    }

    /// How a thread is called in messages.
    pub(crate) fn thread_name(&self, thread: ThreadId) -> String {
        match self.threads.get(thread.slot()).and_then(|t| t.name.as_deref()) {
            Some(name) => format!("{thread} {name}"),
            None => thread.to_string(),
        }
    }

    /// Threads that are stopped in a loop.
    fn spinning(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.threads().filter(|t| self.state(*t) == State::Blocked(BlockReason::Spin))
    }

    /// What threads wait for may have come first. (A load that waits has tried all that it could read.)
    fn add_overtakes(&mut self) {
        for rank in 0..self.explorer.graph.ranks().len() {
            let thread = self.explorer.graph.ranks()[rank];
            let me = &self.threads[thread.slot()];
            let waits = me.waiting.filter(|w| w.operation.code != Code::Load && !w.operation.meets());
            if let Some(w) = waits.filter(|_| !self.is_behind_twin(thread)) {
                let operation = self.as_guard(w.operation, w.site);
                self.explorer.add_overtakes(thread, operation, w.location, w.site, &me.tried);
            }
        }
    }

    /// Has chance led the thread to where it stops?
    fn stops_by_chance(&self, thread: ThreadId) -> bool {
        let stop = self.explorer.graph.thread(thread).last();
        stop.is_some_and(|stop| stop.operation.b as u32 & BY_CHANCE != 0)
    }

    /// The reads of the round that a thread in a spin loop would repeat for ever, the last first.
    pub(super) fn round(&self, thread: ThreadId) -> impl Iterator<Item = EventId> + '_ {
        let events = self.explorer.graph.thread(thread);
        let stop = events.len() - 1; // the last is the stop itself
        let reads = (events[stop].operation.b as u32 & !(BY_CHANCE | UNDONE)) as usize;
        (0..stop).rev().filter(|i| events[*i].reads()).map(move |i| thread.event(i)).take(reads)
    }

    /// Would one of the reads of that round see another value, were it made now?
    fn is_stale(&self, read: EventId) -> bool {
        let graph = &self.explorer.graph;
        let event = graph.event(read);
        graph.value(event.location, graph.mo_max(event.location)) != graph.value(event.location, event.rf)
    }

    fn livelock(&self, thread: ThreadId, spinning: &[ThreadId]) -> Found {
        let graph = &self.explorer.graph;
        let reads: Vec<EventId> = self.round(thread).collect();
        let site = reads.iter().find_map(|id| graph.site(*id));
        let values: Vec<String> = reads
            .iter()
            .rev()
            .map(|id| {
                let e = graph.event(*id);
                let done = format!("{} at {}", crate::trace::operation(&e.operation), place(graph.site(*id)));
                // What it changes, it undoes: that is no reason.
                if has_effect(graph, e) { done } else { format!("{done} sees {}", graph.value(e.location, e.rf)) }
            })
            .collect();
        let others: Vec<String> = spinning.iter().skip(1).map(|t| self.thread_name(*t)).collect();
        let also = if others.is_empty() { String::new() } else { format!(" (so do {})", others.join(", ")) };
        let message = format!(
            "livelock: {} spins for ever{also}, and nobody is left who could end that\nin the loop: {}",
            self.thread_name(thread),
            values.join("; "),
        );
        Found { kind: FailureKind::Livelock, message, thread, site: site.map(|s| (s.file().to_owned(), s.line())) }
    }

    fn deadlock(&self, waits: &[(ThreadId, Waiting)]) -> Found {
        let sleeper = waits.iter().find(|(_, w)| sleeps(w.operation.label));
        let unheard = sleeper.map(|(_, w)| self.unheard(w));
        let cycle = self.cycle(|_| true);
        let (kind, first) = match (&unheard, sleeper) {
            (Some(notifies), Some(s)) if !notifies.is_empty() && cycle.is_empty() => (FailureKind::LostWakeup, Some(s)),
            _ => (FailureKind::Deadlock, waits.first()),
        };
        let mut lines: Vec<String> = waits.iter().map(|(t, w)| self.explain_wait(*t, w)).collect();
        for thread in self.threads() {
            if let State::Join(child) = self.state(thread) {
                lines.push(format!("{} waits for {} to end", self.thread_name(thread), self.thread_name(child)));
            }
        }
        let head = if kind == FailureKind::LostWakeup {
            let heard = unheard.unwrap_or_default();
            let places: Vec<String> = heard.iter().map(|id| place(self.explorer.graph.site(*id))).collect();
            lines.push(format!("the notification at {} was heard by nobody: no thread waited yet", places.join(", ")));
            format!("lost wake-up: nobody will ever wake {}", self.thread_name(first.map_or(ThreadId::MAIN, |f| f.0)))
        } else if cycle.is_empty() {
            "deadlock: nobody can move".to_owned()
        } else {
            let names: Vec<String> = cycle.iter().chain(cycle.first()).map(|t| self.thread_name(*t)).collect();
            format!("deadlock: a cycle of threads that wait for each other: {}", names.join(" -> "))
        };
        let thread = first.map_or(ThreadId::MAIN, |f| f.0);
        let site = first.and_then(|f| f.1.site).map(|s| (s.file().to_owned(), s.line()));
        Found { kind, message: format!("{head}\n{}", lines.join("\n")), thread, site }
    }

    fn explain_wait(&self, thread: ThreadId, wait: &Waiting) -> String {
        let name = self.thread_name(thread);
        let what = crate::trace::label(wait.operation.label);
        let mut line = format!("{name} waits in {what} at {}", place(wait.site));
        if let Some(holder) = self.holder(wait) {
            let since = place(self.explorer.graph.site(holder));
            let whom = if holder.thread == thread { "itself".to_owned() } else { self.thread_name(holder.thread) };
            line.push_str(&format!(" for what {whom} holds since {since}"));
        }
        line
    }

    /// The event through which somebody holds what is waited for: the last acquisition of it.
    fn holder(&self, wait: &Waiting) -> Option<EventId> {
        use Label::*;
        let holds = |l| {
            matches!(l, MutexLock | MutexTryLock | RwLockRead | RwLockTryRead | RwLockWrite | RwLockTryWrite | OnceCall)
        };
        let graph = &self.explorer.graph;
        holds(wait.operation.label).then_some(())?;
        if let Some(reader) = self.reader(wait) {
            return Some(reader);
        }
        let writes = graph.mo(wait.location).iter().rev();
        let mut gone = vec![0; graph.slots()];
        for &id in writes {
            let gone = &mut gone[id.thread.slot()];
            if !holds(graph.event(id).operation.label) {
                *gone += 1;
            } else if *gone == 0 {
                return Some(id);
            } else {
                *gone -= 1;
            }
        }
        None
    }

    /// Threads that wait for each other in a circle, through what each holds: locks of some kinds. Nobody else can end that where one thread has a lock at a time.
    fn cycle(&self, counts: impl Fn(&Operation) -> bool) -> Vec<ThreadId> {
        let holder = |t: ThreadId| {
            let waiting = self.threads[t.slot()].waiting.filter(|w| counts(&w.operation) && !self.is_timed(t))?;
            self.holder(&waiting).map(|id| id.thread)
        };
        let next = |t: ThreadId| match self.state(t) {
            State::Join(child) => Some(child),
            State::Guard => holder(t),
            _ => None,
        };
        for start in self.threads() {
            let mut path = vec![start];
            while let Some(t) = next(path[path.len() - 1]) {
                if let Some(at) = path.iter().position(|p| *p == t) {
                    return path.split_off(at);
                }
                path.push(t);
            }
        }
        Vec::new()
    }

    /// Notifications of what is waited for that woke nobody.
    fn unheard(&self, wait: &Waiting) -> Vec<EventId> {
        let graph = &self.explorer.graph;
        let changed_nothing = |id: &EventId| {
            let e = graph.event(*id);
            let seen = graph.value(e.location, e.rf);
            // parking_lot's looks first, and does nothing where it sees nobody.
            let nobody = seen as u32 & !(seen >> 32) as u32 == 0;
            notifies(e.operation.label) && if e.writes { e.value == seen } else { nobody }
        };
        graph.accesses(wait.location).filter(changed_nothing).collect()
    }
}

/// Does a wait of this kind end by a notification, which can be lost?
fn sleeps(label: Label) -> bool {
    matches!(label, Label::CondvarWait | Label::Park | Label::BlockOn)
}

/// Is this such a notification?
fn notifies(label: Label) -> bool {
    matches!(label, Label::CondvarNotifyOne | Label::CondvarNotifyAll | Label::Unpark | Label::Wake)
}
