//! The memory models straight from their axioms: relations as bit matrices, closures by their definition.
//!
//! Slow and simple; what the incremental forms are compared with in this crate's tests, and under the feature `axioms`
//! (not in every debug build: users of plain `cargo test` compile the engine so, and a closure is cubic in the number of events).
//! Source: as `tests/spec/exploration.py`, C++20 [intro.races], [atomics.order].

use crate::graph::Graph;
use crate::ids::{EventId, LocationId};
use crate::operation::Code;
use crate::options::MemoryModel;

/// Row `i` holds the successors of event `i`.
#[derive(Clone)]
struct Relation {
    rows: Vec<Vec<bool>>,
}

impl Relation {
    fn new(n: usize) -> Self {
        Relation { rows: vec![vec![false; n]; n] }
    }

    fn of(n: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        Relation { rows: (0..n).map(|i| (0..n).map(|j| holds(i, j)).collect()).collect() }
    }

    fn closure(mut self) -> Self {
        for k in 0..self.rows.len() {
            let via = self.rows[k].clone();
            for row in &mut self.rows {
                if row[k] {
                    row.iter_mut().zip(&via).for_each(|(x, y)| *x |= y);
                }
            }
        }
        self
    }

    fn acyclic(self) -> bool {
        self.closure().rows.iter().enumerate().all(|(i, row)| !row[i])
    }

    fn then(&self, next: &Relation) -> Relation {
        let mut out = Relation::new(self.rows.len());
        for (row, result) in self.rows.iter().zip(&mut out.rows) {
            for (via, _) in row.iter().enumerate().filter(|(_, x)| **x) {
                result.iter_mut().zip(&next.rows[via]).for_each(|(x, y)| *x |= y);
            }
        }
        out
    }

    fn or(mut self, other: &Relation) -> Relation {
        for (row, more) in self.rows.iter_mut().zip(&other.rows) {
            row.iter_mut().zip(more).for_each(|(x, y)| *x |= y);
        }
        self
    }
}

/// Is the graph consistent under `model`?
pub(crate) fn consistent(graph: &Graph, model: MemoryModel) -> bool {
    let n = graph.len();
    let at = |id: EventId| graph.event(id).stamp as usize;
    let ids = graph.order();
    let po = Relation::of(n, |i, j| ids[i].thread == ids[j].thread && ids[i].index < ids[j].index);
    let joins = |event: EventId, thread| graph.event(event).joins() == Some(thread);
    let starts = Relation::of(n, |i, j| graph.parent(ids[j].thread) == ids[i]);
    let ends = Relation::of(n, |i, j| joins(ids[j], ids[i].thread));
    // Also of a thread that does nothing.
    let lives = Relation::of(n, |i, j| graph.ranks().iter().any(|t| graph.parent(*t) == ids[i] && joins(ids[j], *t)));
    let lives = lives.or(&starts).or(&ends);
    let (mut rf, mut mo, mut fr) = (Relation::new(n), Relation::new(n), Relation::new(n));
    for location in (0..graph.locations()).map(|l| LocationId(l as u32)) {
        let writes = graph.mo(location);
        for (i, w) in writes.iter().enumerate() {
            let event = graph.event(*w);
            if event.updates() && event.rf != graph.mo_at(location, i) {
                return false;
            }
            writes[i + 1..].iter().for_each(|v| mo.rows[at(*w)][at(*v)] = true);
        }
        for &id in graph.reads(location) {
            let first = graph.mo_index(graph.event(id).rf);
            writes[first..].iter().filter(|w| **w != id).for_each(|w| fr.rows[at(id)][at(*w)] = true);
        }
    }
    for &id in ids.iter().filter(|id| !graph.event(**id).rf.is_init()) {
        rf.rows[at(graph.event(id).rf)][at(id)] = true;
    }
    for (id, end) in sections_before_writers(graph) {
        let Some(end) = end else { return false };
        rf.rows[at(end)][at(id)] = true;
    }
    // What a thread does comes after its spawn as after the first thing that it does, and before its joins as before the last: that it starts and ends is no event.
    let order = po.clone().or(&lives);
    if !order.clone().or(&rf).acyclic() {
        return false;
    }
    match model {
        MemoryModel::Sc => order.or(&rf).or(&mo).or(&fr).acyclic(),
        MemoryModel::Rc20 => {
            let past = order.clone().or(&rf).closure();
            rc20(graph, order, past, rf.or(&mo).or(&fr).closure())
        }
        MemoryModel::Tso => tso(graph, &po, &lives, &rf, &mo.or(&fr)),
    }
}

/// Coherence per location, and the global happens-before of `x86tso.cat`. A spawn and an end are stores of locations of their own; the join reads that of the end,
/// which comes after all else, and each thread that of its spawn, before all else that it does (`lives`).
fn tso(graph: &Graph, po: &Relation, lives: &Relation, rf: &Relation, writes_later: &Relation) -> bool {
    let ids = graph.order();
    let event = |i: usize| graph.event(ids[i]);
    let code = |i: usize| event(i).operation.code;
    let per_location = Relation::of(ids.len(), |i, j| {
        po.rows[i][j] && event(i).operation.has_location() && event(i).location == event(j).location
    });
    if !per_location.or(rf).or(writes_later).acyclic() {
        return false;
    }
    let locked = |i: usize| match code(i) {
        Code::Rmw(_) | Code::CompareExchange | Code::AwaitExchange | Code::Guarded(..) | Code::Arrive => true,
        Code::ReadLock | Code::ReadUnlock | Code::WriteLock => true,
        Code::Store => event(i).is_seq_cst(),
        _ => false,
    };
    let writes = |i: usize| event(i).writes || code(i) == Code::Spawn;
    let reads = |i: usize| event(i).reads() || code(i) == Code::Join;
    let memory = |i: usize| writes(i) || reads(i);
    let preserved = Relation::of(ids.len(), |i, j| {
        let buffered = !reads(i) && !writes(j);
        po.rows[i][j] && memory(i) && memory(j) && (!buffered || locked(i) || locked(j))
    });
    let fence = Relation::of(ids.len(), |i, j| i == j && event(i).is_seq_cst_fence());
    let external = Relation::of(ids.len(), |i, j| rf.rows[i][j] && ids[i].thread != ids[j].thread);
    preserved.or(&po.then(&fence).then(po)).or(&external).or(lives).or(writes_later).acyclic()
}

/// Each lock of a writer, with the ends of the sections of readers in the generation that it ends.
fn sections_before_writers(graph: &Graph) -> Vec<(EventId, Option<EventId>)> {
    let mut found = Vec::new();
    let mut sections = Vec::new();
    for &id in graph.order().iter().filter(|id| graph.event(**id).operation.code == Code::WriteLock) {
        let event = graph.event(id);
        graph.sections(event.location, event.rf, &mut sections);
        found.extend(sections.iter().map(|section| (id, section.end)));
    }
    found
}

fn rc20(graph: &Graph, po: Relation, past: Relation, eco: Relation) -> bool {
    let n = graph.len();
    let ids = graph.order();
    let sw = synchronises(graph, &past);
    let hb = po.clone().or(&sw).closure();
    let reverse = |i: usize, j: usize| eco.rows[j][i];
    for i in 0..n {
        if hb.rows[i][i] || eco.rows[i][i] || (0..n).any(|j| hb.rows[i][j] && reverse(i, j)) {
            return false;
        }
    }
    let id = |i: usize| graph.event(ids[i]);
    let sc = Relation::of(n, |i, j| i == j && id(i).is_seq_cst());
    let scf = Relation::of(n, |i, j| i == j && id(i).is_seq_cst_fence());
    let shb = po.clone().or(&sc.then(&sw).then(&sc)).or(&po.then(&hb).then(&po)).closure();
    let before = sc.clone().or(&scf.then(&hb));
    let after = sc.clone().or(&hb.then(&scf));
    sc.then(&shb).then(&sc).or(&before.then(&eco).then(&after)).acyclic()
}

fn synchronises(graph: &Graph, past: &Relation) -> Relation {
    let at = |id: EventId| graph.event(id).stamp as usize;
    let mut sw = Relation::new(graph.len());
    for (id, end) in sections_before_writers(graph) {
        end.into_iter().for_each(|end| sw.rows[at(end)][at(id)] = true);
    }
    for &id in graph.order().iter().filter(|id| graph.event(**id).operation.code == Code::ReadLock) {
        let event = graph.event(id);
        let mut sections = Vec::new();
        graph.sections(event.location, event.rf, &mut sections);
        let ends = sections.iter().filter_map(|section| section.end);
        ends.filter(|end| past.rows[at(*end)][at(id)]).for_each(|end| sw.rows[at(end)][at(id)] = true);
    }
    for &id in graph.order() {
        let event = graph.event(id);
        if event.rf.is_init() {
            continue;
        }
        let mut ends: Vec<EventId> = fences(graph, id, true);
        ends.extend(event.order().acquires().then_some(id));
        for head in release_heads(graph, event.rf) {
            ends.iter().for_each(|end| sw.rows[at(head)][at(*end)] = true);
        }
    }
    sw
}

/// The acquire fences after, or the release fences before, an event in its thread.
fn fences(graph: &Graph, id: EventId, after: bool) -> Vec<EventId> {
    let fits = |i: &usize| {
        let fence = &graph.thread(id.thread)[*i];
        let order = fence.operation.order;
        fence.operation.code == Code::Fence
            && (*i > id.index as usize) == after
            && if after { order.acquires() } else { order.releases() }
    };
    (0..graph.thread(id.thread).len()).filter(fits).map(|i| id.thread.event(i)).collect()
}

fn release_heads(graph: &Graph, write: EventId) -> Vec<EventId> {
    let event = graph.event(write);
    let mut heads = fences(graph, write, false);
    heads.extend(event.order().releases().then_some(write));
    if event.updates() && !event.rf.is_init() {
        heads.extend(release_heads(graph, event.rf));
    }
    heads
}
