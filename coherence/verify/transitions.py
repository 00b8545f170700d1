"""Model -> transition system: what the unbounded prover reads (model.md rule 14).

A mode is the position in the schedule and the truth of every loop whose mode is remembered or read.
Loops that decide at the same instant with equal rank are taken in every order.  Integers are relaxed
to reals.  Anything that the encoding does not carry raises NotLinearError or NotCommensurateError,
which an engine reports as `undecided`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.expressions.tree import Call, Name, Tree, rename, walk
from coherence.model import Interval, Model, SampledLoop
from coherence.phrases import Promise
from coherence.simulate.exact import LOOK_BACK
from coherence.values import value
from coherence.verify.cases import Case, NotLinearError, Symbols, add, forks, numbers, possible, scaled
from coherence.verify.schedules import Instant, Schedule
from coherence.verify.systems import Constraint, Edge, Linear, Polyhedron, System

MOST_EDGES = 3000


@value
class _Path:
    """One way through an instant: what was assumed, what commands are worth, which modes hold."""

    guard: Polyhedron
    commands: dict[str, Linear]
    modes: dict[str, bool]
    label: tuple[str, ...] = ()


class Encoder:
    """Encodes one model under one schedule for one promise; what the promise reads is part of the state."""

    def __init__(self, model: Model, schedule: Schedule, promise: Promise) -> None:
        self.model, self.schedule, self.promise = model, schedule, promise
        _refuse(model)
        fixed = [c.path for c in model.constants.values() if not c.range.exact and not c.varies and self._used(c.path)]
        self.varying = [c.path for c in model.constants.values() if c.varies and self._used(c.path)]
        self.variables = (*model.states, *model.commands, *fixed)
        self.choices = (*self.varying, *(p for p in model.inputs if self._used(p)))
        self.width = len(self.variables) + len(self.choices)
        self.remembered = tuple(loop.name for loop in model.loops if loop.relay or self._used(loop.name))

    def _used(self, path: str) -> bool:
        trees = (*_trees(self.model), self._promise_tree())
        return any(isinstance(n, Name) and n.path == path for tree in trees for n in walk(tree))

    def unit(self, path: str) -> Linear:
        """The variable itself."""
        index = (*self.variables, *self.choices).index(path)
        return Linear(tuple(Fraction(i == index) for i in range(self.width)), Fraction(0))

    def symbols(self, commands: dict[str, Linear], modes: dict[str, bool]) -> Symbols:
        """Names under given command values and modes."""

        def number(path: str) -> list[Case]:
            if path in commands:
                return [Case((), commands[path])]
            if path in self.variables or path in self.choices:
                return [Case((), self.unit(path))]
            if path in self.model.outputs:
                return numbers(self.model.outputs[path], made)
            constant = self.model.constants.get(path)
            if constant is not None and constant.range.low is not None:
                return [Case((), made.constant(constant.range.low))]
            raise NotLinearError(f"{path} has no value in a proof")

        made = Symbols(self.width, number, modes.get)
        return made

    def system(self) -> System:
        """The system whose bad states are those that break the promise (always or never)."""
        edges = [e for position, instant in enumerate(self.schedule.instants) for e in self._edges(position, instant)]
        if len(edges) > MOST_EDGES:
            raise NotLinearError(f"{len(edges)} edges")
        off = dict.fromkeys(self.remembered, False)
        return System(
            self.variables,
            self.choices,
            ((self._mode(0, off), self._initial()),),
            tuple(edges),
            tuple(self._bad()),
        )

    def _mode(self, position: int, modes: dict[str, bool]) -> str:
        on = "+".join(name for name in self.remembered if modes[name])
        return f"{position} {on}".strip()

    def _initial(self) -> Polyhedron:
        rows: list[Constraint] = []
        for path in self.variables:
            rows += self._inside(path, self._range(path), states_only=True)
        return tuple(rows)

    def _range(self, path: str) -> Interval:
        for table in (self.model.states, self.model.commands):
            if path in table:
                return table[path].initial
        return self.model.constants[path].range

    def _inside(self, path: str, interval: Interval, *, states_only: bool) -> Iterator[Constraint]:
        unit = self.unit(path)
        if states_only:
            unit = Linear(unit.coefficients[: len(self.variables)], unit.constant)
        if interval.low is not None:
            yield Constraint(Linear(tuple(-c for c in unit.coefficients), interval.low), "<=")
        if interval.high is not None:
            yield Constraint(Linear(unit.coefficients, -interval.high), "<=")

    def _edges(self, position: int, instant: Instant) -> Iterator[Edge]:
        following = (position + 1) % len(self.schedule.instants)
        inputs = tuple(
            r for p in self.varying for r in self._inside(p, self.model.constants[p].range, states_only=False)
        )
        for bits in itertools.product((False, True), repeat=len(self.remembered)):
            modes = dict(zip(self.remembered, bits, strict=True))
            seen: set[tuple[object, ...]] = set()
            for order in orders(instant.loops):
                for path in self._decide(order, modes):
                    for guard, update in self._step(path, instant):
                        target = self._mode(following, path.modes)
                        edge = Edge(
                            self._mode(position, modes), target, inputs + guard, update, " ".join(path.label) or "step"
                        )
                        if (key := (target, edge.guard, update)) not in seen:
                            seen.add(key)
                            yield edge

    def _decide(self, order: tuple[SampledLoop, ...], modes: dict[str, bool]) -> list[_Path]:
        sampled = {path: self.unit(path) for path in self.model.commands}
        paths = [_Path((), sampled, modes)]
        for loop in order:
            paths = [after for path in paths for after in self._act(loop, path)]
            if len(paths) > MOST_EDGES:
                raise NotLinearError(f"more than {MOST_EDGES} ways through one instant")
        return paths

    def _act(self, loop: SampledLoop, path: _Path) -> Iterator[_Path]:
        symbols = self.symbols(path.commands, path.modes)
        for guard, mode, by, to in self._triggers(loop, path, symbols):
            modes = {**path.modes, loop.name: mode} if loop.name in self.remembered else path.modes
            base = replace(path, guard=path.guard + guard, modes=modes)
            if not possible(base.guard):
                continue
            if not loop.signal or (by is None and to is None):
                yield base
            else:
                yield from self._write(loop, base, by, to, symbols)

    def _triggers(
        self, loop: SampledLoop, path: _Path, symbols: Symbols
    ) -> Iterator[tuple[Polyhedron, bool, Tree | None, Tree | None]]:
        """(guard, mode, by, to) for each way in which the loop's trigger or rules come out."""
        if loop.rules:
            open_: list[Polyhedron] = [()]
            for when, by, to in loop.rules:
                ways = forks(when, symbols)
                yield from ((guard + w.guard, True, by, to) for guard in open_ for w in ways if w.holds)
                open_ = [guard + w.guard for guard in open_ for w in ways if not w.holds]
            yield from ((guard, False, None, None) for guard in open_)
            return
        for guard, mode in self._modes(loop, path, symbols):
            yield guard, mode, loop.by if mode else None, loop.to if mode else None

    def _modes(self, loop: SampledLoop, path: _Path, symbols: Symbols) -> Iterator[tuple[Polyhedron, bool]]:
        if loop.enter is None or loop.leave is None:
            ways = [((), True)] if loop.trigger is None else [(w.guard, w.holds) for w in forks(loop.trigger, symbols)]
            yield from ways
            return
        before = path.modes[loop.name]
        for enter in forks(loop.enter, symbols):
            if enter.holds or not before:
                yield enter.guard, enter.holds
            else:
                yield from ((enter.guard + leave.guard, not leave.holds) for leave in forks(loop.leave, symbols))

    def _write(
        self, loop: SampledLoop, path: _Path, by: Tree | None, to: Tree | None, symbols: Symbols
    ) -> Iterator[_Path]:
        current = path.commands[loop.signal]
        if to is not None:
            wanted = numbers(to, symbols)
        else:
            assert by is not None
            wanted = [Case(c.guard, add(current, c.value)) for c in numbers(by, symbols)]
        bounds = (loop.bounds, self.model.commands[loop.signal].range)
        for case in wanted:
            for clipped in _clipped(case, bounds):
                label = (*path.label, loop.name)
                commands = {**path.commands, loop.signal: clipped.value}
                if possible(path.guard + clipped.guard):
                    yield replace(path, guard=path.guard + clipped.guard, commands=commands, label=label)

    def _step(self, path: _Path, instant: Instant) -> Iterator[tuple[Polyhedron, tuple[Linear, ...]]]:
        symbols = self.symbols(path.commands, path.modes)
        due = {s: self._next(s, symbols) for s in instant.steps}
        for chosen in itertools.product(*due.values()):
            values = dict(zip(due, chosen, strict=True))
            guard = path.guard + tuple(c for case in chosen for c in case.guard)
            if possible(guard):
                yield guard, tuple(self._after(v, path, values) for v in self.variables)

    def _next(self, state: str, symbols: Symbols) -> list[Case]:
        following = self.model.states[state].next
        assert following is not None
        return [c for case in numbers(following, symbols) for c in _clipped(case, (self.model.states[state].range,))]

    def _after(self, variable: str, path: _Path, values: dict[str, Case]) -> Linear:
        if variable in values:
            return values[variable].value
        return path.commands.get(variable, self.unit(variable))

    def _bad(self) -> Iterator[tuple[str, Polyhedron]]:
        broken = self.promise.kind == "never"
        width = len(self.variables)
        for position in range(len(self.schedule.instants)):
            for bits in itertools.product((False, True), repeat=len(self.remembered)):
                modes = dict(zip(self.remembered, bits, strict=True))
                for fork in forks(self._promise_tree(), self.symbols({}, modes)):
                    if fork.holds is broken:
                        if any(any(c.linear.coefficients[width:]) for c in fork.guard):
                            raise NotLinearError("the promise reads a varying input")
                        rows = tuple(
                            Constraint(Linear(c.linear.coefficients[:width], c.linear.constant), c.relation)
                            for c in fork.guard
                        )
                        yield self._mode(position, modes), rows

    def _promise_tree(self) -> Tree:
        assert self.promise.condition is not None
        return rename(self.promise.condition.tree, self.model.resolve)


def orders(loops: tuple[SampledLoop, ...]) -> Iterator[tuple[SampledLoop, ...]]:
    """Every order that respects ranks; loops of equal rank are permuted."""
    groups = [tuple(group) for _, group in itertools.groupby(sorted(loops, key=lambda x: x.rank), key=lambda x: x.rank)]
    if any(len(group) > 4 for group in groups):
        raise NotLinearError("more than four loops of equal rank act at one instant: state their `rank`")
    for chosen in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield tuple(loop for group in chosen for loop in group)


def _clipped(case: Case, intervals: tuple[Interval, ...]) -> list[Case]:
    """The value moved into each interval in turn."""
    made = [case]
    for interval in intervals:
        made = [c for one in made for c in _clip(one, interval)]
    return made


def _clip(case: Case, interval: Interval) -> Iterator[Case]:
    rows: list[Constraint] = []
    for edge, sign in ((interval.low, -1), (interval.high, 1)):
        if edge is None:
            continue
        constant = Linear((Fraction(0),) * len(case.value.coefficients), edge)
        beyond = scaled(add(case.value, constant, Fraction(-1)), Fraction(-sign))  # < 0 beyond the edge
        inside = scaled(beyond, Fraction(-1))
        if possible((*case.guard, Constraint(beyond, "<"))):
            yield Case((*case.guard, Constraint(beyond, "<")), constant)
        rows.append(Constraint(inside, "<="))
    if possible((*case.guard, *rows)):
        yield Case((*case.guard, *rows), case.value)


def _trees(model: Model) -> list[Tree]:
    trees = [t for s in model.states.values() for t in (s.next, s.flow) if t is not None] + list(model.outputs.values())
    for loop in model.loops:
        trees += [t for t in (loop.trigger, loop.enter, loop.leave, loop.by, loop.to) if t is not None]
        trees += [t for rule in loop.rules for t in rule if t is not None]
    return trees


def _refuse(model: Model) -> None:
    """Raise NotLinearError for what the encoding does not carry."""
    for state in model.states.values():
        if state.flow is not None:
            raise NotLinearError(f"{state.path} flows continuously")
        if state.next is None or state.step is None:
            raise NotLinearError(f"{state.path} has no `next` with a step")
    for loop in model.loops:
        unsupported = [
            ("the proportional law", loop.law == "proportional"),
            ("hold windows", bool(loop.hold_down or loop.hold_up)),
            ("a cooldown", loop.cooldown is not None), ("a landing delay", bool(loop.lands)),
            ("rate limits", bool(loop.rates)), (f"mode {loop.mode}", loop.mode != "always"),
        ]  # fmt: skip
        for what, present in unsupported:
            if present:
                raise NotLinearError(f"{what} of {loop.name}")
    for tree in _trees(model):
        for node in walk(tree):
            if isinstance(node, Call) and node.function in (*LOOK_BACK, "previous"):
                raise NotLinearError(f"{node.function}() of the past")
