"""Searches the runs of a model for one that beats a bound: all of them where they are few, else random ones.

A model is a function that plays one run.  Whatever a schedule, a policy or a protocol may choose it asks of the
`Chooser`; so every sequence of answers is a run, and the search goes through the sequences.  A switch of a model is an
assumption that it can do without: with it dropped more runs are possible.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TypeVar

from coherence.minimums.bound import Inputs, Role
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import entry

FOLDER = "coherence.minimums.adversaries"
MOST, DRAWS = 2_000, 300  # runs of an exhaustive search; random runs where there are more
ROUNDING = 1e-9  # of bounds and runs in floating point
T = TypeVar("T")


def given(**values: float) -> Inputs:
    """Returns the inputs of a floor as exact numbers, each as it is written in decimals."""
    return {name: Fraction(str(value)) for name, value in values.items()}


class HopelessError(Exception):
    """Raised in a run that is not possible, or can no longer beat the floor."""


class Chooser:
    """Answers what a run asks: `answers` first, then the first option of each question, or a random one."""

    def __init__(self, answers: Sequence[int], limit: Number, draw: random.Random | None = None) -> None:
        self.answers, self.limit, self.draw = list(answers), limit, draw
        self.asked: list[tuple[int, int]] = []  # (answer, options)

    def __call__(self, options: Sequence[T]) -> T:
        """Returns one of the options.  Raises HopelessError where there is none."""
        if not options:
            raise HopelessError
        known = len(self.asked) < len(self.answers)
        index = self.answers[len(self.asked)] if known else self.draw.randrange(len(options)) if self.draw else 0
        self.asked.append((index, len(options)))
        return options[index]

    def passed(self, spent: Number) -> None:
        """Gives the run up where it has spent as much as the floor."""
        if spent >= self.limit:
            raise HopelessError

    def following(self) -> list[int] | None:
        """Returns the answers of the next run in order; None after the last one."""
        for place in range(len(self.asked) - 1, -1, -1):
            index, options = self.asked[place]
            if index + 1 < options:
                return [answer for answer, _ in self.asked[:place]] + [index + 1]
        return None


Play = Callable[[Chooser, str, Inputs, frozenset[str]], Number]


@dataclass(frozen=True)
class Adversary:
    """A model of what the assumptions of some bounds leave free; `targets`: bound -> small inputs to try it at.

    `play(choose, bound, inputs, dropped)` returns what one run takes, in the unit of the bound: what is to be no less
    than a floor, no more than a ceiling; of a point, what another choice loses beside it.
    """

    says: str
    targets: Mapping[str, tuple[Inputs, ...]]
    play: Play
    switches: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchResult:
    """`least` of the runs below the limit; None: there was none.  `exhaustive`: every run was played."""

    least: Number | None
    runs: int
    exhaustive: bool


def least_below(
    adversary: Adversary, bound: str, inputs: Inputs, limit: Number, dropped: frozenset[str] = frozenset()
) -> SearchResult:
    """Returns the least that a run takes below a limit, without some assumptions."""
    values: list[Number] = []

    def run(answers: Sequence[int], draw: random.Random | None) -> Chooser:
        choose = Chooser(answers, limit, draw)
        try:
            value = adversary.play(choose, bound, inputs, dropped)
            values.extend([value] if value < limit else [])
        except HopelessError:
            pass
        return choose

    answers: list[int] | None = []
    runs = 0
    while answers is not None and runs < MOST:
        answers, runs = run(answers, None).following(), runs + 1
    if answers is not None:
        draw = random.Random(f"{bound} {sorted(dropped)}")  # noqa: S311  (the same runs each time)
        for _ in range(DRAWS):
            run((), draw)
        runs += DRAWS
    return SearchResult(min(values, default=None), runs, answers is None)


def attack(
    adversary: Adversary, name: str, inputs: Inputs, dropped: frozenset[str] = frozenset(), *, room: float = 0.0
) -> SearchResult:
    """Returns the run that is furthest below a floor, above a ceiling (with its sign turned) or better than a point.

    room: a share of the bound by which a run may also miss it, to see how near the model comes.
    """
    sign, limit = limit_of(name, inputs)
    scale: float = abs(float(limit)) or 1.0
    exact = isinstance(limit, int | Fraction) and limit != 0
    slack = room - (0 if exact else ROUNDING)
    allowed = limit + scale * slack if slack else limit

    def turned(choose: Chooser, bound: str, at_inputs: Inputs, without: frozenset[str]) -> Number:
        return sign * adversary.play(choose, bound, at_inputs, without)

    return least_below(replace(adversary, play=turned), name, inputs, allowed, dropped)


def limit_of(name: str, inputs: Inputs) -> tuple[int, Number]:
    """Returns the sign with which what a run gives is no less than the limit, and the limit."""
    bound = entry(name).bound
    if bound.role is Role.POINT:
        return 1, 0  # another choice loses something, or nothing
    sign = -1 if bound.role is Role.CEILING else 1
    return sign, sign * at(bound, inputs)


@cache
def adversaries() -> tuple[Adversary, ...]:
    """Returns every adversary: each module of the folder declares ADVERSARIES; no list is edited."""
    package = importlib.import_module(FOLDER)
    modules = (importlib.import_module(info.name) for info in pkgutil.iter_modules(package.__path__, FOLDER + "."))
    return tuple(one for module in modules for one in getattr(module, "ADVERSARIES", ()))
