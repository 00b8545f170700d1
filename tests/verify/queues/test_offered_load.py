"""Load offered to a thing and the rate of one member: calls of workloads, stated arrivals, rates and service times."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.queues.member_rates import member_rate
from coherence.verify.queues.offered_load import each_serves, offered
from tests.verify.affine_rows import figures

CALLED = """
coherence: 1
workload:
  clients: {rate: 40 req/s .. 50 req/s, service: {mean: 40 ms, cv: 1}, burst: {rate: 150 req/s, lasts: 3 s}}
components: {edge: {copies: 1}, workers: {copies: 4}}
calls:
  - {from: clients, to: edge}
  - {from: edge, to: workers}
"""


def facts(text: str = CALLED) -> DesignFacts:
    return known(Subject(read_text(text), {}))


def test_a_workload_offers_its_range_and_its_burst_along_its_calls() -> None:
    rate = offered(facts(), "workers")
    assert rate is not None
    assert figures(rate.low, rate.high, rate.peak, rate.names) == (40, 50, 150, ("clients",))


def test_two_ways_to_a_thing_offer_twice_the_rate() -> None:
    rate = offered(facts(CALLED + "  - {from: clients, to: workers}\n"), "workers")
    assert rate is not None
    assert figures(rate.low, rate.high, rate.peak) == (80, 100, 300)


def test_nothing_is_offered_where_no_call_leads() -> None:
    assert offered(facts(CALLED.replace("  - {from: edge, to: workers}\n", "")), "workers") is None


def test_the_only_server_of_a_workload_serves_one_request_in_its_mean_time() -> None:
    service = each_serves(facts(), "workers")
    assert service is not None
    assert (service[0].low, service[1]) == (Fraction(40, 1000), False)
    rate = member_rate(facts(), "workers")
    assert rate is not None
    assert figures(rate.low, rate.high) == (25, 25)


def test_a_second_server_of_the_workload_leaves_open_whose_time_it_is() -> None:
    text = CALLED.replace("workers: {copies: 4}", "workers: {copies: 4}, store: {copies: 1}")
    assert each_serves(facts(text + "  - {from: edge, to: store}\n"), "workers") is None


@pytest.mark.parametrize(
    ("stated", "ends"), [("10 req/s", (10, 10)), ("5 req/s .. 10 req/s", (5, 10)), ("0 req/s .. 10 req/s", None)]
)
def test_a_stated_rate_of_a_member_counts_where_it_is_above_zero(stated: str, ends: tuple[int, int] | None) -> None:
    text = f"coherence: 1\ncomponents: {{pool: {{copies: 2, rate_per_worker: {stated}, arrivals: 7 req/s}}}}\n"
    rate = member_rate(facts(text), "pool")
    assert (None if rate is None else figures(rate.low, rate.high)) == ends
    load = offered(facts(text), "pool")
    assert load is not None
    assert figures(load.low, load.high, load.peak) == (7, 7, 7)


SUM = """
coherence: 1
workload:
  quick: {rate: 50 req/s, burst: {rate: 250 req/s, lasts: 30 s, every: 1 min}}
  slow: {rate: 10 req/s}
components: {web: {copies: 2, arrivals: quick.rate + 2 * slow.rate}}
"""


def test_a_sum_of_workloads_counts_the_bursts_of_each() -> None:
    rate = offered(facts(SUM), "web")
    assert rate is not None
    assert (*figures(rate.low, rate.high, rate.peak), rate.uneven) == (70, 170, 270, True)


@pytest.mark.parametrize("arrivals", ['"max(quick.rate, slow.rate)"', "quick.rate * quick.rate / slow.rate"])
def test_of_another_formula_than_a_sum_nothing_is_known(arrivals: str) -> None:
    assert offered(facts(SUM.replace("quick.rate + 2 * slow.rate", arrivals)), "web") is None


@pytest.mark.parametrize(("near", "far", "read", "write"), [(1, 1, 1, 3), (2, 1, 5, 1), (1, 9, 1, 0), (0, 1, 1, 1)])
def test_weights_of_cases_bring_what_a_count_of_all_requests_brings(near: int, far: int, read: int, write: int) -> None:
    design = read_text(
        "coherence: 1\n"
        f"workload: {{users: {{rate: 60 req/s, cases: {{near: {near}, far: {far}}}}}}}\n"
        "components:\n"
        f"  gate: {{cases: {{read: {read}, write: {write}}}}}\n"
        "  disk: {copies: 1}\n"
        "  cache: {copies: 1}\n"
        "calls:\n"
        "  - {from: users, to: gate, case: near}\n"
        "  - {from: users, to: disk, case: far}\n"
        "  - {from: gate, to: cache, case: [read, write]}\n"
        "  - {from: gate, to: disk, case: write}\n"
    )
    counted = {"gate": 0, "disk": 0, "cache": 0}
    for first in ["near"] * near + ["far"] * far:
        for second in ["read"] * read + ["write"] * write:
            counted["gate"] += first == "near"
            counted["cache"] += first == "near"
            counted["disk"] += (first == "far") + (first == "near" and second == "write")
    requests = (near + far) * (read + write)
    for thing, times in counted.items():
        rate = offered(known(Subject(design, {})), thing)
        assert rate is not None
        assert not rate.open
        assert rate.low == rate.high == Fraction(60 * times, requests)
