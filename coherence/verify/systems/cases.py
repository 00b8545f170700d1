"""Lowers an expression symbolically to guarded affine cases over named unknowns.

A case is (guard, value): under the linear constraints of the guard the expression has that affine
value.  Comparisons, min, max, abs and choices split; a product of two unknowns is not linear; what
`ceil` and `floor` give is an unknown of its own within one of its argument.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.tree import (
    NEGATED,
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
from coherence.verify.systems.terms import TRUE, Guard, Term, add, constant, guard, scaled

MOST_CASES = 4000
PAST = ("delayed", "mean_over", "max_over", "sampled", "previous")


class NotLinearError(ArithmeticError):
    """The expression is outside piecewise-affine arithmetic, or splits into too many cases."""


@dataclass(frozen=True, slots=True)
class AffineCase:
    """Under `guard` (linear constraints), the affine `value`."""

    guard: Guard
    value: Term


@dataclass(frozen=True, slots=True)
class Fork:
    """Under `guard`, the condition is `holds`."""

    guard: Guard
    holds: bool


def _no_past(call: Call) -> list[AffineCase]:
    raise NotLinearError(f"{call.function}() of the past")


def _no_streak(held: Held) -> bool:
    raise NotLinearError(f"`for {float(held.duration):g} s` outside a loop's condition")


def _no_whole(function: str, term: Term) -> list[AffineCase]:
    del term
    raise NotLinearError(f"{function}() is not piecewise affine")


@dataclass(frozen=True, slots=True)
class Symbols:
    """What names mean: a number (cases) or a condition (forks); what the past was; which streaks are long enough."""

    number: Callable[[str], list[AffineCase]]
    truth: Callable[[str], list[Fork]]
    past: Callable[[Call], list[AffineCase]] = _no_past
    held: Callable[[Held], bool] = _no_streak
    whole: Callable[[str, Term], list[AffineCase]] = _no_whole


def exactly(term: Term) -> list[AffineCase]:
    """Returns one case without a guard."""
    return [AffineCase(TRUE, term)]


def numbers(tree: Tree, symbols: Symbols) -> list[AffineCase]:
    """Returns the guarded affine values of a numeric expression.  Raises NotLinearError."""
    match tree:
        case Number(value=value):
            return exactly(constant(value))
        case Name(path=path):
            return symbols.number(path)
        case Arithmetic():
            return _arithmetic(tree, symbols)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            branches: dict[bool, list[AffineCase]] = {}
            cases = []
            for fork in forks(condition, symbols):
                if fork.holds not in branches:
                    branches[fork.holds] = numbers(then if fork.holds else otherwise, symbols)
                cases += joined(fork.guard, branches[fork.holds])
            return few(cases)
        case Call(function=function) if function in ("min", "max", "abs"):
            return _extreme(tree, symbols)
        case Call(function=function) if function in ("ceil", "floor"):
            return few(c for case in numbers(tree.arguments[0], symbols) for c in _whole(function, case, symbols))
        case Call(function=function) if function in PAST:
            return symbols.past(tree)
        case Call(function=function):
            raise NotLinearError(f"{function}() is not piecewise affine")
        case _:
            raise NotLinearError("a condition stands where a number is needed")


def _whole(function: str, case: AffineCase, symbols: Symbols) -> list[AffineCase]:
    return joined(case.guard, symbols.whole(function, case.value))


def joined(first: Guard, cases: Iterable[AffineCase]) -> list[AffineCase]:
    """Returns the cases under a guard, without those that contradict it."""
    both = ((first.joined(case.guard), case.value) for case in cases)
    return [AffineCase(guard, value) for guard, value in both if guard is not None]


def few(cases: Iterable[AffineCase]) -> list[AffineCase]:
    """Returns a list of the cases.  Raises NotLinearError where there are too many."""
    taken = list(itertools.islice(cases, MOST_CASES + 1))
    if len(taken) > MOST_CASES:
        raise NotLinearError(f"more than {MOST_CASES} cases")
    return taken


def product(parts: Sequence[Sequence[AffineCase]]) -> Iterator[tuple[Guard, tuple[Term, ...]]]:
    """Returns every combination of one case of each part whose guards agree."""
    open_: list[tuple[Guard, tuple[Term, ...]]] = [(TRUE, ())]
    for part in parts:
        pairs = ((first.joined(case.guard), values, case.value) for first, values in open_ for case in part)
        open_ = [(guard, (*values, value)) for guard, values, value in pairs if guard is not None]
        if len(open_) > MOST_CASES:
            raise NotLinearError(f"more than {MOST_CASES} cases")
    return iter(open_)


def _arithmetic(tree: Arithmetic, symbols: Symbols) -> list[AffineCase]:
    pairs = product([numbers(tree.left, symbols), numbers(tree.right, symbols)])
    return [AffineCase(guard, combined(tree.op, left, right)) for guard, (left, right) in pairs]


def combined(op: str, left: Term, right: Term) -> Term:
    """Returns left op right.  Raises NotLinearError for a product or quotient of two unknowns, and for x / 0."""
    if op in "+-":
        return add(left, right, Fraction(1 if op == "+" else -1))
    if op == "*" and left.known:
        return scaled(right, left.constant)
    if right.known and (op == "*" or right.constant):
        return scaled(left, right.constant if op == "*" else 1 / right.constant)
    raise NotLinearError("a product or quotient of two unknowns")


def _extreme(tree: Call, symbols: Symbols) -> list[AffineCase]:
    """Returns the cases of min and max by the index of the winner; of abs as max(x, -x)."""
    parts = [numbers(argument, symbols) for argument in tree.arguments]
    if tree.function == "abs":
        return [
            AffineCase(guard, winner)
            for case in parts[0]
            for guard, winner in winners((case.value, scaled(case.value, Fraction(-1))), largest=True, start=case.guard)
        ]
    largest = tree.function == "max"
    guard = ((w, g) for start, terms in product(parts) for g, w in winners(terms, largest=largest, start=start))
    return few(AffineCase(g, w) for w, g in guard)


def winners(terms: Sequence[Term], *, largest: bool, start: Guard = TRUE) -> Iterator[tuple[Guard, Term]]:
    """Yields (guard, winner) for each term that can be the largest (or smallest); ties go to the first."""
    sign = Fraction(-1 if largest else 1)
    distinct = list(dict.fromkeys(terms))
    for index, winner in enumerate(distinct):
        rows = (
            (scaled(add(winner, other, Fraction(-1)), sign), "<" if j < index else "<=")
            for j, other in enumerate(distinct)
            if j != index
        )
        if (wins := guard(rows, start)) is not None:
            yield wins, winner


def forks(tree: Tree, symbols: Symbols) -> list[Fork]:
    """Returns the ways in which a condition can come out.  Raises NotLinearError."""
    match tree:
        case Truth(value=value):
            return [Fork(TRUE, value)]
        case Name(path=path):
            return symbols.truth(path)
        case Compare():
            return _comparison(tree, symbols)
        case Logic(op="not", terms=terms):
            return [Fork(fork.guard, not fork.holds) for fork in forks(terms[0], symbols)]
        case Logic(op=op, terms=terms):
            return _connected(op, [forks(term, symbols) for term in terms])
        case Choose(condition=condition, then=then, otherwise=otherwise):
            branches = {True: forks(then, symbols), False: forks(otherwise, symbols)}
            pairs = ((f.guard.joined(g.guard), g.holds) for f in forks(condition, symbols) for g in branches[f.holds])
            return [Fork(guard, holds) for guard, holds in pairs if guard is not None]
        case Held():
            return [Fork(TRUE, symbols.held(tree))]
        case _:
            raise NotLinearError("a number or a counting word stands where a condition is needed")


def _connected(op: str, parts: list[list[Fork]]) -> list[Fork]:
    """Returns the forks of and/or, evaluated from the left; later terms only where they still matter."""
    stop = op == "or"
    open_: list[Fork] = [Fork(TRUE, not stop)]
    closed: list[Fork] = []
    for part in parts:
        pairs = ((a.guard.joined(b.guard), b.holds) for a in open_ for b in part)
        grown = [Fork(guard, holds) for guard, holds in pairs if guard is not None]
        closed += [fork for fork in grown if fork.holds is stop]
        open_ = [fork for fork in grown if fork.holds is not stop]
        if len(open_) + len(closed) > MOST_CASES:
            raise NotLinearError(f"more than {MOST_CASES} cases")
    return closed + open_


def _comparison(tree: Compare, symbols: Symbols) -> list[Fork]:
    outcomes = []
    for start, (left, right) in product([numbers(tree.left, symbols), numbers(tree.right, symbols)]):
        difference = add(left, right, Fraction(-1))
        for op, holds in ((tree.op, True), (NEGATED[tree.op], False)):
            ways = (start.also(*row) for row in relations(difference, op))
            outcomes += [Fork(way, holds) for way in ways if way is not None]
    return outcomes


def relations(difference: Term, op: str) -> list[tuple[Term, str]]:
    """Returns `difference OP 0` as alternatives of one row each."""
    negative = scaled(difference, Fraction(-1))
    if op == "!=":
        return [(difference, "<"), (negative, "<")]
    if op == "==":
        return [(difference, "==")]
    if op in ("<", "<="):
        return [(difference, "<" if op == "<" else "<=")]
    return [(negative, "<" if op == ">" else "<=")]
