"""Runs whole families by hand: `python -m tests.second_interpreter FAMILY COUNT [--log FILE]`.

With a log the run goes on after the last design that the log names, whatever ended it: counts, and every contradiction.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.second_interpreter.call_cases import CALL_CASES
from tests.second_interpreter.capping import CAPPING
from tests.second_interpreter.designs import KINDS
from tests.second_interpreter.events import EVENTS
from tests.second_interpreter.jobs import JOBS
from tests.second_interpreter.laid import runs_contradicted, sums_contradicted
from tests.second_interpreter.laid_calls import calls_contradicted
from tests.second_interpreter.ledgers import unanswered
from tests.second_interpreter.loads import LOADS
from tests.second_interpreter.losing import LOSING
from tests.second_interpreter.numbers import NUMBERS
from tests.second_interpreter.rounds import ROUNDS
from tests.second_interpreter.selecting import SELECTING
from tests.second_interpreter.sends import SENDS
from tests.second_interpreter.standing import silent_proofs
from tests.second_interpreter.starving import STARVING
from tests.second_interpreter.sums import ARITHMETIC
from tests.second_interpreter.surroundings import SURROUNDINGS
from tests.second_interpreter.timers import TIMERS
from tests.second_interpreter.writers import WRITERS

CALLS, LEDGER, STANDING = "call_graphs", "answers_owed", "standing_proofs"
OF_TIMES = (*TIMERS, *SENDS, *CALL_CASES, *EVENTS, *ROUNDS)
DRAWN = (
    *ARITHMETIC,
    *CAPPING,
    *WRITERS,
    *OF_TIMES,
    *JOBS,
    *STARVING,
    *SELECTING,
    *LOSING,
    *LOADS,
    *NUMBERS,
    *SURROUNDINGS,
)
FAMILIES = {draw.__name__: draw for draw in DRAWN}
Lines = Callable[[range, "Counter[str]"], Iterator[str]]


def contradictions_of(family: str, seconds: float) -> Lines:
    """Returns what yields the contradictions of designs of a family."""
    if family == CALLS:
        return calls_contradicted
    if family in KINDS:
        return lambda seeds, counts: runs_contradicted(family, seeds, counts, time_limit=seconds)
    if family == LEDGER:
        return lambda seeds, counts: unanswered(FAMILIES, seeds, counts, time_limit=seconds)
    if family == STANDING:
        return lambda seeds, counts: silent_proofs(FAMILIES, seeds, counts)
    return lambda seeds, counts: sums_contradicted(FAMILIES[family], seeds, counts)


def examine(lines_of: Lines, seeds: range, log: Path | None) -> tuple[Counter[str], int]:
    """Returns how many designs had which answer, and how many were contradicted; goes on where the log ends."""
    counts, first, bad = resumed(log, seeds.start)
    for seed in range(first, seeds.stop):
        lines = list(lines_of(range(seed, seed + 1), counts))
        bad += len(lines)
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                state = {"after": seed, "bad": bad, "counts": counts, "contradictions": lines}
                file.write(json.dumps(state, sort_keys=True) + "\n")
    return counts, bad


def resumed(log: Path | None, first: int) -> tuple[Counter[str], int, int]:
    """Returns the counts, the next seed and the number of contradictions that a log ends with."""
    if log is None or not log.exists():
        return Counter(), first, 0
    state = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    return Counter(state["counts"]), state["after"] + 1, state["bad"]


def main() -> None:
    """Prints every contradiction of a family, and how many designs had which answer."""
    parser = argparse.ArgumentParser(prog="python -m tests.second_interpreter")
    parser.add_argument("family", choices=[*KINDS, CALLS, LEDGER, STANDING, *FAMILIES])
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first design")
    parser.add_argument("--seconds", type=float, default=3, help="the time limit of each question over a plant")
    parser.add_argument("--log", type=Path, help="a line for each design; an existing one is gone on with")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.count)
    counts, bad = examine(contradictions_of(given.family, given.seconds), seeds, given.log)
    sys.stdout.write(f"{given.family}: {len(seeds)} designs, {bad} contradictions: {dict(sorted(counts.items()))}\n")


if __name__ == "__main__":
    main()
