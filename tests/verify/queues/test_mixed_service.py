"""One thing under several workloads, beside the work that they bring in a second."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.queues.mixed_service import mixed_rate
from coherence.verify.queues.offered_load import offered

PAIRS = st.lists(st.tuples(st.integers(1, 900), st.integers(1, 400)), min_size=2, max_size=4)


def facts_of(workload: str, more: str = "") -> DesignFacts:
    names = [line.strip().split(":")[0] for line in workload.splitlines() if line.strip()]
    calls = "".join(f"  - {{from: {name}, to: api, on_timeout: cancel}}\n" for name in names)
    text = f"coherence: 1\nworkload:\n{workload}components: {{api: {{copies: 10}}}}\ncalls:\n{calls}{more}"
    return known(Subject(read_text(text), {}))


@given(pairs=PAIRS)
def test_members_serve_a_mix_where_its_work_fits_them(pairs: list[tuple[int, int]]) -> None:
    """N members serve r requests a second of mean s each where the sum of r * s is below N."""
    rows = "".join(f"  w{n}: {{rate: {r} req/s, service: {s} ms}}\n" for n, (r, s) in enumerate(pairs))
    facts = facts_of(rows)
    each, demand = mixed_rate(facts, "api"), offered(facts, "api")
    assert each is not None
    assert demand is not None
    work = sum(Fraction(r * s, 1000) for r, s in pairs)
    for members in (int(work), int(work) + 1, int(work) + 2):
        assert (demand.high < members * each.low) is (work < members)
        assert (demand.low >= members * each.high) is (work >= members)


def test_ranges_count_by_their_worse_ends() -> None:
    ranged = "  a: {rate: 0 req/s .. 10 req/s, service: 100 ms .. 200 ms}\n"
    facts = facts_of(ranged + "  b: {rate: 10 req/s, service: 300 ms}\n")
    each, demand = mixed_rate(facts, "api"), offered(facts, "api")
    assert each is not None
    assert demand is not None
    assert demand.high / each.low == 5  # 10 * 0.2 + 10 * 0.3 members at work
    assert demand.low / each.high == 3  # b alone


@pytest.mark.parametrize(
    ("workload", "more"),
    [
        ("  a: {rate: 1 req/s, service: 100 ms}\n", ""),  # one alone has its own answer
        ("  a: {rate: 1 req/s, service: 100 ms}\n  b: {rate: 1 req/s}\n", ""),  # a mean is missing
        (
            "  a: {rate: 1 req/s, service: 100 ms}\n  b: {rate: 1 req/s, service: 1 s}\n",
            "  - {from: api, to: db, on_timeout: cancel}\n",
        ),  # whose time it is is not said
    ],
)
def test_nothing_is_said_of_what_is_not_stated(workload: str, more: str) -> None:
    assert mixed_rate(facts_of(workload, more), "api") is None
