//! Whole items, as people would see them.

use super::*;

fn expanded(item: &str) -> String {
    let tokens = expand(TokenStream::new(), item.parse().unwrap());
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

#[test]
fn a_module_is_rewritten_throughout() {
    insta::assert_snapshot!(expanded(
        r#"
        pub mod counter {
            //! Counts.
            use core::sync::atomic::{AtomicUsize, Ordering};
            use std::{sync::{Arc, Mutex}, thread};
            use std::collections::HashMap;

            thread_local! { static SEEN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) }; }

            /// All of them.
            pub struct Counters<T: ?Sized = ()> {
                named: Mutex<HashMap<String, ::std::sync::Arc<AtomicUsize>>>,
                value: std::cell::UnsafeCell<T>,
            }

            impl<T> Counters<T> {
                pub fn wait(&self, until: std::time::Instant) -> std::sync::LockResult<()> {
                    while std::time::Instant::now() < until {
                        std::hint::spin_loop();
                    }
                    assert!(!std::thread::panicking(), "{:?}", std::thread::current().name());
                    <std::sync::Arc<u8> as Default>::default();
                    Ok(())
                }
            }
        }
        "#
    ));
}

#[test]
fn a_static_a_trait_and_a_function_are_rewritten() {
    insta::assert_snapshot!(expanded(
        "static TURN: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);"
    ));
    insta::assert_snapshot!(expanded(
        "trait Lock { type Guard<'a>: Into<std::sync::MutexGuard<'a, u8>> where Self: 'a; }"
    ));
    insta::assert_snapshot!(expanded(
        "pub fn twice<F: Fn() + Send + Sync>(f: F) { std::thread::scope(|s| { s.spawn(&f); s.spawn(&f); }); }"
    ));
}

#[test]
fn a_method_without_a_body_is_no_item_and_is_rewritten_all_the_same() {
    let tokens = expand(TokenStream::new(), "fn lock(&self) -> std::sync::MutexGuard<'_, u8>;".parse().unwrap());
    let expected: TokenStream = "fn lock(&self) -> ::mc::sync::MutexGuard<'_, u8>;".parse().unwrap();
    assert_eq!(tokens.to_string(), expected.to_string());
}

#[test]
fn a_module_in_a_file_is_an_error_and_stays() {
    let tokens = expand(TokenStream::new(), "mod a { mod b; use std::sync::Arc; }".parse().unwrap()).to_string();
    assert!(tokens.contains("compile_error") && tokens.contains("`mod b;` is in a file"), "{tokens}");
    assert!(tokens.contains("use std :: sync :: Arc"), "{tokens}");
}

#[test]
fn modules_in_files_are_errors_wherever_they_are() {
    let errors = |item: &str| in_files(item.parse().unwrap()).map_or(0, |error| error.into_iter().count());
    assert_eq!(errors("mod a { pub(crate) mod b; mod c { fn f() { mod d; } } mod e {} }"), 2);
    assert_eq!(errors("mod a;"), 1);
    assert_eq!(errors("mod a { fn f() { let r#mod = if !{ mod b {} true } { 1 } else { 2 }; } }"), 0);
    // Text, or what a macro makes of it.
    assert_eq!(errors("fn f() { stringify! { mod a; } macro_rules! m { () => { mod b; } } }"), 0);
}
