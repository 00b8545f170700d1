"""The exact minimum of an all-gather on any fabric, and of a broadcast: cuts with their rates.

    T = max over node sets S that leave a member outside:  (data of the members in S) / (rate of the wires out of S)

What is inside S has to leave it for the member outside; no schedule is faster, and packings of trees attain it.  The
set is found by Newton steps on the ratio: at a trial T a flow to each member either carries all data, or its least cut
has a larger ratio.  A member that is served at T is served at every larger T, so each is asked once more only after a
step of its own.  All numbers are fractions; the cut itself is the certificate, and anybody can add it up again.

SOURCE: L. Zhao and A. Krishnamurthy, arXiv 2305.18461; ForestColl, arXiv 2402.06787; W. Dinkelbach 1967;
J. Edmonds 1973.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError, did_you_mean
from coherence.minimums.fabric.max_flow import Arc, flow
from coherence.minimums.fabric.wiring import Fabric, Wire, connected

SMALL = 18  # nodes of which every cut is tried


@dataclass(frozen=True)
class FabricCut:
    """`time`: seconds per unit of share (bytes) that a cut takes.  `inside`: the nodes of S.

    `data` is what the members of S hold, `rate` what its wires carry out of it in one second.
    """

    time: Fraction
    inside: frozenset[str]
    data: Fraction
    rate: Fraction
    wires: tuple[Wire, ...]

    def holds(self, fabric: Fabric) -> bool:
        """Adds it up again from the fabric alone: a member is outside, and the ratio is what is said."""
        if all(name in self.inside for name in fabric.names):
            return False
        again = cut_of(fabric, self.inside)
        return again.time == self.time == self.data / self.rate


def cut_of(fabric: Fabric, inside: Iterable[str]) -> FabricCut:
    """Returns the cut of a set of nodes.  Raises UsageError where no wire leaves it."""
    nodes = frozenset(inside)
    wires = tuple(wire for wire in fabric.wires if wire.source in nodes and wire.target not in nodes)
    rate = added(wire.rate for wire in wires)
    data = added(share for name, share in fabric.members if name in nodes)
    if not rate:
        raise UsageError(f"{fabric.name} is not connected: no wire leaves {', '.join(sorted(nodes))}")
    return FabricCut(data / rate, nodes, data, rate, wires)


def added(numbers: Iterable[Fraction]) -> Fraction:
    """Returns the sum; a number that comes again and again is multiplied."""
    counts = Counter((number.numerator, number.denominator) for number in numbers)
    return sum((Fraction(top * many, bottom) for (top, bottom), many in counts.items()), Fraction(0))


def all_gather(fabric: Fabric, sinks: Sequence[str] | None = None, trials: Trials | None = None) -> FabricCut:
    """Returns the worst cut.  Raises InputError or UsageError where the fabric is not connected.

    sinks: members that stand for all others (see `symmetry.representatives`); with fewer of them it is still a floor.
    trials: those of this fabric, where there are some already.
    """
    best = cut_of(fabric, frozenset(fabric.nodes) - {_narrowest(fabric, sinks or fabric.names)})
    network = trials or Trials(fabric)
    for name in sinks or fabric.names:
        while (inside := network.short_of(name, best.time)) is not None:
            best = cut_of(fabric, inside)
    return best


def _narrowest(fabric: Fabric, names: Sequence[str]) -> str:
    """Returns the member whose own wires take longest for what it lacks: where the steps begin."""
    shares, total = dict(fabric.members), fabric.total
    names = [name for name in names if shares[name] < total]
    rates: dict[str, list[Fraction]] = {name: [] for name in names}
    for wire in fabric.wires:
        if wire.target in rates:
            rates[wire.target].append(wire.rate)
    lost = next((name for name, each in rates.items() if not each), None)
    if lost is not None:
        raise UsageError(f"{fabric.name} is not connected: no wire leads to {lost}")
    into = {name: each[0] if len(each) == 1 else added(each) for name, each in rates.items()}
    return max(names, key=lambda name: (total - shares[name]) / into[name])


class Trials:
    """Tries flows from a source that holds all data through the members to one of them."""

    def __init__(self, fabric: Fabric) -> None:
        self.nodes = fabric.nodes
        self.index = {name: k for k, name in enumerate(self.nodes)}
        self.shares, self.unit = whole([share for _, share in fabric.members])
        self.rates, self.step = whole([wire.rate for wire in fabric.wires])
        self.ends = [(self.index[wire.source], self.index[wire.target]) for wire in fabric.wires]

    def short_of(self, sink: str, time: Fraction, only: Collection[str] | None = None) -> frozenset[str] | None:
        """Returns a set whose data needs more than `time`; None where the sink gets all data in it.

        only: the members whose data counts (all of them).
        """
        shares = [share * (only is None or name in only) for share, name in zip(self.shares, self.nodes, strict=False)]
        ratio = time * self.step / self.unit  # wires carry rate * ratio shares
        more, less = ratio.numerator, ratio.denominator
        source = len(self.nodes)
        arcs: list[Arc] = [(source, k, share * less) for k, share in enumerate(shares) if share]
        arcs += [(one, other, rate * more) for (one, other), rate in zip(self.ends, self.rates, strict=True)]
        wanted = sum(shares) * less
        factor = math.gcd(*{capacity for _, _, capacity in arcs})
        if factor != 1:
            arcs = [(one, other, capacity // factor) for one, other, capacity in arcs]
        got, side = flow(source + 1, arcs, source, self.index[sink])
        return frozenset(self.nodes[k] for k in side if k != source) if got * factor < wanted else None


def whole(numbers: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Whole numbers and the unit that they count."""
    ratios = [number.as_integer_ratio() for number in numbers]
    bottom = math.lcm(*{under for _, under in ratios})
    tops = [top * (bottom // under) for top, under in ratios]
    common = math.gcd(*set(tops))
    return [top // common for top in tops], Fraction(common, bottom)


def every_cut(fabric: Fabric) -> Iterator[FabricCut]:
    """Yields all cuts of a small fabric that hold data and leave a member outside, for checks of the exact minimum."""
    nodes, names = fabric.nodes, frozenset(fabric.names)
    if len(nodes) > SMALL:
        raise UsageError(f"{fabric.name} has {len(nodes)} nodes: every cut is tried up to {SMALL}")
    for size in range(1, len(nodes)):
        for chosen in itertools.combinations(nodes, size):
            inside = frozenset(chosen)
            if inside & names and names - inside:
                yield cut_of(fabric, inside)


def capacity(fabric: Fabric, sources: Iterable[str], targets: Iterable[str]) -> FabricCut:
    """Returns the most that flows from some nodes to others in one second, as its least cut (`data` 1, `time`
    1/rate)."""
    from_, to = frozenset(sources), frozenset(targets)
    nodes = fabric.nodes
    for name in from_ | to:
        if name not in nodes:
            raise UsageError(f"{fabric.name} has no node '{name}': {did_you_mean(name, nodes)}")
    if not from_ or not to or from_ & to:
        raise UsageError(f"a flow in {fabric.name} needs nodes on both sides, and none on both")
    index = {name: k for k, name in enumerate(nodes)}
    rates, step = whole([wire.rate for wire in fabric.wires])
    source, sink, most = len(nodes), len(nodes) + 1, sum(rates)
    arcs: list[Arc] = [(index[w.source], index[w.target], rate) for w, rate in zip(fabric.wires, rates, strict=True)]
    arcs += [(source, index[name], most) for name in from_] + [(index[name], sink, most) for name in to]
    got, side = flow(len(nodes) + 2, arcs, source, sink)
    if not got:
        raise UsageError(f"{fabric.name} is not connected: no wire leads from {min(from_)} to {min(to)}")
    inside = frozenset(nodes[k] for k in side if k < source)
    wires = tuple(wire for wire in fabric.wires if wire.source in inside and wire.target not in inside)
    rate = got * step
    return FabricCut(1 / rate, inside, Fraction(1), rate, wires)


def broadcast(fabric: Fabric, root: str) -> FabricCut:
    """Returns the worst cut between the root and a member: what it holds is sent in 1/rate seconds a byte, and no
    faster.
    """
    connected(fabric)
    return min((capacity(fabric, (root,), (name,)) for name in fabric.names if name != root), key=lambda cut: cut.rate)
