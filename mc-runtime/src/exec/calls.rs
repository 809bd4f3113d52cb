//! The calls that a thread is in, of instrumented functions, and the places in the code that accesses have, by number.

use crate::graph::Site;
use crate::symbols;
use rustc_hash::FxHashMap;

/// How many calls around the code of an access are known.
const AROUND: usize = 5;

/// Addresses in the code: of an access, and of the calls around it.
pub(crate) type Trace = [usize; AROUND + 1];

/// Where an access stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    /// In the source.
    Source(Site),
    /// In the code: the return address of the call that tells of it, and those of the calls around it, outwards; 0 where there are no more.
    Code(Trace),
}

/// A place, by number, and whether it is the checker's: the same one has the same number in all executions of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot(u32);

impl Spot {
    /// See [`symbols::is_checkers`].
    #[inline]
    pub(super) fn is_checkers(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The calls that a thread is in, of instrumented functions, each by where it was made from. Those that are too deep are not kept.
#[derive(Debug)]
pub(crate) struct Calls {
    /// The first stands for what is around the outermost.
    calls: Box<[Call; Calls::MOST + 1]>,
    depth: usize,
    /// The least depth since somebody asked, see `repeated`.
    pub(super) least: usize,
    /// The last one calls the system, in whose place the checker answers.
    pub(crate) in_system: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Call {
    from: usize,
    /// The number of the calls around what is done in this one, once somebody has asked; 0 before.
    around: u32,
}

impl Default for Calls {
    fn default() -> Self {
        Self { calls: Box::new([Call::default(); Self::MOST + 1]), depth: 0, least: 0, in_system: false }
    }
}

impl Calls {
    const MOST: usize = 256;

    /// A function was called from there.
    #[inline]
    pub(crate) fn enter(&mut self, from: usize) {
        self.depth += 1;
        if let Some(call) = self.calls.get_mut(self.depth) {
            *call = Call { from, around: 0 };
        }
    }

    /// It returns, or unwinds.
    #[inline]
    pub(crate) fn exit(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.least = self.least.min(self.depth);
    }

    /// Nothing was called yet.
    pub(super) fn clear(&mut self) {
        (self.depth, self.in_system) = (0, false);
    }

    /// Is it known from where the system is called?
    pub(super) fn call_system(&self) -> bool {
        self.in_system && self.depth > 0
    }

    /// How many calls there are around the function that has the operation at `code`: not one that is there for nothing but the operation.
    pub(super) fn around(&self, code: usize) -> usize {
        let trace = self.trace(Some(code));
        let wrappers = trace.into_iter().take_while(|address| *address != 0 && symbols::is_in_atomics(*address));
        self.depth.saturating_sub(wrappers.count())
    }

    /// Where the calls were made from, the innermost first.
    fn outwards(&self) -> impl Iterator<Item = usize> {
        self.calls[1..=self.depth.min(Self::MOST)].iter().rev().map(|call| call.from)
    }

    /// Addresses in these calls, the innermost first: one in that itself, if it is known, and where the others were made from.
    pub(super) fn trace(&self, code: Option<usize>) -> Trace {
        let mut trace = Trace::default();
        trace.iter_mut().zip(code.into_iter().chain(self.outwards())).for_each(|(place, at)| *place = at);
        trace
    }
}

/// All places that were asked for.
#[derive(Debug, Default)]
pub(super) struct Spots {
    spots: Vec<Where>,
    /// By an address in the code and the number of the calls around, or by a place in the source.
    numbers: FxHashMap<(usize, u32), Spot>,
    recent: Recent<Found, 4096>,
    around: FxHashMap<[usize; AROUND], u32>,
    recent_around: Recent<Around, 512>,
}

/// A place that was asked for: its key, packed, and its number.
type Found = (u64, Spot);

/// Around the code of an access: the calls, and their number.
type Around = ([usize; AROUND], u32);

/// What was asked for last, by a hash.
#[derive(Debug)]
struct Recent<T, const MANY: usize>(Box<[T; MANY]>);

impl<T: Copy + Default, const MANY: usize> Default for Recent<T, MANY> {
    fn default() -> Self {
        Self(Box::new([T::default(); MANY]))
    }
}

impl<T, const MANY: usize> Recent<T, MANY> {
    #[inline]
    fn get(&mut self, hash: usize) -> &mut T {
        &mut self.0[hash % MANY]
    }
}

/// Accesses that stand side by side in the code are side by side among the recent ones.
#[inline]
fn hash(code: usize, around: u32) -> usize {
    (code >> 2) + (around as usize).wrapping_mul(0x9e37_79b1)
}

/// An address in the code takes so many bits at most.
const ADDRESS: u32 = 47;
/// What has a larger number of the calls around is not among the recent ones.
const MOST_PACKED: u32 = 1 << (u64::BITS - ADDRESS);

impl Spots {
    /// The place of an access in the code, in these calls.
    #[inline]
    pub(super) fn in_code(&mut self, code: usize, calls: &mut Calls) -> Spot {
        let call = &calls.calls[calls.depth.min(Calls::MOST)];
        let around = if call.around == 0 { self.around(calls) } else { call.around };
        let key = code as u64 | u64::from(around) << ADDRESS;
        match *self.recent.get(hash(code, around)) {
            (known, spot) if known == key && around < MOST_PACKED => spot,
            _ => self.find((code, around), key, || Where::Code(calls.trace(Some(code)))),
        }
    }

    /// A place in the source.
    #[inline]
    pub(super) fn in_source(&mut self, site: Site) -> Spot {
        // No address in the code has no calls around.
        let key = site.map_or(0, |place| place.key());
        match *self.recent.get(hash(key, 0)) {
            (known, spot) if known == key as u64 && key != 0 => spot,
            _ => self.find((key, 0), key as u64, || Where::Source(site)),
        }
    }

    #[inline(never)]
    fn find(&mut self, key: (usize, u32), packed: u64, place: impl FnOnce() -> Where) -> Spot {
        let spots = &mut self.spots;
        let spot = *self.numbers.entry(key).or_insert_with(|| {
            let place = place();
            // Where std is instrumented, the checker's accesses are told by their heap.
            let is_checkers = !crate::instrumentation::is_on_in_std() && symbols::is_checkers(place);
            spots.push(place);
            Spot((spots.len() as u32 - 1) << 1 | u32::from(is_checkers))
        });
        if key.1 < MOST_PACKED {
            *self.recent.get(hash(key.0, key.1)) = (packed, spot);
        }
        spot
    }

    /// The number of the calls around what is done now.
    #[inline(never)]
    fn around(&mut self, calls: &mut Calls) -> u32 {
        let mut around = [0; AROUND];
        around.iter_mut().zip(calls.outwards()).for_each(|(place, at)| *place = at);
        let mix = |hash: usize, at: &usize| (hash.rotate_left(5) ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let known = self.recent_around.get(around.iter().fold(0, mix) >> 32);
        // Not by a call of the C library.
        let differs = known.0.iter().zip(&around).fold(0, |differs, (known, at)| differs | known ^ at) != 0;
        if differs || known.1 == 0 {
            let next = self.around.len() as u32 + 1;
            *known = (around, *self.around.entry(around).or_insert(next));
        }
        calls.calls[calls.depth.min(Calls::MOST)].around = known.1;
        known.1
    }

    /// The place that has this number.
    pub(super) fn place(&self, spot: Spot) -> Where {
        self.spots[spot.0 as usize >> 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(spots: &Spots, spot: Spot) -> Trace {
        match spots.place(spot) {
            Where::Code(trace) => trace,
            Where::Source(site) => panic!("{site:?}"),
        }
    }

    #[test]
    fn a_place_is_an_address_and_the_calls_around_it() {
        let (mut calls, mut spots) = (Calls::default(), Spots::default());
        assert_eq!(calls.trace(None), Trace::default());
        let outermost = spots.in_code(1, &mut calls);
        (10..17).for_each(|from| calls.enter(from));
        let inner = spots.in_code(1, &mut calls);
        assert_eq!(trace(&spots, outermost), [1, 0, 0, 0, 0, 0]);
        assert_eq!(trace(&spots, inner), [1, 16, 15, 14, 13, 12]);
        assert_eq!(calls.trace(None), [16, 15, 14, 13, 12, 11]);
        calls.exit();
        calls.enter(17);
        let other = spots.in_code(1, &mut calls);
        assert_eq!(trace(&spots, other), [1, 17, 15, 14, 13, 12]);
        calls.exit();
        calls.enter(16);
        assert_eq!(spots.in_code(1, &mut calls), inner, "the same calls again");
        assert_ne!(spots.in_code(2, &mut calls), inner);
        calls.clear();
        assert_eq!(spots.in_code(1, &mut calls), outermost);
    }

    #[test]
    fn calls_that_are_too_deep_are_left() {
        let (mut calls, mut spots) = (Calls::default(), Spots::default());
        (1..=Calls::MOST).for_each(|from| calls.enter(from));
        let deepest = spots.in_code(1, &mut calls);
        calls.enter(1_000);
        calls.enter(1_001);
        assert_eq!(spots.in_code(1, &mut calls), deepest);
        calls.exit();
        calls.exit();
        assert_eq!(calls.trace(None)[0], Calls::MOST);
    }

    #[test]
    fn places_that_share_a_number_among_the_recent_ones_are_told_apart() {
        let (mut calls, mut spots) = (Calls::default(), Spots::default());
        let of = |spots: &mut Spots, calls: &mut Calls| (1..20_000).map(|code| spots.in_code(code, calls)).collect();
        let first: Vec<Spot> = of(&mut spots, &mut calls);
        assert_eq!(of(&mut spots, &mut calls) as Vec<Spot>, first);
        for (code, spot) in (1..).zip(&first) {
            assert_eq!(trace(&spots, *spot)[0], code);
        }
    }

    #[test]
    fn places_in_the_source_are_told_from_those_in_the_code() {
        let mut spots = Spots::default();
        let here = crate::place::Place::from(std::panic::Location::caller());
        let unknown = spots.in_source(None);
        let known = spots.in_source(Some(here));
        let in_code = spots.in_code(here.key(), &mut Calls::default());
        assert!(in_code != unknown && in_code != known);
        assert_eq!((spots.in_source(None), spots.in_source(Some(here))), (unknown, known));
        assert!(matches!(spots.place(unknown), Where::Source(None)));
        assert!(matches!(spots.place(known), Where::Source(Some(place)) if place == here));
    }
}
