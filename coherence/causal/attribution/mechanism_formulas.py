"""Rewrites the expression of a mechanism: its delays as columns of samples, its terms where it is affine."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from coherence.base.errors import UsageError
from coherence.causal.fitting.gram import Column
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
    walk,
)

MOST_TERMS = 240  # samples that a window of a mechanism may span
ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))


def without_past(tree: Tree) -> Tree:
    """Returns the expression without its delays, for the question whether it is linear."""
    match tree:
        case Call(function="delayed" | "mean_over" | "sampled", arguments=(inner, *_)):
            return without_past(inner)
        case Call(function=name, arguments=parts):
            return Call(name, tuple(map(without_past, parts)))
        case Arithmetic(op=op, left=left, right=right):
            return Arithmetic(op, without_past(left), without_past(right))
        case _:
            return tree


def affine(tree: Tree, variables: Iterable[str]) -> dict[str, Tree] | None:
    """Returns the coefficient of each variable, and the rest as "", free of variables; None if not affine."""
    sought = frozenset(variables)
    if not any(isinstance(node, Name) and node.path in sought for node in walk(tree)):
        return {"": tree}
    match tree:
        case Name(path=path):
            return {path: ONE, "": ZERO}
        case Arithmetic(op="+" | "-" as op, left=left, right=right):
            return _added(affine(left, sought), affine(right, sought), op)
        case Arithmetic(op="*", left=left, right=right):
            first, second = affine(left, sought), affine(right, sought)
            if first is None or second is None or min(len(first), len(second)) > 1:
                return None
            scale, terms = (first, second) if len(first) == 1 else (second, first)
            return {name: _product(scale[""], part) for name, part in terms.items()}
        case Arithmetic(op="/", left=left, right=right):
            first, second = affine(left, sought), affine(right, sought)
            if first is None or second is None or len(second) > 1:
                return None
            return {name: part if part == ZERO else Arithmetic("/", part, second[""]) for name, part in first.items()}
        case _:
            return None


def _added(first: dict[str, Tree] | None, second: dict[str, Tree] | None, op: str) -> dict[str, Tree] | None:
    if first is None or second is None:
        return None
    terms = dict(first)
    for name, part in second.items():
        held = terms.get(name, ZERO)
        if part != ZERO:
            terms[name] = part if held == ZERO and op == "+" else Arithmetic(op, held, part)
        else:
            terms[name] = held
    return terms


def _product(scale: Tree, part: Tree) -> Tree:
    if ZERO in (part, scale):
        return ZERO
    return scale if part == ONE else Arithmetic("*", scale, part)


def laid_out(tree: Tree, signals: Iterable[str], step: float) -> tuple[Tree, dict[str, Column]]:
    """Returns (tree without functions of the past, key -> (signal, lag)): delays move down to the names.

    Raises UsageError for a function of the past that cannot be read from samples.
    """
    seen = frozenset(signals)
    columns: dict[str, Column] = {}

    def lay(node: Tree, lag: int) -> Tree:
        match node:
            case Name(path=path) if path in seen:
                key = f"{path}@{lag}"
                columns[key] = (path, lag)
                return Name(key)
            case Call(function="delayed", arguments=(inner, size)):
                return lay(inner, lag + _steps(size, step))
            case Call(function="mean_over" | "max_over" as name, arguments=(inner, size)):
                return _over(name, tuple(lay(inner, lag + back) for back in range(_samples(size, step))))
            case Call(function="sampled" | "previous") | Call(function="count"):
                raise UsageError(f"'{node.function}' cannot be read from samples: log the signal itself")
            case Call(function=name, arguments=parts):
                return Call(name, tuple(lay(part, lag) for part in parts))
            case Arithmetic(op=op, left=left, right=right):
                return Arithmetic(op, lay(left, lag), lay(right, lag))
            case Compare(op=op, left=left, right=right):
                return Compare(op, lay(left, lag), lay(right, lag))
            case Logic(op=op, terms=terms):
                return Logic(op, tuple(lay(term, lag) for term in terms))
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return Choose(lay(condition, lag), lay(then, lag), lay(otherwise, lag))
            case Name() | Number() | Truth():
                return node
        raise UsageError("'.. for ..' cannot be read from samples: log the condition itself")

    return lay(tree, 0), columns


def _samples(size: Tree, step: float) -> int:
    """Returns the number of samples in a window.  Raises UsageError for more than MOST_TERMS."""
    count = max(_steps(size, step), 1)
    if count > MOST_TERMS:
        raise UsageError(
            f"a window of {count} samples is more than the {MOST_TERMS} that a mechanism spans; "
            "resample the telemetry to a longer step"
        )
    return count


def _over(name: str, parts: tuple[Tree, ...]) -> Tree:
    """Returns the maximum or the mean of the samples of a window."""
    if name == "max_over":
        return Call("max", parts) if len(parts) > 1 else parts[0]
    total = reduce(lambda before, part: Arithmetic("+", before, part), parts)
    return Arithmetic("/", total, Number(Fraction(len(parts))))


def _steps(size: Tree, step: float) -> int:
    if not isinstance(size, Number):
        raise UsageError("a delay that is itself a signal cannot be read from samples: log the delayed signal")
    return round(float(size.value) / step)
