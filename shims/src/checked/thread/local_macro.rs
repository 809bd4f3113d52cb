//! `thread_local!`: std's forms, with attributes, visibility, and any number of items.

/// Declares thread-locals, as [`std::thread_local!`].
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = const $make:block; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $visibility static $name: $type = const $make);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = const $make:block) => {
        $(#[$attribute])* $visibility const $name: $crate::thread::LocalKey<$type> =
            $crate::__local_key!(|| const $make);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $make:expr; $($rest:tt)*) => {
        $crate::thread_local!($(#[$attribute])* $visibility static $name: $type = $make);
        $crate::thread_local!($($rest)*);
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $make:expr) => {
        $(#[$attribute])* $visibility const $name: $crate::thread::LocalKey<$type> =
            $crate::__local_key!(|| $make);
    };
}

/// The key of one thread-local: a word that only it has names it.
#[doc(hidden)]
#[macro_export]
macro_rules! __local_key {
    ($make:expr) => {
        $crate::thread::LocalKey::__new($make, || {
            static WORD: $crate::__private::Word = $crate::__private::Word::new(0);
            (&raw const WORD).addr()
        })
    };
}
