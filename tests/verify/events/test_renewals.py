"""Renewals are in time where the latest of them comes before the earliest end of the lease."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.verify.events.renewals import in_time

DESIGN = """coherence: 1
components: {{worker: {{takes: {{task: 2 min .. 5 min}}}}}}
timers:
  lease: {{from: worker.task starts, after: 90 s, {renew}unless: worker.task ends, then: redeliver}}
  beat: {{from: worker.task starts, every: 30 s, then: send beat}}
"""


@pytest.mark.parametrize(
    ("renew", "answer"),
    [
        ("renew: 89 s, ", True),
        ("renew: 30 s .. 89 s, ", True),
        ("renew: 90 s, ", False),
        ("renew: 30 s .. 90 s, ", False),
        ("renew: beat, ", True),
        ("renew: heartbeat, ", None),
        ("", False),
    ],
)
def test_renewals_are_in_time_where_the_latest_comes_before_the_end(renew: str, answer: bool | None) -> None:
    design = read_text(DESIGN.format(renew=renew), "d")
    assert in_time(design, design.timers["lease"]) is answer
