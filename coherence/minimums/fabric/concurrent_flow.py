"""Computes the least time in which a fabric carries several demands at once (maximum concurrent flow).

A linear program in floating point proposes routes and prices of wires; both are then taken as exact fractions:
    any prices p >= 0 prove   sum of demand * (shortest priced path)  <=  sum of rate * price * (time - way)
    any routes that carry the demands take   max of load / rate, and what their latencies add
(weak duality; `way`: the latencies from the nearest source to a wire, over it, and to the nearest target; a wire is of
use for no longer than that leaves).  So the interval between the two is rigorous whatever the program did, and empty
where wires have no latencies and it found the optimum.  The program is for some tens of members; cuts (`fabric_cuts`)
are for thousands.

SOURCE: F. Shahrokhi and D. Matula 1990 (concurrent flow); the duality of linear programs.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.minimums.fabric.broadcasts import distances, latencies
from coherence.minimums.fabric.latencies import instant
from coherence.minimums.fabric.quickest import filled, quickest
from coherence.minimums.fabric.wiring import Fabric, Wire, reached

Demand = tuple[str, str, Fraction]  # from, to, bytes
Steps = Mapping[tuple[str, str], Fraction]
ROUNDS, SUBSETS = 3, 4  # of prices with latencies; of demands that are far apart
SIMPLEX = 5000  # variables from which an interior point is used
GRAIN = 10**6  # the finest fraction of the largest number that a price or an amount may be


@dataclass(frozen=True)
class FlowRoute:
    """`amount` of one demand along a path of nodes."""

    demand: int
    path: tuple[str, ...]
    amount: Fraction


@dataclass(frozen=True)
class ConcurrentFlow:
    """`least` <= the minimum <= `most` seconds; `prices` prove the one, `routes` attain the other.

    priced: the demands that the prices speak of; none where it is the quickest flow of one demand.
    """

    least: Fraction
    most: Fraction
    prices: Steps
    routes: tuple[FlowRoute, ...]
    priced: tuple[Demand, ...] = ()


def concurrent(fabric: Fabric, demands: Sequence[Demand]) -> ConcurrentFlow:
    """Returns the least time to carry all demands, each split over paths at will.  Raises UsageError for bad
    demands."""
    demanded = _checked_demands(fabric, demands)
    plain = _flowed(fabric, demanded, _rates(fabric))
    return plain if instant(fabric) and plain.least else _late(fabric, demanded, plain)


def _flowed(fabric: Fabric, demands: Sequence[Demand], rates: Steps) -> ConcurrentFlow:
    """Returns what the prices and routes of the program say that has these rates."""
    groups: dict[str, list[int]] = {}
    for k, (source, _, _) in enumerate(demands):
        groups.setdefault(source, []).append(k)
    prices, flows = _program(fabric.nodes, rates, [[demands[k] for k in group] for group in groups.values()])
    parts = zip(groups.values(), flows, strict=True)
    routes = tuple(itertools.chain.from_iterable(_routes(group, demands, flow) for group, flow in parts))
    return ConcurrentFlow(priced(fabric, demands, prices), executed(fabric, demands, routes), prices, routes,
                          tuple(demands))  # fmt: skip


def _late(fabric: Fabric, demands: Sequence[Demand], plain: ConcurrentFlow) -> ConcurrentFlow:
    """Returns better bounds where wires have latencies, or rates too far apart for the program.

    Prices are asked for again with each wire at what it carries while it is of use, of all demands and of those between
    ends that are far apart; each demand alone has its quickest flow; and all may go by their nearest ways.
    """
    nearest = tuple(FlowRoute(k, _nearest(fabric, source, target), amount)
                    for k, (source, target, amount) in enumerate(demands))  # fmt: skip
    best, routes = plain.most, plain.routes
    if (spent := executed(fabric, demands, nearest)) < best:
        best, routes = spent, nearest
    worst, ways = plain, [distances(fabric, (source,), 0)[target] for source, target, _ in demands]
    apart = sorted(set(ways))
    for away in (apart[0], *apart[1:][-SUBSETS:]):
        far = [demand for demand, way in zip(demands, ways, strict=True) if way >= away]
        for _ in range(ROUNDS):
            rates = _useful(fabric, far, worst.least)
            if not all(_path(rates, source, target) for source, target, _ in far):
                break
            again = _flowed(fabric, far, rates)
            if len(far) == len(demands) and again.most < best:
                best, routes = again.most, again.routes
            if again.least <= worst.least:
                break
            worst = again
    alone = max((quickest(fabric, *demand) for demand in demands), default=Fraction(0))
    if alone > worst.least:
        return ConcurrentFlow(alone, best, {}, routes)
    return replace(worst, most=best, routes=routes)


def _useful(fabric: Fabric, demands: Sequence[Demand], time: Fraction) -> Steps:
    """Returns what goes over wires between two nodes while they are of use to some of the demands."""
    left: dict[tuple[str, str], Fraction] = {}
    for wire, way in _ways(fabric, demands):
        if way < time:
            step = (wire.source, wire.target)
            left[step] = left.get(step, Fraction(0)) + wire.rate * (time - way)
    return left


def _ways(fabric: Fabric, demands: Sequence[Demand]) -> Iterator[tuple[Wire, Fraction]]:
    """Yields wires with the latencies from the nearest source, over the wire, and to the nearest target."""
    before = distances(fabric, {source for source, _, _ in demands}, 0)
    after = distances(fabric, {target for _, target, _ in demands}, 0, back=True)
    for wire in fabric.wires:
        if wire.source in before and wire.target in after:
            yield wire, before[wire.source] + wire.latency + after[wire.target]


def _nearest(fabric: Fabric, source: str, target: str) -> tuple[str, ...]:
    """Returns the way of the least latency."""
    left = distances(fabric, (target,), 0, back=True)
    steps = {(w.source, w.target): Fraction(1) for w in fabric.wires
             if w.target in left and left.get(w.source) == w.latency + left[w.target]}  # fmt: skip
    return _path(steps, source, target) or ()


def all_to_all(made: Fabric) -> tuple[Demand, ...]:
    """Every member sends its share in equal parts to all others."""
    others = len(made.members) - 1
    return tuple((one, other, share / others) for one, share in made.members for other in made.names if other != one)


def _checked_demands(fabric: Fabric, demands: Sequence[Demand]) -> list[Demand]:
    for source, target, amount in demands:
        for name in (source, target):
            if name not in fabric.nodes:
                raise UsageError(f"{fabric.name} has no node '{name}': {did_you_mean(name, fabric.nodes)}")
        if source == target or amount <= 0:
            raise UsageError(f"the demand of {float(amount):g} from {source} to {target} moves nothing")
    seen = {source: reached(fabric, source) for source, _, _ in demands}
    for source, target, _ in demands:
        if target not in seen[source]:
            raise UsageError(f"{fabric.name} is not connected: no path of wires leads from {source} to {target}")
    if not demands:
        raise UsageError(f"no demands on {fabric.name}: name from, to and bytes of at least one")
    return [(source, target, Fraction(amount)) for source, target, amount in demands]


def _rates(made: Fabric) -> dict[tuple[str, str], Fraction]:
    found: dict[tuple[str, str], Fraction] = {}
    for wire in made.wires:
        found[wire.source, wire.target] = found.get((wire.source, wire.target), Fraction(0)) + wire.rate
    return found


def _program(
    nodes: Sequence[str], rates: Steps, groups: Sequence[Sequence[Demand]]
) -> tuple[dict[tuple[str, str], Fraction], list[dict[tuple[str, str], Fraction]]]:
    """Prices of wires, and one flow for all demands of one source, as a part of the largest; from floating point."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix

    wires, size, count = list(rates), len(rates), len(groups)
    slowest = min(rates.values())
    parts = [float(slowest / rate) for rate in rates.values()]  # so that no row loses the time as a tiny coefficient
    conserved, right = _conservation(nodes, wires, groups)
    load = [(j, k * size + j, part) for k in range(count) for j, part in enumerate(parts)]
    load += [(j, count * size, -1.0) for j in range(size)]
    cost = np.zeros(count * size + 1)
    cost[-1] = 1.0

    def matrix(entries: list[tuple[int, int, float]], rows: int) -> Any:
        row, column, entry = zip(*entries, strict=True)
        return coo_matrix((entry, (row, column)), shape=(rows, count * size + 1)).tocsr()

    method = "highs" if count * size < SIMPLEX else "highs-ipm"
    answer = linprog(
        cost,
        A_ub=matrix(load, size),
        b_ub=np.zeros(size),
        A_eq=matrix(conserved, count * len(nodes)),
        b_eq=right,
        method=method,
    )
    if answer.status != 0:
        raise UsageError(f"the demands cannot be carried: {answer.message}")
    prices = -np.minimum(answer.ineqlin.marginals, 0.0) * parts
    lengths = _near(prices / (prices.max() or 1.0))
    flows = [dict(zip(wires, _near(answer.x[k * size : (k + 1) * size]), strict=True)) for k in range(count)]
    return dict(zip(wires, lengths, strict=True)), flows


def _conservation(
    nodes: Sequence[str], wires: Sequence[tuple[str, str]], groups: Sequence[Sequence[Demand]]
) -> tuple[list[tuple[int, int, float]], Any]:
    """Returns entries (row, column, value) and right side of: what enters a node leaves it, or is asked for there."""
    import numpy as np

    index, size = {name: k for k, name in enumerate(nodes)}, len(wires)
    most = max(amount for group in groups for _, _, amount in group)
    entries: list[tuple[int, int, float]] = []
    right = np.zeros(len(groups) * len(nodes))
    for k, group in enumerate(groups):
        for j, (start, other) in enumerate(wires):
            entries.append((k * len(nodes) + index[start], k * size + j, 1.0))
            entries.append((k * len(nodes) + index[other], k * size + j, -1.0))
        for source, target, amount in group:
            right[k * len(nodes) + index[source]] += float(amount / most)
            right[k * len(nodes) + index[target]] -= float(amount / most)
    return entries, right


def _near(numbers: Any) -> list[Fraction]:
    return [Fraction(max(0.0, float(number))).limit_denominator(GRAIN) for number in numbers]


def priced(fabric: Fabric, demands: Sequence[Demand], prices: Steps) -> Fraction:
    """Returns what prices prove: no schedule carries the demands in less.  Exact, for any prices of at least zero."""
    if any(price < 0 for price in prices.values()):
        raise UsageError("a price below zero proves nothing")
    paid = [(way, wire.rate * price) for wire, way in _ways(fabric, demands)
            if (price := prices.get((wire.source, wire.target), Fraction(0)))]  # fmt: skip
    worth = Fraction(0)
    for source, group in itertools.groupby(sorted(demands), key=lambda one: one[0]):
        far = _distances(fabric, source, prices)
        for _, target, amount in group:
            worth += amount * far[target]
    return filled(paid, worth) if worth else Fraction(0)


def _distances(fabric: Fabric, source: str, prices: Steps) -> dict[str, Fraction]:
    """Least sum of prices from a node to every other (Dijkstra)."""
    after: dict[str, set[str]] = {}
    for wire in fabric.wires:
        after.setdefault(wire.source, set()).add(wire.target)
    far: dict[str, Fraction] = {}
    waiting = [(Fraction(0), source)]
    while waiting:
        length, node = heapq.heappop(waiting)
        if node in far:
            continue
        far[node] = length
        for other in after.get(node, ()):
            if other not in far:
                heapq.heappush(waiting, (length + prices.get((node, other), Fraction(0)), other))
    return far


def _routes(
    group: Sequence[int], demands: Sequence[Demand], flow: Mapping[tuple[str, str], Fraction]
) -> Iterator[FlowRoute]:
    """Yields paths out of a flow that is nearly what one source sends; their amounts are scaled to the demands
    exactly.
    """
    left = {step: part for step, part in flow.items() if part > 0}
    most = max(amount for _, _, amount in demands)
    for k in group:
        source, target, amount = demands[k]
        routes: list[tuple[tuple[str, ...], Fraction]] = []
        need = amount / most
        while need > 0 and (path := _path(left, source, target)) is not None:
            steps = list(itertools.pairwise(path))
            part = min(need, *(left[step] for step in steps))
            need -= part
            for step in steps:
                left[step] -= part
                if not left[step]:
                    del left[step]
            routes.append((path, part))
        total = sum((part for _, part in routes), Fraction(0))
        if not total:  # what was left was rounded away: any way there will do, and its load is counted
            routes, total = [(_path(flow, source, target) or (), Fraction(1))], Fraction(1)
        yield from (FlowRoute(k, path, amount * part / total) for path, part in routes)


def _path(left: Steps, source: str, target: str) -> tuple[str, ...] | None:
    after: dict[str, list[str]] = {}
    for near, other in left:
        after.setdefault(near, []).append(other)
    before, waiting = {source: source}, [source]
    for node in waiting:
        for other in after.get(node, ()):
            if other not in before:
                before[other] = node
                waiting.append(other)
    if target not in before:
        return None
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return tuple(reversed(path))


def executed(fabric: Fabric, demands: Sequence[Demand], routes: Sequence[FlowRoute]) -> Fraction:
    """Returns when all have arrived, in ever smaller chunks: seconds that the busiest wire takes, and where wires have
    latencies, routes that each end so early that all of a demand end together.

    Every demand must arrive whole over wires that exist.
    """
    rates, load = _rates(fabric), dict[tuple[str, str], Fraction]()
    arrived = [Fraction(0)] * len(demands)
    for route in routes:
        source, target, _ = demands[route.demand]
        if (route.path[0], route.path[-1]) != (source, target) or route.amount < 0:
            raise AssertionError(f"the route {route.path} does not belong to {source} -> {target}")
        arrived[route.demand] += route.amount
        for step in itertools.pairwise(route.path):
            load[step] = load.get(step, Fraction(0)) + route.amount
    if arrived != [amount for _, _, amount in demands]:
        raise AssertionError("the routes do not carry the demands")
    busiest = max(amount / rates[step] for step, amount in load.items())
    if instant(fabric):
        return busiest
    late, windows = latencies(fabric), dict[int, list[tuple[Fraction, Fraction]]]()
    for route in routes:
        way = sum((late[step] for step in itertools.pairwise(route.path)), Fraction(0))
        windows.setdefault(route.demand, []).append((way, route.amount / busiest))
    return max(filled(each, arrived[demand]) for demand, each in windows.items())
