"""Runs whose exact numbers grow beyond use: where they come to rest, beside the same laws in floats."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from coherence.base.solver import unsat
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.enclosed.contracting_runs import Attraction, attractions
from coherence.simulate.execute.exact import Choices, execute

F = Fraction


def loop(to: str, start: float, more: str = "") -> Model:
    """Returns a loop that sets x to a function of it."""
    return elaborate(
        read_text(
            f"coherence: 1\nloops:\n  move: {{timescale: {{period: 1 s{more}}}, trigger: always, "
            f'actuation: {{signal: a.x, law: set, to: "{to}", bounds: [0, 0.99], from: {start}}}}}\n'
        )
    )


def shown(model: Model) -> Attraction | None:
    try:
        return next(attractions(model, Choices()), None)
    except NotExactError:
        return None


CACHE = "a.x + 0.1 * (min(1, 150 / (800 * (1 - a.x))) - a.x)"


@pytest.mark.parametrize(("start", "rest"), [(0.5, F(1, 4)), (0.1, F(1, 4)), (0.76, F(99, 100)), (0.75, F(3, 4))])
def test_a_cache_comes_to_rest_cold_or_full_by_where_it_starts(start: float, rest: Fraction) -> None:
    """x (1 - x) = 3/16 has the roots 1/4, which draws near, and 3/4, where a run stays that begins there."""
    with pytest.raises(NotExactError, match="100000 bits"):
        execute(loop(CACHE, 0.5), instants=40)
    at = shown(loop(CACHE, start))
    assert at is not None
    assert abs(at.centre["a.x"] - rest) <= at.reach < F(1, 10**20)
    assert unsat(at.script, timeout_ms=5_000).unsat


@pytest.mark.parametrize(
    ("to", "start", "more"),
    [
        ("3.3 * a.x * (1 - a.x)", 0.3, ""),  # ends in a cycle of two
        ("3.9 * a.x * (1 - a.x)", 0.3, ""),  # chaos
        ("a.x * a.x", 0.5, ", hold_down: 5 s"),  # a memory that is not followed
        ("a.x * a.x", 0.5, ", cooldown: 5 s"),
    ],
)
def test_no_rest_is_shown_where_there_is_none_or_what_is_remembered_is_not_followed(
    to: str, start: float, more: str
) -> None:
    assert shown(loop(to, start, more)) is None


@pytest.mark.slow
def test_random_laws_rest_where_floats_do() -> None:
    """Products and quotients of random numbers; what floats show to swing is never shown to rest."""
    draw, rests = random.Random(7), 0  # noqa: S311  (the same laws in every run)
    for _ in range(12):
        a, b, c = (round(draw.uniform(0.1, 3.5), 2) for _ in range(3))
        laws = [f"{a} * a.x * (1 - a.x)", f"{c} / 10 + a.x / ({a} + {b} * a.x * a.x)", f"a.x * a.x / {a} + 0.1"]
        to = draw.choice(laws)
        start = round(draw.uniform(0.05, 0.9), 2)
        at = shown(loop(to, start))
        x, tail = start, list[float]()
        for step in range(3_000):
            x = min(0.99, max(0.0, eval(to.replace("a.x", repr(x)))))  # noqa: S307  (a law that this test wrote)
            tail += [x] if step > 2_900 else []
        if at is not None:
            rests += 1
            assert max(tail) - min(tail) < 1e-9
            assert abs(float(at.centre["a.x"]) - tail[-1]) < 1e-9
    assert rests >= 4
