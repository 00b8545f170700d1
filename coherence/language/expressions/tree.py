"""Defines the typed tree of an expression: frozen nodes, each with its span in the text it was read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from coherence.base.units import ONE, Dimension

Span = tuple[int, int]
_SPAN: Span = (0, 0)
_HASH = " hash"  # no attribute begins with a space
T = TypeVar("T")


def _hashed_once(cls: type[T]) -> type[T]:
    """Decorates a frozen node: its hash, which goes through all its parts, is computed once in each process."""
    compute = cls.__hash__

    def once(node: T) -> int:
        own = node.__dict__
        if _HASH not in own:
            own[_HASH] = compute(node)
        number: int = own[_HASH]
        return number

    def state(node: T) -> dict[str, object]:
        return {name: part for name, part in node.__dict__.items() if name != _HASH}

    cls.__hash__, cls.__getstate__ = once, state  # type: ignore[assignment,method-assign]
    return cls


@_hashed_once
@dataclass(frozen=True)
class Number:
    """An exact literal in SI units."""

    value: Fraction
    dimension: Dimension = ONE
    span: Span = field(default=_SPAN, compare=False)


@dataclass(frozen=True)
class Truth:
    """`true` or `false`."""

    value: bool
    span: Span = field(default=_SPAN, compare=False)


@dataclass(frozen=True)
class Name:
    """A signal, constant or loop: dotted words."""

    path: str
    span: Span = field(default=_SPAN, compare=False)


@_hashed_once
@dataclass(frozen=True)
class Call:
    """A function of the whitelist, or one of the counting words (`sum of`, `in flight`, `count by`)."""

    function: str
    arguments: tuple[Tree, ...]
    span: Span = field(default=_SPAN, compare=False)


@_hashed_once
@dataclass(frozen=True)
class Arithmetic:
    """left op right, op in + - * /."""

    op: str
    left: Tree
    right: Tree
    span: Span = field(default=_SPAN, compare=False)


@_hashed_once
@dataclass(frozen=True)
class Compare:
    """left op right, op in < <= > >= == !=."""

    op: str
    left: Tree
    right: Tree
    span: Span = field(default=_SPAN, compare=False)


@_hashed_once
@dataclass(frozen=True)
class Logic:
    """op in and, or, not."""

    op: str
    terms: tuple[Tree, ...]
    span: Span = field(default=_SPAN, compare=False)


@_hashed_once
@dataclass(frozen=True)
class Choose:
    """`then if condition else otherwise`."""

    condition: Tree
    then: Tree
    otherwise: Tree
    span: Span = field(default=_SPAN, compare=False)


@_hashed_once
@dataclass(frozen=True)
class Held:
    """`condition for duration`: the time since the first of the true samples in a row is at least the duration.

    As the `for` of Prometheus rules.  Before 0 nothing has held; `for 0 s` is the condition itself.
    """

    condition: Tree
    duration: Fraction
    span: Span = field(default=_SPAN, compare=False)


Tree = Number | Truth | Name | Call | Arithmetic | Compare | Logic | Choose | Held


def children(tree: Tree) -> tuple[Tree, ...]:
    """Returns the direct parts of a node."""
    match tree:
        case Call(arguments=parts) | Logic(terms=parts):
            return parts
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right):
            return (left, right)
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case Held(condition=condition):
            return (condition,)
        case _:
            return ()


def walk(tree: Tree) -> Iterator[Tree]:
    """Yields every node, outermost first."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def depth(tree: Tree) -> int:
    """Returns the number of nodes on the longest way from the root to a leaf."""
    level, nodes = 0, [tree]
    while nodes:
        level, nodes = level + 1, [child for node in nodes for child in children(node)]
    return level


def names(tree: Tree) -> tuple[str, ...]:
    """Returns the names used, in order of first use."""
    return tuple(dict.fromkeys(node.path for node in walk(tree) if isinstance(node, Name)))


def is_boolean(tree: Tree) -> bool:
    """Returns whether the node is a condition by its form.  (A bare name may be one too.)"""
    return isinstance(tree, Truth | Compare | Logic | Held)


NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}  # not (a op b)
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}  # b op a


Rename = Callable[[str], "str | Tree"]


def rename(tree: Tree, new: Rename) -> Tree:
    """Returns the tree with every name passed through `new` (a path, or a tree to put in its place)."""
    if isinstance(tree, Name):
        replacement = new(tree.path)
        return Name(replacement, tree.span) if isinstance(replacement, str) else replacement
    return rebuilt(tree, lambda part: rename(part, new))


def rebuilt(tree: Tree, part: Callable[[Tree], Tree]) -> Tree:
    """Returns the node with each of its direct parts passed through `part`."""
    match tree:
        case Call(function=f, arguments=args, span=span):
            return Call(f, tuple(map(part, args)), span)
        case Arithmetic(op=op, left=left, right=right, span=span):
            return Arithmetic(op, part(left), part(right), span)
        case Compare(op=op, left=left, right=right, span=span):
            return Compare(op, part(left), part(right), span)
        case Logic(op=op, terms=terms, span=span):
            return Logic(op, tuple(map(part, terms)), span)
        case Choose(condition=c, then=t, otherwise=o, span=span):
            return Choose(part(c), part(t), part(o), span)
        case Held(condition=c, duration=d, span=span):
            return Held(part(c), d, span)
        case _:
            return tree
