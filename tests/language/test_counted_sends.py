"""Which sends a limit counts: those to a callee, or those of the one workload that calls it."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.language.roles import counted_sends

DESIGN = """\
coherence: 1
workload: {{web: {{rate: 1 req/s}}, two: {{rate: 1 req/s}}}}
calls: [{{from: web, to: api}}, {{from: two, to: api}}, {{from: two, to: log}}]
limits: {{rl: {{counts: {counts}, at_most: 5, window: 1 s}}}}
"""


@pytest.mark.parametrize(
    ("counts", "sends"),
    [
        ("attempts(api)", ("api", None)),
        ("api.requests", ("api", None)),
        ("api.sends", ("api", None)),
        ("web.attempts", ("api", "web")),
        ("web.requests", ("api", "web")),
        ("two.attempts", (None, None)),
        ("api.backlog", (None, None)),
        ("web.retries in flight", (None, None)),
    ],
)
def test_sends_are_those_to_a_callee_or_of_its_one_workload(counts: str, sends: tuple[str | None, str | None]) -> None:
    design = read_text(DESIGN.format(counts=counts), "d.yaml")
    counted = design.limits["rl"].counts
    assert counted is not None
    assert counted_sends(design, counted.tree) == sends
