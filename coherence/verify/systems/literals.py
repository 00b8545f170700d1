"""Decides conditions that two comparisons with numbers settle, without a solver."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.language.expressions import names
from coherence.language.expressions.evaluate import COMPARE
from coherence.language.expressions.tree import MIRRORED, NEGATED, Compare, Logic, Name, Number, Tree
from coherence.verify.facts.ranges import Values, extremes, truth


def literals(tree: Tree, *, holds: bool = True) -> Iterator[Tree]:
    """Yields comparisons with numbers (the number on the right), names and negated names that the condition implies."""
    match tree:
        case Logic(op="not", terms=(term,)):
            yield from literals(term, holds=not holds)
        case Logic(op=op, terms=terms) if (op == "and") is holds:
            for term in terms:
                yield from literals(term, holds=holds)
        case Compare(op=op, left=left, right=Number() as right):
            yield Compare(op if holds else NEGATED[op], left, right)
        case Compare(op=op, left=Number() as left, right=right):
            yield Compare(MIRRORED[op if holds else NEGATED[op]], right, left)
        case Name():
            yield tree if holds else Logic("not", (tree,))


def contradiction(left: Tree, right: Tree) -> tuple[Tree, Tree] | None:
    """Returns two literals of the two conditions that exclude each other; None where none do."""
    second = list(literals(right))
    return next(((a, b) for a in literals(left) for b in second if _exclude(a, b)), None)


def _exclude(a: Tree, b: Tree) -> bool:
    if isinstance(a, Compare) and isinstance(b, Compare):
        return a.left == b.left and empty(a, b)
    return a == Logic("not", (b,)) or b == Logic("not", (a,))


def empty(left: Compare, right: Compare) -> bool:
    """Decides whether x OP a and x OP b hold for no x."""
    points = {_number(left), _number(right)}
    low, high = min(points), max(points)
    probes = [low - 1, low, (low + high) / 2, high, high + 1]
    return not any(COMPARE[left.op](x, _number(left)) and COMPARE[right.op](x, _number(right)) for x in probes)


def _number(literal: Compare) -> Fraction:
    assert isinstance(literal.right, Number)
    return literal.right.value


def plainly_possible(tree: Tree, values: Values) -> bool:
    """Decides whether terms joined by `and` share no name and are each satisfiable: then they hold together."""
    terms = tree.terms if isinstance(tree, Logic) and tree.op == "and" else (tree,)
    used = [name for term in terms for name in names(term)]
    return len(set(used)) == len(used) and all(_fulfilled(term, values) for term in terms)


def _fulfilled(term: Tree, values: Values) -> bool:
    known = truth(term, values)
    if known is not None or not isinstance(term, Compare):
        return bool(known) or isinstance(term, Name)
    if isinstance(term.left, Name) and isinstance(term.right, Number):
        return term.op not in ("==", "!=")
    ends = extremes(term.left, values) if isinstance(term.right, Number) else None
    return ends is not None and any(COMPARE[term.op](end.value, _number(term)) for end in ends)
