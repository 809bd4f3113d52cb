//! Weak compare-exchanges that fail for no reason, although the value is the expected one.
//!
//! Whether one does is a data choice, made before it. In a loop that tries until it succeeds, a choice in each round would make rounds without end of a wait for a lock
//! that somebody else has. So there it is made once, for the first time that the compare-exchange would succeed: a *run* lasts from the choice to that time. Rounds
//! before are failures of their own kind, with or without it. A run that ends without that time, because the thread gives up, is what the other choice is too, and is dropped.

use super::access::has_effect;
use super::{Engine, Step, key_of};
use crate::graph::event::Event;
use crate::options::MemoryModel;
use std::panic::Location;
use std::ptr;

type Place = &'static Location<'static>;

/// From a choice to the time that it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    at: *const Location<'static>,
    /// The compare-exchange fails when it would succeed.
    fails: bool,
}

/// How a weak compare-exchange goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weak {
    /// As a strong one.
    Strong,
    /// It fails, if it would succeed.
    Fails,
    /// That is to be chosen.
    Open,
}

/// A failure for no reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    at: *const Location<'static>,
    /// How many events the thread had made after it.
    position: usize,
}

/// What happens for no reason, in all executions of a check: what was left out of it where it could matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spurious {
    /// How often a thread that had gone on without looking could have been woken once more.
    pub wakeups_cut: u64,
    /// The weak compare-exchanges.
    pub sites: Sites,
}

/// What failures for no reason lead to, by the place of the weak compare-exchange, in all executions of a check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites(Vec<Site>);

#[derive(Clone, Copy, Debug)]
struct Site {
    at: *const Location<'static>,
    /// One has failed for no reason here.
    failed: bool,
    /// After that, a thread has done something else than to come back.
    strays: bool,
    /// How often one could have failed for no reason here, after others had, and was not tried.
    cut: u64,
}

impl Sites {
    fn at(&mut self, at: *const Location<'static>) -> &mut Site {
        let known = self.0.iter().position(|site| ptr::eq(site.at, at));
        let index = known.unwrap_or_else(|| {
            self.0.push(Site { at, failed: false, strays: false, cut: 0 });
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    /// How often one more failure for no reason was left out where it could have mattered: it would not have led back.
    pub(crate) fn cut(&self) -> u64 {
        self.0.iter().filter(|site| site.strays || !site.failed).map(|site| site.cut).sum()
    }
}

impl Engine {
    /// The running thread comes to the weak compare-exchange at `at`. On x86 it is the strong one.
    pub(crate) fn weak(&mut self, at: Place) -> Weak {
        let limit = self.options.spurious_failures;
        let x86 = self.options.memory_model == MemoryModel::Tso;
        if let Some(failed) = self.me().failed.take()
            && !self.has_come_back(failed, at)
        {
            self.spurious.sites.at(failed.at).strays = true;
            self.me().strays = true;
        }
        let me = self.me();
        if let Some(run) = me.weak.iter().find(|run| ptr::eq(run.at, at)) {
            return if run.fails { Weak::Fails } else { Weak::Strong };
        }
        let used = me.spurious + me.weak.iter().filter(|run| run.fails).count() as u32;
        if self.cutting || x86 || used >= limit { Weak::Strong } else { Weak::Open }
    }

    /// Has the running thread, since its weak compare-exchange failed for no reason, come back to that, or straight back to a read of the round that led there? Then
    /// one failure more is taken for one round more.
    fn has_come_back(&self, failed: Failed, at: Place) -> bool {
        let graph = &self.explorer.graph;
        let (before, since) = graph.thread(self.current())[..self.me_ref().position].split_at(failed.position);
        let only_reads = |event: &&Event| !has_effect(graph, event);
        let again = since.iter().take_while(only_reads).any(|event| {
            let round = before.iter().rev().take_while(only_reads);
            event.site.is_some() && round.into_iter().any(|earlier| earlier.site == event.site)
        });
        again || ptr::eq(failed.at, at)
    }

    /// That was chosen.
    pub(crate) fn begin_weak(&mut self, at: Place, fails: bool) {
        self.me().weak.push(Run { at, fails });
    }

    /// It has done what was chosen for it.
    pub(crate) fn end_weak(&mut self, at: Place, failed_spuriously: bool) {
        let limit = self.options.spurious_failures;
        self.probe.forget();
        let me = self.me();
        let is_cut =
            !failed_spuriously && me.strays && me.spurious >= limit && !me.weak.iter().any(|run| ptr::eq(run.at, at));
        if failed_spuriously {
            me.spurious += 1;
            me.failed = Some(Failed { at, position: me.position });
            me.rounds.failed_by_chance();
        }
        me.weak.retain(|run| !ptr::eq(run.at, at));
        me.weakly_failed.retain(|known| !ptr::eq(*known, at));
        if failed_spuriously || is_cut {
            let site = self.spurious.sites.at(at);
            site.failed |= failed_spuriously;
            site.cut += u64::from(is_cut);
        }
    }

    /// It has failed because of the value. Where that was so before, it is in a loop, and this must be known from the start.
    pub(crate) fn weak_failed(&mut self, at: Place) -> Step<()> {
        if self.is_in_weak_loop(at) {
            return Step::Done(());
        }
        let me = self.me();
        me.weak.retain(|run| !ptr::eq(run.at, at));
        if me.weakly_failed.iter().any(|known| ptr::eq(*known, at)) {
            return self.learn(key(at));
        }
        me.weakly_failed.push(at);
        Step::Done(())
    }

    /// Is it known to be in a loop?
    pub(crate) fn is_in_weak_loop(&self, at: Place) -> bool {
        !self.learned.is_empty() && self.has_learned(key(at))
    }

    /// Does the running thread, which ends, owe a failure that it has chosen?
    pub(super) fn owes_failure(&self) -> bool {
        self.me_ref().weak.iter().any(|run| run.fails)
    }
}

/// Of the place in the source, so that it is the same in every process.
fn key(at: Place) -> u64 {
    key_of(ptr::from_ref(at).addr(), || {
        let text = at.file().bytes().chain(at.line().to_le_bytes()).chain(at.column().to_le_bytes());
        text.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)) | 1
    })
}
