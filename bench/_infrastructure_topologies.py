"""Reachable capacity beside another linear program, and numbers that were computed elsewhere beside intervals of runs.

The other program has one flow for each pair of members, no grouping by source, and asks for the largest common share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from bench.harness import Row
from coherence.exploring.experiments import control_distortion as distortion
from coherence.exploring.experiments import memory_path as memory
from coherence.exploring.experiments.experiment import chance
from coherence.minimums.fabric.concurrent_flow import Demand, all_to_all, concurrent
from coherence.minimums.fabric.wiring import Fabric, dgx1, leaf_spine, ring, torus

RUNS, REACH = 40, 2.576  # runs of each number, standard deviations of a 99 % interval


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from topology_rows()
    for what, number, values in computed_elsewhere():
        low, high = interval(values)
        inside = low - half_digit(number) <= number <= high + half_digit(number)
        yield Row(f"{what}: {number:g} lies in {low:.4g} .. {high:.4g} of runs", float(inside), "== 1", "")


def half_digit(number: float) -> float:
    """Half of the last digit that a number was given with."""
    return 0.5 * 10.0 ** -len(f"{number:g}".partition(".")[2])


def interval(values: list[float]) -> tuple[float, float]:
    """The 99 % interval of one run, by the spread of all."""
    middle, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    return middle - REACH * spread, middle + REACH * spread


def topology_rows() -> Iterator[Row]:
    """All-to-all on shapes that are built: a DGX-1, tori of accelerators, a ring, leaves under spines."""
    shapes = (dgx1(), torus((3, 3)), torus((2, 2, 2)), ring(8), leaf_spine(4, 2, 2, 4, 3), leaf_spine(3, 3, 1, 4, 2))
    worst = 0.0
    for shape in shapes:
        own, other = concurrent(shape, all_to_all(shape)), share_by_pairs(shape, all_to_all(shape))
        worst = max(worst, abs(float(1 / own.most) / other - 1), float(own.most / own.least) - 1)
    yield Row(f"{len(shapes)} topologies: reachable capacity beside another linear program", worst, "<= 1e-6", "apart")
    lost = [inaccessible(devices) for devices in (16, 32, 64, 128, 256)]
    expected = [0.0, 0.0, 0.0, 0.5, 0.75]
    apart = max(abs(own - stated) for own, stated in zip(lost, expected, strict=True))
    yield Row("16 .. 256 devices in 8 racks: inaccessible share beside 0, 0, 0, .5, .75", apart, "<= 1e-9", "apart")


def share_by_pairs(shape: Fabric, demands: tuple[Demand, ...]) -> float:
    """The largest share of all demands that fits at once, with a flow of its own for each pair."""
    from scipy.optimize import linprog
    from scipy.sparse import lil_matrix

    wires, nodes, count = shape.wires, {name: k for k, name in enumerate(shape.nodes)}, len(shape.wires)
    balance = lil_matrix((len(demands) * len(nodes), len(demands) * count + 1))
    load = lil_matrix((count, len(demands) * count + 1))
    for k, (source, target, amount) in enumerate(demands):
        for w, wire in enumerate(wires):
            balance[k * len(nodes) + nodes[wire.source], k * count + w] = 1
            balance[k * len(nodes) + nodes[wire.target], k * count + w] = -1
            load[w, k * count + w] = 1
        balance[k * len(nodes) + nodes[source], -1] = -float(amount)
        balance[k * len(nodes) + nodes[target], -1] = float(amount)
    cost = np.zeros(len(demands) * count + 1)
    cost[-1] = -1
    rates = [float(wire.rate) for wire in wires]
    answer = linprog(cost, load.tocsr(), rates, balance.tocsr(), np.zeros(len(demands) * len(nodes)), method="highs")
    return float(-answer.fun)


def inaccessible(devices: int) -> float:
    """The share that a split placement keeps from being reached: half the racks send to the other half."""
    racks = leaf_spine(8, 1, 1, Fraction(devices, 8), 8)  # an uplink carries what eight devices send
    pairs = tuple((f"h{k}.0", f"h{k + 4}.0", Fraction(devices, 8)) for k in range(4))
    return 1 - min(1.0, float(1 / concurrent(racks, pairs).most))


def computed_elsewhere() -> Iterator[tuple[str, float, list[float]]]:
    """What was computed on systems like these before: (what, number, own runs)."""
    for cv, number in ((0.0, 0.93), (0.05, 0.92), (0.1, 0.89), (0.2, 0.77)):
        runs = [distortion.answered(chance("R2", seed), cv=cv) for seed in range(RUNS)]
        yield f"R2 at gain CV {cv:g}", number, [1 - run.magnitude for run in runs]
    for rate, number in ((0.25, 25.0), (0.4, 40.0), (0.6, 48.0)):
        yield f"tokens a step, bound by compute, load {rate:g}", number, tokens(rate, memory.AMPLE)
    yield "tokens a step, unaware, load .6", 17.7, tokens(0.6, memory.TIGHT)
    yield from closed_loop()


def tokens(rate: float, blocks: int) -> list[float]:
    """Tokens that are written in a step, in each of some runs."""
    runs = (
        memory.run(chance(f"tokens {rate}", k), blocks=blocks, sequences=memory.SEQUENCES, rate=rate) for k in range(8)
    )
    return [half(run.series) for run in runs]


def half(series: Mapping[str, np.ndarray]) -> float:
    """Tokens a step in the second half of a run."""
    middle = len(series["time"]) // 2
    written = float(series["written"][-1] - series["written"][middle])
    return written / float(series["time"][-1] - series["time"][middle]) * memory.STEP


def closed_loop() -> Iterator[tuple[str, float, list[float]]]:
    """Spread of a loop of gain .35 and delay 2, against that with a gain that varies and with one period more."""
    plain = spreads(0.0, 2)
    for cv, delay, what, number in (
        (0.3, 2, "gain CV .3", 0.198 / 0.193),
        (0.6, 2, "gain CV .6", 0.215 / 0.192),
        (0.0, 3, "one period more", 0.282 / 0.193),
    ):
        yield f"spread of a loop, {what}, in that without", round(number, 3), (spreads(cv, delay) / plain).tolist()
    yield "critical gain with two periods more", 0.347, [2 * math.sin(math.pi / 18)] * 2


def spreads(cv: float, delay: int) -> np.ndarray:
    """The spread of the loop in each of some runs."""
    return np.array([spread(cv, delay, seed) for seed in range(RUNS)])


def spread(cv: float, delay: int, seed: int, *, gain: float = 0.35, samples: int = 4000) -> float:
    """Standard deviation of x <- x - b gain x(delay periods ago) + w."""
    drawn = chance("closed loop", seed)
    noise, gains = 0.1 * drawn.standard_normal(samples), gain * (1 + cv * drawn.standard_normal(samples))
    x = np.zeros(samples + 1)
    for k in range(samples):
        x[k + 1] = x[k] - gains[k] * x[max(k - delay, 0)] + noise[k]
    return float(x[samples // 10 :].std())
