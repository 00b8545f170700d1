"""The same relations written a second time, plainly: every job and every node by itself, without symmetry."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

Next = Callable[[Any], Iterable[Any]]


def reachable(starts: Iterable[Hashable], following: Next) -> dict[Any, set[Any]]:
    """State -> its successors, for all reachable states."""
    found: dict[Any, set[Any]] = {}
    waiting = list(starts)
    while waiting:
        state = waiting.pop()
        if state not in found:
            found[state] = set(following(state))
            waiting += found[state]
    return found


def some_state_never_rests(graph: dict[Any, set[Any]]) -> bool:
    """Is there a state from which no state without successors can be reached?"""
    calm = {state for state, after in graph.items() if not after}
    grown = True
    while grown:
        more = {state for state, after in graph.items() if state not in calm and after & calm}
        calm |= more
        grown = bool(more)
    return len(calm) < len(graph)


def has_cycle(graph: dict[Any, set[Any]]) -> bool:
    """Kahn's algorithm: what is left after all states without open successors are taken away."""
    left = {state: set(after) for state, after in graph.items()}
    while True:
        done = {state for state, after in left.items() if not after}
        if not done:
            return bool(left)
        left = {state: after - done for state, after in left.items() if state not in done}


# --- jobs that are admitted whole


class Jobs:
    """Jobs by name: (queue, need, priority, age); `order` and `may` are plain functions of the running ones."""

    def __init__(
        self, jobs: dict[str, tuple[str, int, int, int]], capacity: int,
        order: Callable[[Jobs, frozenset[str], str], Any], may: Callable[[Jobs, frozenset[str], str, str], bool],
        *, reserved: bool = False, by_age: bool = False, by_queue: bool = False,
    ) -> None:  # fmt: skip
        self.jobs, self.capacity, self.order, self.may = jobs, capacity, order, may
        self.reserved, self.by_age, self.by_queue = reserved, by_age, by_queue

    def used(self, running: Iterable[str], queue: str | None = None) -> int:
        return sum(self.jobs[j][1] for j in running if queue is None or self.jobs[j][0] == queue)

    def fits(self, running: frozenset[str], job: str) -> bool:
        return self.used(running) + self.jobs[job][1] <= self.capacity

    def following(self, state: tuple[frozenset[str], frozenset[str]]) -> set[Any]:
        come, running = state
        away = set(self.jobs) - come
        if self.by_age and away:
            oldest = max(self.jobs[j][3] for j in away)
            away = {j for j in away if self.jobs[j][3] == oldest}
        found = {(come | {job}, running) for job in away}
        waiting = [job for job in come if job not in running]
        able = [job for job in waiting if self.fits(running, job)]
        if able:
            least = min(self.order(self, running, job) for job in able)
            return found | {(come, running | {j}) for j in able if self.order(self, running, j) == least}
        for taker in waiting:
            found |= {(come, after) for after in self.taken(running, taker)}
        return found

    def taken(self, running: frozenset[str], taker: str) -> set[frozenset[str]]:
        """Every order of victims, stopped as soon as the taker fits; of a hopeless taker after the first."""
        hopeless, found = self.jobs[taker][1] > self.capacity, set()
        for order in permutations(sorted(running)):
            left = running
            for victim in order:
                same = self.jobs[victim][0] == self.jobs[taker][0] != ""
                if (self.by_queue and same) or not self.may(self, left, taker, victim):
                    break
                left -= {victim}
                if hopeless or self.fits(left, taker):
                    found.add(left | {taker} if self.reserved and not hopeless else left)
                    break
        return found

    def verdict(self) -> str:
        graph = reachable([(frozenset(), frozenset())], self.following)
        if not has_cycle(graph):
            return "none"
        return "certain" if some_state_never_rests(graph) else "escapes"


# --- nodes


class Nodes:
    """Nodes with a zone and a room each; rules are (by, at most, together, must)."""

    def __init__(
        self, zones: Sequence[str], rooms: Sequence[int | None], rules: Sequence[tuple[str, int, bool, bool]]
    ) -> None:
        self.zones, self.rooms, self.rules = tuple(zones), tuple(rooms), tuple(rules)

    def sums(self, state: tuple[int, ...], by: str) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for n, held in enumerate(state):
            key = self.zones[n] if by == "zone" else n
            found[key] = found.get(key, 0) + held
        return found

    def broken(self, state: tuple[int, ...], node: int, rule: tuple[str, int, bool, bool]) -> int:
        """By how much, after a member came to this node."""
        by, at_most, together, _ = rule
        sums = self.sums(state, by)
        own = sums[self.zones[node] if by == "zone" else node]
        return sum(state) - own if together else own - min(sums.values()) - at_most

    def put(self, state: tuple[int, ...], *, wishes: bool = False) -> list[tuple[int, ...]]:
        found = []
        for n in range(len(state)):
            room = self.rooms[n]
            after = (*state[:n], state[n] + 1, *state[n + 1 :])
            if (room is None or state[n] < room) and all(self.broken(after, n, r) <= 0 for r in self.rules if r[3]):
                found.append((sum(max(0, self.broken(after, n, r)) for r in self.rules if not r[3]), after))
        if wishes:
            found = [one for one in found if one[0] == min(cost for cost, _ in found)]
        return [after for _, after in found]

    def placement(self, low: int, high: int) -> tuple[str, int]:
        def following(state: tuple[int, ...]) -> list[tuple[int, ...]]:
            onward = self.put(state) if sum(state) < high else []
            if low < sum(state) and low < high:
                most = max(state)
                onward += [(*state[:n], x - 1, *state[n + 1 :]) for n, x in enumerate(state) if x == most]
            return onward

        graph = reachable([(0,) * len(self.zones)], following)
        reached = max(sum(state) for state in graph)
        stuck = any(sum(state) < high and not self.put(state) for state in graph)
        return ("none" if not stuck else "certain" if reached < high else "possible"), reached

    def chase(self, members: int, by: str, above: int) -> str:
        """The evictor acts while some domain has more than `above`, and takes from a fullest domain."""
        graph = reachable([(0,) * len(self.zones)], lambda s: self.put(s) if sum(s) < members else [])
        starts = [state for state in graph if sum(state) == members]
        if not starts:
            return "blocked"

        def following(state: tuple[int, ...]) -> list[tuple[int, ...]]:
            sums = self.sums(state, by)
            if max(sums.values()) <= above:
                return []
            found = []
            for n, held in enumerate(state):
                if held and sums[self.zones[n] if by == "zone" else n] == max(sums.values()):
                    found += self.put((*state[:n], held - 1, *state[n + 1 :]), wishes=True)
            return found

        rounds = reachable(starts, following)
        if not has_cycle(rounds):
            return "quiet"
        return "certain" if some_state_never_rests(rounds) else "possible"


# --- members that wait for each other


def standstill(sizes: Sequence[tuple[int, bool]], capacity: int) -> str:
    """Jobs of so many members, admitted one by one or whole; every member is its own bit.  No order."""
    members = [(j, m) for j, (size, _) in enumerate(sizes) for m in range(size)]

    def following(state: tuple[frozenset[Any], frozenset[int], frozenset[int]]) -> list[Any]:
        held, done, come = state
        found = [(held, done, come | {j}) for j in range(len(sizes)) if j not in come]
        if len(held) < capacity:
            for j, m in members:
                if j in come and j not in done and (j, m) not in held and not sizes[j][1]:
                    found.append((held | {(j, m)}, done, come))
        for j, (size, whole) in enumerate(sizes):
            own = {(j, m) for m in range(size)}
            if whole and j in come and j not in done and not own & held and len(held) + size <= capacity:
                found.append((held | own, done, come))
            if own <= held:
                found.append((held - own, done | {j}, come))
        return found

    graph = reachable([(frozenset(), frozenset(), frozenset())], following)
    bad = [s for s, after in graph.items() if not after and len(s[1]) < len(sizes)]
    if not bad:
        return "none"
    return "never" if any(size > capacity for size, _ in sizes) else "stuck"


def share(jobs: Jobs, running: frozenset[str], job: str, deserved: dict[str, int]) -> Fraction | float:
    """What the job's queue holds over what it deserves."""
    queue = jobs.jobs[job][0]
    return Fraction(jobs.used(running, queue), deserved[queue]) if deserved[queue] else float("inf")
