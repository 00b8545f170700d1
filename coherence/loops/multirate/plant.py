"""The continuous part of a sampled system as one set of linear differential equations without inner delay.

Delays between continuous blocks are moved to their inputs and outputs: with clocks `ahead` chosen so that
ahead[source] = ahead[target] + delay[target] along every coupling, x(t) = state of a block at t - ahead obeys
x' = A x + sum of B w(t - delay) with held inputs w.  Where no such clocks exist (a delay inside a continuous
loop, or two continuous paths of different delay between the same blocks) the sampled system has infinitely
many states and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.multirate.sampled_system import Multirate, exactly
from coherence.loops.networks.network import Block

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True)
class Plant:
    """x' = a x + b w, y = p x + q w; column c of b and q belongs to `channels[c]` = (sampler, delay in s).

    `ahead`: seconds by which the clock of each output runs late: the signal at t is y(t + ahead).
    `exact`: all numbers are rational, and unless that was asked for a is nilpotent: transitions are rational too.
    """

    a: Array
    b: Array
    p: Array
    q: Array
    channels: tuple[tuple[int, Fraction], ...]
    ahead: tuple[Fraction, ...]
    exact: bool


def plant(system: Multirate, *, rational: bool = False) -> Plant:
    """Returns the continuous part.  Raises UsageError for a delay inside it that cannot be moved out.

    `rational`: its matrices are rational whether or not its transitions are; UsageError where they are not.
    """
    exact = rational or all(not any(block.denominator[1:]) for block in system.blocks)
    row = {block.name: i for i, block in enumerate(system.blocks)}
    sampler = {sampler.name: j for j, sampler in enumerate(system.samplers)}
    delays = [exactly(block.delay) for block in system.blocks]
    inner = [(row[c.source], row[c.target], exactly(c.gain)) for c in system.couplings
             if c.source in row and c.target in row]  # fmt: skip
    ahead = clocks(inner, delays)
    held = [(sampler[c.source], row[c.target], exactly(c.gain)) for c in system.couplings
            if c.source in sampler and c.target in row]  # fmt: skip
    channels = tuple(dict.fromkeys((j, ahead[i] + delays[i]) for j, i, _ in held))
    k, g = zeros((len(row), len(row)), exact=exact), zeros((len(row), len(channels)), exact=exact)
    for source, target, gain in inner:
        k[target, source] += gain
    for j, i, gain in held:
        g[i, channels.index((j, ahead[i] + delays[i]))] += gain
    whole = _closed([realised(block, exact=exact) for block in system.blocks], k, g, channels, tuple(ahead), exact)
    if rational and not whole.exact:
        raise UsageError("an algebraic loop of continuous blocks: its numbers are rounded")
    if whole.exact and not rational and not _nilpotent(whole.a):
        return _in_floats(whole)
    return whole


def _closed(
    parts: Sequence[tuple[Array, Array, Array, Array]],
    k: Array,
    g: Array,
    channels: tuple[tuple[int, Fraction], ...],
    ahead: tuple[Fraction, ...],
    exact: bool,
) -> Plant:
    """Closes blocks x' = A x + B u, y = C x + D u with u = K y + G w solved for y."""
    a, b, c, d = (_diagonal([part[i] for part in parts], exact=exact) for i in range(4))
    direct = d @ k
    within = np.eye(len(parts), dtype=int) - direct
    if exact and _nilpotent(direct):
        closing = _inverse(direct)
    else:
        if len(parts) and np.linalg.cond(within.astype(float)) > 1e12:
            raise UsageError("an algebraic loop of continuous blocks has no solution: give one of them a lag")
        closing, exact = np.linalg.inv(within.astype(float)), False
    p, q = closing @ c, closing @ d @ g
    plant = Plant(a + b @ k @ p, b @ (k @ q + g), p, q, channels, ahead, exact)
    return plant if exact else _in_floats(plant)


def _in_floats(plant: Plant) -> Plant:
    floats = [matrix.astype(float) for matrix in (plant.a, plant.b, plant.p, plant.q)]
    return Plant(floats[0], floats[1], floats[2], floats[3], plant.channels, plant.ahead, False)


def _inverse(direct: Array) -> Array:
    """Returns the inverse of I - direct, direct nilpotent: I + direct + direct^2 + ..."""
    total = power = np.eye(len(direct), dtype=int) + 0 * direct
    while (power := power @ direct).any():
        total = total + power
    return np.asarray(total)


def _nilpotent(a: Array) -> bool:
    power = a
    for _ in range(len(a).bit_length()):
        power = power @ power if len(a) else power
    return not power.any()


def zeros(shape: tuple[int, int], *, exact: bool) -> Array:
    """Returns zeros: rational ones (an array of objects) where exact."""
    return np.full(shape, Fraction(0), dtype=object) if exact else np.zeros(shape)


def _diagonal(parts: Sequence[Array], *, exact: bool) -> Array:
    whole = zeros((sum(len(part) for part in parts), sum(part.shape[1] for part in parts)), exact=exact)
    i = j = 0
    for part in parts:
        whole[i : i + len(part), j : j + part.shape[1]] = part
        i, j = i + len(part), j + part.shape[1]
    return whole


def realised(block: Block, *, exact: bool) -> tuple[Array, Array, Array, Array]:
    """Returns the controllable canonical form of numerator / denominator."""
    kind = exactly if exact else float
    return canonical([kind(x) for x in block.numerator], [kind(x) for x in block.denominator], exact=exact)


def canonical(
    numerator: Sequence[Any], denominator: Sequence[Any], *, exact: bool
) -> tuple[Array, Array, Array, Array]:
    """Returns (A, B, C, D) of a proper rational function, of s or of z."""
    lead, n = denominator[0], len(denominator) - 1
    low = [x / lead for x in denominator[1:]]
    top = [0 * lead] * (n + 1 - len(numerator)) + [x / lead for x in numerator]
    a, b, c, d = (zeros(shape, exact=exact) for shape in ((n, n), (n, 1), (1, n), (1, 1)))
    d[0, 0] = top[0]
    for i in range(n):
        a[0, i] = -low[i]
        c[0, i] = top[i + 1] - top[0] * low[i]
        if i:
            a[i, i - 1] = 1
    if n:
        b[0, 0] = 1
    return a, b, c, d


def clocks(couplings: Sequence[tuple[int, int, Fraction]], delays: Sequence[Fraction]) -> list[Fraction]:
    """Returns ahead >= 0 with ahead[source] = ahead[target] + delay[target] for each coupling;
    UsageError where impossible.
    """
    steps: list[list[tuple[int, Fraction]]] = [[] for _ in delays]
    for source, target, _ in couplings:
        steps[source].append((target, -delays[target]))
        steps[target].append((source, delays[target]))
    ahead: dict[int, Fraction] = {}
    for start in range(len(delays)):
        if start in ahead:
            continue
        component, stack = {start: Fraction(0)}, [start]
        while stack:
            here = stack.pop()
            for there, step in steps[here]:
                if there not in component:
                    component[there] = component[here] + step
                    stack.append(there)
                elif component[there] != component[here] + step:
                    raise UsageError(
                        "continuous blocks with a delay form a loop, or two paths of different delay meet: "
                        "sample one of them, or ask for the characteristic roots"
                    )
        least = min(component.values())
        ahead |= {block: clock - least for block, clock in component.items()}
    return [ahead[i] for i in range(len(delays))]


class Motion:
    """exp(A h) and its integrals over a step of h seconds, remembered by h."""

    def __init__(self, a: Array, *, exact: bool) -> None:
        self.a, self.exact = a, exact
        self.over = lru_cache(maxsize=10_000)(self._over)

    def _over(self, h: Fraction) -> tuple[Array, Array, Array]:
        """Returns (e^(A h), integral of e^(A s) over [0, h], integral of that)."""
        return self._series(h) if self.exact else self._numeric(float(h))

    def _series(self, h: Fraction) -> tuple[Array, Array, Array]:
        n = len(self.a)
        power = np.full((n, n), Fraction(0), dtype=object)
        for i in range(n):
            power[i, i] = Fraction(1)
        sums = [0 * power, 0 * power, 0 * power]
        for k in range(n):
            for j in range(3):
                sums[j] = sums[j] + power * (h ** (k + j) / math.factorial(k + j))
            power = power @ self.a
        return sums[0], sums[1], sums[2]

    def _numeric(self, h: float) -> tuple[Array, Array, Array]:
        """Integrates by one exponential of a block matrix.  SOURCE:
        Van Loan 1978, Computing integrals involving e^A.
        """
        from scipy.linalg import expm

        n = len(self.a)
        whole = np.zeros((3 * n, 3 * n))
        whole[:n, :n] = self.a * h
        whole[:n, n : 2 * n] = whole[n : 2 * n, 2 * n :] = np.eye(n)
        exponential = expm(whole)
        return exponential[:n, :n], exponential[:n, n : 2 * n] * h, exponential[:n, 2 * n :] * h * h
