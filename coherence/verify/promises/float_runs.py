"""Looks for runs in floats that break a promise, where exact runs cannot follow the flows: lags, growth, products.

A run is looked at at even distances over longer and longer times, from the first starts that the design leaves open
and with some phases and orders.  It breaks a promise only where every comparison in it is clear of its edge by far more
than a run in floats is off.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.bisection import halved
from coherence.base.clock import record_cut
from coherence.base.watchdog import TimeOverError, at_most
from coherence.language.expressions import names
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Compare, Tree, walk
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, MissingValueError, View
from coherence.simulate.execute.hybrid import Trajectory, execute
from coherence.simulate.execute.starts import corners
from coherence.verify.promises.edges_ahead import PAST
from coherence.verify.promises.refutations import watched
from coherence.verify.promises.run_choices import other_choices

METHOD = "execution in floats"
TIMES = (1, 10, 100, 1_000, 10_000, 100_000)  # seconds that runs are followed
POINTS, MOST_INSTANTS, MOST_STARTS, MOST_OTHERS = 500, 2_000, 3, 12
CLEAR = 1e-6  # of the size of two sides: nearer to each other they are not told apart
CLOSE = 1e-9  # relative width of the bracket of the time at which a promise breaks


@dataclass(frozen=True)
class BreakingRun:
    """A run in floats that breaks a promise: its choices, the time in s, and the values there."""

    choices: Choices
    time: Fraction
    values: dict[str, float]


def breaking_run(model: Model, condition: Tree, kind: str, seconds: float) -> BreakingRun | None:
    """Returns a run that breaks a promise of kind always or never; None where none is found in so many seconds."""
    looks_back = watched(model, condition) or any(getattr(node, "function", "") in PAST for node in walk(condition))
    if kind not in ("always", "never") or looks_back:
        return None
    try:
        with at_most(seconds, processor=True):
            others = itertools.islice(other_choices(model), MOST_OTHERS)
            tried = itertools.chain(itertools.islice(corners(model), MOST_STARTS), others)
            for choices, until in itertools.product(tried, TIMES):
                run = execute(model, choices, until=Fraction(until), most=MOST_INSTANTS)
                time = _first(_broken(run, condition, wanted=kind == "always"), Fraction(until, POINTS))
                if time is not None:
                    values = {path: float(run.value(path, time)) for path in names(condition)}
                    return BreakingRun(choices, time, values)
    except TimeOverError:
        record_cut()
    except (NotExactError, MissingValueError, ArithmeticError):
        return None
    return None


def _first(broken: Callable[[Fraction], bool], step: Fraction) -> Fraction | None:
    """Returns the first time of a grid at which a run breaks its promise, narrowed to where that begins."""
    number = next((k for k in range(POINTS + 1) if broken(k * step)), None)
    if not number:
        return None if number is None else Fraction(0)
    low, high = (number - 1) * step, number * step
    ends = halved(lambda time: not broken(time), low, high, near=lambda a, b: b - a <= CLOSE * b)
    return Fraction(ends[1])


def _broken(run: Trajectory, condition: Tree, *, wanted: bool) -> Callable[[Fraction], bool]:
    """Returns the test of whether the promise is broken at a time, clear of the edge of each comparison."""
    compared = [node for node in walk(condition) if isinstance(node, Compare)]

    def broken(time: Fraction) -> bool:
        view = View(run.run, time, run.at(time))
        if bool(evaluate(condition, view)) is wanted:
            return False
        return all(_is_clear(evaluate(node.left, view), evaluate(node.right, view)) for node in compared)

    return broken


def _is_clear(left: object, right: object) -> bool:
    if isinstance(left, bool | str) or isinstance(right, bool | str):
        return True
    first, second = float(left), float(right)  # type: ignore[arg-type]
    return abs(first - second) > CLEAR * (1 + abs(first) + abs(second))
