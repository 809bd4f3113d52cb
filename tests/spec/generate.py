"""Random programs and what the executable specification says of them, as JSON lines on standard output.

    python3 generate.py --seed 1 --count 1500 [--jobs 2] [--largest 200]

A line is {"seed", "family", "program", "columns", "expect"}: `program` in the format of exploration.py, the rest as in
litmus.json. Families take turns and are those of check_spec.py, so that what is said there about the specification
holds for these programs. A program depends on its family and its seed only; the seeds count up from --seed.
--largest leaves out programs with more executions than that under one of the models; how many is said on standard error.
--jobs sets the number of processes; the lines are the same, in the same order.
"""
import argparse, json, multiprocessing, os, random, sys

from litmus import MODELS, columns, expect

HERE = os.path.dirname(os.path.abspath(__file__))


def generators():
    """The generators of check_spec.py, which runs its checks when it is imported: take all but its last line."""
    with open(os.path.join(HERE, "check_spec.py")) as f:
        source = f.read()
    body = source.removesuffix("\nmain()\n")
    assert body != source, "check_spec.py does not end with a call of main"
    names = {"__name__": "check_spec"}
    exec(compile(body, "check_spec.py", "exec"), names)
    return [
        ("atomics", names["random_atomics"]),
        ("locks", names["random_locks"]),
        ("guards", names["random_guards"]),
        ("small guards", names["random_small_guards"]),
    ]


FAMILIES = generators()


def line(seed, largest=None):
    """The line for one seed; None if the program is larger than allowed."""
    family, generate = FAMILIES[seed % len(FAMILIES)]
    program = generate(random.Random(f"{family} {seed}"))
    expected = {m: expect(program, m, True) for m in MODELS}
    if largest is not None and any(e["complete"] + e["blocked"] > largest for e in expected.values()):
        return None
    entry = {"seed": seed, "family": family, "program": program, "columns": columns(program), "expect": expected}
    return json.dumps(entry, separators=(",", ":"))


def limited_line(arguments):
    return line(*arguments)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True, help="how many seeds are tried")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--largest", type=int)
    arguments = parser.parse_args()
    print(f"seeds {arguments.seed} to {arguments.seed + arguments.count - 1}", file=sys.stderr)
    work = [(arguments.seed + i, arguments.largest) for i in range(arguments.count)]
    left_out = 0
    with multiprocessing.Pool(arguments.jobs) as pool:
        for text in pool.imap(limited_line, work, chunksize=8):
            if text is None:
                left_out += 1
            else:
                print(text)
    print(f"{arguments.count - left_out} programs written, {left_out} left out for their size", file=sys.stderr)


if __name__ == "__main__":
    main()
