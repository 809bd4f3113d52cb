//! `ReentrantMutex`: lock_api's over the lock of `mc::sync::Mutex`, and the names of the check's threads.

use std::num::NonZeroUsize;

use lock_api::GetThreadId;
use mc_runtime::ops;

use super::mutex::RawMutex;

/// A mutex that its holder may lock again, as `parking_lot::ReentrantMutex`.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// Shared access to the data of a locked [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// Shared access to a part of the data of a locked [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// A new, unlocked mutex.
pub const fn const_reentrant_mutex<T>(val: T) -> ReentrantMutex<T> {
    ReentrantMutex::from_raw(<RawMutex as lock_api::RawMutex>::INIT, <RawThreadId as lock_api::GetThreadId>::INIT, val)
}

/// The name of the calling thread.
pub struct RawThreadId;

// SAFETY: two threads that live at the same time never get the same number. Those of a check are small numbers, of which the engine gives
// one to one thread at a time; those outside are addresses of bytes of their own, and no such address is so small.
unsafe impl GetThreadId for RawThreadId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        std::thread_local!(static OWN: u8 = const { 0 });
        let key = match ops::current() {
            Some(key) => key.0 as usize + 1,
            None => OWN.with(|own| std::ptr::from_ref(own).addr()),
        };
        NonZeroUsize::new(key).expect("neither a number after 0 nor an address is 0")
    }
}
