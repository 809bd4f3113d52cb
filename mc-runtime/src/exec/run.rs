//! One run of the test's body: resumes threads until nobody can move, then takes the execution down.

use super::arena;
use super::fiber::{Fiber, Os, Place, Stacks, Suspender};
use super::thread::{Body, Panicked, State, Thread, drop_rare, fill};
use super::{Ending, Engine, Found, Step, state};
use crate::ids::ThreadId;
use crate::ops::{self, Cut};
use crate::options::{Origin, Threads};
use crate::outcome::FailureKind;
use crate::worker::crash;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

/// The body of a test.
pub(crate) type TestBody = Arc<dyn Fn() + Send + Sync>;

/// Runs the body once, along the engine's graph and then on.
///
/// The engine is reached by its address: the coroutines find it through `ops`, in between of what is done here.
pub(crate) fn execute(engine: &mut Engine, body: &TestBody) -> Ending {
    engine.begin();
    if !engine.goes_on(body) {
        fill(&mut engine.threads[0].body, Body::Test(ptr::from_ref(&**body)));
    }
    let at = ptr::from_mut(engine);
    crash::running(at);
    // SAFETY: `at` comes from the `&mut` above, which nothing uses while the coroutines run; every use below, and in `ops`, is
    // a borrow that ends before control goes elsewhere, all on this thread of the operating system.
    unsafe {
        while let Some(thread) = (*at).pick() {
            resume_here(at, thread);
            if (*at).is_cutting() {
                break;
            }
            (*at).takes_snapshot();
        }
        let ending = (*at).conclude();
        let ending = (*at).minds_handed_over(ending);
        (*at).was_long();
        (*at).trace_end();
        if (*at).failure.is_some() {
            look_again(at);
        }
        if ending == Ending::Complete && ((*at).options.origin != Origin::Unmodified || (*at).all_ended()) {
            finish(at)
        } else if (*at).abandons() {
            (*at).give_up();
        } else {
            tear_down(at)
        }
        let ending = if (*at).failure.is_some() && ending == Ending::Complete { Ending::Failed } else { ending };
        (*at).keep_memory(ending);
        (*at).recycle();
        crash::running(ptr::null_mut());
        ending
    }
}

/// Asks the futures that threads sleep for, where nobody can move.
///
/// # Safety
/// As [`resume`].
#[cold]
unsafe fn look_again(engine: *mut Engine) {
    // SAFETY: our caller's promise; short borrows.
    unsafe {
        for thread in (*engine).sleepers() {
            (*engine).set_looking(Some(thread));
            resume(engine, thread);
        }
        (*engine).set_looking(None);
    }
}

/// Lets a thread run until it suspends itself or ends.
///
/// # Safety
/// `engine` points to an engine that nobody borrows, on the thread of the operating system that its coroutines run on.
#[inline(never)]
unsafe fn resume(engine: *mut Engine, thread: ThreadId) {
    // SAFETY: our caller's promise.
    unsafe { resume_here(engine, thread) }
}

/// The same, compiled into where most threads are resumed.
///
/// # Safety
/// As [`resume`].
#[inline(always)]
unsafe fn resume_here(engine: *mut Engine, thread: ThreadId) {
    let (mut fiber, heap) = {
        // SAFETY: a short borrow; our caller's promise.
        let e = unsafe { &mut *engine };
        e.threads.run(thread);
        e.waits_left = None;
        e.shared.clear();
        let me = e.threads.me();
        if me.state != State::Abandoned {
            me.state = State::Ready;
        }
        // The stack's bounds are needed while it runs. (`start` has them at hand: to read what it has just written would take longer.)
        let fiber = match me.fiber.take() {
            Some(fiber) => {
                e.stack = fiber.bounds;
                fiber
            }
            None => match e.start(engine, thread) {
                Some(fiber) => fiber,
                None => return,
            },
        };
        let position = e.threads.me_ref().position as u32;
        let heap = e.heap.as_mut().map_or(ptr::null_mut(), |h| {
            h.enter(thread.slot(), position);
            ptr::from_mut(h.as_mut())
        });
        (fiber, heap)
    };
    // SAFETY: as above.
    let looks = unsafe { &mut *engine }.begins_to_look(thread);
    #[cfg(feature = "unmodified")]
    // SAFETY: as above.
    unsafe { &mut *engine }.exchange_calls(thread);
    let ended = fiber.resume(engine, heap);
    // SAFETY: as above: the coroutine has suspended itself or ended.
    let e = unsafe { &mut *engine };
    #[cfg(feature = "unmodified")]
    e.exchange_calls(thread);
    if looks {
        std::hint::cold_path();
        e.has_looked(thread, ended);
    }
    let t = &mut e.threads[thread.slot()];
    if ended {
        t.state = State::Ended;
    }
    fill(&mut t.fiber, fiber);
}

/// The end of a complete execution: statics are dropped, and what is still allocated is a leak.
///
/// # Safety
/// As [`resume`].
unsafe fn finish(engine: *mut Engine) {
    // SAFETY: our caller's promise; short borrows.
    let e = unsafe { &mut *engine };
    if !e.statics.is_empty() {
        e.look_at_frees(); // those of the test
        // SAFETY: as above.
        unsafe { drop_statics(engine) };
    }
    // SAFETY: as above.
    let e = unsafe { &mut *engine };
    e.look_at_frees();
    e.look_for_leaks();
    e.restore_statics();
}

/// Unwinds what is left of a cut execution: children before the threads that may own what they borrow.
///
/// # Safety
/// As [`resume`].
#[inline(never)]
unsafe fn tear_down(engine: *mut Engine) {
    // SAFETY: our caller's promise; short borrows.
    unsafe {
        (*engine).start_cutting();
        let mut order: Vec<ThreadId> = (*engine).explorer.graph.ranks().to_vec();
        order.sort_by_key(|t| std::cmp::Reverse(t.0));
        for thread in order {
            let e = &mut *engine;
            let t = &e.threads[thread.slot()];
            match t.state {
                State::Absent | State::Ended => {}
                _ => resume(engine, thread),
            }
            let e = &mut *engine;
            let locals = std::mem::take(&mut e.threads[thread.slot()].locals);
            if !locals.is_empty() {
                let drop_all = move || {
                    for (_, value, destructor) in locals.into_iter().rev() {
                        // SAFETY: registered by the shim as the destructor of this value, which nobody else drops.
                        let _ = catch_unwind(AssertUnwindSafe(|| destructor(value)));
                    }
                };
                run_inert(engine, Box::new(drop_all));
            }
        }
        drop_statics(engine);
        (*engine).restore_statics();
    }
}

/// Drops what the execution put into statics.
///
/// # Safety
/// As [`resume`].
#[inline(never)]
unsafe fn drop_statics(engine: *mut Engine) {
    // SAFETY: our caller's promise; short borrows.
    unsafe {
        let drops = (*engine).drops_of_statics();
        if !drops.is_empty() {
            run_inert(engine, Box::new(move || drops.into_iter().for_each(|drop| drop())));
        }
    }
}

/// Runs destructors outside of any thread of the test: operations do nothing there.
///
/// # Safety
/// As [`resume`].
#[inline(never)]
unsafe fn run_inert(engine: *mut Engine, f: Box<dyn FnOnce()>) {
    // SAFETY: our caller's promise; short borrows.
    unsafe {
        let e = &mut *engine;
        e.start_cutting();
        let main = &mut e.threads[0];
        main.only_inert = true;
        let stack = main.fiber.take();
        main.body = Some(Body::Once(f));
        main.state = State::Unstarted;
        resume(engine, ThreadId::MAIN);
        let e = &mut *engine;
        e.recycle_thread(ThreadId::MAIN);
        e.threads[0].fiber = stack;
        e.threads[0].state = State::Ended;
    }
}

impl Engine {
    /// A thread begins to run. `None`: there is no stack for it.
    #[inline(never)]
    fn start(&mut self, engine: *mut Engine, thread: ThreadId) -> Option<Box<Fiber>> {
        let me = self.threads.me();
        let (slot, size, spare) = (thread.slot(), me.stack_size, me.spare.take());
        self.settle(thread);
        if !self.is_cutting() {
            self.note_life(thread, false);
        }
        let place = Place { slot, size, clean: self.loops.compared() };
        let main = move |suspender: Suspender| {
            // SAFETY: the engine outlives its coroutines and nobody borrows it while one runs (see `execute`).
            let e = unsafe { &mut *engine };
            let t = &mut e.threads[thread.slot()];
            t.suspender = Some(suspender);
            let body = t.body.take();
            thread_main(body);
        };
        let mut fiber = spare.unwrap_or_else(|| {
            std::hint::cold_path();
            Box::new(Fiber::none())
        });
        let started = match self.options.threads {
            Threads::Coroutines => fiber.begin_coroutine(&mut self.stacks, place, main, thread_end),
            Threads::Os => {
                std::hint::cold_path();
                let unmodified = self.options.origin == Origin::Unmodified;
                let os = Os { name: self.thread_name(thread), unmodified };
                fiber.begin_os(&mut self.stacks, place, os, main, thread_end)
            }
        };
        if let Err(error) = started {
            self.no_stack(&error);
            return None;
        }
        self.stack = fiber.bounds;
        Some(fiber)
    }

    /// The thread begins to run, or has run.
    #[cfg(feature = "unmodified")]
    fn exchange_calls(&mut self, thread: ThreadId) {
        self.told.calls_of_engine += 1; // what another one has accessed says nothing of this one
        std::mem::swap(&mut self.told.calls, &mut self.threads[thread.slot()].calls);
    }

    #[cold]
    fn no_stack(&mut self, error: &std::io::Error) {
        let message = format!("no stack for another thread can be had: {error}");
        let thread = self.current();
        self.record(Found { kind: FailureKind::Crash, message, thread, site: None });
    }

    /// From here on every operation is cut.
    fn start_cutting(&mut self) {
        self.cutting = true;
    }

    /// Gives up what is left of a cut execution, without running any code of the test.
    #[cold]
    fn give_up(&mut self) {
        self.cutting = true;
        // None of them runs now, so it was given up.
        self.tainted |= std::thread::panicking();
        self.restore_statics();
        for thread in self.threads.iter_mut() {
            std::mem::forget(thread.body.take());
            thread.locals.clear();
        }
    }

    fn recycle_thread(&mut self, thread: ThreadId) {
        recycle_fiber(&mut self.threads[thread.slot()], thread.slot(), &mut self.stacks);
    }

    fn recycle(&mut self) {
        for (slot, thread) in self.threads.iter_mut().enumerate().rev() {
            recycle_fiber(thread, slot, &mut self.stacks);
            drop_rare(&mut thread.body);
        }
    }

    /// What outlives the execution, in a test that may let it.
    #[inline]
    fn keep_memory(&mut self, ending: Ending) {
        if self.options.origin == Origin::Foreign {
            self.keep_foreign_memory(ending);
        }
    }

    #[cold]
    fn keep_foreign_memory(&mut self, ending: Ending) {
        let Some(heap) = self.heap.as_mut().filter(|h| !h.rehearsal) else {
            return;
        };
        self.kept = match ending {
            Ending::Complete => heap.keep(|block| !block.tracked),
            // Of what its threads had, only what something else points to.
            _ => {
                let pointers = state::pointers(|at| heap.contains(at));
                let within =
                    |block: &arena::Block, at: usize| (block.start..block.start + block.size.max(1)).contains(&at);
                heap.keep(|block| pointers.iter().any(|at| within(block, *at)))
            }
        };
    }

    /// A panic that nobody caught reached the end of a thread's code. Is it what `join` gives? What else ends a thread, such as a destructor of a thread-local,
    /// would end the process.
    #[cold]
    pub(crate) fn uncaught(&mut self, payload: &(dyn Any + Send), joined: bool) {
        if self.probe.runs() {
            let _: Step<()> = self.fails_probe();
        }
        if self.is_cutting() {
            return;
        }
        let thread = self.current();
        if joined && thread != ThreadId::MAIN && self.options.allow_panics {
            return;
        }
        let panicked = self.me().panicked.take();
        let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let (mut message, site) = match panicked {
            Some(Panicked { message, site }) => (text.unwrap_or(message), site),
            None => (text.unwrap_or_else(|| "a panic with a payload that is no text".to_owned()), None),
        };
        message += &self.earlier_panics();
        self.record(Found { kind: FailureKind::Panic, message, thread, site });
    }

    /// What other threads have panicked with, which may be why the running one does: it has joined them.
    fn earlier_panics(&self) -> String {
        let told = self.panicked().map(|(thread, Panicked { message, site })| {
            let place = site.as_ref().map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
            format!("\n{} panicked{place}: {message}", self.thread_name(thread))
        });
        told.collect()
    }

    /// The threads that have panicked, but for the one whose panic nobody caught, and with what.
    pub(crate) fn panicked(&self) -> impl Iterator<Item = (ThreadId, &Panicked)> {
        self.threads().filter_map(|thread| Some((thread, self.threads[thread.slot()].panicked.as_ref()?)))
    }
}

/// Gives back the stack of a thread.
#[inline(always)]
fn recycle_fiber(thread: &mut Thread, slot: usize, stacks: &mut Stacks) {
    if let Some(mut fiber) = thread.fiber.take() {
        fiber.recycle(stacks, slot);
        fill(&mut thread.spare, fiber);
    }
}

/// All that a thread of the test does, but for its end. Does not unwind.
fn thread_main(body: Option<Body>) {
    let run = || {
        let cutting = ops::is_cut();
        if cutting && !ops::is_only_inert() {
            std::hint::cold_path();
            ops::set_only_inert();
            drop(body);
            return;
        }
        if let Some(body) = body {
            body.run();
        }
    };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        std::hint::cold_path();
        if !payload.is::<Cut>() {
            ops::with_engine(|e| e.uncaught(&*payload, false));
        }
        // A payload may be anything, and its destructor may panic again.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
}

/// The end of a thread of the test. Does not unwind.
fn thread_end() {
    if !ops::is_cut() {
        let _ = catch_unwind(AssertUnwindSafe(|| ops::wait_for(Engine::end_thread)));
    }
}
