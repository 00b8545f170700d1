"""Members that are alike: one of each kind decides the minimum of the whole fabric.

Two members are alike when a symmetry of the fabric (a renaming that keeps shares, rates and latencies) takes one to the
other.  Symmetries are found, then checked wire by wire; where none is found the members count as unlike, which costs
time and never changes the result.

SOURCE: B. Weisfeiler and A. Leman 1968 (refinement of colours); every renaming is verified.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from coherence.minimums.fabric.wiring import Fabric

TRIED = 64  # branches of the search for one symmetry
Colours = dict[str, int]
Key = tuple[Any, ...]  # alike in every round: numbers, or a number and two sorted lists of pairs


class _Graph:
    """A fabric with parallel wires added up; `label` is what a symmetry must keep of each node, as a number."""

    def __init__(self, fabric: Fabric) -> None:
        names = fabric.nodes
        self.out: dict[str, dict[str, int]] = {name: {} for name in names}
        self.into: dict[str, dict[str, int]] = {name: {} for name in names}
        self.codes: dict[Hashable, int] = {}
        total: dict[tuple[str, str], Fraction] = {}
        for wire in fabric.wires:
            key = (wire.source, wire.target)
            total[key] = total[key] + wire.rate if key in total else wire.rate
        late = _late(fabric)
        for (source, other), rate in total.items():
            kind = ("rate", rate.numerator, rate.denominator, late.get((source, other)))
            self.out[source][other] = self.into[other][source] = self.code(kind)
        shares = {name: (share.numerator, share.denominator) for name, share in fabric.members}
        self.label = {name: self.code(("node", shares.get(name))) for name in names}
        self.stands: dict[str, list[list[str]]] = {name: [[name]] for name in names}

    def code(self, said: Hashable) -> int:
        """Equal things have equal numbers."""
        return self.codes.setdefault(said, len(self.codes))

    def around(self, name: str) -> tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]:
        return frozenset(self.out[name].items()), frozenset(self.into[name].items())

    def drop(self, name: str) -> None:
        for other in self.out.pop(name):
            self.into[other].pop(name)
        for other in self.into.pop(name):
            self.out[other].pop(name)
        self.label.pop(name)


def _late(fabric: Fabric) -> dict[tuple[str, str], tuple[tuple[int, ...], ...]]:
    """Returns latencies and rates, as whole numbers, of the wires between two nodes that have a latency.

    None where all wires have one latency: their rates tell them apart.
    """
    if all(wire.latency is fabric.wires[0].latency for wire in fabric.wires):
        return {}
    wires: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    for wire in fabric.wires:
        if wire.latency:
            each = (*wire.latency.as_integer_ratio(), *wire.rate.as_integer_ratio())
            wires.setdefault((wire.source, wire.target), []).append(each)
    return {ends: tuple(sorted(each)) for ends, each in wires.items()}


def representatives(fabric: Fabric) -> tuple[str, ...]:
    """Returns one member of every kind, in the order of the fabric."""
    graph = _Graph(fabric)
    while _merge_twins(graph) or _absorb(graph):
        pass
    kinds = _joined(graph)
    first: dict[int, str] = {}
    for name in fabric.names:
        first.setdefault(kinds[name], name)
    return tuple(first.values())


def _merge_twins(graph: _Graph) -> bool:
    """Nodes with the same label and the same neighbours can be swapped: they become one node that stands for them."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for name in graph.label:
        groups[graph.label[name], graph.around(name)].append(name)
    merged = False
    for names in groups.values():
        if len(names) > 1:
            merged = True
            first = names[0]
            graph.stands[first] = _pooled([graph.stands[name] for name in names])
            graph.label[first] = graph.code(("times", len(names), graph.label[first]))
            for name in names[1:]:
                graph.drop(name)
    return merged


def _pooled(stands: Sequence[list[list[str]]]) -> list[list[str]]:
    """The k-th kinds of twins are alike."""
    return [[name for stand in stands for name in stand[k]] for k in range(len(stands[0]))]


def _absorb(graph: _Graph) -> bool:
    """A node with a single neighbour becomes part of it."""
    hanging: dict[str, list[str]] = defaultdict(list)
    for name in graph.label:
        near = graph.out[name].keys() | graph.into[name].keys()
        if len(near) == 1:
            hanging[next(iter(near))].append(name)
    done = False
    for owner, names in hanging.items():
        if owner not in graph.label or any(name not in graph.label for name in names):
            continue  # two nodes that hang on each other: one of them is left
        done = True
        parts = sorted(names, key=lambda name: _tie(graph, owner, name))
        signature = ("with", graph.label[owner], tuple(_tie(graph, owner, name) for name in parts))
        graph.label[owner] = graph.code(signature)
        graph.stands[owner] += [stand for name in parts for stand in graph.stands[name]]
        for name in parts:
            graph.drop(name)
    return done


def _tie(graph: _Graph, owner: str, name: str) -> tuple[int, int, int]:
    return graph.label[name], graph.out[name].get(owner, -1), graph.into[name].get(owner, -1)


def _joined(graph: _Graph) -> dict[str, int]:
    """Kind of every original node, by symmetries of what is left of the graph."""
    colours = _refined(graph, dict.fromkeys(graph.label, 0))
    leader = {name: name for name in graph.label}
    for names in _classes(colours).values():
        for first, second in itertools.combinations(names, 2):
            if _leading(leader, second) == second != _leading(leader, first) == first:
                _unite(leader, _symmetry(graph, colours, first, second) or {})
    kinds: dict[tuple[str, int], int] = {}
    merged: dict[str, int] = {}
    for name in graph.label:
        for k, stand in enumerate(graph.stands[name]):
            kind = kinds.setdefault((_leading(leader, name), k), len(kinds))
            merged.update(dict.fromkeys(stand, kind))
    return merged


def _leading(leader: dict[str, str], name: str) -> str:
    while leader[name] != name:
        name = leader[name]
    return name


def _unite(leader: dict[str, str], renamed: Mapping[str, str]) -> None:
    """A renaming makes every node alike to where it goes; the first of them all leads."""
    order = {name: k for k, name in enumerate(leader)}
    for name, to in renamed.items():
        lower, other = sorted((_leading(leader, name), _leading(leader, to)), key=order.__getitem__)
        leader[other] = lower


def _refined(graph: _Graph, colours: Colours) -> Colours:
    """Split colours by what is around until nothing splits; the numbers depend on the structure alone."""
    now: dict[str, Key] = {name: (colours[name], graph.label[name]) for name in colours}
    count = 0
    while True:
        order = {key: k for k, key in enumerate(sorted(set(now.values())))}
        known: Colours = {name: order[now[name]] for name in colours}
        if len(order) == count:
            return known
        count = len(order)
        now = {
            name: (
                known[name],
                tuple(sorted((known[other], rate) for other, rate in graph.out[name].items())),
                tuple(sorted((known[other], rate) for other, rate in graph.into[name].items())),
            )
            for name in colours
        }


def _symmetry(graph: _Graph, colours: Colours, one: str, other: str) -> dict[str, str] | None:
    """Returns a symmetry that takes `one` to `other`; None also where none was found in time."""
    return _search(graph, _marked(graph, colours, one), _marked(graph, colours, other), [TRIED])


def _marked(graph: _Graph, colours: Colours, name: str) -> Colours:
    return _refined(graph, {**{node: 2 * colour for node, colour in colours.items()}, name: 2 * colours[name] + 1})


def _search(graph: _Graph, left: Colours, right: Colours, budget: list[int]) -> dict[str, str] | None:
    """Mark pairs until every node has a colour of its own, then check the renaming."""
    budget[0] -= 1
    mine, yours = _classes(left), _classes(right)
    if budget[0] < 0 or {k: len(v) for k, v in mine.items()} != {k: len(v) for k, v in yours.items()}:
        return None
    open_ = [colour for colour, names in mine.items() if len(names) > 1]
    if not open_:
        renamed = {mine[colour][0]: yours[colour][0] for colour in mine}
        return renamed if _keeps(graph, renamed) else None
    colour = min(open_, key=lambda one: (len(mine[one]), one))
    marked = _marked(graph, left, mine[colour][0])
    tries = (_search(graph, marked, _marked(graph, right, name), budget) for name in yours[colour])
    return next((attempt for attempt in tries if attempt is not None), None)


def _classes(colours: Colours) -> dict[int, list[str]]:
    made: dict[int, list[str]] = defaultdict(list)
    for name, colour in colours.items():
        made[colour].append(name)
    return made


def _keeps(graph: _Graph, renamed: dict[str, str]) -> bool:
    """Returns whether the renaming keeps labels and rates."""
    return all(
        graph.label[name] == graph.label[to]
        and {renamed[other]: rate for other, rate in graph.out[name].items()} == graph.out[to]
        for name, to in renamed.items()
    )
