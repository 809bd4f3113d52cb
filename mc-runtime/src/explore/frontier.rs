//! What is left to explore, as one queue with several disciplines.
//!
//! Depth first, an item names an event of the graph that is on top of a stack of graphs: it is undone by truncating, and only
//! a backward revisit copies (`descend`). In any other order, each item stands alone with a copy of its prefix.

use crate::graph::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::Operation;
use crate::options::{Drop, Options, Strategy};
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;
use std::collections::BinaryHeap;

/// Something to explore.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    /// The choice `at` takes another value.
    Choose {
        /// The last event of its prefix.
        at: EventId,
        /// The value.
        value: u64,
    },
    /// The read or update `at` reads from another write.
    ReadFrom {
        /// The last event of its prefix.
        at: EventId,
        /// The write.
        write: EventId,
    },
    /// The store `at` stands elsewhere in modification order.
    Place {
        /// The last event of its prefix.
        at: EventId,
        /// The write directly before it.
        after: EventId,
    },
    /// An earlier read reads from `write`.
    Revisit {
        /// The length of the graph.
        len: u32,
        /// The write.
        write: EventId,
        /// The read.
        read: EventId,
        /// What is known of the graph.
        basis: Basis,
    },
    /// A guarded update that waits comes before others.
    Overtake {
        /// The length of the graph.
        len: u32,
        /// The thread that waits.
        thread: ThreadId,
        /// For what.
        operation: Operation,
        /// Where.
        location: LocationId,
        /// What it would read.
        write: EventId,
        /// See [`New::sections`](crate::graph::extend::New).
        sections: u64,
        /// Where it waits.
        site: Site,
    },
}

/// What is known of a graph in which a new write looks for reads to revisit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// It is consistent.
    Consistent,
    /// It is without the write.
    WithoutWrite,
    /// It may be inconsistent in other ways too.
    Unknown,
}

/// The queue.
#[derive(Debug)]
pub(crate) struct Frontier {
    discipline: Discipline,
    /// Depth first: the items of all levels, the running graph's last.
    items: Vec<Item>,
    /// Where the items of the running graph begin.
    base: usize,
    /// Depth first: the graphs below the running one, and where the items of each begin. After them, graphs whose memory is kept.
    below: Vec<(Graph, usize)>,
    /// How many are below it.
    depth: usize,
    /// In another order: items with their own prefix.
    heap: BinaryHeap<Queued>,
    sequence: u64,
    limit: Option<(u64, Drop)>,
    dropped: u64,
}

#[derive(Debug)]
enum Discipline {
    Dfs,
    Bfs,
    Random(Pcg64),
}

/// An item that stands alone; the greatest is the one with the least priority, then the oldest.
#[derive(Debug)]
struct Queued {
    priority: u64,
    sequence: u64,
    graph: Graph,
    item: Item,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.priority, other.sequence).cmp(&(self.priority, self.sequence))
    }
}

impl Frontier {
    /// An empty queue: last in, first out for every strategy but `bfs` and `random`. The limit counts for those two only.
    pub(crate) fn new(options: &Options) -> Self {
        let limit = options.queue_limit;
        let discipline = match options.strategy {
            Strategy::Bfs => Discipline::Bfs,
            Strategy::Random => Discipline::Random(Pcg64::new(u128::from(options.seed), 0)),
            Strategy::Dfs | Strategy::Walk | Strategy::Pct(_) | Strategy::Pos => Discipline::Dfs,
        };
        let (items, below, heap) = Default::default();
        Frontier { discipline, items, base: 0, below, depth: 0, heap, sequence: 0, limit, dropped: 0 }
    }

    /// How many items wait.
    pub(crate) fn len(&self) -> usize {
        self.items.len() + self.heap.len()
    }

    /// How many graphs are below the running one, depth first.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// One of them, from the lowest on.
    pub(crate) fn below(&self, level: usize) -> &Graph {
        &self.below[level].0
    }

    /// How many items the limit dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Depth first: forgets all items but a random one; returns how many there were.
    pub(super) fn keep_one(&mut self, graph: &mut Graph, rng: &mut Pcg64) -> usize {
        let count = self.items.len();
        if count == 0 {
            return 0;
        }
        let kept = rng.random_range(0..count as u64) as usize;
        while self.base > kept {
            self.ascend(graph);
        }
        self.items.swap(0, kept);
        self.items.truncate(1);
        (self.base, self.depth) = (0, 0);
        count
    }

    /// Goes back to the graph below the running one.
    fn ascend(&mut self, graph: &mut Graph) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        let (below, base) = &mut self.below[self.depth];
        self.base = *base;
        exchange(graph, below);
        Some(())
    }

    /// Forgets all items.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        (self.base, self.depth) = (0, 0);
        self.heap.clear();
    }

    /// Depth first: forgets the items of the running graph after the first so many of all.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// Depth first: of the items that were added last, as long as they are `of` something, forgets those that are not to be kept.
    pub(super) fn retain_last(&mut self, of: impl Fn(&Item) -> bool, keep: impl Fn(&Item) -> bool) {
        let others = self.items.iter().rposition(|item| !of(item)).map_or(0, |last| last + 1);
        let first = self.base.max(others);
        let mut kept = first;
        for at in first..self.items.len() {
            if keep(&self.items[at]) {
                self.items[kept] = self.items[at];
                kept += 1;
            }
        }
        self.items.truncate(kept);
    }

    /// Adds an item of the running graph.
    pub(super) fn push(&mut self, graph: &Graph, item: Item) {
        let priority = match &mut self.discipline {
            Discipline::Dfs => return self.items.push(item),
            Discipline::Bfs => graph.len() as u64,
            Discipline::Random(rng) => rng.next_u64(),
        };
        self.sequence += 1;
        let sequence = self.sequence;
        if let Some((limit, drop)) = self.limit
            && self.heap.len() as u64 >= limit
        {
            self.dropped += 1;
            let victim = match drop {
                Drop::Newest => None,
                Drop::Oldest => self.heap.iter().map(|q| q.sequence).min(),
                Drop::Random => self
                    .heap
                    .iter()
                    .map(|q| (q.sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15), q.sequence))
                    .min()
                    .map(|m| m.1),
            };
            let Some(victim) = victim else { return };
            self.heap.retain(|q| q.sequence != victim);
        }
        self.heap.push(Queued { priority, sequence, graph: graph.clone(), item });
    }

    /// The next item, and its graph.
    pub(super) fn pop(&mut self, graph: &mut Graph) -> Option<Item> {
        if let Some(queued) = self.heap.pop() {
            *graph = queued.graph;
            return Some(queued.item);
        }
        while self.items.len() == self.base {
            self.ascend(graph)?;
        }
        self.items.pop()
    }

    /// Puts the running graph aside and another in its place, still to be filled; returns the one put aside.
    pub(super) fn descend(&mut self, graph: &mut Graph) -> &Graph {
        if self.depth == self.below.len() {
            std::hint::cold_path();
            self.below.push(Default::default());
        }
        let (below, base) = &mut self.below[self.depth];
        exchange(graph, below);
        if matches!(self.discipline, Discipline::Dfs) {
            *base = std::mem::replace(&mut self.base, self.items.len());
            self.depth += 1;
        }
        below
    }
}

/// Lets two graphs change places. Many instructions, so once.
#[inline(never)]
fn exchange(a: &mut Graph, b: &mut Graph) {
    std::mem::swap(a, b);
}
