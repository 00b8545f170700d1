"""One sample of one loop, symbolically: the same order of things as `coherence.simulate.laws`.

Trigger or rules, law, hold windows, rate limits, bounds, cooldown, write.  What a loop remembers is in
registers (numbers) and in counters (part of the mode).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.expressions.tree import Arithmetic, Held, Name, Tree, walk
from coherence.model import Interval, Model, RateLimit, SampledLoop
from coherence.verify.cases import Case, NotLinearError, Symbols, exactly, few, forks, joined, numbers, product, winners
from coherence.verify.registers import trees_of_loop
from coherence.verify.terms import TRUE, Guard, Term, add, constant, guard, scaled, unit

MOST_WAYS = 6000
LESS = Fraction(-1)


@dataclass(frozen=True, slots=True)
class Way:
    """One way through an instant: what was assumed, what cells hold now, counters and modes, and who acted."""

    guard: Guard
    cells: dict[str, Term]
    memory: dict[str, Fraction]
    label: tuple[str, ...] = ()

    def cell(self, name: str) -> Term:
        """The present value of a cell."""
        return self.cells.get(name) or unit(name)

    def under(self, more: Guard) -> Way | None:
        """The way with a guard more."""
        made = self.guard.joined(more)
        return None if made is None else replace(self, guard=made)

    def holding(self, cells: dict[str, Term]) -> Way:
        """The way with cells written."""
        return replace(self, cells={**self.cells, **cells})

    def remembering(self, memory: dict[str, Fraction]) -> Way:
        """The way with counters or modes changed."""
        return replace(self, memory={**self.memory, **memory})


@dataclass(frozen=True, slots=True)
class Wish:
    """What the law asks for, before anything limits it."""

    wanted: Term
    always_bounded: bool  # a proportional law whose command is outside its bounds goes to the bound


def commanded_cell(signal: str, model: Model) -> str:
    """The cell with what was last commanded: the signal itself where commands land at once."""
    late = any(loop.lands for loop in model.loops if loop.signal == signal)
    return f"{signal} commanded" if late else signal


def steps_of(seconds: Fraction, loop: SampledLoop) -> int:
    """How many samples before this one lie in a closed window."""
    return math.floor(seconds / loop.period)


class Actor:
    """Follows one loop of a model through its sample.

    `windows`: exact hold windows; otherwise a held value is any between what is wanted and what is commanded,
    which is a larger set of runs.  `fresh` makes an unknown that is new in every step.
    """

    def __init__(
        self, model: Model, loop: SampledLoop, *, windows: bool, fresh: Callable[[str], str], discrete: frozenset[str]
    ) -> None:
        self.model, self.loop, self.windows, self.fresh, self.discrete = model, loop, windows, fresh, discrete
        self.commanded = commanded_cell(loop.signal, model) if loop.signal else ""
        self.streaks = tuple(dict.fromkeys(n for t in trees_of_loop(loop) for n in walk(t) if isinstance(n, Held)))
        writers = sum(other.signal == loop.signal for other in model.loops)
        self.shared = writers > 1
        _refuse(loop)

    # -- what is remembered -------------------------------------------------------------------

    def registers(self) -> Iterator[tuple[str, Term]]:
        """(name, value before the run) of each register of this loop."""
        for name, length, start in self._banks():
            yield from ((f"{name} {k}", start) for k in range(1, length + 1))

    def _banks(self) -> Iterator[tuple[str, int, Term]]:
        loop = self.loop
        if self.windows:
            for name, seconds, neutral in (
                ("hold_down", loop.hold_down, loop.bounds.low),
                ("hold_up", loop.hold_up, loop.bounds.high),
            ):
                if (length := steps_of(seconds, loop)) and seconds:
                    if neutral is None:
                        raise NotLinearError(f"{name} of {loop.name}: its signal needs bounds")
                    yield f"{loop.name} {name}", length, constant(neutral)
        if loop.rates:
            yield f"{loop.name} written", max(_age(rate, loop) for rate in loop.rates), unit(self.commanded)

    def counters(self) -> dict[str, Fraction]:
        """Counters of this loop, all 0 before the run."""
        names = [self.streak(n) for n in range(len(self.streaks))]
        names += [self.quiet] if self.loop.cooldown is not None else []
        names += [self.done] if self.loop.mode == "once" and not self.loop.rules else []
        names += [self.begun] if self.loop.rates and self.shared else []
        return dict.fromkeys(names, Fraction(0))

    def streak(self, number: int) -> str:
        """Counter of the samples for which a condition has been true without a break."""
        return f"{self.loop.name}:streak{number + 1}"

    @property
    def quiet(self) -> str:
        return f"{self.loop.name}:quiet"

    @property
    def done(self) -> str:
        return f"{self.loop.name}:done"

    @property
    def begun(self) -> str:
        return f"{self.loop.name}:begun"

    # -- one sample -----------------------------------------------------------------------------

    def act(self, way: Way, view: Callable[[Way], Symbols]) -> Iterator[Way]:
        """Every way in which the sample goes on."""
        for counted in self._counted(way, view):
            symbols = self._with_streaks(view(counted), counted)
            for made, mode, wishes in self._decided(counted, symbols):
                after = made.remembering({self.loop.name: Fraction(mode)})
                yield from self._wished(after, wishes) if wishes is not None else self._rested(after)

    def _counted(self, way: Way, view: Callable[[Way], Symbols]) -> list[Way]:
        """Streaks of `for h`, counted on by this sample; an inner one is counted before the one it stands in."""
        ways = [way]
        for number in sorted(range(len(self.streaks)), key=lambda n: sum(1 for _ in walk(self.streaks[n]))):
            held, name = self.streaks[number], self.streak(number)
            longest, grown = Fraction(math.ceil(held.duration / self.loop.period) + 1), []
            for one in ways:
                symbols = self._with_streaks(view(one), one)
                for fork in forks(held.condition, symbols):
                    if (under := one.under(fork.guard)) is not None:
                        lasted = min(one.memory[name] + 1, longest) if fork.holds else Fraction(0)
                        grown.append(under.remembering({name: lasted}))
            ways = grown
        return ways

    def _with_streaks(self, symbols: Symbols, way: Way) -> Symbols:
        return replace(symbols, held=lambda held: self._long(held, way))

    def _long(self, held: Held, way: Way) -> bool:
        lasted = way.memory[self.streak(self.streaks.index(held))]
        return lasted > 0 and (lasted - 1) * self.loop.period >= held.duration

    def _decided(self, way: Way, symbols: Symbols) -> Iterator[tuple[Way, bool, list[tuple[Guard, Wish]] | None]]:
        """(way, mode, wishes); no wishes where the loop does not reach its law."""
        loop = self.loop
        if loop.rules:
            yield from self._ruled(way, symbols)
            return
        for made, mode in self._triggered(way, symbols):
            once = loop.mode == "once"
            if not mode or loop.law == "none" or not loop.signal or (once and made.memory[self.done]):
                yield made, mode, None
            else:
                yield (made.remembering({self.done: Fraction(1)}) if once else made), mode, self._law(made, symbols)

    def _ruled(self, way: Way, symbols: Symbols) -> Iterator[tuple[Way, bool, list[tuple[Guard, Wish]] | None]]:
        open_ = [way]
        for when, by, to in self.loop.rules:
            ways = [
                (u, f.holds) for one in open_ for f in forks(when, symbols) if (u := one.under(f.guard)) is not None
            ]
            wishes = self._stepped(by, to, way, symbols) if self.loop.signal else None
            yield from ((u, True, wishes) for u, holds in ways if holds)
            open_ = [u for u, holds in ways if not holds]
        yield from ((one, False, None) for one in open_)

    def _triggered(self, way: Way, symbols: Symbols) -> Iterator[tuple[Way, bool]]:
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
                yield from ((made, not leaves) for made, leaves in left if made is not None)

    # -- laws -----------------------------------------------------------------------------------

    def _law(self, way: Way, symbols: Symbols) -> list[tuple[Guard, Wish]]:
        if self.loop.law == "proportional":
            return self._proportional(way, symbols)
        return self._stepped(self.loop.by, self.loop.to, way, symbols)

    def _stepped(self, by: Tree | None, to: Tree | None, way: Way, symbols: Symbols) -> list[tuple[Guard, Wish]]:
        current = way.cell(self.commanded)
        if to is not None:
            return [(c.guard, Wish(c.value, False)) for c in numbers(to, symbols)]
        if by is not None:
            return [(c.guard, Wish(add(current, c.value), False)) for c in numbers(by, symbols)]
        return [(TRUE, Wish(current, False))]

    def _proportional(self, way: Way, symbols: Symbols) -> list[tuple[Guard, Wish]]:
        loop = self.loop
        assert loop.measured is not None and loop.setpoint is not None  # noqa: PT018
        current = way.cell(self.commanded if loop.counts_commanded else loop.signal)
        share = self._share(loop.measured, current, way)
        ratios = numbers(Arithmetic("/", share or loop.measured, loop.setpoint), symbols)
        cases = [made for case in ratios for made in self._scaled(case, current, divided=share is not None)]
        rounded = [r for c in cases if c[2] for r in joined(c[0], self._rounded(c[1], symbols))]
        told = [(g, Wish(value, True)) for g, value, moves in cases if not moves]
        return told + [(case.guard, Wish(case.value, True)) for case in rounded]

    def _share(self, measured: Tree, current: Term, way: Way) -> Tree | None:
        """A where what is measured is A / the current command: then command * measured is A itself."""
        while isinstance(measured, Name) and measured.path in self.model.outputs:
            measured = self.model.outputs[measured.path]
        if isinstance(measured, Arithmetic) and measured.op == "/" and isinstance(measured.right, Name):
            below = measured.right.path
            if below == self.loop.signal and way.cell(below) == current and not current.known:
                return measured.left
        return None

    def _scaled(self, ratio: Case, current: Term, *, divided: bool) -> Iterator[tuple[Guard, Term, bool]]:
        """(guard, value, whether it moves): current * ratio unless the ratio is within tolerance of 1.

        `divided`: the ratio is still to be divided by the current command, which must not be 0.
        """
        low, high = 1 - self.loop.tolerance, 1 + self.loop.tolerance
        one = current if divided else constant(1)
        if divided:
            wanted = ratio.value
        elif ratio.value.known or current.known:
            known, other = (ratio.value, current) if ratio.value.known else (current, ratio.value)
            wanted = scaled(other, known.constant)
        else:
            raise NotLinearError(f"the proportional law of {self.loop.name}: a product of two unknowns")
        for sign in (Fraction(1), LESS) if divided else (Fraction(1),):
            side = ratio.guard.also(scaled(one, -sign), "<") if divided else ratio.guard
            if side is None:
                continue
            under = scaled(add(scaled(one, low), ratio.value, LESS), sign)  # <= 0: not below the dead band
            over = scaled(add(ratio.value, scaled(one, high), LESS), sign)
            if (inside := guard([(under, "<="), (over, "<=")], side)) is not None:
                yield inside, current, False
            for beyond in (under, over):
                if (outside := side.also(scaled(beyond, LESS), "<")) is not None:
                    yield outside, wanted, True

    def _rounded(self, wanted: Term, symbols: Symbols) -> list[Case]:
        return symbols.whole("ceil", wanted) if self.loop.integer else exactly(wanted)

    # -- limits ---------------------------------------------------------------------------------

    def _rested(self, way: Way) -> Iterator[Way]:
        """A sample at which the law is not reached: windows and queues go on."""
        cells = {}
        for name, length, start in self._banks():
            if not name.endswith(" written"):
                cells.update(self._pushed(way, name, length, start))
            else:
                cells.update(self._pushed(way, name, length, way.cell(f"{name} 1")))
        yield self._cooled(way.holding(cells), changed=False)

    def _cooled(self, way: Way, *, changed: bool) -> Way:
        if self.loop.cooldown is None:
            return way
        left = (
            Fraction(steps_of(self.loop.cooldown, self.loop))
            if changed
            else max(way.memory[self.quiet] - 1, Fraction(0))
        )
        return way.remembering({self.quiet: left})

    @staticmethod
    def _pushed(way: Way, name: str, length: int, value: Term) -> dict[str, Term]:
        shifted = {f"{name} {k}": way.cell(f"{name} {k - 1}") for k in range(2, length + 1)}
        return {**shifted, f"{name} 1": value}

    def _wished(self, way: Way, wishes: list[tuple[Guard, Wish]]) -> Iterator[Way]:
        made = 0
        for start, wish in wishes:
            under = way.under(start)
            if under is None:
                continue
            for done in self._limited(self._begun(under), wish):
                made += 1
                if made > MOST_WAYS:
                    raise NotLinearError(f"more than {MOST_WAYS} ways through one sample of {self.loop.name}")
                yield done

    def _begun(self, way: Way) -> Way:
        """The first sample that comes here fills the register of what was written."""
        if self.begun not in way.memory or way.memory[self.begun]:
            return way
        length, name = max(_age(rate, self.loop) for rate in self.loop.rates), f"{self.loop.name} written"
        filled = {f"{name} {k}": way.cell(self.commanded) for k in range(1, length + 1)}
        return way.holding(filled).remembering({self.begun: Fraction(1)})

    def _limited(self, way: Way, wish: Wish) -> Iterator[Way]:
        current = way.cell(self.commanded)
        pushed: dict[str, Term] = {}
        for name, length, _ in self._banks():
            if not name.endswith(" written"):
                pushed.update(self._pushed(way, name, length, wish.wanted))
        held = self._held(way, wish.wanted, current)
        rated = few(r for case in held for r in joined(case.guard, self._rated(way, case.value, current)))
        for case in rated:
            for bounded in clipped(case, self.loop.bounds):
                for value in self._moved(bounded, wish, current):
                    yield from self._written(way.holding(pushed), value, current)

    def _held(self, way: Way, wanted: Term, current: Term) -> list[Case]:
        loop, difference = self.loop, add(wanted, current, LESS)
        if not (loop.hold_down or loop.hold_up):
            return exactly(wanted)
        made = [Case(g, wanted) for g in [TRUE.also(difference, "==")] if g is not None]
        for seconds, name, sign in ((loop.hold_down, "hold_down", 1), (loop.hold_up, "hold_up", -1)):
            side = TRUE.also(scaled(difference, Fraction(sign)), "<")
            if side is not None:
                length = steps_of(seconds, loop) if seconds else 0
                made += joined(side, self._window(way, wanted, current, f"{loop.name} {name}", length, sign))
        return made

    def _window(self, way: Way, wanted: Term, current: Term, name: str, length: int, sign: int) -> list[Case]:
        """The largest (sign -1: smallest) value of the window, but not beyond the current command."""
        if not length:
            return exactly(wanted)
        if not self.windows:
            between = unit(self.fresh(name))
            rows = [(add(wanted, between, LESS), "<="), (add(between, current, LESS), "<=")]
            made = guard([(scaled(term, Fraction(sign)), relation) for term, relation in rows])
            return [Case(made, between)] if made is not None else []
        kept = [way.cell(f"{name} {k}") for k in range(1, length + 1)]
        beyond = (TRUE.also(scaled(add(current, one, LESS), Fraction(sign)), "<=") for one in dict.fromkeys(kept))
        cases = [Case(g, current) for g in beyond if g is not None]
        below = guard([(scaled(add(one, current, LESS), Fraction(sign)), "<") for one in dict.fromkeys(kept)])
        if below is not None:
            cases += [Case(g, w) for g, w in winners([wanted, *kept], largest=sign > 0, start=below)]
        return cases

    def _rated(self, way: Way, wanted: Term, current: Term) -> list[Case]:
        loop, difference = self.loop, add(wanted, current, LESS)
        if not loop.rates:
            return exactly(wanted)
        made = [Case(g, wanted) for g in [TRUE.also(difference, "==")] if g is not None]
        for rising in (True, False):
            side = TRUE.also(scaled(difference, Fraction(-1 if rising else 1)), "<")
            limits = [rate for rate in loop.rates if (rate.up if rising else rate.down)]
            if side is None:
                continue
            if not limits:
                made.append(Case(side, wanted))
                continue
            edges = product([self._edge(way, rate, rising=rising) for rate in limits])
            farthest = (pair for start, terms in edges for pair in winners(terms, largest=rising, start=start))
            for start, edge in farthest:
                under = side.joined(start)
                if under is not None:
                    made += [Case(g, w) for g, w in winners([wanted, edge], largest=not rising, start=under)]
        return made

    def _edge(self, way: Way, rate: RateLimit, *, rising: bool) -> list[Case]:
        """The farthest value that one rate limit allows."""
        start = way.cell(f"{self.loop.name} written {_age(rate, self.loop)}")
        sign = Fraction(1 if rising else -1)
        edge = add(start, constant(rate.by or 0), sign)
        if rate.percent is None:
            return exactly(edge)
        share = scaled(start, 1 + sign * rate.percent)
        shares = self._whole_share(share, rising=rising) if self.loop.integer else exactly(share)
        return [Case(g, w) for c in shares for g, w in winners([edge, c.value], largest=rising, start=c.guard)]

    def _whole_share(self, share: Term, *, rising: bool) -> list[Case]:
        return whole("ceil" if rising else "floor", share, self.fresh)

    def _moved(self, case: Case, wish: Wish, current: Term) -> list[Case]:
        """A proportional law whose command is outside its bounds moves it to the bound, whatever it wants."""
        if not wish.always_bounded:
            return [case]
        bounded = clipped(Case(case.guard, current), self.loop.bounds)
        return [Case(one.guard, case.value if one.value == current else one.value) for one in bounded]

    def _written(self, way: Way, case: Case, current: Term) -> Iterator[Way]:
        """Cooldown, the signal's own range, and the write."""
        loop, under = self.loop, way.under(case.guard)
        if under is None:
            return
        written = f"{loop.name} written"
        if loop.cooldown is not None and way.memory[self.quiet]:
            same = under.under(g) if (g := TRUE.also(add(case.value, current, LESS), "==")) is not None else None
            if same is not None:
                yield from self._stored(same, Case(TRUE, current), current, case.value)
            for sign in (1, -1):
                g = TRUE.also(scaled(add(case.value, current, LESS), Fraction(sign)), "<")
                cooling = under.under(g) if g is not None else None
                if cooling is not None:
                    length = max((_age(rate, loop) for rate in loop.rates), default=0)
                    kept = self._pushed(cooling, written, length, cooling.cell(f"{written} 1")) if length else {}
                    yield self._cooled(cooling.holding(kept), changed=False)
            return
        yield from self._stored(under, Case(TRUE, case.value), current, case.value)

    def _stored(self, way: Way, case: Case, current: Term, before_range: Term) -> Iterator[Way]:
        loop = self.loop
        length = max((_age(rate, loop) for rate in loop.rates), default=0)
        cells = self._pushed(way, f"{loop.name} written", length, before_range) if length else {}
        inside = clipped(case, self.model.commands[loop.signal].range)
        for one in (v for c in inside for v in self._enumerated(c)):
            under = way.under(one.guard)
            if under is None:
                continue
            stored = replace(under.holding({**cells, self.commanded: one.value}), label=(*way.label, loop.name))
            if loop.cooldown is None:
                yield stored
                continue
            difference = add(one.value, current, LESS)
            for relation, sign, changed in (("==", 1, False), ("<", 1, True), ("<", -1, True)):
                g = TRUE.also(scaled(difference, Fraction(sign)), relation)
                if g is not None and (made := stored.under(g)) is not None:
                    yield self._cooled(made, changed=changed)

    def _enumerated(self, case: Case) -> Iterator[Case]:
        """A whole command that is part of the mode: one case per number that it can take."""
        if self.commanded not in self.discrete or case.value.known:
            yield case
            return
        low, high = self.loop.bounds.low, self.loop.bounds.high
        if not self.loop.integer or low is None or high is None:
            raise NotLinearError(f"{self.loop.signal} takes values between whole numbers")
        for number in range(math.ceil(low), math.floor(high) + 1):
            made = case.guard.also(add(case.value, constant(-number)), "==")
            if made is not None:
                yield Case(made, constant(number))


def _age(rate: RateLimit, loop: SampledLoop) -> int:
    """Which of the last written values a rate limit starts from."""
    return max(1, math.ceil(rate.per / loop.period))


def whole(function: str, term: Term, fresh: Callable[[str], str]) -> list[Case]:
    """ceil or floor of a term: an unknown within one of it."""
    if term.known:
        return exactly(constant(math.ceil(term.constant) if function == "ceil" else math.floor(term.constant)))
    made = unit(fresh(f"{function} {term}"))
    first, last = (term, made) if function == "ceil" else (made, term)
    rows = guard([(add(first, last, LESS), "<="), (add(add(last, first, LESS), constant(-1)), "<")])
    return [Case(rows, made)] if rows is not None else []


def clipped(case: Case, interval: Interval) -> list[Case]:
    """The value moved into an interval."""
    made: list[Case] = []
    inside: Guard | None = case.guard
    for edge, sign in ((interval.low, 1), (interval.high, -1)):
        if edge is None:
            continue
        beyond = scaled(add(case.value, constant(edge), LESS), Fraction(sign))  # < 0 beyond the edge
        outside = case.guard.also(beyond, "<")
        made += [Case(outside, constant(edge))] if outside is not None else []
        inside = inside.also(scaled(beyond, LESS), "<=") if inside is not None else None
    return [*made, Case(inside, case.value)] if inside is not None else made


def _refuse(loop: SampledLoop) -> None:
    if loop.mode not in ("always", "once"):
        raise NotLinearError(f"mode {loop.mode} of {loop.name}")
    if loop.cooldown is not None and loop.cooldown < 0:
        raise NotLinearError(f"a negative cooldown of {loop.name}")
