"""Decides whether a stable network stays stable when each of its blocks is late by a short time of its own.

A stable loop whose gain falls with frequency bears some delay; one with feedthrough need not: at high frequency any
phase is a short delay.  With the feedthrough D and the couplings K, it stays stable for all short delays if the
spectral radius of diag(exp(j phase)) D K is below one for all phases, and for some delays, however short, it grows if
it is above one for some.  The largest such radius is the structured singular value of D K: bounded from above by the
norm in the best units of the signals, and from below by phases, which are a witness.

SOURCE: Hale & Verduyn Lunel 2002, Strong stabilization of neutral functional differential equations; Georgiou & Smith
1989, w-stability of feedback systems; Packard & Doyle 1993, The complex structured singular value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coherence.base.graphs import cycles
from coherence.loops.networks.components import Complexes, Reals
from coherence.loops.networks.network import Network
from coherence.loops.networks.scaling import balanced

CLEAR = 1e-9  # distance of a gain from 1 that decides
STARTS = 8  # of the search for the worst phases
SEARCHED = 60  # blocks with feedthrough, above which neither units nor phases are searched for


@dataclass(frozen=True)
class FeedthroughGain:
    """The largest gain around blocks that feed each other at once, over all phases: between two bounds.

    `alike`: the gain where all phases are equal, the delays of all blocks the same; `names`: the blocks.
    """

    low: float = 0.0
    high: float = 0.0
    alike: float = 0.0
    names: tuple[str, ...] = ()

    @property
    def stable(self) -> bool | None:
        """Returns whether a stable network stays so for every short delay; None where that is open."""
        return True if self.high < 1 - CLEAR else False if self.low > 1 + CLEAR else None


def small_delays(network: Network) -> FeedthroughGain:
    """Returns the gain around feedthrough where it is largest: it grows in one circle of blocks or in none."""
    circles = [feedthrough_gain(names, around) for names, around in _circles(network)]
    worst = max(circles, key=lambda gain: gain.low, default=FeedthroughGain())
    return worst if worst.stable is False else max(circles, key=lambda gain: gain.high, default=worst)


def _circles(network: Network) -> Iterator[tuple[tuple[str, ...], Reals]]:
    """Yields the blocks that feed each other at once, with what each gets of each, in units in which they are alike."""
    through = {block.name: block.feedthrough for block in network.blocks if block.feedthrough}
    felt = [c for c in network.couplings if c.gain and c.source in through and c.target in through]
    after: dict[str, list[str]] = {}
    for coupling in felt:
        after.setdefault(coupling.source, []).append(coupling.target)
    for names in cycles(after):
        rows = {name: row for row, name in enumerate(names)}
        around = np.zeros((len(names), len(names)))
        for coupling in felt:
            if coupling.source in rows and coupling.target in rows:
                around[rows[coupling.target], rows[coupling.source]] += float(coupling.gain) * through[coupling.target]
        yield names, balanced(around)


def feedthrough_gain(names: tuple[str, ...], around: Reals) -> FeedthroughGain:
    """Returns the gain around blocks that feed each other at once."""
    alike, high = _radius(around), _perron(np.abs(around))
    low = alike
    if low < high and len(names) <= SEARCHED:
        low, high = max(low, *_reached(around)), min(high, _bounded(around))
    return FeedthroughGain(low, max(low, high), alike, tuple(sorted(names)))


def warning(gain: FeedthroughGain) -> str:
    """Returns what short delays do to a stable network; nothing where they keep it stable."""
    names = ", ".join(gain.names)
    if gain.stable:
        return ""
    if gain.alike > 1 + CLEAR:
        return f"feedthrough around {names} has gain {gain.alike:.6g}: any delay there, however short, is unstable"
    if gain.stable is None:
        figures = f"between {gain.low:.6g} and {gain.high:.6g}"
        return f"whether short delays keep it stable is open: feedthrough around {names} has gain {figures}"
    return f"feedthrough around {names} has gain {gain.low:.6g}: some delays there, however short, are unstable"


def _radius(matrix: Reals | Complexes) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def _perron(positive: Reals) -> float:
    """Returns an upper bound of the spectral radius of a matrix without negative entries: no phases exceed it."""
    weights, best = np.ones(len(positive)), np.inf
    for _ in range(100):
        image = positive @ weights
        best = min(best, float((image / weights).max()))
        weights = (image + weights) / (image + weights).max()
    return best * (1 + 1e-12)


def _reached(around: Reals) -> Iterator[float]:
    """Yields spectral radii at phases to which ascent leads."""
    from scipy.optimize import minimize

    rng, size = np.random.default_rng(0), len(around)
    signs = np.pi * rng.integers(0, 2, (STARTS, size))
    for start in np.concatenate([np.zeros((1, size)), signs, rng.uniform(0, 2 * np.pi, (STARTS, size))]):
        phases = minimize(_descent, start, args=(around,), jac=True, method="BFGS").x
        yield _radius(np.exp(1j * phases)[:, None] * around)


def _descent(phases: Reals, around: Reals) -> tuple[float, Reals]:
    """Returns minus the spectral radius, and its derivative by the phases."""
    from scipy.linalg import eig

    values, left, right = eig(np.exp(1j * phases)[:, None] * around, left=True)
    at = int(np.argmax(np.abs(values)))
    y, x = left[:, at], right[:, at]
    along = np.vdot(y, x)
    if abs(along) < 1e-12:
        return -float(abs(values[at])), np.zeros(len(phases))  # no derivative
    return -float(abs(values[at])), np.asarray(abs(values[at]) * (y.conj() * x / along).imag)


def _bounded(around: Reals) -> float:
    """Returns the least norm of the matrix that a search over units of the signals reaches: no phases exceed it."""
    from scipy.optimize import minimize

    def norm(logs: Reals) -> tuple[float, Reals]:
        left, sizes, right = np.linalg.svd(around * np.exp(logs[:, None] - logs))
        slope = left[:, 0] ** 2 - right[0] ** 2
        return float(np.log(max(sizes[0], 1e-300))), np.asarray(slope)

    best = minimize(norm, np.zeros(len(around)), jac=True, method="BFGS").x
    return float(np.exp(norm(best)[0])) * (1 + 1e-9)
