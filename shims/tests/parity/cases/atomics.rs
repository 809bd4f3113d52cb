use std::panic::catch_unwind;

use subject::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    compiler_fence, fence,
};

static COUNTER: AtomicUsize = AtomicUsize::new(3);
const INNER: u32 = AtomicU32::new(5).into_inner();

#[test]
fn constructors_and_into_inner_are_const() {
    assert_eq!((COUNTER.load(Relaxed), INNER), (3, 5));
}

#[test]
fn sizes_and_alignments_are_those_of_the_integers() {
    assert_eq!((size_of::<AtomicBool>(), size_of::<AtomicU8>(), size_of::<AtomicU16>()), (1, 1, 2));
    assert_eq!((size_of::<AtomicU32>(), size_of::<AtomicU64>()), (4, 8));
    assert_eq!(size_of::<AtomicPtr<u8>>(), size_of::<usize>());
    assert_eq!((align_of::<AtomicU64>(), align_of::<AtomicU8>()), (8, 1));
}

#[test]
fn arithmetic_wraps_in_the_width_and_returns_the_old_value() {
    let small = AtomicI8::new(i8::MAX);
    assert_eq!(small.fetch_add(1, Relaxed), i8::MAX);
    assert_eq!(small.fetch_sub(1, Relaxed), i8::MIN);
    assert_eq!(small.into_inner(), i8::MAX);
    let unsigned = AtomicU16::new(0);
    assert_eq!(unsigned.fetch_sub(1, SeqCst), 0);
    assert_eq!(unsigned.load(SeqCst), u16::MAX);
}

#[test]
fn bit_operations_return_the_old_value() {
    let word = AtomicU8::new(0b1100);
    assert_eq!(word.fetch_and(0b0110, AcqRel), 0b1100);
    assert_eq!(word.fetch_or(0b0001, AcqRel), 0b0100);
    assert_eq!(word.fetch_xor(0b1111, AcqRel), 0b0101);
    assert_eq!(word.fetch_nand(0b0010, AcqRel), 0b1010);
    assert_eq!(word.load(Acquire), !0b0010);
}

#[test]
fn extremes_are_taken_in_the_integer_s_own_order() {
    let signed = AtomicI64::new(-5);
    assert_eq!(signed.fetch_max(3, Relaxed), -5);
    assert_eq!(signed.fetch_min(-9, Relaxed), 3);
    assert_eq!(signed.load(Relaxed), -9);
    let unsigned = AtomicU64::new(5);
    assert_eq!(unsigned.fetch_max(u64::MAX, Relaxed), 5);
    assert_eq!(unsigned.fetch_min(7, Relaxed), u64::MAX);
}

#[test]
fn compare_exchange_replaces_only_what_it_expects() {
    let word = AtomicI16::new(-1);
    assert_eq!(word.compare_exchange(0, 1, SeqCst, Relaxed), Err(-1));
    assert_eq!(word.compare_exchange(-1, 1, Release, Acquire), Ok(-1));
    while word.compare_exchange_weak(1, 2, AcqRel, Relaxed).is_err() {}
    assert_eq!(word.swap(7, SeqCst), 2);
}

#[test]
#[expect(deprecated, reason = "std still has it")]
fn compare_and_swap_returns_what_was_there() {
    let word = AtomicU32::new(1);
    assert_eq!((word.compare_and_swap(0, 9, SeqCst), word.compare_and_swap(1, 9, SeqCst)), (1, 1));
    assert_eq!(word.load(SeqCst), 9);
}

#[test]
fn updates_stop_when_the_closure_gives_nothing() {
    let word = AtomicUsize::new(6);
    assert_eq!(word.fetch_update(SeqCst, SeqCst, |old| (old > 9).then_some(0)), Err(6));
    assert_eq!(word.fetch_update(Release, Relaxed, |old| Some(old * 2)), Ok(6));
    assert_eq!(word.try_update(AcqRel, Acquire, |old| old.checked_sub(20)), Err(12));
    assert_eq!(word.update(AcqRel, Acquire, |old| old + 1), 12);
    assert_eq!(word.load(Relaxed), 13);
}

#[test]
fn booleans_stay_booleans() {
    let flag = AtomicBool::new(true);
    assert!(flag.fetch_nand(true, SeqCst));
    assert!(!flag.fetch_nand(false, SeqCst));
    assert!(flag.fetch_not(SeqCst));
    assert!(!flag.fetch_or(true, SeqCst));
    assert!(flag.fetch_and(true, SeqCst));
    assert!(flag.fetch_xor(true, SeqCst));
    assert_eq!(flag.compare_exchange(false, true, SeqCst, SeqCst), Ok(false));
    assert_eq!(flag.fetch_update(SeqCst, SeqCst, |old| Some(!old)), Ok(true));
    assert!(!flag.into_inner());
}

#[test]
fn pointers_come_back_and_can_be_followed() {
    let mut values = [1_u32, 2, 3];
    let pointer = AtomicPtr::new(values.as_mut_ptr());
    assert_eq!(pointer.fetch_ptr_add(2, SeqCst), values.as_mut_ptr());
    // SAFETY: the pointer is to the third of three values.
    assert_eq!(unsafe { *pointer.load(SeqCst) }, 3);
    pointer.fetch_ptr_sub(1, SeqCst);
    pointer.fetch_byte_add(4, SeqCst);
    pointer.fetch_byte_sub(8, SeqCst);
    assert_eq!(pointer.load(SeqCst), values.as_mut_ptr());
    assert!(AtomicPtr::<u8>::default().load(SeqCst).is_null());
}

#[test]
fn pointers_can_carry_tags() {
    let mut value = 5_u64;
    let pointer = AtomicPtr::new(&raw mut value);
    assert_eq!(pointer.fetch_or(1, SeqCst), &raw mut value);
    assert_eq!(pointer.fetch_xor(1, SeqCst).addr(), (&raw mut value).addr() | 1);
    assert_eq!(pointer.fetch_and(!0, SeqCst), &raw mut value);
    // SAFETY: the tag is gone, so the pointer is to `value`.
    assert_eq!(unsafe { *pointer.load(SeqCst) }, 5);
}

#[test]
fn exclusive_access_and_pointers_reach_the_same_value() {
    let mut word = AtomicU32::new(1);
    *word.get_mut() += 1;
    // SAFETY: the pointer is to a live atomic that nobody else uses.
    unsafe { *word.as_ptr() += 1 };
    let mut plain = 3_u32;
    // SAFETY: `plain` is aligned, lives longer than the reference and is not used meanwhile.
    let shared = unsafe { AtomicU32::from_ptr(&raw mut plain) };
    shared.store(word.load(SeqCst) + 1, SeqCst);
    assert_eq!(plain, 4);
}

#[test]
fn orders_that_make_no_sense_panic() {
    let word = AtomicU32::new(0);
    let (acquire, release) = (std::hint::black_box(Acquire), std::hint::black_box(Release));
    let acq_rel = std::hint::black_box(AcqRel);
    assert!(catch_unwind(|| word.load(release)).is_err());
    assert!(catch_unwind(|| word.load(acq_rel)).is_err());
    assert!(catch_unwind(|| word.store(1, acquire)).is_err());
    assert!(catch_unwind(|| word.store(1, acq_rel)).is_err());
    assert!(catch_unwind(|| word.compare_exchange(0, 1, SeqCst, release)).is_err());
    assert!(catch_unwind(|| word.fetch_update(SeqCst, acq_rel, Some)).is_err());
    assert!(catch_unwind(|| fence(std::hint::black_box(Relaxed))).is_err());
    assert_eq!(word.load(Relaxed), 0);
}

#[test]
fn fences_of_every_other_order_are_accepted() {
    for order in [Acquire, Release, AcqRel, SeqCst] {
        fence(order);
        compiler_fence(order);
    }
}

#[test]
fn debug_default_and_from_are_those_of_the_value() {
    assert_eq!(format!("{:?}", AtomicI8::from(-3)), "-3");
    assert_eq!(format!("{:?} {:?}", AtomicBool::default(), AtomicU8::default()), "false 0");
    let mut value = 0_u8;
    let pointer = AtomicPtr::from(&raw mut value);
    assert_eq!(format!("{pointer:p} {pointer:?}"), format!("{:p} {:?}", &raw mut value, &raw mut value));
}
