"""Defines a lower bound: a formula over symbols with units, under assumptions, with proofs and a witness.

Values are in SI.  A bound is a value of this file's types; everything that is done with bounds is elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, cast

from coherence.base import units
from coherence.base.places import Place
from coherence.base.units import Dimension
from coherence.language.design import Design

Inputs = Mapping[str, Fraction | float]


def several(inputs: Inputs, name: str) -> tuple[Any, ...]:
    """Returns the values of a symbol of Way.LIST."""
    return tuple(cast("Any", inputs[name]))


def finite(number: Fraction | float) -> bool:
    """Returns whether it is a number of the size that floating point has."""
    try:
        return math.isfinite(number)
    except OverflowError:  # a fraction beyond it
        return False


class Status(StrEnum):
    """What may be done with the number."""

    THEOREM = "theorem"  # nothing does better under the assumptions
    TIGHT = "tight"  # a theorem, and a schedule attains it
    EXACT = "exact"  # the value itself, of the model that the assumptions state
    CLASS_COST = "class_cost"  # a floor only inside a class of schedules
    UPPER = "upper"  # an upper bound: told, never subtracted

    @property
    def floor(self) -> bool:
        """Returns whether it may stand as a floor of what is measured."""
        return self in (Status.THEOREM, Status.TIGHT, Status.EXACT)


class Role(StrEnum):
    """What the number says of a measured one."""

    FLOOR = "floor"  # what is measured is not less
    CEILING = "ceiling"  # what is chosen or measured may not be more (a gain, a rate, a time-out)
    POINT = "point"  # where something changes or is best: neither side is a loss


class Quantifier(StrEnum):
    """Of which runs the number speaks."""

    EACH = "each run"  # no run at all does better: so neither does a mean nor the worst
    MEAN = "mean"  # of the mean over many runs; one run may be better
    WORST = "worst case"  # some run is no better: only a maximum over all runs says something against it
    TRACE = "given trace"  # of the very trace or table that is given


class Trend(StrEnum):
    """How the bound moves when one symbol grows and all others stay."""

    RISES = "rises"
    FALLS = "falls"
    NEITHER = "neither"  # not monotone, or not known: a range of it gives no number
    LIST = "list"  # several values (eigenvalues, a trace, a graph): given as a tuple to `compute`


@dataclass(frozen=True)
class Symbol:
    """A quantity of a formula: `unit` as in a design, values from `least` to `most` (SI), whole numbers or any.

    `open_`: the value `least` itself is excluded.  `reads`: what a text means, where it is no list of numbers.
    """

    name: str
    unit: str
    means: str
    way: Trend
    least: float = 0.0
    most: float = math.inf
    whole: bool = False
    open_: bool = False
    sign: str = ""  # LaTeX
    reads: Callable[[str], Any] | None = None

    @property
    def dimension(self) -> Dimension:
        """Raises UnitError for an unknown unit."""
        return units.unit(self.unit)[1] if self.unit != "1" else units.ONE

    def allows(self, number: Fraction | float) -> bool:
        """Returns whether the value lies in the range.  What is infinite or no number lies in none."""
        if not finite(number):
            return False
        inside = (number > self.least if self.open_ else number >= self.least) and number <= self.most
        return inside and (not self.whole or int(number) == number)


@dataclass(frozen=True)
class Checked:
    """What a proof or a witness found: `words` for people, `script` what another program can check again."""

    holds: bool
    words: str
    script: str = ""


class ProofGrade(StrEnum):
    """What a proof by machine covers."""

    UNIVERSAL = "for all inputs"
    INSTANCES = "for the instances that it names"
    PART = "one part of the statement"
    RELATED = "a statement that the bound rests on or gives an example of"


@dataclass(frozen=True)
class Recheck:
    """One way in which the bound is re-proved.  `how`: smt | identity | dual | cut | enumeration."""

    how: str
    says: str
    run: Callable[[], Checked]
    grade: ProofGrade = ProofGrade.INSTANCES


@dataclass(frozen=True)
class Witness:
    """A schedule, flow or run that is executed: `attained(inputs)` is what it takes, in the unit of the bound.

    Of a floor the gap attained / bound is >= 1; of a tight one it is 1.
    """

    says: str
    attained: Callable[[Inputs], Fraction | float]
    gap: float = 1.0  # the largest gap that is expected at the examples


@dataclass(frozen=True)
class Example:
    """Inputs in SI with the known value, and where it comes from.  A symbol of Way.LIST is given as a tuple."""

    inputs: Mapping[str, Any]
    value: float
    source: str
    rtol: float = 1e-9


@dataclass(frozen=True)
class Application:
    """Where a bound applies in a design: `thing` in its words, the range of every symbol that the design states.

    `missing`: symbol -> the key or measurement that would give it; then there is no number, and no guess.
    `assumptions`: names of what the reading of the design assumes, beside what the bound does.
    """

    thing: str
    spans: Mapping[str, tuple[Fraction | float, Fraction | float]]
    missing: Mapping[str, str]
    places: tuple[Place, ...] = ()
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bound:
    """A lower bound (kinds but UPPER) of one quantity.

    `formula` gives it as text of the expression language; where it has none (a graph, a sample, a root) `compute` does,
    and `display` says in LaTeX what that is.  Where both stand, `compute` gives the numbers.
    `valid`: a condition of the same language on the symbols.  `loss`: A | B | C | R | D | network | virtualization |
    migration | economics | none.  `without`: assumption -> the bound that remains when it is dropped.  `applies`: the
    things of a design that it speaks of; `unread`: why there are none.  `schedule`: what attains it, in a runtime's
    format.  `quantifier`: whether it holds of each run, of a mean, or of the worst one.
    """

    name: str
    group: str
    quantity: str
    unit: str
    kind: Status
    symbols: tuple[Symbol, ...]
    assumptions: tuple[str, ...]
    source: str
    examples: tuple[Example, ...]
    formula: str = ""
    compute: Callable[[Inputs], Fraction | float] | None = None
    valid: str = ""
    loss: str = "none"
    role: Role = Role.FLOOR
    quantifier: Quantifier = Quantifier.EACH
    without: Mapping[str, str] = field(default_factory=dict)
    proofs: tuple[Recheck, ...] = ()
    witness: Witness | None = None
    schedule: Callable[[Inputs], str] | None = None
    telemetry: tuple[str, ...] = ()
    applies: Callable[[Design], Iterable[Application]] | None = None
    display: str = ""
    unread: str = ""

    @property
    def stands(self) -> bool:
        """Returns whether it may be taken from a measurement, and composed with others, as a floor."""
        return self.kind.floor and self.role is Role.FLOOR

    @property
    def proved(self) -> bool:
        """Returns whether it is re-proved by machine, not only cited."""
        return bool(self.proofs)

    def symbol(self, name: str) -> Symbol:
        """Raises KeyError."""
        return next(symbol for symbol in self.symbols if symbol.name == name) if name in self.names else _absent(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the symbols' names."""
        return tuple(symbol.name for symbol in self.symbols)


def _absent(name: str) -> Symbol:
    raise KeyError(name)
