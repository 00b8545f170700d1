"""Predicted limit cycles as text beside what exact execution says: what repeats it or decides nothing is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from coherence.loops.analysis.design_analysis import Analysis
from coherence.loops.analysis.render_text import MOST_NAMES
from coherence.loops.designs.predicted_cycles import CycleReading

HEAD = "Limit cycles, predicted by their return map and run again by the executor:"


def text(found: Analysis, cycles: Sequence[CycleReading]) -> Iterator[str]:
    """A heading and one line per reading that adds something; nothing where none does."""
    verdicts = {", ".join(one.group.names): one.answer.verdict for one in found.groups}
    told = dict.fromkeys(line for one in cycles if (line := _line(one, verdicts.get(one.loop, ""))))
    if told:
        yield from ("", HEAD, *(f"  {line}" for line in told))


def _line(one: CycleReading, verdict: str) -> str:
    """In words; empty where exact execution has decided the same, or has decided where the prediction has not."""
    if one.verdict == "undecided" and verdict in ("oscillates", "settles"):
        return ""
    if one.verdict == "none" and verdict == "settles":
        return ""
    reason = "it comes to rest from its own start and phase" if (one.verdict, verdict) == ("none", "oscillates") else ""
    names = one.loop.split(", ")
    short = f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return replace(one, loop=short if len(names) > MOST_NAMES else one.loop, reason=reason or one.reason).told()
