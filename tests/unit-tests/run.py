#!/usr/bin/env python3
"""Checks the tests that published crates have themselves, as they are, with `cargo mc test --dep NAME@VERSION`.

    run.py [--quick] [--only NAME]... [--time-limit TIME] [--write RESULTS.md]      (--write keeps the sections of crates that are not run)

What fails must be in `crates.toml`, with the reason. `--quick` takes the crates that are marked so there.
"""

import argparse
import collections
import datetime
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from subcommand import check, figures, update, words  # noqa: E402


def problem(crate, test):
    """What is wrong with a test, if anything."""
    kinds = [failure["kind"] for failure in test["failures"]]
    expected = [e["kind"] for e in crate.get("expect", []) if f"{test['target']} {test['name']}" in e["tests"]]
    if test["error"] or kinds != expected:
        return f"is {words(test)}: {test['error'] or test['failures'][:1] or 'it was to fail'}"
    return None


def summary(tests):
    """How many came to what."""
    counts = collections.Counter(test["verdict"] for test in tests)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("proved", "bounded", "ran", "failed") if counts[verdict])


def section(crate, tests):
    """Of the tests that have anything to check, one line each."""
    rows = [f"| {t['target']} | {t['name']} | {words(t)} | {figures(t)} |" for t in tests if t["verdict"] != "ran"]
    head = f"## {crate['name']} {crate['version']}\n\n{len(tests)} tests: {summary(tests)}.\n"
    reasons = "".join(f"\n{', '.join(f'`{name}`' for name in e['tests'])}: {e['why'].strip()}\n" for e in crate.get("expect", []))
    table = "\n| target | test | comes to | executions | s |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return head + reasons + table


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", action="append")
    arguments.add_argument("--time-limit", default="3s")
    arguments.add_argument("--write", type=pathlib.Path)
    options = arguments.parse_args()
    every = tomllib.loads((HERE / "crates.toml").read_text())["crate"]
    crates = [c for c in every if (not options.quick or c.get("quick")) and (not options.only or c["name"] in options.only)]
    sections, wrong, passed = {}, [], 0
    for crate in crates:
        title = f"{crate['name']} {crate['version']}"
        print(f"{title} ...", file=sys.stderr, flush=True)
        flags = ["--dep", f"{crate['name']}@{crate['version']}", "--time-limit", options.time_limit, *crate.get("flags", [])]
        tests, code, errors = check(HERE, flags)
        if not tests:
            wrong.append(f"{title}: nothing was checked (exit code {code})\n{errors[-4000:]}")
            continue
        tests.sort(key=lambda test: (test["target"], test["name"]))
        problems = [(test, problem(crate, test)) for test in tests]
        wrong += [f"{title}: {test['name']} {why}" for test, why in problems if why]
        passed += sum(1 for _, why in problems if not why)
        sections[crate["name"]] = section(crate, tests)
    if options.write:
        date = datetime.date.today().isoformat()
        head = f"# Tests that published crates have themselves\n\nMade by `run.py --write` on {date}, x86-64, 2 cores: `cargo mc test --dep NAME@VERSION --time-limit {options.time_limit}`, a debug build, the crates \
as they are on the registry.\n\n`ran`: one thread, nothing to check. `bounded`: not finished (most are stress tests, of many operations), and nothing had failed. Each failure is explained.\n"
        update(options.write, head, sections, [crate["name"] for crate in every])
    else:
        print("\n".join(sections.values()))
    for line in wrong:
        print(line)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
