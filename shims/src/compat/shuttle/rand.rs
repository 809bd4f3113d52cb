//! `shuttle::rand`: random numbers (by the traits of rand 0.8) that are part of the execution, so that a replay has the same.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

use mc_runtime::ops;
pub use rand::{Rng, RngCore};

/// Where random numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Data {
    /// Each is a choice of the sampler.
    Drawn,
    /// From nowhere: nobody could try all of them.
    Refused,
    /// Where all executions are explored, each thread has a sequence of its own, always the same.
    Fixed,
}

/// What the test that runs has asked for: written by its body before anything else, the same in each execution.
static DATA: AtomicU8 = AtomicU8::new(Data::Drawn as u8);

pub(super) fn begin(data: Data) {
    DATA.store(data as u8, Ordering::Relaxed);
}

crate::thread_local! {
    /// How many numbers of its sequence the thread has had.
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// 32 random bits.
#[track_caller]
fn draw() -> u32 {
    if !ops::explores() {
        // A schedule has room for 32 bits.
        return match ops::choose(1 << 32) {
            Some(value) => value as u32,
            None => fixed(),
        };
    }
    assert!(
        DATA.load(Ordering::Relaxed) != Data::Refused as u8,
        "random data where all executions are explored: `DfsScheduler::new(.., true)` gives each thread one sequence of it"
    );
    fixed()
}

/// The next of the calling thread's own sequence.
fn fixed() -> u32 {
    let thread = super::current::get_current_task().map_or(0, |task| usize::from(task) as u64);
    let taken = TAKEN.with(|taken| taken.replace(taken.get() + 1));
    mixed(mixed(thread).wrapping_add(taken)) as u32
}

/// One step of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

/// Generators.
pub mod rngs {
    use rand::{CryptoRng, Error, RngCore};

    /// A generator whose numbers are part of the execution.
    #[derive(Clone, Debug, Default)]
    pub struct ThreadRng(());

    impl RngCore for ThreadRng {
        #[track_caller]
        fn next_u32(&mut self) -> u32 {
            super::draw()
        }

        #[track_caller]
        fn next_u64(&mut self) -> u64 {
            u64::from(super::draw()) << 32 | u64::from(super::draw())
        }

        #[track_caller]
        fn fill_bytes(&mut self, dest: &mut [u8]) {
            for chunk in dest.chunks_mut(4) {
                chunk.copy_from_slice(&super::draw().to_le_bytes()[..chunk.len()]);
            }
        }

        #[track_caller]
        fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
            self.fill_bytes(dest);
            Ok(())
        }
    }

    impl CryptoRng for ThreadRng {}
}

/// A generator whose numbers are part of the execution.
pub fn thread_rng() -> rngs::ThreadRng {
    rngs::ThreadRng::default()
}
