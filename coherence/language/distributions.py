"""Reads laws and measured quantiles of services, and reports those that cannot be meant."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from coherence.base import units
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity, Reading
from coherence.language.workloads import Spread2

NEAR = Fraction(1, 100)  # how far the stated mean may be from that of the quantiles
WIDEST = Fraction(577, 1000)  # cv of uniform times from zero on
BY_WORKLOAD = ("service", "tokens", "prompt", "answer", "residence")


def spreads(design: Design) -> Iterator[tuple[str, Spread2]]:
    """Yields every distribution of a workload, with its path."""
    for workload in design.workload.values():
        for key in BY_WORKLOAD:
            stated = getattr(workload, key)
            if isinstance(stated, Spread2):
                yield f"{key} of {workload.name}", stated


def check(design: Design, reading: Reading) -> None:
    """Reports laws that have no such `cv`, and quantiles that are no distribution or not that of the mean."""
    for what, spread in spreads(design):
        if spread.quantiles is not None:
            _quantiles(what, spread, reading)
        elif spread.law is not None:
            _law(spread, spread.law.text, reading)


def quantile_points(spread: Spread2) -> tuple[tuple[Fraction, Quantity], ...]:
    """Returns (share, time) by share; without what is no share."""
    points = ((_share(text), time) for text, time in (spread.quantiles or {}).items())
    return tuple(sorted(((share, time) for share, time in points if share is not None), key=lambda point: point[0]))


def _share(text: str) -> Fraction | None:
    try:
        share, dimension = units.quantity(text)
    except units.UnitError:
        return None
    return share if dimension == ONE and 0 <= share <= 1 else None


def _quantiles(what: str, spread: Spread2, reading: Reading) -> None:
    assert spread.quantiles is not None
    place = next((time.place for time in spread.quantiles.values()), spread.mean.place if spread.mean else None)
    if place is None:
        return
    wrong = next((text for text in spread.quantiles if _share(text) is None), None)
    if wrong is not None:
        reading.problem(place, f"'{units.shorten(wrong)}' is not a share of times", "write for example `99 %: 200 ms`")
        return
    points = quantile_points(spread)
    if not points or points[0][0] != 0 or points[-1][0] != 1:
        remedy = "state the shortest and the longest: `quantiles: {0 %: 2 ms, 50 %: 30 ms, 100 %: 400 ms}`"
        reading.problem(place, f"the quantiles of {what} do not reach from 0 % to 100 %", remedy)
        return
    if any(after[1].low < before[1].high for before, after in itertools.pairwise(points)):
        reading.problem(place, f"the quantiles of {what} do not rise", "a larger share has a longer time")
        return
    _mean(spread, points, place, reading)
    if spread.law is not None:
        reading.problem(spread.law.place, f"{what} has a law beside its quantiles", "remove one of the two")


def _mean(spread: Spread2, points: tuple[tuple[Fraction, Quantity], ...], place: Place, reading: Reading) -> None:
    """Reports a mean that is not that of the quantiles, straight between them."""
    pairs = itertools.pairwise(points)
    mean = sum(((after - before) * (low.low + high.low) / 2 for (before, low), (after, high) in pairs), Fraction(0))
    if spread.mean is not None and abs(spread.mean.low - mean) > NEAR * mean:
        text = render_quantity(Fraction(float(mean)).limit_denominator(10**6), spread.mean.dimension)
        message = f"the mean of these quantiles is {text}, not {spread.mean.text}"
        reading.problem(place, message, f"write `mean: {text}`")


def _law(spread: Spread2, law: str, reading: Reading) -> None:
    assert spread.law is not None
    cv = spread.cv.low if spread.cv is not None else None
    right = {
        "constant": cv in (None, 0),
        "exponential": cv in (None, 1),
        "uniform": cv is not None and cv <= WIDEST,
        "hyperexponential": cv is not None and cv > 1,
    }
    if not right.get(law, True):
        remedy = {
            "constant": "leave `cv` out: it is 0",
            "exponential": "leave `cv` out: it is 1",
            "uniform": "state `cv: 0.577` at most: with more some times would be negative",
            "hyperexponential": "state a `cv` above 1",
        }[law]
        reading.problem(spread.law.place, f"there is no {law} law with cv {1 if cv is None else float(cv):g}", remedy)
