#!/usr/bin/env python3
"""Runs the checked types outside of a check, where they do what std's do, under sanitizers: the stress tests of `shims/tests`.

    sanitize.py [--filter PART]...      (PART: other tests of `shims/tests/parity`, `beyond_std` and `parking_lot`)

Memcheck is valgrind's; AddressSanitizer, which finds leaks too, comes with a nightly toolchain. A tool that is not there is SKIPPED. Each has to find a use
after free that is planted first. The exit code is 0 if some tool ran, and none found anything.

Not here: ThreadSanitizer, helgrind and drd. They know nothing of the orders that std's own locks make unless std is compiled for them, which takes its source
(`rust-src`), and report as many races of std's types as of ours.
"""

import argparse
import re
import shutil
import subprocess
import sys

from subcommand import CARGO, ROOT, TARGET, environment, records, run

TRIPLE = "x86_64-unknown-linux-gnu"
# As it is written: what the optimiser moves out of a loop may look at memory that has no value and then make no use of it, which memcheck cannot know.
AS_WRITTEN = [flag for package in ("mc-runtime", "mc-shims", "corosensei") for flag in ("--config", f"profile.dev.package.{package}.opt-level=0")]
TARGETS = ["parity", "beyond_std", "parking_lot"]
STRESS = ["against_mc::stress", "under_stress", "threads_add_up"]
PLANTED = """
fn main() {
    let block = Box::into_raw(Box::new(std::hint::black_box(7_u8)));
    let theirs = block as usize;
    unsafe { drop(Box::from_raw(block)) };
    let read = std::thread::spawn(move || unsafe { std::ptr::read_volatile(theirs as *const u8) });
    std::hint::black_box(read.join().unwrap());
}
"""


class Skipped(Exception):
    """Why a tool cannot be had."""


class Memcheck:
    name = "memcheck"
    toolchain, flags = [], ["--cfg=mc"]

    def __init__(self):
        if not shutil.which("valgrind"):
            raise Skipped("there is no `valgrind`")

    def command(self, executable, arguments):
        leaks = ["--leak-check=full", "--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]
        return ["valgrind", "-q", "--error-exitcode=99", "--fair-sched=yes", *leaks, executable, *arguments], {}

    planted_in = "Invalid read"


class AddressSanitizer:
    name = "AddressSanitizer"
    toolchain, flags = ["+nightly"], ["--cfg=mc", "--cfg=mc_sanitizer", "-Zsanitizer=address"]

    def __init__(self):
        known = run(["rustc", "+nightly", "--print", "target-libdir", "--target", TRIPLE], ROOT)
        if known.returncode:
            raise Skipped("there is no nightly toolchain")

    def command(self, executable, arguments):
        return [executable, *arguments], {"ASAN_OPTIONS": "detect_stack_use_after_return=1:detect_leaks=1"}

    planted_in = "heap-use-after-free"


def finds_what_is_planted(tool, folder):
    """Otherwise that it finds nothing says nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "planted.rs").write_text(PLANTED)
    flags = [flag for flag in tool.flags if not flag.startswith("--cfg")]
    made = run(["rustc", *tool.toolchain, "--target", TRIPLE, *flags, "-Copt-level=0", "planted.rs"], folder)
    if made.returncode:
        sys.exit(f"{tool.name}: what is planted does not compile\n{made.stderr}")
    command, variables = tool.command(str(folder / "planted"), [])
    ran = run(command, folder, **variables)
    return ran.returncode != 0 and tool.planted_in in ran.stderr


def tests(tool, folder):
    """The executables of the tests."""
    wanted = [flag for target in TARGETS for flag in ("--test", target)]
    wanted += ["-p", "mc-shims", "--features", "parking_lot", "--no-run", "--message-format", "json"]
    variables = {"RUSTFLAGS": " ".join(tool.flags), "CARGO_PROFILE_DEV_DEBUG": "line-tables-only"}
    cargo = ["cargo" if tool.toolchain else CARGO, *tool.toolchain, "test"]
    made = run([*cargo, *AS_WRITTEN, "--target", TRIPLE, "--target-dir", str(folder), *wanted], ROOT, **variables)
    found = [m["executable"] for m in records(made.stdout) if m.get("executable") and m["target"]["name"] in TARGETS]
    return found if len(found) == len(TARGETS) else sys.exit(f"{tool.name}: the tests do not compile\n{made.stderr[-4000:]}")


def count(executable, filters):
    """How many tests the tool passes; `None` if it has found something, or one fails."""
    command, variables = executable
    ran = subprocess.run([*command, *filters], cwd=ROOT / "shims", env=environment(**variables), capture_output=True, text=True, check=False)
    passed = re.search(r"^test result: ok\. (\d+) passed", ran.stdout, re.MULTILINE)
    if ran.returncode == 0 and passed:
        return int(passed[1])
    print(f"{ran.stdout}\n{ran.stderr}")
    return None


def sanitized(kind, filters):
    """What the tool comes to: nothing found, or not."""
    try:
        tool = kind()
    except Skipped as why:
        print(f"SKIPPED {kind.name}: {why}")
        return None
    folder = TARGET / "sanitize"
    if not finds_what_is_planted(tool, folder / tool.name):
        print(f"FAILED {tool.name}: does not find what is planted")
        return False
    counts = [count(tool.command(executable, []), filters) for executable in tests(tool, folder)]
    passed = None not in counts and sum(counts) > 0
    print(f"passed {tool.name}: {sum(counts)} tests" if passed else f"FAILED {tool.name}")
    return passed


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--filter", action="append")
    filters = arguments.parse_args().filter or STRESS
    ends = [sanitized(kind, filters) for kind in (Memcheck, AddressSanitizer)]
    return 0 if True in ends and False not in ends else 1


if __name__ == "__main__":
    sys.exit(main())
