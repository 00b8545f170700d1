"""How many members of a thing work at once: what limits stop for certain, and what they may stop."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.queues.loaded_things import station_of

TEXT = """coherence: 1
workload: {{u: {{rate: 10 req/s, service: 500 ms}}}}
components: {{pool: {{copies: 4}}}}
calls: [{{from: u, to: pool}}]
limits: {{few: {{counts: pool in flight, at_most: {most}}}}}
"""


@pytest.mark.parametrize(
    ("most", "sure", "least"),
    [
        ("2", 4, 4),
        ("2, but_at_least: 3", 6, 6),
        ("9", 8, 8),
        ("2, scope: one proxy", 8, 4),
        ("2, per: user", 8, 4),
        ("2, per: pool", 8, 8),
        ("2, but_at_least: pool.spare", 8, 0),
        ("3 * 1", 6, 6),
    ],
)
def test_a_limit_lets_as_many_members_work_as_it_surely_or_perhaps_allows(most: str, sure: int, least: int) -> None:
    text = TEXT.format(most=most)
    station = station_of(known(Subject(read_text(text, "d"), {"d": text})), "pool")
    assert station is not None
    assert (station.capacity, station.least) == (Fraction(sure), Fraction(least))
