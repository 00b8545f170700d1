"""Says which of its random draws a test takes: a part of them in CI, and all of them when asked by hand.

`COHERENCE_DRAW=all python -m pytest -m slow` takes every draw that a test speaks of (10,000 traces of a part of
`models/`), and without `-m slow` all examples of each law.  Without it the first part is taken, the same in every run;
`COHERENCE_DRAW=1` takes the second part, and so on, past the last one to draws that were never taken.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import cast

import pytest

VARIABLE = "COHERENCE_DRAW"
ALL = "all"
TRACES = 10_000  # of each part of models/


def chosen() -> str:
    """Returns `all` or the number of the part.  Raises ValueError for anything else."""
    stated = os.environ.get(VARIABLE, "0")
    if stated != ALL and not stated.isdecimal():
        raise ValueError(f"{VARIABLE} is '{stated}': write the number of a part, 0 for the first, or {ALL}")
    return stated


def drawn(every: range, *, parts: int) -> range:
    """Returns the seeds of the chosen part; parts are of equal length and follow one another."""
    if chosen() == ALL:
        return every
    length = len(every) // parts
    begin = every.start + int(chosen()) * length
    return range(begin, begin + length)


def few(number: int) -> int:
    """Returns how many examples a test draws for a law: a third of a number, which all draws take."""
    return number if chosen() == ALL else -(-number // 3)


def source(seed: int) -> Random:
    """Returns a source of random numbers for the chosen part: the first one begins as all of them do."""
    part = chosen()
    return Random(seed if part in {ALL, "0"} else f"{seed}, part {part}")  # noqa: S311  (the same in every run)


@dataclass(frozen=True)
class Comparison:
    """The parts of `models/` that each trace of a test lays beside their originals, and how many traces there are."""

    parts: tuple[str, ...]
    traces: int


def trace_counts(
    few: int, every: int = TRACES, *, parts: int = 10, of: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns the decorator that gives a test its number of `traces`: a few, and in slow tests the chosen part of all.

    `of`: the parts of models/ that each trace lays beside their originals (`comparison` reads them).
    """
    many = len(drawn(range(every), parts=parts))
    mark = pytest.mark.parametrize("traces", [few, pytest.param(many, marks=pytest.mark.slow)])

    def marked(test: Callable[..., None]) -> Callable[..., None]:
        test.__dict__["comparison"] = Comparison(of, every)
        return cast("Callable[..., None]", mark(test))

    return marked


def seeds(quick: int, every: int) -> list[object]:
    """Returns the seeds of a law whose draws take long: the first in every run, and the others in the slow tests."""
    return [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= quick)) for seed in range(every)]


def comparison(test: object) -> Comparison | None:
    """Returns what a test compares; None where it is no test of traces."""
    stated = getattr(test, "comparison", None)
    return stated if isinstance(stated, Comparison) else None
