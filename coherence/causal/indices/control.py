"""CC, control coherence: the least motion that would have been good enough, as a share of the motion there was.

## Definition
A shared actuated quantity u has a tube [low(t), high(t)] around the level that was required.  `CC = TVmin / TV(u)`,
TVmin the least total variation of any path in the tube (the lazy path).  No motion at all is 1.  With several
quantities the worst is told.  Beside it, for each loop, its net motion as a share of its gross motion, and the motion
that one loop undid of another.
## Words
0.02: of a hundred steps that loops made, two were needed; in the others actions negate or chase each other.
## Unit and range
1; [0, inf).  1 is no needless motion, 0 is perpetual cycling; above 1 the quantity did not follow its tube.
## Invariances
Unit of time; unit and origin of the quantity.
## Nulls
A path that is its own lazy path gives 1.
## Falsifier
A path within the tube of less variation than TVmin.
## Limits
A limit cycle goes to 0 as the window grows: look back over twenty periods of the slowest loop (`horizon`).  The number
is exact for the recorded path; it has no sampling interval.
## Source
Truncated variation (Lochowski 2008); definitions 2.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from coherence.base.number_text import render_duration
from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.index_inputs import IndexInputs, LoopAction, Tube
from coherence.causal.indices import Index, IndexPart, IndexRefusal, MeasuredIndex

INDEX = Index(
    name="CC",
    words="the least motion that would have been good enough, as a share of the motion there was",
    unit="1",
    range="[0, inf); 1 is no needless motion",
    invariances="unit of time, unit and origin of the quantity",
    source="truncated variation; definitions 2.3",
)
NEEDS = (
    "each shared actuated quantity over time",
    "the band around the required level that would have been good enough at each time",
)


def least_variation(low: npt.ArrayLike, high: npt.ArrayLike) -> float:
    """TVmin: the least total variation of a path with low <= path <= high.  O(n).

    The least cost of a path that ends at v is m + distance of v from [a, b]; the next tube cuts [a, b], or moves it to
    the nearest point at the cost of the distance.  Raises ValueError where low exceeds high.
    """
    lows, highs = np.asarray(low, np.float64), np.asarray(high, np.float64)
    if not (lows <= highs).all():
        raise ValueError(f"the tube is empty at sample {int(np.argmax(~(lows <= highs)))}: low must be <= high")
    cost, a, b = 0.0, -math.inf, math.inf
    for bottom, top in zip(lows.tolist(), highs.tolist(), strict=True):
        if bottom > b:
            cost, a, b = cost + (bottom - b), bottom, bottom
        elif top < a:
            cost, a, b = cost + (a - top), top, top
        else:
            a, b = max(a, bottom), min(b, top)
    return cost


def variation(path: npt.ArrayLike) -> float:
    """Total variation of a path."""
    return math.fsum(np.abs(np.diff(np.asarray(path, np.float64))).tolist())


def coherence(tube: Tube) -> float:
    """CC of one quantity; 1 where it does not move."""
    moved = variation(tube.values)
    return least_variation(tube.low, tube.high) / moved if moved > 0 else 1.0


def measure(facts: IndexInputs) -> MeasuredIndex | IndexRefusal:
    """Control coherence of every quantity with a tube, the worst first; and who works against whom."""
    if not facts.tubes:
        return IndexRefusal(INDEX, "no actuated quantity has a tube", NEEDS)
    recent = [_recent(tube, facts.horizon) for tube in facts.tubes]
    for tube in recent:
        problem = _problem(tube)
        if problem:
            return IndexRefusal(INDEX, f"{tube.name}: {problem}", NEEDS)
    coherences = {tube.name: coherence(tube) for tube in recent}
    worst = min(coherences, key=lambda name: coherences[name])
    parts = [
        IndexPart(f"CC of {name}", _exact(one, facts.level))
        for name, one in sorted(coherences.items(), key=lambda e: e[1])
    ]
    parts += [IndexPart(name, _exact(share, facts.level)) for name, share in opposition(facts.actions)]
    return MeasuredIndex(
        INDEX,
        _exact(coherences[worst], facts.level),
        render_value(worst, coherences[worst]),
        parts=tuple(parts),
        notes=(*_looked_back(facts), *_notes(recent)),
    )


def _problem(tube: Tube) -> str:
    sizes = {len(tube.times), len(tube.values), len(tube.low), len(tube.high)}
    if len(sizes) > 1 or sizes == {0}:
        return "times, values, low and high differ in length or are empty"
    if not np.isfinite(tube.values).all() or np.isnan(tube.low).any() or np.isnan(tube.high).any():
        return "a value is not a number"
    if not (tube.low <= tube.high).all():
        return f"low exceeds high at {float(tube.times[int(np.argmax(tube.low > tube.high))]):g} s"
    return ""


def _recent(tube: Tube, horizon: float | None) -> Tube:
    if horizon is None or not len(tube.times):
        return tube
    kept = tube.times >= tube.times[-1] - horizon
    return Tube(tube.name, tube.times[kept], tube.values[kept], tube.low[kept], tube.high[kept])


def _looked_back(facts: IndexInputs) -> Iterator[str]:
    """Yields over which end of the record alone the index is, where it is longer."""
    cut = [tube.name for tube in facts.tubes if len(_recent(tube, facts.horizon).times) < len(tube.times)]
    if cut and facts.horizon is not None:
        last = render_duration(Fraction(facts.horizon))
        yield f"over the last {last} of the record alone, 20 periods of the slowest loop: {', '.join(cut)}"


def _exact(number: float, level: float) -> Estimate:
    return Estimate(number, number, number, 0.0, level)


def _notes(tubes: Sequence[Tube]) -> Iterator[str]:
    for tube in tubes:
        outside = float(((tube.values < tube.low) | (tube.values > tube.high)).mean())
        if outside:
            yield f"{tube.name} lies outside its tube at {outside:.1%} of the samples: it does not follow the need"


def opposition(actions: Sequence[LoopAction]) -> Iterator[tuple[str, float]]:
    """For each quantity and loop net / gross motion, then for each pair the share of their motion that one undid.

    A loop undoes another where its action follows the other's on the same quantity with the opposite sign; what is
    undone is the smaller of the two changes.
    """
    by_quantity: dict[str, list[LoopAction]] = {}
    for action in sorted(actions, key=lambda action: action.time):
        by_quantity.setdefault(action.quantity, []).append(action)
    for quantity, on_quantity in sorted(by_quantity.items()):
        for loop in sorted({action.loop for action in on_quantity}):
            own = [action.change for action in on_quantity if action.loop == loop]
            gross = math.fsum(map(abs, own))
            yield f"net of gross motion, {loop} on {quantity}", abs(math.fsum(own)) / gross if gross else 1.0
        yield from _undone(quantity, on_quantity)


def _undone(quantity: str, actions: Sequence[LoopAction]) -> Iterator[tuple[str, float]]:
    total = math.fsum(abs(action.change) for action in actions)
    lost: dict[tuple[str, str], float] = {}
    for before, after in pairwise(actions):
        if before.loop != after.loop and before.change * after.change < 0:
            pair = before.loop, after.loop
            lost[pair] = lost.get(pair, 0.0) + min(abs(before.change), abs(after.change))
    for (before_loop, after_loop), amount in sorted(lost.items()):
        yield f"of all motion of {quantity}, {after_loop} undoes of {before_loop}", amount / total


def render_value(name: str, value: float) -> str:
    """The value in words."""
    if value > 1:
        return f"{name} moved less than its tube demands: it does not follow"
    return f"{value:.1%} of the motion of {name} was needed"
