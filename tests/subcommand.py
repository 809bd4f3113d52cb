"""What the scripts of the folders beside this share: cargo's environment, the subcommand as it is built here, and what that says of each test."""

import functools
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# Where crates are built that are checked as they are; shared with what is compiled there already, in CI.
BUILD = pathlib.Path(os.environ.get("CASES_TARGET_DIR", TARGET / "cases-build")).resolve()


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if k not in ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR")}
    return kept | more


def run(command, cwd, **more):
    return subprocess.run(command, cwd=cwd, env=environment(**more), capture_output=True, text=True, check=False)


def records(text):
    """The JSON among the lines of an output."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


@functools.cache
def built():
    """The path of `cargo-mc`: as `cargo mc` has it in this repository."""
    made = run([CARGO, "build", "-p", "cargo-mc", "--message-format", "json"], ROOT, CARGO_TARGET_DIR=str(TARGET))
    found = [m["executable"] for m in records(made.stdout) if m.get("executable") and m["target"]["name"] == "cargo-mc"]
    return found[0] if found else sys.exit(f"cargo-mc does not build\n{made.stderr}")


def check(folder, flags):
    """Runs `cargo mc test --std` in the folder: the record of each test, the exit code, and what was printed besides."""
    done = run([built(), "mc", "test", "--std", "--message-format", "json", *flags], folder, CARGO_TARGET_DIR=str(BUILD))
    return [r for r in records(done.stdout) if r["type"] == "test"], done.returncode, done.stderr


def words(test):
    """What a test comes to."""
    if test["verdict"] == "failed":
        return ", ".join(failure["kind"].replace("_", " ") for failure in test["failures"])
    return test["verdict"] + "".join(f" ({bound['limit']} {bound['value']})" for bound in test["bounds"])


def update(path, head, sections, order):
    """Writes the sections, which are by name, below the head. Those of others stay as they are in the file."""
    before = path.read_text().split("\n## ")[1:] if path.exists() else []
    kept = {name: f"## {text.rstrip()}\n" for text in before for name in order if text.startswith((f"{name} ", f"{name}\n"))}
    path.write_text(head + "".join(f"\n{(kept | sections)[name]}" for name in order if name in kept | sections))


def figures(test):
    return f"{test['executions'] + test['blocked']:,} | {test['seconds']:.2f}"
