# ruff: noqa: E501
"""Draws designs of each arithmetic family with their truth, found by listing what can happen, one by one.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random

from tests.second_interpreter.drawn import Drawn

State = tuple[int, ...]


def spread_rules(random: Random) -> Drawn:
    """Members placed one at a time, and taken from a fullest place: is there a place for the next one in every state?"""
    zones = [random.choice("abc") for _ in range(random.randint(2, 4))]
    skews = [("zone", random.choice([1, 1, 1, 2])), ("node", random.choice([1, 1, 1, 2]))]
    rules, most = random.sample(skews, random.choice([1, 2, 2, 2])), random.randint(3, 8)
    domains = {"zone": [zones.index(z) for z in zones], "node": list(range(len(zones)))}

    def placed(state: State) -> Iterator[State]:
        for node in range(len(zones)):
            after = tuple(count + (k == node) for k, count in enumerate(state))
            if all(_skew(after, domains[by], node) <= k for by, k in rules):
                yield after

    seen, todo, breaks = {(0,) * len(zones)}, [(0,) * len(zones)], False
    while todo:
        state = todo.pop()
        ways = list(placed(state)) if sum(state) < most else []
        breaks = breaks or (sum(state) < most and not ways)
        fewer = [
            tuple(c - (k == n) for k, c in enumerate(state))
            for n in range(len(zones))
            if state[n] == max(state) and sum(state) > 1
        ]
        todo += [s for s in (*ways, *fewer) if s not in seen]
        seen.update((*ways, *fewer))
    places = ", ".join(f"n{k}: {{zone: {z}}}" for k, z in enumerate(zones))
    text = f"""coherence: 1
places: {{{places}}}
placement: {{web: [{", ".join(f"spread by {by} <= {k}" for by, k in rules)}]}}
loops: {{hpa: {{uses: kubernetes_hpa, target: {{signal: web.cpu, setpoint: 50 %}}, actuation: {{signal: web.desired, bounds: [1, {most}]}}}}}}
"""
    return Drawn(text, ("COH227",), breaks)


def _skew(state: State, domains: list[int], node: int) -> int:
    totals = {d: sum(c for c, other in zip(state, domains, strict=True) if other == d) for d in domains}
    return totals[domains[node]] - min(totals.values())


def nested_retries(random: Random) -> Drawn:
    """Layers that retry one cause multiply; those that do not name it count once."""
    names = [f"s{k}" for k in range(random.randint(3, 5))]
    tries = [random.randint(1, 4) for _ in names[1:]]
    causes = [random.choice([["unavailable"], ["rate_limited"], ["unavailable", "rate_limited"]]) for _ in names[1:]]
    limit = random.randint(1, 40)
    most = max(
        math.prod(n for n, own in zip(tries, causes, strict=True) if cause in own)
        for cause in ("unavailable", "rate_limited")
    )
    calls = [
        f"  - {{from: {a}, to: {b}, tries: {n}, retry_when: [{', '.join(own)}]}}"
        for a, b, n, own in zip(names, names[1:], tries, causes, strict=False)
    ]
    promise = f"promises: {{p: attempts({names[-1]}) per call({names[0]}) <= {limit}}}"
    return Drawn("\n".join(["coherence: 1", "calls:", *calls, promise]), ("COH202",), most > limit)


def deadline_of_tries(random: Random) -> Drawn:
    """Tries one after another, with pauses between them, within a deadline."""
    tries, per_try, pause = random.randint(2, 6), random.randint(1, 8), Fraction(random.choice([0, 0, 2, 4, 1]), 2)
    needed = tries * per_try + (tries - 1) * pause
    deadline = max(Fraction(1, 2), needed + Fraction(random.choice([-6, -2, -1, 0, 1, 2, 8]), 2))
    text = f"""coherence: 1
calls: [{{from: a, to: b, deadline: {float(deadline)} s, per_try: {per_try} s, tries: {tries}, pause: {float(pause)} s, retry_when: [timeout]}}]
"""
    return Drawn(text, ("COH201",), needed > deadline)


def probe_against_start(random: Random) -> Drawn:
    """A probe may come at once after `first`, then every period: it gives up after so many misses."""
    first, every, misses = random.choice([10, 60, 120]), random.choice([5, 10, 30]), random.randint(1, 5)
    earliest = first + (misses - 1) * every
    longest = max(2, earliest + random.choice([-40, -1, 0, 1, every - 1, every, 2 * every]))
    shortest = random.randint(1, longest)
    text = f"""coherence: 1
components: {{server: {{takes: {{load: {shortest} s .. {longest} s}}}}}}
timers:
  live: {{from: server starts, first: {first} s, every: {every} s, misses: {misses}, unless: server.load ends, then: restart server}}
"""
    return Drawn(text, ("COH206",), longest >= earliest)


def counted_limit(random: Random) -> Drawn:
    """A count over a range against a cap; or a disruption budget, whose percentages round up."""
    low = random.randint(1, 4)
    high = low + random.randint(0, 6)
    if random.random() < 0.4:
        factor, more = random.randint(1, 3), random.randint(0, 3)
        cap = factor * high + more + random.choice([-2, -1, 0, 1])
        text = f"""coherence: 1
components: {{agent: {{turns: {low} .. {high}}}}}
limits: {{steps: {{counts: {factor} * agent.turns + {more}, at_most: {max(cap, 0)}, per: run, when_full: fail and lose}}}}
"""
        return Drawn(text, ("COH209",), factor * high + more > max(cap, 0))
    percent, way = random.choice([10, 25, 30, 34, 50, 51, 75, 90, 100]), random.choice(["available", "unavailable"])
    share = {n: math.ceil(Fraction(percent * n, 100)) for n in range(low, high + 1)}
    free = min(n - share[n] if way == "available" else share[n] for n in share)
    bound = f"{'at_least' if way == 'available' else 'at_most'}: {percent} % of web.copies"
    text = f"""coherence: 1
components: {{web: {{copies: {low} .. {high}}}}}
limits: {{pdb: {{uses: pod_disruption_budget, counts: web.{way}, {bound}}}}}
"""
    return Drawn(text, ("COH209",), free < 1)


def evictor_against_placer(random: Random) -> Drawn:
    """Members that are evicted where too many lie and come back to where the placer puts them: is there a lap?"""
    members, nodes, limit = random.randint(1, 5), random.randint(1, 4), random.randint(1, 3)
    rule = random.choice(["", "prefer spread by node <= 1", "spread by node <= 1"])

    def back(state: State) -> list[State]:
        after = [tuple(c + (k == n) for k, c in enumerate(state)) for n in range(nodes)]
        excess = [max(0, one[n] - min(one) - 1) for n, one in enumerate(after)]  # of the node that it goes to
        least = 0 if rule.startswith("spread") else min(excess)  # a preference is kept as far as it can be
        return [tuple(sorted(one)) for one, skew in zip(after, excess, strict=True) if skew == least or not rule]

    def moved(state: State) -> list[State]:
        fewer = [tuple(c - (k == n) for k, c in enumerate(state)) for n in range(nodes) if state[n] > limit]
        return [after for less in fewer for after in back(less)]

    starts = {tuple(sorted(s)) for s in itertools.product(range(members + 1), repeat=nodes) if sum(s) == members}
    if rule.startswith("spread"):
        starts = {s for s in starts if max(s) - min(s) <= 1}
    place = f"\nplacement: {{web: [{rule}]}}" if rule else ""
    text = f"""coherence: 1
components: {{web: {{copies: {members}, returns: always}}}}
places: {{node: {{count: {nodes}}}}}{place}
loops: {{ev: {{timescale: {{period: 5 min}}, trigger: count of web by node > {limit}, actuation: {{evict: web}}}}}}
"""
    return Drawn(text, ("COH226",), has_lap(starts, moved))


def has_lap(starts: set[State], moved: Callable[[State], list[State]]) -> bool:
    """Decides whether some run from the starts comes back to where it was; states are few."""
    reached, todo = set(starts), list(starts)
    while todo:
        todo += [s for s in moved(todo.pop()) if s not in reached and not reached.add(s)]  # type: ignore[func-returns-value]
    left = {s: set(moved(s)) for s in reached}
    while ends := [s for s, after in left.items() if not after]:
        for s in ends:
            del left[s]
        left = {s: after - set(ends) for s, after in left.items()}
    return bool(left)


ARITHMETIC = (
    spread_rules, nested_retries, deadline_of_tries, probe_against_start, counted_limit, evictor_against_placer,
)  # fmt: skip
