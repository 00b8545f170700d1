"""Computes the nominal capacity of unlike devices: a linear program whose shadow prices add up device-seconds.

    C_nom = max theta   with  sum_d x[d,k] r[d,k] >= theta m[k],  sum_k x[d,k] <= N[d],  x >= 0
    dual:  y[d] >= r[d,k] z[k],  sum_k m[k] z[k] = 1,  C_nom = sum_d N[d] y[d]

Units: C_nom in work units per second; r in work units per device-second, alone on the device, with today's kernels
and model; y in work units per device-second (worth of one second of device d); z is the worth of one unit of class k.
Prices are found in exact rationals and rounded once.  SOURCE: definitions.md 1.2; LP duality.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import InputError, InternalError, Problem
from coherence.base.places import Place
from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity_program import CapacityProgram, NoOptimum, Optimum, optimum


@dataclass(frozen=True)
class Fleet:
    """Devices of several kinds and classes of work.  `rate[d, k]` is 0 where d cannot run k; `mix` sums to 1."""

    devices: tuple[str, ...]
    classes: tuple[str, ...]
    count: Floats  # (D,)
    rate: Floats  # (D, K)
    mix: Floats  # (K,)


@dataclass(frozen=True)
class Capacity:
    """The value in work units per second; `x[d, k]` devices at work; prices `y[d]` and `z[k]`.

    `unique` is whether these are the only prices; where not, a share has a range (see `capacity_face`).
    `used[d, k]`, `full[d]`, `bound[k]`: exactly where x > 0, where a kind is used up, where no class is in surplus.
    """

    fleet: Fleet
    value: float
    x: Floats
    y: Floats
    z: Floats
    unique: bool
    used: Floats
    full: Floats
    bound: Floats

    @property
    def reduced(self) -> Floats:
        """y[d] - r[d,k] z[k]: what a second of useful work of class k on device d falls short of its worth; >= 0."""
        short: Floats = self.y[:, None] - self.fleet.rate * self.z
        return short


def fleet(
    count: Mapping[str, float],
    rate: Mapping[str, Mapping[str, float]],
    mix: Mapping[str, float],
    *,
    source: str = "<fleet>",
) -> Fleet:
    """A fleet from `count[device]`, `rate[device][class]` (left out: cannot run it) and `mix[class]`.

    The mix is scaled to sum 1.  Raises InputError with every problem.
    """
    problems = [Problem(Place(source, 1, 1, 1, 1), *problem) for problem in _problems(count, rate, mix)]
    if problems:
        raise InputError(problems)
    devices, classes = tuple(count), tuple(mix)
    rates = np.array([[float(rate.get(d, {}).get(k, 0.0)) for k in classes] for d in devices])
    weights = np.array([float(mix[k]) for k in classes])
    counts = np.array([float(count[d]) for d in devices])
    return Fleet(devices, classes, counts, rates.reshape(len(devices), len(classes)), weights / weights.sum())


def _problems(
    count: Mapping[str, float], rate: Mapping[str, Mapping[str, float]], mix: Mapping[str, float]
) -> Iterator[tuple[str, str]]:
    numbers = {f"count[{d}]": n for d, n in count.items()} | {f"mix[{k}]": m for k, m in mix.items()}
    numbers |= {f"rate[{d}][{k}]": r for d, row in rate.items() for k, r in row.items()}
    wrong = {name: n for name, n in numbers.items() if not (np.isfinite(n) and n >= 0)}
    yield from ((f"{name} = {n!r}", "give a finite number of at least 0") for name, n in wrong.items())
    for device in rate.keys() - count.keys():
        yield f"rate names the device '{device}', which has no count", f"give count[{device}]"
    for unknown in sorted({k for row in rate.values() for k in row} - mix.keys()):
        yield (
            f"rate names the class '{unknown}', which the mix does not",
            f"give mix[{unknown}] (0 where none is asked for)",
        )
    if not wrong and not sum(mix.values()) > 0:
        yield "the mix of work is empty", "give the share of at least one class"
    for unknown, share in mix.items():
        if share and not any(count.get(d, 0) and row.get(unknown, 0) for d, row in rate.items()):
            yield (
                f"no device can run '{unknown}': C_nom would be 0",
                f"give rate[device][{unknown}], or mix[{unknown}] = 0",
            )


def capacity(given: Fleet) -> Capacity:
    """Returns C_nom of a fleet: the most work of its mix that the devices do, and the prices that prove it."""
    program = _program(given)
    best = optimum(program)
    if isinstance(best, NoOptimum):
        raise InternalError(f"the programme of C_nom is {best.why}")
    devices, classes = given.rate.shape
    x = np.array([float(one) for one in best.point[1:]]).reshape(devices, classes)
    z = np.array([float(price) for price in best.prices[:classes]])
    y = np.array([float(price) for price in best.prices[classes : classes + devices]])
    used, full, bound = _tight(program, best, given)
    return Capacity(given, float(best.value), x, y, z, not best.degenerate, used, full, bound)


def _program(given: Fleet) -> CapacityProgram:
    devices, classes = given.rate.shape
    work = np.zeros((classes, 1 + devices * classes))
    work[:, 0] = given.mix
    for k in range(classes):
        work[k, 1 + k :: classes] = -given.rate[:, k]
    held = np.hstack([np.zeros((devices, 1)), np.kron(np.eye(devices), np.ones((1, classes)))])
    gain = np.zeros(1 + devices * classes)
    gain[0] = 1.0
    limit = np.concatenate([np.zeros(classes), given.count])
    return CapacityProgram(gain, np.vstack([work, held]), limit)


def _tight(program: CapacityProgram, best: Optimum, given: Fleet) -> tuple[Floats, Floats, Floats]:
    """Where the optimum leaves nothing over, told exactly."""
    from fractions import Fraction

    devices, classes = given.rate.shape
    used = np.array([float(one > 0) for one in best.point[1:]]).reshape(devices, classes)
    left = [
        Fraction(float(b)) - sum((Fraction(float(row[j])) * best.point[j] for j in np.flatnonzero(row)), Fraction(0))
        for row, b in zip(program.rows, program.limit, strict=True)
    ]
    none_left = np.array([float(not one) for one in left])
    return used, none_left[classes : classes + devices], none_left[:classes]
