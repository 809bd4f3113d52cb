//! Before and after, for each form in which a path can be written.

use super::*;

/// Compares without regard to spaces.
#[track_caller]
fn becomes(before: &str, after: &str) {
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let text = |tokens: TokenStream| tokens.to_string().replace(' ', "");
    assert_eq!(text(rewrite(tokens(before))), text(tokens(after)));
}

#[track_caller]
fn stays(text: &str) {
    becomes(text, text);
}

#[test]
fn paths_of_controlled_modules_are_replaced() {
    becomes("std::sync::Arc::new(1)", "::mc::sync::Arc::new(1)");
    becomes("::std::thread::spawn(f)", "::mc::thread::spawn(f)");
    becomes("core::sync::atomic::fence(o)", "::mc::sync::atomic::fence(o)");
    becomes("alloc::sync::Arc<core::cell::Cell<u8>>", "::mc::sync::Arc<::mc::cell::Cell<u8>>");
    becomes("std::hint::spin_loop(); core::hint::spin_loop()", "::mc::hint::spin_loop(); ::mc::hint::spin_loop()");
    becomes("std::time::Instant::now()", "::mc::time::Instant::now()");
}

#[test]
fn other_paths_are_left_alone() {
    stays("std::collections::HashMap::new()");
    stays("core::time::Duration::ZERO");
    stays("alloc::alloc::alloc(layout)");
    stays("std::synchronous::x");
    stays("mystd::sync::x");
    stays("let std = 1; std + sync");
    stays("struct S { std: sync }");
}

#[test]
fn a_path_that_only_ends_like_one_of_std_is_left_alone() {
    stays("crate::std::sync::Arc");
    stays("self::std::sync::Arc");
    stays("$crate::std::sync::Arc");
    stays("$std::sync::Arc");
    stays("other::core::cell::Cell");
    stays("use other::{std::sync::Arc, core::cell};");
}

#[test]
fn a_leading_colon_after_a_keyword_or_an_arrow_starts_a_path() {
    becomes("fn f() -> ::std::sync::Arc<u8>", "fn f() -> ::mc::sync::Arc<u8>");
    becomes("x as ::std::time::X", "x as ::mc::time::X");
    becomes("return ::std::thread::current()", "return ::mc::thread::current()");
    becomes("a => ::std::thread::current()", "a => ::mc::thread::current()");
    becomes("Vec<::std::cell::Cell<u8>>", "Vec<::mc::cell::Cell<u8>>");
    becomes("<::std::sync::Arc<T> as Clone>::clone", "<::mc::sync::Arc<T> as Clone>::clone");
    becomes("let x: ::std::sync::Arc<T>;", "let x: ::mc::sync::Arc<T>;");
}

#[test]
fn imports_are_replaced() {
    becomes("use std::thread;", "use ::mc::thread;");
    becomes("pub(crate) use ::std::sync as s;", "pub(crate) use ::mc::sync as s;");
    becomes("use std::sync::{self, atomic::*};", "use ::mc::sync::{self, atomic::*};");
}

#[test]
fn mixed_imports_are_split() {
    becomes(
        "use std::{sync::{Arc, mpsc::{self, Sender}}, collections::HashMap, thread, fmt as f};",
        "use {::mc::{sync::{Arc, mpsc::{self, Sender}}, thread}, std::{collections::HashMap, fmt as f}};",
    );
    becomes("use ::std::{cell::Cell, fmt};", "use {::mc::{cell::Cell}, ::std::{fmt}};");
    becomes("use std::{cell::Cell, thread as t,};", "use ::mc::{cell::Cell, thread as t};");
    becomes(
        "use {std::{sync::Arc, fmt}, core::cell::Cell, other::std::sync};",
        "use {{::mc::{sync::Arc}, std::{fmt}}, ::mc::cell::Cell, other::std::sync};",
    );
    stays("use std::{fmt, io::{self, Read}};");
}

#[test]
fn the_tokens_of_macros_are_rewritten_but_not_what_they_quote() {
    becomes("assert_eq!(std::thread::current().id(), x)", "assert_eq!(::mc::thread::current().id(), x)");
    becomes("vec![std::sync::Arc::new(0); 2]", "vec![::mc::sync::Arc::new(0); 2]");
    becomes(
        "macro_rules! m { () => { std::thread::yield_now() } }",
        "macro_rules! m { () => { ::mc::thread::yield_now() } }",
    );
    stays("stringify!(std::sync::Arc)");
    stays("quote! { std::sync::Arc }");
}

#[test]
fn thread_local_is_replaced_with_and_without_its_path() {
    becomes("thread_local! { static A: u8 = 1; }", "::mc::thread_local! { static A: u8 = 1; }");
    becomes(
        "std::thread_local! { static A: std::cell::Cell<u8> = x; }",
        "::mc::thread_local! { static A: ::mc::cell::Cell<u8> = x; }",
    );
    becomes("use std::thread_local;", "use ::mc::thread_local;");
    stays("other::thread_local! {}");
    stays("#[thread_local] static A: u8 = 1;");
}

#[test]
fn attributes_are_left_alone() {
    stays("#[doc = \"std::sync\"] #[some(std::sync::Arc)] struct A;");
    stays("#![some(std::thread)]");
}
