"""Computes the space-time field of a chain: the signal of every tier at every time.

Discrete hops are filtered exactly.  Continuous hops are integrated exactly for an input that is held between
its samples: in a chain all delays add up at the end, so tier n is the undelayed chain read that much earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.waves.chain_gain import cascade
from coherence.loops.waves.chains import Hop, checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True)
class Field:
    """`values[i, n]`: tier n (0: the input) at `time[i]` seconds; `tiers` names the columns."""

    time: Array
    tiers: tuple[str, ...]
    values: Array

    @property
    def peaks(self) -> Array:
        """Returns the largest deviation of every tier."""
        return np.asarray(np.abs(self.values).max(axis=0))

    @property
    def arrivals(self) -> Array:
        """Returns when every tier is farthest from rest, s: the wave's path."""
        return np.asarray(self.time[np.abs(self.values).argmax(axis=0)])

    @property
    def hop_ratios(self) -> Array:
        """Returns the peak of each tier over that of the tier before."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.peaks[1:] / self.peaks[:-1])


def field(hops: Sequence[Hop], source: Sequence[float] | Array, *, step: float | None = None) -> Field:
    """Returns the field for an input sampled every `step` seconds (discrete hops: their own step), zero before.

    Raises UsageError for a discrete delay that is no multiple of the step.
    """
    chain = [checked(hop) for hop in hops]
    steps = {hop.step for hop in chain}
    if len(steps) != 1:
        raise UsageError("give at least one hop, and hops that are sampled alike")
    own = steps.pop()
    grid = own if own is not None else step
    if grid is None or (own is not None and step not in {None, own}):
        raise UsageError("the input's step is missing, or is not the step of the hops")
    given = np.asarray(source, dtype=float)
    columns = _filtered(chain, given, grid) if own is not None else _integrated(chain, given, grid)
    names = ("input", *(hop.name for hop in chain))
    return Field(np.arange(len(given)) * grid, names, np.column_stack([given, *columns]))


def _filtered(chain: Sequence[Hop], given: Array, step: float) -> list[Array]:
    from scipy.signal import lfilter

    tiers = []
    for hop in chain:
        shift = round(hop.delay / step)
        if abs(shift * step - hop.delay) > 1e-9 * max(step, hop.delay):
            raise UsageError(f"{hop.name}: a delay of {hop.delay:g} s is no multiple of the step {step:g} s")
        top = [0.0] * (len(hop.denominator) - len(hop.numerator)) + [float(c) for c in hop.numerator]
        moved = np.concatenate([np.zeros(min(shift, len(given))), given])[: len(given)]
        given = np.asarray(lfilter(top, [float(c) for c in hop.denominator], moved))
        tiers.append(given)
    return tiers


def _integrated(chain: Sequence[Hop], given: Array, step: float) -> list[Array]:
    """Integrates: tier n at t is the undelayed tier n at t - (sum of delays so far), from the state a grid point
    before.
    """
    tiers, delay = [], 0.0
    states, _, _ = _states(chain, given, step)
    for n, hop in enumerate(chain, 1):
        delay += hop.delay
        whole = int(np.ceil(delay / step - 1e-9))
        ahead = whole * step - delay if whole * step > delay else 0.0
        a, b, c, d = cascade(chain[:n])
        moved, once = _step(a, b, ahead)
        size = len(a)
        row = np.concatenate([(c @ moved)[0], (c @ once)[0] + d])
        full = np.column_stack([states[:, :size], given]) @ row
        tiers.append(np.concatenate([np.zeros(min(whole, len(given))), full])[: len(given)])
    return tiers


def _states(chain: Sequence[Hop], given: Array, step: float) -> tuple[Array, Array, Array]:
    a, b, _, _ = cascade(chain)
    moved, once = _step(a, b, step)
    states = np.zeros((len(given), len(a)))
    for i in range(1, len(given)):
        states[i] = moved @ states[i - 1] + once[:, 0] * given[i - 1]
    return states, moved, once


def _step(a: Array, b: Array, h: float) -> tuple[Array, Array]:
    from scipy.linalg import expm

    n = len(a)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n:] = a * h, b * h
    exponential = expm(whole)
    return exponential[:n, :n], exponential[:n, n:]
