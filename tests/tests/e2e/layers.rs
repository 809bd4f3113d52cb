//! What `--std` does where a part of what it is made of does not hold: nothing is proved that is not.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use mc_tests::fixture::Run;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use crate::forms::script;
use crate::test;
use crate::unmodified::unmodified;

const JSON: [&str; 6] = ["test", "--std", "--test", "all", "--message-format", "json"];

fn layers(run: &Run) -> Vec<String> {
    let layers = run.lines()[0]["layers"].as_array().unwrap_or_else(|| panic!("{}", run.stderr)).clone();
    layers.iter().map(|layer| layer.as_str().unwrap().to_owned()).collect()
}

/// With LLVM's passes, but without what has them look at anything: `raced` would be proved.
#[test]
fn a_compiler_that_does_not_instrument_is_found_out() {
    let fixture = unmodified();
    let filter = "case \"$flag\" in -Cllvm-args=-force-attribute=*) ;; *) set -- \"$@\" \"$flag\" ;; esac";
    script(&fixture, "tools/rustc", &format!("#!/bin/sh\nfor flag do shift; {filter}; done\nexec rustc \"$@\"\n"));
    fixture.write(".cargo/config.toml", "[build]\nrustc = \"tools/rustc\"\n");
    for _ in 0..2 {
        let run = fixture.cargo_mc(JSON.iter().chain(&["raced", "locked", "host"]));
        assert_eq!(run.code, 120, "{}\n{}", run.stdout, run.stderr);
        assert_eq!(layers(&run), ["facade", "harness", "system_calls"]);
        for (name, verdict) in [("raced", "bounded"), ("locked", "bounded"), ("host", "ran")] {
            assert_eq!(test(&run, name)["verdict"], verdict, "{}", run.stdout);
        }
        assert_eq!(test(&run, "raced")["bounds"][0]["limit"], "instrument");
        let expected = "warning: the instrumentation is off: `tests::races` (self-test-2015, not optimised) comes to `proved, executions: 1`";
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert!(run.stderr.contains("BOUNDED (instrument) at best"), "{}", run.stderr);
        let kept = run.stderr.split("not done again while `").nth(1).and_then(|rest| rest.split('`').next()).unwrap();
        assert!(Path::new(kept).is_file(), "{}", run.stderr);
    }
    let run = fixture.cargo_mc(["test", "--std", "--exact", "host"]);
    assert!(run.stderr.contains("      Layers facade, harness, system calls\nwarning: "), "{}", run.stderr);
}

#[test]
fn a_sandbox_without_syscall_user_dispatch_is_found_out() {
    let fixture = unmodified();
    let filter = refuse_dispatch();
    let run =
        fixture.cargo_mc_with(JSON.iter().chain(&["raced", "locked", "host"]), |command| sandbox(command, filter));
    assert_eq!(run.code, 100, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(layers(&run), ["facade", "harness", "instrumentation"]);
    for (name, verdict) in [("raced", "failed"), ("locked", "bounded"), ("host", "ran")] {
        assert_eq!(test(&run, name)["verdict"], verdict, "{}", run.stdout);
    }
    assert_eq!(test(&run, "locked")["bounds"][0]["limit"], "system_calls");
    assert!(
        run.stderr.contains("warning: system calls are not seen: the kernel has no Syscall User Dispatch"),
        "{}",
        run.stderr
    );
    // What holds in a sandbox is not what holds outside of it.
    let run = fixture.cargo_mc(JSON.iter().chain(&["locked"]));
    assert_eq!((layers(&run).len(), test(&run, "locked")["verdict"].as_str()), (4, Some("proved")), "{}", run.stderr);
}

/// A filter that refuses `prctl(PR_SET_SYSCALL_USER_DISPATCH)`, as a kernel does that does not know it.
fn refuse_dispatch() -> BpfProgram {
    const DISPATCH: u64 = 59;
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, DISPATCH).unwrap();
    let rules = BTreeMap::from([(libc::SYS_prctl, vec![SeccompRule::new(vec![condition]).unwrap()])]);
    let refused = SeccompAction::Errno(libc::EINVAL as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, std::env::consts::ARCH.try_into().unwrap());
    filter.unwrap().try_into().unwrap()
}

fn sandbox(command: &mut Command, filter: BpfProgram) {
    let set = move || apply_filter(&filter).map_err(|_| io::Error::last_os_error());
    // SAFETY: `set` runs in the child between fork and exec, where only async-signal-safe calls are allowed: `apply_filter` makes two system calls with a program that
    // was made before, and allocates nothing and takes no lock, unless it fails; then the error that it makes is dropped at once.
    unsafe { command.pre_exec(set) };
}

#[test]
fn flags_with_which_nothing_can_be_checked_are_named() {
    let fixture = unmodified().with_env("RUSTFLAGS", "-Ctarget-feature=+crt-static");
    let run = fixture.cargo_mc(["test", "--std", "--test", "all"]);
    assert_eq!(run.code, 96, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("so `--std` cannot be used"), "{}", run.stderr);
    assert!(run.stderr.contains("your flags for rustc: -Ctarget-feature=+crt-static"), "{}", run.stderr);
}
