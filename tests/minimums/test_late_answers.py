"""Calls of a design whose callers stop waiting: the share that surely does, beside a run, and where nothing is said."""

from __future__ import annotations

import math
import random

import pytest

from coherence.language.reading import read_text
from coherence.minimums.design_floors import design_floors
from coherence.minimums.registry import entry

DESIGN = """coherence: 1
workload: {{web: {{rate: 3 req/s, service: {{mean: 1 s, cv: {cv}}}}}}}
components: {{pool: {{copies: 4{pool}}}}}
calls:
  - {{from: web, to: pool, {call}}}
"""


def shares(call: str, *, cv: str = "1", pool: str = "") -> list[float]:
    design = read_text(DESIGN.format(call=call, cv=cv, pool=pool))
    found = design_floors(design, [entry("wait_beyond").bound])
    return [float(each.floor.low) for each in found if each.floor]


def by_run(limit: float, *, requests: int = 40_000) -> float:
    """Four servers and one queue, request by request: the share that waits longer."""
    draw, free, now, late = random.Random(7), [0.0] * 4, 0.0, 0  # noqa: S311
    for _ in range(requests):
        now += draw.expovariate(3)
        server = min(range(4), key=free.__getitem__)
        begins = max(now, free[server])
        free[server] = begins + draw.expovariate(1)
        late += begins - now > limit
    return late / requests


def test_the_share_that_waits_beyond_a_timeout_is_that_of_a_run() -> None:
    (share,) = shares("per_try: 1 s, deadline: 5 s, on_timeout: abandon")
    assert share == pytest.approx(0.5094339622641509 * math.exp(-1), rel=1e-9)  # C(4, 3) = 27/53
    assert share == pytest.approx(by_run(1.0), abs=0.02)


@pytest.mark.parametrize(
    "call",
    [
        "per_try: 1 s, on_timeout: cancel",  # late tries leave the queue
        "per_try: 1 s",  # or may
        "per_try: 1 s, on_timeout: abandon, tries: 2",  # tries come in bursts
        "per_try: 1 s, on_timeout: abandon, hedge_after: 200 ms",  # the first of two copies counts
        "per_try: 1 s, on_timeout: abandon, timeout_kind: connect",  # nobody waits for an answer
        "on_timeout: abandon",
    ],
)
def test_nothing_is_said_where_a_wait_is_something_else(call: str) -> None:
    assert shares(call) == []


def test_nothing_is_said_of_other_services_and_orders() -> None:
    late = "per_try: 1 s, on_timeout: abandon"
    assert shares(late, cv="0.5") == []
    assert shares(late, pool=", discipline: lifo") == []
    assert len(shares(late, pool=", discipline: fifo")) == 1


@pytest.mark.parametrize(("more", "low", "high"), [("", 0.25, 0.25), (", deadline: 5 s", 0.25, 1.0)])
def test_a_deadline_may_end_the_tries_that_keep_an_overload(more: str, low: float, high: float) -> None:
    design = read_text(DESIGN.format(call=f"per_try: 1 s, tries: 4{more}", cv="1", pool=""))
    (found,) = design_floors(design, [entry("overload_free_load").bound])
    assert found.floor is not None
    assert (float(found.floor.low), float(found.floor.high)) == (low, high)
