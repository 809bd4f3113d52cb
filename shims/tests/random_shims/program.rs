//! Random programs over all that the shims have.

use super::chance::Chance;

/// How much memory orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    Relaxed,
    Ordered,
    SeqCst,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Unbounded,
    Bounded(usize),
}

/// What is held while a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Mutex,
    Reader,
    Writer,
}

/// What a thread does. Most say what they have seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Load(usize, Strength),
    Store(usize, usize, Strength),
    Add(usize, Strength),
    Swap(usize, usize, Strength),
    Exchange(usize, usize, usize, Strength),
    /// Its result is not looked at.
    Count(usize, Strength),
    Fence(Strength),
    /// Waits in a loop until it is not 0.
    Spin(usize),
    Choose,
    /// Looks at plain memory, or changes it.
    Peek,
    Poke,

    Lock,
    TryLock,
    IsPoisoned,
    ClearPoison,
    Wait,
    WaitWhile,
    WaitTimeout,
    WaitTimeoutWhile,
    /// Waits with a time-out until it is not 0, or poisoned.
    WaitAgain,
    NotifyOne,
    NotifyAll,
    /// Adds one under the lock, and notifies.
    Announce,
    /// Looks under the lock until it is not 0.
    Poll,

    Read,
    Write,
    TryRead,
    TryWrite,

    Meet,
    Lead,

    /// A message of 2 does something when it is dropped.
    Send(usize),
    TrySend(usize),
    Receive,
    TryReceive,
    ReceiveTimeout,
    CloseSender,
    CloseReceiver,

    CallOnce,
    CallOncePanics,
    IsCompleted,
    SetCell(usize),
    GetCell,
    InitCell(usize),
    Lazy,
    LazyPanics,

    Park,
    ParkTimeout,
    /// Parks with a time-out until an atomic is not 0.
    ParkAgain(usize),
    Unpark(usize),

    DropArc,
    StrongCount,
    Upgrade,
    Unwrap,
    GetMut,

    Sleep(u64),
    Now,
    Yield,

    /// Ends the thread.
    Panic,
    /// Makes a step while it unwinds.
    Unwinding(Box<Step>),
    /// Makes a step when the thread ends.
    Local(Box<Step>),
    With(Held, Box<Step>),
    /// In another thread, and joins it.
    Inner(Box<Step>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The first one is the main thread.
    pub(crate) threads: Vec<Vec<Step>>,
    pub(crate) channel: Option<Channel>,
    /// Who receives.
    pub(crate) receiver: usize,
    pub(crate) arcs: bool,
    pub(crate) places: usize,
    pub(crate) scoped: bool,
}

impl Program {
    pub(crate) fn any(&self, is: impl Fn(&Step) -> bool) -> bool {
        fn has(step: &Step, is: &impl Fn(&Step) -> bool) -> bool {
            let inner = match step {
                Step::Unwinding(inner) | Step::Local(inner) | Step::With(_, inner) | Step::Inner(inner) => Some(inner),
                _ => None,
            };
            is(step) || inner.is_some_and(|inner| has(inner, is))
        }
        self.threads.iter().flatten().any(|step| has(step, &is))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Atomics,
    Mutex,
    Condvar,
    RwLock,
    Barrier,
    Channel,
    Once,
    Park,
    Arcs,
    Time,
    Panics,
    Plain,
}

const THEMES: [Theme; 13] = [
    Theme::Atomics,
    Theme::Mutex,
    Theme::Condvar,
    Theme::RwLock,
    Theme::Barrier,
    Theme::Channel,
    Theme::Once,
    Theme::Park,
    Theme::Arcs,
    Theme::Time,
    Theme::Panics,
    Theme::Plain,
    Theme::Plain,
];

impl Chance {
    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64)].clone()
    }

    fn strength(&mut self) -> Strength {
        self.one_of(&[Strength::Relaxed, Strength::Ordered, Strength::Ordered, Strength::SeqCst])
    }

    fn atomic(&mut self) -> Step {
        let (at, strength) = (self.below(2), self.strength());
        match self.below(12) {
            0..3 => Step::Load(at, strength),
            3..6 => Step::Store(at, 1 + self.below(2), strength),
            6 => Step::Add(at, strength),
            7 => Step::Swap(at, 1 + self.below(2), strength),
            8 => Step::Exchange(at, self.below(2), 2, strength),
            9 => Step::Count(at, strength),
            10 => Step::Fence(strength),
            _ => [Step::Choose, Step::Spin(at), Step::Yield][self.below(3)].clone(),
        }
    }

    fn of(&mut self, theme: Theme, threads: usize) -> Step {
        use Step::*;
        match theme {
            Theme::Atomics => self.atomic(),
            Theme::Mutex => self.one_of(&[Lock, Lock, TryLock, IsPoisoned, ClearPoison, Poll]),
            Theme::Condvar => self.one_of(&[
                Wait,
                WaitWhile,
                WaitWhile,
                WaitTimeout,
                WaitTimeoutWhile,
                WaitAgain,
                NotifyOne,
                NotifyAll,
                Announce,
                Announce,
                Lock,
            ]),
            Theme::RwLock => self.one_of(&[Read, Read, Write, TryRead, TryWrite]),
            Theme::Barrier => self.one_of(&[Meet, Meet, Meet, Lead]),
            Theme::Channel => match self.below(9) {
                0..3 => Send(self.below(3)),
                3 => TrySend(self.below(3)),
                4 => CloseSender,
                5 => CloseReceiver,
                _ => self.receive(),
            },
            Theme::Once => match self.below(9) {
                0 | 1 => CallOnce,
                2 => SetCell(1 + self.below(2)),
                3 => InitCell(1 + self.below(2)),
                _ => self.one_of(&[CallOncePanics, IsCompleted, GetCell, Lazy, LazyPanics]),
            },
            Theme::Park => match self.below(6) {
                0 | 1 => Unpark(self.below(threads as u64)),
                2 | 3 => Park,
                4 => ParkAgain(self.below(2)),
                _ => ParkTimeout,
            },
            Theme::Arcs => self.one_of(&[DropArc, DropArc, StrongCount, Upgrade, Unwrap, GetMut]),
            Theme::Time => match self.below(5) {
                0 => Sleep(1 + self.below(2) as u64),
                _ => self.one_of(&[Now, Now, WaitTimeout, ParkTimeout, Yield]),
            },
            Theme::Plain => self.one_of(&[Peek, Poke]),
            Theme::Panics => self.one_of(&[Panic, CallOncePanics, Panic]),
        }
    }

    fn receive(&mut self) -> Step {
        self.one_of(&[Step::Receive, Step::Receive, Step::TryReceive, Step::ReceiveTimeout])
    }

    /// What never waits for a lock.
    fn simple(&mut self, themes: &[Theme]) -> Step {
        use Step::*;
        let mut all = vec![self.atomic(), self.atomic(), Panic];
        for theme in themes {
            match theme {
                Theme::Condvar => all.extend([NotifyOne, NotifyAll]),
                Theme::Mutex => all.extend([TryLock]),
                Theme::RwLock => all.extend([TryRead, TryWrite]),
                Theme::Channel => all.extend([TrySend(1), CloseSender, TryReceive, Send(2)]),
                Theme::Once => all.extend([IsCompleted, SetCell(2), CallOnce]),
                Theme::Park => all.extend([Unpark(0), ParkTimeout]),
                Theme::Arcs => all.extend([DropArc, StrongCount]),
                Theme::Plain => all.extend([Peek, Poke]),
                _ => {}
            }
        }
        self.one_of(&all)
    }

    fn step(&mut self, themes: &[Theme], threads: usize) -> Step {
        let theme = self.one_of(themes);
        if self.below(4) > 0 {
            return self.of(theme, threads);
        }
        let inner = Box::new(self.simple(themes));
        match self.below(7) {
            0 => Step::Unwinding(Box::new(self.of(theme, threads))),
            1 => Step::Local(Box::new(self.of(theme, threads))),
            2 | 3 => Step::With(Held::Mutex, inner),
            4 => Step::With(Held::Reader, inner),
            5 => Step::With(Held::Writer, inner),
            _ => Step::Inner(inner),
        }
    }

    pub(crate) fn program(&mut self) -> Program {
        let threads = 2 + self.below(2);
        let mut themes = vec![self.one_of(&THEMES), self.one_of(&THEMES)];
        if self.below(3) == 0 {
            themes.push(Theme::Atomics);
        }
        let most = if threads == 2 { 3 } else { 2 };
        let mut all: Vec<Vec<_>> = Vec::new();
        for number in 0..=threads {
            let steps = if number == 0 { self.below(2) } else { 1 + self.below(most) };
            all.push(match self.below(4) {
                // Threads that are alike.
                0 if number > 1 => all[1].clone(),
                _ => (0..steps).map(|_| self.step(&themes, threads + 1)).collect(),
            });
        }
        let channel = [Channel::Unbounded, Channel::Bounded(0), Channel::Bounded(1)][self.below(3)];
        let receiver = self.below(threads as u64 + 1);
        let mut program = Program {
            threads: all,
            channel: Some(channel),
            receiver,
            arcs: true,
            places: 2 + self.below(2) * self.below(2),
            scoped: self.below(3) == 0,
        };
        if !program.any(|step| {
            use Step::*;
            matches!(step, Send(_) | TrySend(_) | Receive | TryReceive | ReceiveTimeout | CloseSender | CloseReceiver)
        }) {
            program.channel = None;
        }
        program.arcs = program.any(|step| {
            use Step::*;
            matches!(step, DropArc | StrongCount | Upgrade | Unwrap | GetMut)
        });
        // The scope may end before the destructors of thread-locals, which look at what it borrows.
        program.scoped &= !program.any(|step| matches!(step, Step::Local(_)));
        program
    }
}
