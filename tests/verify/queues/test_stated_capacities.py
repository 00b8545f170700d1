"""What a thing serves as a whole: a rate, or an expression that computes one."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.queues.stated_capacities import stated_capacity


@pytest.mark.parametrize(
    ("stated", "rate"),
    [
        ("capacity: 30 req/s", 30),
        ("throughput: 30 req/s .. 40 req/s", 30),
        ("capacity: pool.copies * 20 req/s", 40),
        ("capacity: 30 GB", None),
        ("capacity: pool.copies * 80 GB", None),
        ("capacity: pool.heat * 20 req/s", None),
        ("rate_per_copy: 30 req/s", None),
    ],
)
def test_a_capacity_is_requests_per_second_that_are_known(stated: str, rate: int | None) -> None:
    text = f"coherence: 1\ncomponents: {{pool: {{copies: 2, {stated}}}}}\n"
    capacity = stated_capacity(known(Subject(read_text(text, "d"), {"d": text})), "pool")
    assert (None if capacity is None else int(capacity[0])) == rate
