//! The small steps of the machine: what one thread does to what all share.

use super::machine::{Next, Queued, STATIC, Stage, State, Thread, to};
use super::program::{Held, Step};

pub(crate) fn acquire(mut state: State, me: usize, held: Held) -> Next {
    let lock = if held == Held::Mutex { &mut state.mutex } else { &mut state.readers };
    if lock.writer || held != Held::Reader && !lock.is_free() {
        return Next::Blocked;
    }
    let thread = &mut state.threads[me];
    if lock.poisoned {
        thread.say(14);
    }
    if held == Held::Reader {
        lock.readers += 1;
        thread.say(lock.value);
    } else {
        lock.writer = true;
        lock.value += 1;
    }
    thread.done();
    to(state)
}

/// Takes the mutex, if it is free.
fn lock(state: &mut State, me: usize) -> bool {
    let is_free = state.mutex.is_free();
    if is_free {
        state.mutex.writer = true;
        if state.mutex.poisoned {
            state.threads[me].say(14);
        }
        state.threads[me].kept = usize::from(state.mutex.poisoned);
        state.threads[me].phase += 1;
    }
    is_free
}

fn notified(state: State, me: usize) -> Next {
    let waits = |thread: &Thread| thread.queued == Queued::Waits;
    if !state.threads.iter().any(waits) {
        return to(ended(state, me));
    }
    let whom = (0..state.threads.len()).filter(|whom| waits(&state.threads[*whom]));
    let all = whom.map(|whom| {
        let mut next = state.clone();
        next.threads[whom].queued = Queued::Notified;
        ended(next, me)
    });
    Next::To(all.collect())
}

fn ended(mut state: State, me: usize) -> State {
    state.threads[me].done();
    state
}

/// It holds the lock, and notifies one.
fn announces(mut state: State, me: usize) -> Next {
    state.mutex.value += 1;
    let Next::To(all) = notified(state, me) else { unreachable!("it does not wait") };
    let held = all.into_iter().map(|mut next| {
        let thread = &mut next.threads[me];
        (thread.at, thread.phase) = (thread.at - 1, 2);
        next
    });
    Next::To(held.collect())
}

pub(crate) fn mutex(mut state: State, me: usize, step: &Step) -> Next {
    let phase = state.threads[me].phase;
    let (free, value) = (state.mutex.is_free(), state.mutex.value);
    match (step, phase) {
        (Step::Lock | Step::Announce | Step::Poll, 0) => {
            return if !free {
                Next::Blocked
            } else if *step == Step::Poll && value == 0 {
                lock(&mut state, me);
                Next::Unless(vec![state])
            } else {
                lock(&mut state, me);
                to(state)
            };
        }
        (Step::Lock, _) => {
            state.threads[me].say(value);
            state.mutex.value += 1;
            state.mutex.writer = false;
        }
        (Step::Poll, _) => {
            state.mutex.writer = false;
            if value == 0 {
                state.threads[me].phase = 0;
                return to(state);
            }
        }
        (Step::Announce, 1) => return announces(state, me),
        (Step::Announce, _) => state.mutex.writer = false,
        (Step::TryLock, 0) if !free => state.threads[me].say(15),
        (Step::TryLock, 0) => {
            (state.mutex.writer, state.threads[me].phase) = (true, 1);
            return to(state);
        }
        (Step::TryLock, _) => {
            state.threads[me].say(if state.mutex.poisoned { 14 } else { value });
            state.mutex.writer = false;
        }
        (Step::IsPoisoned, _) => state.threads[me].say(usize::from(state.mutex.poisoned)),
        (Step::ClearPoison, _) => state.mutex.poisoned = false,
        (Step::NotifyOne, _) => return notified(state, me),
        _ => {
            for thread in &mut state.threads {
                if thread.queued == Queued::Waits {
                    thread.queued = Queued::Notified;
                }
            }
        }
    }
    to(ended(state, me))
}

/// It becomes a waiter, who gives the lock away next: a notification may come in between, as in std. Or it is woken for no reason.
fn sleeps(mut state: State, me: usize) -> Next {
    state.threads[me].timed_out = false;
    let mut all = Vec::new();
    if state.threads[me].spurious > 0 {
        let mut woken = state.clone();
        woken.mutex.writer = false;
        woken.threads[me].spurious -= 1;
        woken.threads[me].phase = 3;
        all.push(woken);
    }
    state.threads[me].queued = Queued::Waits;
    state.threads[me].phase = 5;
    all.push(state);
    Next::To(all)
}

pub(crate) fn wait(mut state: State, me: usize, step: &Step) -> Next {
    let again = *step == Step::WaitAgain;
    let looks = again || matches!(step, Step::WaitWhile | Step::WaitTimeoutWhile);
    let timed = again || matches!(step, Step::WaitTimeout | Step::WaitTimeoutWhile);
    match state.threads[me].phase {
        0 => return if lock(&mut state, me) { to(state) } else { Next::Blocked },
        1 if again && state.threads[me].kept > 0 => {}
        1 if looks && state.mutex.value > 0 => {}
        1 => return sleeps(state, me),
        2 => {
            let thread = &mut state.threads[me];
            if thread.queued == Queued::Waits && !timed {
                return Next::Blocked;
            }
            thread.timed_out = thread.queued == Queued::Waits;
            (thread.queued, thread.phase) = (Queued::No, 3);
            if again && std::mem::take(&mut thread.timed_out) && state.mutex.value == 0 {
                return Next::Unless(vec![state]);
            }
            return to(state);
        }
        3 => return if lock(&mut state, me) { to(state) } else { Next::Blocked },
        5 => {
            (state.mutex.writer, state.threads[me].phase) = (false, 2);
            return to(state);
        }
        _ => {
            let poisoned = if again { state.threads[me].kept > 0 } else { state.mutex.poisoned };
            if looks && state.mutex.value == 0 && !poisoned && !state.threads[me].timed_out {
                state.threads[me].phase = 1;
                return to(state);
            }
            if looks && state.mutex.value > 0 && !state.mutex.poisoned {
                state.threads[me].timed_out = false;
            }
        }
    }
    let thread = &mut state.threads[me];
    let timed_out = std::mem::take(&mut thread.timed_out);
    thread.say(state.mutex.value + 8 * usize::from(timed_out));
    state.mutex.writer = false;
    to(ended(state, me))
}

pub(crate) fn readers(mut state: State, me: usize, step: &Step) -> Next {
    let (lock, thread) = (&mut state.readers, &mut state.threads[me]);
    let reads = matches!(step, Step::Read | Step::TryRead);
    let tries = matches!(step, Step::TryRead | Step::TryWrite);
    if thread.phase == 0 {
        if lock.writer || !reads && !lock.is_free() {
            if !tries {
                return Next::Blocked;
            }
            thread.say(15);
            return to(ended(state, me));
        }
        if reads {
            lock.readers += 1;
        } else {
            lock.writer = true;
        }
        thread.phase = 1;
        return to(state);
    }
    if lock.poisoned {
        thread.say(14);
    }
    if !lock.poisoned || !tries {
        thread.say(lock.value);
        lock.value += usize::from(!reads);
    }
    if reads {
        lock.readers -= 1;
    } else {
        lock.writer = false;
    }
    to(ended(state, me))
}

pub(crate) fn once(mut state: State, me: usize, step: &Step) -> Next {
    use Stage::{Complete, Fresh, Poisoned, Running};
    let stage = match step {
        Step::CallOnce | Step::CallOncePanics | Step::IsCompleted => &mut state.once,
        Step::Lazy => &mut state.lazy.0,
        Step::LazyPanics => &mut state.panics,
        _ => &mut state.cell.0,
    };
    let (words, cell, lazy) = (&mut state.words, &mut state.cell.1, &mut state.lazy.1);
    let thread = &mut state.threads[me];
    match (step, thread.phase, *stage) {
        (Step::IsCompleted, ..) => thread.say(usize::from(*stage == Complete)),
        (Step::GetCell, _, Complete) => thread.say(*cell),
        (Step::GetCell, ..) => thread.say(0),
        (_, 0, Running) => return Next::Blocked,
        (_, 0, Fresh) | (Step::CallOncePanics, 0, Poisoned) => {
            (*stage, thread.phase) = (Running, 1);
            return to(state);
        }
        (Step::CallOnce, 0, Poisoned) => thread.say(15),
        (Step::CallOnce, 0, _) => thread.say(0),
        (Step::CallOncePanics, 0, _) => thread.say(1),
        (Step::SetCell(_), 0, _) => thread.say(0),
        (Step::InitCell(_), 0, _) => thread.say(*cell),
        (Step::Lazy, 0, _) => thread.say(*lazy),
        (Step::LazyPanics, 0, _) => thread.say(0),
        (Step::SetCell(value), ..) => {
            (*stage, *cell) = (Complete, *value);
            thread.say(1);
        }
        (_, 1, _) => {
            let word = match step {
                Step::CallOnce => 0,
                Step::Lazy | Step::LazyPanics => STATIC,
                _ => 1,
            };
            (thread.kept, thread.phase) = (words[word], 2);
            words[word] += 1;
            return to(state);
        }
        _ => initialised(&mut state, me, step),
    }
    to(ended(state, me))
}

/// The closure of a once has made its update.
fn initialised(state: &mut State, me: usize, step: &Step) {
    let thread = &mut state.threads[me];
    let old = std::mem::take(&mut thread.kept);
    let (stage, said) = match step {
        Step::CallOnce => (&mut state.once, 1 + old),
        Step::CallOncePanics => (&mut state.once, 0),
        Step::LazyPanics => (&mut state.panics, 0),
        Step::Lazy => {
            state.lazy.1 = 1 + old;
            (&mut state.lazy.0, 1 + old)
        }
        Step::InitCell(value) => {
            state.cell.1 = value + 3 * old;
            (&mut state.cell.0, value + 3 * old)
        }
        other => unreachable!("{other:?}"),
    };
    let panics = matches!(step, Step::CallOncePanics | Step::LazyPanics);
    *stage = if panics { Stage::Poisoned } else { Stage::Complete };
    thread.say(said);
}

pub(crate) fn owned(mut state: State, me: usize, step: &Step) -> Next {
    let late = state.threads[me].late.is_some();
    let (arc, weak) = (state.threads[me].arc && !late, state.threads[me].weak && !late);
    let strong = state.strong;
    match step {
        Step::Park => {
            let mut all = Vec::new();
            if state.threads[me].spurious > 0 {
                let mut woken = state.clone();
                woken.threads[me].spurious -= 1;
                all.push(ended(woken, me));
            }
            if !std::mem::take(&mut state.threads[me].token) {
                return Next::Unless(all);
            }
            all.push(ended(state, me));
            return Next::To(all);
        }
        Step::ParkTimeout => state.threads[me].token = false,
        Step::ParkAgain(at) => {
            let is_over = state.words[*at] > 0;
            let thread = &mut state.threads[me];
            if thread.phase == 0 && !is_over {
                thread.phase = 1;
                return to(state);
            }
            if thread.phase == 1 {
                thread.phase = 0;
                let unparked = std::mem::take(&mut thread.token);
                return if unparked || is_over { to(state) } else { Next::Unless(vec![state]) };
            }
        }
        Step::Unpark(whom) => {
            let there = state.threads[*whom].registered;
            state.threads[*whom].token |= there;
            state.threads[me].say(usize::from(there));
        }
        Step::DropArc if late => {}
        Step::DropArc => state.drop_arc(me),
        Step::StrongCount => state.threads[me].say(if weak { strong } else { 0 }),
        Step::Upgrade if state.threads[me].phase == 1 => state.give_up_arc(),
        Step::Upgrade if weak && strong > 0 => {
            state.strong += 1;
            state.threads[me].say(1);
            state.threads[me].phase = 1;
            return to(state);
        }
        Step::Upgrade => state.threads[me].say(0),
        Step::Unwrap if arc && strong == 1 => {
            state.drop_arc(me);
            state.threads[me].say(1);
        }
        Step::Unwrap => state.threads[me].say(if arc { 2 } else { 0 }),
        _ => state.threads[me].say(if arc { 0 } else { 3 }),
    }
    to(ended(state, me))
}

pub(crate) fn word(mut state: State, me: usize, step: &Step) -> Next {
    let (words, thread) = (&mut state.words, &mut state.threads[me]);
    match step {
        Step::Load(at, _) => thread.say(words[*at]),
        Step::Store(at, value, _) => words[*at] = *value,
        Step::Add(at, _) => {
            thread.say(words[*at]);
            words[*at] += 1;
        }
        Step::Count(at, _) => words[*at] += 1,
        Step::Swap(at, value, _) => thread.say(std::mem::replace(&mut words[*at], *value)),
        Step::Exchange(at, old, new, _) => {
            let found = words[*at];
            thread.say(if found == *old { found } else { found + 8 });
            if found == *old {
                words[*at] = *new;
            }
        }
        Step::Spin(at) if words[*at] == 0 => return Next::Blocked,
        Step::Spin(_) => {}
        Step::Choose => {
            let mut other = state.clone();
            other.threads[me].say(1);
            state.threads[me].say(0);
            return Next::To(vec![ended(state, me), ended(other, me)]);
        }
        other => unreachable!("{other:?}"),
    }
    to(ended(state, me))
}
