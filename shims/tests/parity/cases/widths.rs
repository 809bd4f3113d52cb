// Every atomic integer: what depends on its width or on its sign.

use subject::sync::atomic::Ordering::*;
use subject::thread;

macro_rules! width {
    ($module:ident, $atomic:ident, $int:ident) => {
        mod $module {
            use super::*;
            use subject::sync::atomic::$atomic;

            #[test]
            fn it_adds_and_subtracts_around_its_ends() {
                let number = $atomic::new($int::MAX);
                assert_eq!(number.fetch_add(2, SeqCst), $int::MAX);
                assert_eq!(number.fetch_sub(3, SeqCst), $int::MIN.wrapping_add(1));
                assert_eq!(number.into_inner(), $int::MAX - 1);
            }

            #[test]
            fn it_changes_single_bits() {
                let top = $int::MIN | ($int::MAX - ($int::MAX >> 1));
                let number = $atomic::new(0b1100);
                assert_eq!(number.fetch_or(top, Relaxed), 0b1100);
                assert_eq!(number.fetch_xor(0b0110, Relaxed), top | 0b1100);
                assert_eq!(number.fetch_and(!0b1000, Relaxed), top | 0b1010);
                assert_eq!(number.fetch_nand(0b0010, Relaxed), top | 0b0010);
                assert_eq!(number.load(Relaxed), !0b0010);
            }

            #[test]
            fn it_compares_with_its_sign() {
                let number = $atomic::new(5);
                assert_eq!(number.fetch_max($int::MIN, AcqRel), 5);
                assert_eq!(number.fetch_max($int::MAX, AcqRel), 5);
                assert_eq!(number.fetch_min(3, AcqRel), $int::MAX);
                assert_eq!(number.fetch_min($int::MIN, AcqRel), 3);
                assert_eq!(number.load(Acquire), $int::MIN);
            }

            #[test]
            fn it_is_replaced_only_if_it_is_what_is_expected() {
                let number = $atomic::new($int::MIN);
                assert_eq!(number.compare_exchange($int::MAX, 1, AcqRel, Acquire), Err($int::MIN));
                assert_eq!(number.compare_exchange($int::MIN, 1, Release, Relaxed), Ok($int::MIN));
                while let Err(found) = number.compare_exchange_weak(1, 2, SeqCst, SeqCst) {
                    assert_eq!(found, 1);
                }
                assert_eq!(number.compare_exchange_weak(1, 3, Acquire, Relaxed), Err(2));
                assert_eq!((number.swap(9, AcqRel), number.load(SeqCst)), (2, 9));
            }

            #[test]
            fn it_is_updated_by_a_function() {
                let number = $atomic::new(7);
                assert_eq!(number.fetch_update(SeqCst, SeqCst, |n| (n < 9).then(|| n + 2)), Ok(7));
                assert_eq!(number.fetch_update(SeqCst, SeqCst, |n| (n < 9).then(|| n + 2)), Err(9));
                assert_eq!(number.try_update(AcqRel, Acquire, |n| n.checked_sub(1)), Ok(9));
                assert_eq!((number.update(Relaxed, Relaxed, |n| n / 2), number.into_inner()), (8, 4));
            }

            #[test]
            fn it_is_where_its_value_is() {
                let mut number = $atomic::new(1);
                *number.get_mut() += 1;
                // SAFETY: nobody else has the number.
                unsafe { *number.as_ptr() += 1 };
                assert_eq!(number.load(Relaxed), 3);
                let mut plain: $int = 4;
                {
                    // SAFETY: an integer of its own, which is only reached through the atomic as long as that is used.
                    let shared = unsafe { $atomic::from_ptr(&raw mut plain) };
                    shared.store($int::MAX, Release);
                }
                assert_eq!(
                    (plain, size_of::<$atomic>(), align_of::<$atomic>()),
                    ($int::MAX, size_of::<$int>(), size_of::<$int>())
                );
            }

            #[test]
            fn it_is_made_from_and_shown_as_its_value() {
                assert_eq!($atomic::default().into_inner(), 0);
                assert_eq!(
                    format!("{:?} {:#?}", $atomic::from($int::MIN), $atomic::new(3)),
                    format!("{} 3", $int::MIN)
                );
                const MADE: $int = $atomic::new(8).into_inner();
                assert_eq!(MADE, 8);
            }

            #[test]
            fn it_adds_up_what_threads_add() {
                let number = $atomic::new(0);
                thread::scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn(|| (0..10).for_each(|_| _ = number.fetch_add(1, Relaxed)));
                    }
                });
                assert_eq!(number.into_inner(), 40);
            }
        }
    };
}

width!(i8_, AtomicI8, i8);
width!(i16_, AtomicI16, i16);
width!(i32_, AtomicI32, i32);
width!(i64_, AtomicI64, i64);
width!(isize_, AtomicIsize, isize);
width!(u8_, AtomicU8, u8);
width!(u16_, AtomicU16, u16);
width!(u32_, AtomicU32, u32);
width!(u64_, AtomicU64, u64);
width!(usize_, AtomicUsize, usize);
