"""Opens one lap of a sampled system at what one sampler reads: the loop from there round to there, exactly.

With the state x (all that is remembered) and v, what the sampler takes for its reading at each instant of a lap,

    x[k+1] = A x + B v,   reading = C x + D v,   L = -(C (z I - A)^-1 B + D),   closed again by v = reading.

What a sampler remembers of its own command (an integrator, a stepping law) is part of the loop and stays closed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.graphs import reached
from coherence.loops.multirate.lifting import LapLifting
from coherence.loops.multirate.sampled_system import Multirate, exactly

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True)
class OpenedLap:
    """The matrices of the loop from v to the reading over one lap of `period` seconds; a column of B and D for each
    instant of the sampler in the lap.
    """

    a: Array
    b: Array
    c: Array
    d: Array
    period: Fraction

    @property
    def decisions(self) -> int:
        """Returns how often the loop decides in a lap."""
        return len(self.d)

    @property
    def comes_back(self) -> bool:
        """Decides whether what is put in reaches the reading."""
        return bool(self.d.any()) or bool(len(within_reach(self.a, self.b, self.c)))

    @property
    def loop(self) -> tuple[Array, Array, Array, Array]:
        """Returns L."""
        return self.a, self.b, 0.0 - self.c, 0.0 - self.d

    @property
    def sensitivity(self) -> tuple[Array, Array, Array, Array]:
        """Returns S = (I + L)^-1: from what is added to the reading to what the sampler takes.  Raises UsageError."""
        within = np.eye(len(self.d)) - self.d
        if np.linalg.cond(within) > 1e12:
            raise UsageError("the reading depends on itself at once, and has no solution")
        inverse = np.linalg.inv(within)
        return self.a + self.b @ inverse @ self.c, self.b @ inverse, inverse @ self.c, inverse

    @property
    def complement(self) -> tuple[Array, Array, Array, Array]:
        """Returns T = I - S."""
        a, b, c, d = self.sensitivity
        return a, b, 0.0 - c, np.eye(len(d)) - d


def opened_lap(system: Multirate, name: str) -> OpenedLap:
    """Returns the lap opened at what the sampler `name` reads.

    Raises UsageError for an unknown name and for what cannot be lifted.
    """
    names = [sampler.name for sampler in system.samplers]
    if name not in names:
        raise UsageError(f"'{name}' is no sampler of this system: {did_you_mean(name, names)}")
    lifting = _Opened(system, names.index(name))
    lifting.run()
    return pruned_lap(lifting, lifting.readings)


def pruned_lap(lifting: LapLifting, readings: Sequence[Array]) -> OpenedLap:
    """Returns the matrices of a lap with inputs and what it reads of them, without what nothing reads or moves."""
    split = lifting.size - lifting.inputs
    end = lifting.lifted().matrix.astype(float).reshape(split, lifting.size)
    read = np.array(readings).astype(float)
    joined = within_reach(end[:, :split], end[:, split:], read[:, :split])
    return OpenedLap(end[np.ix_(joined, joined)], end[joined, split:], read[:, joined], read[:, split:], lifting.end)


class _Opened(LapLifting):
    """A lap in which one sampler takes inputs in place of its readings."""

    def __init__(self, system: Multirate, at: int) -> None:
        self.at = at
        self.inputs = int(system.period / exactly(system.samplers[at].period))
        self.readings: list[Array] = []
        super().__init__(system)

    def _decide(self, j: int, now: Fraction, read: Array) -> None:
        if j == self.at:
            self.readings.append(read)
            read = self.unit[self.size - self.inputs + len(self.readings) - 1]
        super()._decide(j, now, read)


def within_reach(a: Array, b: Array, c: Array) -> Array:
    """Returns the variables that the inputs reach and the readings see, directly or not."""
    moved = reached(np.flatnonzero(b.any(axis=1)).tolist(), lambda column: np.flatnonzero(a[:, column]).tolist())
    seen = reached(np.flatnonzero(c.any(axis=0)).tolist(), lambda row: np.flatnonzero(a[row]).tolist())
    return np.array(sorted(moved & seen), dtype=int)
