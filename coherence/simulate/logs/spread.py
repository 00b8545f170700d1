"""Counts how many pods of a deployment find a node under topology spread constraints.

Each pod is placed for good: a node may take it if afterwards, for every constraint, its domain holds at most
`max_skew` more pods than the emptiest domain.  SOURCE: Kubernetes documentation, Pod Topology Spread Constraints,
spread constraint definition (DoNotSchedule).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Counts = tuple[int, ...]


@dataclass(frozen=True)
class SpreadConstraint:
    """`whenUnsatisfiable: DoNotSchedule` over the domains of one node label."""

    key: str
    max_skew: int


def placeable(
    nodes: Mapping[str, Mapping[str, str]], spreads: Sequence[SpreadConstraint], wanted: int
) -> tuple[int, int]:
    """Returns (fewest, most) of `wanted` pods that find a node, over every order of free choices.

    `nodes`: name -> labels.  A node without the label of a constraint takes no pod.
    """
    eligible = [labels for labels in nodes.values() if all(spread.key in labels for spread in spreads)]
    reached: set[Counts] = {(0,) * len(eligible)}
    stuck: list[int] = []
    for placed in range(wanted):
        following = {after for counts in reached for after in _choices(counts, eligible, spreads)}
        if any(not any(_choices(counts, eligible, spreads)) for counts in reached):
            stuck.append(placed)
        if not following:
            return min(stuck), placed
        reached = following
    return min([*stuck, wanted]), wanted


def _choices(counts: Counts, nodes: Sequence[Mapping[str, str]], spreads: Sequence[SpreadConstraint]) -> list[Counts]:
    after = [(*counts[:n], counts[n] + 1, *counts[n + 1 :]) for n in range(len(nodes))]
    return [made for n, made in enumerate(after) if all(_allows(made, n, nodes, spread) for spread in spreads)]


def _allows(counts: Counts, chosen: int, nodes: Sequence[Mapping[str, str]], spread: SpreadConstraint) -> bool:
    domains: Counter[str] = Counter()
    for count, labels in zip(counts, nodes, strict=True):
        domains[labels[spread.key]] += count
    own = domains[nodes[chosen][spread.key]]
    others = [count for domain, count in domains.items() if domain != nodes[chosen][spread.key]]
    # the emptiest domain as it was before this pod came
    return own - min([own - 1, *others]) <= spread.max_skew
