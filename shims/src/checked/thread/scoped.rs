//! `scope`: threads that borrow, joined before the scope ends.
//!
//! Which threads are joined, and in which order, must follow from what each thread did and not from who was faster:
//! a thread's children are joined in the order in which it spawned them, each one's own children after its end, and with them those that were spawned by threads of scopes within.
//! The scope ends when they have their results; where what is in their thread-locals is dropped after that, it may have ended before (`launch`).
//! Differs: its `Debug` output has no fields.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Result;

use mc_runtime::ops::{self, Guard, Label, Test, ThreadKey, Update};

use super::builder::Builder;
use super::handle::Thread;
use super::launch::{Started, await_result, launch, may_outlive_scope};
use super::park::{has_token_of_park, may_use_token};
use crate::checked::word::Word32;

/// Where threads that borrow are spawned, as [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    data: Arc<ScopeData>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Owns the right to wait for a thread of a scope, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    started: Started<T>,
    data: Handle,
    scope: PhantomData<&'scope ()>,
}

// SAFETY: a handle gives access to the thread's result, which is `Send` since the thread was started, and only by value.
unsafe impl<T: Send> Send for ScopedJoinHandle<'_, T> {}
// SAFETY: as above; a shared handle gives no access to the result at all.
unsafe impl<T: Send> Sync for ScopedJoinHandle<'_, T> {}

/// What a handle shares with its scope. (The public type has no `Drop`, as std's has none.)
struct Handle(Arc<ScopeData>);

impl Handle {
    fn new(data: Arc<ScopeData>) -> Self {
        data.handles.fetch_add(1, Ordering::Relaxed);
        Self(data)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.handles.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a scope shares with its threads. Plain memory: what is read is ordered by joins.
#[derive(Default)]
pub(super) struct ScopeData {
    this: std::sync::Weak<ScopeData>,
    owner: Option<ThreadKey>,
    /// Threads of the engine that are to be waited for.
    children: Mutex<Vec<Child>>,
    /// Threads of the system that run.
    running: Mutex<usize>,
    ended: Condvar,
    /// Panics that nobody has got from `join`.
    panics: AtomicUsize,
    /// Handles that are still there.
    handles: AtomicUsize,
}

#[derive(Clone)]
struct Child {
    spawner: ThreadKey,
    /// The owner of the scope or the thread of it from which the spawner comes, perhaps through other scopes: the spawner has ended when that has.
    under: ThreadKey,
    key: ThreadKey,
    /// By its spawner.
    is_joined: bool,
    /// If not its end is waited for, but its result.
    thread: Option<Thread>,
}

impl ScopeData {
    fn new() -> Arc<Self> {
        Arc::new_cyclic(|this| Self { this: this.clone(), owner: ops::current(), ..Self::default() })
    }

    #[inline(never)]
    pub(super) fn share(&self) -> Arc<Self> {
        self.this.upgrade().expect("its scope owns it")
    }

    pub(super) fn child_panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// For threads of the system; the others are joined.
    pub(super) fn real_child_ended(&self) {
        if ops::controlled() {
            return;
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = running.saturating_sub(1);
        drop(running);
        self.ended.notify_all();
    }

    fn real_child_starts(&self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn children(&self) -> std::sync::MutexGuard<'_, Vec<Child>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calling thread has joined `child`: if it is the spawner, the scope need not join it again.
    fn joined(&self, child: ThreadKey) {
        let mut children = self.children();
        let entry = children.iter_mut().find(|entry| entry.key == child);
        if let (Some(entry), Some(caller)) = (entry, ops::current()) {
            entry.is_joined = entry.spawner == caller;
        }
    }

    /// Waits for all threads.
    #[track_caller]
    fn join_all(&self) {
        if let Some(caller) = ops::current() {
            if self.children().iter().any(|child| !child.is_joined) && has_token_of_park() {
                may_use_token();
            }
            self.join_children_of(caller);
            if self.handles.load(Ordering::Relaxed) != 0 {
                // What owns the result of a thread, of which std's scope waits for the end, was forgotten.
                Word32::new(0).wait(NEVER, Ordering::Relaxed, Label::ThreadDone);
            }
            return;
        }
        if ops::inert() {
            return;
        }
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while *running != 0 {
            running = self.ended.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
    }

    #[track_caller]
    fn join_children_of(&self, thread: ThreadKey) {
        let mut children: Vec<Child> = self.children().iter().filter(|child| child.under == thread).cloned().collect();
        // Those of one spawner stay in its order.
        children.sort_by_key(|child| child.spawner.0);
        for Child { key, thread, is_joined, .. } in children {
            match thread {
                _ if is_joined => {}
                Some(thread) => await_result(&thread),
                None => drop(ops::join(key)),
            }
            self.join_children_of(key);
        }
    }

    /// The thread of this scope from which `spawner` comes, or its owner.
    fn above(&self, spawner: ThreadKey) -> ThreadKey {
        let children = self.children();
        let is_of_scope = |thread: &ThreadKey| children.iter().any(|child| child.key == *thread);
        std::iter::successors(Some(spawner), |thread| ops::parent(*thread))
            .find(|thread| self.owner == Some(*thread) || is_of_scope(thread))
            .unwrap_or(spawner)
    }
}

/// Holds for no word of which no bit is set.
const NEVER: Guard = Guard { test: Test::Bit { bit: 0, set: true }, update: Update::KeepAdd { keep: !0, add: 0 } };

/// Runs `f`, which may spawn threads that borrow, and waits for all of them.
///
/// # Panics
/// When a thread panicked that was not joined, or `f` does.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope { data: ScopeData::new(), scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    scope.data.join_all();
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if scope.data.panics.load(Ordering::Relaxed) != 0 => panic!("a scoped thread panicked"),
        Ok(result) => result,
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread.
    ///
    /// # Panics
    /// When the system cannot start one.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_with(Builder::new(), f).expect("failed to spawn thread")
    }

    #[track_caller]
    pub(super) fn spawn_with<F, T>(&'scope self, options: Builder, f: F) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let real = !ops::controlled() && !ops::inert();
        if real {
            self.data.real_child_starts();
        }
        // SAFETY: the scope waits for the thread before `'scope` ends.
        let started = unsafe { launch(options, Some(&self.data), f) };
        if real && started.is_err() {
            self.data.real_child_ended();
        }
        let started = started?;
        if let (Some(key), Some(spawner)) = (started.key(), ops::current()) {
            let thread = may_outlive_scope().then(|| {
                started.tell_apart();
                started.thread.clone()
            });
            let under = self.data.above(spawner);
            self.data.children().push(Child { spawner, under, key, is_joined: false, thread });
        }
        Ok(ScopedJoinHandle { started, data: Handle::new(self.data.clone()), scope: PhantomData })
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.started.tell_apart();
        &self.started.thread
    }

    /// Waits for the end of the thread; its result.
    ///
    /// # Errors
    /// When it panicked; the error is what it panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let Self { started, data, .. } = self;
        let key = started.key();
        let result = started.join();
        if let Some(key) = key {
            data.0.joined(key);
        }
        if result.is_err() {
            data.0.panics.fetch_sub(1, Ordering::Relaxed);
        }
        result
    }

    /// Does the thread have its result?
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.started.is_finished()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}
