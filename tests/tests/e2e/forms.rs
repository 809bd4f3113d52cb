//! `--std` with crates, profiles and flags of all forms. The profile of the fixture has what `--std` cannot live with (`strip`, `lto`), and what cargo leaves out of tests (`panic`).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use mc_tests::fixture::Fixture;

use crate::unmodified::unmodified;
use crate::{names, test};

/// Puts an executable script into the copy.
pub(crate) fn script(fixture: &Fixture, path: &str, text: &str) {
    fixture.write(path, text);
    fs::set_permissions(fixture.root.join(path), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn old_editions_crates_without_std_and_libraries_for_c_are_checked() {
    let run = unmodified().cargo_mc(["test", "--std", "-p", "bare", "-p", "old", "--message-format", "json"]);
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(names(&run), ["adds", "counts"]);
    let counts = test(&run, "counts");
    assert_eq!((&counts["verdict"], &counts["executions"]), (&"proved".into(), &2.into()), "{counts}");
    let failure = &test(&run, "adds")["failures"][0];
    assert_eq!((&failure["kind"], &failure["file"]), (&"panic".into(), &"bare/src/lib.rs".into()), "{failure}");
}

#[test]
fn what_cargo_would_run_and_is_not_checked_is_named() {
    let fixture = unmodified();
    let run = fixture.cargo_mc(["test", "--std", "-p", "old", "-p", "shout", "-p", "spin", "--message-format", "json"]);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    let left_out = &run.lines()[0]["left_out"];
    let expected = serde_json::json!([
        {"package": "old", "target": "own", "because": "no_harness"},
        {"package": "shout", "target": "shout", "because": "on_host"},
    ]);
    assert_eq!(*left_out, expected);
    let notes = [
        "note: `own` of `old` has a `main` of its own (`harness = false`), and is not checked",
        "note: the tests of `shout` run on the host, as those of procedural macros do, and are not checked",
    ];
    assert!(notes.iter().all(|note| run.stderr.contains(note)), "{}", run.stderr);
    let run = fixture.cargo_mc(["test", "--std", "-p", "shout"]);
    assert_eq!(run.code, 4, "{}\n{}", run.stdout, run.stderr);
    assert!(
        run.stderr.contains("there is no test in 1 test executable\n  = note: the tests of `shout`"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_cargo_does_not_build_is_told_in_the_compilers_words() {
    let fixture = unmodified();
    fixture.write("tests/all.rs", "#![feature(never_type)]\n#[test]\nfn t() {}\n");
    let run = fixture.cargo_mc(["test", "--std", "--test", "all"]);
    assert_eq!(run.code, 101, "{}", run.stderr);
    assert!(run.stderr.contains("error[E0554]: `#![feature]` may not be used"), "{}", run.stderr);
    assert!(run.stderr.contains("nor one that `cargo test` itself does not build"), "{}", run.stderr);
}

#[test]
fn the_users_own_flags_and_wrapper_are_kept() {
    let fixture = unmodified();
    let wrapper = "#!/bin/sh\necho \"$*\" >> \"$0.log\"\nexec \"$@\"\n";
    script(&fixture, "wrapper.sh", wrapper);
    fixture.write(".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"mine\"]\n");
    fixture.write(
        "tests/all.rs",
        "#[cfg(mine)]\n#[test]\nfn with_mine() {}\n#[cfg(other)]\n#[test]\nfn with_other() {}\n",
    );
    let path = fixture.root.join("wrapper.sh").display().to_string();
    let fixture = fixture.with_env("RUSTC_WRAPPER", &path);
    let checked = |fixture: &Fixture| {
        let run = fixture.cargo_mc(["test", "--std", "--test", "all", "--message-format", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(run.lines()[0]["layers"].as_array().unwrap().len(), 4, "{}", run.stderr);
        names(&run)
    };
    assert_eq!(checked(&fixture), ["with_mine"]);
    let wrapped = fs::read_to_string(fixture.root.join("wrapper.sh.log")).unwrap();
    let of_the_test = wrapped.lines().find(|line| line.contains("tests/all.rs")).expect(&wrapped);
    assert!(of_the_test.contains("--extern std=") && of_the_test.contains("--cfg mine"), "{of_the_test}");
    let fixture = fixture.with_env("RUSTFLAGS", "--cfg other");
    assert_eq!(checked(&fixture), ["with_other"], "as for cargo, the variable hides the file");
}
