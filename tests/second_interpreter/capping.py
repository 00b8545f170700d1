# ruff: noqa: E501
"""Draws designs whose rules bound how many members lie in one domain, with their truth: every state, node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from random import Random
from typing import NamedTuple

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.jobs import reached
from tests.second_interpreter.sums import has_lap

State = tuple[int, ...]  # members on each node


class Rule(NamedTuple):
    """`at most`, `spread` or `together` by zone or by node; a preference where `soft`."""

    kind: str
    by: str
    most: int
    soft: bool = False

    def excess(self, zones: str, state: State, node: int, gone: frozenset[int] = frozenset()) -> int:
        """Returns by how much the node that has just received a member breaks the rule; nodes that are gone count not."""
        each = [n for n in range(len(state)) if n not in gone]
        label = {n: zones[n] if self.by == "zone" else str(n) for n in each}
        held = {name: sum(state[n] for n in each if label[n] == name) for name in label.values()}
        own = held.pop(label[node])
        others = {"at most": 0, "spread": min([own, *held.values()]), "together": own - sum(held.values())}[self.kind]
        return own - others - self.most

    def __str__(self) -> str:
        rule = {"at most": f"at most {self.most} by {self.by}", "spread": f"spread by {self.by} <= {self.most}"}
        return f"{'prefer ' if self.soft else ''}{rule.get(self.kind, f'{self.kind} by {self.by}')}"


class Yard(NamedTuple):
    """Nodes in zones with room for so many members each, and the rules under which members are placed."""

    zones: str
    room: int
    rules: tuple[Rule, ...]

    def able(self, state: State, shut: frozenset[int] = frozenset(), gone: frozenset[int] = frozenset()) -> list[int]:
        """Returns the nodes that take one more."""
        return [
            n for n, held in enumerate(state)
            if held < self.room and n not in shut | gone
            and all(rule.soft or rule.excess(self.zones, _with(state, n, 1), n, gone) <= 0 for rule in self.rules)
        ]  # fmt: skip

    def empty(self) -> State:
        """Returns the state without members."""
        return (0,) * len(self.zones)

    def placed(self, most: int) -> set[State]:
        """Returns what is reached by placing members one after the other."""
        return reached(self.empty(), lambda s: [_with(s, n, 1) for n in self.able(s)] if sum(s) < most else [])

    def design(self, head: str, *, also: str = "", more: Sequence[str] = ()) -> str:
        """Returns the first lines of a design."""
        places = ", ".join(f"n{k}: {{zone: {zone}, slots: {self.room}{also}}}" for k, zone in enumerate(self.zones))
        return f"coherence: 1\n{head}\nplaces: {{{places}}}\nplacement: {{web: [{', '.join([*map(str, self.rules), *more])}]}}\n"


def _with(state: State, node: int, change: int) -> State:
    return tuple(held + change * (n == node) for n, held in enumerate(state))


def _yard(random: Random, *, most_nodes: int = 4) -> Yard:
    zones = "".join(random.choice("abc") for _ in range(random.randint(1, most_nodes)))
    rules = [
        Rule("at most", by, random.choice([1, 1, 2, 3])) for by in random.choice([["zone"], ["node"], ["zone", "node"]])
    ]
    kinds = [("spread", 1), ("spread", 2), ("together", 0)]
    rules += [
        Rule(kind, random.choice(["zone", "node"]), most)
        for kind, most in random.sample(kinds, random.choice([0, 0, 1]))
    ]
    random.shuffle(rules)
    return Yard(zones, random.choice([1, 2, 9]), tuple(rules))


def members_under_caps(random: Random) -> Drawn:
    """Members come one at a time and go from a fullest node: is there a place for the next one in every state?"""
    yard, most = _yard(random), random.randint(2, 7)

    def moved(state: State) -> list[State]:
        more = [_with(state, n, 1) for n in yard.able(state)] if sum(state) < most else []
        fewer = [_with(state, n, -1) for n, held in enumerate(state) if held == max(state)] if sum(state) > 1 else []
        return more + fewer

    states = reached(yard.empty(), moved)
    text = yard.design("components: {web: {needs: {slots: 1}}}")
    text += f"loops: {{hpa: {{uses: kubernetes_hpa, target: {{signal: web.cpu, setpoint: 50 %}}, actuation: {{signal: web.desired, bounds: [1, {most}]}}}}}}\n"
    breaks = any(sum(state) < most and not yard.able(state) for state in states)
    return Drawn(text, ("COH227",), breaks, max(map(sum, states)) < most)


class Eviction(NamedTuple):
    """An evictor that takes from a fullest domain while it holds too many, and a placer that answers within its rules."""

    yard: Yard
    by: str
    limit: int

    def evictions(self, state: State) -> list[list[State]]:
        """Returns, for each member that may be evicted, the states that the placer may answer with."""
        domain = [zone if self.by == "zone" else str(n) for n, zone in enumerate(self.yard.zones)]
        held = {d: sum(h for n, h in enumerate(state) if domain[n] == d) for d in domain}
        if max(held.values()) <= self.limit:
            return []
        taken = [n for n, h in enumerate(state) if h and held[domain[n]] == max(held.values())]
        return [self._answers(_with(state, n, -1)) for n in taken]

    def _answers(self, state: State) -> list[State]:
        able, zones = self.yard.able(state), self.yard.zones
        soft = [rule for rule in self.yard.rules if rule.soft]
        cost = {n: sum(max(0, rule.excess(zones, _with(state, n, 1), n)) for rule in soft) for n in able}
        return [_with(state, n, 1) for n in able if cost[n] == min(cost.values())]

    def moved(self, state: State) -> list[State]:
        """Returns what may follow a state."""
        return [after for answers in self.evictions(state) for after in answers]

    def goes_on_whatever_is_drawn(self, starts: set[State]) -> bool:
        """Decides whether some choice of members to evict goes on for ever, whichever answers come."""
        states = set[State]().union(*(reached(start, self.moved) for start in starts))
        while any(not self._keeps(state, states) for state in states):
            states = {state for state in states if self._keeps(state, states)}
        return bool(states)

    def _keeps(self, state: State, states: set[State]) -> bool:
        return any(answers and states.issuperset(answers) for answers in self.evictions(state))


def evictor_under_caps(random: Random) -> Drawn:
    """An evictor against a placer with caps, some of them preferences: is there a lap?"""
    yard, members = _yard(random), random.randint(1, 5)
    if random.random() < 0.6:
        yard = yard._replace(rules=tuple(rule._replace(soft=rule.kind == "at most") for rule in yard.rules))
    return _evicted(random, yard, members, at_random=False)


def evictor_against_chance(random: Random) -> Drawn:
    """The same against a placer that chooses at random among equal places: may the evictor keep it going?"""
    kinds = [("at most", 2), ("at most", 3), ("spread", 1), ("spread", 2), ("together", 0)]
    zones = "".join(random.choice("abc") for _ in range(random.randint(2, 4)))
    rules = [
        Rule(kind, random.choice(["zone", "node"]), most)
        for kind, most in random.sample(kinds, random.choice([0, 1, 1, 2]))
    ]
    if rules and random.random() < 0.6:
        rules[0] = rules[0]._replace(soft=True)
    return _evicted(random, Yard(zones, random.choice([2, 9]), tuple(rules)), random.randint(2, 6), at_random=True)


def _evicted(random: Random, yard: Yard, members: int, *, at_random: bool) -> Drawn:
    eviction = Eviction(yard, random.choice(["zone", "node"]), random.randint(1, 3))
    starts = {state for state in yard.placed(members) if sum(state) == members}
    text = yard.design(
        f"components: {{web: {{copies: {members}, needs: {{slots: 1}}, returns: always}}}}",
        more=["ties at random"] * at_random,
    )
    text += f"loops: {{ev: {{timescale: {{period: 5 min}}, trigger: count of web by {eviction.by} > {eviction.limit}, actuation: {{evict: web}}}}}}\n"
    if not starts:
        acts = any(map(eviction.moved, yard.placed(members)))
        return Drawn(text, ("COH226",), None if acts else False, unprovable=acts)
    if at_random:
        return Drawn(text, ("COH226",), eviction.goes_on_whatever_is_drawn(starts))
    lap = has_lap(starts, eviction.moved)
    without_weights = sum(rule.soft for rule in yard.rules) > 1  # then it may be open
    return Drawn(text, ("COH226",), None if without_weights else lap, unprovable=lap)


def update_under_caps(random: Random) -> Drawn:
    """An update that may only add a copy: has the next one a place beside all that there are?"""
    yard, copies = _yard(random), random.randint(1, 5)
    ready = [state for state in yard.placed(copies) if sum(state) == copies]
    more = [bool(yard.able(state)) for state in ready]
    text = yard.design(f"components: {{web: {{copies: {copies}, needs: {{slots: 1}}}}}}")
    text += "limits: {extra: {uses: rolling_update_surge, counts: web.extra, at_most: 1}, gone: {uses: rolling_update_unavailable, counts: web.down, at_most: 0}}\n"
    return Drawn(
        text, ("COH212",), None if any(more) and not all(more) else not any(more), unprovable=not all(more) or not more
    )


def places_that_go_under_caps(random: Random) -> Drawn:
    """One place is lost or drained: does each member find a place again, from every placement?"""
    yard, members, kind = _yard(random), random.randint(1, 4), random.choice(["lost", "drained"])

    def moved(gone: int, state: State) -> list[State]:
        shut, away = (
            (frozenset({gone}), frozenset[int]()) if kind == "drained" else (frozenset[int](), frozenset({gone}))
        )
        more = [_with(state, n, 1) for n in yard.able(state, shut, away)] if sum(state) < members else []
        return more + ([_with(state, gone, -1)] if kind == "drained" and state[gone] else [])

    full = yard.placed(members)
    blocked = any(sum(state) < members and not yard.able(state) for state in full)
    breaks = False
    for start, gone in product([state for state in full if sum(state) == members], range(len(yard.zones))):
        first = _with(start, gone, -start[gone]) if kind == "lost" else start
        ends = [state for state in reached(first, partial(moved, gone)) if not moved(gone, state)]
        breaks = breaks or any(sum(state) < members for state in ends)
    text = yard.design(f"components: {{web: {{copies: {members}, needs: {{slots: 1}}}}}}", also=f", {kind}: 1")
    return Drawn(text, ("COH229",), None if blocked else breaks, unprovable=blocked)


CAPPING: tuple[Callable[[Random], Drawn], ...] = (
    members_under_caps, evictor_under_caps, evictor_against_chance, update_under_caps, places_that_go_under_caps,
)  # fmt: skip
