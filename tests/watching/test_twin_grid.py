"""The twin against closed forms and against a queue of requests."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.base.queueing import erlang_c, two_phases
from coherence.causal.data.series import Floats
from coherence.watching.twin_grid import ALIKE, GAMMAS, TwinQueue, TwinStep


def after(queue: TwinQueue, scrapes: int, rate: float, need: float) -> tuple[Floats, TwinStep]:
    """What is present after scrapes of 15 s, and the last of them."""
    present, step = queue.advanced(np.zeros(len(GAMMAS)), rate, need, 15.0)
    for _ in range(scrapes - 1):
        present, step = queue.advanced(present, rate, need, 15.0)
    return present, step


def test_the_grid_holds_the_machine_that_is_as_fast() -> None:
    assert GAMMAS[ALIKE] == pytest.approx(1.0)


@pytest.mark.parametrize(("servers", "load", "cv"), [(1, 0.5, 1.0), (8, 0.7, 1.0), (40, 0.9, 0.5), (3, 0.2, 0.0)])
def test_at_rest_the_wait_is_that_of_erlang_and_allen_cunneen(servers: int, load: float, cv: float) -> None:
    need, rate = 2.0, load * servers / 2.0
    _, step = after(TwinQueue(servers, cv), 400, rate, need)
    waits = erlang_c(servers, load * servers)
    wait = (1 + cv * cv) / 2 * waits * need / (servers * (1 - load))
    assert step.wait[ALIKE] == pytest.approx(wait, rel=0.02, abs=1e-6)
    assert step.waits[ALIKE] == pytest.approx(waits, rel=0.02, abs=1e-6)
    assert (np.diff(step.sojourn) > 0).all()


def test_an_overload_grows_by_what_is_not_served() -> None:
    present, step = after(TwinQueue(4, 1.0), 100, 10.0, 1.0)  # 4 per second are served
    assert present[ALIKE] == pytest.approx(1500 * (10 - 4), rel=0.01)
    assert step.wait[ALIKE] == pytest.approx(present[ALIKE] / 4, rel=0.01)


@pytest.mark.parametrize("limit", [1.0, 3.0, 8.0])
def test_the_share_in_time_is_that_of_an_m_m_c_queue(limit: float) -> None:
    servers, need, rate = 4, 1.0, 2.8
    queue = TwinQueue(servers, 1.0)
    _, step = after(queue, 300, rate, need)
    waits = erlang_c(servers, rate * need)
    late = math.exp(-limit / need) * (1 - waits) + waits * two_phases(servers / need - rate, need, limit)
    assert queue.in_time(step, limit)[ALIKE] == pytest.approx(1 - late, abs=0.012)


def test_few_late_needs_are_told_as_their_law_does() -> None:
    """At light load nobody waits, and P(need > limit) of an exponential law is far below a stretch of its quantiles."""
    queue = TwinQueue(50, 1.0)
    _, step = after(queue, 3, 5.0, 1.0)
    assert 1 - queue.in_time(step, 12.0)[ALIKE] == pytest.approx(math.exp(-12), rel=0.05)
    fixed = TwinQueue(50, 0.0)
    _, step = after(fixed, 3, 5.0, 1.0)
    assert fixed.in_time(step, 1.5)[ALIKE] == pytest.approx(1)
    assert fixed.in_time(step, 0.5)[ALIKE] == 0


def test_in_an_overload_all_are_late_together() -> None:
    """A line of minutes is one that the overload left: it fluctuates little, and a short limit is met by nobody."""
    queue = TwinQueue(4, 1.0)
    _, step = after(queue, 20, 6.0, 1.0)  # 4 per second are served: 600 wait
    assert step.wait[ALIKE] == pytest.approx(150, rel=0.05)
    assert step.chance[ALIKE] < 0.15 * step.wait[ALIKE]
    assert queue.in_time(step, 30.0)[ALIKE] < 0.01
    _, rest = after(queue, 400, 2.8, 1.0)
    assert rest.chance[ALIKE] == pytest.approx(rest.wait[ALIKE] / rest.waits[ALIKE])  # all by chance
