"""Holds signals on one regular clock, which every estimate of this engine reads.

Missing values stay missing (NaN); what was left out is named with its reason, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.base.errors import UsageError, did_you_mean

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Excluded:
    """A signal, a time or a file that takes no part, and why; `remedy` says what would bring it back."""

    what: str
    why: str
    remedy: str = ""


@dataclass(frozen=True)
class Series:
    """`values[t, i]` is the value of `names[i]` at `start + t * step` seconds; NaN where it is missing."""

    names: tuple[str, ...]
    values: Floats  # shape (times, signals)
    step: float
    start: float = 0.0
    units: Mapping[str, str] = field(default_factory=dict)
    excluded: tuple[Excluded, ...] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):
            raise ValueError(f"values of shape {self.values.shape} do not fit {len(self.names)} names")
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"two signals are called {max(self.names, key=self.names.count)!r}")
        if not self.step > 0:
            raise ValueError(f"step(={self.step}) must be > 0")

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def _columns(self) -> Mapping[str, int]:
        return {name: column for column, name in enumerate(self.names)}

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Floats:
        if name not in self._columns:
            raise UsageError(f"telemetry has no signal '{name}': {did_you_mean(name, self.names)}")
        return self.values[:, self._columns[name]]

    @property
    def times(self) -> Floats:
        """Seconds, one for each row."""
        return np.asarray(self.start + self.step * np.arange(len(self.values)), np.float64)

    def between(self, low: float, high: float) -> Series:
        """The rows with low <= time < high."""
        inside = (self.times >= low) & (self.times < high)
        first = int(np.argmax(inside)) if inside.any() else 0
        start = self.start + self.step * first
        return Series(self.names, self.values[inside], self.step, start, self.units, self.excluded)

    def of(self, names: Iterable[str]) -> Series:
        """These signals, in this order."""
        chosen = tuple(names)
        values = np.column_stack([self[name] for name in chosen]) if chosen else np.empty((len(self), 0))
        return Series(chosen, values, self.step, self.start, self.units, self.excluded)
