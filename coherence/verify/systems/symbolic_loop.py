"""Follows one sample of one loop symbolically, in the order of `coherence.simulate.execute.laws`.

Trigger or rules, then the law; `symbolic_limits` has what follows.  What a loop remembers is in registers
(numbers) and in counters (part of the mode).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.language.expressions.tree import Arithmetic, Compare, Held, Name, Tree, walk
from coherence.model.laws import CURRENT, READ, READY, ZERO, Recommendation, shared
from coherence.model.model import Model, SampledLoop
from coherence.verify.systems.cases import NotLinearError, Symbols, exactly, forks, joined, numbers, product
from coherence.verify.systems.symbolic_instant import InstantPath, Wish
from coherence.verify.systems.symbolic_limits import Limiter
from coherence.verify.systems.terms import Guard, Term

SYMBOLS = (CURRENT, READ, READY)
NOT_ZERO = Compare("!=", CURRENT, ZERO)


class Actor(Limiter):
    """Follows one loop of a model through its sample."""

    def __init__(
        self, model: Model, loop: SampledLoop, *, windows: bool, fresh: Callable[[str], str], discrete: frozenset[str]
    ) -> None:
        super().__init__(model, loop, windows=windows, fresh=fresh, discrete=discrete)
        self.streaks = tuple(dict.fromkeys(n for t in loop.trees for n in walk(t) if isinstance(n, Held)))
        _refuse(loop)

    def counters(self) -> dict[str, Fraction]:
        """Returns counters of this loop, all 0 before the run."""
        names = [self.streak(n) for n in range(len(self.streaks))]
        names += [self.quiet] if self.loop.cooldown is not None else []
        names += [self.done] if self.loop.mode == "once" and not self.loop.rules else []
        return dict.fromkeys(names, Fraction(0))

    def streak(self, number: int) -> str:
        """Returns counter of the samples for which a condition has been true without a break."""
        return f"{self.loop.name}:streak{number + 1}"

    @property
    def done(self) -> str:
        return f"{self.loop.name}:done"

    # -- one sample -----------------------------------------------------------------------------

    def act(self, way: InstantPath, view: Callable[[InstantPath], Symbols]) -> Iterator[InstantPath]:
        """Yields every way in which the sample goes on."""
        for counted in self._counted(way, view):
            symbols = self._with_streaks(view(counted), counted)
            for decided, mode, wishes in self._decided(counted, symbols):
                after = decided.remembering({self.loop.name: Fraction(mode)})
                yield from self._wished(after, wishes) if wishes is not None else self._rested(after)

    def _counted(self, way: InstantPath, view: Callable[[InstantPath], Symbols]) -> list[InstantPath]:
        """Returns paths with streaks of `for h` counted on by this sample; an inner one before the one it stands in."""
        ways = [way]
        for number in sorted(range(len(self.streaks)), key=lambda n: sum(1 for _ in walk(self.streaks[n]))):
            held, name = self.streaks[number], self.streak(number)
            longest, grown = Fraction(math.ceil(held.duration / self.loop.period) + 1), []
            for path in ways:
                symbols = self._with_streaks(view(path), path)
                for fork in forks(held.condition, symbols):
                    if (under := path.under(fork.guard)) is not None:
                        lasted = min(path.memory[name] + 1, longest) if fork.holds else Fraction(0)
                        grown.append(under.remembering({name: lasted}))
            ways = grown
        return ways

    def _with_streaks(self, symbols: Symbols, way: InstantPath) -> Symbols:
        return replace(symbols, held=lambda held: self._long(held, way))

    def _long(self, held: Held, way: InstantPath) -> bool:
        lasted = way.memory[self.streak(self.streaks.index(held))]
        return lasted > 0 and (lasted - 1) * self.loop.period >= held.duration

    def _decided(
        self, way: InstantPath, symbols: Symbols
    ) -> Iterator[tuple[InstantPath, bool, list[tuple[Guard, Wish]] | None]]:
        """Yields (way, mode, wishes); no wishes where the loop does not reach its law."""
        loop = self.loop
        if loop.rules:
            yield from self._ruled(way, symbols)
            return
        for triggered, mode in self._triggered(way, symbols):
            once = loop.mode == "once"
            if not mode or loop.law == "none" or not loop.signal or (once and triggered.memory[self.done]):
                yield triggered, mode, None
            else:
                yield (
                    (triggered.remembering({self.done: Fraction(1)}) if once else triggered),
                    mode,
                    self._law(triggered, symbols),
                )

    def _ruled(
        self, way: InstantPath, symbols: Symbols
    ) -> Iterator[tuple[InstantPath, bool, list[tuple[Guard, Wish]] | None]]:
        open_ = [way]
        for rule, recommendation in zip(self.loop.rules, self.loop.recommendations, strict=True):
            ways = [
                (u, f.holds)
                for path in open_
                for f in forks(rule.when, symbols)
                if (u := path.under(f.guard)) is not None
            ]
            wishes = self._wishes(recommendation, way.cell(self.commanded), symbols) if self.loop.signal else None
            yield from ((u, True, wishes) for u, holds in ways if holds)
            open_ = [u for u, holds in ways if not holds]
        yield from ((path, False, None) for path in open_)

    def _triggered(self, way: InstantPath, symbols: Symbols) -> Iterator[tuple[InstantPath, bool]]:
        loop = self.loop
        if loop.enter is None or loop.leave is None:
            if loop.trigger is None:
                yield way, True
                return
            for fork in forks(loop.trigger, symbols):
                if (under := way.under(fork.guard)) is not None:
                    yield under, fork.holds
            return
        before = bool(way.memory[loop.name])
        for enter in forks(loop.enter, symbols):
            entered = way.under(enter.guard)
            if entered is not None and (enter.holds or not before):
                yield entered, enter.holds
            elif entered is not None:
                left = ((entered.under(leave.guard), leave.holds) for leave in forks(loop.leave, symbols))
                yield from ((path, not leaves) for path, leaves in left if path is not None)

    # -- laws -----------------------------------------------------------------------------------

    def _law(self, way: InstantPath, symbols: Symbols) -> list[tuple[Guard, Wish]]:
        loop, recommendation = self.loop, self.loop.recommendations[0]
        current = way.cell(loop.signal if loop.counts_landed else self.commanded)
        scales = loop.law == "proportional" and loop.ready is None
        total = self._total(current, way) if scales else None
        if total is not None and loop.setpoint is not None:
            recommendation = shared(total, loop.setpoint, tolerance=loop.tolerance, whole=loop.integer)
        try:
            return self._wishes(recommendation, current, symbols, divided=total is not None)
        except NotLinearError as error:
            raise NotLinearError(f"the law of {loop.name}: {error}") from None

    def _wishes(
        self, recommendation: Recommendation, current: Term, symbols: Symbols, *, divided: bool = False
    ) -> list[tuple[Guard, Wish]]:
        """Returns what a formula recommends; `divided`: where the current command is not 0."""
        reads = numbers(recommendation.read, symbols) if recommendation.read is not None else exactly(current)
        wishes = []
        ready = numbers(recommendation.ready, symbols) if recommendation.ready is not None else exactly(current)
        for guard, (read, members) in product([reads, ready]):
            values = {name.path: exactly(value) for name, value in zip(SYMBOLS, (current, read, members), strict=True)}
            bound = replace(symbols, number=values.__getitem__)
            cases = joined(guard, numbers(recommendation.formula, bound))
            if divided:
                cases = [c for fork in forks(NOT_ZERO, bound) if fork.holds for c in joined(fork.guard, cases)]
            wishes += [(c.guard, Wish(c.value, self.loop.law == "proportional")) for c in cases]
        return wishes

    def _total(self, current: Term, way: InstantPath) -> Tree | None:
        """Returns A, where the metric is A / the current command and that is unknown."""
        measured = self.loop.measured
        while isinstance(measured, Name) and measured.path in self.model.outputs:
            measured = self.model.outputs[measured.path]
        if isinstance(measured, Arithmetic) and measured.op == "/" and isinstance(measured.right, Name):
            below = measured.right.path
            if below == self.loop.signal and way.cell(below) == current and not current.known:
                return measured.left
        return None


def _refuse(loop: SampledLoop) -> None:
    if loop.mode not in ("always", "once"):
        raise NotLinearError(f"mode {loop.mode} of {loop.name}")
    if loop.cooldown is not None and loop.cooldown < 0:
        raise NotLinearError(f"a negative cooldown of {loop.name}")
