"""Follows one instant symbolically: flows up to it, deliver, sample, decide, step, and what windows will read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.clock import is_over
from coherence.base.reads import unnoted
from coherence.language.expressions.tree import Tree
from coherence.model.model import SampledLoop, in_turn
from coherence.verify.systems.bent_flows import enclosed
from coherence.verify.systems.cases import AffineCase, NotLinearError, exactly, joined, numbers, product
from coherence.verify.systems.registers import Moment, calls_in
from coherence.verify.systems.state_space import StateSpace, SystemMode
from coherence.verify.systems.symbolic_instant import InstantPath, clipped, commanded_cell
from coherence.verify.systems.terms import Term, add, scaled, unit

MOST_WAYS_AT_ONCE = 3000


class Instants(StateSpace):
    """Follows every way through one instant."""

    @property
    def lap(self) -> Fraction:
        """Returns the time in which every moment comes once."""
        return self.plan.hyperperiod

    @property
    def lengthening(self) -> int:
        """Returns how many times as many steps a drawn run takes to see as much as one of equal periods."""
        return 1

    @property
    def begins_apart(self) -> bool:
        """Returns whether the way to the first instant is another one than those to the later ones."""
        return bool(self.flowing)

    def _drifted(self, way: InstantPath, mode: SystemMode, moment: Moment) -> list[InstantPath]:
        """Returns paths after the flows since the instant before, at constant rates, up to their stops."""
        here, before = moment.time, self.plan.moments[mode.position - 1].time
        seconds = here if mode.first else (here - before) % self.plan.hyperperiod or self.plan.hyperperiod
        return self._flown(way, lambda rate: exactly(scaled(rate, seconds))) if seconds else [way]

    def _flown(self, way: InstantPath, added: Callable[[Term], list[AffineCase]]) -> list[InstantPath]:
        """Returns paths after flows up to their stops; `added`: what flows at a rate, which is constant meanwhile."""
        symbols, parts = self.symbols(way, None, who="the flow"), []
        for path in self.flowing:
            state = self.model.states[path]
            assert state.flow is not None
            rates = numbers(state.flow, symbols)
            if path in self.bent:
                later = self.fresh(f"{path} later")
                there = numbers(state.flow, self.symbols(way.holding({path: unit(later)}), None, who="the flow later"))
                parts.append(list(enclosed(way.cell(path), later, (rates, there), added, state.range)))
                continue
            amounts = [amount for rate in rates for amount in joined(rate.guard, added(rate.value))]
            moved = [AffineCase(c.guard, add(way.cell(path), c.value)) for c in amounts]
            parts.append([c for case in moved for c in clipped(case, state.range)])
        ways = []
        for guard, values in product(parts):
            if (under := way.under(guard)) is not None:
                ways.append(under.holding(dict(zip(self.flowing, values, strict=True))))
        return ways

    def _delivered(self, way: InstantPath, moment: Moment) -> list[InstantPath]:
        """Returns paths with what lands now, and with what is sampled now to be read later."""
        landed = {s: way.cell(self.plan.landed(s, moment.time)) for s in moment.landings}
        ways = [way.holding(landed)]
        for tree in self._inner_first():
            queue = self.plan.sampled[tree]
            if moment.time not in queue.times:
                continue
            grown = []
            for before in ways:
                for case in numbers(tree, self.symbols(before, moment, who="what is sampled")):
                    if (under := before.under(case.guard)) is not None:
                        shifted = {queue.cell(k): before.cell(queue.cell(k - 1)) for k in range(2, queue.length + 1)}
                        grown.append(under.holding({**shifted, queue.cell(1): case.value}))
            ways = grown
        return ways

    def _inner_first(self) -> list[Tree]:
        """Returns sampled trees, each after those that it reads."""
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

    def _decided(self, way: InstantPath, order: tuple[SampledLoop, ...], moment: Moment) -> list[InstantPath]:
        ways = [way]
        for loop in order:
            ways = [
                after
                for before in ways
                for seen in self._looked(before, loop, moment)
                for after in self._act(seen, loop, moment)
            ]
            if len(ways) > MOST_WAYS_AT_ONCE:
                raise NotLinearError(f"more than {MOST_WAYS_AT_ONCE} ways through one instant")
            if is_over(self.deadline):
                raise NotLinearError("the encoding takes longer than the time limit")
        commands = [signal for signal in self.plan.landing if any(loop.signal == signal for loop in order)]
        return [self._sent(before, commands) for before in ways] if commands else ways

    def _sent(self, way: InstantPath, signals: list[str]) -> InstantPath:
        cells: dict[str, Term] = {}
        for signal in signals:
            queue = self.plan.landing[signal]
            cells.update({queue.cell(k): way.cell(queue.cell(k - 1)) for k in range(2, queue.length + 1)})
            cells[queue.cell(1)] = way.cell(commanded_cell(signal, self.model))
        return way.holding(cells)

    def _looked(self, way: InstantPath, loop: SampledLoop, moment: Moment) -> list[InstantPath]:
        """Returns paths with the present values of what `previous` reads set aside, to be kept after the sample."""
        ways = [way]
        for tree in self._previous(loop):
            name, grown = self._before(loop, tree), []
            for before in ways:
                for case in numbers(tree, self.symbols(before, moment, loop)):
                    if (under := before.under(case.guard)) is not None:
                        first = {} if before.memory[self._begun(loop)] else {name: case.value}  # nothing before: itself
                        grown.append(under.holding({f"{name} now": case.value, **first}))
            ways = grown
        return ways

    def _act(self, way: InstantPath, loop: SampledLoop, moment: Moment) -> Iterator[InstantPath]:
        names = [self._before(loop, tree) for tree in self._previous(loop)]
        for after in self.actors[loop.name].act(way, lambda view: self.symbols(view, moment, loop)):
            if not names:
                yield after
                continue
            cells = {k: v for k, v in after.cells.items() if not k.endswith(" now")}
            looked = after.remembering({self._begun(loop): Fraction(1)})
            yield replace(looked, cells={**cells, **{name: after.cells[f"{name} now"] for name in names}})

    def _stepped(self, way: InstantPath, moment: Moment) -> Iterator[InstantPath]:
        """Yields paths after all due `next` maps at once, with what windows will look at."""
        symbols, parts = self.symbols(way, moment, who="the step"), []
        for path in moment.steps:
            state = self.model.states[path]
            assert state.next is not None
            parts.append([c for case in numbers(state.next, symbols) for c in clipped(case, state.range)])
        for guard, values in product(parts):
            if (under := way.under(guard)) is not None:
                yield from self._recorded(under.holding(dict(zip(moment.steps, values, strict=True))), moment)

    def _recorded(self, way: InstantPath, moment: Moment) -> Iterator[InstantPath]:
        symbols, queues = self.symbols(way, moment, who="what is averaged"), list(self.plan.after.items())
        for guard, values in product([numbers(tree, symbols) for tree, _ in queues]):
            under = way.under(guard)
            if under is None:
                continue
            cells: dict[str, Term] = {}
            for (_, queue), value in zip(queues, values, strict=True):
                cells.update({queue.cell(k): way.cell(queue.cell(k - 1)) for k in range(2, queue.length + 1)})
                cells[queue.cell(1)] = value
            yield under.holding(cells)


def orders(loops: tuple[SampledLoop, ...]) -> Iterator[tuple[SampledLoop, ...]]:
    """Yields every order that respects ranks; loops of equal rank are permuted."""
    in_turn(loops)
    with unnoted():  # of a single loop the rank says nothing
        ranked = sorted(loops, key=lambda loop: loop.rank)
        groups = [tuple(group) for _, group in itertools.groupby(ranked, key=lambda loop: loop.rank)]
    if any(len(group) > 4 for group in groups):
        raise NotLinearError("more than four loops of equal rank act at one instant: state their `rank`")
    for chosen in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield tuple(loop for group in chosen for loop in group)
