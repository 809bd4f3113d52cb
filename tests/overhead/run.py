#!/usr/bin/env python3
"""What it costs to check tests as they are: some of `tests/examples`, by the types of `mc` and by `--std` in its forms, in both profiles.

    run.py [--write RESULTS.md]

The figures are processor time of the whole check, user and system, less that of the same command that only lists: a machine that does other work at the same time changes them little.
Where the number of executions differs, the ways do not see the same events.
"""

import argparse
import datetime
import os
import pathlib
import resource
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from subcommand import BUILD, ROOT, built, records, run, words  # noqa: E402

# The first is also checked on threads of the operating system: each of each execution is made anew.
TESTS = [
    "treiber::tests::two_threads_pop_two_values_each",
    "futex_mutex::tests::three_threads_wake_each_other",
]
# What is done three times, of which the least counts, unless it takes longer.
SHORT = 5.0
WAYS = [
    ("`mc`'s types", []),
    ("`--std --instrument atomics`", ["--std", "--instrument", "atomics"]),
    ("`--std`", ["--std"]),
    ("`--std --threads os`", ["--std", "--threads", "os"]),
]
PROFILES = [("debug", []), ("release", ["--release"])]


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command, flags):
    before = cpu()
    done = run([built(), "mc", command, "-p", "mc-examples", "--lib", *flags], ROOT, CARGO_TARGET_DIR=str(BUILD))
    return cpu() - before, done


def measure(test, flags):
    """The record of the test, and seconds."""
    build_flags = [flag for flag in flags if flag not in ("--threads", "os")]
    timed("list", build_flags)  # builds
    overhead = min(timed("list", build_flags)[0] for _ in range(3))
    figures = []
    for _ in range(3):
        used, done = timed("test", ["--message-format", "json", "--require", "bounded", "--allow-weaker", "--exact", test, *flags])
        tests = [record for record in records(done.stdout) if record["type"] == "test"]
        if len(tests) != 1:
            sys.exit(f"{test} {flags} was not checked (exit code {done.returncode})\n{done.stderr[-4000:]}")
        figures.append(used - overhead)
        if used > SHORT:
            break
    return tests[0], max(min(figures), 0.0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", type=pathlib.Path)
    options = arguments.parse_args()
    rows = []
    for test in TESTS:
        for profile, profile_flags in PROFILES:
            first = None
            for name, flags in WAYS:
                if "--threads" in flags and test != TESTS[0]:
                    continue
                record, seconds = measure(test, flags + profile_flags)
                first = first or seconds
                executions = record["executions"] + record["blocked"]
                per = seconds / executions * 1e6
                rows.append(f"| {test.split('::')[0]} | {profile} | {name} | {words(record)} | {executions:,} | {seconds:.2f} | {per:.0f} | {seconds / first:.1f} |")
                print(rows[-1], flush=True)
    table = "| test | build | by | comes to | executions | s | µs each | times |\n|---|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    if options.write:
        date = datetime.date.today().isoformat()
        head = f"# What `--std` costs\n\nMade by `run.py --write` on {date}, x86-64, {os.cpu_count()} cores. Processor time, user and system; `times`: as against `mc`'s types in the same build.\n\n"
        options.write.write_text(head + table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
