//! Compare-exchanges, of which weak ones may fail for no reason.

use super::{Label, Width, access, assume, choose_as, operation, wait_for, with_engine};
use crate::exec::Weak;
use crate::operation::{Code, Operation};
use std::panic::Location;
use std::sync::atomic::Ordering;

/// `compare_exchange` (or `_weak`); the old value, `Ok` if it was replaced.
///
/// A weak one may fail although the value is the expected one. That is a data choice like any other, made at most
/// `Options::spurious_failures` times by each thread in an execution.
#[track_caller]
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "std's own signature, and where")]
pub fn compare_exchange(
    at: *mut (),
    width: Width,
    expected: u64,
    new: u64,
    success: Ordering,
    failure: Ordering,
    weak: bool,
    label: Label,
) -> Option<Result<u64, u64>> {
    if weak && fails_spuriously()? {
        let seen = access(at, operation(Code::Load, (0, 0), width, failure, label))?.old;
        if seen == expected {
            end_weak(true);
        } else {
            fail_in_loop();
        }
        return Some(Err(seen));
    }
    let operation = operation(Code::CompareExchange, (expected, new), width, success, label);
    let operation = Operation { failure: failure.into(), ..operation };
    let accessed = access(at, operation)?;
    match (weak, accessed.wrote) {
        (true, true) => end_weak(false),
        (true, false) => weak_failed(),
        (false, _) => {}
    }
    Some(if accessed.wrote { Ok(accessed.old) } else { Err(accessed.old) })
}

/// Does a weak compare-exchange of the calling thread fail for no reason, if it would succeed?
#[track_caller]
#[inline(never)]
fn fails_spuriously() -> Option<bool> {
    let at = Location::caller();
    match with_engine(|e| e.weak(at))? {
        Weak::Strong => Some(false),
        Weak::Fails => Some(true),
        Weak::Open => {
            let fails = choose_as(2, Label::SpuriousFailure)? == 1;
            with_engine(|e| e.begin_weak(at, fails));
            Some(fails)
        }
    }
}

/// What was chosen for it has happened.
#[track_caller]
#[inline(never)]
fn end_weak(failed_spuriously: bool) {
    let at = Location::caller();
    with_engine(|e| e.end_weak(at, failed_spuriously));
}

/// It has failed because of the value.
#[track_caller]
#[inline(never)]
fn weak_failed() {
    let at = Location::caller();
    wait_for(|e| e.weak_failed(at));
}

/// It was to fail for no reason, and fails because of the value: it may still do as chosen, if it is in a loop. Otherwise that is what the strong one does.
#[track_caller]
#[inline(never)]
fn fail_in_loop() {
    let at = Location::caller();
    assume(with_engine(|e| e.is_in_weak_loop(at)) != Some(false));
}
