"""What the locks of `mc::parking_lot` do, in the specification's operations; see `shims.py`.

A wait with a time-out is a choice: it ends as one without, or the time is over. Then the thread looks once more, and an execution in which it could have the lock
is given up: that is one of those without the time-out. `Condvar` has no such look, for a notification may come when the time is over.
"""

from shim_operations import LOCK, NEVER, add, cas, choose, load, locked, store, swap, unlock, wait, when, when_any

# ------------------------------------------------------------------------------ mutexes


def timed(waits, is_over):
    return choose(2, "t") + when("t", 0, waits) + when("t", 1, is_over)


TRY_LOCK = cas("m", 0, 1, "a")
TRY_LOCK_FOR = timed(locked([]), TRY_LOCK + when("a", 0, NEVER))

MUTEX = {
    "lock": [locked([]), locked([])],
    "try_lock": [locked([]), TRY_LOCK + when("a", 0, unlock())],
    "try_lock_for": [locked([]), TRY_LOCK_FOR],
    "try_lock_for of two": [TRY_LOCK_FOR, TRY_LOCK_FOR],
    "try_lock_for, for ever": [locked([]), locked([])],
    "is_locked": [locked([]), load("m", "a")],
}
UNLOCKED = [locked([]) + locked([]), locked([])]

# ------------------------------------------------------------------------------ `RwLock`

# How many read, whether one more reads that may become the writer, and whether there is a writer. One that waits for readers to go is a writer already: new readers
# wait for it, but those that come beside others and read recursively.
UPGRADABLE = 10
WRITER = 100
COUNTS = range(4)
STATES = [readers + other for readers in COUNTS for other in (0, UPGRADABLE, WRITER)]

READS = {state: state + 1 for state in STATES if state < WRITER}
READS_RECURSIVELY = {state: state + 1 for state in STATES if state != WRITER}
READS_UPGRADABLY = {readers: readers + UPGRADABLE for readers in COUNTS}

READ = wait("l", READS, "acq")
READ_RECURSIVELY = wait("l", READS_RECURSIVELY, "acq")
READ_END = add("l", -1, "rel")
READ_UPGRADABLY = wait("l", READS_UPGRADABLY, "acq")
UPGRADABLE_END = add("l", -UPGRADABLE, "rel")

ALONE = wait("l", {WRITER: WRITER}, "acq")
CLAIM = wait("l", {readers: readers + WRITER for readers in COUNTS}, "acq", "c")
WRITE = CLAIM + when_any("c", COUNTS[1:], ALONE)
WRITE_END = add("l", -WRITER, "rel")
BESIDE_READERS = [UPGRADABLE + readers for readers in COUNTS[1:]]


def claims_upgrade(ord):
    return add("l", WRITER - UPGRADABLE, ord, "c")


def upgrades(ord):
    return claims_upgrade(ord) + when_any("c", BESIDE_READERS, ALONE)


UPGRADE = upgrades("acq")

# The same where nobody can tell that a writer waits, and both steps are one: no reader comes while another reads, other than recursively; nobody asks for a writer;
# and where the time of one that wants to write can be over while somebody reads, no other thread tries to have the lock without waiting, or asks whether it is free.
WRITE_AT_ONCE = wait("l", {0: WRITER}, "acq")
UPGRADE_AT_ONCE = wait("l", {UPGRADABLE: WRITER}, "acq")

DOWNGRADE = add("l", 1 - WRITER, "rel")
DOWNGRADE_TO_UPGRADABLE = add("l", UPGRADABLE - WRITER, "rel")
DOWNGRADE_UPGRADABLE = add("l", 1 - UPGRADABLE, "rlx")

TRY_WRITE = cas("l", 0, WRITER, "w")
TRY_UPGRADE = cas("l", UPGRADABLE, WRITER, "w", "rlx")

READER = READ + READ_END
RECURSIVE_READER = READ_RECURSIVELY + READ_END
UPGRADABLE_READER = READ_UPGRADABLY + UPGRADABLE_END
WRITES = WRITE + WRITE_END
WRITES_AT_ONCE = WRITE_AT_ONCE + WRITE_END


def attempt(takes, ops, found="a", tried=()):
    """Takes the lock in the state in which it is found, or finds it in another by then and tries that. If it has tried that one before, the thread is where
    it was then: such a round of a loop is never followed by another, for there is an execution without it."""
    now, rounds = found + "+", []
    for old in [state for state in takes if state not in tried]:
        taken = cas("l", old, takes[old], now) + when(now, old, ops)
        rounds += when(found, old, taken + when_any(now, tried, NEVER) + attempt(takes, ops, now, (*tried, old)))
    return rounds


def tries(takes, ops, beside=(0, 1, WRITER, WRITER + 1)):
    """The others make the states `beside`: if nothing is said, with at most one reader and a writer."""
    return load("l", "a") + attempt({state: takes[state] for state in beside if state in takes}, ops)


TRY_READ = tries(READS, READ_END)
TRY_READ_BESIDE_UPGRADABLE = tries(READS, READ_END, (0, UPGRADABLE))
TRY_READ_RECURSIVELY = tries(READS_RECURSIVELY, READ_END)
TRY_READ_UPGRADABLY = tries(READS_UPGRADABLY, UPGRADABLE_END)


def gives_up(claim, alone, back):
    """A writer whose time is over, after others have seen that it waits."""
    return claim + when("c", alone, NEVER) + add("l", -back, "rlx")


TRY_READ_FOR = timed(READER, tries(READS, NEVER))
TRY_READ_RECURSIVELY_FOR = timed(RECURSIVE_READER, tries(READS_RECURSIVELY, NEVER))
TRY_READ_UPGRADABLY_FOR = timed(UPGRADABLE_READER, tries(READS_UPGRADABLY, NEVER))
LOOKS_TO_WRITE = TRY_WRITE + when("w", 0, NEVER)
LOOKS_TO_UPGRADE = TRY_UPGRADE + when("w", UPGRADABLE, NEVER)
TRY_WRITE_FOR_AT_ONCE = timed(WRITES_AT_ONCE, LOOKS_TO_WRITE)


def timed_writer(writes, looks, seen):
    return choose(3, "t") + when("t", 0, writes) + when("t", 1, looks) + when("t", 2, seen)


TRY_WRITE_FOR = timed_writer(WRITES, LOOKS_TO_WRITE, gives_up(CLAIM, 0, WRITER))
TRY_UPGRADE_FOR = READ_UPGRADABLY + timed_writer(
    upgrades("rlx") + WRITE_END,
    LOOKS_TO_UPGRADE + UPGRADABLE_END,
    gives_up(claims_upgrade("rlx"), UPGRADABLE, WRITER - UPGRADABLE) + UPGRADABLE_END,
)
TRY_UPGRADES = READ_UPGRADABLY + TRY_UPGRADE + when("w", UPGRADABLE, WRITE_END) + when_any("w", BESIDE_READERS, UPGRADABLE_END)

RWLOCK = {
    "read": [READER, READER],
    "write": [WRITES_AT_ONCE, READER],
    "write of three": [WRITES_AT_ONCE, WRITES_AT_ONCE, READER],
    "write beside two readers": [WRITES, READER, READER],
    "read_recursive": [WRITES_AT_ONCE, READ + RECURSIVE_READER + READ_END],
    "read_recursive beside a reader": [WRITES, READ + RECURSIVE_READER + READ_END, READER],
    "try_read": [WRITES_AT_ONCE, TRY_READ],
    "try_read beside a reader": [WRITES, READER, TRY_READ],
    "try_read_recursive beside a reader": [WRITES, READER, TRY_READ_RECURSIVELY],
    "try_write": [READER, TRY_WRITE + when("w", 0, WRITE_END)],
    "is_locked": [WRITES_AT_ONCE, load("l", "a")],
    "is_locked_exclusive": [WRITES, READ + load("l", "a") + READ_END],
    "try_read_for": [WRITES_AT_ONCE, TRY_READ_FOR],
    "try_read_recursive_for": [WRITES_AT_ONCE, TRY_READ_RECURSIVELY_FOR],
    "try_write_for": [READER, TRY_WRITE_FOR_AT_ONCE],
    "try_write_for beside two readers": [TRY_WRITE_FOR, READER, READER],
    "try_write_for, and a try_read after a reader": [TRY_WRITE_FOR, READER + TRY_READ],
    "try_write_for, and a try_write after a reader": [TRY_WRITE_FOR, READER + TRY_WRITE + when("w", 0, WRITE_END)],
    "try_write_for, and is_locked after a reader": [TRY_WRITE_FOR, READER + load("l", "a")],
    "try_write_for of two, one after a reader": [TRY_WRITE_FOR, READER + TRY_WRITE_FOR],
    "upgradable_read": [UPGRADABLE_READER, UPGRADABLE_READER],
    "upgradable_read beside a reader": [UPGRADABLE_READER, READER],
    "try_upgradable_read": [READER, TRY_READ_UPGRADABLY],
    "try_upgradable_read of two": [UPGRADABLE_READER, TRY_READ_UPGRADABLY],
    "try_upgradable_read_for": [UPGRADABLE_READER, TRY_READ_UPGRADABLY_FOR],
}
GUARDS = {
    "RwLockReadGuard::bump": [WRITES_AT_ONCE, READER + READER],
    "RwLockWriteGuard::downgrade": [WRITE_AT_ONCE + DOWNGRADE + READ_END, WRITES_AT_ONCE],
    "RwLockWriteGuard::downgrade beside a reader": [WRITE + DOWNGRADE + READ_END, READER, WRITES],
    "RwLockWriteGuard::downgrade_to_upgradable": [WRITE_AT_ONCE + DOWNGRADE_TO_UPGRADABLE + UPGRADABLE_END, READER],
    "RwLockUpgradableReadGuard::upgrade": [READ_UPGRADABLY + UPGRADE_AT_ONCE + WRITE_END, READ_UPGRADABLY + UPGRADE_AT_ONCE + WRITE_END],
    "RwLockUpgradableReadGuard::upgrade beside a reader": [READ_UPGRADABLY + UPGRADE + WRITE_END, READER],
    "RwLockUpgradableReadGuard::upgrade beside two readers": [READ_UPGRADABLY + UPGRADE + WRITE_END, READER, READER],
    "RwLockUpgradableReadGuard::try_upgrade": [TRY_UPGRADES, READER],
    "RwLockUpgradableReadGuard::try_upgrade_for": [TRY_UPGRADE_FOR, READER],
    "RwLockUpgradableReadGuard::try_upgrade_for, and a try_read after a reader": [TRY_UPGRADE_FOR, READER + TRY_READ_BESIDE_UPGRADABLE],
    "RwLockUpgradableReadGuard::downgrade": [READ_UPGRADABLY + DOWNGRADE_UPGRADABLE + READ_END, WRITES_AT_ONCE],
}

# ------------------------------------------------------------------------------ `Condvar`

# A digit for each of two waiters: it is not there, waits, or waits and was notified.
PLACES = (1, 3)
WAITERS = range(9)


def waiter(state, place):
    return state // place % 3


def pending(state):
    return [place for place in PLACES if waiter(state, place) == 1]


def notified(state, preferred):
    """The one that is preferred is notified; if it has gone, the first."""
    places = pending(state)
    return state + (preferred if preferred in places else places[0]) if places else state


# It says with which mutex it waits, takes the first place that is free, and looks whether who waits already, and is not notified, does so with the same mutex.
PLACE = wait("c", {s: s + (3 if waiter(s, 1) else 1) for s in (0, 1, 2, 3, 6)}, "rlx", "q")
ENQUEUE = swap("mutex", 1, "acqrel") + PLACE + when_any("q", (1, 3), add("mutex", 0, "acqrel"))


def notifies(ops):
    """If it sees that somebody waits."""
    return load("c", "c") + when_any("c", [s for s in WAITERS if pending(s)], ops)


NOTIFY_ALL = notifies(wait("c", {s: s + sum(pending(s)) for s in WAITERS}, "rlx"))


def each_place(ops):
    """`ops` of the place that this thread has found."""
    return when_any("q", (0, 3, 6), ops(1)) + when_any("q", (1, 2), ops(3))


def sleep(place):
    return wait("c", {s: s - 2 * place for s in WAITERS if waiter(s, place) == 2}, "rlx")


def give_up(place):
    return wait("c", {s: s - waiter(s, place) * place for s in WAITERS if waiter(s, place)}, "rlx")


def notify_one():
    """One that waits alone is notified at once. Of two, one is chosen."""
    alone = {s: notified(s, 0) if len(pending(s)) == 1 else s for s in WAITERS}
    one = [when("k", n, wait("c", {s: notified(s, place) for s in WAITERS}, "rlx")) for n, place in enumerate(PLACES)]
    return notifies(wait("c", alone, "rlx", "p") + when("p", 4, choose(2, "k") + sum(one, [])))


SLEEP = each_place(sleep)
SLEEP_FOR = each_place(lambda place: timed(sleep(place), give_up(place)))
READY = locked(store("f", 1))


def waits(sleeps):
    """Waits once if the flag is not set."""
    return LOCK + load("f", "f") + when("f", 0, ENQUEUE + unlock() + sleeps + LOCK) + unlock()


CONDVAR = {
    "wait": [READY + notify_one(), waits(SLEEP)],
    "wait of two, notify_all": [READY + NOTIFY_ALL, waits(SLEEP), waits(SLEEP)],
    "wait of two, notify_one": [READY + notify_one() + notify_one(), waits(SLEEP), waits(SLEEP)],
    "wait_for": [READY + notify_one(), waits(SLEEP_FOR)],
    "wait_for of one of two": [READY + notify_one() + notify_one(), waits(SLEEP), waits(SLEEP_FOR)],
    "wait_while_for": [READY + NOTIFY_ALL, waits(SLEEP_FOR)],
}

# ------------------------------------------------------------------------------ `Once`

STATE = load("o", "a", "acq")
POISONED = 3


def call_once(end=2, forced=False):
    """1 is at it, 2 is done, 3 is a panic of who was at it. `call_once` panics after that; `call_once_force` tries again."""
    run = swap("o", end, "rel")
    again = cas("o", POISONED, 1, "p") + when("p", POISONED, run) if forced else []
    claim = wait("o", {0: 1, 2: 2, POISONED: POISONED}, "acq", "b") + when("b", 0, run) + when("b", POISONED, again)
    return STATE + when_any("a", (0, 1, POISONED), claim)


ONCE = {
    "call_once": [call_once(), call_once()],
    "call_once of three": [call_once(), call_once(), call_once()],
    "call_once_force": [call_once(POISONED), call_once(forced=True)],
    "state": [call_once(), STATE],
}


def of(type, cases):
    return {f"parking_lot::{type}::{name}": threads for name, threads in cases.items()}


CASES = {
    **of("Mutex", MUTEX),
    **of("MutexGuard", {"bump": UNLOCKED, "unlocked": UNLOCKED}),
    # Which waiter is next is open, so a fair unlock is an unlock.
    **of("FairMutex", MUTEX),
    # Its holder locks it again without an event.
    **of("ReentrantMutex", MUTEX | {"lock again": MUTEX["lock"]}),
    **of("RwLock", RWLOCK),
    **{f"parking_lot::{name}": threads for name, threads in GUARDS.items()},
    **of("Condvar", CONDVAR),
    **of("Once", ONCE),
}
