// More workloads, after those of `workloads.rs` and under the same prelude: the same text for every tool.

/// A workload of either text.
pub fn workload(name: &str, p: &[usize]) -> Option<Box<dyn Fn() + Send + Sync + 'static>> {
    let p0 = p.first().copied().unwrap_or(2);
    let p1 = p.get(1).copied().unwrap_or(1);
    Some(match name {
        "mpmc" => Box::new(move || mpmc(p0)),
        "indexer" => Box::new(move || indexer(p0)),
        "update" => Box::new(move || update(p0)),
        "inc_used" => Box::new(move || inc_used(p0)),
        "spin_lock_each" => Box::new(move || spin_lock_each(p0)),
        "test_lock" => Box::new(move || test_lock(p0)),
        "semaphore" => Box::new(move || semaphore(p0, p1)),
        "readers_used" => Box::new(move || readers_used(p0)),
        _ => return body(name, p),
    })
}

/// As `inc`, where somebody looks at what each thread gets.
fn inc_used(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    let y = x.clone();
    join_all(spawn_each(n, move |_| {
        core::hint::black_box(y.fetch_add(1, Relaxed));
    }));
    assert_eq!(x.load(Relaxed), n);
}

/// n threads add with std's `fetch_update`, and somebody looks at what each of them finds.
fn update(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    let y = x.clone();
    join_all(spawn_each(n, move |i| {
        core::hint::black_box(y.fetch_update(AcqRel, Acquire, |old| Some(old + i + 1))).unwrap();
    }));
    assert_eq!(x.load(Relaxed), n * (n + 1) / 2);
}

/// As `spin_lock`, where each thread is told apart from the others.
fn spin_lock_each(n: usize) {
    let s = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let t = s.clone();
    join_all(spawn_each(n, move |i| {
        while t.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            spin();
        }
        t.1.store(t.1.load(Relaxed) + core::hint::black_box(i) + 1, Relaxed);
        t.0.store(0, Release);
    }));
    assert_eq!(s.1.load(Relaxed), n * (n + 1) / 2);
}

/// As `spin_lock_each`, where the lock is tested before it is taken.
fn test_lock(n: usize) {
    let s = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let t = s.clone();
    join_all(spawn_each(n, move |i| {
        loop {
            while t.0.load(Relaxed) != 0 {
                spin();
            }
            if t.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                break;
            }
        }
        t.1.store(t.1.load(Relaxed) + core::hint::black_box(i) + 1, Relaxed);
        t.0.store(0, Release);
    }));
    assert_eq!(s.1.load(Relaxed), n * (n + 1) / 2);
}

/// n threads take one of the permits of a semaphore, and give it back.
fn semaphore(n: usize, permits: usize) {
    let s = Arc::new((AtomicUsize::new(permits), AtomicUsize::new(0)));
    let t = s.clone();
    join_all(spawn_each(n, move |i| {
        let mut free = t.0.load(Acquire);
        loop {
            if free == 0 {
                spin();
                free = t.0.load(Acquire);
                continue;
            }
            match t.0.compare_exchange(free, free - 1, AcqRel, Acquire) {
                Ok(_) => break,
                Err(newer) => free = newer,
            }
        }
        t.1.fetch_add(core::hint::black_box(i) + 1, Relaxed);
        t.0.fetch_add(1, Release);
    }));
    assert_eq!(s.1.load(Relaxed), n * (n + 1) / 2);
}

/// As `readers`, where somebody looks at what each of them reads.
fn readers_used(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    join_all(spawn_each(n + 1, move |i| {
        if i == 0 {
            x.store(1, Relaxed);
        } else {
            core::hint::black_box(x.load(Relaxed));
        }
    }));
}

/// One slot of the queue below.
struct Slot {
    /// The position of the producer that may fill it, or that plus one for the consumer that may empty it.
    turn: AtomicUsize,
    value: AtomicUsize,
}

/// D. Vyukov's bounded queue (1024cores.net), with two slots. The values are relaxed atomics, because not every tool sees plain memory.
struct Bounded {
    slots: [Slot; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl Bounded {
    fn new() -> Bounded {
        let slot = |turn| Slot { turn: AtomicUsize::new(turn), value: AtomicUsize::new(NIL) };
        Bounded { slots: [slot(0), slot(1)], head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }
    }

    /// The slot at the position in `end`, if its turn is that position plus `offset`; None if it still is as a round ago.
    fn claim(&self, end: &AtomicUsize, offset: usize) -> Option<(&Slot, usize)> {
        let mut position = end.load(Relaxed);
        loop {
            let slot = &self.slots[position % 2];
            let turn = slot.turn.load(Acquire);
            if turn == position + offset {
                match end.compare_exchange(position, position + 1, Relaxed, Relaxed) {
                    Ok(_) => return Some((slot, position)),
                    Err(newer) => position = newer,
                }
            } else if turn < position + offset {
                return None;
            } else {
                position = end.load(Relaxed);
            }
        }
    }

    /// False if it is full.
    fn push(&self, value: usize) -> bool {
        let Some((slot, position)) = self.claim(&self.tail, 0) else { return false };
        slot.value.store(value, Relaxed);
        slot.turn.store(position + 1, Release);
        true
    }

    fn pop(&self) -> Option<usize> {
        let (slot, position) = self.claim(&self.head, 1)?;
        let value = slot.value.load(Relaxed);
        slot.turn.store(position + 2, Release);
        Some(value)
    }
}

/// n threads push one value and pop one; either may find the queue full or empty. The main thread pops what is left.
fn mpmc(n: usize) {
    let q = Arc::new(Bounded::new());
    let handles: Vec<_> = (0..n)
        .map(|i| {
            let q = q.clone();
            thread::spawn(move || (q.push(i).then_some(i), q.pop()))
        })
        .collect();
    let (mut pushed, mut popped) = (Vec::new(), Vec::new());
    for handle in handles {
        let (put, got) = handle.join().unwrap();
        pushed.extend(put);
        popped.extend(got);
    }
    while let Some(value) = q.pop() {
        popped.push(value);
    }
    popped.sort_unstable();
    assert_eq!(pushed, popped);
}

/// Flanagan and Godefroid (POPL 2005): n threads put four messages each into a table of 128 places, the next place where one
/// is taken. Up to 11 threads never meet; with each more there are eight times as many executions.
fn indexer(n: usize) {
    const SIZE: usize = 128;
    let table = atomics(SIZE);
    join_all(spawn_each(n, move |i| {
        for message in 1..=4 {
            let value = message * 11 + i;
            let mut place = value * 7 % SIZE;
            while table[place].compare_exchange(0, value, Relaxed, Relaxed).is_err() {
                place = (place + 1) % SIZE;
            }
        }
    }));
}
