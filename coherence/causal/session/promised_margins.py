"""Follows the margins of promises over a record: what is left of each limit, how fast it shrinks, and until when.

    always x <= limit:  margin(t) = limit - x(t)

Held fixed: what workloads bring from outside (measured signals such as `chat.arrivals`, without a declared cause), and
the day and the week, so that a margin which only load eats does not drift.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.clocks import clocks_over
from coherence.causal.fitting.margin_drift import MarginDrift, filtered_drift
from coherence.causal.session.context import Context
from coherence.causal.telemetry.quantities import NONE, factor
from coherence.language.dimensions import dimension_of, known
from coherence.language.expressions import names
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.tree import Call, Compare, Held, Name, is_boolean, walk
from coherence.language.sentences import Promise

ROUNDING = 1e-12  # of the larger side
FEWEST = 100  # samples: below, the filter leaves too much of the memory
LOADS = frozenset({"arrivals", "rate", "offered", "load", "attempts", "tries", "calls"})  # of a workload
OF_RUNS = frozenset({"delayed", "mean_over", "rate_of", "previous", "mean", "quantile", "tail", "attempts", "call"})


@dataclass(frozen=True)
class PromisedMargin:
    """A promise, the samples that break it, and its drift; `refused`: why the drift is not told.

    `without_unit`: signals whose telemetry states no unit, though the promise has one: read in SI units.
    """

    promise: str
    text: str
    samples: int
    broken: int
    at_equal: tuple[str, ...] = ()
    drift: MarginDrift | None = None
    refused: str = ""
    without_unit: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnfollowedPromise:
    """A promise that has no margin in this record, and why."""

    promise: str
    why: str


@dataclass(frozen=True)
class _Sides:
    """The sides of a comparison over the record; `strict`: whether equality breaks the promise."""

    larger: Floats
    smaller: Floats
    strict: bool

    @property
    def room(self) -> Floats:
        return np.asarray(self.larger - self.smaller, np.float64)

    @property
    def broken(self) -> int:
        """Returns how many samples break it; what differs by rounding is equal."""
        rounding = ROUNDING * np.maximum(np.abs(self.larger), np.abs(self.smaller))
        known_room = np.isfinite(self.room)
        breaks = self.room <= rounding if self.strict else self.room < -rounding
        return int((breaks & known_room).sum())


def promised_margins(context: Context) -> Iterator[PromisedMargin | UnfollowedPromise]:
    """Yields the margin of each promise that compares measured signals, and of others why they have none."""
    window, whole = context.settings.window, context.usable[0]
    series = whole.between(*window) if window else whole
    loads = _loads(context, series)
    for name, promise in context.model.promises.items():
        sides = _sides(promise, context, series)
        if isinstance(sides, str):
            yield UnfollowedPromise(name, sides)
        else:
            bare = _without_unit(promise, context, series)
            yield (
                UnfollowedPromise(name, bare)
                if isinstance(bare, str)
                else replace(_followed(name, promise.text, sides, series, loads), without_unit=bare)
            )


def _followed(name: str, text: str, sides: _Sides, series: Series, loads: tuple[str, ...]) -> PromisedMargin:
    room, broken = sides.room, sides.broken
    known_room = np.isfinite(room)
    samples = int(known_room.sum())
    if samples < FEWEST:
        return PromisedMargin(name, text, samples, broken, refused=f"a slope needs {FEWEST} samples, and has {samples}")
    if not np.ptp(room[known_room]) > 0:
        return PromisedMargin(name, text, samples, broken, refused="its signal never changes")
    clocks = clocks_over(series.start, len(series), series.step)
    cycles = clocks.added(series).values[:, len(series.names) + 1 :]  # without the trend, which is what is asked
    drift = filtered_drift(series.times, room, np.column_stack([series.of(loads).values, cycles]))
    refused = "" if drift is not None else "load and time cannot be told apart, or too many samples are missing"
    return PromisedMargin(name, text, samples, broken, loads, drift, refused)


def _loads(context: Context, series: Series) -> tuple[str, ...]:
    """Returns what workloads bring that nothing of the design acts on."""
    acted_on = {influence.effect for influence in context.graph.influences}
    brought = {f"{owner}.{word}" for owner in context.design.workload for word in LOADS}
    return tuple(name for name in series.names if name in brought and name not in acted_on)


def _sides(promise: Promise, context: Context, series: Series) -> _Sides | str:
    """Returns the sides of a comparison of measured signals; of another promise, why it has no margin."""
    if promise.kind not in {"always", "never"} or promise.condition is None:
        return "only what holds always, or never, has a margin at every sample"
    tree = promise.condition.tree
    if not isinstance(tree, Compare) or tree.op not in {"<", "<=", ">", ">="} or is_boolean(tree.left):
        return "it is not one comparison: a promise for each has a margin of its own"
    if any(isinstance(part, Held) or (isinstance(part, Call) and part.function in OF_RUNS) for part in walk(tree)):
        return "it depends on what was before, not on one sample"
    columns = {name: _values(name, context, series) for name in names(tree)}
    measured = {name: column for name, column in columns.items() if column is not None}
    missing = [name for name in columns if name not in measured]
    if missing:
        return f"{' and '.join(missing)}: no column, and no one number in the design"
    if not any(np.ndim(column) for column in measured.values()):
        return "none of its signals is measured"
    always, upwards = promise.kind == "always", tree.op in {">", ">="}
    with np.errstate(all="ignore"):
        left, right = (
            np.asarray(np.broadcast_to(lower_numpy(side, measured), (len(series),)), np.float64)
            for side in (tree.left, tree.right)
        )
    larger, smaller = (left, right) if upwards is always else (right, left)
    return _Sides(larger, smaller, strict=(tree.op in {"<", ">"}) is always)


def _without_unit(promise: Promise, context: Context, series: Series) -> tuple[str, ...] | str:
    """Returns the measured signals without a unit where the promise has one; of units that differ, what is wrong."""
    condition = promise.condition
    if condition is None or not isinstance(condition.tree, Compare):
        return ()
    world = known(context.design)
    sides = condition.tree.left, condition.tree.right
    dimensions = [dimension_of(replace(condition, tree=side), world) for side in sides]
    limits = [one for one in dimensions if one is not None and one.physical.powers]
    if not limits:
        return ()
    measured = [path for path in (_path(name, context, series) for name in names(condition.tree)) if path in series]
    bare = [path for path in measured if series.units.get(path, "1") in NONE]
    for side in sides:
        if isinstance(side, Name) and (path := _path(side.path, context, series)) in series and path not in bare:
            unit = factor(series.units[path])[1]
            if unit.physical != limits[0].physical:
                return f"the telemetry has {path} in {unit}, and the promise is in {limits[0]}"
    return tuple(bare)


def _path(name: str, context: Context, series: Series) -> str:
    return name if name in series else context.model.resolve(name)


def _values(name: str, context: Context, series: Series) -> Floats | None:
    """Returns the samples of a signal, or the number of a constant; None where it is neither."""
    path = _path(name, context, series)
    if path in series:
        return series[path]
    constant = context.model.constants.get(path)
    if constant is None or not constant.range.exact or constant.range.low is None:
        return None
    return np.asarray(float(constant.range.low), np.float64)
