"""Finds what is reached in a graph, and its strongly connected components, from the successors of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reached(starts: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Returns the nodes to which steps lead, the starts included."""
    seen: set[Node] = set()
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += after(node)
    return seen


def components(successors: Mapping[Node, Iterable[Node]]) -> Iterator[tuple[Node, ...]]:
    """Yields the strongly connected components, each after all that it leads to, its nodes in the order of discovery.

    A node that is only a successor leads nowhere.
    SOURCE: R. Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Computing 1972; with an explicit
    stack, so that a chain of any depth is walked.
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}  # of open nodes only
    open_: list[Node] = []
    walk: list[tuple[Node, Iterator[Node]]] = []

    def enter(node: Node) -> None:
        index[node] = low[node] = len(index)
        open_.append(node)
        walk.append((node, iter(successors.get(node, ()))))

    for root in successors:
        if root not in index:
            enter(root)
        while walk:
            node, rest = walk[-1]
            for other in rest:
                if other not in index:
                    enter(other)
                    break
                if other in low:
                    low[node] = min(low[node], index[other])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
                if low[node] == index[node]:
                    yield _closed(node, open_, low)


def _closed(root: Node, open_: list[Node], low: dict[Node, int]) -> tuple[Node, ...]:
    """Takes the component that was entered at `root` off the stack."""
    members = [open_.pop()]
    while members[-1] != root:
        members.append(open_.pop())
    for node in members:
        del low[node]
    return tuple(reversed(members))


def cycles(successors: Mapping[Node, Iterable[Node]]) -> Iterator[tuple[Node, ...]]:
    """Yields the components that hold a step: of several nodes, or of one that leads to itself."""
    for group in components(successors):
        if len(group) > 1 or group[0] in successors.get(group[0], ()):
            yield group
