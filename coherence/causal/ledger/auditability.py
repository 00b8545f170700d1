"""Decides which parts of a ledger the logged signals identify, bounds the others, and names what else to log.

The parts x >= 0 are known through sums M x = o.  Part j is identified by the signals exactly where e_j is in the row
space of M (exact rational rank); else it lies in [min x_j, max x_j] under M x = o, x >= 0, and no estimate from these
signals can be narrower.  The gap of a part is the width of its interval.

A control decision can be reconstructed where its loop, its reading and when that was read, its action, its target and
the cause it followed from are logged.  SOURCE: definitions.md 4; partial identification (Manski).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity_program import CapacityProgram, NoOptimum, optimum
from coherence.causal.ledger.states import USEFUL
from coherence.causal.ledger.times import ROUNDING, expanded, layout

EXHAUSTIVE = 14  # further signals up to which the smallest set is found by trying every set
FIELDS = ("loop", "reading", "read_at", "action", "target", "cause")
Row = Mapping[str, float]
Echelon: TypeAlias = dict[int, dict[int, Fraction]]  # pivot column -> row


@dataclass(frozen=True)
class AuditSignal:
    """A logged signal: sums of parts (`rows`, part -> coefficient), and their `values` where it was measured."""

    name: str
    rows: tuple[Row, ...]
    values: tuple[float, ...] = ()
    cost: float = 1.0


@dataclass(frozen=True)
class AuditPart:
    """What is known of one part: it is in [low, high].  `identified`: by the signals, whatever their values."""

    name: str
    identified: bool
    low: float
    high: float

    @property
    def width(self) -> float:
        """The gap of the part."""
        return self.high - self.low


@dataclass(frozen=True)
class Audit:
    """`further`: the cheapest further signals that identify every part; `order`: the same, widest gaps closed first.

    `never`: parts that not even all further signals identify.  `contradiction`: signals whose sums no ledger can have.
    """

    parts: tuple[AuditPart, ...]
    further: tuple[str, ...]
    order: tuple[str, ...]
    never: tuple[str, ...]
    contradiction: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> AuditPart:
        """One part."""
        parts = {part.name: part for part in self.parts}
        if name not in parts:
            raise UsageError(f"no part is called '{name}': {did_you_mean(name, parts)}")
        return parts[name]

    @property
    def gap(self) -> float:
        """The sum of all widths."""
        return sum(part.width for part in self.parts)


def audit(parts: Sequence[str], signals: Sequence[AuditSignal], further: Sequence[AuditSignal] = ()) -> Audit:
    """What `signals` (with values) tell of the parts, and which of the `further` ones (without) would tell the rest.

    Raises UsageError: rows that name no part, signals without a value for each row.
    """
    _check(parts, signals, further)
    rows, values = _stacked(parts, signals)
    echelon = _reduced(rows)
    identified = _identified(echelon)
    wrong = _contradiction(parts, signals)
    slack = 0.0 if wrong or _feasible(rows, values, 0.0) else _rounding(values)
    ends = [(np.nan, np.nan)] * len(parts) if wrong else _ends(rows, values, slack)
    known = tuple(AuditPart(name, j in identified, *ends[j]) for j, name in enumerate(parts))
    chosen = _cheapest(parts, echelon, further)
    everything = _identified(_reduced(_stacked(parts, further)[0], echelon))
    return Audit(
        parts=known,
        further=tuple(one.name for one in chosen),
        order=tuple(_by_width(parts, echelon, chosen, known)),
        never=tuple(name for j, name in enumerate(parts) if j not in everything),
        contradiction=wrong,
    )


def _check(parts: Sequence[str], signals: Sequence[AuditSignal], further: Sequence[AuditSignal]) -> None:
    for signal in (*signals, *further):
        for row in signal.rows:
            for name, a in row.items():
                if name not in parts:
                    raise UsageError(
                        f"signal '{signal.name}' sums '{name}', which is no part: {did_you_mean(name, parts)}"
                    )
                if not np.isfinite(a):
                    raise UsageError(f"signal '{signal.name}' takes {name} {a!r} times; give a finite number")
    for signal in signals:
        if len(signal.values) != len(signal.rows) or not np.isfinite(signal.values).all():
            raise UsageError(
                f"signal '{signal.name}' has {len(signal.rows)} sums and the values {list(signal.values)!r}"
            )


def _stacked(parts: Sequence[str], signals: Iterable[AuditSignal]) -> tuple[Floats, Floats]:
    given = tuple(signals)
    rows = [[float(row.get(name, 0.0)) for name in parts] for one in given for row in one.rows]
    values = [v for one in given for v in one.values]
    return np.array(rows).reshape(-1, len(parts)), np.array(values, float)


def _reduced(rows: Floats, start: Echelon | None = None) -> Echelon:
    """The reduced row echelon form of `start` and further rows, exactly."""
    reduced = {pivot: dict(row) for pivot, row in (start or {}).items()}
    for dense in rows:
        row = {int(j): Fraction(float(dense[j])) for j in np.flatnonzero(dense)}
        for pivot in [j for j in row if j in reduced]:
            _take(row, reduced[pivot], row[pivot])
        if not row:
            continue
        lead = min(row)
        row = {j: a / row[lead] for j, a in row.items()}
        for other in reduced.values():
            if lead in other:
                _take(other, row, other[lead])
        reduced[lead] = row
    return reduced


def _take(row: dict[int, Fraction], other: Mapping[int, Fraction], times: Fraction) -> None:
    for j, a in other.items():
        left = row.get(j, Fraction(0)) - times * a
        if left:
            row[j] = left
        else:
            row.pop(j, None)


def _identified(found: Echelon) -> set[int]:
    """The parts j with e_j in the row space: those whose row of the echelon form is e_j alone."""
    return {j for j, row in found.items() if len(row) == 1}


def _ends(rows: Floats, values: Floats, slack: float) -> list[tuple[float, float]]:
    """The interval of each part.

    Parts in the same sums share what these leave them: each of several may have nothing or all of it.
    """
    distinct, kind = np.unique(rows, axis=1, return_inverse=True)
    sizes, which = np.bincount(kind.ravel()).tolist(), kind.ravel().tolist()
    determined = {} if slack else _determined(distinct, values)
    shared = [determined[k] if k in determined else _end(distinct, values, k, slack) for k in range(len(sizes))]
    return [(0.0 if sizes[k] > 1 else shared[k][0], shared[k][1]) for k in which]


def _determined(rows: Floats, values: Floats) -> dict[int, tuple[float, float]]:
    """The intervals of identified parts, under sums that some ledger has: one number, a combination of the values."""
    found, parts = _reduced(np.column_stack([rows, values])), rows.shape[1]
    return {j: (float(row.get(parts, 0)),) * 2 for j, row in found.items() if row.keys() <= {j, parts}}


def _end(rows: Floats, values: Floats, part: int, slack: float) -> tuple[float, float]:
    """Two programmes; a part that no sum bounds reaches to infinity."""
    gain = np.zeros(rows.shape[1])
    gain[part] = 1.0
    low, high = optimum(_program(-gain, rows, values, slack)), optimum(_program(gain, rows, values, slack))
    least = float("nan") if isinstance(low, NoOptimum) else 0.0 - float(low.value)
    return least, float("inf") if isinstance(high, NoOptimum) else float(high.value)


def _program(gain: Floats, rows: Floats, values: Floats, slack: float) -> CapacityProgram:
    """gain.x under rows x = values, or within `slack` of them."""
    if not slack:
        return CapacityProgram(gain, rows, values, (True,) * len(values))
    return CapacityProgram(gain, np.vstack([rows, -rows]), np.concatenate([values + slack, slack - values]))


def _feasible(rows: Floats, values: Floats, slack: float) -> bool:
    rows = np.unique(rows, axis=1)  # parts in the same sums count as one
    return not isinstance(optimum(_program(np.zeros(rows.shape[1]), rows, values, slack)), NoOptimum)


def _rounding(values: Floats) -> float:
    """How far sums of floats that agree may be apart."""
    return ROUNDING * float(np.abs(values).max(initial=0.0))


def _contradiction(parts: Sequence[str], signals: Sequence[AuditSignal]) -> tuple[str, ...]:
    """A smallest set of signals (none can be left out) whose sums no x >= 0 has, beyond rounding."""
    if _possible(parts, signals):
        return ()
    needed = list(signals)
    for signal in signals:
        fewer = [other for other in needed if other is not signal]
        if not _possible(parts, fewer):
            needed = fewer
    return tuple(one.name for one in needed)


def _possible(parts: Sequence[str], signals: Sequence[AuditSignal]) -> bool:
    rows, values = _stacked(parts, signals)
    return _feasible(rows, values, _rounding(values))


def _cheapest(parts: Sequence[str], echelon: Echelon, further: Sequence[AuditSignal]) -> tuple[AuditSignal, ...]:
    """The cheapest further signals that identify as much as all of them do."""

    def enough(some: Sequence[AuditSignal]) -> bool:
        return len(_reduced(_stacked(parts, some)[0], echelon)) == reached

    reached = len(_reduced(_stacked(parts, further)[0], echelon))
    if all(len(one.rows) == 1 for one in further) or len(further) > EXHAUSTIVE:
        return _greedy(further, enough=enough)
    sets = (some for size in range(len(further) + 1) for some in combinations(further, size))
    return min((some for some in sets if enough(some)), key=lambda some: sum(one.cost for one in some))


def _greedy(
    further: Sequence[AuditSignal], *, enough: Callable[[Sequence[AuditSignal]], bool]
) -> tuple[AuditSignal, ...]:
    """Leave out what is not needed, dearest first: for signals of one sum this is the cheapest set (a matroid)."""
    needed = list(further)
    for signal in sorted(further, key=lambda signal: -signal.cost):
        fewer = [other for other in needed if other is not signal]
        if enough(fewer):
            needed = fewer
    return tuple(needed)


def _by_width(
    parts: Sequence[str], echelon: Echelon, chosen: Sequence[AuditSignal], known: Sequence[AuditPart]
) -> Iterator[str]:
    """The chosen signals, at each turn the one that identifies the widest gaps for its cost."""
    rows = [_stacked(parts, [one])[0] for one in chosen]
    left = list(range(len(chosen)))
    while left:
        before = _identified(echelon)

        def closed(k: int, echelon: Echelon = echelon, before: set[int] = before) -> float:
            width = sum(known[j].width for j in _identified(_reduced(rows[k], echelon)) - before)
            return (width if np.isfinite(width) else np.inf) / chosen[k].cost

        best = max(left, key=closed)
        left.remove(best)
        echelon = _reduced(rows[best], echelon)
        yield chosen[best].name


# -- the signals of a ledger ----------------------------------------------------------------------


def sums_of(classes: Sequence[str]) -> dict[str, Row]:
    """What the usual signals of one kind of device add up: `count`, `held`, `idle`, `useful`, and each state alone."""
    columns, labels = expanded(tuple(classes)), layout(tuple(classes))
    alone: dict[str, Row] = {label: {label: 1.0} for label in labels}
    sums = {
        "count": dict.fromkeys(labels, 1.0),
        "held": {label: 1.0 for label, column in zip(labels, columns, strict=True) if column.held},
        "idle": {label: 1.0 for label, column in zip(labels, columns, strict=True) if not column.held},
        USEFUL: {label: 1.0 for label in labels if label.startswith(f"{USEFUL}.")},
    }
    return {**alone, **sums}


# -- decisions of control -------------------------------------------------------------------------


@dataclass(frozen=True)
class Decisions:
    """`gap`: the share of what was moved by decisions that cannot be told; `missing`: field -> how many lack it."""

    actions: int
    reconstructible: int
    gap: float
    missing: Mapping[str, int]


def decisions(actions: Iterable[Mapping[str, object]], *, moved: str = "change") -> Decisions:
    """The auditability of logged actions; `moved` names the field with the size of a change (1 if absent)."""
    given = list(actions)
    missing = {name: sum(one.get(name) in (None, "") for one in given) for name in FIELDS}
    weights = [abs(float(str(one.get(moved, 1.0)))) for one in given]
    whole = [all(one.get(name) not in (None, "") for name in FIELDS) for one in given]
    total = sum(weights)
    lost = sum(weight for weight, told in zip(weights, whole, strict=True) if not told)
    return Decisions(len(given), sum(whole), lost / total if total else 0.0, {k: n for k, n in missing.items() if n})
