"""Follows the margins of promises over a record: what is left of each limit, how fast it shrinks, and until when.

    always x <= limit:  margin(t) = limit - x(t)

Held fixed: what workloads bring from outside (measured signals such as `chat.arrivals`, without a declared cause), and
the day and the week, so that a margin which only load eats does not drift.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.clocks import clocks_over
from coherence.causal.fitting.margin_drift import MarginDrift, filtered_drift
from coherence.causal.session.context import Context
from coherence.language.expressions import Tree, names
from coherence.language.expressions.lower_numpy import lower_numpy
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Held, is_boolean, walk

FEWEST = 100  # samples: below, the filter leaves too much of the memory
LOADS = frozenset({"arrivals", "rate", "offered", "load", "attempts", "tries", "calls"})  # of a workload
OF_RUNS = frozenset({"delayed", "mean_over", "rate_of", "previous", "mean", "quantile", "tail", "attempts", "call"})


@dataclass(frozen=True)
class PromisedMargin:
    """A promise, the samples that break it, and its drift; `refused`: why the drift is not told."""

    promise: str
    text: str
    samples: int
    broken: int
    at_equal: tuple[str, ...] = ()
    drift: MarginDrift | None = None
    refused: str = ""


def promised_margins(context: Context) -> Iterator[PromisedMargin]:
    """Yields the margin of each promise that compares measured signals; others are of no signal."""
    window, whole = context.settings.window, context.usable[0]
    series = whole.between(*window) if window else whole
    loads = _loads(context, series)
    for name, promise in context.model.promises.items():
        if promise.kind not in {"always", "never"} or promise.condition is None:
            continue
        room = _margin(promise.condition.tree, context, series)
        if room is not None:
            yield _followed(name, promise.text, room if promise.kind == "always" else -room, series, loads)


def _followed(name: str, text: str, room: Floats, series: Series, loads: tuple[str, ...]) -> PromisedMargin:
    known = np.isfinite(room)
    samples, broken = int(known.sum()), int((room[known] < 0).sum())
    if samples < FEWEST:
        return PromisedMargin(name, text, samples, broken, refused=f"a slope needs {FEWEST} samples, and has {samples}")
    if not np.ptp(room[known]) > 0:
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


def _margin(tree: Tree, context: Context, series: Series) -> Floats | None:
    """Returns the room that a comparison of measured signals leaves; None where it is none, or is not measured."""
    if not isinstance(tree, Compare) or tree.op not in {"<", "<=", ">", ">="} or is_boolean(tree.left):
        return None
    if any(isinstance(part, Held) or (isinstance(part, Call) and part.function in OF_RUNS) for part in walk(tree)):
        return None
    columns = {name: _values(name, context, series) for name in names(tree)}
    measured = {name: column for name, column in columns.items() if column is not None}
    if len(measured) < len(columns) or not any(np.ndim(column) for column in measured.values()):
        return None
    larger, smaller = (tree.right, tree.left) if tree.op in {"<", "<="} else (tree.left, tree.right)
    with np.errstate(all="ignore"):
        room = lower_numpy(Arithmetic("-", larger, smaller), measured)
    return np.asarray(np.broadcast_to(room, (len(series),)), np.float64)


def _values(name: str, context: Context, series: Series) -> Floats | None:
    """Returns the samples of a signal, or the number of a constant; None where it is neither."""
    path = name if name in series else context.model.resolve(name)
    if path in series:
        return series[path]
    constant = context.model.constants.get(path)
    if constant is None or not constant.range.exact or constant.range.low is None:
        return None
    return np.asarray(float(constant.range.low), np.float64)
