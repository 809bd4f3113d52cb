#!/usr/bin/env python3
"""Checks crates that many depend on, unmodified, with `cargo mc test --std`: the right uses must not be refuted, those that end in `_misused` must be.

    run.py [--quick] [--time-limit TIME] [--write RESULTS.md]

`--quick` takes the crates whose tests end within seconds.
"""

import argparse
import datetime
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from subcommand import check, figures, words  # noqa: E402

QUICK = ["arc_swap::", "event_listener::", "flume::", "once_cell::", "tokio::"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--time-limit", default="60s")
    arguments.add_argument("--write", type=pathlib.Path)
    options = arguments.parse_args()
    # Pools and collectors that live as long as the process are not freed.
    tests, code, errors = check(HERE, ["--allow-leaks", "--time-limit", options.time_limit, *(QUICK if options.quick else [])])
    if not tests:
        sys.exit(f"nothing was checked (exit code {code})\n{errors[-4000:]}")
    wrong = [test for test in tests if (test["verdict"] == "failed") != test["name"].endswith("_misused") or test["error"]]
    rows = [f"| {t['name']} | {words(t)} | {figures(t)} |" for t in sorted(tests, key=lambda t: t["name"])]
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
