"""x86-TSO beside the executable specification: its axioms, an operational machine, and what is expected of the corpora.

    python3 tso.py check [seconds] [seed]    axioms against machine and brute force, on the corpora and on random programs
    python3 tso.py write                     makes tso.json anew
    python3 tso.py show name|seed            prints what is expected of one program of the corpora

The hardware's view of a Rust program, by the usual mapping of operations to instructions:
    load                            mov
    store relaxed, release          mov; also the store that frees a lock
    store SeqCst                    xchg, which is locked
    read-modify-write               lock-prefixed, a compare-exchange that fails too; also what takes a lock
    fence(SeqCst)                   mfence
    other fences                    nothing
A compiler may reorder more than that, so this is no model of the language: rc20 is.

Sources: Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO", TPHOLs 2009 (the machine); `x86tso.cat` of herd (the axioms).

tso.json is {"litmus": {name: [complete, blocked, finals?]}, "random": {seed: [complete, blocked, finals?]}}, for the programs of
litmus.json and random.jsonl; the finals are left out where the programs have no columns, or where they are those of rc20.
"""
import json, os, random, sys, time

import exploration
from exploration import INIT, acyclic, seq, union
from generate import FAMILIES
from generate import __file__ as GENERATE
from litmus import columns, expect, load as load_litmus

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = os.path.join(HERE, "tso.json")
RMW = {"fadd", "xchg", "cas", "lock", "wait_add"}

# ------------------------------------------------------------------------------ the axioms


def is_locked(op):
    """Is the operation a locked instruction?"""
    return op["op"] in RMW or (op["op"] == "store" and op.get("ord") == "sc")


def consistent(g):
    """sc-per-loc, atomicity, and ghb acyclic, as in x86tso.cat; and (po or rf) acyclic, which follows from these two."""
    ev = g.events()
    n, at = len(ev), {e.id: i for i, e in enumerate(ev)}
    po, poloc, ppo, mfence, rf, rfe, mo, fr = ([0] * n for _ in range(8))
    for thread in g.thread:
        for k, e in enumerate(thread):
            for f in thread[k + 1 :]:
                i, j = at[e.id], 1 << at[f.id]
                po[i] |= j
                if e.loc is not None and f.loc is not None:
                    poloc[i] |= j if e.loc == f.loc else 0
                    ppo[i] |= j if e.kind != "W" or f.kind != "R" or is_locked(e.op) or is_locked(f.op) else 0
            if e.kind == "F" and e.ord == "sc":
                mfence[at[e.id]] = 1 << at[e.id]
    for loc, ws in g.mo.items():
        for k, w in enumerate(ws):
            if g.get(w).kind == "U" and g.writes(loc)[k] != g.get(w).rf:
                return False  # atomicity
            mo[at[w]] = sum(1 << at[v] for v in ws[k + 1 :])
    for e in ev:
        if e.reads:
            if e.rf != INIT:
                rf[at[e.rf]] |= 1 << at[e.id]
                rfe[at[e.rf]] |= 1 << at[e.id] if e.rf[0] != e.id[0] else 0
            ws = g.writes(e.loc)
            fr[at[e.id]] = sum(1 << at[w] for w in ws[ws.index(e.rf) + 1 :] if w != e.id)
    if not acyclic(union(po, rf)) or not acyclic(union(poloc, rf, mo, fr)):
        return False
    return acyclic(union(ppo, seq(seq(po, mfence), po), rfe, mo, fr))


of_the_specification = exploration.consistent
exploration.consistent = lambda g, model: consistent(g) if model == "tso" else of_the_specification(g, model)

# ------------------------------------------------------------------------------ the machine


def operational(program):
    """Distinct outcomes of complete runs, and of runs that are stuck, of the abstract machine: a memory, and a first-in,
    first-out buffer of stores for each thread, which its own loads look into first and which locked instructions and mfence
    find empty. A row is as `litmus.columns` says."""
    names = columns(program)
    complete, stuck, seen = set(), set(), set()

    def steps(state):
        threads, memory = state
        memory = dict(memory)
        for t, (k, regs, buffer) in enumerate(threads):
            def to(k, regs, buffer, memory):
                return threads[:t] + ((k, regs, buffer),) + threads[t + 1 :], tuple(sorted(memory.items()))

            if buffer:
                (loc, val), *rest = buffer
                yield to(k, regs, tuple(rest), memory | {loc: val})
            if k == len(program[t]):
                continue
            own = dict(regs)
            op = {key: own.get(v, 0) if key in ("val", "expected") and isinstance(v, str) else v for key, v in program[t][k].items()}
            kind, loc = op["op"], op.get("loc")
            got = lambda v: tuple(sorted((own | {op["reg"]: v}).items())) if op.get("reg") else regs
            if kind == "if":
                yield to(k + 1 if own.get(op["reg"], 0) == op["val"] else k + 1 + op["n"], regs, buffer, memory)
            elif kind == "choose":
                for v in range(op["n"]):
                    yield to(k + 1, got(v), buffer, memory)
            elif kind == "fence":
                if op["ord"] != "sc" or not buffer:
                    yield to(k + 1, regs, buffer, memory)
            elif kind in ("load", "await"):
                value = next((v for l, v in reversed(buffer) if l == loc), memory.get(loc, 0))
                if kind == "load" or value == op["val"]:
                    yield to(k + 1, got(value), buffer, memory)
            elif not is_locked(op):
                yield to(k + 1, regs, buffer + ((loc, op.get("val", 0)),), memory)
            elif buffer:
                continue
            elif kind == "store":
                yield to(k + 1, regs, buffer, memory | {loc: op["val"]})
            else:
                old = memory.get(loc, 0)
                new = exploration.rmw_result(op, old)
                if not exploration.must_wait(op, old):
                    yield to(k + 1, got(old), buffer, memory if new is None else memory | {loc: new})

    todo = [(tuple((0, (), ()) for _ in program), ())]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        after = list(steps(state))
        todo += after
        if not after:
            threads, memory = state
            ended = all(k == len(ops) for (k, _, _), ops in zip(threads, program))
            regs = {f"{t}:{r}": v for t, (_, own, _) in enumerate(threads) for r, v in own}
            row = tuple((regs if ":" in name else dict(memory)).get(name, 0) for name in names)
            (complete if ended else stuck).add(row)
    return complete, stuck


# ------------------------------------------------------------------------------ checks


def random_tso(rng):
    """What store buffers can show: stores and loads of few locations, some barriers, sometimes a value that is passed on."""
    threads, v = rng.choice([2, 2, 2, 3, 3, 4]), iter(range(1, 99))
    def one(t, k):
        loc, c, reg = rng.choice("xxyyz" if threads > 2 else "xy"), rng.random(), f"r{t}{k}"
        before = f"r{t}{rng.randrange(k)}" if k and rng.random() < 0.2 else None
        if c < 0.38: return dict(op="store", loc=loc, val=before or next(v), ord=rng.choice(["rlx", "rlx", "rel", "sc"]))
        if c < 0.76: return dict(op="load", loc=loc, reg=reg, ord=rng.choice(["rlx", "acq", "sc"]))
        if c < 0.81: return dict(op="fadd", loc=loc, val=10, reg=reg, ord=rng.choice(["rlx", "acqrel", "sc"]))
        if c < 0.85: return dict(op="xchg", loc=loc, val=next(v), reg=reg, ord=rng.choice(["rlx", "sc"]))
        if c < 0.92: return dict(op="cas", loc=loc, expected=rng.choice([0, 77]), val=next(v), reg=reg, ord="acqrel", fail_ord=rng.choice(["rlx", "acq", "sc"]))
        if c < 0.94: return dict(op="await", loc=loc, val=rng.choice([0, 1]), reg=reg, ord="acq")
        return dict(op="fence", ord=rng.choice(["sc", "sc", "acqrel", "rel"]))
    return [[one(t, k) for k in range(rng.randint(1, {2: 5, 3: 3, 4: 2}[threads]))] for t in range(threads)]


def brute_force():
    """The enumeration of check_spec.py, with these axioms too; it runs its checks when it is imported: take all but its last line."""
    with open(os.path.join(os.path.dirname(GENERATE), "check_spec.py")) as f:
        names = {"__name__": "check_spec"}
        exec(compile(f.read().removesuffix("\nmain()\n"), "check_spec.py", "exec"), names)
    return names["brute_force"]


def without_seq_cst(program):
    """As much happens before as in the program, and nothing is SeqCst."""
    weaker = lambda op: {k: "acqrel" if k in ("ord", "fail_ord") and v == "sc" else v for k, v in op.items()}
    return [[weaker(op) for op in thread] for thread in program]


def differences(program, brute):
    """What is wrong with one program, in words."""
    complete, stuck = operational(program)
    got = expect(program, "tso", True)
    if {tuple(row) for row in got["finals"]} != complete:
        yield f"outcomes: axioms {got['finals']}, machine {sorted(complete)}"
    waits = any(op["op"] == "await" for thread in program for op in thread)
    if not waits and bool(got["blocked"]) != bool(stuck):
        yield f"blocked: axioms {got['blocked']}, machine {sorted(stuck)}"
    tso, sc = (exploration.explore(program, m).graphs for m in ("tso", "sc"))
    if not sc <= tso <= exploration.explore(without_seq_cst(program), "rc20").graphs:
        yield "not between sc and what rc20 allows without its order of the SeqCst operations"
    ops = [op["op"] for thread in program for op in thread]
    if set(ops) <= {"store", "load", "fadd", "xchg", "cas", "fence", "wait_add"} and not any(isinstance(op.get("val"), str) for t in program for op in t):
        if len(ops) <= 6 and (count := brute(program, "tso")) != got["complete"]:
            yield f"complete: exploration {got['complete']}, brute force {count}"


def entries():
    """(name, program, entry) of both corpora, with the names of tso.json."""
    for e in load_litmus():
        yield "litmus", e["name"], e
    with open(os.path.join(HERE, "random.jsonl")) as f:
        for line in f:
            e = json.loads(line)
            yield "random", str(e["seed"]), e


def expected(e):
    x = expect(e["program"], "tso", "columns" in e)
    finals = x.get("finals")
    same = finals is None or finals == e["expect"]["rc20"]["finals"]
    return [x["complete"], x["blocked"]] + ([] if same else [finals])


def check(seconds, seed):
    rng, brute, wrong, checked = random.Random(seed), brute_force(), 0, 0
    with open(FILE) as f:
        kept = json.load(f)
    programs = [e["program"] for _, _, e in entries() if e["expect"]["rc20"]["complete"] <= 200]
    families = FAMILIES + [("tso", random_tso)] * 4
    end = time.time() + seconds
    while time.time() < end:
        # Three of four programs are drawn, the fourth is the corpora's.
        kind, generate = rng.choice(families)
        program = rng.choice(programs) if checked % 4 == 3 else generate(rng)
        checked += 1
        for what in differences(program, brute):
            wrong += 1
            print("WRONG", kind, what, program)
    some = list(entries())
    end = time.time() + seconds / 4
    while time.time() < end:
        corpus, name, e = rng.choice(some)
        if e["expect"]["rc20"]["complete"] <= 200 and expected(e) != kept[corpus][name]:
            wrong += 1
            print("WRONG", corpus, name, "is not as in tso.json")
    print(f"{checked} programs checked")
    print(f"{wrong} wrong")
    return wrong


def write():
    out = {"litmus": {}, "random": {}}
    for corpus, name, e in entries():
        out[corpus][name] = expected(e)
    with open(FILE, "w") as f:
        parts = (f'"{corpus}":{{\n' + ",\n".join(f"{json.dumps(n)}:{json.dumps(x, separators=(',', ':'))}" for n, x in out[corpus].items()) + "\n}" for corpus in out)
        f.write("{" + ",\n".join(parts) + "}\n")


def main():
    command, *rest = sys.argv[1:] or [""]
    if command == "check":
        sys.exit(check(float(rest[0]) if rest else 20, int(rest[1]) if len(rest) > 1 else 1) > 0)
    elif command == "write":
        write()
    elif command == "show":
        for _, name, e in entries():
            if name == rest[0]:
                print(columns(e["program"]), expected(e))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
