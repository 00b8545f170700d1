"""Signals from outside a design: what loops only compare with numbers takes any value, and nothing else does."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.model.elaborate import model_of
from coherence.verify.promises.outside_signals import prepared

DESIGN = """coherence: 1
components: {{w: {{copies: 1 .. 1000, seen: {seen}}}}}
loops:
  grow:
    timescale: {{period: 10 s}}
    rules: [{{when: {up}, by: 1}}, {{when: x.load < 5, by: -1}}]
    actuation: {{signal: w.copies, bounds: [5, 20], from: 5}}
promises: {{few: {kind} w.copies < 6}}
"""


def varied(up: str, *, seen: str = "1", kind: str = "always") -> dict[str, tuple[Fraction | None, Fraction | None]]:
    """Returns the signals that vary in the model that a promise is decided on, each with its range."""
    model = model_of(read_text(DESIGN.format(up=up, seen=seen, kind=kind), "d"))
    constants = prepared(model, next(iter(model.promises.values()))).constants
    return {path: (c.range.low, c.range.high) for path, c in constants.items() if c.varies}


@pytest.mark.parametrize("up", ["x.load > 30", "30 <= x.load", "not x.load > 30", "x.load > 30 and w.copies < 9"])
def test_the_range_reaches_beyond_every_number_that_it_is_compared_with(up: str) -> None:
    ((low, high),) = varied(up).values()
    assert low is not None
    assert high is not None
    assert low < 5
    assert high > 30


@pytest.mark.parametrize(
    "up", ["2 * x.load > 30", "x.load > 30 for 1 min", "x.load > w.copies", "x.load > 30 or x.load > w.copies"]
)
def test_what_is_read_in_any_other_way_is_left_open(up: str) -> None:
    assert varied(up) == {}


def test_what_the_rest_of_the_design_reads_is_left_open() -> None:
    assert varied("x.load > 30", seen="x.load") == {}


def test_a_promise_that_waits_for_something_leaves_it_open() -> None:
    assert varied("x.load > 30", kind="eventually") == {}
