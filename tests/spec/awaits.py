"""The exploration of exploration.py with fewer blocked executions: what waits in a spin loop is looked at late, or not at all.

`explore(program, model, rule)` finds the same complete graphs, each once, and as blocked ones only the *livelocks*: graphs in which
every thread has ended, or waits and would not be satisfied by the newest write of the location that it waits for.
Four rules, and two for comparison:

"late"  An await is added when the newest write satisfies it; otherwise when nobody else can move. Nothing else differs, and
        nothing has to be known of a value but whether the newest one satisfies, at the moment when the thread is looked at.
"tested" As "late", for who learns by trying in order of modification whether a write satisfies: an await is added as soon as it may
        read a write that does. What is older than the first such write is known not to.
"calm"  As "late", and a calm await is never added reading an unsatisfying write. It is maximal if no later write satisfies it. An
        unsatisfying write does not revisit it; the livelocks in which it misses a satisfying write are found at the ends of
        executions (`livelocks`). Calm: a read that no sequentially consistent order constrains (`is_calm`). "calm everywhere" is
        wrong, and is here to show it.
"guarded"  As "calm", and a cas loop is a guard, as `lock` is: never added unless it succeeds. Right only while the writes of its
        location are ordered: of a store and any other write, one is in the prefix of the other. If that turns out not to hold, the
        exploration starts again as "calm".
"engine" As "tested", with cas loops as in "guarded": what the engine does. If writes turn out not to be ordered it starts again as "tested".
"plain" As in exploration.py.
"any"   As "late", but chance says which thread goes on, at every step, awaits that nothing satisfies included. This is what "late"
        rests on: the order of the threads is free.

One more operation than there: {"op": "cas", ..., "loop": True} is the loop `while cas(..) fails {}`. It is never calm.
docs/reductions.md has the argument; `check_awaits.py` compares all this with brute force.
"""
import random
from itertools import combinations

import exploration
from exploration import INIT, Event, Graph, check_program, consistent, rmw_result


def waits_for(op):
    """The value that a thread waits for with op; None if it does not wait."""
    return op["val"] if op["op"] == "await" else op["expected"] if op.get("loop") else None


def satisfies(op, value):
    return waits_for(op) in (None, value)


def next_op(program, g, t):
    last = g.thread[t][-1:]
    return None if last and is_stuck(g, last[0]) else exploration.next_op(program, g, t)


def is_stuck(g, e):
    """Did e read what its thread does not wait for?"""
    return e.reads and not satisfies(e.op, g.value(e.rf))


def newest(g, op):
    return g.value(g.writes(op["loc"])[-1])


def held_up(g, op):
    """Does op wait, as things are?"""
    return "loc" in op and (exploration.must_wait(op, newest(g, op)) or not satisfies(op, newest(g, op)))


def later(g, loc, w):
    ws = g.writes(loc)
    return ws[ws.index(w) + 1 :]


class Unordered(Exception):
    """A location of a cas loop has a store that is not ordered with another write."""


class Result:
    def __init__(self, rule):
        self.rule = rule
        self.complete = set()  # graphs
        self.livelocks = set()  # graphs, without what is stuck
        self.duplicates = 0  # must stay 0
        self.dropped = 0  # executions that ended with a thread that only waits because it is slow
        # Who does not know which values satisfy has to try these reads in vain; or, who remembers, each of these facts once.
        self.dismissed, self.facts = 0, set()


def explore(program, model="rc20", rule="guarded"):
    check_program(program)
    try:
        return explore_by(rule, program, model)
    except Unordered:
        return explore_by("tested" if rule == "engine" else "calm", program, model)


def explore_by(rule, program, model):
    result, rng = Result(rule), random.Random(str(program))
    guards, tested = rule in ("guarded", "engine"), rule in ("tested", "engine")
    guarded = {op["loc"] for ops in program for op in ops if op.get("loop")} if guards else set()

    def must_wait(op, old):
        return exploration.must_wait(op, old) or (bool(op.get("loop")) and guards and not satisfies(op, old))

    def is_calm(g, id, op):
        """Can no sequentially consistent order come to forbid that this read misses a write?"""
        if op["op"] != "await" or rule not in ("guarded", "calm", "calm everywhere"):
            return False
        before = g.prefix((id[0], id[1] - 1)) if id[1] else ()
        ordered = op["ord"] == "sc" or any(g.get(x).kind == "F" and g.get(x).ord == "sc" for x in before)
        return rule == "calm everywhere" or (model != "sc" and not ordered)

    def visit(g):
        ops = [(t, op) for t in range(len(program)) if (op := next_op(program, g, t)) is not None]
        if rule == "any":
            rng.shuffle(ops)
        for t, op in ops:
            early = rule in ("plain", "any") or (tested and op["op"] == "await" and len(choices(g, t, op)[0]) > 1)
            if not held_up(g, op) or (waits_for(op) is not None and early):
                return extend(g, t, op)
        for t, op in ops:  # nobody can move: look at older writes
            if (op.get("loop") and not guards) or (op["op"] == "await" and any(satisfies(op, g.value(h.get(h.order[-1]).rf)) for h in choices(g, t, op)[0])):
                return extend(g, t, op)
        for t, op in ops:
            if must_wait(op, newest(g, op)):
                for w in g.writes(op["loc"]):
                    add_rmw(g, t, op, w, overtake_only=True)
        if not ops and not any(is_stuck(g, e) for e in g.events()):
            result.duplicates += g.key() in result.complete
            result.complete.add(g.key())
            livelocks(g)
        else:
            result.dropped += not livelocks(g)

    def livelocks(g):
        """What is stuck or, calm, could have missed what satisfied it, is taken back with all that follows from it. Is the rest
        a livelock, and would the exploration have added just this to it? Returns how many there are."""
        position = {e: i for i, e in enumerate(g.order)}
        stuck = {e.id for e in g.events() if is_stuck(g, e)}
        calm = [e.id for e in g.events() if e.reads and e.id not in stuck and is_calm(g, e.id, e.op) and any(not satisfies(e.op, g.value(w)) for w in later(g, e.loc, e.rf))]
        seen, found = set(), 0
        for back in (stuck | set(c) for n in range(len(calm) + 1) for c in combinations(calm, n)):
            kept = frozenset(x for x in g.order if not g.prefix(x) & back)
            k = g.restrict(kept)
            ops = [op for t in range(len(program)) if (op := next_op(program, k, t)) is not None]
            if kept not in seen and ops and all(held_up(k, op) for op in ops):
                if all(as_if_unrevisited(g, x, None, kept, position) for x in g.order if x not in kept):
                    result.duplicates += k.key() in result.livelocks
                    result.livelocks.add(k.key())
                    found += 1
            seen.add(kept)
        return found

    def choices(g, t, op):
        """What a read that is added now may read: a list of graphs, the maximal one last; and the other writes that it may read."""
        id, ws, found, others = (t, len(g.thread[t])), g.writes(op["loc"]), [], []
        for w in ws:
            h = added(g, Event(id, "R", op, rf=w))
            if consistent(h, model):
                # A read of an older write that does not satisfy is unfair, and nothing revisits it.
                if rule == "plain" or satisfies(op, g.value(w)) or (w == ws[-1] and not is_calm(g, id, op)):
                    found.append(h)
                elif not tested or found:
                    others.append(w)
        return found, others

    def dismiss(g, id, w):
        result.dismissed += 1
        before = g.prefix((id[0], id[1] - 1)) if id[1] else ()
        result.facts.add((id, frozenset((x, g.get(x).rf) for x in before), g.value(w)))

    def extend(g, t, op):
        id = (t, len(g.thread[t]))
        kind = op["op"]
        if kind == "fence":
            h = added(g, Event(id, "F", op))
            if consistent(h, model):
                visit(h)
        elif kind == "choose":
            for v in range(op["n"]):
                h = added(g, Event(id, "C", op, val=v))
                h.get(id).added_max = v == 0
                visit(h)
        elif kind in ("load", "await"):
            # The newest write can always be read, and of two writes the older one only if the newer one can be read too.
            found, others = choices(g, t, op)
            for w in others:
                dismiss(g, id, w)
            for h in found:
                h.get(id).added_max = h is found[-1]
                visit(h)
        elif kind in ("store", "unlock"):
            places = len(g.writes(op["loc"]))
            if op["loc"] in guarded and not set(g.mo.get(op["loc"], ())) <= g.prefix((t, id[1] - 1) if id[1] else INIT):
                raise Unordered
            for p in range(places):  # directly after the p-th write
                h = added(g, Event(id, "W", op, val=op.get("val", 0)))
                h.mo.setdefault(op["loc"], []).insert(p, id)
                h.get(id).added_max = p == places - 1
                if consistent(h, model):
                    visit(h)
                    revisit(h, id)
        else:
            for w in g.writes(op["loc"]):
                if rule == "plain" or satisfies(op, g.value(w)) or w == g.writes(op["loc"])[-1]:
                    add_rmw(g, t, op, w)

    def added(g, e):
        h = g.copy()
        h.thread[e.id[0]].append(e)
        h.order.append(e.id)
        return h

    def add_rmw(g, t, op, w, overtake_only=False):
        new = rmw_result(op, g.value(w))
        rivals = [e for e in g.events() if e.kind == "U" and e.loc == op["loc"] and e.rf == w]
        if must_wait(op, g.value(w)) or (new is not None and any(r.id in g.settled for r in rivals)):
            return
        h = added(g, Event((t, len(g.thread[t])), "R", op, rf=w))
        e = h.get((t, len(g.thread[t])))
        e.added_max = w == g.writes(op["loc"])[-1] and not overtake_only
        complete_rmw(h, e)
        if e.kind == "U" and op["loc"] in guarded and any(g.get(y).kind == "W" for y in later(h, op["loc"], e.id)[:1]) and consistent(h, model):
            raise Unordered
        if (not rivals or e.kind == "R") and not overtake_only and consistent(h, model):
            visit(h)
        if e.kind == "U":
            revisit(h, e.id)

    def complete_rmw(g, e):
        for ws in g.mo.values():
            if e.id in ws:
                ws.remove(e.id)
        e.val = rmw_result(e.op, g.value(e.rf))
        e.kind = "R" if e.val is None else "U"
        if e.kind == "U":
            g.mo.setdefault(e.loc, []).insert(g.writes(e.loc).index(e.rf), e.id)

    def revisit(g, w):
        loc, prefix = g.get(w).loc, g.prefix(w)
        position = {e: i for i, e in enumerate(g.order)}
        for r in list(g.order):
            e = g.get(r)
            if not e.reads or e.loc != loc or r in prefix or r in g.settled:
                continue
            calm, satisfied = is_calm(g, r, e.op), satisfies(e.op, g.value(w))
            deleted = {x for x in g.order if position[x] > position[r] and x not in prefix}
            kept = set(g.order) - deleted
            if not all(as_if_unrevisited(g, x, w, kept, position) for x in deleted | {r}):
                continue
            if g.get(w).kind == "W" and set(later(g, loc, w)[:1]) & deleted:
                continue
            if calm and not satisfied:
                dismiss(g, r, w)
                continue
            h = g.restrict(kept)
            h.settled |= prefix
            q = h.get(r)
            if r in h.mo[loc]:
                h.mo[loc].remove(r)
            q.rf = w
            q.added_max = not any(not calm or satisfies(e.op, h.value(y)) for y in later(h, loc, w))
            if must_wait(q.op, h.value(w)):
                h.thread[r[0]].pop()
                h.order.remove(r)
                if consistent(h, model):
                    visit(h)
                continue
            if rule != "plain" and not satisfied and not q.added_max:
                dismiss(g, r, w)
                continue  # unfair, and nothing will revisit it
            if q.op["op"] not in ("load", "await"):
                complete_rmw(h, q)
            if consistent(h, model):
                visit(h)
            if q.kind == "U":
                revisit(h, r)

    def as_if_unrevisited(g, x, w, kept, position):
        e = g.get(x)
        if not e.added_max:
            return False
        if e.loc is None:
            return True
        calm = is_calm(g, x, e.op)
        for y in later(g, e.loc, e.rf if e.reads else x):
            if y in kept and y not in (w, x) and (not calm or satisfies(e.op, g.value(y))):
                return False  # what remains holds a later write that it would have read
        return not (e.reads and e.rf != INIT and e.rf not in kept and position[e.rf] > position[x])

    visit(Graph(len(program)))
    return result
