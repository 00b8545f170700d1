"""Intervals of renewals are read as durations: a range, its order and its unit."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coherence as co
from coherence.base.errors import InputError
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event
from coherence.verify.patterns.timers.response_time import ask

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


@pytest.mark.slow
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


ENDED = """coherence: 1
timers:
  pending: {{from: driver dies, every: {every} s, unless: grace}}
  grace: {{from: driver dies, after: {grace} s}}
  down: {{from: driver dies, after: {lease} s, renew: pending, then: stop cluster}}
promises: {{released: after driver dies then down within {within} s}}
"""


@pytest.mark.parametrize("seed", range(4))
def test_renewals_that_another_timer_ends_are_followed_as_a_plain_run_follows_them(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  # drawn designs
    verdicts = set()
    for _ in range(60):
        every, grace, lease = draw.randint(1, 9), draw.randint(1, 30), draw.randint(1, 20)
        within = draw.randint(1, 50)
        fired = set()
        for first, last in itertools.product(range(every + 1), (grace - 1, grace)):  # any phase; both orders of a tie
            renewed = 0
            for look in range(first or every, last + 1, every):
                renewed = look if look < renewed + lease else renewed
            fired.add(renewed + lease)
        text = ENDED.format(every=every, grace=grace, lease=lease, within=within)
        [finding] = ask(Subject(read_text(text), {"": text}))
        verdicts.add(finding.verdict)
        if finding.verdict is Verdict.PROVED:
            assert max(fired) <= within, (text, fired)
        if finding.verdict is Verdict.CONFLICT:
            assert max(fired) > within, (text, fired)
            assert finding.certainty == "possible" or min(fired) > within, (text, fired)
    assert {Verdict.PROVED, Verdict.CONFLICT} <= verdicts
