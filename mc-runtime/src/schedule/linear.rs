//! From a run to a schedule: what is not the default along the order of its events.

use super::{Change, Deviation, Schedule};
use crate::exec::{Life, Made};
use crate::graph::Graph;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{BlockReason, Code};
use crate::options::Options;

/// Who makes the next event by the default rule, where threads are numbered by their spawns along the order: whoever made the last one, as long as it has not ended,
/// and otherwise the first that has not.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Who made the last event, and whether it is over.
    last: Option<(u32, bool)>,
    alive: Vec<u32>,
}

impl Turns {
    /// The body of the test is about to begin.
    pub(crate) fn new() -> Self {
        Turns { last: None, alive: vec![0] }
    }

    /// That thread.
    pub(crate) fn next(&self) -> u32 {
        match self.last {
            Some((thread, false)) => thread,
            _ => self.alive.iter().copied().min().unwrap_or(0),
        }
    }

    /// A thread has made an event; `spawned`: the one that it has spawned by it.
    pub(crate) fn made(&mut self, thread: u32, spawned: Option<u32>) {
        self.last = Some((thread, false));
        self.alive.extend(spawned);
    }

    /// A thread has ended, or stopped for good.
    #[inline(never)]
    pub(crate) fn is_over(&mut self, thread: u32) {
        self.alive.retain(|t| *t != thread);
        if let Some((_, over)) = self.last.as_mut().filter(|(last, _)| *last == thread) {
            *over = true;
        }
    }
}

/// What a schedule is made from.
pub(crate) struct Run<'a> {
    /// Its graph. That can have more events: what others would still have done when the run was cut.
    pub graph: &'a Graph,
    /// Its events as they were executed, which is an order that extends (program order or reads-from)+.
    pub order: &'a [EventId],
    /// What are events of the schedule, which see the newest write.
    pub left_out: &'a [Made],
    /// Which threads began to run when, and ended when.
    pub lives: &'a [Life],
    /// Who ran when it failed, if anybody did.
    pub failed: Option<ThreadId>,
}

/// The schedule of a run.
pub(crate) fn of_run(run: &Run<'_>, options: &Options, learned: Vec<u16>) -> Schedule {
    let mut along = Along::new(run.graph);
    for step in run.steps() {
        match step {
            Step::Life(life) => along.lives(life),
            Step::LeftOut(made) => along.leaves_out(made),
            Step::Event(id) => along.makes(id),
        }
    }
    if let Some(name) = run.failed.and_then(|thread| along.names.get(thread.slot()).copied()) {
        along.say_who(name, Some(along.turns.next()));
    }
    Schedule {
        memory_model: options.memory_model,
        allow_panics: options.allow_panics,
        spurious: (options.spurious_failures, options.spurious_wakeups),
        uninit: options.uninit,
        learned,
        deviations: along.deviations,
        events: along.at,
        digest: along.digest.value(),
    }
}

/// A way along a run, and the schedule as far as it goes.
struct Along<'a> {
    graph: &'a Graph,
    /// What threads are called in it, by slot.
    names: Vec<u32>,
    spawned: u32,
    turns: Turns,
    /// Who has started since the last event.
    starting: Vec<u32>,
    /// How many events each thread has made, by slot.
    done: Vec<u32>,
    deviations: Vec<Deviation>,
    digest: Digest,
    at: u32,
}

impl<'a> Along<'a> {
    fn new(graph: &'a Graph) -> Self {
        Along {
            graph,
            names: vec![0; graph.slots()],
            spawned: 0,
            turns: Turns::new(),
            starting: Vec::new(),
            done: vec![0; graph.slots()],
            deviations: Vec::new(),
            digest: Digest::default(),
            at: 0,
        }
    }

    fn deviate(&mut self, change: Change) {
        self.deviations.push(Deviation { at: self.at, change });
    }

    /// The threads that only start, and then the one that goes on, unless that is the default.
    fn say_who(&mut self, name: u32, default: Option<u32>) {
        self.starting.retain(|thread| *thread != name);
        if default != Some(name) || !self.starting.is_empty() {
            let starting = std::mem::take(&mut self.starting);
            starting.into_iter().chain([name]).for_each(|thread| self.deviate(Change::Thread(thread)));
        }
    }

    fn lives(&mut self, life: Life) {
        let name = self.names[life.thread.slot()];
        if life.over {
            self.turns.is_over(name);
        } else {
            self.starting.push(name);
        }
    }

    fn leaves_out(&mut self, made: Made) {
        let name = self.names[made.thread.slot()];
        self.say_who(name, Some(self.turns.next()));
        self.made(name, made.code, None);
    }

    fn makes(&mut self, id: EventId) {
        let (name, event) = (self.names[id.thread.slot()], self.graph.event(id));
        let stops = event.operation.code == Code::Block;
        if stops && event.operation.a == BlockReason::Spin as u64 {
            // It is named always: it may do so at its end, to which it comes without having been asked for.
            self.say_who(name, None);
            self.deviate(Change::Stop { reads: event.operation.b as u32 });
        } else {
            self.say_who(name, Some(self.turns.next()));
        }
        let choice = choice(self.graph, id, &self.done);
        if choice != 0 {
            self.deviate(Change::Choice(choice));
        }
        let spawns = event.operation.code == Code::Spawn;
        if spawns {
            self.spawned += 1;
            self.names[event.value as usize] = self.spawned;
        }
        self.done[id.thread.slot()] += 1;
        self.made(name, event.operation.code, spawns.then_some(self.spawned));
        if stops {
            self.turns.is_over(name);
        }
    }

    fn made(&mut self, name: u32, code: Code, spawned: Option<u32>) {
        self.digest.add(name, code);
        self.turns.made(name, spawned);
        self.at += 1;
    }
}

enum Step {
    Life(Life),
    LeftOut(Made),
    Event(EventId),
}

impl Run<'_> {
    /// The events, and between them what was left out, and who started or ended.
    fn steps(&self) -> impl Iterator<Item = Step> {
        let mut lives = self.lives.iter().copied().peekable();
        let mut left_out = self.left_out.iter().copied().peekable();
        let mut order = self.order.iter().copied().enumerate().peekable();
        let mut left = 0;
        std::iter::from_fn(move || {
            let before = order.peek().map_or(usize::MAX, |(before, _)| *before);
            if let Some(life) = lives.next_if(|life| life.before <= before && life.left_out <= left) {
                return Some(Step::Life(life));
            }
            match left_out.next_if(|made| made.before <= before) {
                Some(made) => {
                    left += 1;
                    Some(Step::LeftOut(made))
                }
                None => order.next().map(|(_, id)| Step::Event(id)),
            }
        })
    }
}

/// What the event chooses, as a number: 0 by the default rule. So many events of each thread are `done`.
fn choice(graph: &Graph, id: EventId, done: &[u32]) -> u32 {
    let event = graph.event(id);
    match event.operation.code {
        Code::Choose => event.value as u32,
        _ if event.location != LocationId::NONE => newer(graph, id, done),
        _ => 0,
    }
}

/// How many of the writes made so far are newer than what the event reads, or than its place.
fn newer(graph: &Graph, id: EventId, done: &[u32]) -> u32 {
    let event = graph.event(id);
    let from = if event.reads() { event.rf } else { id };
    let index = graph.mo_index(from);
    graph.mo(event.location)[index..].iter().filter(|w| w.index < done[w.thread.slot()]).count() as u32
}

/// A digest of what the threads did, in their order: enough to notice another program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Digest(u32);

impl Digest {
    /// Another event.
    pub(crate) fn add(&mut self, thread: u32, code: Code) {
        let kind = match code {
            Code::Load => 1,
            Code::Store => 2,
            Code::Rmw(rmw) => 16 + rmw as u32,
            Code::CompareExchange | Code::AwaitExchange => 3,
            Code::Guarded(test, update) => 64 + test as u32 * 8 + update as u32,
            Code::Fence => 4,
            Code::Choose => 5,
            Code::Spawn => 6,
            Code::Join => 9,
            Code::Block => 10,
            Code::Arrive => 11,
            Code::Pass => 12,
            Code::ReadLock => 13,
            Code::ReadUnlock => 14,
            Code::WriteLock => 15,
        };
        self.0 = (self.0 ^ (kind | thread << 8)).wrapping_mul(0x9e37_79b1).rotate_left(13);
    }

    /// Its value.
    pub(crate) fn value(self) -> u16 {
        (self.0 ^ self.0 >> 16) as u16
    }
}
