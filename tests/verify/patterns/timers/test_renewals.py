"""Intervals of renewals are read as durations: a range, its order and its unit."""

from __future__ import annotations

import pytest

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
