"""Lays out the state of a transition system, and what names mean in it (model.md rule 14).

A mode is the position in the schedule, the mode of every loop whose mode matters, the counters of
what loops wait for, and the values of commands that are told apart (`discrete`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.tree import Call, Name, Tree, walk
from coherence.model.model import Interval, Model, SampledLoop
from coherence.simulate.execute.schedules import PhasePattern
from coherence.simulate.execute.slices import signals_in
from coherence.verify.systems.bent_flows import bent_flows, compares_curves
from coherence.verify.systems.cases import (
    AffineCase,
    Fork,
    NotLinearError,
    Symbols,
    exactly,
    few,
    forks,
    numbers,
    winners,
)
from coherence.verify.systems.registers import Moment, RegisterPlan, calls_in, plan, seconds_of
from coherence.verify.systems.symbolic_instant import LESS, InstantPath, commanded_cell, whole
from coherence.verify.systems.symbolic_loop import Actor
from coherence.verify.systems.terms import TRUE, Term, add, constant, guard, unit

BEFORE = "before the run"


@dataclass(frozen=True, slots=True)
class ModelReading:
    """How closely a proof reads the model.

    `discrete`: commands whose values are told apart, with the values they start from.  `windows`: hold windows
    as they are; otherwise a held value is any between what is wanted and what is commanded (more runs).
    """

    discrete: tuple[tuple[str, tuple[Fraction, ...]], ...] = ()
    windows: bool = True


@dataclass(frozen=True, slots=True)
class SystemMode:
    """Where in the schedule a state is, and its modes, counters and told-apart values in the order of the encoder."""

    first: bool
    position: int
    memory: tuple[Fraction, ...]


class StateSpace:
    """The variables, registers and modes of one model under one schedule, and what a reader sees of them.

    `free`: loops of other parts of the design, whose modes may be anything at any time; `loose`: signals of other
    parts, constants here, that may have another value of their range whenever they are looked at.
    """

    def __init__(  # noqa: PLR0913
        self,
        model: Model,
        schedule: PhasePattern,
        condition: Tree | None,
        *,
        wanted: bool = True,
        reading: ModelReading = ModelReading(),
        free: frozenset[str] = frozenset(),
        loose: frozenset[str] = frozenset(),
        deadline: float = float("inf"),
    ) -> None:
        self.model, self.condition, self.wanted, self.reading, self.free = model, condition, wanted, reading, free
        self.deadline, self.loose, self.phases = deadline, loose, schedule.phases
        _refuse(model, condition, free)
        self.plan = self._planned(model, schedule)
        self.discrete = frozenset(path for path, _ in reading.discrete)
        self.fresh_names: dict[str, str] = {}
        self.looks: dict[str, Interval] = {}
        every = frozenset(self._discrete_cells())
        self.actors = {
            loop.name: Actor(model, loop, windows=reading.windows, fresh=self.fresh, discrete=every)
            for loop in model.loops
        }
        used = {n.path for t in _trees(model, condition) for n in walk(t) if isinstance(n, Name)}
        self.varying = [c.path for c in model.constants.values() if c.varies and c.path in used - loose]
        self.inputs = [path for path in model.inputs if path in used]
        fixed = [p for p, c in model.constants.items() if not c.range.exact and not c.varies and p in used]
        self.starts = {**self._signals(fixed), **self._registers()}
        self.variables = tuple(name for name in self.starts if name not in every)
        self.remembered = tuple(loop.name for loop in model.loops if loop.relay or loop.name in used)
        begun = [self._begun(loop) for loop in model.loops if self._previous(loop)]
        self.counters = (*begun, *(name for actor in self.actors.values() for name in actor.counters()))
        self.values = tuple(name for name in self.starts if name in every)
        self.bent = bent_flows(model)
        self.flowing = tuple(p for p, s in model.states.items() if s.flow is not None)

    def _planned(self, model: Model, schedule: PhasePattern) -> RegisterPlan:
        return plan(model, schedule, self.loose)

    def _discrete_cells(self) -> Iterator[str]:
        for path in self.discrete:
            yield from (path, commanded_cell(path, self.model))
            if path in self.plan.landing:
                yield from self.plan.landing[path].cells

    def fresh(self, key: str) -> str:
        """Returns an unknown that is new in every step: the same for the same key."""
        return self.fresh_names.setdefault(key, f"any {len(self.fresh_names) + 1}")

    # -- what a state consists of ---------------------------------------------------------------

    def _signals(self, fixed: list[str]) -> dict[str, Interval | Tree | Term]:
        starts: dict[str, Interval | Tree | Term] = {p: s.initial for p, s in self.model.states.items()}
        starts.update({p: c.initial for p, c in self.model.commands.items()})
        starts.update({p: self.model.constants[p].range for p in fixed})
        return starts

    def _registers(self) -> dict[str, Interval | Tree | Term]:
        starts: dict[str, Interval | Tree | Term] = {}
        for signal, queue in self.plan.landing.items():
            starts.update(dict.fromkeys((commanded_cell(signal, self.model), *queue.cells), unit(signal)))
        for tree, queue in (*self.plan.sampled.items(), *self.plan.after.items()):
            starts.update(dict.fromkeys(queue.cells, tree))
        for loop in self.model.loops:
            for tree in self._previous(loop):
                starts[self._before(loop, tree)] = tree
        for actor in self.actors.values():
            starts.update(actor.registers())
        return starts

    def _previous(self, loop: SampledLoop) -> tuple[Tree, ...]:
        calls = (c for tree in loop.trees for c in calls_in(tree, self.model) if c.function == "previous")
        return tuple(dict.fromkeys(call.arguments[0] for call in calls))

    @staticmethod
    def _begun(loop: SampledLoop) -> str:
        return f"{loop.name}:looked"

    def _before(self, loop: SampledLoop, tree: Tree) -> str:
        return f"{loop.name} previous {self._previous(loop).index(tree) + 1}"

    # -- names ----------------------------------------------------------------------------------

    def symbols(
        self, way: InstantPath, moment: Moment | None, loop: SampledLoop | None = None, who: str = BEFORE
    ) -> Symbols:
        """Returns what names mean now; `moment`: when (None: before the run), `loop` or `who`: which reader looks."""
        cache: dict[str, list[AffineCase]] = {}
        reader = loop.name if loop is not None else who

        def number(path: str) -> list[AffineCase]:
            if path not in cache:
                cache[path] = self._number(path, way, reader, view)
            return cache[path]

        view = Symbols(
            number,
            lambda path: self._truth(path, way, view),
            lambda call: self._past(call, way, moment, loop, view),
            whole=lambda function, term: whole(function, term, self.fresh),
        )
        return view

    def _number(self, path: str, way: InstantPath, who: str, symbols: Symbols) -> list[AffineCase]:
        if path in way.memory and path in self.values:
            return exactly(way.cells.get(path) or constant(way.memory[path]))
        if path in self.starts or path in self.varying or path in self.inputs:
            return exactly(way.cell(path))
        if path in self.loose:
            return self._look(path, who)
        if path in self.model.outputs:
            return numbers(self.model.outputs[path], symbols)
        known = self.model.constants.get(path)
        if known is not None and known.range.low is not None:
            return exactly(constant(known.range.low))
        raise NotLinearError(f"{path} has no value in a proof")

    def _look(self, path: str, who: str) -> list[AffineCase]:
        """Returns a value of another part's signal; the same one only for one reader at one instant."""
        name, span = self.fresh(f"{path} for {who}"), self.model.constants[path].range
        self.looks[name] = span
        seen = guard(inside(unit(name), span)) if who != BEFORE else TRUE
        return [AffineCase(seen, unit(name))] if seen is not None else []

    def _truth(self, path: str, way: InstantPath, symbols: Symbols) -> list[Fork]:
        if path in self.free:
            return [Fork(TRUE, False), Fork(TRUE, True)]
        if path in way.memory and path in self.actors:
            return [Fork(TRUE, bool(way.memory[path]))]
        if path in self.model.outputs:
            return forks(self.model.outputs[path], symbols)
        raise NotLinearError(f"{path} is not a condition")

    def _past(
        self, call: Call, way: InstantPath, moment: Moment | None, loop: SampledLoop | None, symbols: Symbols
    ) -> list[AffineCase]:
        inner = call.arguments[0]
        if moment is None:  # before the run everything has been as it is at its beginning
            return numbers(inner, symbols)
        if call.function == "previous":
            if loop is None:
                raise NotLinearError("previous() outside a loop")
            return exactly(way.cell(self._before(loop, inner)))
        back = self._back(call, moment)
        if not back:
            return numbers(inner, symbols)
        if call.function in ("delayed", "sampled"):
            return exactly(way.cell(self.plan.delayed(inner, moment.time, back)))
        return self._window(call, way, moment, back, numbers(inner, symbols))

    def _back(self, call: Call, moment: Moment) -> Fraction:
        seconds = seconds_of(call, self.model)
        return moment.time % seconds if call.function == "sampled" and seconds else seconds

    def _window(
        self, call: Call, way: InstantPath, moment: Moment, window: Fraction, here: list[AffineCase]
    ) -> list[AffineCase]:
        pieces = self.plan.pieces(call.arguments[0], moment.time, window)
        if call.function == "mean_over":
            total = constant(0)
            for length, cell in pieces:
                total = add(total, way.cell(cell), length / window)
            return exactly(total)
        older = [way.cell(cell) for _, cell in pieces]
        return few(
            AffineCase(g, w) for case in here for g, w in winners([case.value, *older], largest=True, start=case.guard)
        )


def inside(term: Term, interval: Interval) -> Iterator[tuple[Term, str]]:
    """Yields rows that put a term into an interval."""
    if interval.low is not None and interval.low == interval.high:
        yield add(term, constant(-interval.low)), "=="
        return
    if interval.low is not None:
        yield add(constant(interval.low), term, LESS), "<="
    if interval.high is not None:
        yield add(term, constant(-interval.high)), "<="


def _trees(model: Model, condition: Tree | None) -> list[Tree]:
    trees = [t for s in model.states.values() for t in (s.next, s.flow) if t is not None] + list(model.outputs.values())
    trees += [t for loop in model.loops for t in loop.trees]
    return trees + ([condition] if condition is not None else [])


def _refuse(model: Model, condition: Tree | None, free: frozenset[str]) -> None:
    """Raises NotLinearError for what the encoding does not carry."""
    flowing = {path for path, state in model.states.items() if state.flow is not None}
    varying = {path for path, c in model.constants.items() if c.varies} | set(model.inputs)  # loose ones too
    bent = bent_flows(model)
    for state in model.states.values():
        if state.flow is not None:
            reads = signals_in(model, state.flow)
            others = flowing - {state.path} if state.path in bent else flowing
            if reads & (others | varying | free) or next(calls_in(state.flow, model), None) is not None:
                raise NotLinearError(f"the flow of {state.path} is not constant between instants")
        elif state.next is None or state.step is None:
            raise NotLinearError(f"{state.path} has no `next` with a step")
        elif any(call.function == "previous" for call in calls_in(state.next, model)):
            raise NotLinearError(f"previous() in the mathematics of {state.path}")
    if condition is not None and next(calls_in(condition, model), None) is not None:
        raise NotLinearError("the promise reads the past")
    if condition is not None and compares_curves(model, condition):
        raise NotLinearError("the promise compares several states of which one flows in a curve")
    if condition is not None and flowing & signals_in(model, condition):
        stops = [p for p in flowing & signals_in(model, condition) if model.states[p].range != Interval(None, None)]
        if stops and len(flowing & signals_in(model, condition)) > 1:
            raise NotLinearError("the promise reads several states that flow, with stops between the instants")
