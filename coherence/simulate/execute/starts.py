"""Enumerates the starts of runs: the ends of every open range, or every start where they are finitely many."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

from coherence.language.expressions.evaluate import NotExactError
from coherence.model.model import Interval, Model
from coherence.simulate.execute.exact import Choices, MissingValueError
from coherence.simulate.execute.open_ranges import one_ended

MOST_CORNERS = 8
_Ends = tuple[Fraction, ...]


def finite(model: Model, most: int) -> Iterator[Choices]:
    """Yields every choice of initial values and constants.  Raises NotExactError where they are not finitely many."""
    open_: dict[str, list[Fraction]] = {}
    for table in (model.states, model.commands):
        for path, signal in table.items():
            if not signal.initial.exact:
                open_[path] = integers(path, signal.initial, integer=signal.integer)
    for path, constant in model.constants.items():
        if not constant.range.exact or constant.varies:
            raise NotExactError(f"{path} is a range of reals")
    if model.inputs:
        raise NotExactError(f"{next(iter(model.inputs))} may take any value")
    count = math.prod(len(values) for values in open_.values())
    if count > most:
        raise NotExactError(f"{count} starts are more than {most}")
    for chosen in itertools.product(*open_.values()):
        yield Choices(dict(zip(open_, chosen, strict=True)))


def integers(path: str, interval: Interval, *, integer: bool) -> list[Fraction]:
    """Returns the integers of a bounded interval."""
    if not integer or interval.low is None or interval.high is None:
        raise NotExactError(f"{path} starts anywhere in a range of reals")
    return [Fraction(n) for n in range(math.ceil(interval.low), math.floor(interval.high) + 1)]


def corners(model: Model, most: int = MOST_CORNERS) -> Iterator[Choices]:
    """Yields ends of every open range: all low, all high, each alone high, each alone low, the others; at most `most`.

    Raises MissingValueError where a range has no end.
    """
    ends = _ends(model)
    lowest, highest = tuple(e[0] for e in ends.values()), tuple(e[-1] for e in ends.values())
    alone = [(*low[:k], high[k], *low[k + 1 :]) for low, high in _both(lowest, highest) for k in range(len(lowest))]
    ordered = itertools.chain((lowest, highest), alone, itertools.product(*ends.values()))
    seen: set[tuple[Fraction, ...]] = set()
    for chosen in ordered:
        if len(seen) == most:
            return
        if chosen not in seen:
            seen.add(chosen)
            yield Choices(dict(zip(ends, chosen, strict=True)))


def between(model: Model, count: int) -> Iterator[Choices]:
    """Yields choices inside the open ranges: their middles, and drawn ones; what counts stays whole.

    Nothing where all ranges are exact.  Raises MissingValueError where a range has no end.
    """
    ends, random = _ends(model), Random(0)  # noqa: S311  (the same values in every run)
    whole = {p for table in (model.states, model.commands) for p, signal in table.items() if signal.integer}
    for number in range(count if ends else 0):
        shares = {path: Fraction(random.randint(1, 15) if number else 8, 16) for path in ends}
        values = {path: e[0] + (e[-1] - e[0]) * shares[path] for path, e in ends.items()}
        yield Choices({p: Fraction(math.ceil(v)) if p in whole else v for p, v in values.items()})


def constant_corners(model: Model, most: int = MOST_CORNERS) -> Iterator[Choices]:
    """Yields the corners as `corners` does, one for each choice of the constants."""
    seen: set[_Ends] = set()
    for choices in corners(model, most):
        constants = tuple(value for path, value in choices.values.items() if path in model.constants)
        if constants not in seen:
            seen.add(constants)
            yield choices


def fixed_at(model: Model, choices: Choices) -> Model:
    """Returns the model in which the constants of a choice are those numbers, for what reads one end of a range."""
    numbers = {path: value for path, value in choices.values.items() if path in model.constants}
    constants = {p: replace(model.constants[p], range=Interval(value, value)) for p, value in numbers.items()}
    return replace(model, constants={**model.constants, **constants}) if constants else model


def corner_count(model: Model) -> float:
    """Returns how many corners there are, whether or not `corners` yields them all; infinity where a range is open.

    So it is of a range of which every run reads the same end: no corner is at the other one.
    """
    if one_ended(model):
        return math.inf
    try:
        return math.prod(len(set(e)) for e in _ends(model).values())
    except MissingValueError:
        return math.inf


def _both(lowest: _Ends, highest: _Ends) -> tuple[tuple[_Ends, _Ends], ...]:
    return (lowest, highest), (highest, lowest)


def _ends(model: Model) -> dict[str, list[Fraction]]:
    """Returns the ends of every open range, by path."""
    open_: dict[str, Interval] = {}
    for table in (model.states, model.commands):
        open_.update({p: x.initial for p, x in table.items() if not x.initial.exact})
    open_.update({p: c.range for p, c in model.constants.items() if not c.range.exact})
    ends = {p: [e for e in (r.low, r.high) if e is not None] for p, r in open_.items()}
    unbounded = [p for p, e in ends.items() if not e]
    if unbounded:
        raise MissingValueError(unbounded[0])
    return ends
