"""How far apart the firings of a timer are, with literal answers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.verify.events.periods import periods


@pytest.mark.parametrize(
    ("timer", "apart"),
    [
        ("{from: x, every: 10 s, then: ring}", [(10, 10)]),
        ("{from: x, every: 10 s, jitter: 1 s, then: ring}", [(8, 12)]),
        ("{from: last t, after: 10 s, jitter: 1 s, then: ring}", [(9, 11)]),
        ("{from: last t fires, after: 10 s .. 12 s, then: ring}", [(10, 12)]),
        ("{from: other, after: 1 s, then: ring}", [(6, 6)]),
        ("{from: x, after: 1 s, then: ring}", []),
        ("{from: x, every: 10 s, misses: 3, then: ring}", []),
        ("{from: last t, after: unlimited, then: ring}", []),
    ],
)
def test_a_timer_fires_again_by_its_period_or_by_a_way_back_to_itself(timer: str, apart: list[tuple[int, int]]) -> None:
    other = "other: {from: t, after: 5 s, then: ring}"
    design = read_text(f"coherence: 1\ntimers:\n  t: {timer}\n  {other}\n")
    windows = [(window.earliest, window.latest) for window in periods(design, design.timers["t"])]
    assert windows == [(Fraction(low), Fraction(high)) for low, high in apart]


def test_a_way_over_an_event_may_be_left_out() -> None:
    timer = "t: {from: a.run ends, after: 5 s, then: a.run starts}"
    design = read_text(f"coherence: 1\ncomponents: {{a: {{takes: {{run: 3 s}}}}}}\ntimers: {{{timer}}}\n")
    assert [window.earliest for window in periods(design, design.timers["t"])] == [8]
    assert not list(periods(design, design.timers["t"], without="a.run ends"))
