"""Compares two windows where non-linear mechanisms lie behind the loss: every coalition of changes is run.

The mean through a maximum or a product depends on which samples meet, so windows are laid over each other sample by
sample from their starts (the longer one is cut).  Players: the own part of each signal (old or new) and each mechanism
that changed (old or new coefficients).  A mechanism that did not change has one set of constants, the two windows'
weighted by their precision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coherence.causal.attribution.mechanisms import Mechanism, Range
from coherence.causal.attribution.shapley import members, refuse_many, shapley
from coherence.causal.attribution.structure import CausalSystem, LinearMechanism, own_part, run, structure
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.fit import Fitted

NUMBERS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Curved:
    """Both windows as structures on the same samples; replicates: the whole, less each old batch, less each new one."""

    before: CausalSystem
    after: CausalSystem
    names: tuple[str, ...]
    tables: Mapping[str, tuple[Floats, Floats]]  # constants of each mechanism with unknown ones, by window


def built(
    windows: tuple[Series, Series], fits: tuple[Fitted, Fitted], loss: str, constants: Mapping[str, float | Range]
) -> Curved | None:
    """Both windows, if a non-linear mechanism lies behind the loss."""
    systems = [
        structure(series, fitted, loss, constants=constants) for series, fitted in zip(windows, fits, strict=True)
    ]
    if not any(isinstance(part, Mechanism) for part in systems[0].parts.values()):
        return None
    tables = {
        name: (part.constants, other.constants)
        for name, part in systems[0].parts.items()
        if isinstance(part, Mechanism) and isinstance(other := systems[1].parts[name], Mechanism) and part.unknown
    }
    return Curved(systems[0], systems[1], tuple(name for group in systems[0].order for name in group), tables)


def mechanisms(curved: Curved) -> frozenset[str]:
    """The signals whose declared mechanism is kept."""
    return frozenset(name for name, part in curved.before.parts.items() if isinstance(part, Mechanism))


def shares(
    curved: Curved, both: Fitted, loss: str, changed: Sequence[str]
) -> tuple[tuple[float, float], Floats, Floats]:
    """((before, after), (replicates, names), (replicates, changed)): means, and what each change contributed."""
    players = [*curved.names, *changed]
    refuse_many(players, "changes that meet in non-linear mechanisms")
    length = min(len(curved.before.series), len(curved.after.series))
    old, new = _laid(curved, both, changed, length)
    count = 1 << len(players)
    replicates = max(old.replicates, new.replicates)
    sizes = max(1, NUMBERS_AT_ONCE // (length * replicates))
    values = np.empty((replicates, count))
    for mechanism_set in range(1 << len(changed)):
        chosen = {changed[k] for k in members(mechanism_set, len(changed))}
        parts = {name: (new if name in chosen else old).parts[name] for name in old.parts}
        mixed = CausalSystem(old.series, parts, old.order, old.own, replicates)
        first = mechanism_set << len(curved.names)
        edges = [*range(0, 1 << len(curved.names), sizes), 1 << len(curved.names)]
        for low, high in pairwise(edges):
            values[:, first + low : first + high] = _means(mixed, old, new, curved.names, loss, range(low, high))
    shared = shapley(values)
    return (float(values[0, 0]), float(values[0, -1])), shared[:, : len(curved.names)], shared[:, len(curved.names) :]


def _means(
    mixed: CausalSystem, old: CausalSystem, new: CausalSystem, names: Sequence[str], loss: str, coalitions: range
) -> Floats:
    """(replicates, coalitions): mean loss with the own parts of a coalition from the second window."""
    drives = {
        name: np.where(
            np.array([c >> place & 1 for c in coalitions], bool)[None, :, None],
            new.own[name][:, None, :],
            old.own[name][:, None, :],
        )
        for place, name in enumerate(names)
    }
    losses = run(mixed, drives)[loss]
    shape = (mixed.replicates, len(coalitions))
    return np.asarray(np.broadcast_to(np.nanmean(losses, axis=-1), shape), np.float64)


def _laid(curved: Curved, both: Fitted, changed: Sequence[str], length: int) -> tuple[CausalSystem, CausalSystem]:
    """Both windows cut to one length, with one row of coefficients for each replicate of both together."""
    systems = []
    for place, system in enumerate((curved.before, curved.after)):
        series = Series(system.series.names, system.series.values[:length], system.series.step, system.series.start)
        parts = {name: _part(curved, both, name, place, name in changed) for name in system.parts}
        own = {name: own_part(series, name, parts.get(name)) for name in curved.names}
        systems.append(CausalSystem(series, parts, system.order, own, max(len(rows) for rows in own.values())))
    return systems[0], systems[1]


def _part(curved: Curved, both: Fitted, name: str, place: int, own_window: bool) -> LinearMechanism | Mechanism:
    part = (curved.before, curved.after)[place].parts[name]
    if isinstance(part, LinearMechanism):
        other = (curved.after, curved.before)[place].parts[name]
        assert isinstance(other, LinearMechanism)
        tables = (part.coefficients, other.coefficients) if not place else (other.coefficients, part.coefficients)
        rows = _spread(*tables)[place] if own_window else both.nodes[name].coefficients
        return LinearMechanism(name, part.columns, rows)
    if not part.unknown:
        return part
    old, new = _spread(*curved.tables[name])
    rows = (old, new)[place] if own_window else _weighted(old, new, *curved.tables[name])
    return Mechanism(name, part.tree, part.columns, part.unknown, rows)


def _spread(old: Floats, new: Floats) -> tuple[Floats, Floats]:
    """One row for the whole, for each old batch left out, for each new one."""
    first, second = len(old) - 1, len(new) - 1
    return old[[*range(first + 1), *([0] * second)]], new[[0, *([0] * first), *range(1, second + 1)]]


def _weighted(old: Floats, new: Floats, table: Floats, other: Floats) -> Floats:
    """Constants of both windows, each weighted by the inverse of its jackknife covariance."""
    weights = [np.linalg.pinv(_covariance(one[1:]), hermitian=True) for one in (table, other)]
    if not np.any(weights[0] + weights[1]):
        return np.asarray((old + new) / 2, np.float64)
    inverse = np.linalg.pinv(weights[0] + weights[1], hermitian=True)
    return np.asarray((old @ weights[0] + new @ weights[1]) @ inverse, np.float64)


def _covariance(without: Floats) -> Floats:
    spread = without - without.mean(axis=0)
    return np.asarray((len(without) - 1) / len(without) * (spread.T @ spread), np.float64)
