"""What each shim does, in the specification's operations (`shim_operations.py`), and how many executions small cases of it have: shims.json.

    python3 shims.py check    explores every case again and compares with the file
    python3 shims.py write    makes the file anew

Std's are here, others in `shims_parking_lot.py` and `shims_future.py`. `tests/src/shims` has the same cases in the shims' types.
"""

import json
import os
import sys

import exploration
import shims_future
import shims_parking_lot
from shim_operations import LOCK, add, cas, choose, drop_arc, fence, load, locked, store, swap, unlock, wait, when

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shims.json")
MODELS = ("sc", "rc20")

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
ENQUEUE = wait("c", {0: 1}, "rlx")
SLEEP = wait("c", {3: 0}, "rlx")
GIVE_UP = wait("c", {1: 0, 3: 0}, "rlx")
NOTIFY = wait("c", {0: 0, 1: 3, 3: 3}, "rlx")
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


def make_room(n):
    """The n-th message of a `sync_channel(1)` was received: whoever takes its place comes after that."""
    return store(f"p{n}", 1, "rel")


def send_bounded(n):
    """The n-th message of the only sender; there is room for one. `w` is how many were sent."""
    place = wait(f"p{n - 1}", {1: 1}, "acq") if n > 0 else []
    return load("w", f"w{n}") + place + cas("w", n, n + 1, f"c{n}", "rlx") + add(f"n{n}", 1, "rel")


# `sync_channel(0)`: 1 if the receiver is here. A sender waits for it.
HERE = wait("w", {0: 1, 1: 1}, "acqrel")


def send_met(n):
    """The n-th message of the only sender."""
    return wait("w", {1: 0}, "acq") + add(f"n{n}", 1, "rel")


# One of two senders goes; the last says so in the place of the first message, which did not come.
DROP_SENDER = add("k", -1, "acqrel", "d") + when("d", -1, add("w", 1, "rlx") + add("n0", 1, "rlx"))

UNPARK = wait("t", {0: 1, 1: 1}, "rel")
PARK = wait("t", {1: 0}, "acq")


TRY_UNWRAP = cas("s", -1, -2, "a", "rlx") + when("a", -1, fence("acq")) + when("a", 0, drop_arc(2))
UPGRADE = load("s", "u") + when("u", 0, cas("s", 0, 1, "v") + when("v", 0, drop_arc(1)))

STD = {
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
    "mpsc::sync_channel": [send_bounded(0) + send_bounded(1), receive(0, make_room(0)) + receive(1, make_room(1))],
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
CASES = STD | shims_parking_lot.CASES | shims_future.CASES


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
