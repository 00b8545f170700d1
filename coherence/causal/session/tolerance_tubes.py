"""Derives the band that would have been good enough from the stated tolerance of a proportional loop.

    needed(t) = u(t) m(t) / setpoint          (a total that all members share: m(t) / setpoint)
    band(t)   = needed / (1 + tolerance) .. needed / (1 - tolerance), within the loop's bounds

Assumes what the law itself does: that m falls as 1 / u.  A delay before the loop reads m delays no need.
Members are whole: the band then holds one number at least.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from coherence.causal.data.index_inputs import Tube
from coherence.causal.data.series import Floats, Series
from coherence.language.expressions import Tree, names
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.tree import Call, Held, Name, walk
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Model, SampledLoop

SHARED = "average"


def tolerance_tubes(model: Model, series: Series) -> Iterator[tuple[Tube, SampledLoop]]:
    """Yields a tube for each measured signal that one proportional loop with a tolerance writes, and the loop."""
    for loop in model.loops:
        alone = sum(other.signal == loop.signal for other in model.loops) == 1
        if (
            not alone
            or loop.law != "proportional"
            or loop.lands
            or not 0 < loop.tolerance < 1
            or loop.signal not in series
        ):
            continue
        needed = _needed(loop, model, series)
        if needed is not None and (whole := np.isfinite(needed) & np.isfinite(series[loop.signal])).any():
            low, high = _band(loop, needed[whole])
            yield Tube(loop.signal, series.times[whole], series[loop.signal][whole], low, high), loop


def _needed(loop: SampledLoop, model: Model, series: Series) -> Floats | None:
    """Returns the level at which the signal would be at its setpoint; None where that is not measured."""
    target = loop.source.target
    if target is None or target.signal is None:
        return None
    tree = target.signal.tree
    if isinstance(tree, Call) and tree.function == "delayed":
        tree = tree.arguments[0]
    if not isinstance(tree, Name):
        return None
    setpoint, path = target.setpoint, model.resolve(tree.path)
    shared = str(target.kind) == SHARED
    if not shared and not _falls_as_inverse(model.outputs.get(path), loop.signal):
        return None
    if path not in series or not isinstance(setpoint, Quantity) or not setpoint.exact or not setpoint.low:
        return None
    ratio = series[path] / float(setpoint.low)
    return ratio if shared else np.asarray(ratio * series[loop.signal], np.float64)


def _falls_as_inverse(tree: Tree | None, signal: str) -> bool:
    """Returns whether a formula times the signal is the same at any value of the signal."""
    if tree is None or signal not in names(tree) or any(isinstance(part, Call | Held) for part in walk(tree)):
        return False
    rng, at = np.random.default_rng(0), np.geomspace(1, 100, 9)
    columns = {name: np.full(len(at), rng.uniform(1, 2)) for name in names(tree)} | {signal: at}
    with np.errstate(all="ignore"):
        both = np.asarray(lower_numpy(tree, columns), np.float64) * at
    return bool(np.isfinite(both).all() and np.ptp(both) <= 1e-9 * np.abs(both).max())


def _band(loop: SampledLoop, needed: Floats) -> tuple[Floats, Floats]:
    share = float(loop.tolerance)
    low, high = needed / (1 + share), needed / (1 - share)
    if loop.integer:
        low = np.ceil(low - 1e-9)
        high = np.maximum(low, np.floor(high + 1e-9))
    least, most = (None if end is None else float(end) for end in (loop.bounds.low, loop.bounds.high))
    low, high = (np.clip(ends, least, most) if (least, most) != (None, None) else ends for ends in (low, high))
    return np.asarray(low, np.float64), np.asarray(high, np.float64)
