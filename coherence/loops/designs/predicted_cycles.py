"""Predicts cycles of a design: period, ranges and duty of every loop that switches over a linear plant.

Sampled loops (relays with `enter` and `leave`, rules, tolerances, whole replicas) by the word of their ticks, flows
with kinks (`min`, `max`, `floor`, `a if c else b`, delayed or not) as switching loops in continuous time.  Each
prediction is confirmed by the event-accurate executor of the same design.

    >>> from coherence.model.elaborate import elaborate
    >>> from coherence.language.reading import read_text
    >>> flow = "-0.05 * (1 if delayed(a.x, 30 s) > 0 else -1) / 1 s"
    >>> text = f'coherence: 1\\ncomponents: {{a: {{state: "x\\' = {flow}", from: 0}}}}'
    >>> predicted_cycles(elaborate(read_text(text)))[0].period
    120.0
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.base.clock import record_cut
from coherence.base.watchdog import TimeOverError
from coherence.language.expressions.evaluate import NotExactError
from coherence.loops.cycles.cycle_search_result import Cycle
from coherence.loops.cycles.delayed_runs import Start, start_at
from coherence.loops.cycles.flows import Elements, Input, ShapeError, elements_of
from coherence.loops.cycles.limit_cycles import cycle_from
from coherence.loops.cycles.relay import Array
from coherence.loops.cycles.sampled import SampledCycle, sampled_cycle
from coherence.loops.designs.confirmed_cycles import confirmed
from coherence.loops.designs.feedback_groups import Deadline, structure
from coherence.loops.designs.flow_feedback import flow_answer, flow_groups
from coherence.loops.designs.groups import Group
from coherence.loops.designs.smooth_flows import smooth_search
from coherence.model.crossings import at_crossings
from coherence.model.model import Interval, Model
from coherence.simulate.execute.exact import Choices, MissingValueError
from coherence.simulate.execute.slices import blocked, sliced
from coherence.simulate.execute.starts import corners

MOST_STARTS = 3
CONFIRMING = 0.5  # of the time that is left, for the run that confirms a cycle
NO_LAP = "the run has not become periodic: no lap of whole samples comes back"
TIE = 1e-12  # of an input: nearer thresholds are met
Ranges = tuple[tuple[str, float, float], ...]


@dataclass(frozen=True)
class CycleReading:
    """What one part of a design does from its own start.

    `verdict`: "cycle", "none" (it comes to rest) or "undecided"; `period` in s; `ranges`: (signal, lowest, highest)
    in base units; `duty`: share of the time on, of the first loop that moves; `multiplier`: what is left of a
    deviation after a period (None: not computed); `confirmed`: the executor has run and agrees.
    """

    loop: str
    verdict: str
    period: float | None = None
    ranges: Ranges = ()
    duty: float | None = None
    multiplier: float | None = None
    method: str = ""
    reason: str = ""
    confirmed: bool = False

    @property
    def attracts(self) -> bool:
        return self.multiplier is not None and self.multiplier < 1 - 1e-9

    def render_line(self) -> str:
        """Renders the reading on one line."""
        if self.verdict != "cycle" or self.period is None:
            verdict = "no cycle" if self.verdict == "none" else "undecided"
            return f"{self.loop}: {verdict}" + (f": {self.reason}" if self.reason else "")
        moves = ", ".join(f"{path} {low:.6g} to {high:.6g}" for path, low, high in self.ranges if high > low)
        share = f", on {100 * self.duty:.4g} % of the time" if self.duty is not None else ""
        checked = "confirmed by execution" if self.confirmed else f"not confirmed by execution: {self.reason}"
        return f"{self.loop}: period {self.period:.6g} s, {moves}{share} ({self.method}; {checked})"


def predicted_cycles(model: Model, *, choices: Mapping[str, Fraction] | None = None) -> tuple[CycleReading, ...]:
    """Returns one reading per group of loops, and per set of flows that feed back with kinks;
    one more per start that differs.

    `choices`: values of what the design leaves open (default: the ends of its ranges).
    """
    return tuple(_readings(model, choices or {}, Deadline(math.inf)))


def _readings(model: Model, choices: Mapping[str, Fraction], deadline: Deadline) -> Iterator[CycleReading]:
    for group in structure(model).groups:
        yield from _of_group(group, choices, deadline)
    whole = at_crossings(model)
    for part in flow_groups(whole):
        yield from cycles_of_flows(whole, part, choices, deadline)


def predicted_within(model: Model, seconds: float) -> tuple[CycleReading, ...]:
    """Returns the predicted cycles that are reached in so many seconds of the processor, and that others are not."""
    known: list[CycleReading] = []
    deadline = Deadline(seconds)
    try:
        with deadline.ending():
            for reading in _readings(model, {}, deadline):
                known.append(reading)  # noqa: PERF402  (what is known stays, where the next one takes too long)
    except TimeOverError:
        others = "the other loops" if known else "all loops"
        known.append(CycleReading(others, "undecided", reason="the time limit was reached"))
    return tuple(known)


def starts(model: Model, chosen: Mapping[str, Fraction]) -> list[dict[str, Fraction]]:
    """Returns values of every state, command, constant and input, for the first few ends of what is open.

    Raises MissingValueError.
    """
    for path in model.inputs:
        if path not in chosen:
            raise MissingValueError(path)
    corner_values = []
    for corner in corners(model):
        given = {**corner.values, **chosen}
        values = {path: given[path] for path in model.inputs}
        for table in (model.states, model.commands):
            values.update({path: _level(path, signal.initial, given) for path, signal in table.items()})
        values.update({path: _level(path, constant.range, given) for path, constant in model.constants.items()})
        if values not in corner_values:
            corner_values.append(values)
    return corner_values[:MOST_STARTS]


def _level(path: str, within: Interval, given: Mapping[str, Fraction]) -> Fraction:
    if path in given:
        return Fraction(given[path])
    if within.low is None:
        raise MissingValueError(path)
    return within.low


def _of_group(group: Group, chosen: Mapping[str, Fraction], deadline: Deadline) -> Iterator[CycleReading]:
    name = ", ".join(group.names)
    missing = blocked(group.model, tuple(loop.signal for loop in group.loops if loop.signal))
    if missing:
        yield CycleReading(name, "undecided", reason=f"needs {missing}")
        return
    try:
        readings: list[CycleReading] = []
        for values in starts(group.model, chosen):
            reading = _sampled(group.model, name, values, deadline)
            if not any(_alike(reading, other) for other in readings):
                readings.append(reading)
        yield from readings
    except MissingValueError as error:
        yield CycleReading(name, "undecided", reason=f"needs {error}")
    except (NotExactError, np.linalg.LinAlgError) as error:
        yield CycleReading(name, "undecided", reason=f"no exact method: {error}")


def _alike(reading: CycleReading, other: CycleReading) -> bool:
    if reading.verdict != other.verdict or reading.period != other.period:
        return False
    pairs = zip(reading.ranges, other.ranges, strict=True)
    return all(max(abs(a[1] - b[1]), abs(a[2] - b[2])) <= 1e-9 * (1 + abs(a[1]) + abs(a[2])) for a, b in pairs)


def _sampled(model: Model, name: str, values: Mapping[str, Fraction], deadline: Deadline) -> CycleReading:
    cycle = sampled_cycle(model, values)
    if cycle is None:
        return CycleReading(name, "undecided", reason=NO_LAP)
    ranges = tuple((path, low, high) for path, (low, high) in cycle.ranges.items())
    if cycle.rests:
        return CycleReading(name, "none", ranges=ranges, method=cycle.method, reason="it comes to rest")
    reading = CycleReading(
        name, "cycle", float(cycle.period), ranges, _duty(model, cycle), cycle.multiplier, cycle.method
    )
    return _confirmed(model, reading, values, cycle.period, cycle.start, deadline)


def _judged(reading: CycleReading, agrees: bool | None, why: str) -> CycleReading:
    """Returns the reading with what the executor says: a prediction that it contradicts is undecided."""
    if agrees is None or agrees:
        return replace(reading, confirmed=bool(agrees), reason=why)
    period = f"{reading.period:.6g} s" if reading.period else ""
    return CycleReading(reading.loop, "undecided", reason=f"{reading.method} gives a period of {period}, but {why}")


def _duty(model: Model, cycle: SampledCycle) -> float | None:
    """Returns the duty of the first loop that writes something that moves, or is a relay that switches."""
    for loop in model.loops:
        low, high = cycle.ranges.get(loop.signal, (0.0, 0.0))
        if high > low or (loop.relay and 0 < cycle.duty[loop.name] < 1):
            return cycle.duty[loop.name]
    return None


def cycles_of_flows(
    model: Model, states: Sequence[str], chosen: Mapping[str, Fraction], deadline: Deadline
) -> Iterator[CycleReading]:
    """Yields the reading of flows in feedback that have a kink."""
    part, name = sliced(model, states), ", ".join(states)
    components = {path.rsplit(".", 1)[0] for path in part.states}
    missing = next((gap.needs for gap in model.gaps if gap.of in components), "")
    if missing:
        yield CycleReading(name, "undecided", reason=f"needs {missing}")
        return
    try:
        for values in starts(part, chosen)[:1]:
            try:
                elements = elements_of(part, states, values)
            except ShapeError as error:
                switching = any(state.switch is not None for state in part.states.values())
                undecided = CycleReading(name, "undecided", reason=f"no exact method: {error}")
                yield undecided if switching else _smooth(part, states, values, deadline)
                continue
            if any(_bends(element) for element in elements.system.elements):
                yield _switching(part, name, elements, values, deadline)
    except MissingValueError as error:
        yield CycleReading(name, "undecided", reason=f"needs {error}")
    except (NotExactError, np.linalg.LinAlgError) as error:
        yield CycleReading(name, "undecided", reason=f"no exact method: {error}")


def _smooth(model: Model, states: Sequence[str], values: Mapping[str, Fraction], deadline: Deadline) -> CycleReading:
    """Returns what flows that are no switching loop come to from their start."""
    name, method = ", ".join(states), "the run of the design's own start"
    answer = smooth_search(model, states, values, scale=_scale(model, states))
    cycle = next(iter(answer.attracting), None)
    if cycle is None:
        return CycleReading(name, "undecided", reason=answer.reason.split(": ", 1)[-1], method=method)
    rows = zip(states, cycle.lowest, cycle.highest, strict=True)
    reading = CycleReading(name, "cycle", cycle.period, tuple(rows), None, cycle.multiplier, cycle.method)
    return _executed(model, reading, values, deadline)


def _scale(model: Model, states: Sequence[str]) -> float:
    """Returns seconds in which the states move: of the slowest swing at an equilibrium; 0 where none is known."""
    periods = [point.period for point in flow_answer(model, states).points if point.period]
    return max(periods, default=0.0) / math.tau


def _bends(element: Any) -> bool:
    return len(getattr(element, "levels", getattr(element, "slopes", ()))) > 1


def _switching(
    model: Model, name: str, elements: Elements, values: Mapping[str, Fraction], deadline: Deadline
) -> CycleReading:
    x = np.array([float(values[path]) for path in elements.states])
    first, *others = {start.seen: start for start in (_beside(elements, x, -1), _beside(elements, x, 1))}.values()
    readings = [_from(model, name, elements, values, start, deadline) for start in (first, *others)]
    if len(readings) == 1 or all(_alike(readings[0], other) for other in readings[1:]):
        return readings[0]
    agreed = [reading for reading in readings if reading.confirmed]  # a start on a threshold: execution knows its side
    return agreed[0] if agreed else CycleReading(name, "undecided", reason="it starts on a threshold")


def _beside(elements: Elements, x: Array, side: int) -> Start:
    """Returns the start at rest in x; an input on a threshold counts as below (`side` -1) or above it (1)."""
    start = start_at(elements.system, x)
    inputs = elements.system.matrices[2] @ x
    seen = tuple(
        element.level(float(y) + side * TIE * (1 + abs(float(y))), above=above)
        for element, y, above in zip(elements.system.elements, inputs, elements.above, strict=True)
    )
    return Start(start.z, seen, seen)


def _from(
    model: Model, name: str, elements: Elements, values: Mapping[str, Fraction], start: Start, deadline: Deadline
) -> CycleReading:
    answer = cycle_from(elements.system, start)
    cycle = next(iter(answer.attracting), None)
    if cycle is None:
        why = "stays on a cycle that does not attract" if answer.cycles else answer.reason.split(": ", 1)[-1]
        verdict = "undecided" if answer.cycles else answer.verdict
        return CycleReading(name, verdict, reason=why, method="the run of the design's own start")
    duty = next((cycle.duty[k] for k, e in enumerate(elements.system.elements) if _bends(e)), None)
    ranges = _seen(elements, cycle)
    reading = CycleReading(name, "cycle", cycle.period, ranges, duty, cycle.multiplier, cycle.method)
    return _executed(model, reading, values, deadline)


def _executed(model: Model, cycle: CycleReading, values: Mapping[str, Fraction], deadline: Deadline) -> CycleReading:
    """Returns a cycle of flows with what the executor says of it."""
    whole = Fraction(cycle.period or 0).limit_denominator(10**9)
    return _confirmed(model, cycle, values, whole, 8 * whole, deadline)


def _confirmed(
    model: Model, cycle: CycleReading, values: Mapping[str, Fraction], period: Fraction, start: Fraction,
    deadline: Deadline,
) -> CycleReading:  # fmt: skip
    """Returns a cycle with what the executor says of it; it stands, not confirmed, where that takes too long."""
    ranges = {path: (low, high) for path, low, high in cycle.ranges}
    try:
        with deadline.share(CONFIRMING).ending():
            agrees, why = confirmed(
                model, Choices(dict(values)), period, ranges, start=start, multiplier=cycle.multiplier
            )
    except TimeOverError:
        record_cut()
        agrees, why = None, "not executed: the time limit was reached"
    return _judged(cycle, agrees, why)


def _seen(elements: Elements, cycle: Cycle) -> Ranges:
    """Returns ranges of the states that some element sees."""
    by_path: dict[str, tuple[float, float]] = {}
    for seen, low, high in zip(elements.inputs, cycle.lowest, cycle.highest, strict=True):
        if len(seen) == 1:
            by_path[_path(seen)] = low, high
    return tuple((path, *ends) for path, ends in by_path.items())


def _path(seen: Input) -> str:
    return seen[0][0][0]
