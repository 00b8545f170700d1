"""Several demands over wires with latencies, beside a linear program that has each wire once a second."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.minimums.fabric.concurrent_flow import Demand, concurrent, executed, priced
from coherence.minimums.fabric.wiring import Fabric, Wire, both, fabric
from tests.minimums.fabric.test_quickest import drawn

LONGEST = 24


def fits(made: Fabric, demands: list[Demand], horizon: int) -> bool:
    """Returns whether flows over time carry the demands in so many seconds: nodes store, or send on at once."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    hops = [(k, now) for k, wire in enumerate(made.wires) for now in range(horizon) if now + wire.latency < horizon]
    keeps = list(itertools.product(made.nodes, range(horizon)))
    place = {at: k for k, at in enumerate(itertools.product(made.nodes, range(horizon + 1)))}
    size = len(hops) + len(keeps)
    conserved, right = lil_matrix((len(place) * len(demands), size * len(demands))), np.zeros(len(place) * len(demands))
    room, rates = lil_matrix((len(hops), size * len(demands))), np.zeros(len(hops))
    for d, (source, target, amount) in enumerate(demands):
        ends = [
            ((made.wires[k].source, now), (made.wires[k].target, now + int(made.wires[k].latency))) for k, now in hops
        ]
        ends += [((node, now), (node, now + 1)) for node, now in keeps]
        for column, (one, other) in enumerate(ends):
            conserved[d * len(place) + place[one], d * size + column] += 1
            conserved[d * len(place) + place[other], d * size + column] -= 1
        right[d * len(place) + place[source, 0]] += float(amount)
        right[d * len(place) + place[target, horizon]] -= float(amount)
        for row, (k, _) in enumerate(hops):
            room[row, d * size + row] = 1
            rates[row] = float(made.wires[k].rate)
    answer = linprog(np.zeros(size * len(demands)), A_ub=room.tocsr() if hops else None, b_ub=rates if hops else None,
                     A_eq=conserved.tocsr(), b_eq=right, method="highs")  # fmt: skip
    return bool(answer.status == 0)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(8, 60))])
def test_no_flow_over_time_is_quicker_than_the_floor_and_routes_are_one(seed: int) -> None:
    made, draw = drawn(seed), random.Random(seed)  # noqa: S311  (demands of a test)
    ends = draw.sample(list(itertools.permutations(made.names, 2)), min(3, len(made.names)))
    demands = [(one, other, Fraction(draw.randint(1, 9))) for one, other in ends]
    try:
        found = concurrent(made, demands)
    except UsageError:
        return
    assert found.least <= found.most
    assert executed(made, demands, found.routes) == found.most
    if found.priced:
        assert priced(made, found.priced, found.prices) == found.least
    first = next((horizon for horizon in range(1, LONGEST) if fits(made, demands, horizon)), LONGEST)
    assert found.least <= first  # a floor: what fits in whole seconds is no quicker
    assert found.most > first - 1 or first == LONGEST  # a run: not below what no flow does


def test_a_demand_that_comes_from_afar_has_less_time_on_the_last_wire() -> None:
    """Both cross the last wire, of 1 B/s; one starts 4 s away: 3 bytes and 3 bytes, the near ones first."""
    made = fabric("abc", [*both("a", "b", 5, latency=4), *both("b", "c", 1)])
    found = concurrent(made, [("a", "c", Fraction(3)), ("b", "c", Fraction(3))])
    assert found.least == 7  # the far ones alone
    assert 7 <= found.most <= 10


def test_wires_of_no_use_prove_nothing() -> None:
    wires = (Wire("a", "b", Fraction(1), latency=Fraction(1)), Wire("c", "b", Fraction(9)))
    made = Fabric(tuple((name, Fraction(1)) for name in "abc"), wires)
    assert concurrent(made, [("a", "b", Fraction(5))]).least == 6


def test_the_command_counts_latencies_and_takes_wires_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bound", "transfer_time_fabric", "fabric=a>>b:1GB/s:2s,c>>b:1GB/s", "demands=a>b:3GB", "-o", "json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["value"]["low"] == pytest.approx(5)
    assert run(["bound", "broadcast_fabric", "fabric=a>>b:1GB/s:2s", "size=3GB", "latency=0s", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"]["low"] == pytest.approx(5)
    assert run(["bound", "broadcast_fabric", "fabric=a>>b:1GB/s,c>>b:1GB/s", "size=3GB", "latency=0s"]) == 2
    assert "from a to c" in capsys.readouterr().err


@pytest.mark.parametrize("fastest", [10**6, 10**9, 4 * 10**11, 10**20])
@pytest.mark.parametrize("slowest", [Fraction(1), Fraction(1, 10**9)])
def test_wires_of_rates_far_apart_carry_what_the_slowest_of_the_way_lets_through(
    fastest: int, slowest: Fraction
) -> None:
    wires = [*both("a", "b", fastest), *both("b", "c", 1), *both("a", "c", slowest)]
    found = concurrent(fabric("abc", wires), [("a", "c", Fraction(1))])
    exact = 1 / (1 + slowest)
    assert Fraction(99, 100) * exact <= found.least <= exact <= found.most
