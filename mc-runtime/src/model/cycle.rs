//! Is a directed graph acyclic? With buffers that are kept between calls.

/// A directed graph under construction, and the search for cycles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cycles {
    nodes: usize,
    edges: Vec<(u32, u32)>,
    incoming: Vec<u32>,
    /// Where the targets of each node begin in `targets`.
    start: Vec<u32>,
    next: Vec<u32>,
    targets: Vec<u32>,
    ready: Vec<u32>,
}

impl Cycles {
    /// Starts a graph with `nodes` nodes and no edge.
    pub(crate) fn reset(&mut self, nodes: usize) {
        self.nodes = nodes;
        self.edges.clear();
    }

    /// Adds nodes; returns the first.
    pub(crate) fn add_nodes(&mut self, count: usize) -> usize {
        self.nodes += count;
        self.nodes - count
    }

    /// Adds an edge.
    pub(crate) fn edge(&mut self, from: usize, to: usize) {
        self.edges.push((from as u32, to as u32));
    }

    /// Whether the graph has no cycle (Kahn's algorithm).
    pub(crate) fn acyclic(&mut self) -> bool {
        self.incoming.clear();
        self.incoming.resize(self.nodes, 0);
        self.start.clear();
        self.start.resize(self.nodes + 1, 0);
        for (from, to) in &self.edges {
            self.start[*from as usize + 1] += 1;
            self.incoming[*to as usize] += 1;
        }
        for i in 0..self.nodes {
            self.start[i + 1] += self.start[i];
        }
        self.targets.clear();
        self.targets.resize(self.edges.len(), 0);
        self.next.clear();
        self.next.extend_from_slice(&self.start);
        for (from, to) in &self.edges {
            let at = &mut self.next[*from as usize];
            self.targets[*at as usize] = *to;
            *at += 1;
        }
        self.ready.clear();
        self.ready.extend((0..self.nodes as u32).filter(|n| self.incoming[*n as usize] == 0));
        let mut removed = 0;
        while let Some(n) = self.ready.pop() {
            removed += 1;
            let (begin, end) = (self.start[n as usize] as usize, self.start[n as usize + 1] as usize);
            for t in begin..end {
                let to = self.targets[t];
                self.incoming[to as usize] -= 1;
                if self.incoming[to as usize] == 0 {
                    self.ready.push(to);
                }
            }
        }
        removed == self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_a_cycle_and_a_diamond_is_not() {
        let mut cycles = Cycles::default();
        cycles.reset(4);
        for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
            cycles.edge(a, b);
        }
        assert!(cycles.acyclic());
        cycles.edge(3, 0);
        assert!(!cycles.acyclic());
        cycles.reset(1);
        assert!(cycles.acyclic());
        cycles.edge(0, 0);
        assert!(!cycles.acyclic());
    }
}
