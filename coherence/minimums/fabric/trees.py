"""Builds trees that carry every member's data to all others, and so attain the minimum of a fabric.

Switches are first taken out, two wires at a time, as long as every member can still be served; then trees are grown,
edge by edge, as long as the rest can still be finished (Edmonds' condition, asked by flows).  What comes out is
executed: each tree must reach all members over wires that exist, and the busiest wire tells how long it takes.

SOURCE: J. Edmonds 1973 and L. Lovasz 1976 (disjoint branchings); J. Bang-Jensen, A. Frank and B. Jackson 1995
(splitting off); ForestColl, arXiv 2402.06787, joins them for collectives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.fabric.cuts import all_gather
from coherence.minimums.fabric.max_flow import Arc, flow
from coherence.minimums.fabric.wiring import Fabric

Path = tuple[str, ...]
Room = dict[Path, int]  # how often each path of wires may be used


@dataclass(frozen=True)
class Tree:
    """`paths` lead from the root (a member) to every other one, each from where its data has been."""

    root: str
    data: Fraction
    paths: tuple[Path, ...]


@dataclass(frozen=True)
class _Batch:
    """`many` trees of one root that have reached the same members so far."""

    root: str
    many: int
    reached: tuple[str, ...]
    paths: tuple[Path, ...] = ()


def trees(fabric: Fabric) -> tuple[Tree, ...]:
    """Returns trees that finish an all-gather in the exact minimum.

    Raises UsageError for a switch whose wires carry more in than out: wires of equal rates both ways have none.
    """
    time = all_gather(fabric).time
    grain = math.lcm(
        *((wire.rate * time).denominator for wire in fabric.wires), *(share.denominator for _, share in fabric.members)
    )
    room: Room = {}
    for wire in fabric.wires:
        path = (wire.source, wire.target)
        room[path] = room.get(path, 0) + int(wire.rate * time * grain)
    batches = [_Batch(name, int(share * grain), (name,)) for name, share in fabric.members if share]
    for switch in fabric.nodes[len(fabric.members) :]:
        _split_off(fabric, room, batches, switch)
    done: list[_Batch] = []
    while batches:
        _grow(fabric, room, batches, done)
    return tuple(Tree(batch.root, Fraction(batch.many, grain), batch.paths) for batch in done)


def _served(fabric: Fabric, room: Mapping[Path, int], batches: Iterable[_Batch]) -> bool:
    """Returns whether each member can still be reached by every batch that has not reached it."""
    listed = list(batches)
    ends = dict.fromkeys(end for path, many in room.items() if many for end in (path[0], path[-1]))
    index = {name: k for k, name in enumerate(dict.fromkeys((*fabric.names, *ends)))}
    source, wanted = len(index), sum(batch.many for batch in listed)
    arcs: list[Arc] = [(index[path[0]], index[path[-1]], many) for path, many in room.items() if many]
    for k, batch in enumerate(listed):
        arcs.append((source, source + 1 + k, batch.many))
        arcs += [(source + 1 + k, index[name], batch.many) for name in batch.reached]
    nodes = source + 1 + len(listed)
    return all(flow(nodes, arcs, source, index[name])[0] >= wanted for name in fabric.names)


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """Returns the largest number up to `limit` that fits, where everything below a number that fits does too."""
    if limit <= 0 or fits(limit):
        return max(0, limit)
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _split_off(fabric: Fabric, room: Room, batches: list[_Batch], switch: str) -> None:
    """Replace a way into the switch and a way out of it by one way past it, until none leads out."""
    into = sum(many for path, many in room.items() if path[-1] == switch)
    out = sum(many for path, many in room.items() if path[0] == switch)
    if into != out:
        raise UsageError(
            f"the wires into switch {switch} of {fabric.name} carry {into}, those out of it {out}: no trees"
        )
    for after in [path for path, many in room.items() if many and path[0] == switch]:
        for before in [path for path, many in room.items() if many and path[-1] == switch]:
            limit = min(room[before], room[after])
            many = _most(limit, lambda k, b=before, a=after: _served(fabric, _passed(room, b, a, k), batches))  # type: ignore[misc]
            if many:
                room.update(_passed(room, before, after, many))
    for path in [path for path in room if switch in (path[0], path[-1])]:
        if room.pop(path):
            raise AssertionError(f"{switch} of {fabric.name} could not be split off")


def _passed(room: Room, before: Path, after: Path, many: int) -> Room:
    changed = {**room, before: room[before] - many, after: room[after] - many}
    if before[0] != after[-1]:
        joined = before + after[1:]
        changed[joined] = changed.get(joined, 0) + many
    return changed


def _grow(fabric: Fabric, room: Room, batches: list[_Batch], done: list[_Batch]) -> None:
    """Gives the first batch one path more (a part of its trees, where not all can have it), or call it done."""
    batch = batches.pop(0)
    if len(batch.reached) == len(fabric.members):
        done.append(batch)
        return
    for path in [path for path, many in room.items() if many]:
        if path[0] in batch.reached and path[-1] not in batch.reached:
            limit = min(batch.many, room[path])
            many = _most(limit, lambda k, p=path: _served(fabric, _less(room, p, k), _parted(batch, p, k) + batches))  # type: ignore[misc]
            if many:
                room[path] -= many
                batches[:0] = _parted(batch, path, many)
                return
    raise AssertionError(f"the trees of {batch.root} of {fabric.name} could not be finished")


def _less(room: Room, path: Path, many: int) -> Room:
    return {**room, path: room[path] - many}


def _parted(batch: _Batch, path: Path, many: int) -> list[_Batch]:
    grown = _Batch(batch.root, many, (*batch.reached, path[-1]), (*batch.paths, path))
    return [grown] + ([_Batch(batch.root, batch.many - many, batch.reached, batch.paths)] if batch.many > many else [])


def executed(fabric: Fabric, trees: Iterable[Tree]) -> Fraction:
    """Returns seconds per unit of share until every member has all data, each wire sending without a pause.

    Raises AssertionError for trees that do not carry all data of all members to all members over existing wires.
    """
    return busiest(fabric, loads(fabric, trees))


def busiest(fabric: Fabric, load: Mapping[tuple[str, str], Fraction]) -> Fraction:
    """Returns for how long the busiest wire sends."""
    rates: dict[tuple[str, str], Fraction] = {}
    for wire in fabric.wires:
        rates[wire.source, wire.target] = rates.get((wire.source, wire.target), Fraction(0)) + wire.rate
    return max(amount / rates[step] for step, amount in load.items())


def loads(fabric: Fabric, trees: Iterable[Tree]) -> dict[tuple[str, str], Fraction]:
    """Returns what each wire carries.  Raises AssertionError as `executed` does."""
    load: dict[tuple[str, str], Fraction] = {}
    sent: dict[str, Fraction] = {}
    for tree in trees:
        reached = {tree.root}
        for path in tree.paths:
            if path[0] not in reached or path[-1] in reached:
                raise AssertionError(f"a tree of {tree.root} takes {path} although {reached} have its data")
            reached.add(path[-1])
            for step in itertools.pairwise(path):
                load[step] = load.get(step, Fraction(0)) + tree.data
        if reached != set(fabric.names):
            raise AssertionError(f"a tree of {tree.root} does not reach all members")
        sent[tree.root] = sent.get(tree.root, Fraction(0)) + tree.data
    if sent != {name: share for name, share in fabric.members if share}:
        raise AssertionError("the trees do not carry all data")
    return load
