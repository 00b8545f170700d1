"""Models of choices around a point: each says what another choice loses beside it; less than nothing refutes it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from coherence.minimums.adversaries.search import Adversary, Chooser, given
from coherence.minimums.bound import Inputs
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import entry

UPDATES = 30_000
NOISE = 1e-2  # of a simulation of that many
PARTS = (0.25, 0.5, 0.9, 1.0, 1.1, 2.0, 4.0)  # of a point


def around(choose: Chooser, bound: str, inputs: Inputs) -> tuple[float, float]:
    """Returns the point, and a choice near it."""
    point = float(at(entry(bound).bound, inputs))
    return point, point * choose(PARTS)


def ages(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Updates come at a load, wait in line, and are seen when they are served; the mean age of the newest is taken."""
    point, load = float(at(entry(bound).bound, inputs)), choose((0.2, 0.35, 0.5, 0.7, 0.85, 3.0))
    newest_first = "fcfs" in dropped and choose((False, True))
    if load >= 1 and not newest_first:
        return math.inf
    return _age(load, newest_first) / _age(point, newest_first=False) - 1 + NOISE


def _age(load: float, newest_first: bool) -> float:
    draw = random.Random(7)  # noqa: S311  (the same updates for every load)
    now = done = area = end = newest = 0.0
    for _ in range(UPDATES):
        gap, work = draw.expovariate(1.0) / load, draw.expovariate(1.0)
        now += gap
        if newest_first:  # it takes the server, and is seen unless the next one comes sooner
            if work < draw.expovariate(load):
                area, end, newest = _passed(area, end, newest, now + work, now)
            continue
        done = max(done, now) + work
        area, end, newest = _passed(area, end, newest, done, now)
    return area / end


def _passed(area: float, end: float, newest: float, seen: float, made: float) -> tuple[float, float, float]:
    """Returns the area under the age up to the moment at which an update is seen, and what is newest then."""
    if seen <= end:
        return area, end, newest
    return area + (seen - end) * ((end + seen) / 2 - newest), seen, max(newest, made)


def intervals(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Work and a checkpoint are tried until no failure comes between; what a unit of work costs is compared."""
    write, mean = float(inputs["write"]), float(inputs["mtbf"])
    point, interval = around(choose, bound, inputs)

    def cost(work: float) -> float:
        length = work if "blocking_checkpoint" in dropped else work + write
        unharmed = math.exp(-length / mean)
        spent = mean * (1 - unharmed)  # of one try, mean
        saved = 0.5 * (spent - length * unharmed) if "full_recompute" in dropped else 0.0
        return (spent - saved) / unharmed / work

    whole = mean * math.expm1((point + write) / mean) / point
    return cost(interval) / whole - 1


def batches(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A batch reads each weight once and computes for each request; throughput and time of a step are compared."""
    peak, bandwidth, number = (float(inputs[name]) for name in ("peak", "bandwidth", "number"))
    point, batch = around(choose, bound, inputs)
    read = number / bandwidth / (2 if "weights_read_once" in dropped else 1)
    each = (1 if "dense_model" in dropped else 2) / peak / (2 if "plain_products" in dropped else 1)

    def step(size: float, read: float, each: float) -> float:
        return max(read, size * each)

    best = point / step(point, number / bandwidth, 2 / peak)
    slower = 1 - batch / step(batch, read, each) / best
    later = step(batch, read, each) / step(point, number / bandwidth, 2 / peak) - 1
    return slower + later


def counted(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """What the number counts is added up member by member, hour by hour or operation by operation."""
    assert not dropped
    value = float(at(entry(bound).bound, inputs))
    pieces = choose((1, 7, 100))
    if bound == "ghost_cost":
        bill = sum(float(inputs["duration"]) / pieces * float(inputs["price"]) for _ in range(pieces)) * float(
            inputs["members"]
        )
        total = bill * (1 - float(inputs["minimum"])) - bill * (1 - float(inputs["loss"]))
    else:
        possible = sum(float(inputs["peak"]) * float(inputs["step"]) / pieces for _ in range(pieces))
        total = float(inputs["operations"]) / (possible * float(inputs["units"]))
    return -abs(total / value - 1)


def moved(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """A context is moved over a link, or computed again, whichever the point says; what the other way saves counts."""
    point, rate = around(choose, bound, inputs)
    tokens = float(inputs["tokens"])
    size = tokens * float(inputs["kv_bytes"]) / (2 if "uncompressed" in dropped else 1)
    moving = float(inputs["setup"]) + size / rate
    again = tokens * float(inputs["operations"]) / float(inputs["compute"]) / (2 if "peak_rates" in dropped else 1)
    chosen, other = (moving, again) if rate >= point else (again, moving)
    return other / chosen - 1


def _points(
    says: str, play: Callable[..., Number], switches: tuple[str, ...], **targets: tuple[Inputs, ...]
) -> Adversary:
    return Adversary(says, targets, play, switches)


ADVERSARIES = (
    _points("updates at other loads", ages, ("fcfs",), age_best_load=({},)),
    _points(
        "other intervals between checkpoints",
        intervals,
        ("full_recompute", "blocking_checkpoint"),
        checkpoint_interval_exact=(given(write=30, mtbf=11134.8), given(write=5, mtbf=20)),
    ),
    _points(
        "other batches",
        batches,
        ("weights_read_once", "dense_model", "plain_products"),
        decode_ridge_batch=(given(peak=989, bandwidth=3.35, number=2),),
    ),
    _points(
        "sums of what is counted",
        counted,
        (),
        ghost_cost=(given(loss=0.3, minimum=0.1, members=8, duration=3600, price=0.01),),
        model_flops_utilization=(given(operations=400, step=2, units=3, peak=989),),
    ),
    _points(
        "links of other rates",
        moved,
        ("uncompressed", "peak_rates"),
        move_or_recompute=(given(tokens=100, kv_bytes=8, operations=4, compute=50, setup=0.5),),
    ),
)
