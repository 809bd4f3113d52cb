"""The language in which `shims.py` and its parts write what a shim does. Adds one operation to those of `exploration.py`:
    {"op": "wait_map", "loc": "o", "map": {0: 1, 2: 2}, "reg": "a", "ord": "acq"}     waits until the old value is one of these, then writes what stands beside it
so a location that it waits for is written by read-modify-writes only, as for `wait_add`. Plain memory and the counts of an `Arc` that nobody asks for are no
events. Locations start at 0: a count of owners is written as what it is more than at first.
"""

import exploration

plain_result, plain_wait = exploration.rmw_result, exploration.must_wait
exploration.rmw_result = lambda op, old: op["map"].get(old) if op["op"] == "wait_map" else plain_result(op, old)
exploration.must_wait = lambda op, old: old not in op["map"] if op["op"] == "wait_map" else plain_wait(op, old)


def load(loc, reg, ord="rlx"):
    return [{"op": "load", "loc": loc, "reg": reg, "ord": ord}]


def store(loc, val, ord="rlx"):
    return [{"op": "store", "loc": loc, "val": val, "ord": ord}]


def add(loc, val, ord, reg=None):
    return [{"op": "fadd", "loc": loc, "val": val, "reg": reg, "ord": ord}]


def swap(loc, val, ord, reg=None):
    return [{"op": "xchg", "loc": loc, "val": val, "reg": reg, "ord": ord}]


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


def when_any(reg, values, ops):
    """`ops` leave `reg` as it is."""
    return sum((when(reg, val, ops) for val in values), [])


# Waits for what never comes. An execution in which a thread is here is one that is given up.
NEVER = wait("never", {}, "rlx")

# ------------------------------------------------------------------------------ what several shims are made of

LOCK = [{"op": "lock", "loc": "m", "ord": "acq"}]


def unlock(loc="m"):
    return [{"op": "unlock", "loc": loc, "ord": "rel"}]


def locked(ops, loc="m"):
    """`Mutex::lock`, and the end of its guard."""
    return [{"op": "lock", "loc": loc, "ord": "acq"}] + ops + unlock(loc)


def drop_arc(owners, ops=()):
    """An `Arc` of which there were so many at first; `ops` are what its value does when it is dropped."""
    return add("s", -1, "rel", "d") + when("d", 1 - owners, fence("acq") + list(ops))
