//! Runs a program, and says what it has seen.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering as Real};

use mc::cell::UnsafeCell;
use mc::sync::atomic::AtomicUsize;
use mc::sync::atomic::Ordering::{AcqRel, Relaxed};
use mc::sync::mpsc::{self, Receiver, Sender, SyncSender};
use mc::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak};
use mc::thread::{self, Thread};
use mc::time::Instant;

use super::program::{Channel, Program, Step};

/// What each thread says, and what there is in the end.
pub(crate) type Said = [u64; 5];

/// What is true of each that is said.
const BEGUN: u64 = 1;

pub(crate) static LAZY: LazyLock<usize> = LazyLock::new(|| 1 + STATIC.fetch_add(1, AcqRel));
pub(crate) static STATIC: AtomicUsize = AtomicUsize::new(0);
pub(crate) static STATIC_MUTEX: Mutex<Vec<u8>> = Mutex::new(Vec::new());
pub(crate) static PANICS: LazyLock<usize> = LazyLock::new(|| {
    STATIC.fetch_add(1, AcqRel);
    resume_unwind(Box::new(0_u8))
});

mc::thread_local! {
    pub(crate) static END: Cell<Option<AtEnd>> = const { Cell::new(None) };
}

/// Makes a step when the thread ends.
pub(crate) struct AtEnd(pub(crate) Arc<Shared>, pub(crate) &'static Step, pub(crate) Arc<AtomicU64>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let mut own = Own::default();
        own.step(&self.0, self.1);
        self.2.store(own.said, Real::Relaxed);
    }
}

/// Adds to a number when nobody has it any more.
pub(crate) struct Tells(Arc<AtomicUsize>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.fetch_add(3, Relaxed);
    }
}

pub(crate) struct Message(pub(crate) usize, Option<Arc<Shared>>);

impl Message {
    pub(crate) fn new(value: usize, shared: &Arc<Shared>) -> Self {
        Self(value, (value == 2).then(|| shared.clone()))
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if let Some(shared) = &self.1 {
            shared.words[1].fetch_add(3, AcqRel);
        }
    }
}

pub(crate) struct Plain(pub(crate) UnsafeCell<usize>);

// SAFETY: that it is accessed in order is looked at by the checker, under which programs run that may access it otherwise.
unsafe impl Sync for Plain {}

pub(crate) struct Shared {
    pub(crate) plain: Plain,
    pub(crate) words: [AtomicUsize; 2],
    pub(crate) mutex: Mutex<usize>,
    pub(crate) changed: Condvar,
    pub(crate) readers: RwLock<usize>,
    pub(crate) barrier: Barrier,
    pub(crate) once: Once,
    pub(crate) cell: OnceLock<usize>,
    pub(crate) handles: Vec<OnceLock<Thread>>,
    /// Where somebody looks at the clock: a loop that sleeps is not proved then.
    pub(crate) begun: Option<Instant>,
}

impl Shared {
    fn new(program: &Program) -> Self {
        let handles: Vec<_> = program.threads.iter().map(|_| OnceLock::new()).collect();
        Self {
            plain: Plain(UnsafeCell::new(0)),
            words: [AtomicUsize::new(0), AtomicUsize::new(0)],
            mutex: Mutex::new(0),
            changed: Condvar::new(),
            readers: RwLock::new(0),
            barrier: Barrier::new(program.places),
            once: Once::new(),
            cell: OnceLock::new(),
            handles,
            begun: program.any(|step| *step == Step::Now).then(Instant::now),
        }
    }
}

#[derive(Clone)]
pub(crate) enum Sends {
    Free(Sender<Message>),
    Bounded(SyncSender<Message>),
}

/// What a thread has to itself.
pub(crate) struct Own {
    pub(crate) said: u64,
    pub(crate) sender: Option<Sends>,
    pub(crate) receiver: Option<Receiver<Message>>,
    pub(crate) arc: Option<Arc<Tells>>,
    pub(crate) weak: Weak<Tells>,
    pub(crate) late: Option<Arc<AtomicU64>>,
}

impl Default for Own {
    fn default() -> Self {
        Self { said: BEGUN, sender: None, receiver: None, arc: None, weak: Weak::new(), late: None }
    }
}

fn joined(ended: thread::Result<u64>) -> u64 {
    match ended {
        Ok(said) => said,
        Err(payload) => payload.downcast_ref::<u64>().map_or(13, |said| said << 4 | 13),
    }
}

/// What each thread begins with, the main one first.
fn begin(program: &Program, told: &Arc<AtomicUsize>) -> Vec<Own> {
    let mut all: Vec<_> = program.threads.iter().map(|_| Own::default()).collect();
    if let Some(channel) = program.channel {
        let (sender, receiver) = match channel {
            Channel::Unbounded => {
                let (sender, receiver) = mpsc::channel();
                (Sends::Free(sender), receiver)
            }
            Channel::Bounded(places) => {
                let (sender, receiver) = mpsc::sync_channel(places);
                (Sends::Bounded(sender), receiver)
            }
        };
        all[program.receiver].receiver = Some(receiver);
        for (number, own) in all.iter_mut().enumerate() {
            if number != program.receiver {
                own.sender = Some(sender.clone());
            }
        }
    }
    if program.arcs {
        let arc = Arc::new(Tells(told.clone()));
        for own in &mut all {
            (own.arc, own.weak) = (Some(arc.clone()), Arc::downgrade(&arc));
        }
    }
    let is_local = |steps: &[Step]| steps.iter().any(|step| matches!(step, Step::Local(_)));
    for (own, steps) in all.iter_mut().zip(&program.threads).skip(1) {
        own.late = is_local(steps).then(Default::default);
    }
    all
}

/// What there is when all threads are joined.
fn left(shared: &Shared, told: &AtomicUsize) -> Own {
    let mut last = Own::default();
    shared.words.iter().for_each(|word| last.say(word.load(Relaxed)));
    last.say(told.load(Relaxed));
    last.say(STATIC.load(Relaxed));
    last.say(shared.mutex.lock().map_or_else(|error| *error.into_inner() + 8, |guard| *guard));
    last.say(shared.readers.read().map_or_else(|error| *error.into_inner() + 8, |guard| *guard));
    last
}

/// Runs it once.
pub(crate) fn run(program: &'static Program) -> Said {
    let shared = Arc::new(Shared::new(program));
    let told = Arc::new(AtomicUsize::new(0));
    let owns = begin(program, &told);
    let lates: Vec<_> = owns.iter().map(|own| own.late.clone()).collect();
    let unparked = |number| program.any(|step| matches!(step, Step::Unpark(whom) if *whom == number));
    let mut said = [0; 5];
    let mut owns = owns.into_iter();
    let main = owns.next().expect("it is there");
    if unparked(0) {
        let _ = shared.handles[0].set(thread::current());
    }
    // The same steps are the same data, or threads with them are not alike.
    let steps = |number: usize| {
        let same = program.threads.iter().position(|steps| *steps == program.threads[number]);
        &program.threads[same.unwrap_or(number)][..]
    };
    let body = |own: Own, number: usize| {
        let (shared, steps) = (shared.clone(), steps(number));
        let place = unparked(number).then_some(number);
        move || {
            if let Some(place) = place {
                let _ = shared.handles[place].set(thread::current());
            }
            own.run(&shared, steps)
        }
    };
    let mains = |shared: &Arc<Shared>| {
        let mut own = main;
        for step in &program.threads[0] {
            own.caught(shared, step);
        }
        own.said
    };
    if program.scoped {
        thread::scope(|scope| {
            let threads: Vec<_> = owns.zip(1..).map(|(own, number)| scope.spawn(body(own, number))).collect();
            said[0] = mains(&shared);
            threads.into_iter().zip(1..).for_each(|(thread, number)| said[number] = joined(thread.join()));
        });
    } else {
        let threads: Vec<_> = owns.zip(1..).map(|(own, number)| thread::spawn(body(own, number))).collect();
        said[0] = mains(&shared);
        threads.into_iter().zip(1..).for_each(|(thread, number)| said[number] = joined(thread.join()));
    }
    let mut last = left(&shared, &told);
    for late in lates.into_iter().flatten() {
        last.said = last.said << 12 | late.load(Real::Relaxed);
    }
    said[4] = last.said;
    said
}
