"""Fabrics: members that hold data, switches that pass it on, and wires with a rate in one direction each.

Rates are exact, in bytes per second; a member's share is the data that it holds, in any unit (1: one shard).
Every name that no member has is a switch.  What is wrong with a fabric is told with the wire's own place.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from coherence.base import graphs
from coherence.base.errors import CoherenceError, InputError, Problem, UsageError
from coherence.base.places import Place

Rate = Fraction | int
Check = Callable[["Fabric"], None]


@dataclass(frozen=True)
class Wire:
    """From `source` to `target` at `rate` B/s.  `place`: where a design says so, labelled with what it says.

    `latency`: the least time over it, beside its bytes (s).
    """

    source: str
    target: str
    rate: Fraction
    place: Place | None = field(default=None, compare=False)
    latency: Fraction = Fraction(0)

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"


@dataclass(frozen=True)
class Fabric:
    """`members`: name -> share of the data that it holds at first (above zero).  `adding`: switches that add what
    passes them."""

    members: tuple[tuple[str, Fraction], ...]
    wires: tuple[Wire, ...]
    name: str = field(default="fabric", compare=False)
    adding: frozenset[str] = frozenset()

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Returns members first, then switches, each in order of first appearance."""
        ends = itertools.chain.from_iterable((wire.source, wire.target) for wire in self.wires)
        return tuple(dict.fromkeys(itertools.chain((name for name, _ in self.members), ends)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Returns the members' names."""
        return tuple(name for name, _ in self.members)

    @property
    def total(self) -> Fraction:
        """Returns the data of all members."""
        return sum((share for _, share in self.members), Fraction(0))

    def __str__(self) -> str:
        return f"{self.name} ({len(self.members)} members, {len(self.wires)} wires)"


def fabric(
    members: Mapping[str, Rate] | Iterable[str],
    wires: Iterable[Wire],
    *,
    name: str = "fabric",
    check: Check | None = None,
) -> Fabric:
    """Returns a fabric that was looked at.  Raises InputError (places known) or UsageError naming what is wrong.

    check: raises where too few members reach others; by default all have to (`connected`).
    """
    shares = members if isinstance(members, Mapping) else dict.fromkeys(members, 1)
    wired = Fabric(tuple((one, Fraction(share)) for one, share in shares.items()), tuple(wires), name)
    _rates(wired)
    if len(wired.members) < 2:
        raise UsageError(f"{name} has {len(wired.members)} member: a collective needs two or more")
    low = next((one for one, share in wired.members if share <= 0), None)
    if low is not None:
        raise UsageError(f"member {low} of {name} holds {float(shares[low]):g}: a share is above zero")
    (check or connected)(wired)
    return wired


def _rates(fabric: Fabric) -> None:
    wrong = [wire for wire in fabric.wires if wire.rate <= 0 or wire.source == wire.target]
    if wrong:
        raise _as_error(
            (wire.place, _reason(wire), "leave the wire out, or give the rate that it has per direction, as `50 GB/s`")
            for wire in wrong
        )


def _reason(wire: Wire) -> str:
    if wire.source == wire.target:
        return f"the wire of {wire.source} ends where it begins"
    return f"the bandwidth of {wire} is {float(wire.rate):g} B/s: no collective over it ever ends"


def _as_error(found: Iterable[tuple[Place | None, str, str]]) -> CoherenceError:
    """Returns an InputError where every place is known, else a UsageError with the first."""
    listed = list(found)
    placed = [Problem(place, said, remedy) for place, said, remedy in listed if place is not None]
    return InputError(placed) if len(placed) == len(listed) else UsageError(f"{listed[0][1]}; {listed[0][2]}")


def reached(fabric: Fabric, start: str, *, back: bool = False) -> frozenset[str]:
    """Returns what the wires lead to from a node (`back`: what leads to it)."""
    after: dict[str, list[str]] = {}
    for wire in fabric.wires:
        near, other = (wire.target, wire.source) if back else (wire.source, wire.target)
        after.setdefault(near, []).append(other)
    return frozenset(graphs.reached([start], lambda node: after.get(node, ())))


def connected(fabric: Fabric) -> None:
    """Raises where some member cannot reach another: a floor would be infinite."""
    _joined(fabric, (False, True))


def rooted(fabric: Fabric) -> None:
    """Raises where the first member cannot reach another one."""
    _joined(fabric, (False,))


def as_written(fabric: Fabric) -> None:
    """Takes any fabric: demands tell which members have to reach others."""


def _joined(fabric: Fabric, ways: Sequence[bool]) -> None:
    first = fabric.names[0]
    for back in ways:
        seen = reached(fabric, first, back=back)
        lost = next((name for name in fabric.names if name not in seen), None)
        if lost is not None:
            source, second = (lost, first) if back else (first, lost)
            raise _unconnected(fabric, source, second)


def _unconnected(fabric: Fabric, source: str, target: str) -> CoherenceError:
    inside = reached(fabric, source)
    ends = [wire.place for wire in fabric.wires if wire.place and (wire.source in inside or wire.target in inside)]
    message = f"{fabric.name} is not connected: no path of wires leads from {source} to {target}"
    remedy = f"add a link that joins {source} and {target}, or ask for each part alone"
    return _as_error([(ends[0] if ends else None, message, remedy)])


def both(one: str, other: str, rate: Rate, place: Place | None = None, *, latency: Rate = 0) -> tuple[Wire, Wire]:
    """Returns a link with its rate each way."""
    rated = Fraction(rate), place, Fraction(latency)
    return Wire(one, other, *rated), Wire(other, one, *rated)


def turned(made: Fabric) -> Fabric:
    """Returns every wire the other way: a reduce-scatter is an all-gather there, in reverse."""
    wires = tuple(Wire(wire.target, wire.source, wire.rate, wire.place, wire.latency) for wire in made.wires)
    return Fabric(made.members, wires, made.name, made.adding)


# ---- the usual shapes ----------------------------------------------------------------------------------------------


def torus(sizes: Sequence[int], rate: Rate = 1) -> Fabric:
    """Returns a k-ary n-cube of members, each linked with its neighbours both ways round; two members of a ring of two
    are linked twice.
    """
    spots = list(itertools.product(*(range(k) for k in sizes)))
    return fabric([_at(spot) for spot in spots], _around(spots, sizes, rate), name=f"torus {'x'.join(map(str, sizes))}")


def _around(spots: Iterable[tuple[int, ...]], sizes: Sequence[int], rate: Rate) -> Iterator[Wire]:
    for spot in spots:
        for axis, size in enumerate(sizes):
            if size > 1:
                after = (*spot[:axis], (spot[axis] + 1) % size, *spot[axis + 1 :])
                yield from both(_at(spot), _at(after), rate)


def _at(spot: Sequence[int]) -> str:
    return "n" + ".".join(map(str, spot))


def ring(n: int, rate: Rate = 1) -> Fabric:
    """Returns members in a circle, linked both ways."""
    return torus((n,), rate)


def leaf_spine(leaves: int, hosts: int, spines: int, host_rate: Rate, up_rate: Rate) -> Fabric:
    """`hosts` members at each leaf switch, every leaf linked with every spine."""
    wires: list[Wire] = []
    for leaf in range(leaves):
        for host in range(hosts):
            wires += both(f"h{leaf}.{host}", f"leaf{leaf}", host_rate)
        for spine in range(spines):
            wires += both(f"leaf{leaf}", f"spine{spine}", up_rate)
    members = [f"h{leaf}.{host}" for leaf in range(leaves) for host in range(hosts)]
    return fabric(members, wires, name=f"{leaves} leaves, {spines} spines")


# NVLink of a DGX-1 with V100: six links a GPU, two within these pairs and one within the others.
# SOURCE: NVIDIA, DGX-1 with Tesla V100 System Architecture; Cai et al., PPoPP 2021.
_DOUBLE = ("01", "04", "13", "23", "26", "45", "57", "67")
_SINGLE = ("02", "03", "12", "15", "37", "46", "47", "56")


def dgx1(rate: Rate = 1) -> Fabric:
    """Eight GPUs, each with six links of `rate`."""
    pairs = [(pair, 2) for pair in _DOUBLE] + [(pair, 1) for pair in _SINGLE]
    wires = [wire for pair, links in pairs for wire in both(f"g{pair[0]}", f"g{pair[1]}", links * Fraction(rate))]
    return fabric([f"g{k}" for k in range(8)], wires, name="DGX-1")
