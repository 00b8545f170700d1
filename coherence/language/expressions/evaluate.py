"""Evaluates an expression tree in any exact or floating number type.

The environment answers what a tree cannot know: the value of a name, and values in the past.
Works for Fraction, float, numpy arrays of float, and `coherence.simulate.execute.affine.Affine`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
)

MOST_BITS = 100_000
Value = Any  # a number of the environment's type, or a bool


class Environment(Protocol):
    """What the world is at the time of evaluation."""

    def value(self, path: str) -> Value:
        """Returns the value of a signal, constant or loop."""

    def delayed(self, tree: Tree, delay: Fraction) -> Value:
        """Returns the tree's sample-phase value `delay` seconds ago."""

    def mean_over(self, tree: Tree, window: Fraction) -> Value:
        """Returns the tree's time average over the last `window` seconds."""

    def sampled(self, tree: Tree, period: Fraction) -> Value:
        """Returns the tree's value at the last multiple of `period` (a sensor that scrapes)."""

    def max_over(self, tree: Tree, window: Fraction) -> Value:
        """Returns the tree's largest value in the last `window` seconds."""

    def held(self, condition: Tree, duration: Fraction) -> bool:
        """Decides whether the time since the first of the true samples in a row is at least the duration."""

    def previous(self, tree: Tree) -> Value:
        """Returns the tree's value at the sample before this one."""


class NotExactError(ArithmeticError):
    """Raised where an expression leaves the number type (exp and log of rationals, division by zero).

    `remedy`: what makes it exact, where that is known.
    """

    def __init__(self, words: str = "", remedy: str = "") -> None:
        super().__init__(words)
        self.remedy = remedy


def not_rational(name: str) -> NotExactError:
    """Returns what a function says of a rational for which it has no exact value."""
    remedy = f"write a formula of + - * /, min, max and if in place of {name}()"
    return NotExactError(f"{name}() of a rational is not rational", remedy)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., Any]] = {"abs": abs, "floor": math.floor, "ceil": math.ceil}


def evaluate(tree: Tree, env: Environment) -> Value:
    """Returns the value of the tree.  Raises NotExactError, or whatever the environment raises for unknown names."""
    return env.value(tree.path) if type(tree) is Name else _OF_KIND[type(tree)](tree, env)


def _literal(tree: Number | Truth, _env: Environment) -> Value:
    return tree.value


def _arithmetic(tree: Arithmetic, env: Environment) -> Value:
    left, right = evaluate(tree.left, env), evaluate(tree.right, env)
    if tree.op == "/":
        return short(divide(left, right))
    return short(left * right) if tree.op == "*" else ARITHMETIC[tree.op](left, right)


def _compare(tree: Compare, env: Environment) -> bool:
    return COMPARE[tree.op](evaluate(tree.left, env), evaluate(tree.right, env))


def _choose(tree: Choose, env: Environment) -> Value:
    return evaluate(tree.then if evaluate(tree.condition, env) else tree.otherwise, env)


def _held(tree: Held, env: Environment) -> bool:
    return env.held(tree.condition, tree.duration)


def _logic(tree: Logic, env: Environment) -> bool:
    if tree.op == "not":
        return not evaluate(tree.terms[0], env)
    quantifier = all if tree.op == "and" else any
    return quantifier([bool(evaluate(term, env)) for term in tree.terms])


def short(value: Value) -> Value:
    """Returns the value, unless its digits have grown beyond use (p' = p * p doubles them each step)."""
    if isinstance(value, int | Fraction) and value.numerator.bit_length() + value.denominator.bit_length() > MOST_BITS:
        raise NotExactError(f"a number of more than {MOST_BITS} bits", "round it, as floor(1000 * x) / 1000 does")
    return value


def divide(left: Value, right: Value) -> Value:
    """Returns left / right, exact; division by zero is NotExactError."""
    try:
        if isinstance(left, int) and isinstance(right, int):
            return Fraction(left, right)
        return left / right
    except ZeroDivisionError:
        raise NotExactError("division by zero", "keep the divisor away from 0, as max(x, 1) does") from None


def _call(tree: Call, env: Environment) -> Value:
    name, arguments = tree.function, tree.arguments
    own = getattr(type(env), "functions", None)  # of a reading with a wider vocabulary than a design's
    if own is not None and name in own:
        return own[name](*(evaluate(argument, env) for argument in arguments))
    if name == "delayed":
        return env.delayed(arguments[0], constant(arguments[1], env))
    if name == "mean_over":
        return env.mean_over(arguments[0], constant(arguments[1], env))
    if name in ("sampled", "max_over"):
        return getattr(env, name)(arguments[0], constant(arguments[1], env))
    if name == "previous":
        return env.previous(arguments[0])
    if name in ("min", "max"):
        return (min if name == "min" else max)([evaluate(argument, env) for argument in arguments])
    if name in _FUNCTIONS:
        return _FUNCTIONS[name](evaluate(arguments[0], env))
    if name in ("exp", "log"):
        return _transcendental(name, evaluate(arguments[0], env))
    raise NotExactError(f"'{name}' has no value in this reading")


# by the type of a node: what is looked at in each instant of each run is not to be matched against every kind
_OF_KIND: dict[type, Callable[[Any, Environment], Value]] = {
    Number: _literal, Truth: _literal, Arithmetic: _arithmetic, Compare: _compare, Choose: _choose,
    Held: _held, Logic: _logic, Call: _call,
}  # fmt: skip


def _transcendental(name: str, value: Value) -> Value:
    if hasattr(value, name):  # a number type with its own
        return getattr(value, name)()
    if not isinstance(value, float):
        raise not_rational(name)
    return math.exp(value) if name == "exp" else math.log(value)


def constant(tree: Tree, env: Environment) -> Fraction:
    """Returns the value of a tree that must be a constant (a delay, a window)."""
    value = evaluate(tree, env)
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise NotExactError("a delay or window must be a constant")
    return Fraction(value)


@dataclass(frozen=True)
class Constants:
    """Names that have one value for ever: their past is their present."""

    at: Mapping[str, Value]

    def value(self, path: str) -> Value:
        if path not in self.at:
            raise NotExactError(f"'{path}' has no value here")
        return self.at[path]

    def delayed(self, tree: Tree, delay: Fraction) -> Value:  # noqa: ARG002
        return evaluate(tree, self)

    mean_over = max_over = sampled = delayed

    def held(self, condition: Tree, duration: Fraction) -> bool:  # noqa: ARG002
        return bool(evaluate(condition, self))

    def previous(self, tree: Tree) -> Value:
        return evaluate(tree, self)
