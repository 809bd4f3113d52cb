//! What a thread runs, in a form in which the engine can tell which threads are alike.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::thread::Result;

use mc_runtime::ops::{self, ARGUMENTS};

/// As many words as are passed in registers: what the code never looks at is then seen in its machine code.
type Words = [MaybeUninit<*const ()>; ARGUMENTS];

/// A closure that is called once.
pub(super) struct Code<F, T> {
    f: F,
    result: PhantomData<fn() -> T>,
}

impl<F: FnOnce() -> T, T> Code<F, T> {
    const FITS: bool = size_of::<F>() <= size_of::<Words>();

    pub(super) fn new(f: F) -> Self {
        Self { f, result: PhantomData }
    }

    /// Tells the engine what the next thread is made of.
    pub(super) fn liken(&self) {
        let code = call::<F, T> as *const ();
        if Self::FITS { ops::liken_call(code, &words(&self.f)) } else { ops::liken(code, &self.f) }
    }

    /// Calls it.
    pub(super) fn run(self) -> Result<T> {
        let f = ManuallyDrop::new(self.f);
        let [a, b, c, d, e] = words(&*f);
        let mut result = MaybeUninit::uninit();
        // SAFETY: the words are those of `f`, which is not used again, and the result goes to where there is room for it.
        unsafe { call::<F, T>(a, b, c, d, e, &mut result) };
        // SAFETY: written by `call`, which does not unwind.
        unsafe { result.assume_init() }
    }
}

/// The words of a closure, or its address if it has more.
fn words<F>(f: &F) -> Words {
    let mut words: Words = [MaybeUninit::zeroed(); ARGUMENTS];
    let from = ptr::from_ref(f);
    if size_of::<F>() <= size_of::<Words>() {
        // SAFETY: as many bytes as both have.
        unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), words.as_mut_ptr().cast(), size_of::<F>()) };
    } else {
        words[0].write(from.cast());
    }
    words
}

/// Calls the closure with these words. Never inlined: which of its arguments it reads is asked of its machine code.
///
/// # Safety
/// They are from [`words`], and this is the only use of the closure.
#[inline(never)]
unsafe extern "C" fn call<F: FnOnce() -> T, T>(
    a: MaybeUninit<*const ()>,
    b: MaybeUninit<*const ()>,
    c: MaybeUninit<*const ()>,
    d: MaybeUninit<*const ()>,
    e: MaybeUninit<*const ()>,
    result: &mut MaybeUninit<Result<T>>,
) {
    let words: Words = [a, b, c, d, e];
    let f: F = if Code::<F, T>::FITS {
        // SAFETY: the bytes of a closure that our caller gives up.
        unsafe { ptr::read_unaligned(words.as_ptr().cast()) }
    } else {
        // SAFETY: the address of one, by the same promise.
        unsafe { ptr::read(words[0].assume_init().cast()) }
    };
    result.write(catch_unwind(AssertUnwindSafe(f)));
}
