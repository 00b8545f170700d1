"""Exact-delay loops: verdicts, critical values, sizes and maps, beside Pade approximations of python-control.

The truth about random loops is independent of both: a semi-discretisation of high order, whose delay line is exact and
whose input is interpolated, in steps far shorter than the fastest wave; where it is within its own accuracy of the
edge, twice the steps decide.

SOURCE: Insperger & Stepan 2011, Semi-Discretization for Time-Delay Systems.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg import expm

from bench.harness import Row
from coherence.loops.margins.peaks import amplification
from coherence.loops.networks.components import Characteristic
from coherence.loops.networks.critical import critical_delay, critical_gain
from coherence.loops.networks.delayed_verdict import DelayVerdict, verdict
from coherence.loops.networks.network import Block, Coupling, Network, loop, network
from coherence.loops.networks.stability import Judge, Stability
from coherence.loops.networks.stability_map import stability_map
from coherence.loops.networks.winding import count_right_of

MINUTES = 6  # of processor, about
RANDOM, PEERS = 2000, (2, 3, 10)
PEAK = 1e-2  # tolerance of a large network's peak
POINTS = 4  # of the interpolation of a delayed input
EDGE = 1e-6  # growth per delay within which the truth itself is not relied on
Loop = tuple[list[float], list[float], float]


def rows() -> Iterator[Row]:
    """All rows of this part."""
    yield from random_rows()
    yield from critical_rows()
    yield from size_rows()
    yield map_row()


def random_loop(rng: np.random.Generator) -> Loop:
    """A resonant, integrating, lagging or PI-like loop with omega0 T in [1, 100]."""
    w, gain, z = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-1.5, 0.5), 10 ** rng.uniform(-2, 0)
    delay = 10 ** rng.uniform(0, 2) / w
    kind = int(rng.integers(4))
    if kind == 0:
        return [gain * w * w], [1, 2 * z * w, w * w], delay
    if kind == 1:
        return [0.1 * gain * w], [1, 0], delay
    if kind == 2:
        return [gain * w], [1, w], delay
    return [gain * w * rng.uniform(0.1, 3), gain * w * w], [1, 2 * z * w, w * w], delay


def growth_per_delay(case: Loop, steps: int) -> float:
    """The logarithm of the growth over one delay, by semi-discretisation with `steps` steps in it."""
    numerator, denominator, delay = case
    order = len(denominator) - 1
    a = np.eye(order, k=-1)
    a[0] = -np.array(denominator[1:])
    c = np.array([0.0] * (order - len(numerator)) + numerator)
    h = delay / steps
    nodes = np.arange(POINTS) - POINTS // 2 + 1.0
    block = np.zeros((order + POINTS, order + POINTS))  # the input's Taylor terms ride along
    block[:order, :order] = a * h
    block[0, order] = h
    block[order:, order:] = np.eye(POINTS, k=1)
    moved = expm(block)
    taylor = np.linalg.inv(nodes[:, None] ** np.arange(POINTS) / [math.factorial(k) for k in range(POINTS)])
    weights = moved[:order, order:] @ taylor
    size = order + steps + POINTS
    matrix = np.zeros((size, size))  # state, then outputs from the newest back
    matrix[:order, :order] = moved[:order, :order]
    for node, column in zip(nodes.astype(int), weights.T, strict=True):
        matrix[:order, order + steps - node - 1] -= column
        if steps - node - 1 < 0:
            raise ValueError("a delay of one step needs more steps")
    matrix[order, :order] = c
    matrix[np.arange(order + 1, size), np.arange(order, size - 1)] = 1
    return float(np.log(np.abs(np.linalg.eigvals(matrix)).max()) * steps)


def truth(case: Loop) -> bool | None:
    """Is the loop unstable?  None next to the edge, where the semi-discretisation cannot say."""
    _, denominator, delay = case
    fastest = max(abs(np.roots(denominator)).max(), 1 / delay)
    steps = max(40, math.ceil(4 * fastest * delay))
    growth = growth_per_delay(case, steps)
    if abs(growth) < 0.05:
        finer = growth_per_delay(case, 2 * steps)
        error, growth = abs(finer - growth), finer
        if abs(growth) < max(EDGE, error / 4):
            return None
    return growth > 0


def pade_unstable(case: Loop, order: int) -> bool:
    """What python-control says of the loop with the delay replaced by a rational function."""
    import control

    numerator, denominator, delay = case
    plant = control.tf(numerator, denominator) * control.tf(*control.pade(delay, order))
    return bool((np.roots(np.polyadd(plant.den[0][0], plant.num[0][0])).real > 0).any())


def random_rows(count: int = RANDOM) -> Iterator[Row]:
    """False "stable", false "unstable" and undecided among random loops whose truth is known."""
    rng, seen, spent = np.random.default_rng(7), Counter[str](), 0.0
    for _ in range(count):
        case = random_loop(rng)
        unstable = truth(case)
        start = time.process_time()
        answer = verdict(loop(*case)).verdict
        spent += time.process_time() - start
        seen["unknown"] += unstable is None
        seen["unstable"] += unstable is True
        seen["undecided"] += answer == "undecided"
        seen["false stable"] += unstable is True and answer == "stable"
        seen["false unstable"] += unstable is False and answer == "unstable"
        for order in PEERS:
            seen[f"Pade {order}"] += unstable is True and not pade_unstable(case, order)
    peers = ", ".join(f"Pade-{order} {seen[f'Pade {order}']}" for order in PEERS)
    where = f"of {count} loops, {seen['unstable']} unstable, {seen['unknown']} too near the edge for the truth"
    yield Row("random delay loops: false stable", seen["false stable"], "== 0", where, peers)
    yield Row("random delay loops: false unstable", seen["false unstable"], "== 0", "loops", "")
    yield Row("random delay loops: undecided", 100 * seen["undecided"] / count, "<= 1", "%", "")
    yield Row("random delay loops: mean time of a verdict", 1e3 * spent / count, ">= 0", "ms", "")


def critical_rows() -> Iterator[Row]:
    """Relative errors of critical gains and delays against closed forms; the peer is Pade-3."""
    frequency = 2.028757838110434  # tan w = -w
    gains = [([1.0], [1.0, 0.0], 30.0, math.pi / 60), ([1.0], [1.0, 1.0], 1.0, math.hypot(1, frequency))]
    gains.append(([-6.0, 3.0], [50.0, 15.0, 1.0], 0.0, 2.5))
    errors = [abs((critical_gain(loop(n, d, delay)).at or math.inf) / k - 1) for n, d, delay, k in gains]
    peers = [abs(_pade_gain(n, d, delay) / k - 1) for n, d, delay, k in gains]
    yield Row("critical gain: largest relative error", max(errors), "<= 1e-6", "", f"Pade-3 {max(peers):.1e}")
    late = [(0.05, 10.0), (2.0, 0.1)]
    critical = [critical_delay(loop([k], [1, 0], start), highest=100 * start).at for k, start in late]
    errors = [abs((at or math.inf) * 2 * k / math.pi - 1) for at, (k, _) in zip(critical, late, strict=True)]
    yield Row("critical delay: largest relative error", max(errors), "<= 1e-6", "", "")


def _pade_gain(numerator: list[float], denominator: list[float], delay: float) -> float:
    import control

    late = control.tf(*control.pade(delay, 3)) if delay else control.tf([1], [1])
    # `margin` alone gives the factor nearest to one, which of an unstable loop is not the first
    every = control.stability_margins(control.tf(numerator, denominator) * late, returnall=True)[0]
    return float(min(every))


def dense(size: int, strength: float, *, part: int | None = None, seed: int = 5) -> Network:
    """Lags with delay in negative feedback, all coupled at random within parts of `part` loops."""
    rng = np.random.default_rng(seed)
    group = part or size
    blocks = [
        Block(f"x{i}", (rng.uniform(0.2, 0.9),), (rng.uniform(0.5, 3), 1.0), rng.uniform(0.1, 2)) for i in range(size)
    ]
    couplings = [Coupling(f"x{i}", f"x{i}", -1.0) for i in range(size)]
    for i in range(size):
        others = range(group * (i // group), min(size, group * (i // group + 1)))
        gains = strength / math.sqrt(group) * rng.normal(size=len(others))
        couplings += [Coupling(f"x{j}", f"x{i}", gain) for j, gain in zip(others, gains, strict=True) if i != j]
    return network(blocks, couplings)


def sparse(size: int, *, seed: int = 5) -> Network:
    """Loops of which each one feeds two earlier or later ones, in groups of 20 with one-way links between them."""
    rng = np.random.default_rng(seed)
    blocks = [
        Block(f"x{i}", (rng.uniform(0.2, 0.9),), (rng.uniform(0.5, 3), 1.0), rng.uniform(0.1, 2)) for i in range(size)
    ]
    couplings = [Coupling(f"x{i}", f"x{i}", -1.0) for i in range(size)]
    for i in range(size):
        first = 20 * (i // 20)
        ends = rng.integers(first, min(first + 20, size), 2)
        couplings += [Coupling(f"x{i}", f"x{j}", gain) for j, gain in zip(ends, 0.3 * rng.normal(size=2), strict=True)]
        if i + 20 < size:
            couplings.append(Coupling(f"x{i}", f"x{i + 20}", rng.normal()))
    return network(blocks, couplings)


def size_rows() -> Iterator[Row]:
    """Processor seconds for the verdict, the proved rightmost root and the proved peak of large networks."""
    dense_cases = [
        ("200 dense loops in one part", dense(200, 0.5), "<= 10"),
        ("200 dense loops in parts of 50", dense(200, 0.5, part=50), "<= 1"),
    ]
    for what, net, target in dense_cases:
        start = time.process_time()
        result = verdict(net)
        known = Stability(result.verdict, result.reason, result.unstable)
        peak = amplification(net, tolerance=PEAK, judge=_says(known)).peak
        spent = time.process_time() - start
        size = f"peak {peak.value:.3f} {'' if peak.reached else 'not '}proved within 1 %" if peak else "no peak"
        yield Row(f"{what}: verdict, rightmost root and peak", spent, target, "s", f"{_render(result)}, {size}")
    yield from peer_rows()
    net = sparse(1000)
    start = time.process_time()
    result = verdict(net)
    spent = time.process_time() - start
    yield Row("1,000 sparse loops: verdict and rightmost root", spent, "<= 8", "s", _render(result))


def peer_rows() -> Iterator[Row]:
    """Verdict and proved rightmost root beside python-control's poles by `append` and `feedback`, in processor time."""
    late, lags = dense(200, 0.5), (0.1, 0.05)
    three = [replace(b, delay=0.0, denominator=_times(b.denominator, lags)) for b in late.blocks]
    undelayed = Network(tuple(replace(block, delay=0.0) for block in late.blocks), late.couplings)
    cases = {"of a lag": undelayed, "of three lags": Network(tuple(three), late.couplings)}
    for what, net in (*cases.items(), ("with delays", late)):
        peer = _poles(net)
        start = time.process_time()
        result = verdict(net)
        spent = time.process_time() - start
        words = f"{_render(result)}; python-control{'' if net is not late else ', Pade-3'}: {peer:.2f} s"
        if net is late:
            yield Row(f"200 dense loops {what}: verdict and rightmost root", spent, "<= 2.6", "s", words)
        else:
            words = f"{spent:.2f} s, {words}"
            yield Row(f"200 dense loops {what}: time over python-control's", spent / peer, "<= 1", "", words)


def _times(denominator: tuple[float, ...], lags: tuple[float, ...]) -> tuple[float, ...]:
    for lag in lags:
        denominator = tuple(np.polymul(denominator, [lag, 1.0]).tolist())
    return denominator


def _poles(net: Network) -> float:
    """Returns the seconds that python-control takes for the closed loop's poles."""
    import control

    start = time.process_time()
    gains = np.zeros((len(net.blocks), len(net.blocks)))
    for coupling in net.couplings:
        gains[net.index[coupling.target], net.index[coupling.source]] += float(coupling.gain)
    plants = []
    for block in net.blocks:
        plant = control.tf(list(block.numerator), list(block.denominator))
        late = control.tf(*control.pade(block.delay, 3)) if block.delay else 1
        plants.append(control.ss(plant * late))
    control.feedback(control.append(*plants), control.ss([], [], [], gains), sign=1).poles()
    return time.process_time() - start


def _says(told: Stability) -> Judge:
    return lambda _: told


def _render(result: DelayVerdict) -> str:
    return f"{result.verdict}, root {'proved' if result.confirmed else 'not proved'} rightmost"


def map_row() -> Row:
    """Seconds for exact counts at 40,000 points of gain and delay; a sample of them is counted by the contour too."""
    gains, delays = np.linspace(0.01, 2, 200), np.linspace(0.0, 20.0, 200)
    times, grid = [], stability_map([9.0], [1, 0.12, 9], gains, delays)
    for _ in range(7):
        start = time.process_time()
        grid = stability_map([9.0], [1, 0.12, 9], gains, delays)
        times.append(time.process_time() - start)
    wrong = sum(_counted(gains[i], delays[j]) != grid.unstable[i, j] for i, j in _sample(grid.unstable.shape))
    peer = f"{wrong} of 100 sampled counts differ from the contour's"
    return Row("stability map of 40,000 points", float(np.median(times)), "<= 0.1", "s", peer)


def _sample(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    rng = np.random.default_rng(1)
    return [(int(i), int(j)) for i, j in rng.integers(0, shape[0], (100, 2))]


def _counted(gain: float, delay: float) -> int | None:
    return count_right_of(Characteristic(loop([9.0 * gain], [1, 0.12, 9], delay))).roots
