"""What `mc::future` does, in the specification's operations; see `shims.py`.

Of a future, what it does in a poll is written, and how it is known that it has not ended. Here it is ready when a flag is set.
"""

from shim_operations import add, choose, drop_arc, load, locked, store, swap, wait, when

# ------------------------------------------------------------------------------ `AtomicWaker`: a mutex around the waker, 1 if there is one


def register(n=""):
    return locked(store("w" + n, 1), "m" + n)


def wake(wakes, n=""):
    return locked(load("w" + n, "w") + store("w" + n, 0), "m" + n) + when("w", 1, wakes)


# A waker that counts how often it was used.
COUNT = add("x", 1, "rlx")

# ------------------------------------------------------------------------------ `block_on`

# The waker of `block_on` gives a signal, which its wait takes.
SIGNAL = swap("t", 1, "rel")
WAIT = wait("t", {1: 0}, "acq")


def block_on(poll, pending, waits, may_poll=True):
    """Polls, and waits while the future is pending; once it may poll without that. No case here waits oftener than `waits` times."""
    again = block_on(poll, pending, waits - 1, may_poll) if waits else []
    if not may_poll:
        return poll + pending(WAIT + again)
    polls = block_on(poll, pending, waits, False)
    return poll + pending(choose(2, "c") + when("c", 1, polls) + when("c", 0, WAIT + again))


def pending(ops):
    return when("r", 0, ops)


POLL = register() + load("f", "r", "acq")
SET = store("f", 1, "rel") + wake(SIGNAL)

# Ready when both threads have counted.
COUNT_TO_TWO = register() + load("f", "r", "acq")
COUNTED = add("f", 1, "rel") + wake(SIGNAL)


def before_two(ops):
    """After `ops` both have."""
    return when("r", 0, ops) + when("r", 1, ops)


# `y` is how often it was polled.
WAKES_ITSELF = SIGNAL + add("y", 1, "rlx", "r")

# ------------------------------------------------------------------------------ `join`: each of its futures has a waker of its own, and is polled if it was used

# 0 is due, for it is at first.
DUE = [store("d" + n, 0, "rel") + SIGNAL for n in "12"]


def poll_part(n):
    """`r1`, `r2`: it has ended."""
    poll = register(n) + load("f" + n, "r" + n, "acq")
    return when("r" + n, 0, swap("d" + n, 1, "acq", "u") + when("u", 0, poll))


def pending_parts(ops):
    return when("r1", 0, ops) + when("r1", 1, when("r2", 0, ops))


SET_BOTH = [store("f" + n, 1, "rel") + wake(due, n) for n, due in zip("12", DUE)]
JOIN = [sum(SET_BOTH, []), block_on(poll_part("1") + poll_part("2"), pending_parts, 2)]

# ------------------------------------------------------------------------------ `waker`: the counts are those of an `Arc`

# Two wakers of a task whose end is seen.
CLONE = add("s", 1, "rlx")
DROP = drop_arc(2, COUNT)

CASES = {
    "future::AtomicWaker::wake": [register(), wake(COUNT)],
    "future::AtomicWaker::wake of two": [register(), wake(COUNT), wake(COUNT)],
    "future::AtomicWaker::register again": [register() + register(), wake(COUNT)],
    "future::block_on": [SET, block_on(POLL, pending, 1)],
    "future::block_on, woken by itself": [block_on(WAKES_ITSELF, pending, 1)],
    "future::block_on, woken by two": [COUNTED, COUNTED, block_on(COUNT_TO_TWO, before_two, 2)],
    "future::join": JOIN,
    "future::join_all": JOIN,
    "future::waker, dropped": [DROP, DROP],
    "future::waker, cloned": [CLONE + DROP + DROP, DROP],
    "future::waker, woken": [COUNT + DROP, DROP],
    "future::waker, woken by reference": [CLONE + COUNT + DROP + DROP, DROP],
}
