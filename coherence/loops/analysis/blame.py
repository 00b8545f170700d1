"""Finds the smallest set of loops to blame: unstable together although every proper part is stable.

Loops outside the set are switched off: their command stays where it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.loops.designs.feedback_groups import Deadline, frozen, region
from coherence.loops.designs.group_runs import executed
from coherence.loops.designs.groups import Group
from coherence.loops.designs.lap_matrices import Lap, LapError, closed
from coherence.loops.designs.lap_roots import roots
from coherence.model.model import Model

ALL = 6  # loops up to which every part is tried; beyond, one loop after another is left out


@dataclass(frozen=True)
class Subset:
    """`names` are unstable together; `minimal`: every proper part was found stable.  `how` says by what, with limits.

    `parts`: how many proper parts were tried.
    """

    names: tuple[str, ...]
    minimal: bool
    how: str
    parts: int


def smallest_unstable(lap: Lap, model: Model, names: Sequence[str]) -> Subset | None:
    """Returns the smallest unstable set by exact counts of roots, at one operating point."""

    def unstable(part: Sequence[str]) -> bool | None:
        try:
            others = [name for name in names if name not in part]
            return roots(closed(lap, region(model, part), held=others), lap.length).verdict == "unstable"
        except LapError:
            return None

    return _search(names, unstable, "linearised", Deadline(10.0))


def smallest_swinging(
    group: Group, signals: Sequence[str], levels: Iterable[Mapping[str, Fraction]], deadline: Deadline, *, laps: int
) -> Subset | None:
    """Returns the smallest set that swings in exact runs; commands of the others stay at each of the levels in turn."""
    tried, where_held = list(levels), dict[tuple[str, ...], str]()

    def swings(part: Sequence[str]) -> bool | None:
        if len(part) == len(group.names):
            return True
        others = [name for name in group.names if name not in part]
        decided = True
        for level in tried:
            model = frozen(group.model, level, others)
            running = [s for s in signals if s in model.commands]
            if not running:
                return False
            answer = executed(model, running, deadline.share(0.3), every_start=False, laps=laps)
            if answer.verdict == "oscillates":
                where_held[tuple(part)] = ", ".join(
                    f"{s} at {float(level[s]):.6g}" for s in signals if s not in running
                )
                return True
            decided = decided and (answer.verdict == "settles" or answer.how.startswith("commands come to rest"))
        return False if decided else None

    how = f"exact runs, the others switched off at {len(tried)} level{'s' if len(tried) > 1 else ''}"
    subset = _search(group.names, swings, how, deadline)
    where = where_held.get(subset.names) if subset else None
    return replace(subset, how=f"exact run with {where}") if subset and where else subset


def _search(
    names: Sequence[str], unstable: Callable[[Sequence[str]], bool | None], how: str, deadline: Deadline
) -> Subset | None:
    return _all(names, unstable, how, deadline) if len(names) <= ALL else _one_by_one(names, unstable, how, deadline)


def _all(
    names: Sequence[str], unstable: Callable[[Sequence[str]], bool | None], how: str, deadline: Deadline
) -> Subset | None:
    parts, sure = 0, True
    for size in range(1, len(names) + 1):
        for part in itertools.combinations(names, size):
            if deadline.over and size < len(names):
                return Subset(tuple(names), False, f"{how}; the time limit was reached", parts)
            answer = unstable(part)
            if answer:
                return Subset(part, sure, how if sure else f"{how}; a part was not decided", parts)
            sure = sure and answer is not None
            parts += 1
    return None


def _one_by_one(
    names: Sequence[str], unstable: Callable[[Sequence[str]], bool | None], how: str, deadline: Deadline
) -> Subset | None:
    """Leaves out what is not needed: of the rest each one is needed (smaller sets among them were not tried)."""
    members, parts, sure = list(names), 0, True
    for name in names:
        if deadline.over:
            return Subset(tuple(members), False, f"{how}; the time limit was reached", parts)
        rest = [other for other in members if other != name]
        answer = unstable(rest) if rest else False
        parts += 1
        if answer:
            members = rest
        sure = sure and answer is not None
    limits = "each of them is needed; smaller sets among them were not all tried"
    return Subset(tuple(members), sure and len(members) <= 2, f"{how}; {limits}", parts)
