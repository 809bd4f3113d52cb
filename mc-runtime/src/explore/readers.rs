//! Which sections of readers a writer's lock comes after: a choice for each set that is possible.
//!
//! As always the maximal way comes first: after all of them, at the end of modification order. In any other, the lock has rivals: sections that it should come before, or a
//! writer. It revisits the first of these. A set may be any that holds, with a section, all that its end depends on. They are gone through one after the other,
//! by the algorithm NextClosure (Ganter, 1984), so that an item stands for itself and all that follow.

use super::{Explorer, Item};
use crate::graph::extend::New;
use crate::graph::readers::Section;
use crate::graph::{Graph, Site};
use crate::ids::{EventId, LocationId, ThreadId};
use crate::model::coherence;
use crate::operation::Operation;

/// How many sections a generation may have: the bits of a set.
pub(crate) const MOST_SECTIONS: usize = 64;

impl Explorer {
    /// Adds a writer's lock, which does not have to wait, at the end; the other ways are for later.
    pub(super) fn add_write_lock(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        location: LocationId,
        site: Site,
    ) -> EventId {
        let first = self.earliest(thread, location);
        self.push_write_locks(thread, operation, location, site, first);
        let last = self.graph.mo_max(location);
        self.graph.add(&New { rf: last, ..New::access(thread, operation, location) }, site)
    }

    /// Puts all ways but the maximal one into the frontier, from a position of modification order on.
    pub(super) fn push_write_locks(
        &mut self,
        thread: ThreadId,
        operation: Operation,
        location: LocationId,
        site: Site,
        first: usize,
    ) {
        let len = self.graph.len() as u32;
        let mut sets = std::mem::take(&mut self.sets);
        for index in first..=self.graph.mo(location).len() {
            let write = self.graph.mo_at(location, index);
            let rival = coherence::rival(&self.graph, location, index);
            let is_settled = rival.is_some_and(|r| self.graph.event(r).settled);
            if operation.must_wait(self.graph.value(location, write)) || is_settled {
                continue;
            }
            sets.find(&self.graph, thread, location, write);
            if let Some(sections) = sets.closure(0).filter(|set| rival.is_some() || sets.leaves_out(*set)) {
                self.push(Item::Overtake { len, thread, operation, location, write, sections, site });
            }
        }
        self.sets = sets;
    }

    /// Adds a writer's lock that comes before others, and puts the next such way into the frontier. It is not to be executed itself.
    pub(super) fn write_lock(&mut self, new: New, site: Site) -> bool {
        let New { thread, operation, location, rf: write, sections, .. } = new;
        let len = self.graph.len() as u32;
        let rival = coherence::rival(&self.graph, location, self.graph.mo_index(write));
        self.sets.find(&self.graph, thread, location, write);
        let first = self.sets.first_left_out(sections).or(rival).expect("another way than the maximal one");
        let next = self.sets.next(sections).filter(|set| rival.is_some() || self.sets.leaves_out(*set));
        let id = self.graph.add(&new, site);
        if let Some(sections) = next {
            self.push(Item::Overtake { len, thread, operation, location, write, sections, site });
        }
        self.push_rival(id, first);
        false
    }
}

/// Sets of sections, as bits.
#[derive(Debug, Default)]
pub(super) struct Sets {
    sections: Vec<Section>,
    /// What is in each set.
    base: u64,
    /// For each section, those that must be in a set with it; `None` for one without an end, which is in no set.
    needs: Vec<Option<u64>>,
}

impl Sets {
    /// The sets of sections of the generation that begins with `start` that a lock at the end of `thread` could come after.
    fn find(&mut self, graph: &Graph, thread: ThreadId, location: LocationId, start: EventId) {
        let Sets { sections, base, needs } = self;
        graph.sections(location, start, sections);
        let id = thread.event(graph.thread(thread).len());
        let before = graph.prefix_of(thread, id.index as usize);
        let twin = graph.counterpart(id).filter(|twin| graph.contains(*twin)).map(|twin| graph.prefix(twin));
        let pasts = [Some(before), twin].into_iter().flatten();
        let is_before = |begin: EventId| {
            begin == start || graph.event(begin).settled || pasts.clone().any(|past| past.contains(begin))
        };
        let set = |holds: &dyn Fn(EventId) -> bool| {
            let bits = sections.iter().enumerate().map(|(index, section)| u64::from(holds(section.begin)) << index);
            bits.fold(0, |set, bit| set | bit)
        };
        let needed = |section: &Section| section.end.map(|end| set(&|begin| graph.prefix(end).contains(begin)));
        *base = set(&is_before);
        needs.clear();
        needs.extend(sections.iter().map(needed));
    }

    /// The smallest set that holds these.
    fn closure(&self, mut set: u64) -> Option<u64> {
        set |= self.base;
        loop {
            let mut grown = set;
            for index in (0..self.sections.len()).filter(|index| set >> index & 1 == 1) {
                grown |= self.needs[index]?;
            }
            if grown == set {
                return Some(set);
            }
            set = grown;
        }
    }

    /// The set that comes next.
    fn next(&self, mut set: u64) -> Option<u64> {
        for index in (0..self.sections.len()).rev() {
            let (bit, below) = (1 << index, (1 << index) - 1);
            if set & bit != 0 {
                set &= !bit;
            } else if let Some(next) = self.closure(set & below | bit)
                && next & below == set & below
            {
                return Some(next);
            }
        }
        None
    }

    fn first_left_out(&self, set: u64) -> Option<EventId> {
        let mut sections = self.sections.iter().enumerate();
        sections.find(|(index, _)| set >> index & 1 == 0).map(|(_, section)| section.begin)
    }

    fn leaves_out(&self, set: u64) -> bool {
        self.first_left_out(set).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sections that need these.
    fn sets(base: u64, needs: &[Option<u64>]) -> Vec<u64> {
        let section = Section { begin: EventId::INIT, end: None };
        let sets = Sets { sections: vec![section; needs.len()], base, needs: needs.to_vec() };
        std::iter::successors(sets.closure(0), |set| sets.next(*set)).collect()
    }

    #[test]
    fn each_set_that_holds_what_it_needs_comes_once() {
        let mut three = sets(0, &[Some(1), Some(2), Some(4)]);
        three.sort_unstable();
        assert_eq!(three, [0, 1, 2, 3, 4, 5, 6, 7]);
        // One after the other, of one thread.
        assert_eq!(sets(0, &[Some(0b1), Some(0b11), Some(0b111)]), [0, 1, 3, 7]);
        // The first is in each, the last has no end.
        let mut some = sets(1, &[Some(1), Some(2), Some(2 | 4), None]);
        some.sort_unstable();
        assert_eq!(some, [1, 0b11, 0b111]);
        assert!(sets(1, &[None, Some(2)]).is_empty());
    }
}
