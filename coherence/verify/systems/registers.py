"""Plans the registers of a proof: for delayed, sampled and averaged values and for commands on their way.

The instants of one hyperperiod are known, so every read of the past is a read of a fixed place in a
queue.  A queue begins filled with the value before 0 (model.md rule 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Call, Name, Tree, children
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.lookback import duration_of
from coherence.simulate.execute.schedules import PhasePattern
from coherence.simulate.execute.slices import signals_in
from coherence.verify.systems.cases import PAST, NotLinearError

MOST_REGISTERS = 40


@dataclass(frozen=True, slots=True)
class Moment:
    """One time of the hyperperiod and what is due at it."""

    time: Fraction
    loops: tuple[SampledLoop, ...]
    steps: tuple[str, ...]
    landings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Queue:
    """The last `length` values of a tree (`command`: of what was commanded), written at `times`; newest is 1."""

    name: str
    tree: Tree | None
    times: frozenset[Fraction]
    length: int

    def cell(self, index: int) -> str:
        """Returns the name of the register that holds the value `index` writings ago."""
        return f"{self.name} {index}"

    @property
    def cells(self) -> tuple[str, ...]:
        return tuple(self.cell(k + 1) for k in range(self.length))


@dataclass(frozen=True, slots=True)
class RegisterPlan:
    """Instants of a hyperperiod with their queues: of sampled values, of values after instants, of commands."""

    hyperperiod: Fraction
    moments: tuple[Moment, ...]
    sampled: dict[Tree, Queue]
    after: dict[Tree, Queue]
    landing: dict[str, Queue]
    lands: dict[str, Fraction]

    def delayed(self, tree: Tree, time: Fraction, delay: Fraction) -> str:
        """Returns the register with the sampled value of `delay` seconds before `time`."""
        queue = self.sampled[tree]
        return queue.cell(1 + count(queue.times, self.hyperperiod, time - delay, time))

    def landed(self, signal: str, time: Fraction) -> str:
        """Returns the register with the command that lands at `time`; read before the writings of that time."""
        return self.landing[signal].cell(
            _in_flight(self.landing[signal].times, self.hyperperiod, time, self.lands[signal])
        )

    def pieces(self, tree: Tree, time: Fraction, window: Fraction) -> list[tuple[Fraction, str]]:
        """Returns (seconds, register) of the values in the window that ends at `time`, the newest first."""
        queue = self.after[tree]
        return [
            (length, queue.cell(k)) for k, length in enumerate(_pieces(queue.times, self.hyperperiod, time, window), 1)
        ]


def count(times: Iterable[Fraction], period: Fraction, low: Fraction, high: Fraction) -> int:
    """Returns how many of the times, repeated with the period, lie in (low, high]."""
    return sum(math.floor((high - t) / period) - math.floor((low - t) / period) for t in times)


def _in_flight(times: frozenset[Fraction], period: Fraction, time: Fraction, lands: Fraction) -> int:
    return 1 + count(times, period, time - lands, time) - (time % period in times)


def _pieces(times: Iterable[Fraction], period: Fraction, time: Fraction, window: Fraction) -> Iterator[Fraction]:
    """Yields lengths of the stretches between writings in [time - window, time], the newest first."""
    ordered, end = sorted(times, reverse=True), time
    lap = math.floor(time / period)
    while True:
        for t in ordered:
            at = t + lap * period
            if at >= time:
                continue
            start = max(at, time - window)
            yield end - start
            end = start
            if at <= time - window:
                return
        lap -= 1


def plan(model: Model, schedule: PhasePattern, loose: frozenset[str] = frozenset()) -> RegisterPlan:
    """Returns the instants and queues that a model needs under a schedule.  Raises NotLinearError.

    `loose` signals change at times of their own.
    """
    planner = _Planner(model, schedule, loose)
    planner.read()
    return planner.plan()


class _Planner:
    def __init__(self, model: Model, schedule: PhasePattern, loose: frozenset[str]) -> None:
        self.model, self.schedule, self.period, self.loose = model, schedule, schedule.hyperperiod, loose
        self.sampled: dict[Tree, set[Fraction]] = {}
        self.reads: set[tuple[Tree, Fraction, Fraction]] = set()  # (tree, time, delay)
        self.windows: set[tuple[Tree, Fraction, Fraction]] = set()
        self.lands = late_landings(model)

    def read(self) -> None:
        """Follows every expression to what it reads of the past."""
        todo = [(tree, i.time) for i in self.schedule.instants for loop in i.loops for tree in loop.trees]
        for instant in self.schedule.instants:
            todo += [(t, instant.time) for s in instant.steps if (t := self.model.states[s].next) is not None]
        seen = set()
        while todo:
            tree, time = todo.pop()
            for call in calls_in(tree, self.model):
                if (call, time) not in seen:
                    seen.add((call, time))
                    todo += self._call(call, time)

    def _call(self, call: Call, time: Fraction) -> Iterator[tuple[Tree, Fraction]]:
        inner = call.arguments[0]
        if call.function == "previous":
            yield inner, time
            return
        back = self.back(call, time)
        if call.function in ("mean_over", "max_over"):
            if back:
                self._window(inner, time, back)
            yield inner, time
        elif back:
            lap = seconds_of(call, self.model) if call.function == "sampled" else self.period
            first = Fraction(0) if call.function == "sampled" else (time - back) % self.period
            times = {first + k * lap for k in range(int(self.period / lap))}
            self.sampled.setdefault(inner, set()).update(times)
            self.reads.add((inner, time, back))
            yield from ((inner, t) for t in times)
        else:
            yield inner, time

    def _window(self, inner: Tree, time: Fraction, window: Fraction) -> None:
        moving = {p for p, s in self.model.states.items() if s.flow is not None} | self.loose
        if next(calls_in(inner, self.model), None) is not None or moving & signals_in(self.model, inner):
            raise NotLinearError("a window over what itself reads the past or flows")
        self.windows.add((inner, time, window))

    def back(self, call: Call, time: Fraction) -> Fraction:
        """Returns how long before `time` a call looks."""
        seconds = seconds_of(call, self.model)
        return time % seconds if call.function == "sampled" and seconds else seconds

    def plan(self) -> RegisterPlan:
        """Returns the plan, when everything is read."""
        writes = {s: frozenset(self._writes(s)) for s in self.lands}
        landings = {s: {(t + self.lands[s]) % self.period for t in times} for s, times in writes.items()}
        moments = tuple(self._moments(landings))
        times = frozenset(m.time for m in moments)
        sampled = {tree: frozenset(t) for tree, t in self.sampled.items()}
        register_plan = RegisterPlan(
            self.period,
            moments,
            {
                t: Queue(f"past {n}", t, times_, self._sampled_length(t, times_))
                for n, (t, times_) in enumerate(sampled.items(), 1)
            },
            {
                t: Queue(f"window {n}", t, times, self._window_length(t, times))
                for n, t in enumerate(self._windowed(), 1)
            },
            {
                s: Queue(f"{s} in flight", None, writes[s], self._flight_length(s, writes[s], landings[s]))
                for s in writes
            },
            self.lands,
        )
        registers = sum(
            q.length
            for table in (register_plan.sampled, register_plan.after, register_plan.landing)
            for q in table.values()
        )
        if registers > MOST_REGISTERS:
            raise NotLinearError(f"{registers} values of the past to remember, more than {MOST_REGISTERS}")
        return register_plan

    def _writes(self, signal: str) -> Iterator[Fraction]:
        return (i.time for i in self.schedule.instants if any(loop.signal == signal for loop in i.loops))

    def _moments(self, landings: dict[str, set[Fraction]]) -> Iterator[Moment]:
        due = {i.time: i for i in self.schedule.instants}
        times = {
            *due,
            *(t for each in landings.values() for t in each),
            *(t for ts in self.sampled.values() for t in ts),
        }
        for time in sorted(times):
            here = due.get(time)
            landed = tuple(s for s, each in landings.items() if time in each)
            yield Moment(time, here.loops if here else (), here.steps if here else (), landed)

    def _windowed(self) -> list[Tree]:
        return list(dict.fromkeys(tree for tree, _, _ in sorted(self.windows, key=lambda w: (w[1], w[2], repr(w[0])))))

    def _sampled_length(self, tree: Tree, times: frozenset[Fraction]) -> int:
        return max(1 + count(times, self.period, at - d, at) for t, at, d in self.reads if t == tree)

    def _window_length(self, tree: Tree, times: frozenset[Fraction]) -> int:
        return max(sum(1 for _ in _pieces(times, self.period, at, w)) for t, at, w in self.windows if t == tree)

    def _flight_length(self, signal: str, writes: frozenset[Fraction], landings: set[Fraction]) -> int:
        return max(_in_flight(writes, self.period, t, self.lands[signal]) for t in landings)


def seconds_of(call: Call, model: Model) -> Fraction:
    """Returns the delay, window or period of a call.  Raises NotLinearError."""
    known = {p: c.range.low for p, c in model.constants.items() if c.range.exact and c.range.low is not None}
    try:
        return duration_of(call, known)
    except NotExactError as error:
        raise NotLinearError(str(error)) from None


def late_landings(model: Model) -> dict[str, Fraction]:
    """Returns the landing delay per signal.  Raises NotLinearError where writers of one signal differ."""
    delays: dict[str, Fraction] = {}
    for loop in model.loops:
        if loop.signal and delays.setdefault(loop.signal, loop.lands) != loop.lands:
            raise NotLinearError(f"writers of {loop.signal} with different landing delays")
    return {signal: delay for signal, delay in delays.items() if delay}


def calls_in(tree: Tree, model: Model) -> Iterator[Call]:
    """Yields the outermost reads of the past in a tree, outputs inlined."""
    stack, seen = [tree], set[str]()
    while stack:
        node = stack.pop()
        if isinstance(node, Call) and node.function in PAST:
            yield node
        elif isinstance(node, Name) and node.path in model.outputs and node.path not in seen:
            seen.add(node.path)
            stack.append(model.outputs[node.path])
        else:
            stack += children(node)
