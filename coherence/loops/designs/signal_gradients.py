"""Differentiates the expressions of a model at an operating point, by signal, delay and window.

    d(expression) = sum of weight * signal(t - lag), or of its mean over a window that ends at t - lag

A sensor that samples (`sampled(x, 15 s)`) becomes a scrape: a signal of its own that takes the value of its
expression at the multiples of its period and holds it; `previous(x)` becomes a memory: a signal that shows x as its
reader saw it a sample ago.  What has no derivative is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Name, Tree
from coherence.loops.designs.equilibria import AtRest, decided, law_at_rest
from coherence.model.laws import CURRENT
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.affine import Affine, lift, variable
from coherence.simulate.execute.instants import MissingValueError

NOW = Fraction(0)
Num = Any  # Fraction or Affine


@dataclass(frozen=True)
class PastSignal:
    """A signal as it was `lag` seconds ago, or its mean over the `window` seconds before that."""

    path: str
    lag: Fraction = NOW
    window: Fraction = NOW


Gradient = Mapping[PastSignal, Fraction]


OWN = "own command by its name"


@dataclass(frozen=True)
class OwnCommand:
    """The derivative of a law by the command that it counts from, and by its own command where it names that."""

    counted: Fraction
    named: Fraction


@dataclass(frozen=True)
class Scrape:
    """What a sensor takes every `period` seconds."""

    period: Fraction
    gradient: Gradient


class Gradients:
    """The derivatives at one point of a model, whose kinks and thresholds were taken out before.

    `apart`: bends need not meet at the point, so that those of one reading are not the same.
    """

    def __init__(
        self,
        model: Model,
        point: Mapping[str, Fraction],
        bends: Mapping[str, Tree] | None = None,
        *,
        apart: bool = False,
    ) -> None:
        self.model, self.point, self.bends, self.apart = model, point, bends or {}, apart
        self.rest = AtRest(model, {**point, **dict.fromkeys(self.bends, NOW)})
        self.bent: dict[str, Gradient] = {}
        self._absolute: dict[tuple[str, Fraction], Affine] = {}
        self.scrapes: dict[str, Scrape] = {}
        self.memories: dict[str, Gradient] = {}
        self._names: dict[PastSignal, str] = {}
        self._readings: dict[str, PastSignal] = {}
        self._by_lag: dict[Fraction, _Lagged] = {}
        self._scraped: dict[tuple[Tree, Fraction], str] = {}
        self._remembered: dict[tuple[Tree, Fraction], str] = {}

    def of(self, tree: Tree) -> Gradient:
        """Returns the derivative of an expression.  Raises NotExactError, MissingValueError."""
        return self.gradient(lift(evaluate(tree, self.at(NOW))))

    def of_law(self, loop: SampledLoop) -> tuple[Fraction, Gradient] | None:
        """Returns the derivative of what the loop decides, by its own command and by what it reads; None: no act."""
        law = law_at_rest(loop, self.rest)
        if law is None:
            return None
        decision = lift(decided(law, variable(CURRENT.path, self.point[loop.signal]), self.at(NOW)))
        own = decision.coefficient(CURRENT.path)
        return own, self.gradient(Affine(decision.value, tuple(r for r in decision.gradient if r[0] != CURRENT.path)))

    def own_command(self, loop: SampledLoop) -> OwnCommand:
        """Returns how the law carries its own command on: what it changes, and what it reads of it by its name.

        A proportional law multiplies its command, also where it counts members that are ready; what it measures is of
        the plant, however it is written.  A law with no linear form here counts as one that sets, or as one that
        changes its command, by its name.
        """
        try:
            law = law_at_rest(loop, self.rest)
            names = own_names(self.model, loop)
            env = _ByName(self.at(NOW), names, variable(OWN, self.point[loop.signal]))
            number = lift(decided(law, variable(CURRENT.path, self.point[loop.signal]), env)) if law else lift(NOW)
            counted = Fraction(1) if loop.law == "proportional" else number.coefficient(CURRENT.path)
            return OwnCommand(counted, number.coefficient(OWN))
        except (NotExactError, MissingValueError):
            return OwnCommand(Fraction(loop.law != "set"), NOW)

    def gradient(self, number: Affine) -> Gradient:
        """Returns the derivative that a number carries, by reading."""
        return {self._readings[name]: slope for name, slope in number.gradient if slope}

    def at(self, lag: Fraction) -> _Lagged:
        """Returns the environment of so many seconds ago."""
        return self._by_lag.setdefault(lag, _Lagged(self, lag))

    def variable(self, reading: PastSignal, value: Fraction) -> Affine:
        """Returns a reading as an independent variable."""
        name = self._names.setdefault(reading, f"reading {len(self._names)}")
        self._readings[name] = reading
        return variable(name, value)

    def scrape(self, tree: Tree, period: Fraction) -> str:
        """Returns the signal that holds what a sensor takes of an expression."""
        key = (tree, period)
        if key not in self._scraped:
            self._scraped[key] = f"scrape {len(self._scraped) + 1}"
            self.scrapes[self._scraped[key]] = Scrape(period, self.of(tree))
        return self._scraped[key]

    def bend(self, path: str, lag: Fraction) -> Affine:
        """Returns the absolute value of what a bend compares, read so late, as a variable of its own."""
        if (path, lag) not in self._absolute:
            compared = self.gradient(lift(evaluate(self.bends[path], self.at(lag))))
            self._absolute[path, lag] = self._folded(compared)
        return self._absolute[path, lag]

    def _folded(self, compared: Gradient) -> Affine:
        """Returns |c t + d |t|| as p t + q |t| where |t| is a bend already; else, or `apart`, as a new one."""
        if not compared:
            return lift(NOW)
        for name, inner in () if self.apart else self.bent.items():
            d = compared.get(PastSignal(name), NOW)
            c = multiple({reading: w for reading, w in compared.items() if reading.path != name}, inner)
            if c is not None:
                up, down = abs(c + d), abs(d - c)
                straight = sum((self.variable(r, NOW) * w for r, w in inner.items()), lift(NOW))
                return straight * ((up - down) / 2) + self.variable(PastSignal(name), NOW) * ((up + down) / 2)
        name = f"bend {len(self.bent) + 1}"
        self.bent[name] = compared
        return self.variable(PastSignal(name), NOW)

    def memory(self, tree: Tree, lag: Fraction) -> str:
        """Returns the signal that shows an expression, read so late, as it was at its reader's sample before."""
        key = (tree, lag)
        if key not in self._remembered:
            self._remembered[key] = f"memory {len(self._remembered) + 1}"
            self.memories[self._remembered[key]] = self.gradient(lift(evaluate(tree, self.at(lag))))
        return self._remembered[key]


def multiple(gradient: Gradient, of: Gradient) -> Fraction | None:
    """Returns c where one gradient is c times the other one; None where it is no multiple of it."""
    if not gradient:
        return NOW
    reading = next(iter(gradient))
    c = gradient[reading] / of[reading] if reading in of else NOW
    return c if c and gradient == {other: c * weight for other, weight in of.items()} else None


def own_names(model: Model, loop: SampledLoop) -> frozenset[str]:
    """Returns the names by which a law carries its command on: its own, and outputs that are nothing but it."""
    names = set() if loop.law == "proportional" else {loop.signal}
    while more := {p for p, tree in model.outputs.items() if isinstance(tree, Name) and tree.path in names} - names:
        names |= more
    return frozenset(names)


class _ByName:
    """An environment in which the command of a loop is a variable of its own where the law itself names it."""

    def __init__(self, env: _Lagged, names: frozenset[str], own: Num) -> None:
        self.env, self.names, self.own = env, names, own

    def value(self, path: str) -> Num:
        return self.own if path in self.names else self.env.value(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)


class _Lagged:
    """The signals of a point so many seconds ago, as independent variables."""

    def __init__(self, gradients: Gradients, lag: Fraction) -> None:
        self.all, self.lag = gradients, lag
        self.values: dict[str, Num] = {}

    def value(self, path: str) -> Num:
        if path not in self.values:
            self.values[path] = self._read(path)
        return self.values[path]

    def _read(self, path: str) -> Num:
        if path in self.all.bends:
            return self.all.bend(path, self.lag)
        if path in self.all.point:
            return self.all.variable(PastSignal(path, self.lag), self.all.point[path])
        if path in self.all.model.outputs:
            return evaluate(self.all.model.outputs[path], self)
        return self.all.rest.value(path)

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        return evaluate(tree, self.all.at(self.lag + delay))

    def sampled(self, tree: Tree, period: Fraction) -> Num:
        value = Fraction(evaluate(tree, self.all.rest))
        return self.all.variable(PastSignal(self.all.scrape(tree, period), self.lag), value)

    def mean_over(self, tree: Tree, window: Fraction) -> Num:
        inner = lift(evaluate(tree, self))
        total = lift(inner.value)
        for reading, weight in self.all.gradient(inner).items():
            if reading.window and window:
                raise NotExactError("the mean of a mean has no linear form here")
            if reading.path in self.all.memories and window:
                raise NotExactError("the mean of previous() has no linear form here: it counts samples")
            if reading.path in self.all.bent and window:
                raise NotExactError("the mean of what bends at its operating point has no finite form here")
            part = self.all.variable(PastSignal(reading.path, reading.lag, reading.window or window), NOW)
            total = total + part * weight
        return total

    def max_over(self, tree: Tree, window: Fraction) -> Num:
        inner = lift(evaluate(tree, self))
        if inner.gradient and window:
            raise NotExactError(f"max_over(..., {float(window):g} s) has no derivative where its argument rests")
        return inner

    def held(self, condition: Tree, duration: Fraction) -> bool:
        del duration
        return bool(evaluate(condition, self.all.rest))

    def previous(self, tree: Tree) -> Num:
        value = Fraction(evaluate(tree, self.all.rest))
        return self.all.variable(PastSignal(self.all.memory(tree, self.lag)), value)
