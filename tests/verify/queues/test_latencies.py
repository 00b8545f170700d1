"""Promises on the latency of a queue as demands on servers: against Erlang's formula written again."""

from __future__ import annotations

import math

import pytest

from coherence.findings.question_input import Subject
from coherence.language.expressions import parse
from coherence.language.expressions.tree import Logic, Tree
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.queues import latencies as latencies_module
from coherence.verify.queues.latencies import Latency, demanded, demands_in, enough, latencies, least
from tests.strategies import written

TEXT = """coherence: 1
workload: {{requests: {{rate: {rate}}}}}
components:
  pool: {{uses: replica_pool, rate_per_replica: {each}, takes: {{start: 60 s}}}}
  line: {{uses: queue, arrivals: requests.rate, served_by: pool}}
loops:
  scaler: {{actuation: {{signal: pool.desired, law: step, by: 1, bounds: [1, 100], from: 2}}}}
"""


def facts_of(rate: str = "10 req/s", each: str = "4 req/s") -> DesignFacts:
    return known(Subject(read_text(TEXT.format(rate=rate, each=each))))


def mean_time(servers: int, arrivals: float, rate: float) -> float:
    """Mean time in M/M/c: the sum over states, by the textbook."""
    load = arrivals / rate
    if load >= servers:
        return math.inf
    idle = sum(load**k / math.factorial(k) for k in range(servers))
    busy = load**servers / math.factorial(servers) / (1 - load / servers)
    return 1 / rate + busy / (idle + busy) / (servers * rate - arrivals)


def first(limit: float, arrivals: float, rate: float) -> int:
    return next(c for c in range(1, 100) if mean_time(c, arrivals, rate) <= limit)


def test_a_queue_says_what_its_latency_is_made_of() -> None:
    (found,) = latencies(facts_of()).items()
    assert found == ("line.latency", Latency("line", "line.arrivals", "pool.ready", "pool.rate_per_replica"))


def demands(condition: str, **numbers: str) -> list[tuple[float, float | None]]:
    found = demands_in(facts_of(**numbers), parse(condition))
    return [(float(d.demand.limit), None if d.demand.share is None else float(d.demand.share)) for d in found]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("mean(line.latency) <= 0.3", [(0.3, None)]),
        ("mean(line.latency) < 0.3", [(0.3, None)]),
        ("0.3 >= mean(line.latency)", [(0.3, None)]),
        ("mean(line.latency) >= 0.3", []),
        ("mean(line.latency) == 0.3", []),
        ("mean(line.latency) <= pool.ready", []),
        ("quantile(line.latency, 0.99) <= 1.5", [(1.5, 0.99)]),
        ("tail(line.latency, 2) <= 0.05", [(2, 0.95)]),
        ("mean(line.latency) <= 0", []),
        ("quantile(line.latency, 1) <= 1.5", []),
        ("quantile(line.latency, 0) <= 1.5", []),
        ("tail(line.latency, 2) <= 1", []),
        ("mean(other.latency) <= 0.3", []),
        ("mean(line.latency) <= 0.3 and tail(line.latency, 2) <= 0.05 and pool.ready > 3", [(0.3, None), (2, 0.95)]),
        ("mean(line.latency) <= 0.3 or pool.ready > 3", []),  # it need not hold
    ],
)
def test_upper_bounds_on_a_latency_that_must_hold_are_demands(
    condition: str, expected: list[tuple[float, float | None]]
) -> None:
    assert demands(condition) == expected


def tree_of(condition: str, facts: DesignFacts) -> Tree | None:
    (demand,) = demands_in(facts, parse(condition))
    return least(facts, demand)


@pytest.mark.parametrize("limit", [0.26, 0.3, 0.4, 1.0])
def test_one_rate_of_arrivals_needs_one_number_of_servers(limit: float) -> None:
    count = first(limit, 10, 4)
    tree = tree_of(f"mean(line.latency) <= {limit}", facts_of())
    assert tree is not None
    assert written(tree) == f"(pool.ready >= {float(count)})"


def test_the_fewest_arrivals_and_the_fastest_server_are_what_every_state_needs() -> None:
    facts = facts_of("10 req/s .. 14 req/s", "2 req/s .. 4 req/s")
    tree = tree_of("mean(line.latency) <= 0.3", facts)
    assert isinstance(tree, Logic)
    assert tree.op == "and"
    low, high = first(0.3, 10, 4), first(0.3, 14, 4)
    assert written(tree.terms[0]) == f"(pool.ready >= {float(low)})"
    assert len(tree.terms) == 1 + high - low
    for fewer, term in enumerate(tree.terms[1:], low):
        assert isinstance(term, Logic)
        assert term.op == "or"
        assert written(term.terms[1]) == f"(pool.ready >= {float(fewer + 1)})"
        text = written(term.terms[0])
        arrivals = float(text.split("<= ")[1].strip(")"))
        assert text.startswith("(line.arrivals <= ")
        assert mean_time(fewer, arrivals * 0.999, 4) <= 0.3 < mean_time(fewer, arrivals * 1.001, 4)


def test_a_wide_range_is_told_apart_up_to_a_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = facts_of("10 req/s .. 100 req/s", "4 req/s")
    monkeypatch.setattr(latencies_module, "MOST_STEPS", 3)
    tree = tree_of("mean(line.latency) <= 0.3", facts)
    assert isinstance(tree, Logic)
    assert len(tree.terms) == 4
    monkeypatch.setattr(latencies_module, "MANY", first(0.3, 10, 4) - 1)
    assert not isinstance(tree_of("mean(line.latency) <= 0.3", facts), Logic)


def test_a_server_that_is_too_slow_alone_needs_another_rate() -> None:
    tree = tree_of("mean(line.latency) <= 0.2", facts_of())  # one request takes 0.25 s
    assert tree is not None
    text = written(tree)
    assert text.startswith("(pool.rate_per_replica >= ")
    assert float(text.split(">= ")[1].strip(")")) == pytest.approx(5, rel=1e-6)


@pytest.mark.parametrize(
    ("numbers", "limit", "expected"),
    [
        ({}, 0.3, first(0.3, 10, 4)),
        ({"rate": "6 req/s .. 10 req/s", "each": "4 req/s .. 5 req/s"}, 0.3, first(0.3, 10, 4)),
        ({}, 0.25, None),
        ({"rate": "0 req/s"}, 0.3, None),
    ],
)
def test_enough_servers_keep_the_demand_at_the_most_arrivals(
    numbers: dict[str, str], limit: float, expected: int | None
) -> None:
    facts = facts_of(**numbers)
    (demand,) = demands_in(facts, parse(f"mean(line.latency) <= {limit}"))
    assert enough(facts, demand) == expected


def test_a_condition_keeps_everything_but_its_demands() -> None:
    facts = facts_of()
    count = float(first(0.3, 10, 4))
    tree = demanded(facts, parse("(mean(line.latency) <= 0.3 or pool.ready > 50) and line.backlog < 9"))
    assert written(tree) == f"(((pool.ready >= {count}) or (pool.ready > 50.0)) and (line.backlog < 9.0))"
    for kept in ("mean(line.latency) > 0.3", "not mean(line.latency) <= 0.3", "scaler"):
        assert demanded(facts, parse(kept)) == parse(kept)


def test_what_a_workload_attempts_is_its_rate() -> None:
    text = TEXT.format(rate="10 req/s", each="4 req/s")
    facts = known(Subject(read_text(text.replace("requests.rate", "requests.attempts"))))
    tree = tree_of("mean(line.latency) <= 0.3", facts)
    assert tree is not None
    assert written(tree) == f"(pool.ready >= {float(first(0.3, 10, 4))})"
