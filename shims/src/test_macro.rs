//! What `#[mc::test]` becomes. Only this package knows whether a checker is compiled in.

/// Without a checker: an ordinary test, whose body runs once.
#[cfg(not(mc))]
#[doc(hidden)]
#[macro_export]
macro_rules! __private_test {
    (
        attributes { $($attributes:tt)* }
        plain { $($plain:tt)* }
        function { $visibility:vis fn $name:ident, $text:expr }
        output { $output:ty }
        ignored { $ignored:expr }
        options { $(($option:expr, $value:expr),)* }
        body $body:block
    ) => {
        #[::core::prelude::v1::test]
        $($attributes)*
        $($plain)*
        $visibility fn $name() -> $output $body
    };
}

/// With a checker: an ordinary test that hands its body to the engine.
#[cfg(mc)]
#[doc(hidden)]
#[macro_export]
macro_rules! __private_test {
    (
        attributes { $($attributes:tt)* }
        plain { $($plain:tt)* }
        function { $visibility:vis fn $name:ident, $text:expr }
        output { $output:ty }
        ignored { $ignored:expr }
        options { $(($option:expr, $value:expr),)* }
        body $body:block
    ) => {
        #[::core::prelude::v1::test]
        $($attributes)*
        $visibility fn $name() {
            static META: $crate::__private::TestMeta = $crate::__private::TestMeta {
                module: ::core::module_path!(),
                function: $text,
                file: ::core::file!(),
                line: ::core::line!(),
                ignored: $ignored,
                options: &[$(($option, $value)),*],
            };
            fn body() -> $output $body
            $crate::__private::run_test(&META, body)
        }
    };
}
