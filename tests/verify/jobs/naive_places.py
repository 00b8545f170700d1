"""Places that select, that are closed, and placers that weigh, written a second time: every node by its number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from tests.verify.jobs.naive_evictions import circles
from tests.verify.jobs.naive_jobs import reachable, some_state_never_rests

Placed = tuple[int, ...]  # members on each node


@dataclass(frozen=True)
class NaiveNode:
    zone: str
    room: int | None = None
    closed: bool = False
    name: str = ""


@dataclass(frozen=True)
class NaiveRule:
    """`spread by` (or together by) a label; a must, or a preference with its weight."""

    by: str
    at_most: int = 1
    together: bool = False
    must: bool = True
    weight: int = 1


@dataclass(frozen=True)
class NaiveLike:
    zone: str
    wanted: bool
    weight: int


@dataclass(frozen=True)
class NaivePlaces:
    nodes: tuple[NaiveNode, ...]
    rules: tuple[NaiveRule, ...]
    likes: tuple[NaiveLike, ...] = ()
    summed: bool = True

    def sums(self, state: Placed, by: str) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for n, held in enumerate(state):
            key = self.domain(n, by)
            found[key] = found.get(key, 0) + held
        return found

    def domain(self, node: int, by: str) -> Any:
        return self.nodes[node].zone if by == "zone" else node

    def broken(self, state: Placed, node: int, rule: NaiveRule) -> int:
        sums = self.sums(state, rule.by)
        own = sums[self.domain(node, rule.by)]
        return sum(state) - own if rule.together else own - min(sums.values()) - rule.at_most

    def able(self, state: Placed) -> list[tuple[int, Placed]]:
        found = []
        for n, node in enumerate(self.nodes):
            after = (*state[:n], state[n] + 1, *state[n + 1 :])
            room = not node.closed and (node.room is None or state[n] < node.room)
            if room and all(self.broken(after, n, rule) <= 0 for rule in self.rules if rule.must):
                found.append((n, after))
        return found

    def put(self, state: Placed, *, wishes: bool = False) -> list[Placed]:
        able = self.able(state)
        if not wishes or not able:
            return [after for _, after in able]
        costs = {n: self.costs(after, n) for n, after in able}
        chosen = {
            n for score in self.scores(costs) for n in costs if score(costs[n]) == min(map(score, costs.values()))
        }
        return [after for n, after in able if n in chosen]

    def costs(self, after: Placed, node: int) -> list[int]:
        soft = [rule for rule in self.rules if not rule.must]
        spread = [rule.weight * max(0, self.broken(after, node, rule)) for rule in soft]
        return spread + [k.weight * ((self.nodes[node].zone == k.zone) is not k.wanted) for k in self.likes]

    def scores(self, costs: dict[int, list[int]]) -> list[Callable[[list[int]], Any]]:
        if self.summed:
            return [sum]
        width = len(next(iter(costs.values())))
        orders = [lambda c, o=order: [c[k] for k in o] for order in permutations(range(width))]
        return [sum, lambda c: sum(x > 0 for x in c), *orders]

    def placement(self, low: int, high: int, *, evicted: bool = False) -> str:
        def following(state: Placed) -> list[Placed]:
            onward = self.put(state) if sum(state) < high else []
            most = max(state)
            gone = [
                n for n, x in enumerate(state) if x and (evicted or (x == most and low < sum(state) and low < high))
            ]
            return onward + [(*state[:n], state[n] - 1, *state[n + 1 :]) for n in gone]

        graph = reachable([(0,) * len(self.nodes)], following)
        stuck = any(sum(state) < high and not self.put(state) for state in graph)
        return "none" if not stuck else "certain" if max(map(sum, graph)) < high else "possible"

    def loss(self, low: int, high: int, going: Sequence[tuple[str, str]]) -> str:
        """Each of the named nodes may go, `lost` or `drained`: does every member find a place again?"""
        if self.placement(low, high) != "none":
            return "blocked"
        graph = reachable([(0,) * len(self.nodes)], lambda s: self.moves(s, low, high))
        worst = []
        for state in graph:
            if max(low, 1) <= sum(state) <= high:
                named = [(n, kind) for n, node in enumerate(self.nodes) for name, kind in going if node.name == name]
                ends = [self.ends(state, n, kind) for n, kind in named]
                worst.append(min(ends, key=["certain", "possible", "none"].index, default="none"))
        if not worst or set(worst) == {"none"}:
            return "none"
        return "certain" if set(worst) == {"certain"} else "possible"

    def moves(self, state: Placed, low: int, high: int) -> list[Placed]:
        onward = self.put(state) if sum(state) < high else []
        gone = [n for n, x in enumerate(state) if x and x == max(state) and low < sum(state) and low < high]
        return onward + [(*state[:n], state[n] - 1, *state[n + 1 :]) for n in gone]

    def ends(self, state: Placed, node: int, kind: str) -> str:
        members = sum(state)
        if kind == "lost":
            rest = replace(self, nodes=(*self.nodes[:node], *self.nodes[node + 1 :]))
            graph = reachable([(*state[:node], *state[node + 1 :])], lambda s: rest.put(s) if sum(s) < members else [])
        else:
            shut = replace(self.nodes[node], closed=True)
            rest = replace(self, nodes=(*self.nodes[:node], shut, *self.nodes[node + 1 :]))

            def following(s: Placed) -> list[Placed]:
                less = [(*s[:node], s[node] - 1, *s[node + 1 :])] if s[node] else []
                return less + (rest.put(s) if sum(s) < members else [])

            graph = reachable([state], following)
        quiet = [sum(s) < members for s, after in graph.items() if not after]
        return "none" if not any(quiet) else "certain" if all(quiet) else "possible"

    def chase(self, members: int, evictors: Sequence[tuple[str, str, int]]) -> str:
        """Evictors act while the fullest domain has more than they allow, and take from it, or less than they want, and
        take from an emptiest one.  One that may act all the time does so some day.
        """
        graph = reachable([(0,) * len(self.nodes)], lambda s: self.put(s) if sum(s) < members else [])
        starts = [state for state in graph if sum(state) == members]
        if not starts:
            return "blocked"

        def steps(state: Placed, by: str, op: str, number: int) -> list[Placed]:
            sums = self.sums(state, by)
            if not (max(sums.values()) > number if op == ">" else max(sums.values()) < number):
                return []
            end = max(sums.values()) if op == ">" else min(held for held in sums.values() if held)
            taken = [n for n, held in enumerate(state) if held and sums[self.domain(n, by)] == end]
            less = ((*state[:n], state[n] - 1, *state[n + 1 :]) for n in taken)
            return [after for left in less for after in self.put(left, wishes=True)]

        def lasts(group: set[Placed]) -> bool:
            acts = [[steps(state, *one) for state in group] for one in evictors]
            return all(any(not after or set(after) & group for after in every) for every in acts)

        rounds = reachable(starts, lambda s: [after for one in evictors for after in steps(s, *one)])
        every = list(circles(rounds))
        if not any(lasts(group) for group in every):
            return "waits" if every else "quiet"
        return "certain" if some_state_never_rests(rounds) else "possible"
