"""Ranks that wait for each other and batches that wait to be full, against integrals and a batch server.

SOURCE: order statistics of the normal distribution (integral of n x phi(x) Phi(x)^(n-1)).
Triton Inference Server 2.x, dynamic_batch_scheduler.cc: DynamicBatchScheduler::BatcherThread, GetDynamicBatch (a batch
goes when it is full, or when its oldest request has waited max_queue_delay, and a server is free).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from coherence.findings.question_input import Subject
from coherence.language.expressions import parse
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from tests.draws import source, trace_counts

OVER = 0.38  # by how much the excess of a part is above the one of just so many ranks


def outputs(component: str, names: tuple[str, ...]) -> dict[str, Fraction]:
    """Returns outputs of a component `one`."""
    facts = known(Subject(read_text(f"coherence: 1\ncomponents: {{one: {{{component}}}}}\n")))
    intervals = {name: facts.range(facts.tree(parse(f"one.{name}"))) for name in names}
    assert all(interval.exact for interval in intervals.values())
    return {name: interval.low for name, interval in intervals.items() if interval.low is not None}


# --- ranks


@cache
def largest(ranks: int) -> float:
    """Returns the expected largest of so many standard normal numbers."""
    points = np.linspace(-8.0, 8.0, 16_001)
    below = 0.5 * (1 + np.array([math.erf(x / math.sqrt(2)) for x in points]))
    return float(np.trapezoid(1.0 * (points > 0) - below**ranks, points))


@pytest.mark.slow
@trace_counts(200, parts=50, of=("barrier",))
def test_a_round_is_as_long_as_the_slowest_of_normal_steps_and_no_shorter(traces: int) -> None:
    rng = source(91)
    for _ in range(traces):
        ranks, typical, spread = round(2 ** rng.uniform(0, 14)), rng.randint(1, 100), rng.randint(0, 30)
        part = outputs(
            f"uses: barrier, ranks: {ranks}, typical: {typical} s, spread: {spread} %", ("slowest", "excess")
        )
        over = float(part["excess"]) - largest(ranks)
        assert -0.001 <= over <= OVER, ranks
        assert over <= 0.29 or ranks > 1024, ranks
        assert float(part["slowest"]) == pytest.approx(typical * (1 + spread / 100 * float(part["excess"])))


@pytest.mark.parametrize("power", range(1, 15))
def test_powers_of_two_are_those_of_the_table(power: int) -> None:
    part = outputs(f"uses: barrier, ranks: {2**power}, typical: 1 s, spread: 1 %", ("excess",))
    if power not in (11, 13):  # 2048 and 8192 are rounded up as all between
        assert float(part["excess"]) == pytest.approx(largest(2**power), abs=0.001)


# --- batches


def served(
    arrivals: list[Fraction], most: int, delay: Fraction, fixed: Fraction, each: Fraction
) -> list[tuple[int, Fraction]]:
    """Returns the size of each batch, and how long its oldest request took."""
    batches, free, first = list[tuple[int, Fraction]](), Fraction(0), 0
    while first < len(arrivals):
        full = arrivals[first + most - 1] if first + most <= len(arrivals) else None
        late = arrivals[first] + delay
        begin = max(free, late if full is None else min(full, late))
        size = 1
        while size < most and first + size < len(arrivals) and arrivals[first + size] <= begin:
            size += 1
        free = begin + fixed + each * size
        batches.append((size, free - arrivals[first]))
        first += size
    return batches


@trace_counts(60, parts=50, of=("batcher",))
def test_a_batch_server_under_even_arrivals_settles_at_the_batch_of_the_part(traces: int) -> None:
    """Batches are whole requests: the last twenty, on average, are less than one away from the part's."""
    rng = source(92)
    for _ in range(traces):
        most, rate = rng.randint(1, 32), rng.randint(1, 200)
        fixed, each = Fraction(rng.randint(1, 100), 1000), Fraction(rng.randint(0, 10), 1000)
        delay = Fraction(rng.choice((0, 0, rng.randint(1, 200))), 1000)
        part = outputs(
            f"uses: batcher, arrivals: {rate} req/s, max_batch: {most} req, max_delay: {float(delay)} s, "
            f"fixed: {float(fixed)} s, each: {float(each)} s/req",
            ("batch", "utilization", "longest", "capacity"),
        )
        assert part["capacity"] == most / (fixed + most * each)
        if part["utilization"] > Fraction(95, 100):
            continue
        batches = served([Fraction(k, rate) for k in range(40 * most)], most, delay, fixed, each)[-22:-2]
        mean = Fraction(sum(size for size, _ in batches), len(batches))
        assert abs(mean - part["batch"]) < 1, (most, rate, fixed, each, delay, mean, part)
        if rate * (fixed + most * each) <= most:
            assert max(took for _, took in batches) <= part["longest"] + Fraction(1, rate), (
                most,
                rate,
                fixed,
                each,
                delay,
            )
