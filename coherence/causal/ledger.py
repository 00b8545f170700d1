"""The loss ledger: C_nom T - C_eff T as misplacement and device-seconds at their shadow prices, exactly.

    C_eff = (1/T) sum_k z[k] W[k]
    C_nom T - C_eff T = sum_{d,k} (y[d] - r[d,k] z[k]) t[d, useful k] + sum_d y[d] sum_{s not useful} t[d, s]

Amounts are in work units at shadow prices.  A ledger says where time went; why it went there is attribution, another
column.  `loss` (L_struct T) leaves out idle time for want of demand; `gap` (L_text T) is the whole difference.
A term below zero refutes a stated rate or a count: it is told as that and never cut off.  SOURCE: definitions.md 1.3-1.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from coherence.causal.capacity import Capacity, Floats
from coherence.causal.capacity_face import extremes
from coherence.causal.intervals import LEVEL, Estimate, estimate
from coherence.causal.ledger_states import MISPLACEMENT, SLACK, USEFUL, Column, columns, losses
from coherence.causal.ledger_times import ROUNDING, Times, expanded, unbalanced, useful
from coherence.errors import InputError, UsageError, did_you_mean
from coherence.values import value

DENOMINATORS = ("provisioned", "demanded", "held", "loss")
MISPLACED = Column(MISPLACEMENT, "B", "held", "right work on a device that is worth more elsewhere")


@value
class Share:
    """A part of a denominator; `estimate` is its interval over time, `low` and `high` its range over optimal prices.

    NaN where the denominator is 0.  The range is a point where the prices are unique.
    """

    estimate: Estimate
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share itself."""
        return self.estimate.value


@value
class Line:
    """A state or a type: its device-seconds (None for misplacement and what has it), its amount, its shares by denominator."""

    name: str
    letter: str
    words: str
    seconds: float | None
    amount: float
    shares: Mapping[str, Share]


@value
class Ledger:
    """All of it.  Amounts are work units over the window; capacities are work units per second.

    `states`: misplacement and every state that is not useful, `idle_slack` last; `types`: their sums by letter.
    `violations`: assumptions that the numbers refute; where there is one, no share is to be believed.
    """

    capacity: Capacity
    times: Times
    states: tuple[Line, ...]
    types: tuple[Line, ...]
    totals: Mapping[str, float]  # the denominators, `useful`, `gap` and `idle_slack`
    gap: Share  # U_gap
    structural: Share  # U_struct
    violations: tuple[str, ...]

    @property
    def nominal(self) -> float:
        """C_nom."""
        return self.totals["provisioned"] / self.times.window

    @property
    def effective(self) -> float:
        """C_eff."""
        return self.totals["useful"] / self.times.window

    @property
    def loss_text(self) -> float:
        """L_text = C_nom - C_eff."""
        return self.totals["gap"] / self.times.window

    @property
    def loss_structural(self) -> float:
        """L_struct = L_text - y . idle_slack / T."""
        return self.totals["loss"] / self.times.window

    @property
    def mode(self) -> str:
        """`cost` where devices idle for want of demand: hidden time won back becomes idle; else `throughput`."""
        slack = self.totals["idle_slack"]
        return "cost" if slack > ROUNDING * self.totals["provisioned"] else "throughput"

    def __getitem__(self, name: str) -> Line:
        """A state by its name or a type by its letter."""
        found = {line.name: line for line in (*self.types, *self.states)}
        if name not in found:
            raise UsageError(f"the ledger has no state or type '{name}': {did_you_mean(name, found)}")
        return found[name]


def ledger(capacity: Capacity, times: Times, *, level: float = LEVEL, rounding: float = ROUNDING) -> Ledger:
    """The ledger of a fleet's times.  Raises InputError where the states of a device do not add up to N T.

    Intervals are by the jackknife over the batches of `times`; with one batch they are infinite.
    """
    _same(capacity, times)
    problems = unbalanced(times, rounding=rounding)
    if problems:
        raise InputError(problems)
    amounts = _amounts(capacity, times)
    ratio = partial(_share, capacity, floor=ROUNDING * capacity.value * times.window, level=level)
    below = {name: amounts[name] for name in DENOMINATORS}
    states = [(column, amounts[column.name]) for column in _state_columns()]
    shared = {name: {of: ratio(rows, whole) for of, whole in below.items()} for name, rows in _named(states)}
    lines = tuple(_line(column, times, rows, capacity, shared[column.name]) for column, rows in states)
    return Ledger(
        capacity=capacity,
        times=times,
        states=lines,
        types=tuple(_types(lines, states, capacity, shared)),
        totals={name: float(amounts[name].sum(axis=0) @ _prices(capacity)) for name in (*DENOMINATORS, *_SUMS)},
        gap=ratio(amounts["gap"], amounts["provisioned"]),
        structural=ratio(amounts["loss"], amounts["demanded"]),
        violations=(*times.broken, *_violations(capacity, times)),
    )


def _same(capacity: Capacity, times: Times) -> None:
    priced, timed = capacity.fleet, times.fleet
    if (priced.devices, priced.classes) != (timed.devices, timed.classes) or (priced.count != timed.count).any():
        raise UsageError("the capacity and the times are of different fleets; compute both for one fleet")


_SUMS = ("useful", "gap", "idle_slack")


def _state_columns() -> tuple[Column, ...]:
    chosen = [column for column in columns() if column.name not in (USEFUL, SLACK)]
    slack = next(column for column in columns() if column.name == SLACK)
    return (MISPLACED, *chosen, slack)


def _named(states: Sequence[tuple[Column, Floats]]) -> Iterator[tuple[str, Floats]]:
    """Each state, and each type as the sum of its states."""
    for column, rows in states:
        yield column.name, rows
    for loss in losses():
        yield loss.letter, _total([rows for column, rows in states if column.letter == loss.letter], states[0][1])


def _total(parts: Sequence[Floats], like: Floats) -> Floats:
    return sum(parts, np.zeros_like(like))


def _prices(capacity: Capacity) -> Floats:
    return np.concatenate([capacity.y, capacity.z])


def _amounts(capacity: Capacity, times: Times) -> dict[str, Floats]:
    """name -> (B, D + K): what is to be multiplied by the prices (y, z) to give work units."""
    fleet, t, every = times.fleet, times.seconds, expanded(times.fleet.classes)
    work = t[:, :, useful(fleet)]
    units = (work * fleet.rate).sum(axis=1)
    devices, classes = len(fleet.devices), len(fleet.classes)

    def at_price(seconds: Floats, units: Floats | None = None) -> Floats:
        return np.hstack([seconds, np.zeros((len(t), classes)) if units is None else units])

    amounts = {c.name: at_price(t[:, :, i]) for i, c in enumerate(every) if c.kind != "useful"}
    amounts[MISPLACEMENT] = at_price(work.sum(axis=2), -units)
    provisioned = at_price(times.windows[:, None] * fleet.count)
    amounts["provisioned"] = provisioned
    amounts["useful"] = at_price(np.zeros((len(t), devices)), units)
    amounts["demanded"] = provisioned - amounts[SLACK]
    amounts["gap"] = provisioned - amounts["useful"]
    amounts["loss"] = amounts["gap"] - amounts[SLACK]
    amounts["held"] = at_price(sum((t[:, :, i] for i, c in enumerate(every) if c.held), np.zeros(t.shape[:2])))
    return amounts


def _share(capacity: Capacity, rows: Floats, whole: Floats, *, floor: float, level: float) -> Share:
    """sum rows.v / sum whole.v, with a batch left out in turn; a whole below `floor` is rounding, and 0."""
    prices = _prices(capacity)
    above, below = rows @ prices, whole @ prices
    under = np.array([below.sum(), *(below.sum() - below)])
    over = np.array([above.sum(), *(above.sum() - above)])
    safe = np.abs(under) > floor
    found = np.divide(over, under, out=np.full_like(over, np.nan), where=safe)
    without = found[1:] if len(rows) > 1 and np.isfinite(found).all() else found[:0]
    low, high = extremes(capacity, rows.sum(axis=0), whole.sum(axis=0)) if safe[0] else (np.nan, np.nan)
    return Share(estimate(float(found[0]), without, level=level), low, high)


def _line(column: Column, times: Times, rows: Floats, capacity: Capacity, shares: Mapping[str, Share]) -> Line:
    amount = float(rows.sum(axis=0) @ _prices(capacity))
    seconds = None
    if column.name != MISPLACEMENT:
        seconds = float(times.seconds[:, :, times.labels.index(column.name)].sum())
    return Line(column.name, column.letter, column.words, seconds, amount, shares)


def _types(
    lines: Sequence[Line],
    states: Sequence[tuple[Column, Floats]],
    capacity: Capacity,
    shared: Mapping[str, Mapping[str, Share]],
) -> Iterator[Line]:
    sums = dict(_named(states))
    for loss in losses():
        seconds = sum(line.seconds or 0.0 for line in lines if line.letter == loss.letter)
        amount = float(sums[loss.letter].sum(axis=0) @ _prices(capacity))
        yield Line(loss.letter, loss.letter, loss.name, seconds, amount, shared[loss.letter])


def _violations(capacity: Capacity, times: Times) -> Iterator[str]:
    """Terms below zero."""
    fleet, t = times.fleet, times.seconds.sum(axis=0)
    small = -ROUNDING * fleet.count * times.window
    for d, s in zip(*np.nonzero(t < small[:, None]), strict=True):
        yield (
            f"assumption violated: t[{fleet.devices[d]},{times.labels[s]}] = {t[d, s]:.6g} device-seconds < 0;"
            " check the isolated rates and the counters of that device"
        )
    short, work = capacity.reduced, t[:, useful(fleet)]
    for d, k in zip(*np.nonzero(short < -1e-12 * capacity.value), strict=True):
        yield (
            f"assumption violated: r[{fleet.devices[d]},{fleet.classes[k]}] = {fleet.rate[d, k]:.6g} is more than the"
            f" prices allow ({capacity.y[d] / capacity.z[k]:.6g}); the prices are of another fleet"
        )
    for d, k in zip(*np.nonzero((fleet.rate == 0) & (work > ROUNDING * times.window)), strict=True):
        yield (
            f"assumption violated: r[{fleet.devices[d]},{fleet.classes[k]}] = 0, but {work[d, k]:.6g} useful"
            " device-seconds are logged; give its isolated rate"
        )
