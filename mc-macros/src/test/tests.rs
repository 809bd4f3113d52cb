//! What a test expands to. Errors are tested with the compiler, as people see them.

use super::*;

fn expanded(arguments: &str, item: &str) -> String {
    let tokens = expand(arguments.parse().unwrap(), item.parse().unwrap());
    prettyplease::unparse(&syn::parse2(tokens).unwrap())
}

#[test]
fn a_plain_test() {
    insta::assert_snapshot!(expanded(
        "",
        r#"
        /// Two threads.
        fn counts() {
            use std::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};
            let count = Arc::new(AtomicU32::new(0));
            let other = std::thread::spawn({ let count = count.clone(); move || count.fetch_add(1, SeqCst) });
            count.fetch_add(1, SeqCst);
            other.join().unwrap();
            assert_eq!(count.load(SeqCst), 2);
        }
        "#
    ));
}

#[test]
fn options_become_text() {
    insta::assert_snapshot!(expanded(
        r#"memory_model = "sc", max_executions = 10_000, seed = 0x5eed, strategy = "pct:3", allow_panics, require = "bounded",
           queue_limit = "100:oldest", max_events = 5u64, time_limit = "10s", max_memory = "1G", max_failures = 2, hang_limit = "5s","#,
        "fn f() {}"
    ));
}

#[test]
fn attributes_visibility_and_result_are_kept() {
    insta::assert_snapshot!(expanded(
        "",
        "#[ignore = \"slow\"] #[should_panic(expected = \"x\")] #[cfg(unix)] pub(crate) fn f() -> Result<(), std::sync::mpsc::RecvError> { #![expect(unused)] Ok(()) }"
    ));
}

#[test]
fn a_test_that_expects_a_failure_is_ignored_without_the_checker() {
    insta::assert_snapshot!(expanded("expect = \"data_race\"", "fn f() {}"));
    insta::assert_snapshot!(expanded("expect = \"data_race\"", "#[cfg_attr(miri, ignore)] fn f() {}"));
}
