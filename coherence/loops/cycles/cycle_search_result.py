"""Records the result of a search for limit cycles: the cycles, how its runs ended, and why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coherence.loops.cycles.describing_functions import Guess


@dataclass(frozen=True)
class Cycle:
    """One periodic run.

    `lowest`, `highest`: of the input of each element.  `duty`: mean output between its extremes (0 to 1),
    for two levels the share of time spent in the upper one.  `multiplier`: modulus of the largest Floquet
    multiplier besides the trivial one: how much of a deviation is left after a period.
    """

    period: float
    lowest: tuple[float, ...]
    highest: tuple[float, ...]
    duty: tuple[float, ...]
    multiplier: float
    switches: int
    method: str = "exact"

    @property
    def attracts(self) -> bool:
        return self.multiplier < 1 - 1e-9

    @property
    def swing(self) -> float:
        """Returns the distance from the lowest to the highest value, of the element that moves most."""
        return max(high - low for low, high in zip(self.lowest, self.highest, strict=True))


@dataclass(frozen=True)
class CycleSearchResult:
    """All cycles found, and what the other runs do.

    `ends`: how many runs ended as "cycle", "rest", "away", "sliding" or "undecided".  `reason` says in
    words why there is no attracting cycle, or what remains open.
    """

    cycles: tuple[Cycle, ...]
    ends: dict[str, int]
    reason: str
    guesses: tuple[Guess, ...]

    @property
    def attracting(self) -> tuple[Cycle, ...]:
        return tuple(cycle for cycle in self.cycles if cycle.attracts)

    @property
    def verdict(self) -> str:
        """Returns  "cycle", "none" or "undecided"."""
        if self.attracting:
            return "cycle"
        return "undecided" if self.ends.get("undecided") or not self.ends else "none"


def describe_ends(cycles: Sequence[Cycle], ends: Counter[str]) -> str:
    """Returns why there is no attracting cycle, in words; "" if there is one."""
    if any(cycle.attracts for cycle in cycles):
        return ""
    words = {
        "rest": "come to rest",
        "away": "run away without bound",
        "sliding": "switch infinitely fast or shrink to a point",
        "undecided": "have not become periodic",
        "cycle": "stay on a cycle that does not attract",
    }
    parts = [f"{count} of {sum(ends.values())} runs {words[end]}" for end, count in sorted(ends.items())]
    return "no attracting cycle: " + ", ".join(parts)


def same(cycle: Cycle, other: Cycle) -> bool:
    """Decides whether two cycles agree in range, and in period up to a multiple (the same lap counted several
    times).
    """
    ratio = max(cycle.period, other.period) / min(cycle.period, other.period)
    numbers = zip((*cycle.lowest, *cycle.highest), (*other.lowest, *other.highest), strict=True)
    whole = abs(ratio - round(ratio)) <= 1e-6 * ratio
    return whole and all(abs(a - b) <= 1e-6 * cycle.swing for a, b in numbers)
