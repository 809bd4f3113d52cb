//! A thread of the operating system for each thread of each execution, on the pooled stack of its slot: its thread-locals, at the upper end of that stack, are made by the
//! C library, and are dropped by it when the thread ends, as in a program that nobody checks.
//!
//! It runs from `resume` until it suspends itself, while the engine waits, so that never more than one of them runs. `end` comes last, when all destructors of
//! thread-locals have run: whoever joins the thread comes after those, too. One that is given up with its execution leaves by the system call for that, from
//! where it is: nothing is unwound and nothing is dropped, as for a coroutine.

use super::baton::{Baton, Turn};
use super::{Bounds, Os, Place, Stacks, Suspender};
use crate::exec::arena::Heap;
use crate::exec::{Engine, hash_keys, state};
use crate::ops;
use crate::system;
use crate::worker::crash;
use corosensei::stack::{DefaultStack, Stack};
use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::rc::Rc;
use std::sync::OnceLock;

/// A thread, seen from the engine.
pub(super) struct OsThread {
    shared: Rc<Shared>,
    pthread: libc::pthread_t,
    stack: DefaultStack,
    for_signals: Option<DefaultStack>,
    ended: bool,
}

/// What the thread and the engine use in turn.
struct Shared {
    baton: Baton,
    /// How the thread finds the engine while it runs.
    engine: Cell<(*mut Engine, *mut Heap)>,
    main: RefCell<Box<dyn FnMut(Suspender)>>,
    end: fn(),
    name: CString,
    unmodified: bool,
    /// Where it handles signals.
    for_signals: Option<(usize, usize)>,
    /// The executable's.
    thread_locals: Cell<(usize, usize)>,
    /// How often `last` was called.
    rounds: Cell<u32>,
}

/// What the thread itself has of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handle(*const Shared);

/// The size of a stack on which a signal is handled.
const FOR_SIGNALS: usize = 256 << 10;

/// How often the C library goes through the destructors of a thread that ends, `PTHREAD_DESTRUCTOR_ITERATIONS`.
const ROUNDS: u32 = 4;

impl OsThread {
    /// A thread that waits for its turn.
    pub(super) fn new(
        stacks: &mut Stacks,
        place: Place,
        os: Os,
        main: impl FnOnce(Suspender) + 'static,
        end: fn(),
    ) -> io::Result<(Self, Bounds)> {
        let room = room()?;
        let stack = stacks.take(place.slot, place.size.max(super::stacks::DEFAULT_SIZE) + room)?;
        let top = stack.base().get();
        let bounds = Bounds { limit: stack.limit().get(), base: top - room, top };
        bounds.clean(place.clean);
        let for_signals = crash::is_watched().then(|| stacks.take_for_signals(FOR_SIGNALS)).transpose()?;
        let mut main = Some(main);
        let shared = Rc::new(Shared {
            baton: Baton::default(),
            engine: Cell::new((ptr::null_mut(), ptr::null_mut())),
            main: RefCell::new(Box::new(move |suspender| {
                if let Some(main) = main.take() {
                    main(suspender);
                }
            })),
            end,
            name: CString::new(shortened(&os.name)).unwrap_or_default(),
            unmodified: os.unmodified,
            for_signals: for_signals.as_ref().map(usable),
            thread_locals: Cell::new((0, 0)),
            rounds: Cell::new(0),
        });
        key()?;
        // SAFETY: nobody else has the stack, and both it and `shared` stay until the thread is joined (`recycle`).
        let pthread = unsafe { create(&stack, run, Rc::as_ptr(&shared).cast_mut().cast()) }?;
        Ok((OsThread { shared, pthread, stack, for_signals, ended: false }, bounds))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn resume(&mut self, engine: *mut Engine, heap: *mut Heap) -> bool {
        self.shared.engine.set((engine, heap));
        self.ended = self.shared.baton.run();
        self.ended
    }

    pub(super) fn thread_locals(&self) -> (usize, usize) {
        self.shared.thread_locals.get()
    }

    /// Waits until the thread is gone, and gives its stacks back.
    #[cold]
    #[inline(never)]
    pub(super) fn recycle(self, stacks: &mut Stacks, slot: usize) {
        if !self.ended {
            self.shared.baton.give_up();
        }
        // SAFETY: made by `create`, joined only here. One that left by the system call is gone for the C library as well: both the kernel and a thread that ends
        // as usual tell it by the same word.
        unsafe { libc::pthread_join(self.pthread, ptr::null_mut()) };
        stacks.give_back(slot, self.stack);
        if let Some(stack) = self.for_signals {
            stacks.give_back_for_signals(stack);
        }
    }
}

impl Handle {
    /// Gives the turn back until the thread is resumed.
    ///
    /// # Safety
    /// By the thread of this handle.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn suspend(self) {
        // SAFETY: the engine keeps it until the thread is joined.
        let shared = unsafe { &*self.0 };
        ops::leave_engine((ptr::null_mut(), ptr::null_mut()));
        shared.go_on(shared.baton.give_back());
    }
}

impl Shared {
    /// The thread has waited for its turn.
    fn go_on(&self, turn: Turn) {
        if turn == Turn::GivenUp {
            leave();
        }
        let (engine, heap) = self.engine.get();
        ops::enter_engine(engine, heap);
    }

    /// What is to be done on the thread itself, before it is anybody's turn.
    fn prepare(&self) {
        // SAFETY: a string of at most 15 bytes and the zero, and the calling thread.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), self.name.as_ptr()) };
        if let Some((start, size)) = self.for_signals {
            // SAFETY: this thread's alone, and mapped until it is joined.
            unsafe { crash::use_signal_stack_at(start, size) };
        }
        if self.unmodified {
            hash_keys::reset();
            #[cfg(feature = "unmodified")]
            crate::system_calls::watch();
        }
        self.thread_locals.set(state::thread_locals());
    }

    /// The C library calls `last` again in its next round of destructors.
    fn ask_for_another_round(&self) {
        let key = key().expect("there when the first thread was made");
        // SAFETY: a key of this process.
        let failed = unsafe { libc::pthread_setspecific(key, ptr::from_ref(self).cast()) };
        assert!(failed == 0, "no memory for the end of a thread");
    }
}

/// All that the thread does, but for its end.
extern "C" fn run(shared: *mut c_void) -> *mut c_void {
    // SAFETY: what `new` has passed, and keeps until the thread is joined.
    let shared = unsafe { &*shared.cast_const().cast::<Shared>() };
    shared.prepare();
    shared.go_on(shared.baton.wait());
    shared.ask_for_another_round();
    (shared.main.borrow_mut())(Suspender::Os(Handle(shared)));
    ops::ends();
    ptr::null_mut()
}

/// Called by the C library after destructors of thread-locals, once in each of its rounds.
unsafe extern "C" fn last(shared: *mut c_void) {
    // SAFETY: what `run` has left there.
    let shared = unsafe { &*shared.cast_const().cast::<Shared>() };
    let round = shared.rounds.get() + 1;
    shared.rounds.set(round);
    if round < ROUNDS {
        return shared.ask_for_another_round();
    }
    (shared.end)();
    ops::leave_engine((ptr::null_mut(), ptr::null_mut()));
    shared.baton.end();
}

/// The thread goes, and leaves everything as it is.
fn leave() -> ! {
    loop {
        // SAFETY: ends the calling thread only.
        unsafe { system::call(libc::SYS_exit, [0; 6]) };
    }
}

/// What [`last`] is called by.
fn key() -> io::Result<libc::pthread_key_t> {
    static KEY: OnceLock<Result<libc::pthread_key_t, c_int>> = OnceLock::new();
    let make = || {
        let mut key = 0;
        // SAFETY: a place for the key, and a function of the right signature.
        match unsafe { libc::pthread_key_create(&mut key, Some(last)) } {
            0 => Ok(key),
            error => Err(error),
        }
    };
    KEY.get_or_init(make).map_err(io::Error::from_raw_os_error)
}

/// What the C library puts on top of a stack, before the thread's own code begins: thread-locals, and what it knows of the thread.
fn room() -> io::Result<usize> {
    static ROOM: OnceLock<Result<usize, i32>> = OnceLock::new();
    const CACHE_LINE: usize = 64;
    extern "C" fn probe(found: *mut c_void) -> *mut c_void {
        let here = 0_u8;
        // SAFETY: the number of `measure`, which waits for this thread.
        unsafe { *found.cast::<usize>() = (&raw const here).addr() };
        ptr::null_mut()
    }
    let measure = || -> io::Result<usize> {
        let stack = DefaultStack::new(super::stacks::DEFAULT_SIZE)?;
        let mut found = 0_usize;
        // SAFETY: the stack and the number stay until the thread is joined, below.
        let pthread = unsafe { create(&stack, probe, ptr::from_mut(&mut found).cast()) }?;
        // SAFETY: just made.
        unsafe { libc::pthread_join(pthread, ptr::null_mut()) };
        // Below that is all that `run` calls; above it are the frames of the C library, which stay as they are, and then its thread-locals.
        Ok(stack.base().get() - (found + CACHE_LINE).next_multiple_of(CACHE_LINE))
    };
    let measured = ROOM.get_or_init(|| measure().map_err(|error| error.raw_os_error().unwrap_or(libc::EAGAIN)));
    measured.map_err(io::Error::from_raw_os_error)
}

/// Starts a thread on a stack of ours.
///
/// # Safety
/// The stack is nobody else's, and it and what `argument` points to stay until the thread is joined.
unsafe fn create(
    stack: &DefaultStack,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> io::Result<libc::pthread_t> {
    let (lowest, size) = usable(stack);
    let mut attributes = MaybeUninit::uninit();
    let mut pthread = 0;
    let done = |answer| if answer == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(answer)) };
    // SAFETY: a place for attributes.
    done(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) })?;
    // SAFETY: attributes that were made, and memory that is mapped and as large.
    done(unsafe { libc::pthread_attr_setstack(attributes.as_mut_ptr(), lowest as *mut c_void, size) })?;
    // SAFETY: as above; our caller's promise.
    let made = done(unsafe { libc::pthread_create(&mut pthread, attributes.as_ptr(), start, argument) });
    // SAFETY: as above.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    made.map(|()| pthread)
}

/// Where a stack begins above its guard page, and how large it is.
fn usable(stack: &DefaultStack) -> (usize, usize) {
    // SAFETY: asks for a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let lowest = stack.limit().get() + page;
    (lowest, stack.base().get() - lowest)
}

/// As much of a name as the kernel keeps.
fn shortened(name: &str) -> &str {
    const MOST: usize = 15;
    &name[..name.floor_char_boundary(MOST.min(name.len()))]
}

#[cfg(test)]
mod tests {
    use super::super::Fiber;
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// What happened, in order.
    static LOG: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    static ALONE: Mutex<()> = Mutex::new(());

    fn log(what: &'static str) {
        LOG.lock().unwrap().push(what);
    }

    struct Logs(&'static str);

    impl Drop for Logs {
        fn drop(&mut self) {
            log(self.0);
        }
    }

    thread_local! {
        static LOCAL: Logs = const { Logs("thread-local dropped") };
        static COUNT: AtomicU32 = const { AtomicU32::new(0) };
    }

    fn fiber(stacks: &mut Stacks, slot: usize, main: impl FnOnce(Suspender) + 'static) -> Fiber {
        let os = Os { name: "T1 a name that is too long".to_owned(), unmodified: true };
        let place = Place { slot, size: 0, clean: 4096 };
        let mut fiber = Fiber::none();
        fiber.begin_os(stacks, place, os, main, || log("end")).unwrap();
        fiber
    }

    fn resume(fiber: &mut Fiber) -> bool {
        fiber.resume(ptr::null_mut(), ptr::null_mut())
    }

    #[test]
    fn destructors_of_thread_locals_run_before_the_end_and_on_the_same_thread() {
        let _alone = ALONE.lock().unwrap();
        LOG.lock().unwrap().clear();
        let mut stacks = Stacks::default();
        let mut first = fiber(&mut stacks, 1, |suspender| {
            let _guard = Logs("main ends");
            LOCAL.with(|_| ());
            // SAFETY: by its thread.
            unsafe { suspender.suspend() };
            log("resumed");
        });
        assert!(!resume(&mut first));
        log("suspended");
        assert!(resume(&mut first));
        first.recycle(&mut stacks, 1);
        assert_eq!(*LOG.lock().unwrap(), ["suspended", "resumed", "main ends", "thread-local dropped", "end"]);
    }

    #[test]
    fn one_that_is_given_up_drops_nothing_and_its_stack_is_used_again() {
        let _alone = ALONE.lock().unwrap();
        LOG.lock().unwrap().clear();
        let mut stacks = Stacks::default();
        let (mut bounds, mut locals) = (Vec::new(), Vec::new());
        for _ in 0..100 {
            let mut fiber = fiber(&mut stacks, 3, |suspender| {
                let _guard = Logs("dropped");
                LOCAL.with(|_| ());
                assert_eq!(COUNT.with(|count| count.fetch_add(1, Ordering::Relaxed)), 0, "as new");
                // SAFETY: by its thread.
                unsafe { suspender.suspend() };
            });
            assert!(!resume(&mut fiber));
            bounds.push((fiber.bounds.limit, fiber.bounds.base, fiber.bounds.top));
            locals.push(fiber.thread_locals().unwrap());
            fiber.recycle(&mut stacks, 3);
        }
        assert!(LOG.lock().unwrap().is_empty());
        assert!(bounds.iter().all(|b| *b == bounds[0]) && locals.iter().all(|l| *l == locals[0]));
        let ((start, size), (_, base, top)) = (locals[0], bounds[0]);
        assert!(base <= start && start + size <= top, "thread-locals lie above what is compared as the stack");
    }

    #[test]
    fn names_are_cut_where_a_letter_ends() {
        assert_eq!(shortened("T1 a name that is too long"), "T1 a name that ");
        assert_eq!(shortened("T1 ééééééé"), "T1 éééééé");
        assert_eq!(shortened("main"), "main");
    }
}
