"""Task graphs, migration, capacity and prices: schedules and copies that are executed never beat the floors."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.minimums.floors import at, over
from coherence.minimums.registry import entry
from coherence.minimums.task_graphs import Edge, listed, longest_path
from tests.draws import few

RATES = st.fractions(Fraction(1, 4), Fraction(50), max_denominator=8)


def floor(name: str, **inputs: object) -> float:
    return float(at(entry(name).bound, inputs))  # type: ignore[arg-type]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Fraction], list[Edge]]:
    count = draw(st.integers(1, 9))
    times = draw(st.lists(st.fractions(0, 10, max_denominator=4), min_size=count, max_size=count))
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    return times, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


@given(graph=graphs(), workers=st.integers(1, 4), seed=st.integers(0, 9))
@settings(max_examples=few(100), deadline=None)
def test_no_schedule_ends_before_the_floor_and_a_list_ends_within_twice_it(
    graph: tuple[list[Fraction], list[Edge]], workers: int, seed: int
) -> None:
    times, edges = graph
    order = list(range(len(times)))
    random.Random(seed).shuffle(order)  # noqa: S311  (a seeded run)
    length = listed(times, edges, workers, order)
    wanted = floor("task_graph_time", times=tuple(times), edges=tuple(edges), workers=workers)
    assert float(length) >= wanted - 1e-12
    assert float(length) <= (2 - 1 / workers) * wanted + 1e-9, "Graham's guarantee"
    if workers >= len(times):
        assert length == longest_path(times, edges)


def test_a_chain_of_steps_and_tools_has_the_closed_form() -> None:
    times = (Fraction(5), Fraction(4, 5)) * 5 + (Fraction(5),)
    chain = floor("agent_critical_path", steps=6, tokens=400, rate=80, tool=Fraction(4, 5))
    assert floor("task_graph_time", times=times, edges=tuple((k, k + 1) for k in range(10)), workers=4) == chain


@pytest.mark.parametrize(
    ("times", "edges", "said"),
    [
        ((1, 2), ((0, 1), (1, 0)), "cycle"),
        ((1, 2), ((0, 2),), "numbered 0 to 1"),
        ((), (), "one or more"),
        ((-1,), (), "none below 0"),
        ((1, 2), (1,), "pairs"),
    ],
)
def test_graphs_that_are_none_are_refused(times: tuple[int, ...], edges: tuple[object, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        floor("task_graph_time", times=times, edges=edges, workers=1)


@given(state=RATES, rate=RATES, share=st.fractions(0, Fraction(9, 10), max_denominator=20), n=st.integers(0, 8))
@settings(max_examples=60, deadline=None)
def test_a_running_memory_takes_as_long_as_said_and_never_less_than_one_copy(
    state: Fraction, rate: Fraction, share: Fraction, n: int
) -> None:
    """Page by page: pages written during a round are sent in the next one; the last round stands still."""
    left, now = state, Fraction(0)
    for _ in range(n + 1):
        took = left / rate
        now, left = now + took, share * rate * took
    assert float(now) == pytest.approx(floor("precopy_time", state=state, rate=rate, dirtying=share * rate, rounds=n))
    assert float(now) >= floor("migration_time", state=state, rate=rate) * (1 - 1e-12)


@given(
    state=RATES, rate=RATES, share=st.fractions(0, Fraction(9, 10), max_denominator=20),
    pause=st.fractions(Fraction(1, 100), 2),
)  # fmt: skip
@settings(max_examples=few(60), deadline=None)
def test_fewer_rounds_leave_a_longer_pause(state: Fraction, rate: Fraction, share: Fraction, pause: Fraction) -> None:
    rounds = int(floor("precopy_rounds", state=state, rate=rate, dirtying=share * rate, pause=pause))
    assert state / rate * share**rounds <= pause
    assert rounds == 0 or state / rate * share ** (rounds - 1) > pause


@given(
    tokens=st.integers(1, 400), kv=RATES, link=RATES, operations=RATES, compute=RATES,
    split=st.fractions(0, 1, max_denominator=16),
)  # fmt: skip
@settings(max_examples=few(80), deadline=None)
def test_no_split_between_moving_and_computing_beats_the_floor(
    tokens: int, kv: Fraction, link: Fraction, operations: Fraction, compute: Fraction, split: Fraction
) -> None:
    inputs = {"tokens": tokens, "kv_bytes": kv, "link": link, "operations": operations, "compute": compute}
    moved = int(split * tokens)
    taken = max(moved * kv / link, (tokens - moved) * operations / compute)
    assert float(taken) >= floor("context_restore_time", **inputs) * (1 - 1e-12)


@given(tokens=st.integers(1, 400), kv=RATES, operations=RATES, compute=RATES, setup=st.fractions(0, 1), rate=RATES)
@settings(max_examples=few(80), deadline=None)
def test_moving_is_sooner_exactly_above_the_crossing(
    tokens: int, kv: Fraction, operations: Fraction, compute: Fraction, setup: Fraction, rate: Fraction
) -> None:
    assume(operations * tokens > setup * compute)
    inputs: dict[str, Any] = {
        "tokens": tokens,
        "kv_bytes": kv,
        "operations": operations,
        "compute": compute,
        "setup": setup,
    }
    crossing = Fraction(at(entry("move_or_recompute").bound, inputs))
    assert (setup + tokens * kv / rate <= tokens * operations / compute) == (rate >= crossing)


@given(load=st.fractions(0, 30, max_denominator=8).filter(bool), gone=st.integers(0, 5), servers=st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_fewer_servers_do_not_carry_the_load_without_those_that_are_gone(
    load: Fraction, gone: int, servers: int
) -> None:
    carries = servers - gone >= load
    assert carries == (servers >= floor("servers_with_spares", offered=load, gone=gone))


def test_ghost_cost_over_ranges_keeps_the_direction() -> None:
    ends = {
        "loss": (Fraction(9, 100), Fraction(11, 100)),
        "minimum": (Fraction(4, 100), Fraction(8, 100)),
        "members": (Fraction(100), Fraction(100)),
        "duration": (Fraction(3600), Fraction(3600)),
        "price": (Fraction(2, 3600), Fraction(3, 3600)),
    }
    found = over(entry("ghost_cost").bound, ends)
    assert found.low == Fraction(1, 100) * 200
    assert found.high == Fraction(7, 100) * 300


def test_a_loss_below_its_minimum_is_told_as_a_number_below_zero() -> None:
    inputs = {"loss": 0.05, "minimum": 0.06, "members": 10, "duration": 1, "price": 1}
    assert floor("ghost_cost", **inputs) < 0


@given(attempt=st.integers(1, 10_000), q=st.floats(0, 0.9), seed=st.integers(0, 5))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_tokens_that_nobody_uses_are_what_attempts_cost_beyond_the_accepted_one(
    attempt: int, q: float, seed: int
) -> None:
    spent = floor("tokens_until_accepted", attempt=attempt, q=q)
    assert floor("ghost_tokens", attempt=attempt, q=q, price=1) == pytest.approx(spent - attempt, abs=1e-6)
    draws, runs, tries = random.Random(seed), 4000, 0  # noqa: S311  (a seeded run)
    for _ in range(runs):
        tries += 1
        while draws.random() < q:
            tries += 1
    assert tries / runs * attempt == pytest.approx(spent, rel=0.15)
