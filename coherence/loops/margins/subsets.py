"""Minimal unstable subsets: the smallest sets of loops that are unstable together though each proper part is stable.

Stability is not monotone: a third loop can stabilise two that are unstable together.  So nothing is concluded
from one set about its supersets' stability.  What makes the search smaller without losing an answer:

- a minimal unstable set is strongly connected (otherwise one of its components is unstable by itself), so sets
  are grown along couplings inside the strongly connected components, and others are never judged;
- a superset of an unstable set is not minimal, whether it is stable or not, so it is never judged;
- where small gain shows a component stable with all its parts, none of its sets is judged.

Sets are judged in the order of their size; a set is reported as minimal only when every strongly connected
proper part of it was judged stable.  What the limits left out is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from coherence.base.errors import UsageError
from coherence.base.graphs import components
from coherence.loops.margins.interaction_separation import small_gain
from coherence.loops.networks.network import Network
from coherence.loops.networks.stability import Judge, Stability, stability

MOST_SETS, MOST_LOOPS = 2_000, 6


@dataclass(frozen=True)
class Blame:
    """One unstable set of loops.

    `minimal`: every proper part is stable (exactly verified); otherwise it could only be shrunk to where taking out
    any one loop gives a stable rest, or a rest that is not decided.
    """

    loops: tuple[str, ...]
    stability: Stability
    minimal: bool


@dataclass(frozen=True)
class Subsets:
    """Records the unstable sets.  `complete`: every minimal one is in `sets`; else `unsearched` says what is open."""

    sets: tuple[Blame, ...]
    judged: int
    complete: bool
    unsearched: tuple[str, ...] = ()


def minimal_unstable(
    network: Network,
    loops: Mapping[str, Sequence[str]] | None = None,
    *,
    largest: int = MOST_LOOPS,
    most_sets: int = MOST_SETS,
    judge: Judge = stability,
) -> Subsets:
    """Returns the minimal unstable sets of loops; `loops` names the blocks of each (default: every block is one loop).

    Sets of more than `largest` loops, and what `most_sets` verdicts do not reach, are not searched but by
    shrinking, and listed.  Raises UsageError where loops share blocks or name unknown ones.
    """
    groups = _groups(network, loops)
    search = _Search(network, groups, judge, most_sets)
    sets: list[Blame] = []
    unsearched: list[str] = []
    for part in _components(search.successors, frozenset(groups)):
        sets += search.component(part, largest, unsearched)
    return Subsets(tuple(sets), len(search.known), not unsearched, tuple(unsearched))


def _groups(network: Network, loops: Mapping[str, Sequence[str]] | None) -> dict[str, tuple[str, ...]]:
    given = {name: (name,) for name in network.names} if loops is None else loops
    groups = {loop: tuple(blocks) for loop, blocks in given.items()}
    members = [name for group in groups.values() for name in group]
    unknown = sorted(set(members) - set(network.names))
    twice = sorted({name for name in members if members.count(name) > 1}) if loops is not None else []
    if unknown or twice:
        raise UsageError(
            "; ".join([*(f"'{n}' is no block" for n in unknown), *(f"'{n}' is of two loops" for n in twice)])
        )
    return groups


class _Search:
    """Verdicts by set, and the graph of loops."""

    def __init__(self, network: Network, groups: Mapping[str, tuple[str, ...]], judge: Judge, most_sets: int) -> None:
        self.network, self.groups, self.judge, self.most = network, groups, judge, most_sets
        owner = {block: loop for loop, blocks in groups.items() for block in blocks}
        self.successors: dict[str, set[str]] = {loop: set() for loop in groups}
        self.order = {loop: position for position, loop in enumerate(groups)}
        self.known: dict[frozenset[str], Stability] = {}
        for coupling in network.couplings:
            ends = owner.get(coupling.source), owner.get(coupling.target)
            if ends[0] is not None and ends[1] is not None and ends[0] != ends[1] and coupling.gain:
                self.successors[ends[0]].add(ends[1])

    def verdict(self, loops: frozenset[str]) -> Stability:
        if loops not in self.known:
            self.known[loops] = self.judge(self.part(loops))
        return self.known[loops]

    def part(self, loops: frozenset[str]) -> Network:
        return self.network.part(name for loop in loops for name in self.groups[loop])

    def component(self, part: frozenset[str], largest: int, unsearched: list[str]) -> Iterator[Blame]:
        """Yields the minimal unstable sets within one strongly connected component."""
        if len(part) > 2 and all(len(self.groups[loop]) == 1 for loop in part):  # noqa: SIM102
            if small_gain(self.part(part), judge=self.judge).holds:
                return
        unstable: list[frozenset[str]] = []
        open_: list[frozenset[str]] = []
        for loops in self.candidates(part, min(largest, len(part)), unstable):
            if len(self.known) >= self.most:
                yield from self.beyond(part, unstable, len(loops), unsearched, f"{self.most} sets judged")
                return
            stable = self.verdict(loops)
            if stable.verdict == "unstable":
                clear = not any(less < loops for less in open_)
                unstable.append(loops)
                if not clear:
                    unsearched.append(f"parts of {self.render_names(loops)} that are not decided")
                yield Blame(self.sorted(loops), stable, clear)
            elif stable.verdict != "stable":
                open_.append(loops)
                unsearched.append(f"{self.render_names(loops)}: {stable.verdict}, {stable.reason}")
        if len(part) > largest:
            yield from self.beyond(part, unstable, largest + 1, unsearched, f"sets of up to {largest} loops searched")

    def candidates(
        self, part: frozenset[str], largest: int, unstable: Sequence[frozenset[str]]
    ) -> Iterator[frozenset[str]]:
        """Yields strongly connected sets by size, without those that contain a found one."""
        either = {loop: self.successors[loop] & part for loop in part}
        for loop in part:
            for other in self.successors[loop] & part:
                either[other] = either[other] | {loop}
        level = {frozenset([loop]) for loop in part}
        for size in range(1, largest + 1):
            ordered = sorted(level, key=lambda loops: [self.order[loop] for loop in self.sorted(loops)])
            for loops in ordered:
                if not any(less <= loops for less in unstable) and self.connected(loops):
                    yield loops
            if size < largest:
                open_sets = [loops for loops in level if not any(less <= loops for less in unstable)]
                level = {loops | {new} for loops in open_sets for loop in loops for new in either[loop] - loops}

    def connected(self, loops: frozenset[str]) -> bool:
        return len(_components(self.successors, loops)) == 1

    def beyond(
        self, part: frozenset[str], unstable: Sequence[frozenset[str]], size: int, unsearched: list[str], why: str
    ) -> Iterator[Blame]:
        """Yields what the limits left out; where nothing is to blame yet, an unstable component is shrunk."""
        unsearched.append(f"sets of {size} or more loops of {self.render_names(part)} ({why})")
        if unstable or self.verdict(part).verdict != "unstable":
            return
        shrunk = self.shrunk(part)
        proper = (frozenset(less) for k in range(1, len(shrunk)) for less in combinations(self.sorted(shrunk), k))
        minimal = 2 ** len(shrunk) <= self.most and all(
            self.verdict(less).verdict == "stable" for less in proper if self.connected(less)
        )
        yield Blame(self.sorted(shrunk), self.verdict(shrunk), minimal)

    def shrunk(self, loops: frozenset[str]) -> frozenset[str]:
        """Returns an unstable set from which no single loop can be taken without making the rest stable (or
        undecided).
        """
        for loop in self.sorted(loops):
            for rest in _components(self.successors, loops - {loop}) if len(loops) > 1 else ():
                if self.verdict(rest).verdict == "unstable":
                    return self.shrunk(rest)
        return loops

    def sorted(self, loops: frozenset[str]) -> tuple[str, ...]:
        return tuple(sorted(loops, key=self.order.__getitem__))

    def render_names(self, loops: frozenset[str]) -> str:
        names = self.sorted(loops)
        return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:5])} and {len(names) - 5} more"


def _components(successors: Mapping[str, set[str]], loops: frozenset[str]) -> list[frozenset[str]]:
    """Returns strongly connected components among some loops, in the order of their first names."""
    parts = components({loop: sorted(successors[loop] & loops) for loop in loops})
    return [frozenset(part) for part in sorted(parts, key=min)]
