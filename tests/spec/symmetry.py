"""Executable specification of the symmetry reduction, its check, and the programs that the engine is compared on.

    python3 symmetry.py check [seconds] [seed]      against the orbits of the graphs of exploration.py
    python3 symmetry.py write COUNT [seed]          symmetric.jsonl, on standard output

The exploration is that of exploration.py, with three changes, for threads that have the same operations. Each but the first has a twin, the one before it.
- An event is only added after the twin's at the same index, and depends on it as if that were before it in program order, as long as both threads did the same.
- At the first event in which they differ, the twin's reads, or is placed, earlier in modification order; of a choice it takes the higher value.
- Nothing else: the rest follows from `prefix` and `consistent`.
"""
import importlib.util, itertools, json, os, random, sys, time

from litmus import columns, outcome

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ("sc", "rc20")


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, "exploration.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


whole, orbits = load("exploration_of_all"), load("exploration_of_orbits")
INIT = whole.INIT
consistent, next_op = orbits.consistent, orbits.next_op
TWIN = {}  # of the program that is explored: thread -> its twin


def classes(program):
    """Threads with the same operations."""
    groups = {}
    for t, ops in enumerate(program):
        groups.setdefault(repr(ops), []).append(t)
    return list(groups.values())


def same(a, b):
    """Did two events at the same index of two threads that did the same before do the same?"""
    return a.kind == b.kind and a.kind not in "WU" and a.rf == b.rf and a.val == b.val


def as_twin(g, t, k):
    """Did thread t do the same as its twin in its first k events?"""
    p = TWIN.get(t)
    return p is not None and len(g.thread[p]) >= k and all(map(same, g.thread[p][:k], g.thread[t][:k]))


def prefix(g, id):
    seen, todo = set(), [id]
    while todo:
        e = todo.pop()
        if e == INIT or e in seen:
            continue
        seen.add(e)
        if e[1] > 0:
            todo.append((e[0], e[1] - 1))
        if g.get(e).reads:
            todo.append(g.get(e).rf)
        if as_twin(g, *e):
            todo.append((TWIN[e[0]], e[1]))
    return seen


def twins_come_first(g):
    for t, p in TWIN.items():
        differ = (k for k, (a, b) in enumerate(zip(g.thread[p], g.thread[t])) if not same(a, b))
        k = next(differ, None)
        if k is None:
            assert len(g.thread[t]) <= len(g.thread[p])
            continue
        a, b = g.thread[p][k], g.thread[t][k]
        if a.kind != "C":  # of choices, `next_op` leaves out the others
            place = lambda e: g.writes(e.loc).index(e.rf if e.reads else e.id)
            if place(a) > place(b):
                return False
    return True


def next_after_twin(program, g, t):
    k, p = len(g.thread[t]), TWIN.get(t)
    op = next_op(program, g, t)
    if op is None or not as_twin(g, t, k):
        return op
    if len(g.thread[p]) == k:
        return None  # the twin first
    return {**op, "n": g.thread[p][k].val + 1} if op["op"] == "choose" else op


orbits.Graph.prefix = prefix
orbits.consistent = lambda g, model: twins_come_first(g) and consistent(g, model)
orbits.next_op = next_after_twin


def explore(program, model):
    TWIN.clear()
    for group in classes(program):
        TWIN.update(zip(group[1:], group))
    return orbits.explore(program, model)


# ------------------------------------------------------------------------------ orbits by brute force


def renamings(program):
    groups = classes(program)
    for images in itertools.product(*(itertools.permutations(group) for group in groups)):
        name = {}
        for group, image in zip(groups, images):
            name.update(zip(group, image))
        yield name


def renamed(key, name):
    threads, mo = key
    new = lambda e: e if e is None or e == INIT else (name[e[0]], e[1])
    order = sorted(range(len(threads)), key=lambda t: name[t])
    events = tuple(tuple((kind, loc, new(rf), val) for kind, loc, rf, val in threads[t]) for t in order)
    return events, tuple(sorted((loc, tuple(map(new, ws))) for loc, ws in mo))


def orbit(key, names):
    return min(repr(renamed(key, name)) for name in names)


def is_cyclic(key):
    """Has (program order, reads-from or modification order) a cycle?"""
    threads, mo = key
    after = {}
    for t, events in enumerate(threads):
        for i, (_, _, rf, _) in enumerate(events):
            after.setdefault((t, i), []).append((t, i + 1) if i + 1 < len(events) else None)
            if rf not in (None, INIT):
                after.setdefault(rf, []).append((t, i))
    for _, ws in mo:
        for a, b in zip(ws, ws[1:]):
            after.setdefault(a, []).append(b)
    state = {None: 2}

    def visit(e):
        state[e] = 1
        found = any(state.get(f) == 1 or (f not in state and visit(f)) for f in after.get(e, ()))
        state[e] = 2
        return found

    return any(e not in state and visit(e) for e in list(after))


# ------------------------------------------------------------------------------ random programs


def random_op(r, i, family):
    loc, kind = r.choice("xy"), r.random()
    if family == "guards" and kind < 0.5:
        if kind < 0.3:
            return {"op": "lock", "loc": "m", "ord": "acq"}
        hi, add = r.choice([0, 1, 2]), r.choice([1, -1])
        return {"op": "wait_add", "loc": "s", "lo": 0, "hi": hi, "val": add, "reg": f"a{i}", "ord": "acqrel"}
    if family == "awaits" and kind < 0.3:
        return {"op": "await", "loc": loc, "val": r.choice([0, 1, 2]), "reg": f"a{i}", "ord": r.choice(["rlx", "acq", "sc"])}
    kind = r.random()
    before = f"a{i - 1}"
    if kind < 0.35:
        return {"op": "load", "loc": loc, "reg": f"a{i}", "ord": r.choice(["rlx", "acq", "sc"])}
    if kind < 0.65:
        return {"op": "store", "loc": loc, "val": r.choice([1, 2, before] if i else [1, 2]), "ord": r.choice(["rlx", "rel", "sc"])}
    if kind < 0.75:
        return {"op": r.choice(["fadd", "xchg"]), "loc": loc, "val": 1, "reg": f"a{i}", "ord": r.choice(["rlx", "acqrel", "sc"])}
    if kind < 0.85:
        return {"op": "cas", "loc": loc, "expected": r.choice([0, 1]), "val": 2, "reg": f"a{i}", "ord": "acqrel", "fail_ord": "rlx"}
    if kind < 0.9:
        return {"op": "choose", "n": 2, "reg": f"a{i}"}
    if kind < 0.95 or not i:
        return {"op": "fence", "ord": r.choice(["sc", "acq", "rel"])}
    return {"op": "if", "reg": before, "val": r.choice([0, 1]), "n": 1}


def random_thread(r, size, family):
    ops, held = [], False
    for op in (random_op(r, i, family) for i in range(size)):
        if op["op"] == "lock" and held:
            ops.append({"op": "unlock", "loc": "m", "ord": "rel"})
        held |= op["op"] == "lock"
        if held and op["op"] == "if":
            continue  # what it skips could be the end of the critical section
        ops.append(op)
    return ops + [{"op": "unlock", "loc": "m", "ord": "rel"}] * held


def random_program(r):
    family = r.choice(["atomics", "guards", "awaits"])
    shape = r.choice([[2], [2, 1], [3], [1, 2], [2, 2], [1, 3], [2, 1, 1], [1, 2, 1]])
    longest = {2: 4, 3: 3, 4: 2}[sum(shape)]
    program = []
    for copies in shape:
        thread = random_thread(r, r.randint(1, longest), family)
        if family == "guards" and any(op["op"] == "if" for op in thread):
            thread = [op for op in thread if op["op"] != "if"]
        program += [thread] * copies
    if r.random() < 0.3:
        r.shuffle(program)
    return family, program


# ------------------------------------------------------------------------------ check and write


def check(seconds, seed):
    r, wrong, counts = random.Random(seed), 0, {}
    end = time.time() + seconds
    while time.time() < end:
        family, program = random_program(r)
        for model in MODELS:
            full = whole.explore(program, model)
            names = list(renamings(program))
            expected = {orbit(key, names) for key in full.graphs}
            cyclic = any(map(is_cyclic, full.graphs))
            found = explore(program, model)
            got = [orbit(key, names) for key in found.graphs]
            n = counts.setdefault((family, model), [0, 0, 0, 0])
            n[:] = n[0] + 1, n[1] + len(full.graphs), n[2] + len(expected), n[3] + cyclic
            once = len(got) == len(set(got)) and not found.duplicates
            if not (once and set(got) <= expected and (cyclic or set(got) == expected)):
                wrong += 1
                print("wrong:", model, json.dumps(program), len(full.graphs), len(expected), len(got))
    for (family, model), (programs, graphs, orbits_, cyclic) in sorted(counts.items()):
        print(f"{family} {model}: {programs} programs ({cyclic} with a cycle), {graphs} graphs, {orbits_} orbits")
    print(f"{wrong} wrong")


def row(program, key, names):
    """The outcome, with the threads of each class sorted by what they have."""
    values = dict(zip(names, outcome(program, key, names) or ()))
    if not values and names:
        return None
    registers = lambda t: [n for n in names if n.startswith(f"{t}:")]
    for group in classes(program):
        for t, have in zip(group, sorted([values[n] for n in registers(t)] for t in group)):
            values.update(zip(registers(t), have))
    return [values[n] for n in names]


def expect(program, model, names):
    full = whole.explore(program, model)
    all_names = list(renamings(program))
    seen = {orbit(key, all_names): row(program, key, names) for key in full.graphs}
    finals = [r for r in seen.values() if r is not None]
    if not names:
        finals = []
        done = lambda key: outcome(program, key, names) is not None
        complete = len({orbit(key, all_names) for key in full.graphs if done(key)})
    else:
        complete = len(finals)
    rows = [list(x) for x in sorted(set(map(tuple, finals)))] if names else [[]] * (complete > 0)
    return {"complete": complete, "blocked": len(seen) - complete, "finals": rows}, full.complete


def write(count, seed):
    for seed in range(seed, seed + count):
        family, program = random_program(random.Random(f"symmetric {seed}"))
        names = columns(program)
        expected = {m: expect(program, m, names) for m in MODELS}
        entry = {"seed": seed, "family": f"symmetric {family}", "program": program, "columns": names}
        entry["expect"] = {m: e for m, (e, _) in expected.items()}
        entry["whole"] = {m: n for m, (_, n) in expected.items()}
        print(json.dumps(entry, separators=(",", ":")))


if __name__ == "__main__":
    what, arguments = sys.argv[1], list(map(int, sys.argv[2:]))
    if what == "check":
        check(*arguments, *[10, 1][len(arguments) :])
    elif what == "write":
        write(*arguments, *[1][len(arguments) - 1 :])
    else:
        sys.exit(__doc__)
