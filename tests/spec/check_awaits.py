"""Checks awaits.py against brute force, and against exploration.py.

    python3 check_awaits.py [seconds per check] [seed]
    python3 check_awaits.py counts         executions of each rule for some ways to wait

Of each program all consistent graphs are made, by adding the events of all threads in every order, in every way that the axioms
allow (`everything`): the complete graphs and the livelocks. An exploration must find just these, each once. Where exploration.py
knows the operations, its complete graphs, and what its fair blocked graphs are without their stuck reads, must be these too.
"""
import json, os, random, sys, time

import exploration
from awaits import *
from awaits import explore
from litmus import parse, threads, ticket

RULES = ("plain", "any", "late", "tested", "calm", "guarded", "engine")
HERE = os.path.dirname(os.path.abspath(__file__))


def everything(program, model):
    """(complete graphs, livelocks)"""
    complete, livelocks, seen, todo = set(), set(), set(), [Graph(len(program))]
    while todo:
        g = todo.pop()
        ops = [(t, op) for t in range(len(program)) if (op := exploration.next_op(program, g, t)) is not None]
        if all(held_up(g, op) for _, op in ops):
            (livelocks if ops else complete).add(g.key())
        for t, op in ops:
            for h in extensions(g, (t, len(g.thread[t])), op):
                if h.key() not in seen and consistent(h, model):
                    seen.add(h.key())
                    todo.append(h)
    return complete, livelocks


def extensions(g, id, op):
    ws = g.writes(op["loc"]) if "loc" in op else []
    if op["op"] == "fence":
        new = [(Event(id, "F", op), None)]
    elif op["op"] == "choose":
        new = [(Event(id, "C", op, val=v), None) for v in range(op["n"])]
    elif op["op"] in ("store", "unlock"):
        new = [(Event(id, "W", op, val=op.get("val", 0)), p) for p in range(len(ws))]
    else:
        new = []
        for p, w in enumerate(ws):
            if satisfies(op, g.value(w)) and not exploration.must_wait(op, g.value(w)):
                val = None if op["op"] in ("load", "await") else rmw_result(op, g.value(w))
                new.append((Event(id, "R" if val is None else "U", op, rf=w, val=val), None if val is None else p))
    for e, place in new:
        h = g.copy()
        h.thread[id[0]].append(e)
        h.order.append(id)
        if place is not None:
            h.mo.setdefault(e.loc, []).insert(place, id)
        yield h


class Key(tuple):
    """A graph's key that remembers the graph."""


def specification(program, model):
    """What exploration.py finds: (complete graphs, livelocks, how many other blocked graphs)."""
    plain = Graph.key

    def key(g):
        k = Key(plain(g))
        k.graph = g
        return k

    Graph.key = key
    found = exploration.explore(program, model)
    Graph.key = plain
    assert not found.duplicates
    complete, livelocks = set(), set()
    for k in found.graphs:
        g = k.graph
        stuck = {e.id for e in g.events() if is_stuck(g, e)}
        if not stuck and not any(exploration.blocked(program, g, t) for t in range(len(program))):
            complete.add(plain(g))
        elif all(g.get(r).rf == g.writes(g.get(r).loc)[-1] for r in stuck):
            livelocks.add(plain(g.restrict(set(g.order) - stuck)))
    return complete, livelocks, len(found.graphs) - len(complete) - len(livelocks)


# ------------------------------------------------------------------------------ programs


def random_program(rng, sc, also=None):
    """Awaits, and unordered writes of few values to what they wait for. `also` makes other operations."""
    count, locs = rng.choice([2, 2, 3, 3, 4]), rng.choice(["x", "x", "xy"])
    order = lambda *o: rng.choice(o + ("sc",) * 2 if sc else o)
    program = []
    for t in range(count):
        ops = []
        for k in range(rng.randint(1, {2: 4, 3: 3, 4: 2}[count])):
            loc, reg, c = rng.choice(locs), f"r{k}", rng.random()
            value = rng.choice([0, 0, 1, 1, 1, 2])
            if k and rng.random() < 0.1:
                value = f"r{rng.randrange(k)}"
            if also and rng.random() < 0.4:
                ops += also(rng, t, k, order)
            elif c < 0.36:
                ops.append(dict(op="await", loc=loc, val=value, reg=reg, ord=order("rlx", "acq")))
            elif c < 0.70:
                ops.append(dict(op="store", loc=loc, val=value, ord=order("rlx", "rel")))
            elif c < 0.78:
                ops.append(dict(op="load", loc=loc, reg=reg, ord=order("rlx", "acq")))
            elif c < 0.85:
                ops.append(dict(op="fadd", loc=loc, val=1, reg=reg, ord=order("rlx", "acq", "rel", "acqrel")))
            elif c < 0.90:
                ops.append(dict(op="cas", loc=loc, expected=rng.choice([0, 1]), val=value, reg=reg, ord=order("rlx", "acqrel"), fail_ord=order("rlx", "acq")))
            elif c < 0.93:
                ops.append(dict(op="xchg", loc=loc, val=value, reg=reg, ord=order("rlx", "acqrel")))
            elif c < 0.97:
                ops.append(dict(op="fence", ord=order("acq", "rel", "acqrel")))
            elif k:
                ops.append(dict(op="if", reg=f"r{rng.randrange(k)}", val=rng.choice([0, 1]), n=1))
            else:
                ops.append(dict(op="choose", n=2, reg=reg))
        program.append(ops)
    return program


def guards(rng, t, k, order):
    c, lock = rng.random(), [dict(op="lock", loc="m", ord="acq")]
    if c < 0.3:
        return lock
    if c < 0.55:
        return [dict(op="fadd", loc="s", val=rng.choice([1, 1, -1]), ord=order("rlx", "acqrel"))]
    if c < 0.8:
        return [dict(op="wait_add", loc="s", lo=rng.choice([0, 1, 1]), hi=rng.choice([1, 9]), val=rng.choice([-1, 1]), reg=f"g{k}", ord=order("rlx", "acqrel"))]
    return lock + [dict(op="store", loc="x", val=rng.choice([0, 1]), ord="rlx"), dict(op="unlock", loc="m", ord="rel")]


def loops(rng, t, k, order):
    value = lambda: rng.choice([0, 0, 1])
    return [dict(op="cas", loop=True, loc="x", expected=value(), val=value(), reg=f"c{k}", ord=order("rlx", "acqrel"), fail_ord=order("rlx", "acq"))]


def random_spin_locks(rng):
    """Cas loops, mostly followed by a store to the same location, and who disturbs them."""
    sc, program = rng.random() < 0.3, []
    order = lambda *o: rng.choice(o + ("sc",) * 2 if sc else o)
    count, awaits = rng.choice([2, 2, 3, 3]), rng.random() < 0.4
    for t in range(count):
        ops = []
        while len(ops) < rng.randint(1, 3 if count == 3 else 4):
            c, k = rng.random(), len(ops)
            if awaits and rng.random() < 0.2:
                ops.append(dict(op="await", loc="x", val=rng.choice([0, 0, 1]), reg=f"a{k}", ord=order("rlx", "acq")))
            elif c < 0.55:
                ops.append(dict(op="cas", loop=True, loc="x", expected=rng.choice([0, 0, 0, 1]), val=rng.choice([1, 1, 0, 2]), reg=f"c{k}", ord=order("rlx", "acq", "acqrel"), fail_ord=order("rlx")))
                if rng.random() < 0.3:
                    ops.append(dict(op="load", loc="y", reg=f"l{k}", ord="rlx"))
                if rng.random() < 0.9:
                    ops.append(dict(op="store", loc="x", val=rng.choice([0, 0, 0, 1]), ord=order("rlx", "rel")))
            elif c < 0.65:
                ops.append(dict(op="load", loc="x", reg=f"l{k}", ord=order("rlx", "acq")))
            elif c < 0.72:
                ops.append(dict(op="fadd", loc="x", val=rng.choice([1, -1]), reg=f"l{k}", ord=order("rlx", "acqrel")))
            elif c < 0.79:
                ops.append(dict(op="cas", loc="x", expected=rng.choice([0, 1]), val=rng.choice([0, 1]), reg=f"l{k}", ord=order("rlx", "acqrel"), fail_ord="rlx"))
            elif c < 0.81:
                ops.append(dict(op="store", loc="x", val=rng.choice([0, 1]), ord=order("rlx", "rel")))
            elif c < 0.86:
                ops.append(dict(op="fence", ord=order("acq", "rel")))
            else:
                ops.append(dict(op="store", loc="y", val=rng.choice([1, 2]), ord=order("rlx", "rel")))
        program.append(ops[:5])
    return program


def unlocked(program):
    """Each thread unlocks what it holds, or keeps it: only a holder may unlock."""
    for ops in program:
        held, k = False, 0
        while k < len(ops):
            o = ops[k]
            if o["op"] == "if" and k + 1 < len(ops) and ops[k + 1]["op"] in ("lock", "unlock"):
                del ops[k]
                continue
            if o["op"] == "lock" and held:
                ops.insert(k, dict(op="unlock", loc="m", ord="rel"))
                o = ops[k]
            if o["op"] in ("lock", "unlock"):
                held = o["op"] == "lock"
            k += 1
    return program


FAMILIES = {
    "awaits": lambda rng: random_program(rng, False),
    "awaits, SeqCst": lambda rng: random_program(rng, True),
    "awaits, guards": lambda rng: unlocked(random_program(rng, rng.random() < 0.3, guards)),
    "awaits, cas loops": lambda rng: random_program(rng, rng.random() < 0.3, loops),
    "spin locks": lambda rng: random_spin_locks(rng),
}


def waits(program):
    return any(waits_for(op) is not None for ops in program for op in ops)


def compare(name, program, model, rules, sums):
    """How many of the explorations are wrong."""
    wrong, want = 0, everything(program, model)
    if not any(op.get("loop") for ops in program for op in ops):
        *spec, dropped = specification(program, model)
        sums["specification"][2] += dropped
        if tuple(spec) != want:
            wrong += 1
            print("WRONG", name, model, "exploration.py", program)
    for rule in rules:
        got = explore(program, model, rule)
        for i, n in enumerate((len(got.complete), len(got.livelocks), got.dropped)):
            sums[rule][i] += n
        sums[rule][4] += got.rule != rule
        if got.duplicates or (got.complete, got.livelocks) != want:
            wrong += 1
            sums[rule][3] += 1
            print("WRONG", name, model, rule, "want", *map(len, want), "got", len(got.complete), len(got.livelocks), "duplicates", got.duplicates, program)
    return wrong


# ------------------------------------------------------------------------------ counts


def ways_to_wait():
    for n in (2, 3, 4):
        yield f"ticket lock, {n} threads", ticket(n)
    for n in (2, 3, 4):
        yield f"flag, {n - 1} readers", threads(["x.store(1); f.store(1, rel)"] + ["w = f.await(1, acq); a = x.load()"] * (n - 1))
    for n in (2, 3):
        yield f"barrier, {n} threads", threads([f"p = c.add(1, acqrel); w = c.await({n}, acq)"] * n)
    for n in (2, 3, 4):
        yield f"{n} unordered writes, one awaited", threads([f"f.store({i})" for i in range(n)] + ["w = f.await(1)"])
    for o, r in (("acq", "rel"), ("sc", "sc")):
        side = lambda a, b: "; ".join([f"w = f.await({a}, {o}); f.store({b}, {r})"] * 2)
        yield f"ping-pong, twice, {o}", threads([side(0, 1), side(1, 0)])
        yield f"seqlock, reader waits, {o}", f"s.store(1, {r}); x.store(1, {r}); s.store(0, {r}) || w = s.await(0, {o}); p = x.load({o}); v = s.load({o})"
        for n in (2, 3):
            yield f"test and test-and-set, {n} threads, {o}", threads([f"w = l.await(0, {o}); a = l.cas(0, 1, {o}); if a == 0 {{ x.store(1); l.store(0, {r}) }}"] * n)
        for n in (2, 3):
            yield f"cas loop, {n} threads, {o}", threads([f"a = l.cas(0, 1, {o}); x.store(1); l.store(0, {r})"] * n)
    yield "Peterson, waits for the flag only", "f.store(1, sc); w = g.await(0, sc); x.store(1); f.store(0, sc) || g.store(1, sc); w = f.await(0, sc); x.store(2); g.store(0, sc)"
    lock = lambda me, other, turn: f"{me}.store(1, sc); t.store({turn}, sc); a = {other}.load(sc); if a == 1 {{ b = t.await({1 - turn}, sc) }}; x.store(1); {me}.store(0, sc)"
    yield "Peterson, waits for the turn", threads([lock("f", "g", 1), lock("g", "f", 0)])


def counts():
    for name, text in ways_to_wait():
        program = parse(text)
        for op in (op for ops in program for op in ops if name.startswith("cas loop") and op["op"] == "cas"):
            op["loop"] = True
        row = []
        for rule in ("plain", "late", "tested", "calm", "guarded", "engine"):
            r = explore(program, "rc20", rule)
            row.append(f"{rule} {len(r.complete)} + {len(r.livelocks)} livelocks + {r.dropped} dropped, {r.dismissed} dismissed by {len(r.facts)} facts" + " DUPLICATES" * bool(r.duplicates))
        print(f"{name}: {'; '.join(row)}", flush=True)


def main(seconds=20.0, seed=1):
    rng, wrong = random.Random(seed), 0
    with open(os.path.join(HERE, "litmus.json")) as f:
        corpus = [(e["name"], e["program"]) for e in json.load(f)]
    corpus = [(n, p) for n, p in corpus if waits(p)]
    for name, generate in [("corpus", None), *FAMILIES.items()]:
        for model in ("rc20", "sc"):
            end, checked = time.time() + seconds, 0
            sums = {rule: [0, 0, 0, 0, 0] for rule in ("specification", *RULES)}
            for title, program in corpus if generate is None else iter(lambda: (name, generate(rng)), None):
                if time.time() > end:
                    break
                if waits(program):
                    checked += 1
                    wrong += compare(title, program, model, RULES, sums)
            c, l = sums["plain"][:2]
            dropped = ", ".join(f"{rule} {s[2]}" for rule, s in sums.items())
            print(f"{name}, {model}: {checked} programs, {c} complete graphs, {l} livelocks; dropped: {dropped}; {sums['guarded'][4]} again without guards", flush=True)
    print(f"{wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["counts"]:
        sys.exit(counts())
    main(*(kind(a) for kind, a in zip((float, int), sys.argv[1:])))
