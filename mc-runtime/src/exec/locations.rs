//! Which location of the graph an address is, in the running execution.
//!
//! A location is found by its address. Memory always holds the modification-order-maximal value of what was executed, so that an address
//! whose bits differ from what the engine wrote last is a new object there (a reused stack slot, a moved value, a write through `&mut`): a new location.

use super::arena::Heap;
use super::parts::Parts;
use super::readers::counts;
use crate::graph::Graph;
use crate::graph::event::Event;
use crate::ids::{EventId, LocationId, ThreadId};
use crate::operation::Operation;
use crate::ops::Width;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// The place of a location in the running execution.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    width: Width,
    /// What memory holds, if nobody but the engine wrote it.
    value: u64,
    /// The write that memory holds.
    holder: EventId,
    /// The thread that allocated the memory, if it is in an arena, and after how many of its events.
    maker: Option<(ThreadId, u32)>,
    /// In memory that was freed.
    freed: bool,
    /// The threads, by slot, as far as there are bits, that know of the allocation for good.
    known: u64,
    /// The location that was bound in the same word before, at another address or of another width.
    before: Option<LocationId>,
}

/// The address of what is gone, which no atomic has.
const NOWHERE: usize = 1;

/// Where an access was.
pub(super) struct Followed {
    /// In memory that was freed.
    pub freed: bool,
    /// The address, if that is in no arena.
    pub outside: Option<usize>,
}

/// All locations of the running execution.
#[derive(Debug, Default)]
pub(super) struct Locations {
    /// Of each word of eight bytes, the location that was bound in it last.
    by_word: FxHashMap<usize, LocationId>,
    /// Locations of which one has bytes of the other.
    overlaps: Vec<[LocationId; 2]>,
    places: Vec<Option<Place>>,
    /// The slot of the one that was bound or resolved last: most often it is asked for again.
    last: u32,
    /// All names before this one are in use, for the rest of the execution.
    free: u32,
    /// The atomics of all executions in which that was wanted, whether it is now, and whether some of them have bytes in common.
    parts: Parts,
    pub remembers_parts: bool,
    mixes: bool,
    /// What memory outside of the test's own held before the execution.
    saved: Vec<(usize, Width, u64)>,
}

impl Locations {
    /// Another execution begins.
    pub(super) fn reset(&mut self) {
        self.by_word.clear();
        self.overlaps.clear();
        self.places.clear();
        self.free = 0;
        if !self.saved.is_empty() {
            self.put_back_saved();
        }
    }

    #[inline(never)]
    fn put_back_saved(&mut self) {
        for (at, width, value) in self.saved.drain(..).rev() {
            write(at, width, value);
        }
    }

    /// Makes them what the others were in their execution.
    pub(super) fn copy_from(&mut self, other: &Self) {
        copy_fields!(Locations, other => self; by_word, overlaps, places, last, free, mixes, saved but parts, remembers_parts);
    }

    /// Those that have their place in the execution.
    pub(super) fn bound(&self) -> impl Iterator<Item = LocationId> + '_ {
        let places = self.places.iter().enumerate();
        places.filter(|(_, place)| place.is_some()).map(|(slot, _)| LocationId(slot as u32))
    }

    /// Does not put back what these addresses held.
    pub(super) fn forget_saved(&mut self, range: std::ops::Range<usize>) {
        self.saved.retain(|(at, ..)| !range.contains(at));
    }

    /// The location at an address: one that is bound to it, otherwise one whose name is free.
    pub(super) fn resolve(
        &mut self,
        graph: &mut Graph,
        at: usize,
        width: Width,
        heap: Option<&mut Heap>,
    ) -> LocationId {
        if let Some((location, place)) = self.newest_at(at, width)
            && place.value == read(at, width)
        {
            self.last = location.0;
            return location;
        }
        self.bind_free(graph, at, width, heap)
    }

    /// The location of this width that was bound to this address last.
    fn newest_at(&self, at: usize, width: Width) -> Option<(LocationId, &Place)> {
        // Nothing was bound after that, so there is no newer one at its address.
        let last = LocationId(self.last);
        if let Some(place) = self.place(last)
            && (place.at, place.width) == (at, width)
        {
            return Some((last, place));
        }
        let location = self.newest_in_word(at, width)?;
        Some((location, self.place(location)?))
    }

    /// As [`Locations::newest_at`]. Apart, or each operation would begin with hashing its word, needed or not.
    #[inline(never)]
    fn newest_in_word(&self, at: usize, width: Width) -> Option<LocationId> {
        let mut location = *self.by_word.get(&word(at))?;
        loop {
            let place = self.place(location).expect("bound");
            if (place.at, place.width) == (at, width) {
                return Some(location);
            }
            location = place.before?;
        }
    }

    /// Gives the address a location whose name is free.
    #[inline(never)]
    fn bind_free(&mut self, graph: &mut Graph, at: usize, width: Width, heap: Option<&mut Heap>) -> LocationId {
        let is_free = |l: &LocationId| self.place(*l).is_none() && !graph.is_accessed(*l);
        let location = (self.free..).map(LocationId).find(is_free).expect("there is no end of numbers");
        self.free = location.0 + 1;
        self.bind(graph, location, at, width, heap);
        location
    }

    fn place(&self, location: LocationId) -> Option<&Place> {
        self.places.get(location.slot())?.as_ref()
    }

    /// Gives a location of the graph, not yet met in this execution, its address.
    fn bind(&mut self, graph: &mut Graph, location: LocationId, at: usize, width: Width, heap: Option<&mut Heap>) {
        let value = read(at, width);
        let maker = heap.and_then(|h| h.watch(at)).map(|b| (ThreadId(b.slot), b.events));
        if maker.is_none() {
            self.save(at, width, value);
        }
        self.meet(at, width);
        graph.set_initial(location, value);
        let last = self.by_word.insert(word(at), location);
        let before = last.and_then(|last| self.bound_before(last, location, at, width));
        self.last = location.0;
        let place = Some(Place { at, width, value, holder: EventId::INIT, maker, freed: false, known: 0, before });
        if self.places.len() == location.slot() {
            return self.places.push(place);
        }
        if self.places.len() < location.slot() {
            self.make_places(location.slot() + 1);
        }
        self.places[location.slot()] = place;
    }

    /// A location has its place before those whose names were free earlier.
    #[cold]
    fn make_places(&mut self, needed: usize) {
        self.places.resize(needed, None);
    }

    /// What is in no arena is put back after the execution.
    #[inline(never)]
    fn save(&mut self, at: usize, width: Width, value: u64) {
        if super::is_static(at) && !self.saved.iter().any(|(known, as_wide, _)| (*known, *as_wide) == (at, width)) {
            self.saved.push((at, width, value));
        }
    }

    /// What is there now is put back after the execution, which is cut: a thread that unwinds changes it without the engine.
    #[cold]
    pub(super) fn keep(&mut self, at: usize, width: Width) {
        self.save(at, width, read(at, width));
    }

    /// What memory holds.
    pub(super) fn read_at(&self, at: usize, width: Width) -> u64 {
        read(at, width)
    }

    /// Changes memory without an event, and so as a plain write does: who accesses it next finds a new object. Returns what it held.
    pub(super) fn update(&mut self, at: usize, operation: &Operation, heap: Option<&mut Heap>) -> u64 {
        let old = read(at, operation.width);
        if heap.and_then(|h| h.watch(at)).is_none() {
            self.save(at, operation.width, old);
        }
        write(at, operation.width, operation.result(old).expect("an update"));
        old
    }

    /// The locations that have bytes of this memory, and whether it is all that they have.
    pub(super) fn sharing_bytes(&self, at: usize, size: usize) -> impl Iterator<Item = (LocationId, bool)> + '_ {
        let shares = move |place: &&Place| place.at < at + size && at < place.at + place.width.bytes();
        let known = if !self.by_word.is_empty() && self.knows_word(at) { &self.places[..] } else { &[] };
        let places = known.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.as_ref()?)));
        let sharing = places.filter(move |(_, place)| shares(place));
        sharing.map(move |(slot, place)| (LocationId(slot as u32), (place.at, place.width.bytes()) == (at, size)))
    }

    #[inline(never)]
    fn knows_word(&self, at: usize) -> bool {
        self.by_word.contains_key(&word(at))
    }

    /// The word has had a location before: which one the new one comes after, unless it takes its place.
    #[cold]
    fn bound_before(&mut self, last: LocationId, new: LocationId, at: usize, width: Width) -> Option<LocationId> {
        self.find_overlaps(new, at, width);
        let place = self.place(last)?;
        if (place.at, place.width) == (at, width) { place.before } else { Some(last) }
    }

    /// The word has another location: one with the same bytes, but not all of them the same?
    #[cold]
    fn find_overlaps(&mut self, location: LocationId, at: usize, width: Width) {
        let range = at..at + width.bytes();
        let overlaps = |place: &Place| {
            let other = place.at..place.at + place.width.bytes();
            other != range && other.start < range.end && range.start < other.end
        };
        let places = self.places.iter().enumerate();
        let others = places.filter(|(_, place)| place.as_ref().is_some_and(overlaps));
        self.overlaps.extend(others.map(|(slot, _)| [LocationId(slot as u32), location]));
    }

    /// There is an atomic here.
    #[inline]
    pub(super) fn meet(&mut self, at: usize, width: Width) {
        if self.remembers_parts {
            self.meet_part(at, width);
        }
    }

    #[cold]
    fn meet_part(&mut self, at: usize, width: Width) {
        self.mixes |= self.parts.meet(at, width.bytes());
    }

    /// Was there, in any execution, one with some bytes of another?
    pub(super) fn mix(&self) -> bool {
        self.mixes
    }

    /// Are there locations with bytes in common?
    pub(super) fn any_overlap(&self) -> bool {
        !self.overlaps.is_empty()
    }

    /// The locations that have some of the bytes of this one, but are not the same.
    pub(super) fn overlapping(&self, location: LocationId) -> impl Iterator<Item = LocationId> + '_ {
        self.overlaps.iter().filter_map(move |[a, b]| match location {
            l if l == *a => Some(*b),
            l if l == *b => Some(*a),
            _ => None,
        })
    }

    /// Whether the access at `at` can be the recorded one of `location`; binds it at the first.
    pub(super) fn matches(
        &mut self,
        graph: &mut Graph,
        location: LocationId,
        at: usize,
        width: Width,
        heap: Option<&mut Heap>,
    ) -> bool {
        match self.place(location) {
            Some(place) => place.at == at && place.width == width,
            None => {
                self.bind(graph, location, at, width, heap);
                true
            }
        }
    }

    /// Was this location accessed at this address before, in memory of the test's own that is not freed, and shares no bytes with another?
    #[inline]
    pub(super) fn is_known(&self, location: LocationId, at: usize, width: Width) -> bool {
        let is_known = |p: &Place| p.at == at && p.width == width && !p.freed && p.maker.is_some();
        self.place(location).is_some_and(is_known) && !self.any_overlap()
    }

    /// An access was executed: memory follows modification order, and the word of a reader-writer lock counts its readers.
    #[inline(always)]
    pub(super) fn follow(&mut self, graph: &Graph, id: EventId, event: &Event) -> Followed {
        let place = self.places[event.location.slot()].as_mut().expect("bound by its access");
        if event.writes {
            let is_last = event.place as usize == graph.mo(event.location).len();
            let is_newer = || place.holder.is_init() || event.place > graph.event(place.holder).place;
            if is_last || is_newer() {
                (place.value, place.holder) = (event.value, id);
                write(place.at, place.width, event.value);
            }
        } else if let Some(more) = counts(event) {
            place.value = if more { place.value.wrapping_add(1) } else { place.value.wrapping_sub(1) };
            write(place.at, place.width, place.value);
        }
        Followed { freed: place.freed, outside: place.maker.is_none().then_some(place.at) }
    }

    /// The address of a location that was met in this execution.
    pub(super) fn address(&self, location: LocationId) -> Option<usize> {
        self.place(location).map(|p| p.at)
    }

    /// Who allocated the memory of the location, and after how many events, unless this thread is known to know of that. `for_good`: the caller asks now, and what it
    /// finds holds for the rest of the execution.
    pub(super) fn maker(&mut self, location: LocationId, thread: ThreadId, for_good: bool) -> Option<(ThreadId, u32)> {
        let place = self.places.get_mut(location.slot())?.as_mut()?;
        let bit = 1_u64.checked_shl(thread.0).unwrap_or(0);
        if place.known & bit != 0 {
            return None;
        }
        place.known |= if for_good { bit } else { 0 };
        place.maker
    }

    /// Is the location at this address?
    pub(super) fn is_at(&self, location: LocationId, at: usize) -> bool {
        self.place(location).is_some_and(|p| p.at == at)
    }

    /// All locations in a range of memory.
    pub(super) fn within(&self, range: (usize, usize)) -> impl Iterator<Item = LocationId> + '_ {
        let inside = move |place: &Option<Place>| place.is_some_and(|p| (range.0..range.1).contains(&p.at));
        let places = self.places.iter().enumerate();
        places.filter(move |(_, place)| inside(place)).map(|(slot, _)| LocationId(slot as u32))
    }

    /// The memory is used again: what is accessed there from now on is another object.
    pub(super) fn retire(&mut self, range: (usize, usize)) {
        let retired = self.places.iter_mut().flatten().filter(|place| (range.0..range.1).contains(&place.at));
        for place in retired {
            self.by_word.remove(&word(place.at));
            place.at = NOWHERE;
        }
        self.last = u32::MAX;
    }

    /// Marks all locations in a range of memory as freed.
    pub(super) fn free(&mut self, range: (usize, usize)) {
        let freed = self.places.iter_mut().flatten().filter(|place| (range.0..range.1).contains(&place.at));
        freed.for_each(|place| place.freed = true);
    }
}

fn word(at: usize) -> usize {
    at / size_of::<u64>()
}

macro_rules! atomic {
    ($at:expr, $type:ty, $atomic:ty) => {{
        // SAFETY: the address comes from the atomic that the calling thread is accessing right now, of this width and so aligned, or
        // (`saved`) from one that outlives the execution; all accesses to it are atomic, or exclusive.
        unsafe { <$atomic>::from_ptr($at as *mut $type) }
    }};
}

fn read(at: usize, width: Width) -> u64 {
    match width {
        Width::W32 => u64::from(atomic!(at, u32, AtomicU32).load(Ordering::Relaxed)),
        Width::W64 => atomic!(at, u64, AtomicU64).load(Ordering::Relaxed),
        _ => read_narrow(at, width),
    }
}

fn write(at: usize, width: Width, value: u64) {
    match width {
        Width::W32 => atomic!(at, u32, AtomicU32).store(value as u32, Ordering::Relaxed),
        Width::W64 => atomic!(at, u64, AtomicU64).store(value, Ordering::Relaxed),
        _ => write_narrow(at, width, value),
    }
}

// Apart, so that the common widths are told from each other without a table of jumps.
#[inline(never)]
fn read_narrow(at: usize, width: Width) -> u64 {
    match width {
        Width::W8 => u64::from(atomic!(at, u8, AtomicU8).load(Ordering::Relaxed)),
        _ => u64::from(atomic!(at, u16, AtomicU16).load(Ordering::Relaxed)),
    }
}

#[inline(never)]
fn write_narrow(at: usize, width: Width, value: u64) {
    match width {
        Width::W8 => atomic!(at, u8, AtomicU8).store(value as u8, Ordering::Relaxed),
        _ => atomic!(at, u16, AtomicU16).store(value as u16, Ordering::Relaxed),
    }
}
