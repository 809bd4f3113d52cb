//! What programs do, said a second time: all interleavings of small steps on plain values, which is what `sc` must show.
//!
//! Not here: clocks, plain memory, and what std does not promise.

use std::collections::{BTreeSet, HashSet};

use super::moves::{acquire, mutex, once, owned, readers, wait, word};
use super::program::{Channel, Held, Program, Step};
use super::run::Said;

/// A part of a step.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Whole(Step),
    Say(usize),
    Acquire(Held),
    Release(Held, bool),
    Register,
    DropOwn,
    LateBegins,
    LateEnds,
    Join(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Queued {
    No,
    Waits,
    Notified,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) at: usize,
    pub(crate) phase: u8,
    pub(crate) said: u64,
    pub(crate) late: Option<u64>,
    pub(crate) told: u64,
    pub(crate) sender: bool,
    pub(crate) receiver: bool,
    pub(crate) arc: bool,
    pub(crate) weak: bool,
    pub(crate) token: bool,
    pub(crate) registered: bool,
    pub(crate) queued: Queued,
    pub(crate) timed_out: bool,
    pub(crate) spurious: u8,
    pub(crate) kept: usize,
    /// Messages that it has yet to drop.
    pub(crate) pending: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    Fresh,
    Running,
    Complete,
    Poisoned,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lock {
    pub(crate) writer: bool,
    pub(crate) readers: usize,
    pub(crate) value: usize,
    pub(crate) poisoned: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) threads: Vec<Thread>,
    pub(crate) words: [usize; 3],
    pub(crate) mutex: Lock,
    pub(crate) readers: Lock,
    pub(crate) arrived: usize,
    pub(crate) generation: usize,
    pub(crate) queue: Vec<usize>,
    pub(crate) gone: bool,
    pub(crate) senders: usize,
    pub(crate) waiting: bool,
    pub(crate) polling: bool,
    pub(crate) once: Stage,
    pub(crate) cell: (Stage, usize),
    pub(crate) lazy: (Stage, usize),
    pub(crate) panics: Stage,
    pub(crate) strong: usize,
    pub(crate) told: usize,
}

/// Which of the words the statics count in.
pub(crate) const STATIC: usize = 2;

pub(crate) struct Machine<'a> {
    program: &'a Program,
    code: Vec<Vec<Part>>,
    spurious: u8,
}

/// Which programs it knows all about.
pub(crate) fn knows(program: &Program) -> bool {
    use Step::*;
    let clocks = program.any(|step| matches!(step, Sleep(_) | Now | Peek | Poke));
    let counts_rounds =
        program.any(|step| matches!(step, Poll)) && program.any(|step| matches!(step, With(Held::Mutex, _)));
    let aborts = program.any(|step| matches!(step, Local(inner) if **inner == Panic));
    !clocks && !counts_rounds && !aborts
}

fn parts(step: &Step, to: &mut Vec<Part>) {
    match step {
        Step::Unwinding(inner) if **inner == Step::Panic => to.push(Part::Say(13)),
        Step::Unwinding(inner) => parts(inner, to),
        Step::Inner(inner) if **inner == Step::Panic => to.extend([Part::DropOwn, Part::Say(13)]),
        Step::Inner(inner) if **inner == Step::ParkTimeout => {}
        Step::Inner(inner) => parts(inner, to),
        Step::With(held, inner) => {
            to.push(Part::Acquire(*held));
            let panics = **inner == Step::Panic;
            if !panics {
                parts(inner, to);
            }
            to.push(Part::Release(*held, panics));
            if panics {
                to.push(Part::Say(13));
            }
        }
        Step::Fence(_) | Step::Yield => {}
        other => to.push(Part::Whole(other.clone())),
    }
}

fn code(program: &Program, number: usize) -> Vec<Part> {
    let mut code = Vec::new();
    if number > 0 && program.any(|step| matches!(step, Step::Unpark(whom) if *whom == number)) {
        code.push(Part::Register);
    }
    let mut late: Option<&Step> = None;
    let end = |late: &Option<&Step>, code: &mut Vec<Part>| {
        if let Some(step) = late {
            code.push(Part::LateBegins);
            parts(step, code);
            code.push(Part::LateEnds);
        }
    };
    for step in &program.threads[number] {
        match step {
            Step::Panic if number == 0 => code.push(Part::Say(13)),
            Step::Panic => {
                code.push(Part::Say(13));
                break;
            }
            Step::Local(inner) if number == 0 => parts(inner, &mut code),
            Step::Local(inner) => {
                end(&late, &mut code);
                late = Some(inner);
            }
            other => parts(other, &mut code),
        }
    }
    code.push(Part::DropOwn);
    end(&late, &mut code);
    if number == 0 {
        code.extend((1..program.threads.len()).map(Part::Join));
    }
    code
}

impl Thread {
    pub(crate) fn say(&mut self, what: usize) {
        let said = self.late.as_mut().unwrap_or(&mut self.said);
        *said = *said << 4 | (what as u64).min(15);
    }

    pub(crate) fn done(&mut self) {
        (self.at, self.phase, self.kept) = (self.at + 1, 0, 0);
    }
}

impl Lock {
    pub(crate) const fn new() -> Self {
        Self { writer: false, readers: 0, value: 0, poisoned: false }
    }

    pub(crate) fn is_free(&self) -> bool {
        !self.writer && self.readers == 0
    }

    pub(crate) fn last(&self) -> usize {
        self.value + 8 * usize::from(self.poisoned)
    }
}

impl State {
    pub(crate) fn new(program: &Program, spurious: u8) -> Self {
        let thread = |number| Thread {
            at: 0,
            phase: 0,
            said: 1,
            late: None,
            told: 0,
            sender: program.channel.is_some() && number != program.receiver,
            receiver: program.channel.is_some() && number == program.receiver,
            arc: program.arcs,
            weak: program.arcs,
            token: false,
            registered: number == 0,
            queued: Queued::No,
            timed_out: false,
            spurious,
            kept: 0,
            pending: 0,
        };
        let threads: Vec<_> = (0..program.threads.len()).map(thread).collect();
        Self {
            words: [0; 3],
            mutex: Lock::new(),
            readers: Lock::new(),
            arrived: 0,
            generation: 0,
            queue: Vec::new(),
            gone: false,
            senders: threads.iter().filter(|thread| thread.sender).count(),
            waiting: false,
            polling: false,
            once: Stage::Fresh,
            cell: (Stage::Fresh, 0),
            lazy: (Stage::Fresh, 0),
            panics: Stage::Fresh,
            strong: threads.len(),
            told: 0,
            threads,
        }
    }

    pub(crate) fn drop_arc(&mut self, me: usize) {
        if std::mem::take(&mut self.threads[me].arc) {
            self.give_up_arc();
        }
    }

    pub(crate) fn give_up_arc(&mut self) {
        self.strong -= 1;
        if self.strong == 0 {
            self.told += 3;
        }
    }

    pub(crate) fn close(&mut self, me: usize, sender: bool) {
        let thread = &mut self.threads[me];
        if sender {
            self.senders -= usize::from(std::mem::take(&mut thread.sender));
        } else if std::mem::take(&mut thread.receiver) {
            self.gone = true;
            thread.pending += self.queue.drain(..).filter(|value| *value == 2).count();
        }
    }

    pub(crate) fn said(&self, program: &Program) -> Said {
        let mut said = [0; 5];
        for (thread, said) in self.threads.iter().zip(&mut said) {
            *said = thread.said;
        }
        let mut last = Thread { said: 1, late: None, ..self.threads[0].clone() };
        for what in
            [self.words[0], self.words[1], self.told, self.words[STATIC], self.mutex.last(), self.readers.last()]
        {
            last.say(what);
        }
        for (thread, steps) in self.threads.iter().zip(&program.threads).skip(1) {
            if steps.iter().any(|step| matches!(step, Step::Local(_))) {
                last.said = last.said << 12 | thread.told;
            }
        }
        said[4] = last.said;
        said
    }
}

/// What a thread can do now.
pub(crate) enum Next {
    Blocked,
    /// What it does leads to these.
    To(Vec<State>),
    /// It may go on for a reason that nobody can rely on.
    Unless(Vec<State>),
}

pub(crate) fn to(state: State) -> Next {
    Next::To(vec![state])
}

impl Machine<'_> {
    pub(crate) fn new(program: &Program, spurious: u8) -> Machine<'_> {
        let code = (0..program.threads.len()).map(|number| code(program, number)).collect();
        Machine { program, code, spurious }
    }

    /// All outcomes, and whether it may be stuck; `None` if there are more than so many states.
    pub(crate) fn outcomes(&self, most: usize) -> Option<(BTreeSet<Said>, bool)> {
        let begin = State::new(self.program, self.spurious);
        let (mut seen, mut todo) = (HashSet::from([begin.clone()]), vec![begin]);
        let (mut outcomes, mut stuck) = (BTreeSet::new(), false);
        while let Some(state) = todo.pop() {
            let mut can_move = false;
            for me in 0..state.threads.len() {
                let next = match self.next(&state, me) {
                    Next::Blocked => continue,
                    Next::Unless(next) => next,
                    Next::To(next) => {
                        can_move = true;
                        next
                    }
                };
                todo.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
            }
            if self.is_over(&state, 0) {
                outcomes.insert(state.said(self.program));
            } else if !can_move {
                stuck = true;
            }
            if seen.len() > most {
                return None;
            }
        }
        Some((outcomes, stuck))
    }

    fn is_over(&self, state: &State, number: usize) -> bool {
        state.threads[number].at == self.code[number].len()
    }

    fn next(&self, state: &State, me: usize) -> Next {
        let Some(part) = self.code[me].get(state.threads[me].at) else { return Next::Blocked };
        let mut state = state.clone();
        if state.threads[me].pending > 0 {
            state.threads[me].pending -= 1;
            state.words[1] += 3;
            return to(state);
        }
        match part {
            Part::Whole(step) => return self.whole(state, me, step),
            Part::Say(what) => state.threads[me].say(*what),
            Part::Acquire(held) => return acquire(state, me, *held),
            Part::Release(held, panics) => {
                let lock = if *held == Held::Mutex { &mut state.mutex } else { &mut state.readers };
                if *panics && *held != Held::Reader && state.threads[me].phase == 0 {
                    lock.poisoned = true;
                    state.threads[me].phase = 1;
                    return to(state);
                }
                match held {
                    Held::Reader => lock.readers -= 1,
                    _ => lock.writer = false,
                }
            }
            Part::Register => state.threads[me].registered = true,
            Part::DropOwn => {
                match state.threads[me].phase {
                    0 => state.close(me, true),
                    1 => state.close(me, false),
                    _ => {
                        state.drop_arc(me);
                        state.threads[me].weak = false;
                        state.threads[me].done();
                        return to(state);
                    }
                }
                state.threads[me].phase += 1;
                return to(state);
            }
            Part::LateBegins => state.threads[me].late = Some(1),
            Part::LateEnds => {
                let said = state.threads[me].late.take();
                state.threads[me].told = said.unwrap_or(0);
            }
            Part::Join(whom) if !self.is_over(&state, *whom) => return Next::Blocked,
            Part::Join(_) => {}
        }
        state.threads[me].done();
        to(state)
    }

    fn whole(&self, state: State, me: usize, step: &Step) -> Next {
        use Step::*;
        match step {
            Lock | TryLock | IsPoisoned | ClearPoison | Poll | Announce | NotifyOne | NotifyAll => {
                mutex(state, me, step)
            }
            Wait | WaitWhile | WaitTimeout | WaitTimeoutWhile | WaitAgain => wait(state, me, step),
            Read | Write | TryRead | TryWrite => readers(state, me, step),
            Meet | Lead => self.meet(state, me, *step == Lead),
            Send(_) | TrySend(_) | Receive | TryReceive | ReceiveTimeout | CloseSender | CloseReceiver => {
                self.channel(state, me, step)
            }
            CallOnce | CallOncePanics | IsCompleted | SetCell(_) | GetCell | InitCell(_) | Lazy | LazyPanics => {
                once(state, me, step)
            }
            Park | ParkTimeout | ParkAgain(_) | Unpark(_) | DropArc | StrongCount | Upgrade | Unwrap | GetMut => {
                owned(state, me, step)
            }
            _ => word(state, me, step),
        }
    }

    fn meet(&self, mut state: State, me: usize, says: bool) -> Next {
        let thread = &mut state.threads[me];
        if thread.phase == 0 {
            thread.kept = state.generation;
            state.arrived += 1;
            if state.arrived < self.program.places {
                thread.phase = 1;
                return to(state);
            }
            (state.arrived, state.generation) = (0, state.generation + 1);
        } else if thread.kept == state.generation {
            return Next::Blocked;
        }
        if says {
            let is_leader = thread.phase == 0;
            thread.say(usize::from(is_leader));
        }
        thread.done();
        to(state)
    }

    fn send(&self, state: &mut State, value: usize, tries: bool) -> Option<usize> {
        if state.gone {
            return Some(0);
        }
        let has_room = match self.program.channel {
            Some(Channel::Bounded(0)) => state.waiting || state.polling && !tries,
            Some(Channel::Bounded(places)) => state.queue.len() < places,
            _ => true,
        };
        if has_room {
            state.queue.push(value);
            (state.waiting, state.polling) = (false, false);
            return Some(1);
        }
        tries.then_some(2)
    }

    fn channel(&self, mut state: State, me: usize, step: &Step) -> Next {
        let (sender, receiver, phase) = (state.threads[me].sender, state.threads[me].receiver, state.threads[me].phase);
        let late = state.threads[me].late.is_some();
        let meets = self.program.channel == Some(Channel::Bounded(0));
        let said = match step {
            _ if late => None,
            Step::Send(value) if sender => match self.send(&mut state, *value, false) {
                None => return Next::Blocked,
                said => said,
            },
            Step::TrySend(value) if sender => self.send(&mut state, *value, true),
            Step::Receive | Step::TryReceive | Step::ReceiveTimeout if receiver => {
                if meets && phase == 0 {
                    if *step == Step::TryReceive {
                        state.polling = true;
                    } else {
                        state.waiting = true;
                    }
                    state.threads[me].phase = 1;
                    return to(state);
                }
                let has = !state.queue.is_empty();
                if !has && state.senders > 0 && *step == Step::Receive {
                    return Next::Blocked;
                }
                (state.waiting, state.polling) = (false, false);
                let none = if state.senders == 0 { 15 } else { 14 };
                Some(if has { state.queue.remove(0) } else { none })
            }
            Step::CloseSender | Step::CloseReceiver => {
                state.close(me, *step == Step::CloseSender);
                None
            }
            _ => None,
        };
        let gone = match step {
            Step::Send(2) | Step::TrySend(2) => said.is_some_and(|said| said != 1),
            Step::Receive | Step::TryReceive | Step::ReceiveTimeout => said == Some(2),
            _ => false,
        };
        state.threads[me].pending += usize::from(gone);
        said.into_iter().for_each(|said| state.threads[me].say(said));
        state.threads[me].done();
        to(state)
    }
}
