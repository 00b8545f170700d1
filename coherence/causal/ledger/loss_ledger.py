"""Books C_nom T - C_eff T as misplacement and device-seconds at their shadow prices, exactly.

    C_eff = (1/T) sum_k z[k] W[k]
    C_nom T - C_eff T = sum_{d,k} (y[d] - r[d,k] z[k]) t[d, useful k] + sum_d y[d] sum_{s not useful} t[d, s]

Amounts are in work units at shadow prices.  A ledger says where time went; why it went there is attribution, another
column.  `gap` (L_text T) is the whole difference, `loss` leaves out of it idle time for want of demand, and
`structural` (L_struct T) also the types that are not structural, and what no log names.
A term below zero refutes a stated rate or a count: it is told as that and never cut off.
SOURCE: definitions.md 1.3-1.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import InputError, UsageError, did_you_mean
from coherence.causal.answers.intervals import LEVEL, Estimate, estimate
from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity import Capacity
from coherence.causal.ledger.capacity_face import extremes
from coherence.causal.ledger.states import MISPLACEMENT, SLACK, USEFUL, Column, columns, losses
from coherence.causal.ledger.times import ROUNDING, Times, expanded, unbalanced, useful

DENOMINATORS = ("provisioned", "demanded", "held", "loss")
MISPLACED = Column(MISPLACEMENT, "B", "held", "right work on a device that is worth more elsewhere")


@dataclass(frozen=True)
class LedgerShare:
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


@dataclass(frozen=True)
class LedgerLine:
    """A state or a type: its device-seconds (None: misplacement has none), its amount, its shares."""

    name: str
    letter: str
    words: str
    seconds: float | None
    amount: float
    shares: Mapping[str, LedgerShare]


@dataclass(frozen=True)
class LossLedger:
    """All of it.  Amounts are work units over the window; capacities are work units per second.

    `states`: misplacement and every state that is not useful, `idle_slack` last; `types`: their sums by letter.
    `violations`: assumptions that the numbers refute; where there is one, no share is to be believed.
    """

    capacity: Capacity
    times: Times
    states: tuple[LedgerLine, ...]
    types: tuple[LedgerLine, ...]
    totals: Mapping[str, float]  # the denominators, `useful`, `gap`, `structural` and `idle_slack`
    gap: LedgerShare  # U_gap
    structural: LedgerShare  # U_struct
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
        """L_struct = L_text - y . t / T, t: idle for want of demand, and in states that are not structural."""
        return self.totals["structural"] / self.times.window

    @property
    def mode(self) -> str:
        """`cost` where devices idle for want of demand: hidden time won back becomes idle; else `throughput`."""
        slack = self.totals["idle_slack"]
        return "cost" if slack > ROUNDING * self.totals["provisioned"] else "throughput"

    def __getitem__(self, name: str) -> LedgerLine:
        """A state by its name or a type by its letter."""
        lines = {line.name: line for line in (*self.types, *self.states)}
        if name not in lines:
            raise UsageError(f"the ledger has no state or type '{name}': {did_you_mean(name, lines)}")
        return lines[name]


def ledger(capacity: Capacity, times: Times, *, level: float = LEVEL, rounding: float = ROUNDING) -> LossLedger:
    """The ledger of a fleet's times.  Raises InputError where the states of a device do not add up to N T.

    Intervals are by the jackknife over the batches of `times`; with one batch they are infinite.
    """
    _same(capacity, times)
    problems = unbalanced(times, rounding=rounding)
    if problems:
        raise InputError(problems)
    sums = _sums(capacity, times, level)
    return LossLedger(
        capacity=capacity,
        times=times,
        states=tuple(_line(column, sums) for column in _state_columns()),
        types=tuple(_line(Column(loss.letter, loss.letter, "held", loss.name), sums) for loss in losses()),
        totals={name: float(sums.priced[name].sum()) for name in (*DENOMINATORS, "useful", "gap", "structural", SLACK)},
        gap=_share(sums, "gap", "provisioned"),
        structural=_share(sums, "structural", "demanded"),
        violations=(*times.broken, *_violations(capacity, times)),
    )


def _same(capacity: Capacity, times: Times) -> None:
    priced, timed = capacity.fleet, times.fleet
    if (priced.devices, priced.classes) != (timed.devices, timed.classes) or (priced.count != timed.count).any():
        raise UsageError("the capacity and the times are of different fleets; compute both for one fleet")


def _state_columns() -> tuple[Column, ...]:
    """Misplacement and every state that is not useful; idle for want of demand last."""
    every = [column for column in columns() if column.name != USEFUL]
    return (MISPLACED, *sorted(every, key=lambda column: column.name == SLACK))


@dataclass(frozen=True)
class _Sums:
    """Of each name: `rows` (B, D + K), which times the prices (y, z) give `priced` (B,) work units; device-seconds."""

    capacity: Capacity
    level: float
    floor: float  # an amount below this is rounding
    rows: Mapping[str, Floats]
    priced: Mapping[str, Floats]
    seconds: Mapping[str, float | None]


def _sums(capacity: Capacity, times: Times, level: float) -> _Sums:
    rows = _amounts(times)
    seconds: dict[str, float | None] = {
        column.name: float(times.seconds[:, :, i].sum()) for i, column in enumerate(expanded(times.fleet.classes))
    }
    seconds[MISPLACEMENT] = None
    for loss in losses():
        mine = [column.name for column in _state_columns() if column.letter == loss.letter]
        rows[loss.letter] = sum((rows[name] for name in mine), np.zeros_like(rows["gap"]))
        seconds[loss.letter] = sum(seconds[name] or 0.0 for name in mine)
    rows["structural"] = sum((rows[one.letter] for one in losses() if one.structural), np.zeros_like(rows["gap"]))
    prices = np.concatenate([capacity.y, capacity.z])
    priced = {name: row @ prices for name, row in rows.items()}
    return _Sums(capacity, level, ROUNDING * capacity.value * times.window, rows, priced, seconds)


def _amounts(times: Times) -> dict[str, Floats]:
    """name -> (B, D + K): what is to be multiplied by the prices (y, z) to give work units."""
    fleet, t, every = times.fleet, times.seconds, expanded(times.fleet.classes)
    work = t[:, :, useful(fleet)]
    units = (work * fleet.rate).sum(axis=1)
    no_units = np.zeros_like(units)
    amounts = {c.name: np.hstack([t[:, :, i], no_units]) for i, c in enumerate(every) if c.kind != USEFUL}
    amounts[MISPLACEMENT] = np.hstack([work.sum(axis=2), -units])
    amounts["useful"] = np.hstack([np.zeros(t.shape[:2]), units])
    amounts["provisioned"] = np.hstack([times.windows[:, None] * fleet.count, no_units])
    amounts["demanded"] = amounts["provisioned"] - amounts[SLACK]
    amounts["gap"] = amounts["provisioned"] - amounts["useful"]
    amounts["loss"] = amounts["gap"] - amounts[SLACK]
    amounts["held"] = np.hstack([t[:, :, [i for i, c in enumerate(every) if c.held]].sum(axis=2), no_units])
    return amounts


def _share(sums: _Sums, name: str, of: str) -> LedgerShare:
    """The ratio of two amounts, with a batch left out in turn, and over all optimal prices."""
    above, below = sums.priced[name], sums.priced[of]
    over, under = float(above.sum()), float(below.sum())
    if abs(under) <= sums.floor:
        return _NONE
    if len(above) == 1:
        unbounded = Estimate(over / under, -np.inf, np.inf, np.inf, sums.level)
    else:
        rest = under - below
        without = (over - above) / rest if (abs(rest) > sums.floor).all() else above[:0]
        unbounded = estimate(over / under, without, level=sums.level)
    if sums.capacity.unique:
        return LedgerShare(unbounded, over / under, over / under)
    return LedgerShare(unbounded, *extremes(sums.capacity, sums.rows[name].sum(axis=0), sums.rows[of].sum(axis=0)))


_NONE = LedgerShare(Estimate(np.nan, np.nan, np.nan, np.nan), np.nan, np.nan)


def _line(column: Column, sums: _Sums) -> LedgerLine:
    shares = {of: _share(sums, column.name, of) for of in DENOMINATORS}
    amount = float(sums.priced[column.name].sum())
    return LedgerLine(column.name, column.letter, column.words, sums.seconds[column.name], amount, shares)


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
