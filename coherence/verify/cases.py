"""The symbolic lowering: an expression to guarded affine cases over the state of a transition system.

A case is (guard, value): under the linear constraints of the guard the expression has that affine
value.  Comparisons, min, max, abs and choices split; a product of two unknowns is not linear.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from coherence.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Name, Number, Tree, Truth
from coherence.values import value
from coherence.verify.systems import Constraint, Linear, Polyhedron

MOST_CASES = 4000


class NotLinearError(ArithmeticError):
    """The expression is outside piecewise-affine arithmetic, or splits into too many cases."""


@value
class Case:
    """Under `guard` (linear constraints), the affine `value`."""

    guard: Polyhedron
    value: Linear


@value
class Fork:
    """Under `guard`, the condition is `holds`."""

    guard: Polyhedron
    holds: bool


@value
class Symbols:
    """What names mean: a number (cases) or a mode (known truth)."""

    width: int
    number: Callable[[str], list[Case]]
    truth: Callable[[str], bool | None]

    def constant(self, value: Fraction) -> Linear:
        return Linear((Fraction(0),) * self.width, value)


def add(left: Linear, right: Linear, scale: Fraction = Fraction(1)) -> Linear:
    """left + scale * right."""
    coefficients = tuple(a + scale * b for a, b in zip(left.coefficients, right.coefficients, strict=True))
    return Linear(coefficients, left.constant + scale * right.constant)


def scaled(linear: Linear, by: Fraction) -> Linear:
    """by * linear."""
    return Linear(tuple(by * c for c in linear.coefficients), by * linear.constant)


def is_constant(linear: Linear) -> bool:
    """No unknown in it."""
    return not any(linear.coefficients)


def numbers(tree: Tree, symbols: Symbols) -> list[Case]:
    """The guarded affine values of a numeric expression.  Raises NotLinearError."""
    match tree:
        case Number(value=value):
            return [Case((), symbols.constant(value))]
        case Name(path=path):
            return symbols.number(path)
        case Arithmetic():
            return _arithmetic(tree, symbols)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            branches = {True: numbers(then, symbols), False: numbers(otherwise, symbols)}
            return _bounded(
                _joined(fork.guard, case) for fork in forks(condition, symbols) for case in branches[fork.holds]
            )
        case Call(function=function) if function in ("min", "max", "abs"):
            return _extreme(tree, symbols)
        case Call(function=function):
            raise NotLinearError(f"{function}() is not piecewise affine")
        case _:
            raise NotLinearError("a condition stands where a number is needed")


def _joined(guard: Polyhedron, case: Case) -> Case:
    return Case(guard + case.guard, case.value)


def _bounded(cases: Iterator[Case]) -> list[Case]:
    made = [case for case in itertools.islice(cases, MOST_CASES + 1) if possible(case.guard)]
    if len(made) > MOST_CASES:
        raise NotLinearError(f"more than {MOST_CASES} cases")
    return made


def possible(guard: Polyhedron) -> bool:
    """False where a constraint without unknowns fails."""
    return all(not is_constant(c.linear) or c.holds((Fraction(0),) * len(c.linear.coefficients)) for c in guard)


def _arithmetic(tree: Arithmetic, symbols: Symbols) -> list[Case]:
    pairs = itertools.product(numbers(tree.left, symbols), numbers(tree.right, symbols))
    return _bounded(Case(a.guard + b.guard, _combined(tree.op, a.value, b.value)) for a, b in pairs)


def _combined(op: str, left: Linear, right: Linear) -> Linear:
    if op in "+-":
        return add(left, right, Fraction(1 if op == "+" else -1))
    if op == "*" and is_constant(left):
        return scaled(right, left.constant)
    if is_constant(right) and (op == "*" or right.constant):
        return scaled(left, right.constant if op == "*" else 1 / right.constant)
    raise NotLinearError("a product or quotient of two unknowns")


def _extreme(tree: Call, symbols: Symbols) -> list[Case]:
    """min and max by the index of the winner; abs as max(x, -x)."""
    parts = [numbers(argument, symbols) for argument in tree.arguments]
    if tree.function == "abs":
        parts.append([Case(c.guard, scaled(c.value, Fraction(-1))) for c in parts[0]])
    sign = Fraction(1 if tree.function == "min" else -1)
    return _bounded(_winners(parts, sign))


def _winners(parts: Sequence[list[Case]], sign: Fraction) -> Iterator[Case]:
    for chosen in itertools.product(*parts):
        guard = tuple(c for case in chosen for c in case.guard)
        for index, winner in enumerate(chosen):
            beats = tuple(
                Constraint(scaled(add(winner.value, other.value, Fraction(-1)), sign), "<" if j < index else "<=")
                for j, other in enumerate(chosen) if j != index
            )  # fmt: skip
            yield Case(guard + beats, winner.value)


NEGATION = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def forks(tree: Tree, symbols: Symbols) -> list[Fork]:
    """The ways in which a condition can come out.  Raises NotLinearError."""
    match tree:
        case Truth(value=value):
            return [Fork((), value)]
        case Name(path=path):
            known = symbols.truth(path)
            if known is None:
                raise NotLinearError(f"{path} is not a condition")
            return [Fork((), known)]
        case Compare():
            return _comparison(tree, symbols)
        case Logic(op="not", terms=terms):
            return [Fork(fork.guard, not fork.holds) for fork in forks(terms[0], symbols)]
        case Logic(op=op, terms=terms):
            return _connected(op, [forks(term, symbols) for term in terms])
        case Choose(condition=condition, then=then, otherwise=otherwise):
            branches = {True: forks(then, symbols), False: forks(otherwise, symbols)}
            return [Fork(f.guard + g.guard, g.holds) for f in forks(condition, symbols) for g in branches[f.holds]]
        case _:
            raise NotLinearError("`for` and counting words are not encoded in proofs")


def _connected(op: str, parts: list[list[Fork]]) -> list[Fork]:
    """and/or, evaluated from the left; later terms only where they still matter."""
    stop = op == "or"
    open_: list[Fork] = [Fork((), not stop)]
    closed: list[Fork] = []
    for part in parts:
        grown = [Fork(a.guard + b.guard, b.holds) for a in open_ for b in part if possible(a.guard + b.guard)]
        closed += [fork for fork in grown if fork.holds is stop]
        open_ = [fork for fork in grown if fork.holds is not stop]
        if len(open_) + len(closed) > MOST_CASES:
            raise NotLinearError(f"more than {MOST_CASES} cases")
    return closed + open_


def _comparison(tree: Compare, symbols: Symbols) -> list[Fork]:
    made = []
    for a, b in itertools.product(numbers(tree.left, symbols), numbers(tree.right, symbols)):
        difference = add(a.value, b.value, Fraction(-1))
        for op, holds in ((tree.op, True), (NEGATION[tree.op], False)):
            made += [
                Fork(a.guard + b.guard + rows, holds)
                for rows in relations(difference, op)
                if possible(a.guard + b.guard + rows)
            ]
    return made


def relations(difference: Linear, op: str) -> list[Polyhedron]:
    """`difference OP 0` as a union of polyhedra."""
    negative = scaled(difference, Fraction(-1))
    if op == "!=":
        return [(Constraint(difference, "<"),), (Constraint(negative, "<"),)]
    if op == "==":
        return [(Constraint(difference, "=="),)]
    if op in ("<", "<="):
        return [(Constraint(difference, "<" if op == "<" else "<="),)]
    return [(Constraint(negative, "<" if op == ">" else "<="),)]
