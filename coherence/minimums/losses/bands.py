"""Lists published recovery bands, shown beside computed results, with their denominators and conditions.

They were derived by their source from structural analysis, not measured; nothing is computed from them.
SOURCE: "Structural efficiency recovery", table 1 and sections 5.3, 6.1 to 6.4 (validity conditions).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Band:
    """From `low` to `high` of `denominator`; `elsewhere`: what the same source divides by in another place."""

    low: Fraction
    high: Fraction
    denominator: str
    holds: str
    elsewhere: str = ""

    @property
    def sentence(self) -> str:
        """Returns one sentence."""
        also = f" (in the text of the same source: of {self.elsewhere})" if self.elsewhere else ""
        return f"{float(self.low):.0%} to {float(self.high):.0%} of {self.denominator}{also}, for {self.holds}"


BANDS = {
    "A": Band(
        Fraction(5, 100), Fraction(15, 100), "effective throughput",
        "training clusters of more than about 64 devices with synchronisation that can be measured",
        "the fraction of time that idles",
    ),
    "B": Band(
        Fraction(5, 100), Fraction(15, 100), "ghost cost",
        "serving under a changing load with several scheduling layers and explicit promises",
    ),
    "C": Band(
        Fraction(10, 100), Fraction(25, 100), "the cost of tokens",
        "more than 3 agents, more than 5 tools, or recursive planning",
        "the cost of ghost tokens",
    ),
    "R": Band(
        Fraction(5, 100), Fraction(10, 100), "the overhead of recovery",
        "systems in which recovery dominates the overhead of operation",
        "ghost compute",
    ),
    "D": Band(
        Fraction(5, 100), Fraction(10, 100), "the cost of orchestration",
        "retrieval that asks databases 3 to 5 times and embeds 5 to 10 times as often as needed",
    ),
}  # fmt: skip
