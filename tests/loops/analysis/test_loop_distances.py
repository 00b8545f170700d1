"""Distances of the loops of two designs beside what is known of proportional laws with a late effect."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.loop_distances import LoopDistance, loop_distances
from coherence.model.elaborate import model_of

TEXT = """coherence: 1
infrastructure: {{boundaries: {{vms: {{around: [pool]{delay}}}}}}}
components: {{pool: {{desired: 0.5 .. 400, load: {load}, util: load / desired}}}}
loops:
  hpa:
    inside: none
    target: {{signal: pool.util, setpoint: 50 %}}
    timescale: {{period: {period}, phase: 0 s}}
    actuation: {{signal: pool.desired, count: commanded, from: 20, bounds: [1, 400.5]}}
"""
HERE: dict[str, str] = {"delay": "", "load": "20", "period": "15 s"}


def distance(**other: str) -> LoopDistance:
    before, after = (model_of(read_text(TEXT.format(**own), "d")) for own in (HERE, {**HERE, **other}))
    (row,) = loop_distances(before, after, 40.0)
    return row


def test_a_load_and_a_delay_below_a_period_leave_the_loop_as_it_is() -> None:
    for other in ({"load": "30"}, {"delay": ", added_delay: 10 s"}):
        gap = distance(**other).gap
        assert gap is not None
        assert gap.certified
        assert gap.bound == pytest.approx(0.0, abs=1e-5)
        assert gap.margin_left == pytest.approx(gap.margin, abs=1e-4)


def test_an_effect_that_is_a_period_late_is_not_certified() -> None:
    row = distance(delay=", added_delay: 16 s")
    assert row.gap is not None
    assert not row.gap.certified
    assert row.reason


def test_what_has_no_distance_says_why() -> None:
    assert "other times" in distance(period="30 s").reason
    assert "leaves open" in distance(load="20 .. 30").reason
