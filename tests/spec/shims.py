"""What each shim does, in the specification's operations, and how many executions small cases of it have: shims.json.

    python3 shims.py check    explores every case again and compares with the file
    python3 shims.py write    makes the file anew

`tests/src/shims.rs` has the same cases in std's types. Adds one operation to those of `exploration.py`:
    {"op": "wait_map", "loc": "o", "map": {0: 1, 2: 2}, "reg": "a", "ord": "acq"}     waits until the old value is one of these, then writes what stands beside it
so a location that it waits for is written by read-modify-writes only, as for `wait_add`. Plain memory and the counts of an `Arc` that nobody asks for are no
events. Locations start at 0: a count of owners is written as what it is more than at first.
"""

import json
import os
import sys

import exploration

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shims.json")
MODELS = ("sc", "rc20")

plain_result, plain_wait = exploration.rmw_result, exploration.must_wait
exploration.rmw_result = lambda op, old: op["map"].get(old) if op["op"] == "wait_map" else plain_result(op, old)
exploration.must_wait = lambda op, old: old not in op["map"] if op["op"] == "wait_map" else plain_wait(op, old)


def load(loc, reg, ord="rlx"):
    return [{"op": "load", "loc": loc, "reg": reg, "ord": ord}]


def store(loc, val, ord="rlx"):
    return [{"op": "store", "loc": loc, "val": val, "ord": ord}]


def add(loc, val, ord, reg=None):
    return [{"op": "fadd", "loc": loc, "val": val, "reg": reg, "ord": ord}]


def swap(loc, val, ord):
    return [{"op": "xchg", "loc": loc, "val": val, "ord": ord}]


def cas(loc, expected, val, reg, ord="acq", fail_ord="rlx"):
    return [{"op": "cas", "loc": loc, "expected": expected, "val": val, "reg": reg, "ord": ord, "fail_ord": fail_ord}]


def wait(loc, map, ord, reg=None):
    return [{"op": "wait_map", "loc": loc, "map": map, "reg": reg, "ord": ord}]


def fence(ord):
    return [{"op": "fence", "ord": ord}]


def choose(n, reg):
    return [{"op": "choose", "n": n, "reg": reg}]


def when(reg, val, ops):
    return [{"op": "if", "reg": reg, "val": val, "n": len(ops)}] + ops


# ------------------------------------------------------------------------------ the shims


def locked(ops, loc="m"):
    """`Mutex::lock`, and the end of its guard."""
    return [{"op": "lock", "loc": loc, "ord": "acq"}] + ops + unlock(loc)


def unlock(loc="m"):
    return [{"op": "unlock", "loc": loc, "ord": "rel"}]


# `RwLock`: how many read, or that one writes.
WRITER = 100
READ = wait("l", {n: n + 1 for n in range(4)}, "acq")
READ_END = add("l", -1, "rel")
WRITE = wait("l", {0: WRITER}, "acq")
WRITE_END = add("l", -WRITER, "rel")
DOWNGRADE = add("l", 1 - WRITER, "rel")


def once(ops=()):
    """`Once::call_once`: 1 is at it, 2 is done. `OnceLock` and `LazyLock` are made of it."""
    call = wait("o", {0: 1, 2: 2}, "acq", "b") + when("b", 0, list(ops) + swap("o", 2, "rel"))
    return load("o", "a", "acq") + when("a", 0, call) + when("a", 1, call)


DONE = wait("o", {2: 2}, "acq")


def barrier(places):
    """`Barrier::wait`, where the leader is asked for: arrivals, and then the next generation, which whoever was not the last only reads."""
    gone = [{"op": "await", "loc": "b", "val": 100, "ord": "acq"}]
    ends = [when("a", n, gone) for n in range(places - 1)]
    return add("b", 1, "acqrel", "a") + when("a", places - 1, add("b", 100 - places, "acqrel")) + sum(ends, [])


# `Condvar` with one waiter: 1 is there, 3 is there and was notified.
ENQUEUE = wait("c", {0: 1}, "acqrel")
SLEEP = wait("c", {3: 0}, "acqrel")
GIVE_UP = wait("c", {1: 0, 3: 0}, "acqrel")
NOTIFY = wait("c", {0: 0, 1: 3, 3: 3}, "acqrel")
LOCK = [{"op": "lock", "loc": "m", "ord": "acq"}]
READY = locked(store("f", 1))


def waits(sleep):
    """Waits once if the flag is not set."""
    return LOCK + load("f", "f") + when("f", 0, ENQUEUE + unlock() + sleep + LOCK) + unlock()


def link(messages):
    """Says that the message is there; `a` is how many came before."""
    return sum((when("a", n, add(f"n{n}", 1, "rel")) for n in range(messages)), [])


def receive(n, more=()):
    """The n-th message of a channel."""
    return wait(f"n{n}", {1: 1}, "acq") + list(more)


def send(messages):
    """Into a channel that nobody waits for room in."""
    return add("w", 1, "rlx", "a") + link(messages)


# `sync_channel(1)`: how many messages more than there is room for at first.
MAKE_ROOM = add("w", 1, "rlx")


def send_bounded(n):
    """The n-th message of the only sender; there is room for one."""
    return wait("w", {0: -1}, "rlx") + add(f"n{n}", 1, "rel")


# `sync_channel(0)`: 1 if the receiver is here. A sender waits for it.
HERE = wait("w", {0: 1, 1: 1}, "acqrel")


def send_met(n):
    """The n-th message of the only sender."""
    return wait("w", {1: 0}, "acq") + add(f"n{n}", 1, "rel")


# One of two senders goes; the last says so in the place of the first message, which did not come.
DROP_SENDER = add("k", -1, "acqrel", "d") + when("d", -1, add("w", 1, "rlx") + add("n0", 1, "rlx"))

UNPARK = wait("t", {0: 1, 1: 1}, "rel")
PARK = wait("t", {1: 0}, "acq")


def drop_arc(owners):
    """An `Arc` of which there were so many at first."""
    return add("s", -1, "rel", "d") + when("d", 1 - owners, fence("acq"))


TRY_UNWRAP = cas("s", -1, -2, "a", "rlx") + when("a", -1, fence("acq")) + when("a", 0, drop_arc(2))
UPGRADE = load("s", "u") + when("u", 0, cas("s", 0, 1, "v") + when("v", 0, drop_arc(1)))

CASES = {
    "Mutex::lock": [locked([]), locked([])],
    "Mutex::lock twice": [locked([]) + locked([]), locked([])],
    "Mutex::try_lock": [locked([]), cas("m", 0, 1, "a") + when("a", 0, unlock())],
    "RwLock::read": [READ + READ_END, READ + READ_END],
    "RwLock::write": [WRITE + WRITE_END, READ + READ_END],
    "RwLock::write of three": [WRITE + WRITE_END, WRITE + WRITE_END, READ + READ_END],
    "RwLock::try_read": [WRITE + WRITE_END, load("l", "a") + when("a", 0, cas("l", 0, 1, "b") + when("b", 0, READ_END))],
    "RwLock::try_write": [READ + READ_END, cas("l", 0, WRITER, "a") + when("a", 0, WRITE_END)],
    "RwLockWriteGuard::downgrade": [WRITE + DOWNGRADE + READ_END, WRITE + WRITE_END],
    "Once::call_once": [once(), once()],
    "Once::call_once of three": [once(), once(), once()],
    "Once::is_completed": [once(), load("o", "a", "acq")],
    "Once::wait": [once(), load("o", "a", "acq") + when("a", 0, DONE) + when("a", 1, DONE)],
    "OnceLock::get_or_init": [once(), once()],
    "LazyLock::force": [once(), once()],
    "Barrier::wait": [barrier(2), barrier(2)],
    "Barrier::wait of three": [barrier(3), barrier(3), barrier(3)],
    "Condvar::wait": [READY + NOTIFY, waits(SLEEP)],
    "Condvar::wait_timeout": [READY + NOTIFY, waits(choose(2, "t") + when("t", 0, SLEEP) + when("t", 1, GIVE_UP))],
    "mpsc::channel": [send(2), send(2), receive(0) + receive(1)],
    "mpsc::channel, two each": [send(4) + send(4), send(4) + send(4), sum(map(receive, range(4)), [])],
    "mpsc::sync_channel": [send_bounded(0) + send_bounded(1), receive(0, MAKE_ROOM) + receive(1, MAKE_ROOM)],
    "mpsc::sync_channel without room": [HERE + receive(0) + HERE + receive(1), send_met(0) + send_met(1)],
    "mpsc::Sender of two, dropped": [DROP_SENDER, DROP_SENDER, receive(0)],
    "thread::park": [UNPARK, PARK],
    "thread::park, two tokens": [UNPARK, UNPARK, PARK],
    "thread::park_timeout": [UNPARK, choose(2, "a") + when("a", 0, PARK) + when("a", 1, wait("t", {0: 0, 1: 0}, "acq"))],
    "JoinHandle::is_finished": [store("d", 1, "rel"), load("d", "a")],
    "Arc::strong_count": [drop_arc(2), load("s", "a") + drop_arc(2)],
    "Arc::into_inner": [drop_arc(2), drop_arc(2)],
    "Arc::try_unwrap": [TRY_UNWRAP, TRY_UNWRAP],
    "Weak::upgrade": [drop_arc(1), UPGRADE],
    "thread_local, Cell, Instant": [[], []],
}


def counts(name):
    """An execution in which a read waits for ever for what comes is one of the specification only (`awaits.py`)."""
    awaits = any(op["op"] == "await" for thread in CASES[name] for op in thread)
    results = {model: exploration.explore(CASES[name], model) for model in MODELS}
    assert not any(result.duplicates for result in results.values()), name
    return {model: {"complete": result.complete, "blocked": 0 if awaits else result.blocked} for model, result in results.items()}


def text():
    lines = [f"  {json.dumps(name)}: {json.dumps(counts(name))}" for name in CASES]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    if sys.argv[1:] == ["write"]:
        with open(FILE, "w") as file:
            file.write(text())
        return 0
    if sys.argv[1:] == ["check"]:
        with open(FILE) as file:
            wrong = file.read() != text()
        print("shims.json is not what the specification says: write it anew" if wrong else f"{len(CASES)} cases")
        return int(wrong)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
