"""What beats a floor lies outside its assumptions; inside them nothing does, at any input, and nothing else fails.

The first part runs systems that beat a floor and looks for the assumption that each of them breaks.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Role, Trend
from coherence.minimums.floors import Number, at, over
from coherence.minimums.ladder import ladder
from coherence.minimums.pipeline_runs import needed, orders
from coherence.minimums.registry import bounds, entry

BOUNDS = pytest.mark.parametrize("bound", bounds(), ids=lambda bound: bound.name)
EXTREME = (0, 1, 2, Fraction(1, 10**12), 10**12, 1e300, 5e-324, math.inf, -math.inf, math.nan, -1, 0.999999)


def value(name: str, **inputs: Any) -> Number:
    return at(entry(name).bound, inputs)


def assumed(name: str) -> set[str]:
    return set(entry(name).bound.assumptions)


@BOUNDS
def test_no_input_gives_a_negative_floor_or_another_error(bound: Bound) -> None:
    for example in bound.examples[:2]:
        for symbol in bound.symbols:
            for extreme in () if symbol.way is Trend.LIST else (*EXTREME, symbol.least, symbol.most):
                try:
                    found = at(bound, {**example.inputs, symbol.name: extreme})
                except UsageError:
                    continue
                assert not math.isnan(found)
                assert found >= 0 or bound.name == "ghost_cost", f"{symbol.name} = {extreme}: {found}"


@BOUNDS
def test_every_point_of_a_range_lies_between_its_ends(bound: Bound) -> None:
    """All symbols move at once: the corners that `way` names are the extremes of the whole box."""
    draw = random.Random(bound.name)  # noqa: S311  (points of a test)
    for example, _ in product(bound.examples[:2], range(6)):
        spans = {symbol.name: _span(draw, symbol, example.inputs[symbol.name]) for symbol in bound.symbols}
        try:
            found = over(bound, spans)
        except UsageError:
            continue
        inside = {name: _between(draw, bound, name, span) for name, span in spans.items()}
        try:
            here = float(at(bound, inside))
        except UsageError:
            continue  # a hole in the range of validity (an odd number, a loop that is stable for another reason)
        slack = 1e-9 * (1 + abs(here))
        assert float(found.low) - slack <= here <= float(found.high) + slack, inside


def _span(draw: random.Random, symbol: Any, here: Any) -> tuple[Any, Any]:
    if symbol.way not in (Trend.RISES, Trend.FALLS):
        return here, here
    low, high = float(here) * draw.uniform(0.4, 1), float(here) * draw.uniform(1, 2.5) + (0 if here else draw.random())
    if symbol.whole:
        low, high = math.floor(low), math.ceil(high)
    return Fraction(max(low, symbol.least)), Fraction(max(min(high, symbol.most), low, symbol.least))


def _between(draw: random.Random, bound: Bound, name: str, span: tuple[Any, Any]) -> Any:
    if isinstance(span[0], tuple) or span[0] == span[1]:
        return span[0]
    if bound.symbol(name).whole:
        return span[0] + draw.randint(0, int(span[1] - span[0]))
    return span[0] + (span[1] - span[0]) * Fraction(draw.randint(0, 16), 16)


@BOUNDS
def test_dropping_an_assumption_never_raises_a_floor(bound: Bound) -> None:
    """At the examples, and with one member alone."""
    for example in bound.examples:
        for inputs in (example.inputs, {**example.inputs, "n": 1}):
            if set(inputs) != set(bound.names) or bound.role is not Role.FLOOR:
                continue
            spans = {name: (here, here) for name, here in inputs.items()}
            try:
                rungs = ladder(bound, spans)
            except UsageError:
                continue
            for rung in rungs:
                assert rung.bought is None or rung.bought >= -1e-12, f"{rung.assumption} at {inputs}"


def queue(seed: int, count: int, *, preempt: bool) -> float:
    """Share of requests that ever wait at one exponential server at a load of one half."""
    draw, clock, waited = random.Random(seed), 0.0, set[int]()  # noqa: S311  (a run of a test)
    line: list[list[float]] = []  # [number, work left]; the last one is served (preempt) or the first one
    for number in range(count):
        gap = draw.expovariate(0.5)
        clock += gap
        while line and gap > 0:
            served = line[-1 if preempt else 0]
            done = min(gap, served[1])
            served[1] -= done
            gap -= done
            if served[1] <= 0:
                line.remove(served)
        if line:
            waited.add(int(line[-1][0]) if preempt else number)
        line.append([number, draw.expovariate(1.0)])
    return len(waited) / count


def test_interrupting_service_lets_fewer_requests_wait_so_order_is_assumed() -> None:
    """Last come, preempting: a request waits only if another one comes during its service, 1/3 < 1/2."""
    share = float(value("erlang_waiting", servers=1, offered=Fraction(1, 2)))
    assert queue(1, 40_000, preempt=False) == pytest.approx(share, abs=0.015)
    assert queue(1, 40_000, preempt=True) == pytest.approx(1 / 3, abs=0.015)
    assert "fcfs" in assumed("erlang_waiting")
    assert "fcfs" in assumed("servers_for_wait")


def test_service_that_hastens_when_a_queue_forms_beats_constant_service_so_independence_is_assumed() -> None:
    draw, wait, waits, services = random.Random(2), 0.0, [], []  # noqa: S311  (a run of a test)
    for _ in range(40_000):
        service = 0.3 if wait > 0 else 1.1
        waits.append(wait)
        services.append(service)
        wait = max(0.0, wait + service - draw.expovariate(0.8))
    mean = sum(services) / len(services)
    assert sum(waits) / len(waits) < 0.9 * float(value("wait_without_variability", load=0.8 * mean, mean=mean))
    assert {"iid", "fcfs"} <= assumed("wait_without_variability")
    assert "iid" in assumed("single_server_wait")


def test_a_loop_without_roll_off_never_amplifies_so_roll_off_is_assumed() -> None:
    """L = k/s: |S| = w/sqrt(w^2 + k^2) is small up to a band and nowhere above 1."""
    gain, band = 1.0, 0.1
    level = band / math.hypot(band, gain)
    assert float(value("bode_continuous", poles=0, band=band, level=level, available=1000)) > 1
    assert max(w / math.hypot(w, gain) for w in (10**k for k in range(-3, 7))) < 1
    assert "roll_off" in assumed("bode_continuous")


def test_short_micro_batches_first_and_last_fill_sooner_so_equal_ones_are_assumed() -> None:
    """Two stages, passes of 0.8, 1.4 and 0.8 (mean 1), backward twice forward: 11.8 s where equal ones take 12 s."""
    times = {kind: [Fraction(size * long, 10) for size in (8, 14, 8)] for kind, long in (("F", 1), ("B", 2))}
    first = [("F", 0), ("F", 1), ("B", 0), ("F", 2), ("B", 1), ("B", 2)]
    second = [("F", 0), ("B", 0), ("F", 1), ("B", 1), ("F", 2), ("B", 2)]
    best = min(filter(None, (_unequal((one, other), times) for one, other in product((first, *orders(3)), (second,)))))
    assert best == Fraction(59, 5)
    assert 1 - Fraction(9) / best < value("pipeline_bubble_share", p=2, m=3)
    assert "equal_batches" in assumed("pipeline_bubble_share") & assumed("pipeline_makespan")


def _unequal(chosen: Any, times: dict[str, list[Fraction]]) -> Fraction | None:
    """Makespan when a pass takes as long as its micro-batch says; None where the orders wait for each other."""
    done: dict[Any, Fraction] = {}
    left, free = [list(order) for order in chosen], [Fraction(0)] * len(chosen)
    while any(left):
        before = len(done)
        for stage, order in enumerate(left):
            if order and ((need := needed(*_at(order[0], stage), len(chosen))) is None or need in done):
                kind, batch = order.pop(0)
                free[stage] = max(free[stage], done.get(need, Fraction(0))) + times[kind][batch]
                done[kind, stage, batch] = free[stage]
        if len(done) == before:
            return None
    return max(free)


def _at(one: Any, stage: int) -> tuple[str, int, int]:
    return one[0], stage, one[1]


def test_three_replicas_that_propose_themselves_decide_in_two_delays_so_outside_proposers_are_assumed() -> None:
    """Two of three propose, the third accepts what it sees first: at most one value has two votes, and with any one
    process gone the others can tell which: the third's vote if it is there, else each proposer knows its own."""
    for first in ("v", "w"):
        votes = {"p": "v", "r": "w", "q": first}
        decided = {value for value, proposer in (("v", "p"), ("w", "r")) if {votes[proposer], votes["q"]} == {value}}
        assert decided == {first}
        for gone in ("p", "r"):
            left = {name: vote for name, vote in votes.items() if name != gone}
            assert left["q"] == first, "what a proposer that is gone may have decided stands in the third's vote"
    assert value("agreement_delay", replicas=3, failures=1, crashed=1, delay=1) == 3
    assert "outside_proposers" in assumed("agreement_delay")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("broadcast", "unicast"),  # one multicast message reaches all in one round
        ("clock_synchronisation", "messages_only"),  # a receiver of a common time at every clock
        ("try_timeout_in_deadline", "one_try_at_a_time"),  # hedged tries overlap
        ("decode_step_time", "private_context"),  # a common prefix is read once for the batch
        ("transformer_operations", "full_attention"),  # a causal mask hides half of the scores
        ("prefill_time", "plain_products"),
        ("kv_transfer_rate", "no_prompt_cache"),  # a prefix that is there already is not moved
        ("servers_for_load", "poisson"),  # regular arrivals of regular work fill servers exactly
    ],
)
def test_what_else_beats_a_floor_is_excluded_by_name(name: str, wanted: str) -> None:
    assert wanted in assumed(name)


def test_ghost_cost_over_ranges_below_zero_takes_every_corner() -> None:
    spans = {"loss": (0.0, 0.1), "minimum": (0.2, 0.3), "members": (1, 10), "duration": (1, 2), "price": (1, 3)}
    found = over(entry("ghost_cost").bound, spans)
    assert found.low == pytest.approx(-0.3 * 60)
    assert found.high == pytest.approx(-0.1 * 1)
