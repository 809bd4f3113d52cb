//! The one crate that the facades are made from: compiled with the real std.

pub extern crate alloc as real_alloc;
pub extern crate core as real_core;
pub extern crate std as real_std;

pub use mc;
use mc::unmodified::harness::{self, ShouldPanic, Std, Test};

/// A test as the facade of `test` describes it, in types that all crates share: its path, whether it is ignored, whether it should panic and with which message, and itself.
pub type Described = (&'static str, bool, Option<Option<&'static str>>, fn() -> Result<(), String>);

/// What that calls: by its name alone where the crates must not be compiled against this one.
#[unsafe(no_mangle)]
pub fn mc_test_main(tests: &[Described], checker: &[&str], is_real_std: bool) {
    let test = |(name, ignored, should_panic, body): &Described| {
        let should_panic = match should_panic {
            None => ShouldPanic::No,
            Some(None) => ShouldPanic::Yes,
            Some(Some(message)) => ShouldPanic::With(message),
        };
        Test { name: *name, ignored: *ignored, should_panic, body: *body }
    };
    harness::main(tests.iter().map(test), checker, if is_real_std { Std::Real } else { Std::Checked });
}
