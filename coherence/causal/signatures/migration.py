"""Tests for a reconfiguration by migration: delays are others at equal load, and nothing of the code has changed.

The null is a shift of the load.  Logarithms of delays are regressed on the load, with a curve that both windows share,
and on the window; the error of its coefficient is that of batches left out in turn, as samples next to each other are
not independent.  Only loads that both windows have seen are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.base.errors import UsageError
from coherence.causal.answers.intervals import Floats, batches
from coherence.causal.signatures.signature import LEVEL, Signature

Mask: TypeAlias = npt.NDArray[np.bool_]

BATCHES = 12  # of each window
POWERS = 3  # of the curve over the load
NULL = "another load: at equal load delays are those of the window before"


@dataclass(frozen=True)
class LoadWindow:
    """Samples of one window: offered load, and the mean delay of what came (s)."""

    load: Floats
    delay: Floats


def migration(before: LoadWindow, after: LoadWindow, *, count: int = BATCHES) -> Signature:
    """Returns by how much delays have grown at equal load.  Raises UsageError where windows share too few loads."""
    ends = float(max(before.load.min(), after.load.min())), float(min(before.load.max(), after.load.max()))
    shared = [(window.load >= ends[0]) & (window.load <= ends[1]) & (window.delay > 0) for window in (before, after)]
    if min(int(part.sum()) for part in shared) < 4 * count:
        raise UsageError(f"the windows share too few loads: each needs {4 * count} samples between {ends}")
    columns, logs, owner = _columns((before, after), shared, count)
    whole = _shift(columns, logs)
    rest = np.array([_shift(columns[owner != b], logs[owner != b]) for b in range(2 * count)])
    return _answer(whole, rest, ends)


def _columns(windows: tuple[LoadWindow, LoadWindow], shared: list[Mask], count: int) -> tuple[Floats, Floats, Floats]:
    """Returns the columns of the regression (the window last), logarithms of delays, and the batch of each row."""
    owners = []
    for k, part in enumerate(shared):
        own = np.empty(int(part.sum()), int)
        for number, stretch in enumerate(batches(len(own), count)):
            own[stretch] = number + k * count
        owners.append(own)
    loads = np.concatenate([window.load[part] for window, part in zip(windows, shared, strict=True)])
    logs = np.log(np.concatenate([window.delay[part] for window, part in zip(windows, shared, strict=True)]))
    middle = (loads - loads.mean()) / (loads.std() or 1.0)
    owner = np.concatenate(owners)
    return np.column_stack([*(middle**power for power in range(POWERS + 1)), owner >= count]), logs, owner


def _shift(columns: Floats, logs: Floats) -> float:
    return float(np.linalg.lstsq(columns, logs, rcond=None)[0][-1])


def _answer(whole: float, rest: Floats, ends: tuple[float, float]) -> Signature:
    from scipy.special import stdtr, stdtrit

    halves = np.split(rest, 2)
    parts = [(len(half) - 1) / len(half) * float(((half - half.mean()) ** 2).sum()) for half in halves]
    error = math.sqrt(sum(parts))
    free = sum(parts) ** 2 / sum(part**2 / (len(halves[0]) - 1) for part in parts) if error else 1.0
    p = 2 * float(stdtr(free, -abs(whole) / error)) if error else float(whole == 0)
    reach = float(stdtrit(free, 1 - LEVEL / 2)) * error
    limits = {"low": math.expm1(whole - reach), "high": math.expm1(whole + reach), "loads from": ends[0], "to": ends[1]}
    return Signature("migration", NULL, p, math.expm1(whole), "1", "of the delay before, at equal load", limits)
