"""Runs whole families by hand: `python -m tests.second_interpreter FAMILY COUNT [FIRST] [SECONDS]`."""

from __future__ import annotations

import sys
from collections import Counter

from tests.second_interpreter.laid import runs_contradicted, sums_contradicted
from tests.second_interpreter.sums import FAMILIES


def main(family: str, count: str, first: str = "0", seconds: str = "3") -> None:
    """Prints every contradiction of a family, and how many designs had which answer."""
    counts = Counter[str]()
    seeds = range(int(first), int(first) + int(count))
    named = {one.__name__: one for one in FAMILIES}
    if family == "plants":
        lines = runs_contradicted(seeds, counts, time_limit=float(seconds))
    else:
        lines = sums_contradicted(named[family], seeds, counts)
    bad = 0
    for line in lines:
        bad += 1
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{family}: {len(seeds)} designs, {bad} contradictions: {dict(sorted(counts.items()))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
