"""Limits a wish symbolically: hold windows, rate limits, bounds, cooldown, the write (model.md rules 4 and 6).

The order is that of `coherence.simulate.execute.laws`; what is remembered is in registers and counters.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.model.model import Interval, Model, RateLimit, SampledLoop
from coherence.verify.systems.cases import AffineCase, NotLinearError, exactly, few, joined, product, winners
from coherence.verify.systems.symbolic_instant import LESS, InstantPath, Wish, clipped, commanded_cell, steps_of, whole
from coherence.verify.systems.terms import TRUE, Guard, Term, add, constant, guard, scaled, unit

MOST_WAYS = 6000


class Limiter:
    """From what the law of one loop asks for to what it writes.

    `windows`: exact hold windows; otherwise a held value is any between what is wanted and what is commanded,
    which is a larger set of runs.  `fresh` makes an unknown that is new in every step.
    """

    def __init__(
        self, model: Model, loop: SampledLoop, *, windows: bool, fresh: Callable[[str], str], discrete: frozenset[str]
    ) -> None:
        self.model, self.loop, self.windows, self.fresh, self.discrete = model, loop, windows, fresh, discrete
        self.commanded = commanded_cell(loop.signal, model) if loop.signal else ""
        self.by_changes = self._by_changes()

    # -- what is remembered -------------------------------------------------------------------

    def _by_changes(self) -> bool:
        """Returns whether rate limits count from remembered changes.

        Where the loop alone writes, and what it writes is never clipped, the values that it wrote say the same.
        """
        command = self.model.commands.get(self.loop.signal)
        writers = sum(other.signal == self.loop.signal for other in self.model.loops)
        return writers > 1 or (command is not None and not _within(self.loop.bounds, command.range))

    def registers(self) -> Iterator[tuple[str, Term]]:
        """Yields (name, value before the run) of each register of this loop."""
        for name, length, start in self._banks():
            yield from ((f"{name} {k}", start) for k in range(1, length + 1))

    def _banks(self) -> Iterator[tuple[str, int, Term]]:
        loop = self.loop
        if self.windows:
            self._refuse_outside()
            for name, seconds, neutral in (
                ("hold_down", loop.hold_down, loop.bounds.low),
                ("hold_up", loop.hold_up, loop.bounds.high),
            ):
                if (length := steps_of(seconds, loop)) and seconds:
                    if neutral is None:
                        raise NotLinearError(f"{name} of {loop.name}: its signal needs bounds")
                    yield f"{loop.name} {name}", length, constant(neutral)
        if loop.rates:
            start = constant(0) if self.by_changes else unit(self.commanded)
            yield f"{loop.name} written", max(_age(rate, loop) for rate in loop.rates), start

    def _refuse_outside(self) -> None:
        """Raises NotLinearError where a rate may start from a command beyond the bounds, which fill hold windows.

        A proportional law moves such a command to the bound first.
        """
        loop, command = self.loop, self.model.commands.get(self.loop.signal)
        spans = [other.bounds for other in self.model.loops if other.signal == loop.signal]
        spans += [command.initial] if command is not None else []
        stays = loop.law == "proportional" or all(_within(span, loop.bounds) for span in spans)
        if loop.rates and (loop.hold_down or loop.hold_up) and not stays:
            raise NotLinearError(f"{loop.name} holds and limits the rate of a command that may be outside its bounds")

    @property
    def quiet(self) -> str:
        return f"{self.loop.name}:quiet"

    # -- one sample -----------------------------------------------------------------------------

    def _rested(self, way: InstantPath) -> Iterator[InstantPath]:
        """Yields the path through a sample at which the law is not reached: windows and queues go on."""
        cells = {}
        for name, length, start in self._banks():
            if not name.endswith(" written"):
                cells.update(self._pushed(way, name, length, start))
            else:
                cells.update(self._pushed(way, name, length, self._unchanged(way)))
        yield self._cooled(way.holding(cells), changed=False)

    def _cooled(self, way: InstantPath, *, changed: bool) -> InstantPath:
        if self.loop.cooldown is None:
            return way
        left = (
            Fraction(steps_of(self.loop.cooldown, self.loop))
            if changed
            else max(way.memory[self.quiet] - 1, Fraction(0))
        )
        return way.remembering({self.quiet: left})

    @staticmethod
    def _pushed(way: InstantPath, name: str, length: int, value: Term) -> dict[str, Term]:
        shifted = {f"{name} {k}": way.cell(f"{name} {k - 1}") for k in range(2, length + 1)}
        return {**shifted, f"{name} 1": value}

    def _wished(self, way: InstantPath, wishes: list[tuple[Guard, Wish]]) -> Iterator[InstantPath]:
        count = 0
        for start, wish in wishes:
            under = way.under(start)
            if under is None:
                continue
            for done in self._limited(under, wish):
                count += 1
                if count > MOST_WAYS:
                    raise NotLinearError(f"more than {MOST_WAYS} ways through one sample of {self.loop.name}")
                yield done

    def _limited(self, way: InstantPath, wish: Wish) -> Iterator[InstantPath]:
        current = way.cell(self.commanded)
        places = clipped(AffineCase(TRUE, current), self.loop.bounds) if wish.always_bounded else exactly(current)
        for place in places:
            if place.value != current:
                yield from self._written(way.holding(self._recommended(way, None)), place, current)
                continue
            held = [c for case in self._held(way, wish.wanted, current) for c in joined(place.guard, [case])]
            rated = few(r for case in held for r in joined(case.guard, self._rated(way, case.value, current)))
            for value in (value for case in rated for value in clipped(case, self.loop.bounds)):
                yield from self._written(way.holding(self._recommended(way, wish.wanted)), value, current)

    def _recommended(self, way: InstantPath, wanted: Term | None) -> dict[str, Term]:
        """Returns the hold windows with a new recommendation; None: with one that changes nothing."""
        pushed: dict[str, Term] = {}
        for name, length, neutral in self._banks():
            if not name.endswith(" written"):
                pushed.update(self._pushed(way, name, length, neutral if wanted is None else wanted))
        return pushed

    def _held(self, way: InstantPath, wanted: Term, current: Term) -> list[AffineCase]:
        loop, difference = self.loop, add(wanted, current, LESS)
        if not (loop.hold_down or loop.hold_up):
            return exactly(wanted)
        cases = [AffineCase(g, wanted) for g in [TRUE.also(difference, "==")] if g is not None]
        for seconds, name, sign in ((loop.hold_down, "hold_down", 1), (loop.hold_up, "hold_up", -1)):
            side = TRUE.also(scaled(difference, Fraction(sign)), "<")
            if side is not None:
                length = steps_of(seconds, loop) if seconds else 0
                cases += joined(side, self._window(way, wanted, current, f"{loop.name} {name}", length, sign))
        return cases

    def _window(
        self, way: InstantPath, wanted: Term, current: Term, name: str, length: int, sign: int
    ) -> list[AffineCase]:
        """Returns the largest (sign -1: smallest) value of the window, but not beyond the current command."""
        if not length:
            return exactly(wanted)
        if not self.windows:
            between = unit(self.fresh(name))
            rows = [(add(wanted, between, LESS), "<="), (add(between, current, LESS), "<=")]
            rows_hold = guard([(scaled(term, Fraction(sign)), relation) for term, relation in rows])
            return [AffineCase(rows_hold, between)] if rows_hold is not None else []
        older = [way.cell(f"{name} {k}") for k in range(1, length + 1)]
        beyond = (TRUE.also(scaled(add(current, value, LESS), Fraction(sign)), "<=") for value in dict.fromkeys(older))
        cases = [AffineCase(g, current) for g in beyond if g is not None]
        below = guard([(scaled(add(value, current, LESS), Fraction(sign)), "<") for value in dict.fromkeys(older)])
        if below is not None:
            cases += [AffineCase(g, w) for g, w in winners([wanted, *older], largest=sign > 0, start=below)]
        return cases

    def _rated(self, way: InstantPath, wanted: Term, current: Term) -> list[AffineCase]:
        loop, difference = self.loop, add(wanted, current, LESS)
        if not loop.rates:
            return exactly(wanted)
        cases = [AffineCase(g, wanted) for g in [TRUE.also(difference, "==")] if g is not None]
        for rising in (True, False):
            side = TRUE.also(scaled(difference, Fraction(-1 if rising else 1)), "<")
            limits = [rate for rate in loop.rates if (rate.up if rising else rate.down)]
            if side is None:
                continue
            if not limits:
                cases.append(AffineCase(side, wanted))
                continue
            edges = product([exactly(current), *(self._edge(way, rate, rising=rising) for rate in limits)])
            farthest = (pair for start, terms in edges for pair in winners(terms, largest=rising, start=start))
            for start, edge in farthest:
                under = side.joined(start)
                if under is not None:
                    cases += [AffineCase(g, w) for g, w in winners([wanted, edge], largest=not rising, start=under)]
        return cases

    def _edge(self, way: InstantPath, rate: RateLimit, *, rising: bool) -> list[AffineCase]:
        """Returns the farthest value that one rate limit allows."""
        start = self._begin(way, _age(rate, self.loop))
        sign = Fraction(1 if rising else -1)
        edge = add(start, constant(rate.by or 0), sign)
        if rate.percent is None:
            return exactly(edge)
        share = scaled(start, 1 + sign * rate.percent)
        shares = self._whole_share(share, rising=rising) if self.loop.integer else exactly(share)
        return [AffineCase(g, w) for c in shares for g, w in winners([edge, c.value], largest=rising, start=c.guard)]

    def _begin(self, way: InstantPath, age: int) -> Term:
        """Returns the command less the loop's own changes of the last samples but one: for a lone writer, its value."""
        name = f"{self.loop.name} written"
        if not self.by_changes:
            return way.cell(f"{name} {age}")
        own = (way.cell(f"{name} {k}") for k in range(1, age))
        return functools.reduce(lambda term, change: add(term, change, LESS), own, way.cell(self.commanded))

    def _unchanged(self, way: InstantPath) -> Term:
        """Returns what is remembered of a sample at which the loop writes nothing new."""
        return constant(0) if self.by_changes else way.cell(f"{self.loop.name} written 1")

    def _whole_share(self, share: Term, *, rising: bool) -> list[AffineCase]:
        return whole("ceil" if rising else "floor", share, self.fresh)

    def _written(self, way: InstantPath, case: AffineCase, current: Term) -> Iterator[InstantPath]:
        """Yields Cooldown, the signal's own range, and the write."""
        loop, under = self.loop, way.under(case.guard)
        if under is None:
            return
        written = f"{loop.name} written"
        if loop.cooldown is not None and way.memory[self.quiet]:
            same = under.under(g) if (g := TRUE.also(add(case.value, current, LESS), "==")) is not None else None
            if same is not None:
                yield from self._stored(same, AffineCase(TRUE, current), current, case.value)
            for sign in (1, -1):
                g = TRUE.also(scaled(add(case.value, current, LESS), Fraction(sign)), "<")
                cooling = under.under(g) if g is not None else None
                if cooling is not None:
                    length = max((_age(rate, loop) for rate in loop.rates), default=0)
                    cells = self._pushed(cooling, written, length, self._unchanged(cooling)) if length else {}
                    yield self._cooled(cooling.holding(cells), changed=False)
            return
        yield from self._stored(under, AffineCase(TRUE, case.value), current, case.value)

    def _stored(self, way: InstantPath, case: AffineCase, current: Term, before_range: Term) -> Iterator[InstantPath]:
        loop = self.loop
        length = max((_age(rate, loop) for rate in loop.rates), default=0)
        new = add(before_range, current, LESS) if self.by_changes else before_range
        cells = self._pushed(way, f"{loop.name} written", length, new) if length else {}
        inside = clipped(case, self.model.commands[loop.signal].range)
        for value in (v for c in inside for v in self._enumerated(c)):
            under = way.under(value.guard)
            if under is None:
                continue
            stored = replace(under.holding({**cells, self.commanded: value.value}), label=(*way.label, loop.name))
            if loop.cooldown is None:
                yield stored
                continue
            difference = add(value.value, current, LESS)
            for relation, sign, changed in (("==", 1, False), ("<", 1, True), ("<", -1, True)):
                g = TRUE.also(scaled(difference, Fraction(sign)), relation)
                if g is not None and (way_ := stored.under(g)) is not None:
                    yield self._cooled(way_, changed=changed)

    def _enumerated(self, case: AffineCase) -> Iterator[AffineCase]:
        """Yields a whole command that is part of the mode: one case per number that it can take."""
        if self.commanded not in self.discrete or case.value.known:
            yield case
            return
        low, high = self.loop.bounds.low, self.loop.bounds.high
        if not self.loop.integer or low is None or high is None:
            raise NotLinearError(f"{self.loop.signal} takes values between whole numbers")
        for number in range(math.ceil(low), math.floor(high) + 1):
            equal = case.guard.also(add(case.value, constant(-number)), "==")
            if equal is not None:
                yield AffineCase(equal, constant(number))


def _within(inner: Interval, outer: Interval) -> bool:
    low = outer.low is None or (inner.low is not None and inner.low >= outer.low)
    return low and (outer.high is None or (inner.high is not None and inner.high <= outer.high))


def _age(rate: RateLimit, loop: SampledLoop) -> int:
    """Returns which of the last written values a rate limit starts from (1: the newest)."""
    return max(1, math.ceil(rate.per / loop.period))
