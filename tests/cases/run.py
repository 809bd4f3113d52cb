#!/usr/bin/env python3
"""Checks real bugs in published crates, unmodified, with `cargo mc test --std`: the bad version must be refuted, the good one must not be.

    run.py [--quick] [--only NAME]... [--write RESULTS.md]

Each package is copied into the target directory. `cases.toml` says what each comes to; the exit code is 0 if all do.
"""

import argparse
import datetime
import json
import pathlib
import re
import shutil
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from subcommand import TARGET, check, figures, words  # noqa: E402


def copy(case, version):
    """The package, with the versions that were pinned to the bad one pinned to this one."""
    folder = TARGET / "cases" / f"{case['name']}-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / case["name"], folder)
    text = (folder / "Cargo.toml").read_text()
    bad = pinned(text)
    if version != bad:
        (folder / "Cargo.toml").write_text(text.replace(f'"={bad}"', f'"={version}"'))
        (folder / "Cargo.lock").unlink(missing_ok=True)
        good = folder / "Cargo.lock.good"
        if good.exists() and f'version = "{version}"' in good.read_text():
            good.rename(folder / "Cargo.lock")
    return folder


def pinned(text):
    return re.search(r'= *(?:\{ *version *= *)?"=([^"]+)"', text.split("[dev-dependencies]")[1])[1]


def only(folder, flags):
    """What comes of the only test: the record of it, or the compiler's complaint."""
    limit = [] if "--time-limit" in flags else ["--time-limit", "300s"]
    tests, _, errors = check(folder, [*limit, *flags])
    return (tests[0] if tests else None), errors


def refuted(case, test):
    """What is wrong with the report of the bad version, if anything."""
    if test is None:
        return "does not build"
    if test["verdict"] != "failed":
        return f"is {test['verdict']}"
    failure = test["failures"][0]
    text = json.dumps(failure)
    missing = [place for place in case["places"] if place not in text]
    if failure["kind"] not in case["kinds"]:
        return f"is reported as {failure['kind']}, not {' or '.join(case['kinds'])}: {failure['message']}"
    return f"is reported without {', '.join(missing)}: {text}" if missing else None


def accepted(case, test, errors):
    if case["good"] == "rejected":
        return None if test is None and "E0277" in errors else "compiles"
    if test is None:
        return f"does not build\n{errors[-2000:]}"
    return None if test["verdict"] == case["good"] else f"is {test['verdict']}, not {case['good']}: {words(test)}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", action="append")
    arguments.add_argument("--write", type=pathlib.Path)
    options = arguments.parse_args()
    cases = tomllib.loads((HERE / "cases.toml").read_text())["case"]
    cases = [c for c in cases if (not options.quick or c.get("quick")) and (not options.only or c["name"] in options.only)]
    table, notes, wrong, checked = [], [], [], 0

    def verdict(case, version, problem, test, instead):
        nonlocal checked
        checked += 1
        if problem:
            wrong.append(f"{case['name']} {version}: {problem}")
        row = f"{words(test)} | {figures(test)}" if test else f"{instead} | | "
        table.append(f"| {case['name']} | {version} | {row} |")
        print(table[-1], file=sys.stderr, flush=True)

    for case in cases:
        text = (HERE / case["name"] / "Cargo.toml").read_text()
        bad, good = pinned(text), re.search(r'^good = "(.*)"', text, re.M)[1]
        flags = case.get("flags", [])
        test, errors = only(copy(case, bad), flags)
        verdict(case, bad, refuted(case, test), test, "does not build")
        if case["good"] != "none":
            test, errors = only(copy(case, good), flags)
            verdict(case, good, accepted(case, test, errors), test, "rejected by the compiler")
        if "fixed" in case:
            test, errors = only(copy(case, case["fixed"]), flags)
            holds = test and (test["verdict"] == "proved" or [b["limit"] for b in test["bounds"]] == [case.get("fixed_bound")])
            problem = None if holds else "is not proved"
            verdict(case, case["fixed"], problem, test, "does not build")
        if "why" in case:
            notes.append(f"`{case['name']}`{' with `' + ' '.join(flags) + '`' if flags else ''}: {case['why'].strip()}")
    head = "| case | version | comes to | executions | s |\n|---|---|---|---|---|\n"
    result = head + "\n".join(table) + "\n\n" + "\n\n".join(notes) + "\n"
    if options.write:
        date = datetime.date.today().isoformat()
        title = f"# Real bugs in published crates\n\nMade by `run.py --write` on {date}, x86-64, 2 cores: `cargo mc test --std`, a debug build, the crates as they are on the registry.\n\n"
        options.write.write_text(title + result)
    for line in wrong:
        print(line)
    print(f"{checked - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
