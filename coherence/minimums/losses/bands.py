"""Lists published recovery bands, shown beside computed results, with their denominators and conditions.

They were derived by their source from structural analysis, not measured; nothing is computed from them.
SOURCE: "Structural efficiency recovery", table 1 and sections 5.3, 6.1 to 6.4 (validity conditions).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity

FEW_DEVICES = 64


@dataclass(frozen=True)
class Band:
    """From `low` to `high` of `denominator`; `elsewhere`: what the same source divides by in another place.

    `holds`: its conditions; `here`: whether the design meets them.
    """

    low: Fraction
    high: Fraction
    denominator: str
    holds: str
    elsewhere: str = ""
    here: str = ""

    @property
    def sentence(self) -> str:
        """Returns one sentence."""
        also = f" (in the text of the same source: of {self.elsewhere})" if self.elsewhere else ""
        share = f"{float(self.low):.0%} to {float(self.high):.0%} of {self.denominator}{also}"
        return f"{share}, for {self.holds}: {self.here}"


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


def band_of(loss: str, design: Design) -> Band | None:
    """Returns the band of a type of loss, with what the design says of its conditions."""
    band = BANDS.get(loss)
    conditions = {"A": _of_training, "B": _of_serving}
    if band is None:
        return None
    here = conditions[loss](design) if loss in conditions else "not compared, for a design does not state it"
    return replace(band, here=here)


def _of_training(design: Design) -> str:
    counts = [tier.count for tier in design.tiers.values()]
    known = [count for count in counts if isinstance(count, Quantity) and count.low is not None]
    if not known or len(known) < len(counts) or any(count.high is None for count in known):
        return "not compared, for the design does not state its devices"
    least, most = (sum((getattr(count, end) for count in known), Fraction(0)) for end in ("low", "high"))
    number = f"{int(least)}" if least == most else f"{int(least)} to {int(most)}"
    words = "holds here" if least > FEW_DEVICES else "does not hold here" if most <= FEW_DEVICES else "may hold here"
    return f"{words}, with {number} devices"


def _of_serving(design: Design) -> str:
    layers = {str(loop.layer) for loop in design.loops.values() if loop.layer is not None}
    lacking = [
        what for what, there in (
            ("a load that changes (`burst`)", any(load.burst is not None for load in design.workload.values())),
            ("loops on several layers", len(layers) > 1), ("promises", bool(design.promises)),
        ) if not there
    ]  # fmt: skip
    return f"does not hold here, without {' and '.join(lacking)}" if lacking else "holds here"
