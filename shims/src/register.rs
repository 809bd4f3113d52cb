//! What `#[mc::test]` expands to, with and without a checker. Only this package is compiled with the `cfg(mc)` that decides:
//! a user's crate need not know that cfg, and may forbid unsafe code (the link section is named in a macro of another crate).
//!
//! Not here: which item becomes such a call (`mc-macros`), and what a check does (`mc_runtime::run_test`).

/// A test that the checker runs, and which workers and listings find in the link section `mc_tests`.
#[cfg(mc)]
#[doc(hidden)]
#[macro_export]
macro_rules! __private_test {
    (
        attributes { $($attributes:tt)* }
        plain { $($plain:tt)* }
        function { $vis:vis fn $name:ident, $text:literal }
        output { $output:ty }
        ignored { $ignored:expr }
        options { $($options:tt)* }
        body { $($body:tt)* }
    ) => {
        $($attributes)*
        #[::core::prelude::v1::test]
        $vis fn $name() {
            // Outside of the block below, whose statics would hide those of the same name that the body means.
            let body = || -> $output { $($body)* };
            $crate::__private::run_test(
                {
                    static META: $crate::__private::TestMeta = $crate::__private::TestMeta {
                        module: ::core::module_path!(),
                        function: $text,
                        file: ::core::file!(),
                        line: ::core::line!(),
                        ignored: $ignored,
                        options: &[$($options)*],
                    };
                    #[used]
                    #[unsafe(link_section = "mc_tests")]
                    static ENTRY: &$crate::__private::TestMeta = &META;
                    &ENTRY
                },
                body,
            )
        }
    };
}

/// A test as std has it.
#[cfg(not(mc))]
#[doc(hidden)]
#[macro_export]
macro_rules! __private_test {
    (
        attributes { $($attributes:tt)* }
        plain { $($plain:tt)* }
        function { $vis:vis fn $name:ident, $text:literal }
        output { $output:ty }
        ignored { $ignored:expr }
        options { $($options:tt)* }
        body { $($body:tt)* }
    ) => {
        $($attributes)*
        $($plain)*
        #[::core::prelude::v1::test]
        $vis fn $name() -> $output { $($body)* }
    };
}

/// What the expansions name.
#[cfg(mc)]
#[doc(hidden)]
pub mod __private {
    use std::fmt::Debug;
    use std::hint::black_box;

    pub use mc_runtime::meta::TestMeta;

    /// What a test may return.
    pub trait Passes {
        /// Panics if this is a failure.
        fn pass(self);
    }

    impl Passes for () {
        fn pass(self) {}
    }

    impl<E: Debug> Passes for Result<(), E> {
        #[track_caller]
        fn pass(self) {
            if let Err(error) = self {
                panic!("the test returned `Err({error:?})`");
            }
        }
    }

    /// Checks `body`. The entry's address is taken so that no linker drops the section that only `__start_mc_tests` names.
    pub fn run_test<R: Passes>(entry: &'static &'static TestMeta, body: impl Fn() -> R + Send + Sync + 'static) {
        mc_runtime::run_test(black_box(entry), move || body().pass());
    }
}
