"""Intervals of renewals are read as durations: a range, its order and its unit."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherence as co
from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event

DESIGN = """coherence: 1
components: {{worker: {{takes: {{task: 2 min .. 5 min}}}}}}
timers: {{lease: {{from: worker.task starts, after: 90 s, renew: {renew}, unless: worker.task ends, then: redeliver}}}}
"""


@pytest.mark.parametrize(
    ("renew", "said"), [("60 s .. 15 s", "smaller end first"), ("9 req", "a duration"), ("0 s", "above zero")]
)
def test_an_interval_that_is_none_is_refused(renew: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_text(DESIGN.format(renew=renew), "d")
    assert said in str(error.value)


def test_an_interval_is_a_quantity_and_words_are_an_event() -> None:
    interval = read_text(DESIGN.format(renew="15 s .. 60 s"), "d").timers["lease"].renew
    assert isinstance(interval, Quantity)
    assert interval.low == 15
    assert interval.high == 60
    assert isinstance(read_text(DESIGN.format(renew="heartbeat"), "d").timers["lease"].renew, Event)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 3), st.integers(1, 30))
def test_a_timer_never_fires_exactly_where_no_look_can_come_too_late(
    every: int, first: int, late: int, after: int
) -> None:
    """The latest looks come `late` and their first one a whole period after `first`: a plain walk over them."""
    text = f"""coherence: 1
timers:
  look: {{from: gpu unhealthy, first: {first} s, every: {every} s, jitter: 0 s .. {late} s, then: note look}}
  repair: {{from: gpu unhealthy, after: {after} s, renew: look, then: replace node}}
promises: {{mended: after gpu unhealthy then repair within 1 h}}
"""
    renewed, fires = 0, False
    for number in range(1, 9):  # each look as late as it may be after one that was as early as it may be
        looked = first + number * every + late
        fires = fires or looked - renewed >= after
        renewed = first + number * every
    found = next(finding for finding in co.check(text, select="COH243").findings)
    assert (str(found.verdict) == "conflict") == (not fires)
