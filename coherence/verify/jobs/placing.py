"""Steps a placement: one member goes to a place where every must still holds, or leaves one.

A state says how many members each node has, sorted within a class of nodes alike; like domains are interchangeable.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, permutations
from typing import TypeAlias

from coherence.language.sentences import Spread
from coherence.verify.jobs.sites import Cluster
from coherence.verify.jobs.state_graph import StateStep

Counts: TypeAlias = tuple[tuple[int, ...], ...]
PLACE, REMOVE, ADD, EVICT = "place", "remove", "add", "evict"


def empty(cluster: Cluster) -> Counts:
    """Returns the state without any member."""
    return tuple((0,) * site.number for site in cluster.sites)


def total(counts: Counts) -> int:
    """Returns how many members are placed."""
    return sum(map(sum, counts))


def canonical(cluster: Cluster, counts: Counts) -> Counts:
    """Returns the one state that stands for all that differ only by the names of like nodes and like domains."""
    inner = [tuple(sorted(nodes)) for nodes in counts]
    for blocks in cluster.alike:
        states = sorted(tuple(inner[k] for k in block) for block in blocks)
        for block, state in zip(blocks, states, strict=True):
            for k, nodes in zip(block, state, strict=True):
                inner[k] = nodes
    return tuple(inner)


def domains(cluster: Cluster, counts: Counts, by: str) -> list[int]:
    """Returns members in each domain of a label, or on each node."""
    if cluster.sites and by in cluster.sites[0].labels:
        sums: Counter[str] = Counter()
        for site, nodes in zip(cluster.sites, counts, strict=True):
            sums[site.labels[by]] += sum(nodes)
        return list(sums.values())
    return [held for nodes in counts for held in nodes]


def domain_of(cluster: Cluster, counts: Counts, by: str, k: int, node: int) -> int:
    """Returns members in the domain of a node."""
    site = cluster.sites[k]
    if by not in site.labels:
        return counts[k][node]
    pairs = zip(cluster.sites, counts, strict=True)
    return sum(sum(nodes) for other, nodes in pairs if other.labels[by] == site.labels[by])


def put(counts: Counts, k: int, node: int, change: int) -> Counts:
    """Returns the state after a node gained or lost members."""
    nodes = list(counts[k])
    nodes[node] += change
    return (*counts[:k], tuple(nodes), *counts[k + 1 :])


def spots(counts: Counts, *, every: bool = False) -> Iterator[tuple[int, int]]:
    """Yields (class, node): one node for each number of members in a class, or every node."""
    for k, nodes in enumerate(counts):
        for n in range(len(nodes)) if every else _first_of_each(nodes):
            yield k, n


@lru_cache(maxsize=4096)
def _first_of_each(nodes: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the first node with each number of members."""
    return tuple(map(nodes.index, dict.fromkeys(nodes)))


def excess(cluster: Cluster, after: Counts, rule: Spread, k: int, node: int) -> int:
    """Returns by how much a rule is broken in the domain that has just received a member (0 or less: it holds)."""
    own, every = domain_of(cluster, after, rule.by, k, node), domains(cluster, after, rule.by)
    if rule.capped:
        return own - rule.at_most
    if rule.together:
        return sum(every) - own
    return own - min(every) - rule.at_most


def places(
    cluster: Cluster, counts: Counts, *, wishes: bool = False, every: bool = False
) -> Iterator[StateStep[Counts]]:
    """Yields every placement of one more member; with `wishes` only those that break the soft rules least."""
    nodes = able(cluster, counts, every=every)
    if wishes and (cluster.wishes or cluster.likes):
        nodes = preferred(cluster, counts, nodes)
    for k, n in nodes:
        yield StateStep(PLACE, partial(_goes, cluster, k, n), put(counts, k, n, 1))


def preferred(cluster: Cluster, counts: Counts, nodes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the nodes that the placer may choose: those that break its preferences least.

    It adds up what they exceed, times their weights.  Where the design gives no weights and `summed` is off, it may
    also go by the number of those that are broken, or by one after the other.
    """
    costs = dict(zip(nodes, _costs(cluster, counts, nodes), strict=True))
    best: set[tuple[int, int]] = set()
    for score in _scorings(cluster):
        least = min((score(own) for own in costs.values()), default=())
        best |= {spot for spot in nodes if score(costs[spot]) == least}
    return [spot for spot in nodes if spot in best]


Costs: TypeAlias = tuple[int, ...]


def _costs(cluster: Cluster, counts: Counts, nodes: list[tuple[int, int]]) -> list[Costs]:
    """Returns what each preference counts against each node: of a spread, by how much it is exceeded."""
    soft = [_tally_of(cluster, counts, rule) for rule in cluster.wishes]
    spread = [[(tally.rule.weight or 1) * max(0, over) for over in tally.excesses(counts, nodes)] for tally in soft]
    labels = [cluster.sites[k].labels for k, _ in nodes]
    liked = [[(like.weight or 1) * (not like.admits(own[like.by])) for own in labels] for like in cluster.likes]
    return list(zip(*spread, *liked, strict=True))


def _scorings(cluster: Cluster) -> list[Callable[[Costs], Costs]]:
    """Returns the ways in which the placer may compare what counts against each node."""
    if cluster.summed or cluster.weighed:
        return [lambda costs: (sum(costs),)]
    orders = permutations(range(len(cluster.wishes) + len(cluster.likes)))
    by_order = [partial(_in_order, order) for order in orders]
    return [lambda costs: (sum(costs),), lambda costs: (sum(cost > 0 for cost in costs),), *by_order]


def _in_order(order: tuple[int, ...], costs: Costs) -> Costs:
    return tuple(costs[k] for k in order)


def able(cluster: Cluster, counts: Counts, *, every: bool = False) -> list[tuple[int, int]]:
    """Returns the nodes on which one more member may go by every must."""
    musts = [_tally_of(cluster, counts, rule) for rule in cluster.musts]
    rooms = [site.room for site in cluster.sites]
    nodes = [(k, n) for k, n in spots(counts, every=every) if (room := rooms[k]) is None or counts[k][n] < room]
    for tally in musts:
        nodes = [spot for spot, over in zip(nodes, tally.excesses(counts, nodes), strict=True) if over <= 0]
    return nodes


def _goes(cluster: Cluster, k: int, node: int) -> str:
    return f"goes to {name_of(cluster, k, node)}"


@dataclass(frozen=True)
class _Tally:
    """The members in the domain of each class by a rule (None: each node is one), their sum, the least and the next."""

    rule: Spread
    own: list[int] | None
    every: int
    least: int
    next: int

    def excesses(self, counts: Counts, nodes: Sequence[tuple[int, int]]) -> list[int]:
        """Returns for each node by how much the rule is broken where one more member goes there (0 or less: it holds).

        The rule is read once: it notes each reading, and states are many.
        """
        if not nodes:
            return []
        held = [counts[k][n] for k, n in nodes] if self.own is None else [self.own[k] for k, _ in nodes]
        if self.rule.together:
            return [self.every - own for own in held]
        most = self.rule.at_most - 1
        if self.rule.capped:
            return [own - most for own in held]
        beside = [min(self.next, own + 1) if own == self.least else self.least for own in held]
        return [own - least - most for own, least in zip(held, beside, strict=True)]


def _tally_of(cluster: Cluster, counts: Counts, rule: Spread) -> _Tally:
    own = None
    if named := cluster.domains.get(rule.by):
        sums = dict[str, int]()
        for domain, nodes in zip(named, counts, strict=True):
            sums[domain] = sums.get(domain, 0) + sum(nodes)
        own, members = [sums[domain] for domain in named], sorted(sums.values())
    else:
        members = sorted(chain.from_iterable(counts))
    least, following = (members[0] if members else 0), (members[1] if len(members) > 1 else sum(members) + 1)
    return _Tally(rule, own, sum(members), least, following)


def removals(cluster: Cluster, counts: Counts, *, every: bool = False) -> Iterator[StateStep[Counts]]:
    """Yields removals: scale-down takes one from a fullest place (as a ReplicaSet does)."""
    for k, n in _fullest(counts, every=every):
        yield StateStep(REMOVE, f"one leaves {name_of(cluster, k, n)}", put(counts, k, n, -1))


def _fullest(counts: Counts, *, every: bool = False) -> list[tuple[int, int]]:
    most = max(map(max, filter(None, counts)), default=0)
    return [(k, n) for k, n in spots(counts, every=every) if counts[k][n] == most] if most > 0 else []


def additions(cluster: Cluster, counts: Counts) -> Iterator[StateStep[Counts]]:
    """Yields additions: a loop adds an empty node of a kind of which there may be more."""
    for k, site in enumerate(cluster.sites):
        if len(counts[k]) < site.most:
            after = (*counts[:k], (*counts[k], 0), *counts[k + 1 :])
            yield StateStep(ADD, f"{site.adder or 'a loop'} adds a place like {site.name}", after)


def name_of(cluster: Cluster, k: int, node: int) -> str:
    """Renders a place: its name, or one of several alike."""
    names = cluster.sites[k].name.split(", ")
    if not cluster.each:
        return " or ".join(names)
    single = len(names) == cluster.sites[k].number and node < len(names)
    return names[node] if single else f"{names[0]} {node + 1}"


def shown(cluster: Cluster, counts: Counts) -> str:
    """Renders the members on each place: `n1: 2, n2: 1, n3: 2`."""
    if sum(len(nodes) for nodes in counts) <= 8:
        pairs = ((name_of(cluster, k, n), held) for k, nodes in enumerate(counts) for n, held in enumerate(nodes))
        return ", ".join(f"{name}: {held}" for name, held in pairs)
    return "; ".join(f"{site.name}: {_tally(nodes)}" for site, nodes in zip(cluster.sites, counts, strict=True))


def _tally(nodes: Sequence[int]) -> str:
    return ", ".join(f"{number} with {held}" for held, number in sorted(Counter(nodes).items(), reverse=True))


def taken_anywhere(cluster: Cluster, counts: Counts) -> list[StateStep[Counts]]:
    """Returns every removal of one member, wherever it is, between representatives."""
    return _between(cluster, counts, REMOVE, [(k, n) for k, n in spots(counts) if counts[k][n] > 0], -1)


def placed(cluster: Cluster, counts: Counts) -> list[StateStep[Counts]]:
    """Returns every placement of one more member between representatives."""
    return _between(cluster, counts, PLACE, able(cluster, counts), 1)


def removed(cluster: Cluster, counts: Counts) -> list[StateStep[Counts]]:
    """Returns every removal by scale-down between representatives."""
    return _between(cluster, counts, REMOVE, _fullest(counts), -1)


def _between(
    cluster: Cluster, counts: Counts, kind: str, able: list[tuple[int, int]], change: int
) -> list[StateStep[Counts]]:
    """Returns steps by one member on one of the nodes alike: the one by which a representative stays in order."""
    moved = dict.fromkeys(_moved(counts, k, counts[k][n], change) for k, n in able)
    representatives = dict.fromkeys(canonical(cluster, after) for after in moved) if cluster.alike else moved
    return [StateStep(kind, "", to) for to in representatives]


def _moved(counts: Counts, k: int, held: int, change: int) -> Counts:
    nodes = counts[k]
    return put(counts, k, bisect_right(nodes, held) - 1 if change > 0 else bisect_left(nodes, held), change)


def canonical_edges(cluster: Cluster, edges: Iterator[StateStep[Counts]]) -> list[StateStep[Counts]]:
    """Returns the steps between representatives; texts name kinds of acts only, since names are exchanged."""
    distinct = dict.fromkeys((edge.kind, canonical(cluster, edge.to)) for edge in edges)
    return [StateStep(kind, "", to) for kind, to in distinct]
