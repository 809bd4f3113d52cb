// More of `atomic`: how threads use them, booleans and pointers.

use std::ptr;

use subject::sync::Arc;
use subject::sync::atomic::{self, AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};
use subject::{hint, thread};

#[test]
fn a_spin_lock_lets_one_in() {
    let (lock, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while lock.compare_exchange_weak(false, true, Acquire, Relaxed).is_err() {
                    hint::spin_loop();
                }
                let seen = count.load(Relaxed);
                count.store(seen + 1, Relaxed);
                lock.store(false, Release);
            });
        }
    });
    assert_eq!(count.into_inner(), 3);
}

#[test]
fn what_was_written_before_a_release_is_seen_after_an_acquire() {
    let (data, ready) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(42, Relaxed);
            ready.store(true, Release);
        });
        while !ready.load(Acquire) {
            hint::spin_loop();
        }
        assert_eq!(data.load(Relaxed), 42);
    });
}

#[test]
fn fences_order_relaxed_accesses() {
    let (data, ready) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(42, Relaxed);
            atomic::fence(Release);
            ready.store(true, Relaxed);
        });
        while !ready.load(Relaxed) {
            hint::spin_loop();
        }
        atomic::fence(Acquire);
        assert_eq!(data.load(Relaxed), 42);
    });
}

#[test]
fn one_of_two_that_say_and_then_look_sees_the_other() {
    for _ in 0..50 {
        let flags = [AtomicBool::new(false), AtomicBool::new(false)];
        let saw = thread::scope(|scope| {
            let threads = [0, 1].map(|me| {
                let flags = &flags;
                scope.spawn(move || {
                    flags[me].store(true, SeqCst);
                    flags[1 - me].load(SeqCst)
                })
            });
            threads.map(|thread| thread.join().unwrap())
        });
        assert!(saw[0] || saw[1]);
    }
}

#[test]
fn booleans_are_combined() {
    for (one, other) in [(false, false), (false, true), (true, false), (true, true)] {
        let after = |change: &dyn Fn(&AtomicBool) -> bool| {
            let flag = AtomicBool::new(one);
            assert_eq!(change(&flag), one);
            flag.into_inner()
        };
        assert_eq!(after(&|flag| flag.fetch_and(other, SeqCst)), one & other);
        assert_eq!(after(&|flag| flag.fetch_or(other, SeqCst)), one | other);
        assert_eq!(after(&|flag| flag.fetch_xor(other, SeqCst)), one ^ other);
        assert_eq!(after(&|flag| flag.fetch_nand(other, SeqCst)), !(one & other));
        assert_eq!(after(&|flag| flag.swap(other, SeqCst)), other);
        assert_eq!(after(&|flag| flag.fetch_not(SeqCst)), !one);
    }
}

#[test]
fn a_boolean_is_updated_by_a_function() {
    let mut flag = AtomicBool::new(false);
    assert_eq!(flag.fetch_update(SeqCst, SeqCst, |was| (!was).then_some(true)), Ok(false));
    assert_eq!(flag.fetch_update(SeqCst, SeqCst, |was| (!was).then_some(true)), Err(true));
    assert_eq!((flag.update(SeqCst, SeqCst, |was| !was), *flag.get_mut()), (true, false));
    assert_eq!(flag.try_update(SeqCst, SeqCst, |_| None), Err(false));
    assert_eq!(format!("{flag:?} {:?}", AtomicBool::from(true)), "false true");
}

#[test]
fn a_pointer_is_exchanged() {
    let (mut one, mut other) = (1, 2);
    let (to_one, to_other) = (&raw mut one, &raw mut other);
    let shared = AtomicPtr::new(to_one);
    assert_eq!(shared.compare_exchange(to_other, ptr::null_mut(), SeqCst, SeqCst), Err(to_one));
    assert_eq!(shared.compare_exchange(to_one, to_other, SeqCst, SeqCst), Ok(to_one));
    assert_eq!((shared.swap(ptr::null_mut(), SeqCst), shared.load(SeqCst).is_null()), (to_other, true));
    shared.store(to_other, SeqCst);
    // SAFETY: `other` lives, and nobody else has it.
    unsafe { *shared.load(SeqCst) = 5 };
    assert_eq!(other, 5);
}

#[test]
fn a_pointer_is_updated_by_a_function() {
    let mut array = [1, 2, 3];
    let first = array.as_mut_ptr();
    let shared = AtomicPtr::new(first);
    assert_eq!(shared.fetch_update(SeqCst, SeqCst, |p| Some(p.wrapping_add(2))), Ok(first));
    // SAFETY: the third element.
    assert_eq!(unsafe { *shared.load(SeqCst) }, 3);
    assert_eq!(shared.update(SeqCst, SeqCst, |p| p.wrapping_sub(1)), first.wrapping_add(2));
    assert_eq!(shared.try_update(SeqCst, SeqCst, |_| None), Err(first.wrapping_add(1)));
    assert_eq!(shared.fetch_ptr_sub(1, SeqCst), first.wrapping_add(1));
    assert_eq!((shared.fetch_byte_add(8, SeqCst), shared.into_inner()), (first, first.wrapping_add(2)));
}

#[test]
fn a_pointer_is_handed_to_another_thread() {
    let slot = Arc::new(AtomicPtr::new(ptr::null_mut::<String>()));
    let theirs = slot.clone();
    let thread = thread::spawn(move || theirs.store(Box::into_raw(Box::new("made there".to_owned())), Release));
    let found = loop {
        let found = slot.swap(ptr::null_mut(), Acquire);
        if !found.is_null() {
            break found;
        }
        thread::yield_now();
    };
    // SAFETY: from `into_raw`, and taken out of the slot, once.
    assert_eq!(*unsafe { Box::from_raw(found) }, "made there");
    thread.join().unwrap();
}

#[test]
fn pointers_are_made_and_shown() {
    let mut value = 1;
    let pointer = &raw mut value;
    assert!(AtomicPtr::<u8>::default().into_inner().is_null());
    assert_eq!(
        format!("{:p} {:?}", AtomicPtr::from(pointer), AtomicPtr::new(pointer)),
        format!("{pointer:p} {pointer:?}")
    );
}

#[test]
fn orders_are_compared_and_shown() {
    assert_eq!(format!("{:?} {:?}", Relaxed, AcqRel), "Relaxed AcqRel");
    assert!(SeqCst == SeqCst && Acquire != Release);
    atomic::compiler_fence(SeqCst);
}
