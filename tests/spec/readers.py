"""Executable specification of the readers' reduction, its check, and the programs that the engine is compared on.

    python3 readers.py check [seconds] [seed]      against the graphs of exploration.py, as if the readers had no order
    python3 readers.py write COUNT [seed]          readers.jsonl, on standard output

A reader-writer lock m has five operations: rlock, runlock, wlock, wunlock, downgrade. In exploration.py they are read-modify-writes of one counter, each at its
place in modification order. Here only those of writers are. A generation begins with what frees the lock for readers (its first state, a wunlock, or a downgrade, whose
thread is a reader then):
- rlock and runlock read the beginning of their generation, and write nothing;
- a wlock reads the beginning of a generation too, and from the runlocks of all of its sections, as they come before it. It waits while a section has no end.
Nothing else orders sections: an rlock takes what it reads, and from those runlocks that are before it anyway, in (program order or reads-from)+.

An rlock of a generation that has been ended, and a wlock that comes before sections, have rivals, as two read-modify-writes of one write have. Such a graph is not explored itself,
but revisits the first of the rivals, which must wait again then.
"""
import importlib.util, itertools, json, os, random, sys, time

from litmus import columns, outcome

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("exploration", os.path.join(HERE, "exploration.py"))
plain = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plain)

INIT, MODELS = plain.INIT, ("sc", "rc20")
FREE, HELD, READ = 0, 1, 2  # what a writer's operation leaves: READ after a downgrade
WRITERS = {"wlock": HELD, "wunlock": FREE, "downgrade": READ}
SHARED = {"rlock": "S", "runlock": "V"}


class Event(plain.Event):
    """kind S: rlock, V: runlock; otherwise as there."""

    reads = property(lambda e: e.kind in "RUSV")

    def copy(self):
        e = Event(self.id, self.kind, self.op, self.rf, self.val)
        e.added_max = self.added_max
        return e


class Graph(plain.Graph):
    def restrict(self, keep):
        g = Graph(len(self.thread))
        g.thread = [[e.copy() for e in t if e.id in keep] for t in self.thread]
        g.mo = {loc: [w for w in ws if w in keep] for loc, ws in self.mo.items()}
        g.order = [e for e in self.order if e in keep]
        g.settled = self.settled & keep
        return g

    def free(self, w):
        return self.value(w) != HELD

    def sections(self, loc, start):
        """The sections of a generation: rlock (or downgrade) -> runlock, None as long as it has none. Those of one thread are nested."""
        found = {}
        for t, events in enumerate(self.thread):
            open_ = [start] if start != INIT and start[0] == t and self.get(start).op["op"] == "downgrade" else []
            found.update((s, None) for s in open_)
            for e in events:
                if e.loc == loc and e.rf == start and e.kind == "S":
                    found[e.id] = None
                    open_.append(e.id)
                elif e.loc == loc and e.rf == start and e.kind == "V":
                    found[open_.pop()] = e.id
        return found

    def prefix(self, id):
        seen, todo = set(), [id]
        while todo:
            e = todo.pop()
            if e == INIT or e in seen:
                continue
            seen.add(e)
            if e[1] > 0:
                todo.append((e[0], e[1] - 1))
            if self.get(e).reads:
                todo.append(self.get(e).rf)
            if self.get(e).op["op"] == "wlock":
                todo += self.get(e).op["ends"]
        return seen


def consistent(g, model):
    """As exploration.consistent, without fences and SeqCst, and with what a wlock and an rlock read from runlocks."""
    ev = g.events()
    n, at = len(ev), {e.id: i for i, e in enumerate(ev)}
    none = lambda: [0] * n
    po, rf, mo, fr, sw = none(), none(), none(), none(), none()
    for t in g.thread:
        for a, e in enumerate(t):
            for f in t[a + 1 :]:
                po[at[e.id]] |= 1 << at[f.id]
    for ws in g.mo.values():
        for a, w in enumerate(ws):
            e = g.get(w)
            if e.kind == "U" and g.writes(e.loc)[a] != e.rf:
                return False
            for v in ws[a + 1 :]:
                mo[at[w]] |= 1 << at[v]
    for e in ev:
        if e.reads:
            if e.rf != INIT:
                rf[at[e.rf]] |= 1 << at[e.id]
            ws = g.writes(e.loc)
            for w in ws[ws.index(e.rf) + 1 :]:
                if w != e.id:
                    fr[at[e.id]] |= 1 << at[w]
        if e.op["op"] == "wlock":
            for start, end in g.sections(e.loc, e.rf).items():
                if end is None:
                    return False
                rf[at[end]] |= 1 << at[e.id]
                sw[at[end]] |= 1 << at[e.id]
    porf = plain.closure(plain.union(po, rf))
    if any(row >> i & 1 for i, row in enumerate(porf)):
        return False
    if model == "sc":
        return plain.acyclic(plain.union(po, rf, mo, fr))

    def heads(w):
        e = ev[w]
        return ([w] if e.ord in plain.RELEASE else []) + (heads(at[e.rf]) if e.kind == "U" and e.rf != INIT else [])

    for e in ev:
        if e.reads and e.rf != INIT and e.ord in plain.ACQUIRE:
            for h in heads(at[e.rf]):
                sw[h] |= 1 << at[e.id]
        if e.kind == "S":
            for f in ev:
                if f.kind == "V" and f.rf == e.rf and f.loc == e.loc and porf[at[f.id]] >> at[e.id] & 1:
                    sw[at[f.id]] |= 1 << at[e.id]
    hb, eco = plain.closure(plain.union(po, sw)), plain.closure(plain.union(rf, mo, fr))
    return not any(hb[i] >> i & 1 or eco[i] >> i & 1 or any(eco[j] >> i & 1 for j in plain.bits(hb[i])) for i in range(n))


def explore(program, model="rc20"):
    result = plain.Result()

    def must_wait(g, op):
        last = g.writes(op["loc"])[-1] if "loc" in op else None
        if op["op"] == "rlock":
            return not g.free(last)
        if op["op"] == "wlock":
            return not g.free(last) or None in g.sections(op["loc"], last).values()
        return False

    def visit(g):
        moves = [plain.next_op(program, g, t) for t in range(len(program))]
        for late in (False, True):
            for t, op in enumerate(moves):
                if op is not None and (op["op"] == "wlock") == late and not must_wait(g, op):
                    return extend(g, t, op)
        for t, op in enumerate(moves):
            if op is not None:
                lock(g, t, op, overtake=True)
        key = g.key()
        result.duplicates += key in result.graphs
        result.graphs.add(key)
        if any(op is not None for op in moves):
            result.blocked += 1
        else:
            result.complete += 1

    def extend(g, t, op):
        id, kind = (t, len(g.thread[t])), op["op"]
        if kind in ("rlock", "wlock"):
            lock(g, t, op)
        elif kind == "runlock" or kind in WRITERS:
            last = g.writes(op["loc"])[-1]
            e = Event(id, "V" if kind == "runlock" else "U", op, rf=last, val=WRITERS.get(kind))
            h = added(g, e)
            if e.kind == "U":
                h.mo[op["loc"]].append(id)
            assert consistent(h, model)
            visit(h)
        elif kind == "load":
            for w in g.writes(op["loc"]):
                h = added(g, Event(id, "R", op, rf=w))
                h.get(id).added_max = w == g.writes(op["loc"])[-1]
                if consistent(h, model):
                    visit(h)
        else:
            assert kind == "store"
            places = len(g.writes(op["loc"]))
            for p in range(places):
                h = added(g, Event(id, "W", op, val=op["val"]))
                h.mo.setdefault(op["loc"], []).insert(p, id)
                h.get(id).added_max = p == places - 1
                if consistent(h, model):
                    visit(h)
                    revisit(h, id)

    def added(g, e):
        h = g.copy()
        h.thread[e.id[0]].append(e)
        h.order.append(e.id)
        return h

    def lock(g, t, op, overtake=False):
        """Adds an rlock or wlock in every generation; the wlock after every set of sections that it could come after."""
        loc, id = op["loc"], (t, len(g.thread[t]))
        for i, start in enumerate(g.writes(loc)):
            if not g.free(start):
                continue
            next_ = g.writes(loc)[i + 1 :][:1]
            sections = g.sections(loc, start)
            if op["op"] == "rlock":
                sets = [None]
            else:
                ended = [s for s in sections if sections[s]]
                sets = itertools.chain(*(itertools.combinations(ended, k) for k in range(len(ended) + 1)))
            for some in sets:
                if some is None:
                    e, rivals = Event(id, "S", op, rf=start), list(next_)
                else:
                    e = Event(id, "U", {**op, "ends": [sections[s] for s in some]}, rf=start, val=HELD)
                    rivals = [s for s in sections if s not in some] + next_
                if any(r in g.settled for r in rivals):
                    continue
                h = added(g, e)
                if some is not None and set(rivals) & h.prefix(id):
                    continue  # another set is meant
                e = h.get(id)
                e.added_max = not rivals and not overtake
                if e.kind == "U":
                    h.mo.setdefault(loc, []).insert(i, id)
                if not rivals:
                    if not overtake and consistent(h, model):
                        visit(h)
                    continue
                first = min(rivals, key=h.order.index)
                if first not in h.prefix(id):
                    revisit(h, id, first)

    def revisit(g, w, rival=None):
        loc, prefix = g.get(w).loc, g.prefix(w)
        position = {e: i for i, e in enumerate(g.order)}
        for r in [rival] if rival else list(g.order):
            e = g.get(r)
            if not e.reads or e.loc != loc or r in prefix or r in g.settled:
                continue
            deleted = {x for x in g.order if position[x] > position[r] and x not in prefix}
            kept = set(g.order) - deleted
            if not all(as_if_unrevisited(g, x, w, kept, position) for x in deleted | {r}):
                continue
            mo = g.mo.get(loc, [])
            if g.get(w).kind == "W" and set(mo[mo.index(w) + 1 :][:1]) & deleted:
                continue
            h = g.restrict(kept - {r} if rival else kept)
            h.settled |= prefix
            if not rival:
                h.get(r).rf = w
                h.get(r).added_max = h.mo[loc][-1] == w
            if consistent(h, model):
                visit(h)

    def as_if_unrevisited(g, x, w, kept, position):
        e = g.get(x)
        if not e.added_max:
            return False
        ws = g.writes(e.loc)
        source = e.rf if e.reads else x
        if any(y in kept and y not in (w, x) for y in ws[ws.index(source) + 1 :]):
            return False
        return not (e.reads and e.rf != INIT and e.rf not in kept and position[e.rf] > position[x])

    visit(Graph(len(program)))
    return result


# ------------------------------------------------------------------------------ exploration.py, without the order of readers

COUNTER = {
    "rlock": {"op": "wait_add", "lo": 0, "hi": 99, "val": 1, "ord": "acq"},
    "runlock": {"op": "fadd", "val": -1, "ord": "rel"},
    "wlock": {"op": "wait_add", "lo": 0, "hi": 0, "val": 100, "ord": "acq"},
    "wunlock": {"op": "fadd", "val": -100, "ord": "rel"},
    "downgrade": {"op": "fadd", "val": -99, "ord": "rel"},
}


def as_counter(program):
    return [[{**COUNTER[op["op"]], "loc": op["loc"], "was": op["op"]} if op["op"] in COUNTER else op for op in t] for t in program]


def without_order(program, key):
    """The key that `explore` gives to the graph: readers and wlocks read the beginning of their generation."""
    threads, mo = key
    ops = {}
    for t, events in enumerate(threads):
        k = 0
        for i, e in enumerate(events):
            ops[(t, i)] = program[t][k]["op"]  # there is no `if`
            k += 1
    kind = {"rlock": "S", "runlock": "V"}
    start, after, value = {}, [], {}
    for loc, ws in mo:
        now = INIT
        for w in ws:
            if ops[w] in COUNTER:
                start[w] = now
                if ops[w] in WRITERS:
                    now = w
        ws = tuple(w for w in ws if ops[w] not in SHARED)
        after += [(loc, ws)] * bool(ws)
    new = lambda t, i, e: (
        (kind.get(ops[(t, i)], "U"), e[1], start[(t, i)], WRITERS.get(ops[(t, i)])) if (t, i) in start else e
    )
    return tuple(tuple(new(t, i, e) for i, e in enumerate(events)) for t, events in enumerate(threads)), tuple(sorted(after))


def random_program(r):
    shape = r.choice([[2, 2], [3, 2], [2, 2, 2], [4, 2], [1, 2, 2], [3, 3], [2, 1, 2, 1], [1, 1, 1, 1]])
    other = r.random() < 0.4
    program = []
    for size in shape:
        ops, held = [], []
        if other and r.random() < 0.7:
            ops += [{"op": "wlock", "loc": "n", "ord": "acq"}, {"op": "wunlock", "loc": "n", "ord": "rel"}]
        for i in range(size):
            what = r.choice(["shared", "exclusive", "shared", "data", "close"])
            if what == "shared" and held in ([], ["r"]):
                ops.append({"op": "rlock", "loc": "m", "ord": "acq"})
                held.append("r")
            elif what == "exclusive" and not held:
                ops.append({"op": "wlock", "loc": "m", "ord": "acq"})
                held.append("w")
            elif what == "close" and held:
                close = held.pop()
                if close == "w" and r.random() < 0.3:
                    ops.append({"op": "downgrade", "loc": "m", "ord": "rel"})
                    held.append("r")
                else:
                    ops.append({"op": {"r": "runlock", "w": "wunlock"}[close], "loc": "m", "ord": "rel"})
            elif r.random() < 0.5:
                ops.append({"op": "store", "loc": r.choice("xy"), "val": i + 1, "ord": r.choice(["rlx", "rel"])})
            else:
                ops.append({"op": "load", "loc": r.choice("xy"), "reg": f"r{i}", "ord": r.choice(["rlx", "acq"])})
        forgotten = r.random() < 0.05
        for close in [] if forgotten else reversed(held):
            ops.append({"op": {"r": "runlock", "w": "wunlock"}[close], "loc": "m", "ord": "rel"})
        program.append(ops)
    # The orders that exploration.py goes through grow with the factorial of these.
    return program if sum(op["op"] in COUNTER for t in program for op in t) <= 10 else random_program(r)


def locks(program):
    return {op["loc"] for t in program for op in t if op["op"] in COUNTER}


def check(seconds, seed):
    r, wrong, counts = random.Random(seed), 0, {}
    end = time.time() + seconds
    while time.time() < end:
        program = random_program(r)
        for model in MODELS:
            full = plain.explore(as_counter(program), model)
            expected = {without_order(program, key) for key in full.graphs}
            found = explore(program, model)
            n = counts.setdefault(model, [0, 0, 0, 0])
            n[:3] = n[0] + 1, n[1] + len(full.graphs), n[2] + len(expected)
            n[3] += found.duplicates
            twice = found.duplicates and len(locks(program)) < 2
            # Two sections each: the counter synchronises an end of one thread's with a beginning of the other's, whatever the order.
            pairs = sum(sum(op["op"] in ("rlock", "downgrade") for op in t) > 1 for t in program) > 1
            same = found.graphs == expected or (model == "rc20" and pairs and found.graphs > expected)
            if twice or not same:
                wrong += 1
                more, less = len(found.graphs - expected), len(expected - found.graphs)
                print("wrong:", model, json.dumps(program), len(expected), len(found.graphs), f"+{more} -{less}, {found.duplicates} twice")
    for model, (programs, graphs, classes, twice) in sorted(counts.items()):
        print(f"{model}: {programs} programs, {graphs} graphs, {classes} without the order of readers, {twice} of these twice")
    print(f"{wrong} wrong")


def expect(program, model, names):
    found = explore(program, model)
    assert not found.duplicates
    graphs = plain.explore(as_counter(program), model).graphs
    finals = {tuple(row) for row in (outcome(as_counter(program), key, names) for key in graphs) if row is not None}
    return {"complete": found.complete, "blocked": found.blocked, "finals": sorted(map(list, finals))}


def write(count, seed):
    """Programs with one lock, in which there are readers, and several executions."""
    while count:
        program = random_program(random.Random(f"readers {seed}"))
        if locks(program) == {"m"} and any(op["op"] == "rlock" for t in program for op in t):
            names = [name for name in columns(program) if name != "m"]
            entry = {"seed": seed, "family": "readers", "program": program, "columns": names}
            entry["expect"] = {m: expect(program, m, names) for m in MODELS}
            if entry["expect"]["sc"]["complete"] > 3:
                print(json.dumps(entry, separators=(",", ":")))
                count -= 1
        seed += 1


if __name__ == "__main__":
    what, arguments = sys.argv[1], list(map(int, sys.argv[2:]))
    if what == "check":
        check(*arguments, *[10, 1][len(arguments) :])
    elif what == "write":
        write(*arguments, *[100, 1][len(arguments) :])
