"""Finds terms of a measured signal that no telemetry moves: products of ranges alone, none with a column.

A range is one unknown constant unless the design says `varies:` or a column has it.  As a factor beside a signal it is
a strength, which is fitted; where a whole term has nothing but such ranges, the term is taken as a constant.  What
really moves there stays in the unexplained remainder, and where it moves two signals it hides between them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from coherence.language.expressions.tree import Arithmetic, Tree, names
from coherence.model.model import Model


def constant_terms(model: Model, measured: Container[str]) -> dict[str, tuple[str, ...]]:
    """Term, as `a * b` -> the measured signals with this term, in the order of the design."""
    terms: dict[str, list[str]] = {}
    for path, tree in model.outputs.items():
        for signal in _alone(model, tree, measured) if path in measured else ():
            terms.setdefault(signal, []).append(path)
    return {told: tuple(dict.fromkeys(paths)) for told, paths in terms.items()}


def hidden_between(terms: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """range -> the signals that have it in such a term, where these are two or more."""
    between: dict[str, list[str]] = {}
    for signal, paths in terms.items():
        for name in signal.split(" * "):
            between.setdefault(name, []).extend(paths)
    return {name: each for name, paths in between.items() if len(each := tuple(dict.fromkeys(paths))) > 1}


def _alone(model: Model, tree: Tree, measured: Container[str]) -> Iterator[str]:
    for term in _terms(tree):
        read = tuple(dict.fromkeys(model.resolve(name) for name in names(term)))
        fixed = [name for name in read if name in model.constants and not model.constants[name].varies]
        if len(fixed) == len(read) and not any(name in measured for name in read):
            ranges = [name for name in fixed if not model.constants[name].range.exact]
            if ranges:
                yield " * ".join(ranges)


def _terms(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, Arithmetic) and tree.op in "+-":
        yield from _terms(tree.left)
        yield from _terms(tree.right)
    else:
        yield tree
