"""Writes the laws of loops as expressions, and decides which law each loop of a design follows.

A law reads one expression and computes from its value, and from the command that it counts from, what it recommends
before anything limits it (hold windows, rates, bounds, cooldown):

    set            READ
    step           CURRENT + READ
    proportional   CURRENT * READ, rounded up where members are counted, unless READ is within the tolerance of 1;
                   READ = measured / setpoint
    of the ready   READY * READ, rounded up, where READ is of the READY members only and the others begin to serve:
                   they count as idle where more is wanted, and are left out where less is

Such a formula is lowered like every expression: to a number of any type (`recommended`), to arrays, to guarded
affine cases, to SMT-LIB.  The dead band is closed: a ratio on its edge moves nothing.  Two second opinions stay
apart on purpose, `simulate.run_followed` and `simulate.testbed.autoscaler_law`; tests lay them against these.
SOURCE: Kubernetes documentation, Horizontal Pod Autoscaling, "Algorithm details"; Kubernetes source 1.23 to 1.35,
pkg/controller/podautoscaler/replica_calculator.go: GetResourceReplicas, getUsageRatioReplicaCount.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.base.units import ONE
from coherence.language.design import Loop
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree
from coherence.language.schema_kinds import Formula, Quantity, Word

CURRENT, READ, READY = Name("<current>"), Name("<read>"), Name("<ready>")
ZERO, UNIT = Number(Fraction(0)), Number(Fraction(1))
LESS = Fraction(-1)
ROUNDING = 1e-9  # relative; floats only
Num = Any


@dataclass(frozen=True)
class Recommendation:
    """What a law recommends: `formula` over CURRENT, READ and READY, and the expressions whose values those two are."""

    formula: Tree
    read: Tree | None = None
    ready: Tree | None = None


def proportional(measured: Tree, setpoint: Tree, *, tolerance: Fraction, whole: bool) -> Recommendation:
    """Returns the law of an autoscaler; `whole`: it counts members."""
    return Recommendation(scaled(tolerance, whole=whole), Arithmetic("/", measured, setpoint))


def of_the_ready(law: Recommendation, ready: Tree, *, tolerance: Fraction, whole: bool, idle: bool) -> Recommendation:
    """Returns the law of an autoscaler that multiplies the ready members; `idle`: the others count as 0 going up."""
    return Recommendation(scaled_ready(tolerance, whole=whole, idle=idle), law.read, ready)


def moved(by: Tree | None, to: Tree | None) -> Recommendation:
    """Returns the law that sets the command to a value, moves it by a step, or leaves it where it is."""
    if to is not None:
        return Recommendation(READ, to)
    return Recommendation(CURRENT) if by is None else Recommendation(Arithmetic("+", CURRENT, READ), by)


def shared(total: Tree, setpoint: Tree, *, tolerance: Fraction, whole: bool) -> Recommendation:
    """Returns the same law where measured is total / the command that it counts from, for commands other than 0."""
    return Recommendation(scaled_share(tolerance, whole=whole), Arithmetic("/", total, setpoint))


@functools.cache
def scaled(tolerance: Fraction, *, whole: bool) -> Tree:
    """Returns the formula of a proportional law; READ is measured / setpoint."""
    return Choose(outside(READ, UNIT, tolerance), _whole(Arithmetic("*", CURRENT, READ), whole=whole), CURRENT)


@functools.cache
def scaled_share(tolerance: Fraction, *, whole: bool) -> Tree:
    """Returns the formula of `shared`, without a product: READ is total / setpoint.

    CURRENT * (total / CURRENT) / setpoint is READ, and the ratio is within the tolerance of 1 where READ is as near
    to CURRENT.  CURRENT must not be 0, where the metric has no value.
    """
    wanted = _whole(READ, whole=whole)
    read, current = (Arithmetic("-", ZERO, part) for part in (READ, CURRENT))
    positive = Choose(outside(READ, CURRENT, tolerance), wanted, CURRENT)
    return Choose(Compare(">", CURRENT, ZERO), positive, Choose(outside(read, current, tolerance), wanted, CURRENT))


@functools.cache
def scaled_ready(tolerance: Fraction, *, whole: bool, idle: bool) -> Tree:
    """Returns the formula of `of_the_ready`; READ is of the ready ones.

    With the others at 0 the ratio is READY * READ / CURRENT, which must lie above the tolerance as well.
    """
    served = Arithmetic("*", READY, READ)
    up = above(served, CURRENT, tolerance) if idle else above(READ, UNIT, tolerance)
    moves = Logic("or", (up, below(READ, UNIT, tolerance)))
    moves = Logic("and", (Compare(">", READY, ZERO), moves)) if idle else moves  # without a ready one: no reading
    return Choose(moves, _whole(served, whole=whole), CURRENT)


def _whole(tree: Tree, *, whole: bool) -> Tree:
    return Call("ceil", (tree,)) if whole else tree


# -- where the law moves the command: conditions for a setpoint above 0, and `of_either_sign` ------------


def of_either_sign(condition: Callable[[Tree, Tree], Tree], reading: Tree, setpoint: Tree) -> Tree:
    """Returns a condition on reading / setpoint that is stated for setpoints above 0, for all but 0.

    The ratio is that of -reading to -setpoint.
    """
    turned = condition(times(LESS, reading), times(LESS, setpoint))
    if isinstance(setpoint, Number) and setpoint.value:
        return condition(reading, setpoint) if setpoint.value > 0 else turned
    positive = Logic("and", (Compare(">", setpoint, ZERO), condition(reading, setpoint)))
    return Logic("or", (positive, Logic("and", (Compare("<", setpoint, ZERO), turned))))


def above(reading: Tree, setpoint: Tree, tolerance: Fraction) -> Compare:
    """Returns the reading lies above the dead band."""
    return Compare(">", reading, times(1 + tolerance, setpoint))


def below(reading: Tree, setpoint: Tree, tolerance: Fraction) -> Compare:
    """Returns the reading lies below the dead band."""
    return Compare("<", reading, times(1 - tolerance, setpoint))


def outside(reading: Tree, setpoint: Tree, tolerance: Fraction) -> Logic:
    """Returns the reading lies outside the dead band, so that the law moves the command."""
    return Logic("or", (above(reading, setpoint, tolerance), below(reading, setpoint, tolerance)))


def inside(reading: Tree, setpoint: Tree, tolerance: Fraction) -> Logic:
    """Returns the reading lies within the dead band, edges included: the law moves nothing."""
    within = Compare("<=", reading, times(1 + tolerance, setpoint))
    return Logic("and", (within, Compare(">=", reading, times(1 - tolerance, setpoint))))


def rounded_below(current: Tree, reading: Tree, setpoint: Tree, ready: Tree | None = None) -> Compare:
    """Returns the condition that members * reading / setpoint, rounded up, is less than a whole current.

    The members are those that are `ready`, or all.
    """
    return Compare("<=", _wanted(ready or current, reading, setpoint), Arithmetic("-", current, UNIT))


def still_above(current: Tree, reading: Tree, setpoint: Tree, tolerance: Fraction, ready: Tree) -> Compare:
    """Returns the reading lies above the dead band with all members that are not ready counted as 0."""
    return above(Arithmetic("*", ready, reading), Arithmetic("*", current, setpoint), tolerance)


def rounded_back(current: Tree, reading: Tree, setpoint: Tree) -> Logic:
    """Returns the condition that current * reading / setpoint, rounded up, is a whole current again."""
    wanted = _wanted(current, reading, setpoint)
    return Logic("and", (Compare("<=", wanted, current), Compare(">", wanted, Arithmetic("-", current, UNIT))))


def _wanted(current: Tree, reading: Tree, setpoint: Tree) -> Tree:
    return Arithmetic("/", Arithmetic("*", current, reading), setpoint)


def times(factor: Fraction, tree: Tree) -> Tree:
    """Returns a multiple of an expression."""
    if isinstance(tree, Number):
        return Number(factor * tree.value, tree.dimension)
    return Arithmetic("*", Number(factor), tree)


# -- the value of a formula ---------------------------------------------------------------------------


def round_up(number: Num) -> Num:
    """Returns the number rounded up to a whole one; a float that is whole but for its rounding is that number."""
    return near_whole(math.ceil, number)


def near_whole(rounded: Callable[[Num], Num], number: Num) -> Num:
    """Returns the number rounded to a whole one; a float that is whole but for its error is that number."""
    near = round(number) if isinstance(number, float) else 0
    return near if isinstance(number, float) and abs(number - near) <= ROUNDING * abs(number) else rounded(number)


class _Counted(Constants):
    """CURRENT, READ and READY as numbers."""

    functions: Mapping[str, Any] = {"ceil": round_up}


def recommended(formula: Tree, current: Num, read: Num, ready: Num = 0) -> Num:
    """Returns what a formula recommends, for numbers of any type."""
    return evaluate(formula, _Counted({CURRENT.path: current, READ.path: read, READY.path: ready}))


# -- which law a loop follows -------------------------------------------------------------------------


def law_of(loop: Loop) -> str:
    """Returns the law that the keys state: none, rules, unset (alone), ignore, proportional, set or step.

    Without a word and without a value a loop is proportional; `law: set` or `law: step` without a value holds.
    """
    actuation = loop.actuation
    if actuation is None or actuation.signal is None:
        return "none"
    if isinstance(actuation.to, Word):
        return "unset"
    if loop.rules:
        return "rules"
    word = actuation.law.text if actuation.law else ""
    if word in ("ignore", "proportional"):
        return word
    return "set" if actuation.to is not None else "step" if actuation.by is not None else word or "proportional"


def counts_members(loop: Loop) -> bool:
    """Returns whether the loop counts in whole numbers; bounds decide for a proportional law, which rounds up.

    Any other law does where all that it states is a whole number without a unit.
    """
    actuation = loop.actuation
    if actuation is None:
        return False
    ends = [end for end in actuation.bounds if isinstance(end, Quantity | Formula)]
    law = law_of(loop)
    written: list[Quantity | Formula | Word | None] = [number for rule in loop.rules for number in (rule.by, rule.to)]
    written += [] if law in ("proportional", "rules") else [actuation.by, actuation.to]
    return all(map(_is_whole, ends)) and all(_is_one_whole(number) for number in written if number is not None)


def stays_whole(loop: Loop) -> bool:
    """Returns whether all values that the loop ever commands are whole, with its start and its rates."""
    actuation = loop.actuation
    if actuation is None or not counts_members(loop):
        return False
    steps = [rate.by for rate in actuation.rate if rate.by is not None]
    return all(map(_is_one_whole, steps)) and (actuation.initial is None or _is_whole(actuation.initial))


def _is_one_whole(number: Quantity | Formula | Word) -> bool:
    return _is_whole(number) and (isinstance(number, Formula) or (isinstance(number, Quantity) and number.exact))


def _is_whole(number: Quantity | Formula | Word) -> bool:
    """Returns whether the ends of a range are whole, or the value of a formula is rounded."""
    if isinstance(number, Quantity):
        return number.dimension.physical == ONE and number.low.denominator == 1 == number.high.denominator
    return isinstance(number, Formula) and isinstance(number.tree, Call) and number.tree.function in ("ceil", "floor")
