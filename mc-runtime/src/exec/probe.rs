//! The running thread is put back to where an earlier read of its own was, which is answered a value, to see whether it comes to the same operation in the same state as now.
//!
//! Not here: why that is asked (`reread`, `values`), and what a state is (`state`).

use super::access::Accessed;
use super::round::{Arrival, Round, copy, is_equal};
use super::state::{Around, Frame, image, own, put_back};
use super::{Engine, Step};
use crate::operation::Operation;
use crate::place::Place;

/// Where in the code the earlier read stands, the last one, and what the thread comes to.
pub(super) type Path = [Place; 3];

/// Those that are known to be asked about, or that lead elsewhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    known: Vec<Path>,
    refuted: Vec<Path>,
}

impl Paths {
    /// Are there any?
    pub(super) fn any(&self) -> bool {
        !self.known.is_empty()
    }

    /// Does one of them begin here?
    pub(super) fn begins_at(&self, site: Place) -> bool {
        self.any() && self.any_begins_at(site)
    }

    #[inline(never)]
    fn any_begins_at(&self, site: Place) -> bool {
        self.known.iter().any(|[first, ..]| *first == site)
    }

    /// Is this the last read of one of them?
    pub(super) fn ends_with(&self, site: Place) -> bool {
        self.known.iter().any(|[_, last, _]| *last == site)
    }

    pub(super) fn is_refuted(&self, path: Path) -> bool {
        self.refuted.contains(&path)
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Does the thread come from the earlier read to what follows the last one, if it sees what that has seen? See `reread`.
    Newer,
    /// Does it come to the next read again, if it sees the same value? See `values`.
    Same,
}

/// What is being tried.
#[derive(Debug, Default)]
pub(super) struct Probe {
    doing: Doing,
    /// What the thread came to before it was put back, and in which state. As long as the latter can be said.
    asked: Option<(usize, Operation)>,
    own: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Doing {
    #[default]
    Nothing,
    /// The running thread has been put back: what is asked, for which path, and how many reads there were since the earlier one, itself included.
    Runs(Way, Path, usize),
    /// It has come to the same read again, as [`Way::Same`] asks, and makes it now: `Explorer::same_way`.
    Arrived,
    /// It is to be put back to a read that was taken back, see `older`.
    Returns,
    /// It makes that now.
    Returned,
}

impl Probe {
    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.doing != Doing::Nothing
    }

    /// Has the running thread been put back?
    #[inline(always)]
    pub(super) fn runs(&self) -> bool {
        matches!(self.doing, Doing::Runs(..))
    }

    /// The running thread is to be put back to a read that was taken back, see `older`.
    pub(super) fn return_to_read(&mut self) {
        self.doing = Doing::Returns;
    }

    /// It is over.
    pub(super) fn stop(&mut self) {
        self.doing = Doing::Nothing;
    }

    /// Something was done on the way whose traces are in no state.
    pub(super) fn forget(&mut self) {
        self.asked = None;
    }
}

impl Engine {
    fn paths(&mut self, way: Way) -> &mut Paths {
        match way {
            Way::Newer => &mut self.loops.rereads,
            Way::Same => &mut self.loops.values,
        }
    }

    /// Can the running thread, which is at this frame, be put back to the load with which the round began? Nothing that is compared must have changed but its stack, whose end says where the thread was resumed from.
    pub(super) fn can_put_back(&self, round: &Round, frame: &Frame) -> bool {
        /// How many bytes a coroutine's link to what has resumed it has at most.
        const LINK: usize = 32;
        let end = round.image.last_chunk::<LINK>();
        round.stack == frame.stack()
            && end.is_some()
            && end == image(frame, self.stack.base).last_chunk()
            && is_equal(&round.shared, |look| self.shared.all(look))
    }

    /// Tries whether the running thread, which arrives somewhere, comes there from the read so many reads ago if that sees `value`: the step is its answer. A path that is new is learned first.
    /// `None`: it cannot be tried here.
    pub(super) fn try_way(
        &mut self,
        (way, path, reads): (Way, Path, usize),
        value: u64,
        arrival: Arrival<'_>,
    ) -> Option<Step<Accessed>> {
        let paths = self.paths(way);
        if !paths.known.contains(&path) {
            paths.known.push(path);
            return Some(self.start_again());
        }
        self.find_shared();
        let earlier = self.me_ref().rounds.recent().nth(reads - 1)?;
        if !self.can_put_back(earlier, arrival.frame) {
            return None;
        }
        let dead = self.loops.dead(arrival.frame.code);
        copy(&mut self.probe.own, |look| own(arrival.frame, dead, self.stack.base, look));
        (self.probe.doing, self.probe.asked) = (Doing::Runs(way, path, reads), Some(arrival.asked));
        Some(Step::Done(Accessed { old: value, wrote: false }))
    }

    /// The running thread has been answered what it came to before: it is where it was at the earlier read. Or it has made the read to which it has come again. `None`: it is to be put back to one that was taken back.
    #[inline(never)]
    pub(super) fn go_on_probing(&mut self, step: Step<Accessed>, frame: &mut Frame) -> Option<Step<Accessed>> {
        match self.probe.doing {
            Doing::Nothing => {}
            Doing::Runs(_, _, reads) => {
                if let Some(earlier) = self.me_ref().rounds.recent().nth(reads - 1) {
                    // SAFETY: the frame of the earlier read was at this address (who asks compares it), and the caller's functions are all that has run on this part of the stack.
                    unsafe { put_back(frame, &earlier.image) };
                }
            }
            Doing::Arrived => {
                self.probe.stop();
                self.explorer.same_way = false;
                // If it waits, others may change what is on the way: it is asked again.
                if matches!(step, Step::Done(_)) {
                    self.stop_at_value();
                }
            }
            Doing::Returns => {
                self.probe.doing = Doing::Returned;
                return None;
            }
            Doing::Returned => {
                self.probe.stop();
                return Some(self.has_returned(step));
            }
        }
        Some(step)
    }

    /// It comes to an access from there. Is that the same, in the same state?
    #[cold]
    pub(super) fn end_probe(&mut self, at: usize, operation: &Operation, frame: &Frame) -> Option<Step<Accessed>> {
        let Doing::Runs(way, _, reads) = self.probe.doing else { return None };
        self.find_shared();
        let dead = self.loops.dead(frame.code);
        let around = Around { base: self.stack.base, shared: &self.shared };
        let earlier = self.me_ref().rounds.recent().nth(reads - 1)?;
        let frees = self.heap.as_ref().is_some_and(|heap| !heap.freed.is_empty() || heap.double_free.is_some());
        let is_same = !frees
            && self.probe.asked == Some((at, self.as_modelled(operation)))
            && is_equal(&self.probe.own, |look| own(frame, dead, around.base, look))
            && is_equal(&earlier.shared, |look| around.shared.all(look));
        if !is_same {
            return Some(self.fails_probe());
        }
        self.probe.stop();
        match way {
            Way::Newer => return self.repeats_reads(reads as u32, frame),
            Way::Same => (self.probe.doing, self.explorer.same_way) = (Doing::Arrived, true),
        }
        None
    }

    /// It does something else.
    #[cold]
    pub(super) fn fails_probe<T>(&mut self) -> Step<T> {
        if let Doing::Runs(way, path, _) = std::mem::take(&mut self.probe.doing) {
            let paths = self.paths(way);
            paths.known.retain(|known| *known != path);
            paths.refuted.push(path);
        }
        self.start_again()
    }
}
