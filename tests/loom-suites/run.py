#!/usr/bin/env python3
"""Runs the loom suites of published crates, unmodified, under loom itself and under `cargo mc test --loom`, and compares.

    run.py [--quick] [--only NAME]... [--without-loom] [--write RESULTS.md]      (--write keeps the sections of suites that are not run)

Sources come from the registry, through cargo. Each suite is copied into the target directory and built there, once with loom and once with ours. The exit
code is 0 if every test of ours comes to what it should: a proof (or a failure that its `#[should_panic]` wants, or, for a plain test, its run), or what
`suites.toml` says of it. A limit that was reached is never taken for a pass: it shows in the table as what it is.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import subcommand  # noqa: E402
from subcommand import CARGO, TARGET, environment  # noqa: E402

LIMIT = 60
JOBS = os.cpu_count() or 1


def target():
    return TARGET / "loom-suites"


class Broken(Exception):
    """A suite that cannot be fetched, built or listed."""


def settings(suite):
    """What a suite needs of the build besides flags."""
    return {"CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS": "true"} if suite.get("debug_assertions") else {}


def cargo(arguments, cwd, **more):
    return subcommand.run([CARGO, *arguments], cwd, **more)


def source(suite):
    """A fresh copy of the package from cargo's cache."""
    name, version = suite["name"], suite["version"]
    fetch = target() / "fetch" / f"{name}-{version}"
    fetch.mkdir(parents=True, exist_ok=True)
    (fetch / "lib.rs").touch()
    (fetch / "Cargo.toml").write_text(
        f'[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[lib]\npath = "lib.rs"\n'
        f'[dependencies]\n{name} = "={version}"\n[workspace]\n'
    )
    found = cargo(["metadata", "--format-version", "1"], fetch)
    if found.returncode:
        raise Broken(f"cannot be fetched\n{found.stderr}")
    packages = json.loads(found.stdout)["packages"]
    origin = pathlib.Path(next(p["manifest_path"] for p in packages if p["name"] == name)).parent
    copy = target() / "src" / f"{name}-{version}"
    shutil.rmtree(copy, ignore_errors=True)
    if not suite.get("own"):
        shutil.copytree(origin, copy)
        with open(copy / "Cargo.toml", "a") as manifest:  # the copy lies below this repository's workspace
            manifest.write("\n[workspace]\n")
        return copy
    shutil.copytree(origin / "tests", copy / "tests")
    (copy / "src").mkdir()
    (copy / "src" / "lib.rs").touch()
    (copy / "Cargo.toml").write_text(
        f'[package]\nname = "loom-tests"\nversion = "0.0.0"\nedition = "2018"\n'
        f'[features]\nfutures = ["loom/futures"]\ndefault = ["futures"]\n'
        f'[dependencies]\nloom = "={version}"\n[dev-dependencies]\nfutures-util = "0.3"\n[workspace]\n'
    )
    return copy


def wanted(suite, name):
    return not suite.get("only") or any(part in name for part in suite["only"])


def with_ours(suite, folder):
    """What `cargo mc test --loom` says of each test."""
    first, *more = suite["cfgs"]
    flags = [f"--loom={first}", *(f"--cfg={cfg}" for cfg in more), "--release", *suite["flags"], *suite.get("only", [])]
    if "--tests" in flags:
        flags.remove("--tests")
    limits = ["--time-limit", f"{suite.get('ours', suite.get('limit', LIMIT))}s", "--jobs", str(JOBS), "--message-format", "json",
              *suite.get("options", [])]
    run = subcommand.run([subcommand.built(), "test", *flags, *limits], folder, CARGO_TARGET_DIR=str(target() / "ours"), **settings(suite))
    lines = subcommand.records(run.stdout)
    tests = [line for line in lines if line["type"] == "test"]
    if not tests:
        raise Broken(f"nothing was checked (exit code {run.returncode})\n{run.stderr[-4000:]}")
    return {f"{test['target']} {test['name']}" if suite.get("own") else test["name"]: test for test in tests}


def with_loom(suite, folder):
    """What loom itself makes of each test: its verdict, executions and seconds."""
    flags = " ".join(f"--cfg {cfg}" for cfg in suite["cfgs"]) + " --cap-lints warn"
    built = cargo(["test", "--no-run", "--release", "--message-format", "json", *suite["flags"]], folder,
                  RUSTFLAGS=flags, CARGO_TARGET_DIR=str(target() / "loom"), **settings(suite))
    if built.returncode:
        raise Broken(f"does not build with loom itself\n{built.stderr[-4000:]}")
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    binaries = [(m["target"]["name"], m["executable"]) for m in messages if m.get("executable") and m["profile"]["test"]]
    results = {}
    for target_name, binary in binaries:
        names = sorted(listed(binary, folder) - listed(binary, folder, "--ignored"))
        names = [name for name in names if wanted(suite, name)]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            found = pool.map(lambda name: one_with_loom(binary, name, folder, suite.get("limit", LIMIT)), names)
        results |= {f"{target_name} {name}" if suite.get("own") else name: result for name, result in zip(names, found)}
    return results


def listed(binary, folder, *more):
    """The names of libtest's tests."""
    text = subprocess.run([binary, "--list", "--format", "terse", *more], cwd=folder, capture_output=True, text=True, check=False).stdout
    return {line.removesuffix(": test") for line in text.splitlines() if line.endswith(": test")}


def one_with_loom(binary, name, folder, limit):
    begun = time.monotonic()
    try:
        run = subprocess.run([binary, name, "--exact", "--nocapture", "--test-threads=1"], cwd=folder, capture_output=True,
                             text=True, check=False, timeout=limit, env=environment(LOOM_LOG="loom::model=info"))
    except subprocess.TimeoutExpired:
        return ("not finished", None, limit)
    seconds = time.monotonic() - begun
    text = re.sub(r"\x1b\[[0-9;]*m", "", run.stdout + run.stderr)
    executions = sum(int(n) for n in re.findall(r"Completed in (\d+) iterations", text))
    verdict = "ok" if run.returncode == 0 else "FAILED"
    return (verdict, executions or None, seconds)


def our_verdict(test):
    if test["verdict"] == "failed" and test["passed"]:
        return "failed, as `#[should_panic]` wants"
    if test["verdict"] == "failed":
        return f"**failed** ({', '.join(f['kind'] for f in test['failures'])})"
    bounds = ", ".join(dict.fromkeys(bound["limit"] for bound in test["bounds"]))
    return test["verdict"] + (f" ({bounds})" if bounds else "")


def judge(suite, name, test):
    """What is wrong with the verdict of a test, if anything."""
    plain = name.split(" ")[-1]
    expected = next((e for e in suite.get("expect", []) if e["test"] == plain), None)
    if expected:
        return None if test["verdict"] == expected["verdict"] else f"is {test['verdict']}, `suites.toml` says {expected['verdict']}"
    if test["passed"] or test["verdict"] == "bounded":
        return None
    return f"is {test['verdict']}: {test['failures'][0]['message'] if test['failures'] else test['error']}"


def figures(executions, seconds):
    count = "" if executions is None else f"{executions:,}"
    return f"{count} | {seconds:.2f}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", action="append")
    arguments.add_argument("--without-loom", action="store_true")
    arguments.add_argument("--write", type=pathlib.Path)
    options = arguments.parse_args()
    every = tomllib.loads((HERE / "suites.toml").read_text())["suite"]
    suites = [s for s in every if (not options.quick or s.get("quick")) and (not options.only or s["name"] in options.only)]
    sections, wrong, passed = {}, [], 0
    for suite in suites:
        title = f"{suite['name']} {suite['version']}"
        print(f"{title} ...", file=sys.stderr, flush=True)
        try:
            folder = source(suite)
            loom = {} if options.without_loom else with_loom(suite, folder)
            ours = with_ours(suite, folder)
        except Broken as why:
            wrong.append(f"{title}: {why}")
            continue
        wrong += [f"{title}: {name} is a test with loom, and not here" for name in sorted(loom.keys() - ours.keys())]
        table = [f"## {title}", "", "| test | ours | executions | s | loom | executions | s |", "|---|---|---|---|---|---|---|"]
        for name, test in sorted(ours.items()):
            problem = judge(suite, name, test)
            if problem:
                wrong.append(f"{title}: {name} {problem}")
            else:
                passed += 1
            theirs = loom.get(name, ("", None, 0.0))
            executions = test["executions"] + test["blocked"]
            table.append(f"| {name} | {our_verdict(test)} | {figures(executions, test['seconds'])} | {theirs[0]} | {figures(*theirs[1:])} |")
        for expected in suite.get("expect", []):
            table += ["", f"`{expected['test']}`: {expected['why'].strip()}"]
        if suite.get("note"):
            table += ["", suite["note"].strip()]
        sections[title] = "\n".join(table) + "\n"
    if options.write:
        head = (HERE / "HEAD.md").read_text().replace("DATE", datetime.date.today().isoformat())
        subcommand.update(options.write, head, sections, [f"{suite['name']} {suite['version']}" for suite in every])
    else:
        print("\n".join(sections.values()))
    for line in wrong:
        print(line)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
