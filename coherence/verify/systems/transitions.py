"""Encodes a Model as a transition system, which the unbounded prover reads (model.md rule 14).

Loops that decide at the same instant with equal rank are taken in every order.  Whole numbers are
relaxed to reals unless they are told apart.  Anything that the encoding does not carry raises
NotLinearError or NotCommensurateError, which an engine reports as `undecided`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.language.expressions.tree import Call, Tree, rename, walk
from coherence.language.sentences import Promise
from coherence.model.model import Interval, Model
from coherence.simulate.execute.slices import signals_in
from coherence.verify.systems.cases import AffineCase, NotLinearError, forks, numbers, product
from coherence.verify.systems.instants import Instants, orders
from coherence.verify.systems.lowering import NamedEdge, Vocabulary, lowered
from coherence.verify.systems.piecewise_affine import TransitionSystem
from coherence.verify.systems.registers import Moment
from coherence.verify.systems.state_space import ModelReading, SystemMode, inside
from coherence.verify.systems.symbolic_instant import LESS, InstantPath, commanded_cell
from coherence.verify.systems.terms import TRUE, Guard, Term, add, constant, guard, scaled, substituted, unit

MOST_EDGES, MOST_MODES = 3000, 600
BROKEN = "broken"


class Encoder(Instants):
    """Encodes one model under one schedule for one promise; what the promise reads is part of the state."""

    def system(self) -> TransitionSystem:
        """Returns the system whose bad states are those at which the condition is not as wanted."""
        initial = list(self._initial())
        steps, modes = self._explored([mode for mode, _ in initial])
        bad = [pair for mode in sorted(modes, key=self._name) for pair in self._bad(mode)]
        words = Vocabulary(self.variables, (*self.varying, *self.inputs), frozenset(self.fresh_names.values()))
        catches = any(step.target == BROKEN for step in steps)
        starts = [(self._name(mode), rows) for mode, rows in initial]
        return lowered(words, starts, steps, bad, broken=BROKEN if catches else None)

    def _explored(self, first: list[SystemMode]) -> tuple[list[NamedEdge], set[SystemMode]]:
        """Returns every step from the first modes on, those that break the promise last; and the modes."""
        todo, seen, steps, broken = [*first], {*first}, list[NamedEdge](), list[NamedEdge]()
        while todo:
            mode = todo.pop(0)
            for target, condition, cells, label in self._edges(mode):
                if target is None:
                    broken.append(NamedEdge(self._name(mode), BROKEN, condition, {}, label))
                    continue
                steps.append(NamedEdge(self._name(mode), self._name(target), condition, cells, label))
                if target not in seen:
                    seen.add(target)
                    todo.append(target)
            if len(steps) + len(broken) > MOST_EDGES or len(seen) > MOST_MODES:
                raise NotLinearError(f"more than {MOST_EDGES} edges or {MOST_MODES} modes")
        return [*steps, *broken], seen

    def _name(self, mode: SystemMode) -> str:
        memory = dict(zip((*self.remembered, *self.counters, *self.values), mode.memory, strict=True))
        on = "+".join(name for name in self.remembered if memory[name])
        counted = " ".join(f"{name}={memory[name]}" for name in (*self.counters, *self.values) if memory[name])
        return " ".join(part for part in ("start" if mode.first else str(mode.position), on, counted) if part)

    def _way(self, mode: SystemMode) -> InstantPath:
        memory = dict(zip((*self.remembered, *self.counters, *self.values), mode.memory, strict=True))
        memory = {**dict.fromkeys(self.actors, Fraction(0)), **memory}
        return InstantPath(TRUE, {name: constant(memory[name]) for name in self.values}, memory)

    def _mode(self, position: int, way: InstantPath) -> SystemMode:
        values = {name: way.cells[name] for name in self.values}
        if any(not term.known for term in values.values()):
            raise NotLinearError("a value that is told apart is not known")
        memory = [way.memory[name] for name in (*self.remembered, *self.counters)]
        return SystemMode(False, position, (*memory, *(values[name].constant for name in self.values)))

    def _initial(self) -> Iterator[tuple[SystemMode, Guard]]:
        dictionary = dict(self.reading.discrete)
        signals = [(path, dictionary[path]) for path in self.values if path in dictionary]
        for chosen in itertools.product(*(values for _, values in signals)):
            command_values = dict(zip((path for path, _ in signals), chosen, strict=True))
            memory = {
                name: command_values[name] if name in command_values else command_values[self._signal_of(name)]
                for name in self.values
            }
            zeros = [Fraction(0)] * (len(self.remembered) + len(self.counters))
            mode = SystemMode(self.begins_apart, 0, (*zeros, *(memory[name] for name in self.values)))
            yield from ((mode, rows) for rows in self._first(self._way(mode)))

    def _signal_of(self, cell: str) -> str:
        landing = self.plan.landing
        return next(
            path for path in self.discrete
            if cell == commanded_cell(path, self.model) or (path in landing and cell in landing[path].cells)
        )  # fmt: skip

    def _first(self, way: InstantPath) -> Iterator[Guard]:
        """Yields initial states: ranges of signals, then registers from what they hold before the run."""
        rows = [
            row
            for name, start in self.starts.items()
            if isinstance(start, Interval)
            for row in inside(way.cell(name), start)
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
                [AffineCase(TRUE, substituted(value, way.cells.get))]
                if isinstance(value, Term)
                else numbers(value, symbols)
            )
            parts.append([AffineCase(g, c.value) for c in cases for g in self._equal(name, c)])
        yield from (both for g, _ in product(parts) if (both := start.joined(g)) is not None)

    def _equal(self, name: str, case: AffineCase) -> Iterator[Guard]:
        """Yields guards by which the register has the value; what varies in it is anywhere in its range."""
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
        equal = guard(rows, case.guard)
        if equal is not None:
            yield equal

    def _range_of(self, name: str) -> Interval | None:
        """Returns the range of what may change at every step; None for state variables."""
        if name in self.looks:
            return self.looks[name]
        if name in self.varying:
            return self.model.constants[name].range
        return None if name in self.starts else Interval(None, None)

    # -- edges ----------------------------------------------------------------------------------

    def _edges(self, mode: SystemMode) -> Iterator[tuple[SystemMode | None, Guard, dict[str, Term], str]]:
        rows = [row for p in self.varying for row in inside(unit(p), self.model.constants[p].range)]
        begin = guard(rows)
        assert begin is not None
        seen = set()
        at_first = replace(self._way(mode), guard=begin)
        ways = ((*turn, way) for turn in self._turns(mode) for way in self._drifted(at_first, mode, turn[0]))
        for moment, following, drifted in ways:
            for way in self._delivered(drifted, moment):
                yield from self._caught(way, moment, sampled=True)
                for order in orders(moment.loops):
                    for decided in self._decided(way, order, moment):
                        for stepped in self._stepped(decided, moment):
                            yield from self._caught(stepped, moment, sampled=False)
                            target, cells = self._mode(following, stepped), self._changed_cells(stepped)
                            key = (target, frozenset(stepped.guard.spans.items()), frozenset(cells.items()))
                            if key not in seen:
                                seen.add(key)
                                yield target, stepped.guard, cells, " ".join(stepped.label) or "step"

    def _changed_cells(self, way: InstantPath) -> dict[str, Term]:
        return {name: term for name, term in way.cells.items() if name not in self.values and term != unit(name)}

    def _turns(self, mode: SystemMode) -> Iterator[tuple[Moment, int]]:
        """Yields each moment that may be the next one, with the position after it."""
        yield self.plan.moments[mode.position], (mode.position + 1) % len(self.plan.moments)

    # -- the promise ----------------------------------------------------------------------------

    def _caught(
        self, way: InstantPath, moment: Moment, *, sampled: bool
    ) -> Iterator[tuple[None, Guard, dict[str, Term], str]]:
        """Yields edges into the broken mode, where a bad state of a mode would not tell: between drift and decision."""
        if self.condition is None or not (self._told_by_steps or (sampled and (self.flowing or moment.landings))):
            return
        for fork in forks(self.condition, self.symbols(way, moment, who="the promise")):
            if fork.holds is not self.wanted and (both := way.guard.joined(fork.guard)) is not None:
                yield None, both, {}, "broken at the sample" if sampled else "broken"

    @property
    def _told_by_steps(self) -> bool:
        """Decides whether the condition reads what is no state: what varies, or a rounded value."""
        if self.condition is None:
            return False
        names = signals_in(self.model, self.condition)
        trees = [self.condition, *(self.model.outputs[name] for name in names if name in self.model.outputs)]
        whole = any(isinstance(n, Call) and n.function in ("ceil", "floor") for tree in trees for n in walk(tree))
        return whole or bool(names & {*self.varying, *self.inputs, *self.free, *self.loose})

    def _bad(self, mode: SystemMode) -> Iterator[tuple[str, Guard]]:
        if self.condition is None or self._told_by_steps:
            return
        for fork in forks(self.condition, self.symbols(self._way(mode), None)):
            if fork.holds is not self.wanted:
                yield self._name(mode), fork.guard


def promised(model: Model, promise: Promise) -> Tree:
    """Returns the promise's condition with full paths."""
    assert promise.condition is not None
    return rename(promise.condition.tree, model.resolve)


__all__ = ["BROKEN", "Encoder", "ModelReading", "SystemMode", "orders", "promised", "scaled"]
