//! What a thread does at each step of a program, on the types under test.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::PoisonError;
use std::time::Duration;

use mc::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use mc::sync::atomic::fence;
use mc::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use mc::sync::{Arc, LockResult, MutexGuard, TryLockError};
use mc::thread::{self, Thread};

use super::program::{Held, Step, Strength};
use super::run::{AtEnd, END, LAZY, Message, Own, PANICS, STATIC_MUTEX, Sends, Shared};

/// What a time-out lasts.
const SOME: Duration = Duration::from_millis(2);

fn load(strength: Strength) -> Ordering {
    match strength {
        Strength::Relaxed => Relaxed,
        Strength::Ordered => Acquire,
        Strength::SeqCst => SeqCst,
    }
}

fn store(strength: Strength) -> Ordering {
    match strength {
        Strength::Relaxed => Relaxed,
        Strength::Ordered => Release,
        Strength::SeqCst => SeqCst,
    }
}

fn update(strength: Strength) -> Ordering {
    match strength {
        Strength::Relaxed => Relaxed,
        Strength::Ordered => AcqRel,
        Strength::SeqCst => SeqCst,
    }
}

struct Defer<F: FnMut()>(F);

impl<F: FnMut()> Drop for Defer<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl Own {
    pub(crate) fn say(&mut self, what: usize) {
        self.said = self.said << 4 | (what as u64).min(15);
    }

    /// Whether it is poisoned, too.
    fn enter<G>(&mut self, result: LockResult<G>) -> G {
        match result {
            Ok(guard) => guard,
            Err(error) => {
                self.say(14);
                error.into_inner()
            }
        }
    }

    fn lock<'a>(&mut self, shared: &'a Shared) -> MutexGuard<'a, usize> {
        let result = shared.mutex.lock();
        self.enter(result)
    }

    fn atomic(&mut self, shared: &Shared, step: &Step) -> bool {
        let word = |at: &usize| &shared.words[*at];
        match step {
            Step::Load(at, strength) => self.say(word(at).load(load(*strength))),
            Step::Store(at, value, strength) => word(at).store(*value, store(*strength)),
            Step::Add(at, strength) => self.say(word(at).fetch_add(1, update(*strength))),
            Step::Swap(at, value, strength) => self.say(word(at).swap(*value, update(*strength))),
            Step::Exchange(at, old, new, strength) => {
                let found = word(at).compare_exchange(*old, *new, update(*strength), load(*strength));
                self.say(found.unwrap_or_else(|found| found + 8));
            }
            Step::Count(at, strength) => {
                word(at).fetch_add(1, store(*strength));
            }
            Step::Fence(strength) => {
                if *strength != Strength::Relaxed {
                    fence(update(*strength));
                }
            }
            Step::Spin(at) => {
                while word(at).load(Acquire) == 0 {
                    thread::yield_now();
                }
            }
            // SAFETY: as for `Plain`.
            Step::Peek => self.say(shared.plain.0.with(|at| unsafe { *at })),
            // SAFETY: as for `Plain`.
            Step::Poke => shared.plain.0.with_mut(|at| unsafe { *at += 1 }),
            Step::Choose => self.say(mc::choose(0..2_usize)),
            Step::Sleep(time) => thread::sleep(Duration::from_millis(*time)),
            Step::Now => self.say(shared.begun.expect("it is made").elapsed().as_millis() as usize),
            Step::Yield => thread::yield_now(),
            _ => return false,
        }
        true
    }

    fn mutex(&mut self, shared: &Shared, step: &Step) -> bool {
        match step {
            Step::Lock => {
                let mut guard = self.lock(shared);
                self.say(*guard);
                *guard += 1;
            }
            Step::TryLock => match shared.mutex.try_lock() {
                Ok(guard) => self.say(*guard),
                Err(TryLockError::Poisoned(_)) => self.say(14),
                Err(TryLockError::WouldBlock) => self.say(15),
            },
            Step::IsPoisoned => self.say(usize::from(shared.mutex.is_poisoned())),
            Step::ClearPoison => shared.mutex.clear_poison(),
            Step::Poll => while *self.lock(shared) == 0 {},
            _ => return false,
        }
        true
    }

    fn condvar(&mut self, shared: &Shared, step: &Step) -> bool {
        match step {
            Step::Wait => {
                let guard = self.lock(shared);
                let result = shared.changed.wait(guard);
                let guard = self.enter(result);
                self.say(*guard);
            }
            Step::WaitWhile => {
                let guard = self.lock(shared);
                let result = shared.changed.wait_while(guard, |value| *value == 0);
                let guard = self.enter(result);
                self.say(*guard);
            }
            Step::WaitTimeout => {
                let guard = self.lock(shared);
                let result = shared.changed.wait_timeout(guard, SOME);
                let (guard, over) = self.enter(result);
                self.say(*guard + 8 * usize::from(over.timed_out()));
            }
            Step::WaitTimeoutWhile => {
                let guard = self.lock(shared);
                let result = shared.changed.wait_timeout_while(guard, SOME, |value| *value == 0);
                let (guard, over) = self.enter(result);
                self.say(*guard + 8 * usize::from(over.timed_out()));
            }
            Step::WaitAgain => {
                let mut result = shared.mutex.lock();
                let guard = loop {
                    match result {
                        Ok(guard) if *guard == 0 => {
                            let again = shared.changed.wait_timeout(guard, SOME);
                            result =
                                again.map(|(guard, _)| guard).map_err(|error| PoisonError::new(error.into_inner().0));
                        }
                        other => break self.enter(other),
                    }
                };
                self.say(*guard);
            }
            Step::NotifyOne => shared.changed.notify_one(),
            Step::NotifyAll => shared.changed.notify_all(),
            Step::Announce => {
                let mut guard = self.lock(shared);
                *guard += 1;
                shared.changed.notify_one();
            }
            _ => return false,
        }
        true
    }

    fn readers(&mut self, shared: &Shared, step: &Step) -> bool {
        match step {
            Step::Read => {
                let result = shared.readers.read();
                let guard = self.enter(result);
                self.say(*guard);
            }
            Step::Write => {
                let result = shared.readers.write();
                let mut guard = self.enter(result);
                self.say(*guard);
                *guard += 1;
            }
            Step::TryRead => match shared.readers.try_read() {
                Ok(guard) => self.say(*guard),
                Err(TryLockError::Poisoned(_)) => self.say(14),
                Err(TryLockError::WouldBlock) => self.say(15),
            },
            Step::TryWrite => match shared.readers.try_write() {
                Ok(mut guard) => {
                    self.say(*guard);
                    *guard += 1;
                }
                Err(TryLockError::Poisoned(_)) => self.say(14),
                Err(TryLockError::WouldBlock) => self.say(15),
            },
            Step::Meet => drop(shared.barrier.wait()),
            Step::Lead => self.say(usize::from(shared.barrier.wait().is_leader())),
            _ => return false,
        }
        true
    }

    fn channels(&mut self, shared: &Arc<Shared>, step: &Step) -> bool {
        match step {
            Step::Send(value) => {
                let sent = match &self.sender {
                    None => return true,
                    Some(Sends::Free(sender)) => sender.send(Message::new(*value, shared)).is_ok(),
                    Some(Sends::Bounded(sender)) => sender.send(Message::new(*value, shared)).is_ok(),
                };
                self.say(usize::from(sent));
            }
            Step::TrySend(value) => {
                let sent = match &self.sender {
                    None => return true,
                    Some(Sends::Free(sender)) => usize::from(sender.send(Message::new(*value, shared)).is_ok()),
                    Some(Sends::Bounded(sender)) => match sender.try_send(Message::new(*value, shared)) {
                        Ok(()) => 1,
                        Err(TrySendError::Full(_)) => 2,
                        Err(TrySendError::Disconnected(_)) => 0,
                    },
                };
                self.say(sent);
            }
            Step::Receive => {
                let got = self.receiver.as_ref().map(|receiver| receiver.recv().map_or(15, |message| message.0));
                got.into_iter().for_each(|got| self.say(got));
            }
            Step::TryReceive => {
                let got = self.receiver.as_ref().map(|receiver| match receiver.try_recv() {
                    Ok(message) => message.0,
                    Err(TryRecvError::Empty) => 14,
                    Err(TryRecvError::Disconnected) => 15,
                });
                got.into_iter().for_each(|got| self.say(got));
            }
            Step::ReceiveTimeout => {
                let got = self.receiver.as_ref().map(|receiver| match receiver.recv_timeout(SOME) {
                    Ok(message) => message.0,
                    Err(RecvTimeoutError::Timeout) => 14,
                    Err(RecvTimeoutError::Disconnected) => 15,
                });
                got.into_iter().for_each(|got| self.say(got));
            }
            Step::CloseSender => self.sender = None,
            Step::CloseReceiver => self.receiver = None,
            _ => return false,
        }
        true
    }

    fn once(&mut self, shared: &Shared, step: &Step) -> bool {
        match step {
            Step::CallOnce => {
                let mut ran = 0;
                let call = || shared.once.call_once(|| ran = 1 + shared.words[0].fetch_add(1, AcqRel));
                let ended = catch_unwind(AssertUnwindSafe(call));
                self.say(if ended.is_ok() { ran } else { 15 });
            }
            Step::CallOncePanics => {
                let call = || {
                    shared.once.call_once_force(|_| {
                        shared.words[1].fetch_add(1, AcqRel);
                        resume_unwind(Box::new(0_u8));
                    });
                };
                self.say(usize::from(catch_unwind(AssertUnwindSafe(call)).is_ok()));
            }
            Step::IsCompleted => self.say(usize::from(shared.once.is_completed())),
            Step::SetCell(value) => self.say(usize::from(shared.cell.set(*value).is_ok())),
            Step::GetCell => self.say(shared.cell.get().copied().unwrap_or(0)),
            Step::InitCell(value) => {
                let got = *shared.cell.get_or_init(|| value + 3 * shared.words[1].fetch_add(1, AcqRel));
                self.say(got);
            }
            Step::Lazy => {
                STATIC_MUTEX.lock().unwrap().push(1);
                self.say(*LAZY);
            }
            Step::LazyPanics => self.say(usize::from(catch_unwind(|| *PANICS).is_ok())),
            _ => return false,
        }
        true
    }

    fn arcs(&mut self, step: &Step) -> bool {
        match step {
            Step::DropArc => drop(self.arc.take()),
            Step::StrongCount => self.say(self.weak.strong_count()),
            Step::Upgrade => {
                let found = self.weak.upgrade();
                self.say(usize::from(found.is_some()));
            }
            Step::Unwrap => {
                let got = self.arc.take().map(|arc| match Arc::try_unwrap(arc) {
                    Ok(value) => {
                        drop(value);
                        1
                    }
                    Err(arc) => {
                        self.arc = Some(arc);
                        2
                    }
                });
                self.say(got.unwrap_or(0));
            }
            Step::GetMut => {
                let got = self.arc.as_mut().map(|arc| usize::from(Arc::get_mut(arc).is_some()));
                self.say(got.unwrap_or(3));
            }
            _ => return false,
        }
        true
    }

    fn around(&mut self, shared: &Arc<Shared>, step: &'static Step) {
        match step {
            Step::Park => thread::park(),
            Step::ParkTimeout => thread::park_timeout(SOME),
            Step::ParkAgain(at) => {
                while shared.words[*at].load(Acquire) == 0 {
                    thread::park_timeout(SOME);
                }
            }
            Step::Unpark(whom) => {
                let found = shared.handles[*whom].get();
                found.into_iter().for_each(Thread::unpark);
                self.say(usize::from(found.is_some()));
            }
            Step::Panic => panic_any(self.said),
            Step::Unwinding(inner) => {
                let ended = catch_unwind(AssertUnwindSafe(|| {
                    let _defer = Defer(|| {
                        self.caught(shared, inner);
                    });
                    resume_unwind(Box::new(0_u8));
                }));
                assert!(ended.is_err());
            }
            Step::Local(inner) => {
                // A step is made when the thread ends, for which the thread has the shared state.
                if let Some(late) = &self.late {
                    END.set(Some(AtEnd(shared.clone(), inner, late.clone())));
                } else {
                    self.step(shared, inner);
                }
            }
            Step::With(held, inner) => self.with(shared, *held, inner),
            Step::Inner(inner) => self.inner(shared, inner),
            other => unreachable!("{other:?}"),
        }
    }

    fn with(&mut self, shared: &Arc<Shared>, held: Held, inner: &'static Step) {
        let ended = catch_unwind(AssertUnwindSafe(|| match held {
            Held::Mutex => {
                let mut guard = self.lock(shared);
                *guard += 1;
                self.step(shared, inner);
            }
            Held::Reader => {
                let result = shared.readers.read();
                let guard = self.enter(result);
                self.say(*guard);
                self.step(shared, inner);
            }
            Held::Writer => {
                let result = shared.readers.write();
                let mut guard = self.enter(result);
                *guard += 1;
                self.step(shared, inner);
            }
        }));
        if ended.is_err() {
            self.say(13);
        }
    }

    fn inner(&mut self, shared: &Arc<Shared>, inner: &'static Step) {
        let taken = std::mem::take(self);
        let (said, sender, receiver, arc, weak) = (taken.said, taken.sender, taken.receiver, taken.arc, taken.weak);
        let theirs = Own { said, sender, receiver, arc, weak, late: None };
        let late = taken.late;
        let shared = shared.clone();
        let joined = thread::spawn(move || {
            let mut theirs = theirs;
            theirs.step(&shared, inner);
            theirs
        })
        .join();
        match joined {
            Ok(back) => *self = back,
            Err(payload) => {
                self.said = payload.downcast_ref::<u64>().map_or(0, |said| *said);
                self.say(13);
            }
        }
        self.late = late;
    }

    pub(crate) fn caught(&mut self, shared: &Arc<Shared>, step: &'static Step) {
        if catch_unwind(AssertUnwindSafe(|| self.step(shared, step))).is_err() {
            self.say(13);
        }
    }

    pub(crate) fn step(&mut self, shared: &Arc<Shared>, step: &'static Step) {
        let done = self.atomic(shared, step)
            || self.mutex(shared, step)
            || self.condvar(shared, step)
            || self.readers(shared, step)
            || self.channels(shared, step)
            || self.once(shared, step)
            || self.arcs(step);
        if !done {
            self.around(shared, step);
        }
    }

    pub(crate) fn run(mut self, shared: &Arc<Shared>, steps: &'static [Step]) -> u64 {
        steps.iter().for_each(|step| self.step(shared, step));
        self.said
    }
}
