"""Budgets of retries in a window, beside a plain count of the lines of the trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coherence.simulate.requests.engine import ACTIONS, simulate
from coherence.simulate.requests.program import PacedRetries, Route, Service, Station
from tests.simulate.requests.programs import one_call

SLOW = Station("pool", 3, Service(1.0, values=(0.1, 0.4, 0.9, 0.2)))
CALL = Route("call", "pool", tries=4, per_try=0.5, cancel=True)
WINDOW = 10.0  # s


def counted(times: list[float], now: float, length: float) -> int:
    return sum(now - length < time <= now for time in times)


@pytest.mark.parametrize("budget", [
    PacedRetries(WINDOW, 0.2), PacedRetries(WINDOW, 0.2, of="first"), PacedRetries(WINDOW, floor=5.0),
    PacedRetries(WINDOW, 0.1, 3.0),
])  # fmt: skip
def test_a_retry_is_granted_where_a_plain_count_of_the_window_has_room(budget: PacedRetries) -> None:
    """The window moves on in hundredths, so that the plain count is laid beside it at both ends of the last one."""
    trace = simulate(one_call(replace(CALL, paced=budget), SLOW, rate=8.0), seed=5, until=300.0, trace=True).trace
    assert trace is not None
    sends, grants, short = list[float](), list[float](), WINDOW * 0.99
    granted, denied = 0, 0
    for time, action, number in zip(trace.time, trace.action, trace.number, strict=True):
        name = ACTIONS[action]
        if name == "sent" and (budget.of == "requests" or number == 1):
            sends.append(time)
        if name == "retried":
            most = max(budget.floor, budget.share * counted(sends, time, WINDOW))
            assert counted(grants, time, short) + 1 <= most + 1e-9
            grants.append(time)
            granted += 1
        if name == "denied":
            least = max(budget.floor, budget.share * counted(sends, time, short))
            assert counted(grants, time, WINDOW) + 1 > least
            denied += 1
    assert min(granted, denied) > 50


def test_a_route_without_a_budget_is_denied_nothing() -> None:
    counters = simulate(one_call(CALL, SLOW, rate=8.0), seed=5, until=100.0).counters
    assert counters["call.denied"] == 0
