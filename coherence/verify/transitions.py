"""Model -> transition system: what the unbounded prover reads (model.md rule 14).

A mode is the position in the schedule, the mode of every loop whose mode matters, the counters of
what loops wait for, and the values of commands that are told apart (`discrete`).  Loops that decide
at the same instant with equal rank are taken in every order.  Whole numbers are relaxed to reals
unless they are told apart.  Anything that the encoding does not carry raises NotLinearError or
NotCommensurateError, which an engine reports as `undecided`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.expressions.tree import Call, Name, Tree, rename, walk
from coherence.model import Interval, Model, SampledLoop
from coherence.phrases import Promise
from coherence.simulate.slices import signals_in
from coherence.verify.acting import LESS, Actor, Way, clipped, commanded_cell, whole
from coherence.verify.cases import (
    Case,
    Fork,
    NotLinearError,
    Symbols,
    exactly,
    few,
    forks,
    numbers,
    product,
    winners,
)
from coherence.verify.clock import now
from coherence.verify.registers import Moment, Plan, calls_in, plan, seconds_of, trees_of_loop
from coherence.verify.schedules import Schedule
from coherence.verify.systems import Constraint, Edge, Linear, Polyhedron, System
from coherence.verify.terms import TRUE, Guard, Term, add, constant, guard, scaled, substituted, unit

MOST_EDGES, MOST_MODES = 3000, 600
BROKEN, BEFORE = "broken", "before the run"


@dataclass(frozen=True, slots=True)
class Reading:
    """How closely a proof reads the model.

    `discrete`: commands whose values are told apart, with the values they start from.  `windows`: hold windows
    as they are; otherwise a held value is any between what is wanted and what is commanded (more runs).
    """

    discrete: tuple[tuple[str, tuple[Fraction, ...]], ...] = ()
    windows: bool = True


@dataclass(frozen=True, slots=True)
class Mode:
    """Where in the schedule a state is, and its modes, counters and told-apart values in the order of the encoder."""

    first: bool
    position: int
    memory: tuple[Fraction, ...]


class Encoder:
    """Encodes one model under one schedule for one promise; what the promise reads is part of the state.

    `free`: loops of other parts of the design, whose modes may be anything at any time; `loose`: signals of other
    parts, constants here, that may have another value of their range whenever they are looked at.
    """

    def __init__(  # noqa: PLR0913
        self,
        model: Model,
        schedule: Schedule,
        condition: Tree | None,
        *,
        wanted: bool = True,
        reading: Reading = Reading(),
        free: frozenset[str] = frozenset(),
        loose: frozenset[str] = frozenset(),
        deadline: float = float("inf"),
    ) -> None:
        self.model, self.condition, self.wanted, self.reading, self.free = model, condition, wanted, reading, free
        self.deadline, self.loose = deadline, loose
        _refuse(model, condition)
        self.plan: Plan = plan(model, schedule, loose)
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
        self.flowing = tuple(p for p, s in model.states.items() if s.flow is not None)

    def _discrete_cells(self) -> Iterator[str]:
        for path in self.discrete:
            yield from (path, commanded_cell(path, self.model))
            if path in self.plan.landing:
                yield from self.plan.landing[path].cells

    def fresh(self, key: str) -> str:
        """An unknown that is new in every step: the same for the same key."""
        return self.fresh_names.setdefault(key, f"any {len(self.fresh_names) + 1}")

    # -- what a state consists of ---------------------------------------------------------------

    def _signals(self, fixed: list[str]) -> dict[str, Interval | Tree | Term]:
        made: dict[str, Interval | Tree | Term] = {p: s.initial for p, s in self.model.states.items()}
        made.update({p: c.initial for p, c in self.model.commands.items()})
        made.update({p: self.model.constants[p].range for p in fixed})
        return made

    def _registers(self) -> dict[str, Interval | Tree | Term]:
        made: dict[str, Interval | Tree | Term] = {}
        for signal, queue in self.plan.landing.items():
            made.update(dict.fromkeys((commanded_cell(signal, self.model), *queue.cells), unit(signal)))
        for tree, queue in (*self.plan.sampled.items(), *self.plan.after.items()):
            made.update(dict.fromkeys(queue.cells, tree))
        for loop in self.model.loops:
            for tree in self._previous(loop):
                made[self._before(loop, tree)] = tree
        for actor in self.actors.values():
            made.update(actor.registers())
        return made

    def _previous(self, loop: SampledLoop) -> tuple[Tree, ...]:
        calls = (c for tree in trees_of_loop(loop) for c in calls_in(tree, self.model) if c.function == "previous")
        return tuple(dict.fromkeys(call.arguments[0] for call in calls))

    @staticmethod
    def _begun(loop: SampledLoop) -> str:
        return f"{loop.name}:looked"

    def _before(self, loop: SampledLoop, tree: Tree) -> str:
        return f"{loop.name} previous {self._previous(loop).index(tree) + 1}"

    # -- names ----------------------------------------------------------------------------------

    def symbols(self, way: Way, moment: Moment | None, loop: SampledLoop | None = None, who: str = BEFORE) -> Symbols:
        """Names under what holds now; `moment`: when (None: before the run), `loop` or `who`: which reader looks."""
        cache: dict[str, list[Case]] = {}
        reader = loop.name if loop is not None else who

        def number(path: str) -> list[Case]:
            if path not in cache:
                cache[path] = self._number(path, way, reader, made)
            return cache[path]

        made = Symbols(
            number,
            lambda path: self._truth(path, way, made),
            lambda call: self._past(call, way, moment, loop, made),
            whole=lambda function, term: whole(function, term, self.fresh),
        )
        return made

    def _number(self, path: str, way: Way, who: str, symbols: Symbols) -> list[Case]:
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

    def _look(self, path: str, who: str) -> list[Case]:
        """A value of another part's signal; the same one only for one reader at one instant."""
        name, span = self.fresh(f"{path} for {who}"), self.model.constants[path].range
        self.looks[name] = span
        seen = guard(_inside(unit(name), span)) if who != BEFORE else TRUE
        return [Case(seen, unit(name))] if seen is not None else []

    def _truth(self, path: str, way: Way, symbols: Symbols) -> list[Fork]:
        if path in self.free:
            return [Fork(TRUE, False), Fork(TRUE, True)]
        if path in way.memory and path in self.actors:
            return [Fork(TRUE, bool(way.memory[path]))]
        if path in self.model.outputs:
            return forks(self.model.outputs[path], symbols)
        raise NotLinearError(f"{path} is not a condition")

    def _past(
        self, call: Call, way: Way, moment: Moment | None, loop: SampledLoop | None, symbols: Symbols
    ) -> list[Case]:
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

    def _window(self, call: Call, way: Way, moment: Moment, window: Fraction, here: list[Case]) -> list[Case]:
        pieces = self.plan.pieces(call.arguments[0], moment.time, window)
        if call.function == "mean_over":
            total = constant(0)
            for length, cell in pieces:
                total = add(total, way.cell(cell), length / window)
            return exactly(total)
        kept = [way.cell(cell) for _, cell in pieces]
        return few(Case(g, w) for case in here for g, w in winners([case.value, *kept], largest=True, start=case.guard))

    # -- the system -----------------------------------------------------------------------------

    def system(self) -> System:
        """The system whose bad states are those at which the condition is not as wanted."""
        initial = list(self._initial())
        todo, seen, edges = [mode for mode, _ in initial], {mode for mode, _ in initial}, []
        broken: list[tuple[str, Guard, dict[str, Term], str]] = []
        while todo:
            mode = todo.pop(0)
            for target, made, cells, label in self._edges(mode):
                if target is None:
                    broken.append((self._name(mode), made, {}, label))
                    continue
                edges.append((self._name(mode), self._name(target), made, cells, label))
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
            if len(edges) + len(broken) > MOST_EDGES or len(seen) > MOST_MODES:
                raise NotLinearError(f"more than {MOST_EDGES} edges or {MOST_MODES} modes")
        edges += [(source, BROKEN, made, cells, label) for source, made, cells, label in broken]
        bad = [pair for mode in sorted(seen, key=self._name) for pair in self._bad(mode)]
        return self._lowered(initial, edges, bad, catches=bool(broken))

    def _name(self, mode: Mode) -> str:
        told = dict(zip((*self.remembered, *self.counters, *self.values), mode.memory, strict=True))
        on = "+".join(name for name in self.remembered if told[name])
        counted = " ".join(f"{name}={told[name]}" for name in (*self.counters, *self.values) if told[name])
        return " ".join(part for part in ("start" if mode.first else str(mode.position), on, counted) if part)

    def _way(self, mode: Mode) -> Way:
        memory = dict(zip((*self.remembered, *self.counters, *self.values), mode.memory, strict=True))
        memory = {**dict.fromkeys(self.actors, Fraction(0)), **memory}
        return Way(TRUE, {name: constant(memory[name]) for name in self.values}, memory)

    def _mode(self, position: int, way: Way) -> Mode:
        told = {name: way.cells[name] for name in self.values}
        if any(not term.known for term in told.values()):
            raise NotLinearError("a value that is told apart is not known")
        kept = [way.memory[name] for name in (*self.remembered, *self.counters)]
        return Mode(False, position, (*kept, *(told[name].constant for name in self.values)))

    def _initial(self) -> Iterator[tuple[Mode, Guard]]:
        dictionary = dict(self.reading.discrete)
        signals = [(path, dictionary[path]) for path in self.values if path in dictionary]
        for chosen in itertools.product(*(values for _, values in signals)):
            told = dict(zip((path for path, _ in signals), chosen, strict=True))
            memory = {name: told[name] if name in told else told[self._signal_of(name)] for name in self.values}
            kept = [Fraction(0)] * (len(self.remembered) + len(self.counters))
            mode = Mode(bool(self.flowing), 0, (*kept, *(memory[name] for name in self.values)))
            yield from ((mode, made) for made in self._first(self._way(mode)))

    def _signal_of(self, cell: str) -> str:
        return next(
            p for p in self.discrete if cell == commanded_cell(p, self.model) or cell in self.plan.landing[p].cells
        )

    def _first(self, way: Way) -> Iterator[Guard]:
        """Initial states: ranges of signals, then registers from what they hold before the run."""
        rows = [
            row
            for name, start in self.starts.items()
            if isinstance(start, Interval)
            for row in _inside(way.cell(name), start)
        ]
        start = guard(rows)
        if start is None:
            return
        symbols = self.symbols(way, None)
        parts = []
        for name, value in self.starts.items():
            if name in self.values or isinstance(value, Interval):
                continue
            cases = (
                [Case(TRUE, substituted(value, way.cells.get))] if isinstance(value, Term) else numbers(value, symbols)
            )
            parts.append([Case(g, c.value) for c in cases for g in self._equal(name, c)])
        yield from (made for g, _ in product(parts) if (made := start.joined(g)) is not None)

    def _equal(self, name: str, case: Case) -> Iterator[Guard]:
        """The register has the value; what varies in it is anywhere in its range."""
        low = high = Term((), case.value.constant)
        for other, c in case.value.items:
            span = self._range_of(other)
            if span is None:
                low, high = add(low, unit(other), c), add(high, unit(other), c)
                continue
            ends = (span.low, span.high) if c > 0 else (span.high, span.low)
            if ends[0] is None or ends[1] is None or case.guard.spans:
                raise NotLinearError(f"a value before the run that depends on {other}")
            low, high = add(low, constant(c * ends[0])), add(high, constant(c * ends[1]))
        me = unit(name)
        rows = (
            [(add(me, low, LESS), "==")] if low == high else [(add(low, me, LESS), "<="), (add(me, high, LESS), "<=")]
        )
        made = guard(rows, case.guard)
        if made is not None:
            yield made

    def _range_of(self, name: str) -> Interval | None:
        """The range of what may change at every step; None for state variables."""
        if name in self.looks:
            return self.looks[name]
        if name in self.varying:
            return self.model.constants[name].range
        return None if name in self.starts else Interval(None, None)

    # -- one instant ----------------------------------------------------------------------------

    def _edges(self, mode: Mode) -> Iterator[tuple[Mode | None, Guard, dict[str, Term], str]]:
        moment = self.plan.moments[mode.position]
        following = (mode.position + 1) % len(self.plan.moments)
        rows = [row for p in self.varying for row in _inside(unit(p), self.model.constants[p].range)]
        begin = guard(rows)
        assert begin is not None
        seen = set()
        for drifted in self._drifted(replace(self._way(mode), guard=begin), mode):
            for way in self._delivered(drifted, moment):
                yield from self._caught(way, moment, sampled=True)
                for order in orders(moment.loops):
                    for decided in self._decided(way, order, moment):
                        for stepped in self._stepped(decided, moment):
                            yield from self._caught(stepped, moment, sampled=False)
                            target, cells = self._mode(following, stepped), self._kept(stepped)
                            key = (target, frozenset(stepped.guard.spans.items()), frozenset(cells.items()))
                            if key not in seen:
                                seen.add(key)
                                yield target, stepped.guard, cells, " ".join(stepped.label) or "step"

    def _kept(self, way: Way) -> dict[str, Term]:
        return {name: term for name, term in way.cells.items() if name not in self.values and term != unit(name)}

    def _drifted(self, way: Way, mode: Mode) -> list[Way]:
        """Flows since the instant before, at constant rates, up to their stops."""
        moments = self.plan.moments
        here, before = moments[mode.position].time, moments[mode.position - 1].time
        seconds = here if mode.first else (here - before) % self.plan.hyperperiod or self.plan.hyperperiod
        if not self.flowing or not seconds:
            return [way]
        symbols, parts = self.symbols(way, None, who="the flow"), []
        for path in self.flowing:
            state = self.model.states[path]
            assert state.flow is not None
            moved = [Case(c.guard, add(way.cell(path), c.value, seconds)) for c in numbers(state.flow, symbols)]
            parts.append([c for case in moved for c in clipped(case, state.range)])
        ways = []
        for made, values in product(parts):
            if (under := way.under(made)) is not None:
                ways.append(under.holding(dict(zip(self.flowing, values, strict=True))))
        return ways

    def _delivered(self, way: Way, moment: Moment) -> list[Way]:
        """What lands now, and what is sampled now to be read later."""
        landed = {s: way.cell(self.plan.landed(s, moment.time)) for s in moment.landings}
        ways = [way.holding(landed)]
        for tree in self._inner_first():
            queue = self.plan.sampled[tree]
            if moment.time not in queue.times:
                continue
            grown = []
            for one in ways:
                for case in numbers(tree, self.symbols(one, moment, who="what is sampled")):
                    if (under := one.under(case.guard)) is not None:
                        shifted = {queue.cell(k): one.cell(queue.cell(k - 1)) for k in range(2, queue.length + 1)}
                        grown.append(under.holding({**shifted, queue.cell(1): case.value}))
            ways = grown
        return ways

    def _inner_first(self) -> list[Tree]:
        """Sampled trees, each after those that it reads."""
        done: list[Tree] = []

        def visit(tree: Tree) -> None:
            for call in calls_in(tree, self.model):
                if call.function not in ("mean_over", "max_over"):
                    visit(call.arguments[0])
            if tree in self.plan.sampled and tree not in done:
                done.append(tree)

        for tree in self.plan.sampled:
            visit(tree)
        return done

    def _decided(self, way: Way, order: tuple[SampledLoop, ...], moment: Moment) -> list[Way]:
        ways = [way]
        for loop in order:
            ways = [
                made
                for one in ways
                for seen in self._looked(one, loop, moment)
                for made in self._act(seen, loop, moment)
            ]
            if len(ways) > MOST_EDGES:
                raise NotLinearError(f"more than {MOST_EDGES} ways through one instant")
            if now() > self.deadline:
                raise NotLinearError("the encoding takes longer than the time limit")
        commands = [signal for signal in self.plan.landing if any(loop.signal == signal for loop in order)]
        return [self._sent(one, commands) for one in ways] if commands else ways

    def _sent(self, way: Way, signals: list[str]) -> Way:
        cells: dict[str, Term] = {}
        for signal in signals:
            queue = self.plan.landing[signal]
            cells.update({queue.cell(k): way.cell(queue.cell(k - 1)) for k in range(2, queue.length + 1)})
            cells[queue.cell(1)] = way.cell(commanded_cell(signal, self.model))
        return way.holding(cells)

    def _looked(self, way: Way, loop: SampledLoop, moment: Moment) -> list[Way]:
        """Ways with the present values of what `previous` reads set aside, to be kept after the sample."""
        ways = [way]
        for tree in self._previous(loop):
            name, grown = self._before(loop, tree), []
            for one in ways:
                for case in numbers(tree, self.symbols(one, moment, loop)):
                    if (under := one.under(case.guard)) is not None:
                        first = {} if one.memory[self._begun(loop)] else {name: case.value}  # nothing before: itself
                        grown.append(under.holding({f"{name} now": case.value, **first}))
            ways = grown
        return ways

    def _act(self, way: Way, loop: SampledLoop, moment: Moment) -> Iterator[Way]:
        names = [self._before(loop, tree) for tree in self._previous(loop)]
        for made in self.actors[loop.name].act(way, lambda one: self.symbols(one, moment, loop)):
            if not names:
                yield made
                continue
            cells = {k: v for k, v in made.cells.items() if not k.endswith(" now")}
            looked = made.remembering({self._begun(loop): Fraction(1)})
            yield replace(looked, cells={**cells, **{name: made.cells[f"{name} now"] for name in names}})

    def _stepped(self, way: Way, moment: Moment) -> Iterator[Way]:
        """All due `next` maps at once, then what windows will look at."""
        symbols, parts = self.symbols(way, moment, who="the step"), []
        for path in moment.steps:
            state = self.model.states[path]
            assert state.next is not None
            parts.append([c for case in numbers(state.next, symbols) for c in clipped(case, state.range)])
        for made, values in product(parts):
            if (under := way.under(made)) is not None:
                yield from self._recorded(under.holding(dict(zip(moment.steps, values, strict=True))), moment)

    def _recorded(self, way: Way, moment: Moment) -> Iterator[Way]:
        symbols, queues = self.symbols(way, moment, who="what is averaged"), list(self.plan.after.items())
        for made, values in product([numbers(tree, symbols) for tree, _ in queues]):
            under = way.under(made)
            if under is None:
                continue
            cells: dict[str, Term] = {}
            for (_, queue), value in zip(queues, values, strict=True):
                cells.update({queue.cell(k): way.cell(queue.cell(k - 1)) for k in range(2, queue.length + 1)})
                cells[queue.cell(1)] = value
            yield under.holding(cells)

    # -- the promise ----------------------------------------------------------------------------

    def _caught(self, way: Way, moment: Moment, *, sampled: bool) -> Iterator[tuple[None, Guard, dict[str, Term], str]]:
        """Edges into the broken mode, where a bad state of a mode would not tell: between drift and decision."""
        if self.condition is None or not (self._varies or (sampled and (self.flowing or moment.landings))):
            return
        for fork in forks(self.condition, self.symbols(way, moment, who="the promise")):
            if fork.holds is not self.wanted and (made := way.guard.joined(fork.guard)) is not None:
                yield None, made, {}, "broken at the sample" if sampled else "broken"

    @property
    def _varies(self) -> bool:
        names = signals_in(self.model, self.condition) if self.condition is not None else frozenset[str]()
        return bool(names & {*self.varying, *self.inputs, *self.free, *self.loose})

    def _bad(self, mode: Mode) -> Iterator[tuple[str, Guard]]:
        if self.condition is None or self._varies:
            return
        for fork in forks(self.condition, self.symbols(self._way(mode), None)):
            if fork.holds is not self.wanted:
                yield self._name(mode), fork.guard

    # -- from names to coefficients -------------------------------------------------------------

    def _lowered(
        self,
        initial: list[tuple[Mode, Guard]],
        edges: list[tuple[str, str, Guard, dict[str, Term], str]],
        bad: list[tuple[str, Guard]],
        *,
        catches: bool,
    ) -> System:
        prepared = [(s, t, *self._plain(g, cells), label) for s, t, g, cells, label in edges]
        most = max((len(used) for _, _, _, _, used, _ in prepared), default=0)
        inputs = (*self.varying, *self.inputs)
        choices = (*inputs, *(f"any {k + 1}" for k in range(most)))
        states = {name: k for k, name in enumerate(self.variables)}
        index = {**states, **{name: len(states) + k for k, name in enumerate(choices)}}
        made = []
        for source, target, rows, cells, used, label in prepared:
            place = {**{n: states[n] for n in states}, **{n: index[n] for n in inputs}}
            place.update({name: len(states) + len(inputs) + k for k, name in enumerate(used)})
            update = tuple(_linear(cells.get(name) or unit(name), place, len(index)) for name in self.variables)
            made.append(Edge(source, target, _polyhedron(rows, place, len(index)), update, label))
        starts = tuple((self._name(m), _polyhedron(list(g.rows()), states, len(states))) for m, g in initial)
        ends = tuple((m, _polyhedron(list(g.rows()), states, len(states))) for m, g in bad)
        return System(self.variables, choices, starts, tuple(made), (*ends, *((BROKEN, ()),) * catches))

    def _plain(self, made: Guard, cells: dict[str, Term]) -> tuple[list[tuple[Term, str]], dict[str, Term], list[str]]:
        """Rows and updates without unknowns that the guard fixes, and the fresh unknowns that are left."""
        fresh = set(self.fresh_names.values())
        fixed = {name: constant(v) for name, v in made.fixed().items() if name in fresh}
        kept = guard((substituted(term, fixed.get), relation) for term, relation in made.rows()) if fixed else made
        rows = list(kept.rows()) if kept is not None else [(constant(1), "<=")]
        cells = {name: substituted(term, fixed.get) for name, term in cells.items()} if fixed else cells
        names = (n for term in (*(t for t, _ in rows), *cells.values()) for n, _ in term.items)
        return list(rows), cells, sorted({n for n in names if n in fresh})


def _inside(term: Term, interval: Interval) -> Iterator[tuple[Term, str]]:
    if interval.low is not None and interval.low == interval.high:
        yield add(term, constant(-interval.low)), "=="
        return
    if interval.low is not None:
        yield add(constant(interval.low), term, LESS), "<="
    if interval.high is not None:
        yield add(term, constant(-interval.high)), "<="


def _linear(term: Term, place: dict[str, int], width: int) -> Linear:
    row = [Fraction(0)] * width
    for name, c in term.items:
        row[place[name]] = c
    return Linear(tuple(row), term.constant)


def _polyhedron(rows: list[tuple[Term, str]], place: dict[str, int], width: int) -> Polyhedron:
    return tuple(Constraint(_linear(term, place, width), relation) for term, relation in rows)  # type: ignore[arg-type]


def promised(model: Model, promise: Promise) -> Tree:
    """The promise's condition with full paths."""
    assert promise.condition is not None
    return rename(promise.condition.tree, model.resolve)


def orders(loops: tuple[SampledLoop, ...]) -> Iterator[tuple[SampledLoop, ...]]:
    """Every order that respects ranks; loops of equal rank are permuted."""
    groups = [tuple(group) for _, group in itertools.groupby(sorted(loops, key=lambda x: x.rank), key=lambda x: x.rank)]
    if any(len(group) > 4 for group in groups):
        raise NotLinearError("more than four loops of equal rank act at one instant: state their `rank`")
    for chosen in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield tuple(loop for group in chosen for loop in group)


def _trees(model: Model, condition: Tree | None) -> list[Tree]:
    trees = [t for s in model.states.values() for t in (s.next, s.flow) if t is not None] + list(model.outputs.values())
    trees += [t for loop in model.loops for t in trees_of_loop(loop)]
    return trees + ([condition] if condition is not None else [])


def _refuse(model: Model, condition: Tree | None) -> None:
    """Raise NotLinearError for what the encoding does not carry."""
    flowing = {path for path, state in model.states.items() if state.flow is not None}
    varying = {path for path, c in model.constants.items() if c.varies} | set(model.inputs)  # loose ones too
    for state in model.states.values():
        if state.flow is not None:
            reads = signals_in(model, state.flow)
            if reads & (flowing | varying) or next(calls_in(state.flow, model), None) is not None:
                raise NotLinearError(f"the flow of {state.path} is not constant between instants")
        elif state.next is None or state.step is None:
            raise NotLinearError(f"{state.path} has no `next` with a step")
        elif any(call.function == "previous" for call in calls_in(state.next, model)):
            raise NotLinearError(f"previous() in the mathematics of {state.path}")
    if condition is not None and next(calls_in(condition, model), None) is not None:
        raise NotLinearError("the promise reads the past")
    if condition is not None and flowing & signals_in(model, condition):
        stops = [p for p in flowing & signals_in(model, condition) if model.states[p].range != Interval(None, None)]
        if stops and len(flowing & signals_in(model, condition)) > 1:
            raise NotLinearError("the promise reads several states that flow, with stops between the instants")


__all__ = ["BROKEN", "Encoder", "Mode", "Reading", "orders", "promised", "scaled"]
