//! From a run to a schedule: what is not the default along the order of its events.

use super::{Change, Deviation, Schedule};
use crate::exec::Made;
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

/// The schedule of a run: its graph, and its events as they were executed, which is an order that extends (program order or reads-from)+.
/// (A graph can have more: what others would still have done when the run was cut.) What was `left_out` are events of it, which see the newest write.
/// `failed` is who ran when it failed.
pub(crate) fn of_run(
    graph: &Graph,
    order: &[EventId],
    left_out: &[Made],
    options: &Options,
    learned: Vec<u16>,
    failed: ThreadId,
) -> Schedule {
    let mut names = vec![0u32; graph.slots()];
    let mut alive = vec![0u32];
    let mut spawned = 0;
    let mut done = vec![0u32; graph.slots()];
    let mut deviations = Vec::new();
    let mut last = None;
    let mut digest = Digest::default();
    let mut at = 0;
    for made in all(order, left_out) {
        let name = names[made.thread().slot()];
        let mut deviate = |change| deviations.push(Deviation { at, change });
        if default_thread(last, alive.iter().copied()) != name {
            deviate(Change::Thread(name));
        }
        let id = match made {
            Step::Event(id) => id,
            Step::LeftOut(made) => {
                digest.add(name, made.code);
                last = Some((name, false));
                at += 1;
                continue;
            }
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
    let name = names[failed.slot()];
    if default_thread(last, alive.iter().copied()) != name {
        deviations.push(Deviation { at, change: Change::Thread(name) });
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

enum Step {
    Event(EventId),
    LeftOut(Made),
}

impl Step {
    fn thread(&self) -> ThreadId {
        match self {
            Step::Event(id) => id.thread,
            Step::LeftOut(made) => made.thread,
        }
    }
}

/// The events, and between them what was left out.
fn all(order: &[EventId], left_out: &[Made]) -> impl Iterator<Item = Step> {
    let mut left_out = left_out.iter().copied().peekable();
    let mut order = order.iter().copied().enumerate().peekable();
    std::iter::from_fn(move || {
        let before = order.peek().map_or(usize::MAX, |(before, _)| *before);
        match left_out.next_if(|made| made.before <= before) {
            Some(made) => Some(Step::LeftOut(made)),
            None => order.next().map(|(_, id)| Step::Event(id)),
        }
    })
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
