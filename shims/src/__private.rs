//! What the macros name. No promise of stability.

use std::fmt::Debug;

/// What a test may return.
pub trait TestResult {
    /// Fails the test for an error.
    fn unwrap_result(self);
}

impl TestResult for () {
    fn unwrap_result(self) {}
}

impl<E: Debug> TestResult for Result<(), E> {
    #[track_caller]
    fn unwrap_result(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}

#[cfg(any(mc, feature = "checked"))]
pub use checked::*;

#[cfg(any(mc, feature = "checked"))]
mod checked {
    use std::panic::AssertUnwindSafe;
    pub use std::sync::atomic::AtomicUsize as Word;

    pub use mc_runtime::meta::TestMeta;

    use super::TestResult;
    use crate::checked::thread::locals;

    /// Runs the body of a checked test, in the engine's first thread.
    pub fn run_body<R: TestResult>(body: impl FnOnce() -> R) {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| body().unwrap_result()));
        locals::run_destructors();
        if let Err(payload) = outcome {
            std::panic::resume_unwind(payload);
        }
    }

    /// Checks a test.
    pub fn run_test<R: TestResult + 'static>(meta: &'static TestMeta, body: fn() -> R) {
        mc_runtime::run_test(meta, move || run_body(body));
    }
}
