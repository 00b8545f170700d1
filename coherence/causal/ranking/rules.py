"""Ranks causes by simple rules that a ranking must beat, on the same windows and the same graph.

Every rule takes what `ranking.rank` takes and gives names, most likely first.  A signal is anomalous where its level
in the incident is farther from its normal mean than `FAR` normal standard deviations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from coherence.causal.data.series import Floats, Series

Causes: TypeAlias = Mapping[str, Iterable[str]]
Rule: TypeAlias = Callable[[Series, Series, Causes, str], tuple[str, ...]]
FAR = 3.0


def chance(candidates: int, top: int) -> Fraction:
    """Probability that a random order of the candidates has the one cause among its first `top`."""
    return Fraction(min(top, candidates), candidates) if candidates else Fraction(0)


def largest_anomaly(normal: Series, incident: Series, causes: Causes, target: str) -> tuple[str, ...]:
    """The farther from normal, the likelier."""
    del causes
    far = distances(normal, incident)
    return _ordered({name: size for name, size in far.items() if name != target and size > FAR})


def ranked_correlation(normal: Series, incident: Series, causes: Causes, target: str) -> tuple[str, ...]:
    """Among anomalous signals, those that move with the target during the incident, by the size of the correlation."""
    del causes
    far = distances(normal, incident)
    correlations = {
        name: abs(_correlation(incident[name], incident[target]))
        for name, size in far.items()
        if name != target and size > FAR
    }
    return _ordered({name: size for name, size in correlations.items() if math.isfinite(size)})


def traversal(normal: Series, incident: Series, causes: Causes, target: str) -> tuple[str, ...]:
    """From the target along anomalous causes: those reached whose own causes are calm, by the size of their anomaly."""
    far = distances(normal, incident)
    seen, ends = {target}, {}
    waiting = [target]
    while waiting:
        name = waiting.pop()
        loud = [one for one in causes.get(name, ()) if far.get(one, 0.0) > FAR]
        if not loud and far.get(name, 0.0) > FAR:
            ends[name] = far[name]
        fresh = [name for name in dict.fromkeys(loud) if name not in seen]
        seen.update(fresh)
        waiting += fresh
    return _ordered(ends)


RULES: dict[str, Rule] = {
    "largest anomaly": largest_anomaly,
    "ranked correlation": ranked_correlation,
    "traversal": traversal,
}


def distances(normal: Series, incident: Series) -> dict[str, float]:
    """name -> distance of the incident's mean from the normal mean, in normal standard deviations."""
    steps: dict[str, float] = {}
    for name in normal.names:
        before, now = _finite(normal[name]), _finite(incident[name]) if name in incident else np.empty(0)
        if not len(before) or not len(now):
            continue
        spread, away = float(np.std(before)), abs(float(np.mean(now) - np.mean(before)))
        steps[name] = away / spread if spread else (math.inf if away else 0.0)
    return steps


def _finite(values: Floats) -> Floats:
    return np.asarray(values[np.isfinite(values)], np.float64)


def _correlation(one: Floats, other: Floats) -> float:
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < 3 or not one[both].std() or not other[both].std():
        return math.nan
    return float(np.corrcoef(one[both], other[both])[0, 1])


def _ordered(sizes: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(sizes, key=lambda name: (-sizes[name], name)))
