use std::fmt::Debug;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

use subject::cell::{Cell, UnsafeCell};
use subject::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};
use subject::sync::{
    Arc, Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, OnceState, RwLock,
    RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult, Weak,
};
use subject::thread::{AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId};
use subject::time::Instant;

/// Neither `Send` nor `Sync`, nor safe to unwind across.
type Bound = PhantomData<(*const Cell<u8>, &'static mut u8)>;
/// `Send`, not `Sync`.
type Sends = std::cell::Cell<u8>;

/// Does `$type` implement `$trait`? An inherent constant is preferred to the one of a trait.
macro_rules! is {
    ($type:ty: $trait:path) => {{
        trait Otherwise {
            const IS: bool = false;
        }
        impl<T: ?Sized> Otherwise for T {}
        struct Asked<T: ?Sized>(PhantomData<T>);
        impl<T: ?Sized + $trait> Asked<T> {
            const IS: bool = true;
        }
        // The unit has each of the traits: both constants are used, whatever `$type` has.
        let (_, _) = (<Asked<()>>::IS, <Asked<()> as Otherwise>::IS);
        <Asked<$type>>::IS
    }};
}

/// `Send`, `Sync`, `UnwindSafe`, `RefUnwindSafe`, `Unpin`, as five characters.
macro_rules! autos {
    ($type:ty) => {{
        let all = [
            (is!($type: Send), 's'),
            (is!($type: Sync), 'y'),
            (is!($type: UnwindSafe), 'u'),
            (is!($type: RefUnwindSafe), 'r'),
            (is!($type: Unpin), 'p'),
        ];
        all.map(|(is, letter)| if is { letter } else { '-' }).iter().collect::<String>()
    }};
}

#[test]
fn atomics_have_std_s_auto_traits() {
    assert_eq!(autos!(AtomicBool), "syurp");
    assert_eq!(autos!(AtomicU64), "syurp");
    assert_eq!(autos!(AtomicPtr<u8>), "syurp");
    assert_eq!(autos!(AtomicPtr<Sends>), "sy-rp");
}

#[test]
fn locks_have_std_s_auto_traits() {
    assert_eq!(autos!(Mutex<u8>), "syurp");
    assert_eq!(autos!(Mutex<Sends>), "syurp");
    assert_eq!(autos!(Mutex<Bound>), "--urp");
    assert_eq!(autos!(Mutex<dyn Debug>), "--ur-");
    assert_eq!(autos!(RwLock<u8>), "syurp");
    assert_eq!(autos!(RwLock<Sends>), "s-urp");
    assert_eq!(autos!(RwLock<Bound>), "--urp");
}

#[test]
fn guards_stay_with_their_thread() {
    assert_eq!(autos!(MutexGuard<'static, u8>), "-yurp");
    assert_eq!(autos!(MutexGuard<'static, Sends>), "--urp");
    assert_eq!(autos!(RwLockReadGuard<'static, u8>), "-yurp");
    assert_eq!(autos!(RwLockReadGuard<'static, Sends>), "----p");
    assert_eq!(autos!(RwLockWriteGuard<'static, u8>), "-yurp");
    assert_eq!(autos!(RwLockWriteGuard<'static, Sends>), "--urp");
}

#[test]
fn what_waits_has_std_s_auto_traits() {
    assert_eq!(autos!(Condvar), "syurp");
    assert_eq!(autos!(WaitTimeoutResult), "syurp");
    assert_eq!(autos!(Barrier), "syurp");
    assert_eq!(autos!(BarrierWaitResult), "syurp");
}

#[test]
fn what_is_initialised_once_has_std_s_auto_traits() {
    assert_eq!(autos!(Once), "syurp");
    assert_eq!(autos!(OnceState), "s-u-p");
    assert_eq!(autos!(OnceLock<u8>), "syurp");
    assert_eq!(autos!(OnceLock<Sends>), "s-u-p");
    assert_eq!(autos!(OnceLock<Bound>), "----p");
    assert_eq!(autos!(LazyLock<u8>), "syurp");
    assert_eq!(autos!(LazyLock<Sends>), "s-u-p");
    assert_eq!(autos!(LazyLock<u8, Sends>), "syurp");
    assert_eq!(autos!(LazyLock<Bound>), "----p");
}

#[test]
fn shared_pointers_have_std_s_auto_traits() {
    assert_eq!(autos!(Arc<u8>), "syurp");
    assert_eq!(autos!(Arc<Sends>), "----p");
    assert_eq!(autos!(Arc<std::marker::PhantomPinned>), "syurp");
    assert_eq!(autos!(Weak<u8>), "syurp");
    assert_eq!(autos!(Weak<Sends>), "----p");
    assert_eq!(autos!(Weak<std::marker::PhantomPinned>), "syurp");
}

#[test]
fn thread_types_have_std_s_auto_traits() {
    assert_eq!(autos!(JoinHandle<u8>), "sy--p");
    assert_eq!(autos!(JoinHandle<Bound>), "sy--p");
    assert_eq!(autos!(ScopedJoinHandle<'static, u8>), "sy--p");
    assert_eq!(autos!(ScopedJoinHandle<'static, Bound>), "----p");
    assert_eq!(autos!(Scope<'static, 'static>), "sy-rp");
    assert_eq!(autos!(Thread), "syurp");
    assert_eq!(autos!(ThreadId), "syurp");
    assert_eq!(autos!(Builder), "syurp");
    assert_eq!(autos!(LocalKey<Bound>), "syurp");
    assert_eq!(autos!(AccessError), "syurp");
}

#[test]
fn cells_and_instants_have_std_s_auto_traits() {
    assert_eq!(autos!(Cell<u8>), "s-u-p");
    assert_eq!(autos!(UnsafeCell<u8>), "s-u-p");
    assert_eq!(autos!(Instant), "syurp");
}

#[test]
fn what_can_be_compared_copied_or_shown_in_std_can_here() {
    assert!(is!(WaitTimeoutResult: Copy) && is!(WaitTimeoutResult: Eq));
    assert!(is!(ThreadId: Copy) && is!(ThreadId: Eq) && is!(ThreadId: std::hash::Hash) && !is!(ThreadId: Ord));
    assert!(is!(Thread: Clone) && !is!(Thread: Eq));
    assert!(is!(AccessError: Copy));
    fn error(_: impl std::error::Error) {}
    let _: fn(AccessError) = error;
    assert!(is!(Instant: Ord) && is!(Instant: std::hash::Hash) && !is!(Instant: Default));
    assert!(is!(JoinHandle<Bound>: Debug) && is!(LocalKey<Bound>: Debug) && is!(Weak<Bound>: Debug));
    assert!(!is!(Mutex<u8>: Clone) && !is!(Once: Default) && !is!(Barrier: Default) && !is!(Builder: Default));
    assert!(is!(Condvar: Default) && is!(OnceLock<Bound>: Default) && is!(Weak<Bound>: Default));
}

#[test]
fn guards_are_covariant_where_std_s_are() {
    fn shorter<'a>(guard: RwLockReadGuard<'a, &'static str>) -> RwLockReadGuard<'a, &'a str> {
        guard
    }
    let lock = RwLock::new("text");
    assert_eq!(*shorter(lock.read().unwrap()), "text");
}
