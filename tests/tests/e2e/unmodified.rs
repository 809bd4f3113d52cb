//! Crates as they are, with std's own types: `--std`.

use mc_tests::fixture::{Fixture, Run};

use crate::{fixture, names, test};

/// The checker is compiled by itself for this, with what its feature needs.
pub(crate) fn unmodified() -> Fixture {
    fixture("unmodified").with_env("CARGO_NET_OFFLINE", "false")
}

#[test]
fn every_test_is_checked_as_it_is() {
    let fixture = unmodified();
    for threads in ["coroutines", "os"] {
        let flags = ["--std", "--workspace", "--test", "all", "--message-format", "json", "--threads", threads];
        every_test(&fixture.cargo_mc(["test"].iter().chain(&flags)));
    }
}

fn every_test(run: &Run) {
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    for (name, verdict, executions) in [
        ("afresh", "proved", 2),
        ("gated", "proved", 6),
        ("hashed", "proved", 1),
        ("host", "ran", 1),
        ("inferred", "ran", 1),
        ("kept", "proved", 1),
        ("left_behind", "proved", 2),
        ("locked", "proved", 2),
        ("mapped", "proved", 1),
        ("owned", "proved", 4),
        ("owned_in_turn", "proved", 2),
        ("panics", "ran", 1),
        ("panics_elsewhere", "proved", 1),
        ("returns", "ran", 1),
    ] {
        let test = test(run, name);
        assert_eq!((&test["verdict"], &test["executions"]), (&verdict.into(), &executions.into()), "{test}");
        assert_eq!(test["passed"], true, "{test}");
    }
    // How many executions: in code without optimisations, rounds of the loop look different that are not.
    assert_eq!(test(run, "spun")["verdict"], "proved");
    let failed = [
        ("counted_but_not_ordered", "data_race", "tests/all.rs"),
        ("does_not_panic", "panic", "does not panic"),
        ("freed", "use_after_free", "memory that was freed"),
        ("freed_between_accesses", "use_after_free", "memory that was freed"),
        ("gate_without_a_call", "deadlock", "nobody can move"),
        ("is_stuck_in_the_middle_of_a_line", "deadlock", "nobody can move"),
        ("left_its_block", "out_of_bounds", "8 bytes at tests/all.rs:80, from byte 8 of a block that has 12"),
        ("lost", "leak", "64 bytes"),
        ("lost_update", "panic", "assertion"),
        ("panics_in_a_thread", "panic", "a scoped thread panicked\nT1 panicked at tests/all.rs:318: the worker saw it"),
        ("panics_otherwise", "panic", "boo"),
        ("raced", "data_race", "tests/all.rs"),
        ("returns_an_error", "panic", "termination value"),
        ("spun_without_order", "data_race", "tests/all.rs"),
        ("stuck", "deadlock", "cycle"),
        ("taken_for_another", "panic", "it is the first one"),
        ("written_before_and_after_a_flag", "data_race", "tests/all.rs"),
    ];
    for (name, kind, words) in failed {
        let test = test(run, name);
        let failure = &test["failures"][0];
        assert_eq!((&test["verdict"], &failure["kind"]), (&"failed".into(), &kind.into()), "{test}");
        assert!(failure["message"].as_str().unwrap().contains(words), "{test}");
        assert_eq!(test["failures"].as_array().unwrap().len(), 1, "{test}");
    }
    // What the system does for a crate is told where that calls its function for it.
    let waits = &test(run, "gate_without_a_call")["failures"][0]["message"];
    assert!(waits.as_str().unwrap().contains("waits in park at tests/all.rs:218"), "{waits}");
    let bounded = test(run, "taken_for_what_was_just_freed");
    let bound = &bounded["bounds"][0];
    assert_eq!((&bounded["verdict"], &bounded["executions"]), (&"bounded".into(), &1.into()), "{bounded}");
    assert_eq!((&bound["limit"], &bound["cut"]), (&"address_reuse".into(), &1.into()), "{bounded}");
    assert_eq!((&bound["thread"], &bound["file"]), (&"main".into(), &"tests/all.rs".into()), "{bounded}");
    assert_eq!(names(run).len(), 16 + failed.len(), "all but the ignored one");
}

#[test]
fn a_failure_is_replayed() {
    let fixture = unmodified();
    let run = fixture.cargo_mc(["test", "--std", "--exact", "raced"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("cargo mc replay --std mc1."), "{}", run.stdout);
    let replay = fixture.cargo_mc(["replay", "--std", "raced"]);
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("data race"), "{}", replay.stdout);
}

/// What is left out must not depend on who is the last owner of an `Arc`, or which of two threads that are alike comes first.
#[test]
fn what_only_another_thread_would_show_is_found() {
    let fixture = unmodified();
    let run = fixture.cargo_mc(["test", "--std", "--test", "owners", "--message-format", "json"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let failed = [
        ("asks_where_it_is_dropped", "panic"),
        ("asks_where_it_is_dropped_with_what_it_owns", "panic"),
        ("is_a_block_that_a_destructor_reads", "data_race"),
        ("is_a_static_that_a_destructor_reads", "data_race"),
        ("is_counted_after_it_was_freed", "use_after_free"),
        ("is_freed_before_the_last_owner_goes", "use_after_free"),
        ("is_freed_beside_a_scope", "use_after_free"),
        ("is_read_between_joins", "data_race"),
        ("is_read_between_spawns", "data_race"),
        ("is_read_by_who_was_an_owner", "use_after_free"),
        ("is_where_another_owner_has_freed", "panic"),
        ("is_who_takes_it_out", "panic"),
        ("is_written_between_spawns", "data_race"),
        ("panics_when_it_is_dropped", "panic"),
    ];
    for (name, kind) in failed {
        let test = test(&run, name);
        assert_eq!(test["failures"][0]["kind"], kind, "{test}");
    }
    let passed = ["are_alike", "is_all_its_own"];
    for name in passed {
        let test = test(&run, name);
        assert_eq!((&test["verdict"], &test["executions"]), (&"proved".into(), &1.into()), "{test}");
    }
    assert_eq!(names(&run).len(), failed.len() + passed.len());
}

/// What the compiler makes of it must not hide what it accesses, nor what is left out that others do.
#[test]
fn races_of_optimised_code_are_found() {
    let fixture = unmodified();
    let run = fixture.cargo_mc(["test", "--std", "--release", "--test", "optimised", "--message-format", "json"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let raced = [
        "all_are_written_at_once",
        "is_read_in_a_round",
        "is_read_where_an_exchange_fails",
        "three_bytes_are_written_at_once",
    ];
    for name in raced {
        let test = test(&run, name);
        assert_eq!(test["failures"][0]["kind"], "data_race", "{test}");
    }
    for (name, executions) in [("is_read_beside_what_is_written", 1), ("is_left_in_a_static", 1)] {
        let test = test(&run, name);
        assert_eq!((&test["verdict"], &test["executions"]), (&"proved".into(), &executions.into()), "{test}");
    }
    assert_eq!(names(&run).len(), raced.len() + 2);
    let replay = fixture.cargo_mc(["replay", "--std", "--release", "is_read_in_a_round"]);
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
}

#[test]
fn what_reaches_out_of_a_test_is_told_with_its_place() {
    let fixture = unmodified();
    let run = fixture.cargo_mc(["test", "--std", "--test", "outside", "--message-format", "json"]);
    assert_eq!(run.code, 121, "{}\n{}", run.stdout, run.stderr);
    let within = [("is_alone", "ran", 1), ("reads_a_file", "proved", 2), ("hands_a_file_on", "proved", 1)];
    for (name, verdict, executions) in within {
        let test = test(&run, name);
        assert_eq!((&test["verdict"], &test["executions"]), (&verdict.into(), &executions.into()), "{test}");
    }
    let refused = [
        ("locks_in_c", "`pthread_mutex_lock`", 66),
        ("locks_as_c11_does", "`mtx_lock`", 129),
        ("makes_a_thread_in_c", "a real thread", 59),
        ("reads_what_somebody_writes", "system call `read`", 32),
        ("shares_a_file", "system call `read` of a file that others read, too,", 104),
        ("sleeps", "system call `clock_nanosleep`", 49),
        ("writes_a_file", "system call `openat`", 38),
        ("writes_a_file_before_it_has_threads", "system call `openat`", 43),
    ];
    for (name, words, line) in refused {
        let failure = &test(&run, name)["failures"][0];
        assert_eq!(failure["kind"], "uncontrolled", "{failure}");
        assert!(failure["message"].as_str().unwrap().contains(words), "{failure}");
        assert_eq!((&failure["file"], &failure["line"]), (&"tests/outside.rs".into(), &line.into()), "{failure}");
    }
    assert_eq!(names(&run).len(), within.len() + refused.len());
    let replay = fixture.cargo_mc(["replay", "--std", "reads_what_somebody_writes"]);
    assert_eq!(replay.code, 121, "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("stdin().read_line"), "{}", replay.stdout);
}

#[test]
fn what_never_ends_is_ended() {
    let flags = ["test", "--std", "--test", "without_end", "--hang-limit", "100ms", "--message-format", "json"];
    let run = unmodified().cargo_mc(flags);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let found = [("computes", "hang"), ("hints", "hang"), ("overflows_in_a_thread", "stack_overflow")];
    for (name, kind) in found {
        assert_eq!(test(&run, name)["failures"][0]["kind"], kind, "{}", run.stdout);
    }
    assert_eq!(names(&run).len(), found.len());
}

#[test]
fn memory_that_nobody_has_written_is_found_by_what_depends_on_it() {
    let fixture = unmodified();
    let flags = ["test", "--std", "--instrument", "uninit", "--test", "unwritten", "--message-format", "json"];
    let run = fixture.cargo_mc(flags);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    let passing = ["grown", "moved_with_what_none_leaves_alone", "written_by_std"];
    for name in passing {
        assert_eq!(test(&run, name)["verdict"], "proved", "{}", run.stdout);
    }
    let failing = [
        ("decides", 54, "8 bytes at tests/unwritten.rs:54, 8 of them never written", "does `fetch_add(1, Relaxed)`"),
        ("is_asserted", 73, "main reads", "right: 1\nWith other bytes: assertion"),
        ("is_copied", 97, "320 bytes at tests/unwritten.rs:97, 320 of them", "events of it have other values"),
        ("is_stored", 66, "T1 reads", "events of it have other values"),
        ("is_too_early", 87, "main reads", "left: 0  right: 7"),
        ("is_waited_for", 129, "T1 reads", "deadlock"),
    ];
    for (name, line, words, difference) in failing {
        let failure = &test(&run, name)["failures"][0];
        assert_eq!((&failure["kind"], &failure["line"]), (&"uninit".into(), &line.into()), "{failure}");
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains(words) && message.contains(difference), "{failure}");
    }
    assert_eq!(names(&run).len(), passing.len() + failing.len() + 1);
    // It is run once more to the same race, whoever comes first.
    for seed in ["1", "2", "3", "4"] {
        let sampled = fixture.cargo_mc([&flags[..], &["--strategy", "walk", "--seed", seed, "races_at_once"]].concat());
        let failure = &test(&sampled, "races_at_once")["failures"][0];
        assert_eq!(failure["kind"], "data_race", "{failure}");
    }
    // The schedule says what was asked for.
    let schedule = test(&run, "is_stored")["failures"][0]["schedule"].as_str().unwrap().to_owned();
    let replay = fixture.cargo_mc(["replay", "--std", &schedule, "is_stored"]);
    assert_eq!(replay.code, 100, "{}\n{}", replay.stdout, replay.stderr);
    assert!(replay.stdout.contains("8 of them never written"), "{}", replay.stdout);
}

#[test]
fn without_plain_memory_nothing_is_proved() {
    let fixture = unmodified();
    let run = fixture.cargo_mc([
        "test",
        "--std",
        "--instrument",
        "atomics",
        "--message-format",
        "json",
        "raced",
        "locked",
        "host",
    ]);
    assert_eq!(run.code, 120, "{}\n{}", run.stdout, run.stderr);
    for (name, verdict) in [("raced", "bounded"), ("locked", "bounded"), ("host", "ran")] {
        assert_eq!(test(&run, name)["verdict"], verdict, "{}", run.stdout);
    }
    assert_eq!(test(&run, "locked")["bounds"][0]["limit"], "instrument");
}

#[test]
fn another_target_is_refused() {
    let run = unmodified().cargo_mc(["test", "--std", "--target", "aarch64-unknown-linux-gnu"]);
    assert_eq!(run.code, 96, "{}", run.stdout);
    assert!(run.stderr.contains("it cannot build for aarch64-unknown-linux-gnu"), "{}", run.stderr);
}

#[test]
fn a_crate_with_an_allocator_of_its_own_is_told_what_to_do() {
    let fixture = unmodified();
    fixture.write(
        "tests/all.rs",
        "#[global_allocator]\nstatic A: std::alloc::System = std::alloc::System;\n#[test]\nfn t() {}\n",
    );
    let run = fixture.cargo_mc(["test", "--std"]);
    assert_ne!(run.code, 0, "{}", run.stdout);
    assert!(run.stderr.contains("global allocator"), "{}", run.stderr);
}
