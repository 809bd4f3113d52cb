#!/usr/bin/env python3
"""Checks crates that many depend on, unmodified, with `cargo mc test --std`: the right uses must not be refuted, those that end in `_misused` must be.

    run.py [--quick] [--time-limit TIME] [--write RESULTS.md]

`--quick` takes the crates whose tests end within seconds.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CARGO = os.environ.get("CARGO", "cargo")
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
BUILD = pathlib.Path(os.environ.get("CASES_TARGET_DIR", TARGET / "cases-build")).resolve()
QUICK = ["arc_swap::", "event_listener::", "flume::", "once_cell::", "tokio::"]


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k not in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR")}
    return kept | more


def tool():
    command = [CARGO, "build", "--release", "-p", "cargo-mc", "--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, env=environment(CARGO_TARGET_DIR=str(TARGET)), capture_output=True, text=True, check=False)
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    found = next((m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "cargo-mc"), None)
    return found or sys.exit(f"cargo-mc does not build\n{built.stderr}")


def words(test):
    if test["verdict"] == "failed":
        return ", ".join(failure["kind"].replace("_", " ") for failure in test["failures"])
    return test["verdict"] + "".join(f" ({bound['limit']} {bound['value']})" for bound in test["bounds"])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--time-limit", default="60s")
    arguments.add_argument("--write", type=pathlib.Path)
    options = arguments.parse_args()
    # Pools and collectors that live as long as the process are not freed.
    flags = ["--allow-leaks", "--time-limit", options.time_limit, "--message-format", "json", *(QUICK if options.quick else [])]
    run = subprocess.run([tool(), "mc", "test", "--std", *flags], cwd=HERE, env=environment(CARGO_TARGET_DIR=str(BUILD)),
                         capture_output=True, text=True, check=False)
    tests = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{") and '"type":"test"' in line]
    if not tests:
        sys.exit(f"nothing was checked (exit code {run.returncode})\n{run.stderr[-4000:]}")
    wrong = [test for test in tests if (test["verdict"] == "failed") != test["name"].endswith("_misused") or test["error"]]
    rows = [f"| {t['name']} | {words(t)} | {t['executions'] + t['blocked']:,} | {t['seconds']:.2f} |" for t in sorted(tests, key=lambda t: t["name"])]
    table = "| test | comes to | executions | s |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    if options.write:
        date = datetime.date.today().isoformat()
        head = f"# Crates that many depend on\n\nMade by `run.py --write` on {date}, x86-64, 2 cores: `cargo mc test --std --allow-leaks --time-limit {options.time_limit}`, a debug build. \
The versions are in `Cargo.toml`; they are as they are on the registry.\nA test that is `bounded (time_limit)` was not finished, and had not failed.\n\n"
        options.write.write_text(head + table)
    else:
        print(table)
    for test in wrong:
        print(f"{test['name']} is {words(test)}: {test['error'] or test['failures'][:1]}")
    print(f"{len(tests) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
