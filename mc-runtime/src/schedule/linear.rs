//! From a run to a schedule: what is not the default along the order of its events.

use super::{Change, Deviation, Schedule};
use crate::exec::{Made, Started};
use crate::graph::Graph;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::{BlockReason, Code};
use crate::options::Options;

/// The thread that makes the next event by the default rule, where threads are numbered by their spawns along the order.
pub(crate) fn default_thread(last: Option<(u32, bool)>, alive: impl Iterator<Item = u32>) -> u32 {
    match last {
        Some((thread, false)) => thread,
        _ => alive.min().unwrap_or(0),
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
    /// Which threads began to run when.
    pub started: &'a [Started],
    /// Who ran when it failed, if anybody did.
    pub failed: Option<ThreadId>,
}

/// The schedule of a run.
pub(crate) fn of_run(run: &Run<'_>, options: &Options, learned: Vec<u16>) -> Schedule {
    let graph = run.graph;
    let mut names = vec![0u32; graph.slots()];
    let mut alive = vec![0u32];
    let mut spawned = 0;
    let mut done = vec![0u32; graph.slots()];
    let mut deviations = Vec::new();
    let mut starting = Vec::new();
    let mut last = None;
    let mut digest = Digest::default();
    let mut at = 0;
    for step in run.steps() {
        let name = names[step.thread().slot()];
        if let Step::Start(_) = step {
            starting.push(name);
            continue;
        }
        let mut deviate = |change| deviations.push(Deviation { at, change });
        let next = default_thread(last, alive.iter().copied());
        say_who(&mut starting, next, name, |thread| deviate(Change::Thread(thread)));
        let id = match step {
            Step::Event(id) => id,
            Step::LeftOut(made) => {
                digest.add(name, made.code);
                last = Some((name, false));
                at += 1;
                continue;
            }
            Step::Start(_) => unreachable!("not the next event"),
        };
        let event = graph.event(id);
        let stops = event.operation.code == Code::Block;
        if stops && event.operation.a == BlockReason::Spin as u64 {
            deviate(Change::Stop { reads: event.operation.b as u32 });
        }
        let choice = choice(graph, id, &done);
        if choice != 0 {
            deviate(Change::Choice(choice));
        }
        if event.operation.code == Code::Spawn {
            spawned += 1;
            names[event.value as usize] = spawned;
            alive.push(spawned);
        }
        let over = stops || event.operation.code == Code::End;
        if over {
            alive.retain(|t| *t != name);
        }
        digest.add(name, event.operation.code);
        done[id.thread.slot()] += 1;
        last = Some((name, over));
        at += 1;
    }
    if let Some(failed) = run.failed.and_then(|thread| names.get(thread.slot())) {
        let next = default_thread(last, alive.iter().copied());
        say_who(&mut starting, next, *failed, |thread| {
            deviations.push(Deviation { at, change: Change::Thread(thread) })
        });
    }
    Schedule {
        memory_model: options.memory_model,
        allow_panics: options.allow_panics,
        spurious: (options.spurious_failures, options.spurious_wakeups),
        uninit: options.uninit,
        learned,
        deviations,
        events: at,
        digest: digest.value(),
    }
}

/// The threads that only start, and then the one that goes on, unless that is the default.
fn say_who(starting: &mut Vec<u32>, default: u32, name: u32, mut say: impl FnMut(u32)) {
    starting.retain(|thread| *thread != name);
    if default != name || !starting.is_empty() {
        starting.drain(..).chain([name]).for_each(&mut say);
    }
}

enum Step {
    Start(ThreadId),
    LeftOut(Made),
    Event(EventId),
}

impl Step {
    fn thread(&self) -> ThreadId {
        match self {
            Step::Start(thread) => *thread,
            Step::LeftOut(made) => made.thread,
            Step::Event(id) => id.thread,
        }
    }
}

impl Run<'_> {
    /// The events, and between them what was left out, and who started.
    fn steps(&self) -> impl Iterator<Item = Step> {
        let mut started = self.started.iter().copied().peekable();
        let mut left_out = self.left_out.iter().copied().peekable();
        let mut order = self.order.iter().copied().enumerate().peekable();
        let mut left = 0;
        std::iter::from_fn(move || {
            let before = order.peek().map_or(usize::MAX, |(before, _)| *before);
            if let Some(start) = started.next_if(|start| start.before <= before && start.left_out <= left) {
                return Some(Step::Start(start.thread));
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
            Code::End => 8,
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
