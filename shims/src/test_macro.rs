//! What `#[mc::test]` expands to, with and without a checker. Only this package is compiled with the `cfg(mc)` that decides:
//! a user's crate need not know that cfg, and may forbid unsafe code (the link section is named in a macro of another crate).
//!
//! Not here: which item becomes such a call (`mc-macros`), and what a check does (`__private`).

/// A test that the checker runs, and which workers and listings find in the link section `mc_tests`.
#[cfg(any(mc, feature = "checked"))]
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
            let body: fn() -> $output = || { $($body)* };
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
                    // With its address taken, no linker drops a section that only `__start_mc_tests` names.
                    *::core::hint::black_box(&ENTRY)
                },
                body,
            )
        }
    };
}

/// A test as std has it.
#[cfg(not(any(mc, feature = "checked")))]
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
