//! Backward revisits: an earlier read reads from a write that was added after it.
//!
//! Of all graphs whose revisit gives the same result, exactly one has only events to delete that would be there, just so, if the
//! write had never been seen (`as_if_unrevisited`). Only that one is revisited, which is what makes the exploration optimal.
//! Source: TruSt, POPL 2022, section 3; the maximality test as in `tests/spec/exploration.py`.

use super::frontier::Basis;
use super::{Explorer, Item};
use crate::graph::Graph;
use crate::graph::restrict::Cut;
use crate::ids::{EventId, LocationId};
use crate::model::{Suspect, coherence};
use crate::operation::Code;

/// Memory that is kept between revisits.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    cut: Cut,
    deleted: Vec<EventId>,
    found: Vec<EventId>,
    /// Of each location, the last write since events were removed that could revisit nothing.
    barren: Vec<Barren>,
}

/// A write that could revisit nothing when it was added.
#[derive(Clone, Copy, Debug)]
struct Barren {
    /// `INIT`: there is none.
    write: EventId,
    /// How many reads of its location there were then, itself included.
    reads: usize,
}

impl Barren {
    const NONE: Barren = Barren { write: EventId::INIT, reads: 0 };
}

impl Explorer {
    /// Puts all revisits of the new access of a location into the frontier, if it writes. Where nobody else has read, the event is not looked at.
    #[inline(always)]
    pub(super) fn push_revisits(&mut self, new: EventId, location: LocationId, basis: Basis) {
        let reads = self.graph.reads(location);
        if reads.first().is_some_and(|read| *read != new) && self.graph.event(new).writes {
            self.push_revisits_of(new, basis);
        }
    }

    #[inline(never)]
    fn push_revisits_of(&mut self, write: EventId, basis: Basis) {
        if self.is_behind_barren(write) {
            debug_assert_eq!(self.earliest_revisitable(write), None, "{write:?}");
            return;
        }
        let Some(earliest) = self.earliest_revisitable(write) else { return self.is_barren(write) };
        let mut found = std::mem::take(&mut self.revisit.found);
        found.clear();
        self.find_revisits(write, earliest, &mut found);
        let len = self.graph.len() as u32;
        for read in found.drain(..).rev() {
            self.push(Item::Revisit { len, write, read, basis });
        }
        self.revisit.found = found;
    }

    /// Is the new write behind one of the same location that could revisit nothing, and has nobody read that since? Then it cannot either: what was before that is before it.
    fn is_behind_barren(&mut self, write: EventId) -> bool {
        let event = self.graph.event(write);
        let Some(Barren { write: barren, reads }) = self.revisit.barren.get_mut(event.location.slot()) else {
            return false;
        };
        let is_before = event.rf == *barren || barren.thread == write.thread && barren.index < write.index;
        let others = self.graph.reads(event.location).len() - usize::from(event.reads());
        let is_behind = is_before && !barren.is_init() && others == *reads;
        if is_behind {
            (*barren, *reads) = (write, self.graph.reads(event.location).len());
        }
        is_behind
    }

    /// The new write could revisit nothing.
    fn is_barren(&mut self, write: EventId) {
        let location = self.graph.event(write).location;
        let barren = &mut self.revisit.barren;
        if barren.len() <= location.slot() {
            barren.resize(location.slot() + 1, Barren::NONE);
        }
        barren[location.slot()] = Barren { write, reads: self.graph.reads(location).len() };
    }

    /// Removes all events that were added after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.graph.truncate(len);
        self.forget_barren();
    }

    /// Events were removed, and others may get their names.
    pub(super) fn forget_barren(&mut self) {
        self.revisit.barren.clear();
    }

    /// The stamp of the first read that is not before the new write, and may be revisited.
    fn earliest_revisitable(&self, write: EventId) -> Option<u32> {
        // As many are looked at sooner than it is found out where to begin.
        const FEW: usize = 8;
        let graph = &self.graph;
        let location = graph.event(write).location;
        let mut reads = graph.reads(location);
        let prefix = graph.prefix(write);
        if reads.len() > FEW {
            // Reads are listed in the order of their addition, so the first ones are in the prefix.
            let readers = graph.ranks().iter().filter(|t| graph.may_have_read(**t, location));
            let first = readers.filter_map(|t| graph.thread(*t).get(prefix.of(*t) as usize)).map(|x| x.stamp).min()?;
            reads = &reads[reads.partition_point(|read| graph.event(*read).stamp < first)..];
        }
        let mut outside = reads.iter().filter(|read| !prefix.contains(**read)).map(|r| graph.event(*r));
        outside.find(|event| event.is_revisitable()).map(|event| event.stamp)
    }

    #[inline(never)]
    fn find_revisits(&mut self, write: EventId, earliest: u32, found: &mut Vec<EventId>) {
        let graph = &self.graph;
        let location = graph.event(write).location;
        let rival = rival(graph, write);
        let Buffers { cut, deleted, .. } = &mut self.revisit;
        let prefix = graph.prefix(write);
        deleted.clear();
        cut.keep_all(graph);
        for &x in graph.order()[earliest as usize..].iter().rev() {
            if prefix.contains(x) {
                continue;
            }
            let event = graph.event(x);
            // Whether `x` is the read or would be deleted with a still earlier one: all from here on would fail.
            if !event.added_max {
                break;
            }
            cut.keep[x.thread.slot()] = x.index;
            let restores = |rival: EventId| rival == x || rival.index >= cut.keep[rival.thread.slot()];
            if event.location == location && event.is_revisitable() && rival.is_none_or(restores) {
                cut.read = Some(x);
                let maximal = |y: &EventId| as_if_unrevisited(graph, *y, write, cut);
                if maximal(&x) && deleted.iter().all(maximal) && !placed_before_deleted(graph, write, cut) {
                    found.push(x);
                }
            }
            deleted.push(x);
        }
    }

    /// Puts the revisit of `rival`, which waits again then, by `new` into the frontier. Both lock a reader-writer lock, in the same generation.
    pub(super) fn push_rival(&mut self, new: EventId, rival: EventId) {
        if self.graph.prefix(new).contains(rival) {
            return;
        }
        self.cut_for(new, rival);
        let (graph, cut) = (&self.graph, &self.revisit.cut);
        let prefix = graph.prefix(new);
        let from = graph.event(rival).stamp as usize;
        let mut deleted = graph.order()[from..].iter().filter(|x| !prefix.contains(**x));
        if deleted.all(|x| graph.event(*x).added_max && as_if_unrevisited(graph, *x, new, cut)) {
            let len = graph.len() as u32;
            self.push(Item::Revisit { len, write: new, read: rival, basis: Basis::WithoutWrite });
        }
    }

    /// Makes the graph in which `read` reads from `write`. Returns whether it is to be executed.
    pub(super) fn backward(&mut self, len: u32, write: EventId, read: EventId, basis: Basis) -> bool {
        self.graph.truncate(len as usize);
        self.cut_for(write, read);
        let (suspect, without_read) = match basis {
            Basis::Consistent => (Suspect::Event(read), Suspect::Event(write)),
            Basis::WithoutWrite => (Suspect::Events(write, read), Suspect::Event(write)),
            Basis::Unknown => (Suspect::Anything, Suspect::Anything),
        };
        let location = self.graph.event(write).location;
        let from = self.frontier.descend(&mut self.graph);
        let revisited = self.graph.restrict(from, &self.revisit.cut, write);
        let Some(read) = revisited else {
            // The write came first: the read waits again.
            return coherence::is_atomic(&self.graph, location) && self.order_exists(without_read);
        };
        let event = *self.graph.event(read);
        let index = self.graph.mo_index(write);
        let first = coherence::earliest(&self.graph, event.location, read.thread, read.index as usize);
        if index < first {
            return false;
        }
        let run = coherence::is_atomic(&self.graph, event.location) && self.order_exists(suspect);
        if event.updates() {
            self.push_revisits(read, location, if run { Basis::Consistent } else { Basis::Unknown });
        }
        run
    }

    /// Which events a revisit of `read` by `write` keeps.
    fn cut_for(&mut self, write: EventId, read: EventId) {
        let graph = &self.graph;
        let cut = &mut self.revisit.cut;
        cut.read = Some(read);
        cut.keep_all(graph);
        let prefix = graph.prefix(write);
        let first = graph.event(read).stamp as usize;
        for &x in graph.order()[first..].iter().rev() {
            if !prefix.contains(x) {
                cut.keep[x.thread.slot()] = x.index;
            }
        }
    }
}

/// The other update that reads what this one has read. A revisit takes that one, or deletes it: a graph that keeps both as they are leads nowhere.
///
/// It breaks atomicity, so it is not executed; all that can follow is that the revisited read, as an update, revisits in turn. This write is before whatever writes then, so it is
/// always kept, and it stands after what the other update reads: that one is not `as_if_unrevisited`, so it is never revisited, nor deleted.
/// (Arrivals at a barrier, which that test lets pass, are last when they are added, and read what nobody else has updated.)
fn rival(graph: &Graph, write: EventId) -> Option<EventId> {
    let event = graph.event(write);
    let next = *graph.mo(event.location).get(graph.mo_index(write))?;
    let other = graph.event(next);
    (event.updates() && other.updates() && other.rf == event.rf).then_some(next)
}

/// Is the write next in modification order deleted? Then the write's place in what remains is reached from another placement.
fn placed_before_deleted(graph: &Graph, write: EventId, cut: &Cut) -> bool {
    let event = graph.event(write);
    event.operation.code == Code::Store
        && graph.mo(event.location).get(graph.mo_index(write)).is_some_and(|next| !cut.keeps(*next))
}

/// Would the exploration, had it never seen `write`, have added `x` just as it is?
fn as_if_unrevisited(graph: &Graph, x: EventId, write: EventId, cut: &Cut) -> bool {
    let event = graph.event(x);
    if event.operation.has_location() && !event.operation.meets() {
        let source = if event.reads() { event.rf } else { x };
        let later = &graph.mo(event.location)[graph.mo_index(source)..];
        if later.iter().any(|y| *y != write && *y != x && cut.keeps(*y)) {
            return false; // what remains holds a later write of this location
        }
    }
    // Was it itself revisited by a write that goes?
    let revisited = event.reads() && !event.rf.is_init() && graph.event(event.rf).stamp > event.stamp;
    !revisited || cut.keeps(event.rf)
}
