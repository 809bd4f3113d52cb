//! Starting a thread and getting its result: what `spawn`, `Builder` and `Scope` have in common.

use std::cell::UnsafeCell;
use std::io;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::Result;

use mc_runtime::ops::{self, Guard, Label, Test, ThreadKey, Update};
use mc_runtime::outcome::FailureKind;

use super::builder::Builder;
use super::code::Code;
use super::handle::{Name, Thread};
use super::scoped::ScopeData;
use super::{current, locals};
use crate::checked::sync::Arc;

/// Learned when somebody calls `is_finished`: only then a thread says that it is done.
const FINISHED_KEY: u64 = u64::from_le_bytes(*b"finished") | 1;

/// Learned when a thread of a scope has values of thread-locals to drop: the scope may then end before it has.
const OUTLIVES_KEY: u64 = u64::from_le_bytes(*b"outlives") | 1;

/// Does a scope wait for the results of its threads, and not for their ends?
pub(super) fn may_outlive_scope() -> bool {
    ops::learned(OUTLIVES_KEY)
}

/// The thread has its result.
const DONE: Guard = Guard { test: Test::Mask { mask: 1, want: 1 }, update: Update::KeepAdd { keep: !0, add: 0 } };

/// What is no thread of the engine's.
const NOBODY: ThreadKey = ThreadKey(u32::MAX);

/// Where a thread leaves its result.
struct Packet<T>(UnsafeCell<Option<Result<T>>>);

// SAFETY: the thread writes once, before its end, and whoever joins it takes the result after that end; nothing is shared
// but through these two, so `T` only moves from thread to thread.
unsafe impl<T: Send> Sync for Packet<T> {}

impl<T> Drop for Packet<T> {
    fn drop(&mut self) {
        let result = self.0.get_mut().take();
        if result.is_some() && catch_unwind(AssertUnwindSafe(|| drop(result))).is_err() {
            does_not_go();
        }
    }
}

/// As std ends the process.
#[cold]
#[inline(never)]
#[track_caller]
fn does_not_go() -> ! {
    if ops::controlled() {
        ops::fail(FailureKind::Panic, "thread result panicked on drop, which ends the process".to_owned());
    }
    std::process::abort();
}

impl<T> Packet<T> {
    /// # Safety
    /// The caller is the thread itself, or has joined it: nobody else is in here.
    unsafe fn exchange(&self, result: Option<Result<T>>) -> Option<Result<T>> {
        // SAFETY: promised by the caller.
        unsafe { std::mem::replace(&mut *self.0.get(), result) }
    }
}

/// Who runs the thread.
enum Runner {
    Real(std::thread::JoinHandle<()>),
    Checked(ThreadKey),
    /// Nobody: it was spawned while its execution was torn down.
    Nobody,
}

/// A thread that was started.
pub(super) struct Started<T> {
    runner: Runner,
    pub(super) thread: Thread,
    packet: Arc<Packet<T>>,
}

impl<T> Started<T> {
    pub(super) fn key(&self) -> Option<ThreadKey> {
        match self.runner {
            Runner::Checked(key) => Some(key),
            Runner::Real(_) | Runner::Nobody => None,
        }
    }

    /// The thread of the system that runs it, if there is one.
    #[cfg(unix)]
    pub(super) fn real(&self) -> Option<&std::thread::JoinHandle<()>> {
        match &self.runner {
            Runner::Real(thread) => Some(thread),
            Runner::Checked(_) | Runner::Nobody => None,
        }
    }

    /// The thread of the system that runs it, if there is one, to be joined by somebody else.
    #[cfg(unix)]
    pub(super) fn into_real(self) -> Option<std::thread::JoinHandle<()>> {
        match self.runner {
            Runner::Real(thread) => Some(thread),
            Runner::Checked(_) | Runner::Nobody => None,
        }
    }

    /// Waits for the end of the thread; its result.
    #[track_caller]
    pub(super) fn join(self) -> Result<T> {
        let Some(key) = self.key() else { return self.join_other() };
        let Started { thread, packet, .. } = self;
        let result = if ops::join(key) {
            // SAFETY: the thread of the engine has ended, and has given up its owner before that.
            let mut packet = ManuallyDrop::new(unsafe { Arc::into_inner_of_last(packet) });
            packet.0.get_mut().take()
        } else {
            // The execution is torn down; the result may be missing.
            std::hint::cold_path();
            // SAFETY: the thread has ended, or is torn down with the caller, one after the other on one thread of the system.
            unsafe { packet.exchange(None) }
        };
        match &result {
            Some(Ok(value)) => ops::joined(key, value),
            _ => {
                std::hint::cold_path();
                ops::tell_apart(key);
            }
        }
        thread.end();
        result.unwrap_or_else(missing)
    }

    /// Likewise, of a thread that is not the engine's.
    #[cold]
    #[inline(never)]
    fn join_other(self) -> Result<T> {
        if let Runner::Real(thread) = self.runner {
            thread.join()?;
        }
        // SAFETY: the thread has ended, or there is none.
        unsafe { self.packet.exchange(None) }.unwrap_or_else(missing)
    }

    /// The caller may now do something with this thread that it does not do with others.
    pub(super) fn tell_apart(&self) {
        if let Runner::Checked(key) = self.runner {
            ops::tell_apart(key);
        }
    }

    /// Is the result there?
    #[track_caller]
    pub(super) fn is_finished(&self) -> bool {
        match &self.runner {
            Runner::Real(thread) => thread.is_finished(),
            Runner::Checked(_) => {
                ops::learn(FINISHED_KEY);
                self.tell_apart();
                // A closure would stand for the caller in a trace.
                match self.thread.done() {
                    Some(done) => done.load(Relaxed, Label::ThreadFinished) == 1,
                    None => false,
                }
            }
            Runner::Nobody => true,
        }
    }
}

#[cold]
#[inline(never)]
fn missing<T>() -> Result<T> {
    Err(Box::new("the execution ended before the thread did"))
}

/// Waits until a thread of the engine, whose results a scope waits for, has its own.
#[track_caller]
pub(super) fn await_result(thread: &Thread) {
    if let Some(done) = thread.done() {
        done.wait(DONE, Acquire, Label::ThreadDone);
    }
}

/// Starts a thread that runs `f`.
///
/// # Safety
/// What `f` and `T` borrow outlives the thread.
#[track_caller]
pub(super) unsafe fn launch<'a, F, T>(options: Builder, scope: Option<&ScopeData>, f: F) -> io::Result<Started<T>>
where
    F: FnOnce() -> T + Send + 'a,
    T: Send + 'a,
{
    let packet = Arc::new(Packet(UnsafeCell::new(None)));
    let theirs = packet.clone();
    let is_scoped = scope.is_some();
    // The scope's data as an owner, since the last thread of a scope may still hold it when the scope has gone on.
    let scope = scope.map(ScopeData::share);
    let finish = move |result: Result<T>| {
        if result.is_err() {
            panicked(scope.as_deref());
        }
        if size_of::<T>() == 0 && result.is_ok() {
            ops::returns_nothing(theirs.0.get().cast_const().cast(), size_of::<Option<Result<T>>>());
        }
        // SAFETY: this is the thread itself, before its end, and nothing is there that would be dropped.
        unsafe { theirs.0.get().write(Some(result)) };
        drop(theirs);
        if let Some(scope) = scope {
            leave_scope(scope);
        }
    };
    if !ops::controlled() {
        let body = move || finish(catch_unwind(AssertUnwindSafe(f)));
        // SAFETY: promised by the caller.
        return unsafe { launch_other(options, packet, body) };
    }
    let f = Code::new(f);
    f.liken();
    let body = move || {
        finish(match f.run() {
            Ok(value) => Ok(value),
            Err(payload) => {
                std::hint::cold_path();
                Err(ops::caught(payload))
            }
        });
        leave(is_scoped);
    };
    let body: Box<dyn FnOnce() + 'a> = Box::new(body);
    // SAFETY: only the lifetime changes: the caller promises that what the body borrows outlives the thread.
    let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
    let (runner, thread) = start(options, body);
    Ok(Started { runner, thread, packet })
}

/// Starts it as a thread of the engine.
#[track_caller]
#[inline(never)]
fn start(options: Builder, mut body: Box<dyn FnOnce()>) -> (Runner, Thread) {
    let name = options.checked_name();
    if name.as_str().is_some() {
        body = named(name.clone(), body);
    }
    let key = ops::spawn(name.as_str(), options.stack_size, body);
    (key.map_or(Runner::Nobody, Runner::Checked), Thread::checked(key.unwrap_or(NOBODY), name))
}

#[cold]
#[inline(never)]
fn named(name: Name, body: Box<dyn FnOnce()>) -> Box<dyn FnOnce()> {
    Box::new(move || {
        current::enter(name);
        body();
    })
}

/// Starts it as a thread of the system; or not at all while an execution is torn down.
///
/// # Safety
/// What the body borrows outlives the thread.
#[cold]
#[inline(never)]
#[track_caller]
unsafe fn launch_other<'a, T>(
    options: Builder,
    packet: Arc<Packet<T>>,
    body: impl FnOnce() + Send + 'a,
) -> io::Result<Started<T>> {
    if ops::inert() {
        return Ok(Started { runner: Runner::Nobody, thread: Thread::checked(NOBODY, options.checked_name()), packet });
    }
    // SAFETY: promised by the caller.
    let real = unsafe { options.real().spawn_unchecked(body) }?;
    let thread = Thread::real(real.thread().clone());
    Ok(Started { runner: Runner::Real(real), thread, packet })
}

#[cold]
#[inline(never)]
fn panicked(scope: Option<&ScopeData>) {
    if let Some(scope) = scope {
        scope.child_panicked();
    }
}

#[inline(never)]
fn leave_scope(scope: std::sync::Arc<ScopeData>) {
    scope.real_child_ended();
}

/// A thread of the engine has its result, and is about to end.
fn leave(is_scoped: bool) {
    if is_scoped && locals::any_destructor() {
        std::hint::cold_path();
        ops::learn(OUTLIVES_KEY);
    }
    if ops::learned_any() {
        say_done(is_scoped);
    }
    locals::run_destructors();
}

/// If anybody looks at that.
#[inline(never)]
fn say_done(is_scoped: bool) {
    if (ops::learned(FINISHED_KEY) || is_scoped && may_outlive_scope())
        && let Some(own) = ops::current().map(|key| Thread::checked(key, Name::None))
        && let Some(done) = own.done()
    {
        done.store(1, Release, Label::ThreadDone);
    }
}
