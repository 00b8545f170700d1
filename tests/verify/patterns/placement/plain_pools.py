"""Runs requests at pools of members in whole milliseconds: arrivals, one call onward, limits, priorities, time-outs.

A second, plain reading of what a design means, for draws that look for a run against a proof.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pool:
    """Members of a thing, whose turn it is, what one service takes where the sender does not say, and its one call."""

    members: int
    serve: int = 0
    by_priority: bool = False
    onward: str = ""
    ends: int | None = None  # the limit of the call onward, which cancels
    room: int | None = None  # more than so many waiting are turned away
    slots: int | None = None  # so many are at it at once, others wait outside


@dataclass(frozen=True)
class Sender:
    """Requests that call one pool, or several in turn, each with a service there."""

    pools: tuple[str, ...]
    service: int = 0
    priority: int = 0
    deadline: int | None = None
    cancels: bool = False
    most: int | None = None  # so many are in flight, others wait


@dataclass(eq=False)
class Try:
    """One try at a pool, for a request or for the member that makes it."""

    pool: str
    sender: str
    request: Request
    owner: Try | None = None
    child: Try | None = None
    begun: int = -1
    over: bool = False


@dataclass(eq=False)
class Request:
    sender: str
    came: int
    stage: int = 0
    now: Try | None = None
    inside: bool = False
    over: bool = False


@dataclass
class PoolRun:
    """Holds of members as (pool, sender, direct, from, to), and how long requests took."""

    pools: Mapping[str, Pool]
    senders: Mapping[str, Sender]
    holds: list[tuple[str, str, bool, int, int]] = field(default_factory=list)
    took: list[tuple[str, int]] = field(default_factory=list)
    now: int = 0

    def __post_init__(self) -> None:
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.number = itertools.count()
        self.waiting: dict[str, list[Try]] = {name: [] for name in self.pools}
        self.outside: dict[str, list[Try]] = {name: [] for name in self.pools}
        self.busy = dict.fromkeys(self.pools, 0)
        self.flying = dict.fromkeys(self.senders, 0)
        self.before: dict[str, list[Request]] = {name: [] for name in self.senders}

    def at(self, time: int, event: Callable[[], None]) -> None:
        heapq.heappush(self.events, (time, next(self.number), event))

    def run(self, arrivals: Iterable[tuple[int, str]]) -> PoolRun:
        for time, sender in arrivals:
            self.at(time, lambda sender=sender: self.come(sender))  # type: ignore[misc]
        while self.events:
            self.now, _, event = heapq.heappop(self.events)
            event()
        return self

    def come(self, name: str) -> None:
        request, sender = Request(name, self.now), self.senders[name]
        if sender.deadline is not None:
            self.at(self.now + sender.deadline, lambda: self.leave(request))
        self.before[name].append(request)
        self.admit(name)

    def admit(self, name: str) -> None:
        most = self.senders[name].most
        while self.before[name] and (most is None or self.flying[name] < most):
            request = self.before[name].pop(0)
            if not request.over:
                self.flying[name], request.inside = self.flying[name] + 1, True
                self.send(request)

    def send(self, request: Request) -> None:
        pool = self.senders[request.sender].pools[request.stage]
        request.now = Try(pool, request.sender, request)
        self.enter(request.now)

    def enter(self, own: Try) -> None:
        pool = self.pools[own.pool]
        if pool.slots is not None and self.busy[own.pool] + len(self.waiting[own.pool]) >= pool.slots:
            self.outside[own.pool].append(own)
            return
        self.waiting[own.pool].append(own)
        self.serve(own.pool)
        if pool.room is not None and len(self.waiting[own.pool]) > pool.room:
            self.waiting[own.pool].remove(own)
            own.over = True
            self.end(own.request)

    def serve(self, name: str) -> None:
        pool, queue = self.pools[name], self.waiting[name]
        while queue and self.busy[name] < pool.members:
            first = max(queue, key=lambda own: self.senders[own.sender].priority) if pool.by_priority else queue[0]
            queue.remove(first)
            self.busy[name] += 1
            first.begun = self.now
            takes = pool.serve or self.senders[first.sender].service
            self.at(self.now + takes, lambda first=first: self.served(first))  # type: ignore[misc]

    def served(self, own: Try) -> None:
        pool = self.pools[own.pool]
        if own.over:
            return
        if not pool.onward:
            self.done(own)
            return
        own.child = Try(pool.onward, own.sender, own.request, own)
        if pool.ends is not None:
            self.at(self.now + pool.ends, lambda child=own.child: self.late(own, child))  # type: ignore[misc]
        self.enter(own.child)

    def late(self, own: Try, child: Try) -> None:
        if not child.over:
            self.withdraw(child)
            self.done(own)

    def done(self, own: Try) -> None:
        """A member has ended its work: its caller goes on."""
        self.withdraw(own)
        if own.owner is not None:
            if not own.owner.over:
                self.done(own.owner)
        elif not own.request.over and own.request.now is own:
            own.request.stage += 1
            if own.request.stage < len(self.senders[own.sender].pools):
                self.send(own.request)
            else:
                self.end(own.request)

    def withdraw(self, own: Try) -> None:
        """Takes a try from its pool, with what it waits for."""
        if own.over:
            return
        own.over = True
        if own.child is not None:
            self.withdraw(own.child)
        for line in (self.waiting[own.pool], self.outside[own.pool]):
            if own in line:
                line.remove(own)
        if own.begun >= 0:
            self.busy[own.pool] -= 1
            self.holds.append((own.pool, own.sender, own.owner is None, own.begun, self.now))
        self.serve(own.pool)
        if self.outside[own.pool]:
            self.enter(self.outside[own.pool].pop(0))

    def leave(self, request: Request) -> None:
        """The deadline of a request has come."""
        if not request.over:
            if request.now is not None and self.senders[request.sender].cancels:
                self.withdraw(request.now)
            self.end(request)

    def end(self, request: Request) -> None:
        request.over = True
        self.took.append((request.sender, self.now - request.came))
        if request.inside:
            self.flying[request.sender] -= 1
            self.admit(request.sender)


def at_once(holds: Iterable[tuple[int, int]]) -> int:
    """Returns how many of some spans overlap at most; one that ends where another one begins does not."""
    steps = sorted(step for begun, ended in holds for step in ((begun, 1), (ended, -1)) if ended > begun)
    return max(itertools.accumulate((by for _, by in steps)), default=0)
