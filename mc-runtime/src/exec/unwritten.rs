//! Reads of heap memory that nobody has written, found by what the test makes of them.
//!
//! A read alone is nothing: code that moves an `Option` reads what `None` has left alone. So blocks are filled before they are handed out, and an execution in which a read
//! got filling is run once more with another one. If it then does something else, it depends on memory that nobody has written.

use super::calls::{Spot, Where};
use super::run::{TestBody, execute};
use super::thread::{Life, State};
use super::{Ending, Engine, Found};
use crate::ids::{EventId, ThreadId};
use crate::outcome::FailureKind;
use crate::symbols;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::ops::Range;

/// The bytes that blocks are filled with. They differ in each bit, and only one is zero.
const FILLINGS: [u8; 2] = [0xff, 0];
/// So many bytes are noted at once: a larger copy is several reads.
const MOST_BYTES: usize = u16::BITS as usize;
/// How many places of a message are named.
const MOST_NAMED: usize = 3;

/// What is known of the running execution.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    /// Which filling it has.
    filling: usize,
    reads: FxHashMap<Read, Got>,
    /// It was run before.
    repeats: bool,
    /// Which threads began to run then: those that failed before an event of theirs are not in the graph.
    lives: Vec<Life>,
}

/// A read, or a part of a larger one, that got filling: whose, of what, by which code.
type Read = (ThreadId, usize, usize);

#[derive(Clone, Debug)]
struct Got {
    /// How many such reads there were before.
    order: usize,
    /// What is read in all, and by whom.
    whole: (ThreadId, Range<usize>),
    /// Which bytes of the part.
    bytes: u16,
    place: Spot,
}

/// What can be seen of an execution.
#[derive(Debug)]
struct Seen {
    ending: Ending,
    failure: Option<Found>,
    events: Vec<EventId>,
    values: Vec<(u64, u64)>,
}

impl Unwritten {
    /// An execution begins.
    pub(super) fn reset(&mut self) {
        self.reads.clear();
    }

    /// What blocks of the heap are filled with.
    pub(super) fn filling(&self) -> u8 {
        FILLINGS[self.filling]
    }

    /// Is it a run of an execution that was run before, for comparison?
    pub(super) fn repeats(&self) -> bool {
        self.repeats
    }
}

impl Engine {
    /// In a run of an execution that was run before, the thread that began to run by now, and has not yet.
    pub(super) fn starts_again(&self) -> Option<ThreadId> {
        let lives = if self.unwritten.repeats { &self.unwritten.lives[..] } else { &[] };
        let unstarted = |thread: ThreadId| self.threads.get(thread.slot()).is_some_and(|t| t.state == State::Unstarted);
        let due = lives.iter().take_while(|life| life.before <= self.order.len());
        due.map(|life| life.thread).find(|thread| unstarted(*thread))
    }

    /// The running thread reads, or copies; notes it if it gets filling.
    pub(super) fn note_filling(&mut self, at: usize, size: usize, place: Spot) {
        let heap = self.heap.as_ref().filter(|_| !self.cutting);
        if heap.is_some_and(|heap| heap.block(at).is_some_and(|block| !block.freed)) {
            let parts = (0..size).step_by(MOST_BYTES);
            parts.for_each(|start| self.note_part(at + start, at..at + size, place));
        }
    }

    fn note_part(&mut self, at: usize, whole: Range<usize>, place: Spot) {
        let size = MOST_BYTES.min(whole.end - at);
        let filling = self.unwritten.filling();
        // SAFETY: the bytes are in a block of an arena that is in use, for otherwise the access has failed; the test is about to read them itself.
        let byte = |offset: &usize| unsafe { (at as *const u8).add(*offset).read_volatile() } == filling;
        let bytes = (0..size).filter(byte).fold(0, |bytes, offset| bytes | 1 << offset);
        if bytes != 0 {
            let code = if let Where::Code([code, ..]) = self.told.spots.place(place) { code } else { 0 };
            let got = Got { order: self.unwritten.reads.len(), whole: (self.current(), whole), bytes: 0, place };
            self.unwritten.reads.entry((self.current(), at, code)).or_insert(got).bytes |= bytes;
        }
    }

    /// The failure of an execution that does something else with another filling in what it has read.
    fn depends(&self, unwritten: &[Got], first: &Seen, second: &Seen) -> Found {
        let difference = second.difference(first);
        let Some(last @ Got { whole: (thread, range), .. }) = unwritten.last() else {
            let message = format!("the test depends on memory of the heap that nobody has written\n{difference}");
            return Found { kind: FailureKind::Uninit, message, thread: ThreadId::MAIN, site: None };
        };
        let place = |got: &Got| self.where_is(got.place);
        let (last_parts, others): (Vec<_>, Vec<_>) = unwritten.iter().partition(|got| got.whole == last.whole);
        let bytes: u32 = last_parts.iter().map(|got| got.bytes.count_ones()).sum();
        let (size, name) = (range.len(), self.thread_name(*thread));
        let mut message = format!(
            "{name} reads {size} bytes at {}, {bytes} of them never written, and what the test does depends on these\n{difference}",
            place(last)
        );
        let mut named: Vec<_> = others.into_iter().rev().map(place).collect();
        named.dedup();
        named.truncate(MOST_NAMED);
        if !named.is_empty() {
            let _ = write!(message, "\nBytes that nobody has written were read before at {}.", named.join(", "));
        }
        Found {
            kind: FailureKind::Uninit,
            message,
            thread: *thread,
            site: symbols::source(self.told.spots.place(last.place)),
        }
    }

    fn seen(&self, ending: Ending) -> Seen {
        let graph = &self.explorer.graph;
        let value = |id: &EventId| {
            let event = graph.event(*id);
            (event.value, if event.reads() { graph.value(event.location, event.rf) } else { 0 })
        };
        let events = graph.order().to_vec();
        Seen { ending, failure: self.failure.clone(), values: events.iter().map(value).collect(), events }
    }
}

/// If the execution that has just ended has read any filling, runs it with another one: whether it depends on that. Gives how it ended at last.
pub(crate) fn look_twice(engine: &mut Engine, body: &TestBody, ending: Ending) -> Ending {
    // What reaches out of the test may do something else the second time.
    let comparable = matches!(ending, Ending::Complete | Ending::Failed) && !engine.outside.ever;
    if !comparable || engine.unwritten.reads.is_empty() || engine.has_reached_outside() {
        return ending;
    }
    let kept = (engine.tracer.take(), engine.spurious.clone(), engine.order.clone(), engine.lives.clone());
    engine.unwritten.lives.clone_from(&engine.lives);
    let first = engine.seen(ending);
    let reads = std::mem::take(&mut engine.unwritten.reads);
    let second = again(engine, body, 1, &first);
    let read_again = std::mem::take(&mut engine.unwritten.reads);
    let differs = second.ending != Ending::Restart && !second.is_like(&first);
    let third = differs.then(|| again(engine, body, 0, &first));
    (engine.tracer, engine.spurious, engine.order, engine.lives) = kept;
    let ends = |seen: &Seen, how| seen.ending == how;
    if ends(&second, Ending::Restart) || third.as_ref().is_some_and(|third| ends(third, Ending::Restart)) {
        return Ending::Restart;
    }
    let Some(third) = third else {
        engine.failure = first.failure;
        return ending;
    };
    engine.failure = Some(if third.is_like(&first) {
        let both = |(read, got): (Read, Got)| {
            let bytes = got.bytes & read_again.get(&read)?.bytes;
            (bytes != 0).then_some(Got { bytes, ..got })
        };
        let mut unwritten: Vec<_> = reads.into_iter().filter_map(both).collect();
        unwritten.sort_unstable_by_key(|got| got.order);
        engine.depends(&unwritten, &first, &second)
    } else {
        third.failure.filter(|found| found.kind == FailureKind::Nondeterminism).unwrap_or_else(not_the_same)
    });
    Ending::Failed
}

fn not_the_same() -> Found {
    let message =
        "the test does not do the same each time: run once more along the same events, it comes to something else\n\
         The usual suspects: the time, random numbers, the order of a hash map, addresses, state that is left over."
            .to_owned();
    Found { kind: FailureKind::Nondeterminism, message, thread: ThreadId::MAIN, site: None }
}

/// Runs an execution, of the engine's graph, once more.
fn again(engine: &mut Engine, body: &TestBody, filling: usize, first: &Seen) -> Seen {
    let events = first.events.len();
    engine.explorer.truncate(events);
    engine.explorer.graph.forget_ends(events); // what ends then may do so in one of the runs only
    (engine.unwritten.filling, engine.unwritten.repeats) = (filling, true);
    let ending = execute(engine, body);
    (engine.unwritten.filling, engine.unwritten.repeats) = (0, false);
    engine.seen(ending)
}

impl Seen {
    fn is_like(&self, other: &Self) -> bool {
        // Which of two accesses that race comes first is nothing that the events say.
        let who = |found: &Found| (found.message.clone(), found.thread);
        let is_race = |found: &Found| found.kind == FailureKind::DataRace;
        let told = |found: &Found| (found.kind, (!is_race(found)).then(|| who(found)));
        let failure = |seen: &Self| seen.failure.as_ref().map(told);
        let same = (self.ending, failure(self)) == (other.ending, failure(other));
        same && (&self.events, &self.values) == (&other.events, &other.values)
    }

    /// In words: what it does with other bytes that the other did not do.
    fn difference(&self, other: &Self) -> String {
        let does = |seen: &Self| match &seen.failure {
            None => "it passes".to_owned(),
            Some(found) if found.kind == FailureKind::Nondeterminism => {
                let first = found.message.lines().next().unwrap_or_default();
                first.split_once(": ").map_or(first, |(_, what)| what).to_owned()
            }
            Some(found) => found.message.replace('\n', " "),
        };
        let (before, now) = (does(other), does(self));
        if before == now {
            "With other bytes there, events of it have other values.".to_owned()
        } else if other.failure.is_none() {
            format!("With other bytes there: {now}")
        } else {
            format!("With these bytes: {before}\nWith other bytes: {now}")
        }
    }
}
