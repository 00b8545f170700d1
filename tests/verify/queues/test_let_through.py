"""What a thing is asked for may not reach it: quotas and callers before it let less through."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.queues.let_through import admitted, held_above

TEXT = """coherence: 1
workload: {users: {rate: 90 req/s}}
components: {gate: {copies: 1, rate_per_copy: 50 req/s}, web: {copies: 2}}
calls: [{from: users, to: gate}, {from: gate, to: web}]
limits: {quota: {counts: attempts(web), at_most: 160, window: 2 s, when_full: reject%s}}
"""


def facts(more: str = "") -> DesignFacts:
    return known(Subject(read_text(TEXT % more), {}))


@pytest.mark.parametrize(
    ("more", "rate"),
    [("", 80), (", per: users", None), (", scope: one proxy", None), (', during: "0 9 * * mon-fri for 8 h"', None)],
)
def test_a_quota_lets_so_many_through_where_it_counts_all(more: str, rate: int | None) -> None:
    let = admitted(facts(more), "web")
    assert (let[1] if let is not None else None) == rate


@pytest.mark.parametrize(("enough", "held"), [(40, ()), (60, ("gate passes on all that is asked of it",))])
def test_a_caller_passes_on_what_it_serves(enough: int, held: tuple[str, ...]) -> None:
    assert tuple(held_above(facts(), "web", lambda passed: passed >= Fraction(enough))) == held
