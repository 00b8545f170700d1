"""Judges what bends at an operating point: every part of its network that feeds back, by itself.

A part whose bends compare what changes at instants has a lap with linear pieces (`bent_laps`): it is stable or unstable
by a form that falls (`decreasing_forms`), or unstable by a ray that comes back to itself longer.  Flows without loops
are judged by their frequency response (`bent_flows`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.designs.bends import bent_lap, bent_network, feedbacks
from coherence.loops.designs.bridged_laps import bridged_lap
from coherence.loops.designs.design_network import DesignNetwork
from coherence.loops.designs.lap_matrices import ROUNDED, Closed, LapError, closed
from coherence.loops.designs.lap_roots import roots
from coherence.loops.multirate.bent_laps import BentLap
from coherence.loops.multirate.decreasing_forms import proved
from coherence.loops.networks.bent_flows import OPEN, BentFlows, of_flows
from coherence.loops.networks.delayed_verdict import verdict
from coherence.model.model import Model

Array = Any
WORST_FIRST = ("unstable", "undecided", "marginal", "stable")
STARTS, LAPS = 24, 600
MOST_BENDS = 4  # in a lap
WORDS = (0, 1, 2, 3)  # laps whose signs tell forms apart
WORD = 48  # laps of a ray that comes back to itself
GROWS, RETURNS = 1e-7, 1e-8  # relative
CLEAR = 3.0  # powers of e: runs that change by more in a third show whether a lap may grow
MOST_LAPS, GROWN, STEADY = 8_000, math.log(1e3), 0.9  # of a run that is taken as growing: in each half


@dataclass(frozen=True)
class BentVerdict:
    """stable, unstable, marginal or undecided, and how it was decided, or why not."""

    verdict: str
    how: str


def bent_verdict(
    model: Model, point: Mapping[str, Fraction], paths: Collection[str] | None = None,
    check: Callable[[], object] = bool,
) -> BentVerdict:  # fmt: skip
    """Returns the verdict on a smooth model at a point where sides of its kinks meet: that of its worst part.

    `paths`: of the parts that hold one of these signals.  `check` may raise to end it.
    """
    try:
        judged = [_of_part(part, check) for part in feedbacks(bent_network(model, point), paths)]
    except (LapError, NotExactError, UsageError) as error:
        return BentVerdict("undecided", str(error))
    return min(judged, key=lambda each: WORST_FIRST.index(each.verdict), default=BentVerdict("stable", "no feedback"))


def _of_part(part: DesignNetwork, check: Callable[[], object]) -> BentVerdict:
    if part.samplers and part.bends:
        return _of_bent_lap(part, check)
    if part.samplers:
        lap = bridged_lap(part)
        straight = roots(closed(lap), lap.length)
        return BentVerdict(straight.verdict, straight.how)
    if part.bends:
        return BentVerdict(*of_flows(BentFlows(part.blocks, part.couplings, part.bends), check))
    return BentVerdict(verdict(part.continuous({block.name for block in part.blocks})).verdict, "exact delays")


def _of_bent_lap(part: DesignNetwork, check: Callable[[], object]) -> BentVerdict:
    if any(block.name in part.bends for block in part.blocks):
        return BentVerdict("undecided", "a flow that loops sample bends between their samples")
    lap = bent_lap(part)
    if len(lap.seen) > MOST_BENDS:
        return BentVerdict("undecided", f"a lap bends {len(lap.seen)} times, more than {MOST_BENDS}")
    return of_lap(lap, check)


def of_lap(lap: BentLap, check: Callable[[], object] = bool) -> BentVerdict:
    """Returns the verdict on a lap that bends."""
    if not len(lap.end):
        return BentVerdict("stable", "nothing is carried from lap to lap")
    if not len(lap.seen):
        return _straight(lap)
    thirds, last = followed(lap)
    if thirds[-1] > 0 and _is_on_ray(lap, last):
        return BentVerdict("unstable", "a ray that comes back to itself longer")
    for laps, grows in itertools.product(WORDS, _sides(thirds)):
        if proved(lap, last, laps, grows=grows, check=check):
            word = "negative somewhere" if grows else "positive"
            return BentVerdict("unstable" if grows else "stable", f"a form that falls with every lap, {word}")
        if laps and grows and (growth := _steady_growth(lap, last)):
            return BentVerdict("unstable", f"a run that grows {growth:.4g} times a lap [simulated]")
    return BentVerdict("undecided", OPEN)


def _sides(thirds: Sequence[float]) -> tuple[bool, ...]:
    """Returns whether a lap may grow, by runs: both where they leave it open."""
    grown = [third * LAPS / len(thirds) for third in thirds[1:]]
    if min(grown) > CLEAR or max(grown) < -CLEAR:
        return (min(grown) > 0,)
    return (grown[-1] > 0, grown[-1] <= 0)


def _steady_growth(lap: BentLap, x: Array) -> float:
    """Returns the growth per lap of a run that has grown by far and as much in its last part as in the one before;
    0 where it does not.
    """
    x, logs, laps = x[:, None], [0.0, 0.0], MOST_LAPS // 2
    for part in range(2):
        for _ in range(laps):
            x, _z = lap.step(x)
            size = float(np.linalg.norm(x))
            logs[part] += math.log(max(size, 1e-300))
            x = x / max(size, 1e-300)
    return math.exp(logs[1] / laps) if min(logs) > GROWN and min(logs) > STEADY * max(logs) else 0.0


def _straight(lap: BentLap) -> BentVerdict:
    """Returns the verdict on a lap in which no bend is left."""
    rows, names = [[Fraction(x) for x in row] for row in lap.end.tolist()], tuple(map(str, range(len(lap.end))))
    judged = roots(Closed(names, rows, [], [], [], (), (), ROUNDED), Fraction(lap.length))
    return BentVerdict(judged.verdict, judged.how)


def followed(lap: BentLap) -> tuple[tuple[float, ...], Array]:
    """Returns the logarithm of the growth per lap, in thirds, of the run from many directions that grows most, and the
    direction in which it ends.
    """
    x = np.random.default_rng(1).normal(size=(len(lap.end), STARTS))
    logs = np.zeros((3, STARTS))
    for k in range(LAPS):
        x, _ = lap.step(x)
        size = np.maximum(np.linalg.norm(x, axis=0), 1e-300)
        logs[3 * k // LAPS] += np.log(size)
        x = x / size
    best = int(np.argmax(logs[1:].sum(axis=0)))
    return tuple(float(log) for log in logs[:, best] * 3 / LAPS), x[:, best]


def _is_on_ray(lap: BentLap, x: Array) -> bool:
    """Decides whether some laps from x on lengthen a direction and leave it as it is."""
    word, x = np.eye(len(x)), x[:, None]
    for laps in range(1, WORD + 1):
        x, z = lap.step(x)
        x = x / np.linalg.norm(x)
        word = lap.matrix(np.where(z[:, 0] >= 0, 1.0, -1.0)) @ word
        values, vectors = np.linalg.eig(word)
        k = int(np.argmax(np.abs(values)))
        factor = float(values[k].real)
        if abs(values[k].imag) <= RETURNS * factor and factor > 1 + GROWS:
            ray = np.real(vectors[:, k])
            if any(_comes_back(lap, side * ray, laps, factor) for side in (1, -1)):
                return True
    return False


def _comes_back(lap: BentLap, ray: Array, laps: int, factor: float) -> bool:
    """Decides whether so many laps make of a ray what its branch does."""
    x = ray[:, None]
    for _ in range(laps):
        x, _ = lap.step(x)
    return bool(np.linalg.norm(x[:, 0] - factor * ray) <= RETURNS * factor * np.linalg.norm(ray))
