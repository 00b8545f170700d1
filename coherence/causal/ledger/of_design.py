"""Books the ledger of a design with its telemetry or a log of its devices, and names what is missing for it.

A signal `<tier>.<state>` is devices of that tier in that state; states without a signal are counted as `unlabelled`
as far as the others leave time over, and that is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coherence.base.errors import InputError
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.loss_expression import LossExpression
from coherence.causal.ledger.capacity import Fleet, capacity
from coherence.causal.ledger.capacity_design import StatedFleet, fleet_of
from coherence.causal.ledger.log import read_log, times_of_log
from coherence.causal.ledger.loss_ledger import LossLedger, ledger
from coherence.causal.ledger.of_series import signals, times_of_series
from coherence.causal.ledger.states import SLACK, UNLABELLED, USEFUL, columns, losses
from coherence.causal.ledger.times import ROUNDING, Times, unbalanced, with_rest_unlabelled
from coherence.language.design import Design
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload

SUMS = ("held", "idle")  # signals of a tier that add up several states: for the audit, never for the ledger
OTHERS = ("count", "work", *SUMS)  # further signals of a tier
WORK = "work units"
LOST, TEXT = "L_struct", "C_nom - C_eff"  # without and with what is idle for want of demand or not structural


@dataclass(frozen=True)
class Booked:
    """`ledger`, or the reasons why there is none (`refused`); `unit`: of work, such as `token`."""

    stated: StatedFleet
    unit: str
    series: Series | None  # what the times are from; None for a log
    ledger: LossLedger | None = None
    refused: tuple[str, ...] = ()

    @property
    def fleet(self) -> Fleet | None:
        """The fleet, where the design states it."""
        return self.stated.fleet


def booked(
    design: Design, series: Series, *, log: str | None = None, window: tuple[float, float] | None = None,
    graph: CausalGraph | None = None, whole: bool = True,
) -> Booked | None:  # fmt: skip
    """The ledger of a log or of telemetry; None where neither speaks of what devices do.

    `graph`: signals of the design, which are no misspelt states; `whole`: False where the series is only a part of the
    telemetry.  Raises InputError for a log that is wrong.
    """
    states = state_signals(design, series)
    if log is None and not states:
        return None
    stated = fleet_of(design)
    unit = unit_of(design)
    if stated.fleet is None:
        return Booked(stated, unit, None, refused=tuple(f"write {m.key}: {m.words}" for m in stated.missing))
    if log is not None:
        stays = read_log(log)
        low, high = window or (-math.inf, math.inf)
        if not any(stay.start < high and stay.end > low for stay in stays):
            return Booked(stated, unit, None, refused=(f"no interval of the log lies in {low:g}..{high:g} s",))
        start, end = (edge if math.isfinite(edge) else None for edge in (low, high))
        return _closed(stated, unit, None, times_of_log(stated.fleet, stays, start=start, end=end, source=log))
    if not whole:
        return Booked(
            stated, unit, None, refused=("telemetry that is streamed is not booked: name a log with --ledger",)
        )
    columns = series.of(_spoken(stated.fleet, series, graph))
    try:
        times = times_of_series(stated.fleet, columns)
        return _closed(stated, unit, columns, with_rest_unlabelled(times) if unbalanced(times) else times)
    except InputError as error:
        return Booked(stated, unit, columns, refused=render_problems(error))


def render_problems(error: InputError) -> tuple[str, ...]:
    """Each problem as one line."""
    return tuple(
        f"{problem.message}; {problem.remedy}" if problem.remedy else problem.message for problem in error.problems
    )


def state_signals(design: Design, series: Series, *, others: bool = False) -> tuple[str, ...]:
    """The signals that say how many devices of a tier are in a state; `others`: and what else the ledger reads."""
    known = {*(column.name for column in columns()), *(OTHERS if others else ())}
    parts = ((name, name.split(".")) for name in series.names)
    return tuple(name for name, part in parts if len(part) > 1 and part[0] in design.tiers and part[1] in known)


def unit_of(design: Design) -> str:
    """The unit of work, where all workloads count in one."""
    tags = {tag for one in design.workload.values() for tag in _tags(one)}
    return tags.pop() if len(tags) == 1 else WORK


def _tags(one: Workload) -> Iterator[str]:
    if isinstance(one.rate, Quantity):
        yield from (name for name, power in one.rate.dimension.tags.powers if power == 1)


def _spoken(fleet: Fleet, series: Series, graph: CausalGraph | None) -> list[str]:
    """Signals for the ledger, and signals of a tier that nobody knows, so that they are told."""
    mine, known = set(signals(fleet)), set(graph.nodes) if graph is not None else set()
    sums = {f"{device}.{word}" for device in fleet.devices for word in SUMS}
    return [
        name for name in series.names
        if name in mine or (name.split(".")[0] in fleet.devices and name not in known and name not in sums)
    ]  # fmt: skip


def _closed(stated: StatedFleet, unit: str, series: Series | None, times: Times) -> Booked:
    try:
        return Booked(stated, unit, series, ledger(capacity(times.fleet), times))
    except InputError as error:
        return Booked(stated, unit, series, refused=render_problems(error))


def lost_time(given: LossLedger, series: Series, unit: str = WORK, *, whole: bool = False) -> LossExpression | None:
    """L_struct at each time, in work units per second, as an exact sum over state signals; `whole`: C_nom - C_eff.

    Idle time for want of demand is what the other states leave over: a cause that takes less of it saves devices, not
    work, so that it is no part of what is explained unless it is asked for; no more are states that are not structural
    or unexplained.  None where no other state has a signal.  A second of d in a state that is not
    useful loses y[d], one of useful work of class k what it falls short of y[d]; devices that no signal speaks of are
    `<device>.unlabelled`, a signal of its own.
    """
    fleet, worth, short = given.capacity.fleet, given.capacity.y, given.capacity.reduced
    letters = {loss.letter for loss in losses() if not loss.structural}
    states = [column.name for column in columns() if column.letter in letters or column.name == SLACK]
    beyond = {f"{device}.{state}" for device in fleet.devices for state in states}
    weights: dict[str, float] = {}
    beside: dict[str, Floats] = {}
    for d, device in enumerate(fleet.devices):
        mine = dict(_weights(fleet, device, float(worth[d]), short[d].tolist(), series))
        mine |= {name: 0.0 for name in mine if not whole and name in beyond}
        rest = fleet.count[d] - sum((series[name] for name in mine), np.zeros(len(series)))
        if np.nanmax(np.abs(rest), initial=0.0) > ROUNDING * fleet.count[d]:
            name = f"{device}.{UNLABELLED}"
            beside[name] = rest + (series[name] if name in mine else 0.0)
            mine[name] = float(worth[d]) if whole else 0.0
        beside = {
            name: series[name] for name in mine if name in series and np.nanmax(series[name]) == np.nanmin(series[name])
        } | beside
        weights |= {name: weight for name, weight in mine.items() if abs(weight) > ROUNDING * float(worth.max())}
    if not weights:
        return None
    values = sum((w * (beside[n] if n in beside else series[n]) for n, w in weights.items()), np.zeros(len(series)))
    terms = [Arithmetic("*", Number(Fraction(weight)), Name(name)) for name, weight in weights.items()]
    tree: Tree = terms[0]
    for term in terms[1:]:
        tree = Arithmetic("+", tree, term)
    name = TEXT if whole else LOST
    equation = Equation(name, tuple((name, 0) for name in weights), exact=tuple(weights.values()))
    return LossExpression(
        name, values, tree, equation, {name: beside[name] for name in weights if name in beside}, f"{unit}/s"
    )


def _weights(
    fleet: Fleet, device: str, worth: float, short: list[float], series: Series
) -> Iterator[tuple[str, float]]:
    """Each state signal of a device that is there, and what one device in it loses (work units per second)."""
    for column in columns():
        if column.name == USEFUL:
            named = {f"{device}.{USEFUL}.{k}": loss for k, loss in zip(fleet.classes, short, strict=True)}
            named |= {f"{device}.{USEFUL}": short[0]} if len(fleet.classes) == 1 else {}
        else:
            named = {f"{device}.{column.name}": worth}
        yield from ((name, loss) for name, loss in named.items() if name in series)
