//! Events in words, and the trace of a replay.

use crate::exec::Engine;
use crate::graph::Site;
use crate::graph::event::Event;
use crate::ids::{EventId, ThreadId};
use crate::message::{Taken, TraceEvent};
use crate::operation::{BlockReason, Code, NO_ROUND, Operation, Order, WRITER};
use crate::ops::{Label, NO_MESSAGE, RECEIVER_GONE, Rmw};
use crate::outcome;
use crate::place::{Place, is_of_toolchain};
use std::fmt;

/// Gets the events of a replay, in the order of execution.
pub(crate) struct Tracer(pub Box<dyn FnMut(TraceEvent)>);

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tracer")
    }
}

/// What an operation is called.
pub(crate) fn label(label: Label) -> &'static str {
    match label {
        Label::Atomic => "atomic",
        Label::MutexLock => "Mutex::lock",
        Label::MutexTryLock => "Mutex::try_lock",
        Label::MutexUnlock => "Mutex unlocked",
        Label::RwLockRead => "RwLock::read",
        Label::RwLockTryRead => "RwLock::try_read",
        Label::RwLockReadUnlock => "RwLock read guard dropped",
        Label::RwLockWrite => "RwLock::write",
        Label::RwLockTryWrite => "RwLock::try_write",
        Label::RwLockWriteUnlock => "RwLock write guard dropped",
        Label::RwLockDowngrade => "RwLockWriteGuard::downgrade",
        Label::CondvarEnqueue => "Condvar::wait begins",
        Label::CondvarWait => "Condvar::wait",
        Label::CondvarWaitTimeout => "Condvar::wait_timeout",
        Label::CondvarTimeout => "Condvar::wait_timeout timed out",
        Label::CondvarNotifyOne => "Condvar::notify_one",
        Label::CondvarNotifyAll => "Condvar::notify_all",
        Label::BarrierArrive => "Barrier::wait begins",
        Label::BarrierWait => "Barrier::wait",
        Label::OnceCall => "Once::call_once",
        Label::OnceComplete => "Once completed",
        Label::OnceGet => "Once looked at",
        Label::Park => "park",
        Label::ParkTimeout => "park_timeout",
        Label::Unpark => "unpark",
        Label::BlockOn => "block_on waits to be woken",
        Label::Wake => "Waker::wake",
        Label::ArcClone => "Arc::clone",
        Label::ArcDrop => "Arc dropped",
        Label::ArcObserve => "Arc count looked at",
        Label::ThreadFinished => "JoinHandle::is_finished",
        Label::ThreadDone => "thread is done",
        Label::ChannelSend => "Sender::send",
        Label::ChannelSent => "message is there",
        Label::ChannelRecv => "Receiver::recv",
        Label::ChannelTryRecv => "Receiver::try_recv",
        Label::ChannelRoom => "channel has room",
        Label::ChannelPlace => "place in the channel",
        Label::ChannelClone => "Sender::clone",
        Label::ChannelDrop => "Sender dropped",
        Label::ChannelGone => "Receiver dropped",
        Label::ChannelClosed => "channel closed",
        Label::ChannelEmptied => "message dropped",
        Label::SpuriousWakeup => "woken for no reason",
        Label::SpuriousFailure => "fails for no reason",
        Label::TimeOut => "the time is over",
        Label::AddressReuse => "gets freed memory again",
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "Relaxed",
        Order::Acquire => "Acquire",
        Order::Release => "Release",
        Order::AcqRel => "AcqRel",
        Order::SeqCst => "SeqCst",
    }
}

fn rmw(rmw: Rmw) -> &'static str {
    match rmw {
        Rmw::Add => "fetch_add",
        Rmw::Sub => "fetch_sub",
        Rmw::And => "fetch_and",
        Rmw::Nand => "fetch_nand",
        Rmw::Or => "fetch_or",
        Rmw::Xor => "fetch_xor",
        Rmw::Swap => "swap",
        Rmw::MaxSigned | Rmw::MaxUnsigned => "fetch_max",
        Rmw::MinSigned | Rmw::MinUnsigned => "fetch_min",
        Rmw::CondvarEnqueue | Rmw::CondvarNotifySole | Rmw::CondvarNotifyPrefer | Rmw::CondvarNotifyAll => "condvar",
    }
}

/// An operation in words.
pub(crate) fn operation(operation: &Operation) -> String {
    let (a, b) = (operation.a, operation.b);
    let by = order(operation.order);
    if operation.label != Label::Atomic {
        return label(operation.label).to_owned();
    }
    match operation.code {
        Code::Load => format!("load({by})"),
        Code::Store => format!("store({a}, {by})"),
        Code::Rmw(what) => format!("{}({a}, {by})", rmw(what)),
        Code::CompareExchange | Code::AwaitExchange => {
            format!("compare_exchange({a}, {b}, {by}, {})", order(operation.failure))
        }
        Code::Guarded(..) | Code::Arrive | Code::Pass | Code::ReadLock | Code::ReadUnlock | Code::WriteLock => {
            format!("wait({by})")
        }
        Code::Fence => format!("fence({by})"),
        Code::Choose => format!("choose among {a}"),
        Code::Spawn => "spawn".to_owned(),
        Code::Join => format!("join T{a}"),
        Code::Block if b == u64::from(NO_ROUND) => "not followed: another execution shows the same".to_owned(),
        Code::Block if a == BlockReason::Spin as u64 => "spins for ever here".to_owned(),
        Code::Block => "assume(false)".to_owned(),
    }
}

/// Is it what a call that failed has seen?
fn is_in_vain(event: &Event, old: u64) -> bool {
    match event.operation.label {
        Label::MutexTryLock | Label::RwLockTryWrite => {
            event.operation.code.asked() == Code::CompareExchange && !event.writes
        }
        Label::RwLockTryRead => !event.writes && old & WRITER != 0,
        Label::ChannelSend => old & RECEIVER_GONE != 0,
        Label::ChannelRecv => matches!(event.operation.code, Code::Guarded(..)) && old == NO_MESSAGE,
        _ => false,
    }
}

pub(crate) fn site_of(place: Place) -> outcome::Site {
    outcome::Site { file: place.file().to_owned(), line: place.line() }
}

impl Engine {
    /// Tells the tracer of an event, if there is one.
    #[inline]
    pub(crate) fn trace(&mut self, id: EventId, site: Site, old: u64) {
        if self.tracer.is_some() || matches!(self.guide, crate::exec::Guide::Follow(_)) {
            self.tell_event(id, site, old);
        }
    }

    #[cold]
    fn tell_event(&mut self, id: EventId, site: Site, old: u64) {
        if self.tracer.is_some() && !self.closes_on(id) {
            let event = self.describe_event(id, site, old);
            self.tell(event);
        }
        if let crate::exec::Guide::Follow(follower) = &mut self.guide {
            let event = self.explorer.graph.event(id);
            follower.added(id.thread, event.operation.code, event.value);
        }
    }

    /// Does it take part in closing a channel, as the event before it does?
    fn closes_on(&self, id: EventId) -> bool {
        let closes = |id: EventId| self.explorer.graph.event(id).operation.label == Label::ChannelClosed;
        let before = self.order.len().checked_sub(2).map(|at| self.order[at]);
        closes(id) && before.is_some_and(|before| before.thread == id.thread && closes(before))
    }

    /// A thread has ended.
    #[inline]
    pub(crate) fn trace_end_of(&mut self, thread: ThreadId) {
        if self.tracer.is_some() {
            self.tell_end_of(thread);
        }
        self.guide.ended(thread);
    }

    #[cold]
    fn tell_end_of(&mut self, thread: ThreadId) {
        let event = self.trace_event(thread, "ends".to_owned(), None);
        self.tell(event);
    }

    fn tell(&mut self, event: TraceEvent) {
        if let Some(Tracer(tracer)) = &mut self.tracer {
            tracer(event);
        }
    }

    fn trace_event(&self, thread: ThreadId, text: String, site: Site) -> TraceEvent {
        TraceEvent {
            thread: thread.0,
            name: self.threads[thread.slot()].name.clone(),
            text,
            site: site.map(site_of),
            column: site.map_or(0, Place::column),
            note: None,
            culprit: false,
            taken: None,
        }
    }

    fn describe_event(&self, id: EventId, site: Site, old: u64) -> TraceEvent {
        let graph = &self.explorer.graph;
        let event = graph.event(id);
        let mut text = operation(&event.operation);
        match event.operation.code {
            Code::CompareExchange | Code::AwaitExchange if event.operation.label == Label::Atomic => {
                text.push_str(&format!(" = {}({old})", if event.writes { "Ok" } else { "Err" }));
            }
            Code::Load | Code::Rmw(_) if event.operation.label == Label::Atomic => text.push_str(&format!(" = {old}")),
            Code::Choose => match (event.operation.label, event.value) {
                (Label::SpuriousWakeup, 0) => text = "not woken for no reason".to_owned(),
                (Label::SpuriousFailure, 0) => text = "does not fail for no reason".to_owned(),
                (Label::TimeOut, 0) => text = "the time is not over".to_owned(),
                (Label::AddressReuse, 0) => text = "gets new memory".to_owned(),
                (Label::Atomic, value) => text = format!("choose among {} = {value}", event.operation.a),
                _ => {}
            },
            Code::Spawn => text = format!("spawn T{}", event.value),
            _ if is_in_vain(event, old) => text.push_str(" fails"),
            _ => {}
        }
        // No line of the test says that a thread is done (it is that it returns), nor that a guard is dropped at the end of its scope.
        let site = site.filter(|s| event.operation.label != Label::ThreadDone && !is_of_toolchain(s.file()));
        let mut told = self.trace_event(id.thread, text, site);
        told.taken = self.taken(id);
        if event.reads() && !event.writes && event.operation.label == Label::Atomic {
            let newest = graph.mo_max(event.location);
            if newest != event.rf {
                told.note = Some(match graph.value(event.location, newest) {
                    value if value != old => format!("stale: {value} exists"),
                    value if event.rf.is_init() => format!("stale: the first {value}, a newer one exists"),
                    value => format!("stale: an older {value}, a newer one exists"),
                });
            }
        }
        told
    }

    /// How the thread has taken the lock that it gives back by this event.
    fn taken(&self, id: EventId) -> Option<Taken> {
        use Label::*;
        let graph = &self.explorer.graph;
        let event = graph.event(id);
        let takes: fn(Label) -> bool = match event.operation.label {
            MutexUnlock => |l| matches!(l, MutexLock | MutexTryLock),
            RwLockReadUnlock => |l| matches!(l, RwLockRead | RwLockTryRead),
            RwLockWriteUnlock => |l| matches!(l, RwLockWrite | RwLockTryWrite),
            _ => return None,
        };
        let before = graph.thread(id.thread)[..id.index as usize].iter().rev();
        let last = before.filter(|e| e.location == event.location).find(|e| takes(e.operation.label))?;
        let method = label(last.operation.label).rsplit("::").next().unwrap_or_default().to_owned();
        let place = last.site?;
        Some(Taken { method, site: site_of(place), column: place.column() })
    }

    /// Tells the tracer of a non-atomic access.
    pub(crate) fn trace_cell(&mut self, what: &str, site: Site) {
        if self.tracer.is_some() {
            let event = self.trace_event(self.current(), format!("{what} of plain memory"), site);
            self.tell(event);
        }
    }

    /// Tells the tracer what threads wait for at the end, and what failed.
    #[inline]
    pub(crate) fn trace_end(&mut self) {
        if self.tracer.is_some() {
            self.tell_end();
        }
    }

    #[cold]
    fn tell_end(&mut self) {
        for slot in 0..self.threads.len() {
            let Some(wait) = self.threads[slot].waiting else { continue };
            let text = format!("waits in {}", label(wait.operation.label));
            let mut event = self.trace_event(ThreadId(slot as u32), text, wait.site);
            event.culprit = true;
            self.tell(event);
        }
        let Some(found) = self.failure.clone() else { return };
        if found.kind == outcome::FailureKind::Panic {
            let earlier = self.panicked().map(|(thread, panicked)| (thread, panicked.site.clone()));
            let panics: Vec<_> = earlier.chain([(found.thread, found.site)]).collect();
            for (thread, site) in panics {
                let mut event = self.trace_event(thread, "panicked".to_owned(), None);
                event.site = site.map(|(file, line)| outcome::Site { file, line });
                event.culprit = true;
                self.tell(event);
            }
        }
    }
}
