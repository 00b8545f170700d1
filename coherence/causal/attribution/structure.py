"""Runs the fitted system again with other own parts, influences that are cut, or signals that are held.

Each signal is x(t) = f(causes) + u(t), where f is its fitted linear equation or its declared mechanism and u(t), what
it has of its own, is x(t) - f(measured causes) sample by sample.  Running it with every u gives the measured signals
back exactly; running it with some of them, with influences cut or with a signal held answers "what if".  Before the
record every signal is as in its first sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError
from coherence.base.graphs import components
from coherence.causal.answers.intervals import batches
from coherence.causal.attribution.mechanisms import Mechanism, Range, Whole, evaluated, held_back, mechanism, non_linear
from coherence.causal.attribution.shapley import NotSplitError
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.fit import Fitted
from coherence.causal.fitting.gram import Column, lagged

SETTLING = 400  # samples at most that a changed feedback is given to settle before the record begins


@dataclass(frozen=True)
class LinearMechanism:
    """x(t) = sum of coefficients * columns + u(t).  `coefficients` has 1 + B rows."""

    effect: str
    columns: tuple[Column, ...]
    coefficients: Floats

    @property
    def causes(self) -> tuple[str, ...]:
        """The signals that it reads, each once."""
        return tuple(dict.fromkeys(cause for cause, _ in self.columns))


@dataclass(frozen=True)
class CausalSystem:
    """Signals in an order in which they can be computed; those that act on each other together."""

    series: Series
    parts: Mapping[str, LinearMechanism | Mechanism]
    order: tuple[tuple[str, ...], ...]  # strongly connected components, causes first
    own: Mapping[str, Floats]  # (1 + B, times); one row where nothing that it needs was estimated
    replicates: int = 1

    def rows(self, name: str) -> Floats:
        """u of a signal, (1 + B, times) or (1, times)."""
        return self.own[name]


def structure(
    series: Series, fitted: Fitted, loss: str, *, constants: Mapping[str, float | Range] | None = None
) -> CausalSystem:
    """Everything behind a loss, its declared non-linear mechanisms kept as declared."""
    declared = non_linear(fitted.graph, series.names, constants or {})
    stretches = stretches_of(series, fitted)
    parts: dict[str, LinearMechanism | Mechanism] = {}
    waiting = [loss]
    while waiting:
        name = waiting.pop()
        if name in parts or (name not in declared and name not in fitted.nodes):
            continue
        parts[name] = (
            mechanism(series, name, declared[name], constants or {}, stretches)
            if name in declared
            else LinearMechanism(name, fitted.nodes[name].equation.columns, fitted.nodes[name].coefficients)
        )
        waiting += parts[name].causes
    order = _components(loss, parts)
    _refuse_gaps(series, parts, order)
    own = {name: own_part(series, name, parts.get(name)) for group in order for name in group}
    return CausalSystem(series, parts, order, own, max(len(rows) for rows in own.values()))


def stretches_of(series: Series, fitted: Fitted) -> list[Whole]:
    """Row numbers of each batch of a fit, so that what is fitted elsewhere leaves out the same times."""
    rows = lagged(series, [column for column in fitted.grams.columns if column[0] in series])
    deepest = len(series) - len(rows)
    whole = np.flatnonzero(np.isfinite(rows).all(axis=1)) + deepest
    return [whole[part] for part in batches(len(whole), fitted.batches)]


def own_part(series: Series, name: str, part: LinearMechanism | Mechanism | None) -> Floats:
    """u of a signal: what was measured less what its causes make, one row for each row of coefficients."""
    measured = series[name]
    if part is None:
        return np.asarray(measured[None], np.float64)
    if isinstance(part, LinearMechanism):
        rows = np.stack([held_back(series[cause], lag) for cause, lag in part.columns])
        still = bool(np.all(part.coefficients == part.coefficients[0]))
        return np.asarray(measured - (part.coefficients[:1] if still else part.coefficients) @ rows, np.float64)
    values = {key: held_back(series[cause], lag) for key, (cause, lag) in part.columns.items()}
    return np.stack([measured - part(values, number) for number in range(len(part.constants))])


def _components(loss: str, parts: Mapping[str, LinearMechanism | Mechanism]) -> tuple[tuple[str, ...], ...]:
    """Strongly connected components behind a signal, causes first."""
    causes = {name: tuple(reversed(part.causes)) for name, part in parts.items()}
    return tuple(components({loss: causes.get(loss, ()), **causes}))


def circular(parts: Mapping[str, LinearMechanism | Mechanism], group: Sequence[str]) -> bool:
    """Do these signals act on themselves?"""
    return len(group) > 1 or (group[0] in parts and group[0] in parts[group[0]].causes)


def _refuse_gaps(
    series: Series, parts: Mapping[str, LinearMechanism | Mechanism], order: Iterable[tuple[str, ...]]
) -> None:
    for group in order:
        missing = [name for name in group if not np.isfinite(series[name]).all()]
        if missing and circular(parts, group):
            raise NotSplitError(
                f"{', '.join(missing)} feeds back and has gaps: a feedback cannot be run across them; "
                "choose a stretch of time without gaps"
            )


def run(
    system: CausalSystem, own: Mapping[str, Floats], *, held: Mapping[str, Floats | float] | None = None,
    cut: Mapping[str, Iterable[str]] | None = None, rows: slice = slice(None),
) -> dict[str, Floats]:  # fmt: skip
    """signal -> (replicates, runs, times).  `own`: u of each signal, broadcasting to that shape.

    `held`: signals that are set instead of computed; `cut`: effect -> causes that no longer act on it (they count as
    0); `rows`: which replicates to run.
    """
    levels: dict[str, Floats] = {name: _shaped(level) for name, level in (held or {}).items()}
    gone = {effect: frozenset(causes) for effect, causes in (cut or {}).items()}
    for group in system.order:
        left = tuple(name for name in group if name not in levels)
        if not left:
            continue
        if circular(system.parts, left) and _still_circular(system, left):
            levels |= _turning(_Circle(system, _in_turn(system, left), levels, gone, rows), own)
            continue
        for name in _sorted(system, left):
            levels[name] = own[name] + _driven(system, name, levels, gone.get(name, frozenset()), rows)
    return levels


def _shaped(level: Floats | float) -> Floats:
    """A level for all runs and times, or (times,) or (replicates, runs, times) as they are."""
    made = np.asarray(level, np.float64)
    return made.reshape((1,) * (3 - made.ndim) + made.shape)


def _still_circular(system: CausalSystem, left: Sequence[str]) -> bool:
    """Do they wait for each other?  Holding one signal may have opened the circle."""
    try:
        _sorted(system, left)
    except _CircleError:
        return True
    return False


class _CircleError(Exception):
    """Signals that wait for each other."""


def _sorted(system: CausalSystem, names: Sequence[str], *, now: bool = False) -> list[str]:
    """Causes before effects; `now`: only what acts within one sample counts."""
    waiting = {
        name: {cause for cause, lag in _columns(system, name) if cause in names and not (now and lag)} for name in names
    }
    done: list[str] = []
    while waiting:
        ready = [name for name in waiting if not waiting[name] - set(done)]
        if not ready:
            raise _CircleError
        done += ready
        for name in ready:
            del waiting[name]
    return done


def _columns(made: CausalSystem, name: str) -> tuple[Column, ...]:
    part = made.parts.get(name)
    if part is None:
        return ()
    return part.columns if isinstance(part, LinearMechanism) else tuple(part.columns.values())


def _driven(
    system: CausalSystem, name: str, levels: Mapping[str, Floats], gone: frozenset[str], rows: slice
) -> Floats | float:
    """f of a signal at the values found."""
    part = system.parts.get(name)
    if part is None:
        return 0.0
    if isinstance(part, LinearMechanism):
        total: Floats | float = 0.0
        for number, (cause, lag) in enumerate(part.columns):
            if cause not in gone:
                total = total + _row(part.coefficients, number, rows) * held_back(levels[cause], lag)
        return total
    values = {
        key: np.zeros(1) if cause in gone else held_back(levels[cause], lag)
        for key, (cause, lag) in part.columns.items()
    }
    return _applied(part, values, rows)


def _applied(part: Mechanism, values: Mapping[str, Floats], rows: slice) -> Floats:
    constants = {name: _row(part.constants, number, rows) for number, name in enumerate(part.unknown)}
    return evaluated(part.tree, {**values, **constants})


def _row(coefficients: Floats, number: int, rows: slice) -> Floats:
    """One coefficient for each replicate, shaped to broadcast over runs and times."""
    chosen = coefficients[:, number] if len(coefficients) == 1 else coefficients[rows, number]
    return np.asarray(chosen[:, None, None], np.float64)


@dataclass(frozen=True)
class _Circle:
    """Signals that act on each other, in the order of one sample, and what acts on them from outside."""

    system: CausalSystem
    names: tuple[str, ...]
    levels: Mapping[str, Floats]
    gone: Mapping[str, frozenset[str]]
    rows: slice

    def outer(self, name: str, own: Floats) -> Floats:
        """What a signal receives from outside, its own part included; a mechanism is evaluated inside."""
        part, total = self.system.parts.get(name), own
        if isinstance(part, LinearMechanism):
            for number, (cause, lag) in enumerate(part.columns):
                if cause not in self.gone.get(name, ()) and cause not in self.names:
                    total = total + _row(part.coefficients, number, self.rows) * held_back(self.levels[cause], lag)
        return total

    def inner(self, name: str, table: Mapping[str, Floats], at: int, time: int) -> Floats | float:
        """What a signal receives inside at place `at` of the table, which is sample `time` of the record."""
        part, gone = self.system.parts[name], self.gone.get(name, ())
        if isinstance(part, LinearMechanism):
            total: Floats | float = 0.0
            for number, (cause, lag) in enumerate(part.columns):
                if cause in self.names and cause not in gone:
                    total = total + _row(part.coefficients, number, self.rows)[..., 0] * table[cause][..., at - lag]
            return total
        values: dict[str, Floats] = {}
        for key, (cause, lag) in part.columns.items():
            if cause in gone:
                values[key] = np.zeros(1)
            elif cause in self.names:
                values[key] = table[cause][..., at - lag, None]
            else:
                past = self.levels[cause]
                values[key] = past[..., max(time - lag, 0), None] if past.shape[-1] > 1 else past
        return np.asarray(_applied(part, values, self.rows)[..., 0], np.float64)


def _turning(circle: _Circle, own: Mapping[str, Floats]) -> dict[str, Floats]:
    """Signals that act on each other, sample after sample, after a time to settle at the first sample's drives."""
    system, times = circle.system, len(circle.system.series)
    drives = {name: circle.outer(name, own[name]) for name in circle.names}
    shown, runs, _ = np.broadcast_shapes(*(drive.shape for drive in drives.values()))
    deepest = max(lag for name in circle.names for cause, lag in _columns(system, name) if cause in circle.names)
    before = deepest + SETTLING
    shape = (max(shown, *_replicates(system, circle.names, circle.rows)), runs, before + times)
    table = {name: np.empty(shape) for name in circle.names}
    for name in circle.names:
        table[name][..., :deepest] = system.series[name][0]
        drives[name] = np.broadcast_to(drives[name], (*drives[name].shape[:-1], times))
    for at in range(deepest, before + times):
        time = max(at - before, 0)
        for name in circle.names:
            table[name][..., at] = drives[name][..., time] + circle.inner(name, table, at, time)
    return {name: values[..., before:] for name, values in table.items()}


def _in_turn(system: CausalSystem, group: Sequence[str]) -> tuple[str, ...]:
    """Signals of a circle in the order of one sample."""
    try:
        return tuple(_sorted(system, group, now=True))
    except _CircleError:
        raise UsageError(
            f"{' and '.join(group)} act on each other within one sample: they cannot be run one after the other; "
            "record them more often"
        ) from None


def _replicates(system: CausalSystem, group: Sequence[str], rows: slice) -> Iterator[int]:
    """How many rows of coefficients each signal has among those chosen."""
    yield 1
    for name in group:
        part = system.parts.get(name)
        if part is not None:
            table = part.coefficients if isinstance(part, LinearMechanism) else part.constants
            yield len(table) if len(table) == 1 else len(table[rows])
