"""Renders predicted limit cycles beside exact execution; what repeats it or decides nothing is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from coherence.loops.analysis.design_analysis import DesignAnalysis
from coherence.loops.analysis.render_text import MOST_NAMES
from coherence.loops.designs.predicted_cycles import CycleReading

HEAD = "Limit cycles, predicted by their return map and run again by the executor:"


def text(analysis: DesignAnalysis, cycles: Sequence[CycleReading]) -> Iterator[str]:
    """Yields a heading and one line per reading that adds something; nothing where none does."""
    verdicts = {", ".join(group.group.names): group.answer.verdict for group in analysis.groups}
    lines = dict.fromkeys(line for reading in cycles if (line := _line(reading, verdicts.get(reading.loop, ""))))
    if lines:
        yield from ("", HEAD, *(f"  {line}" for line in lines))


def _line(reading: CycleReading, verdict: str) -> str:
    """Renders a reading; empty where exact execution has decided the same, or what the prediction has not."""
    if reading.verdict == "undecided" and verdict in ("oscillates", "settles"):
        return ""
    if reading.verdict == "none" and verdict == "settles":
        return ""
    reason = (
        "it comes to rest from its own start and phase" if (reading.verdict, verdict) == ("none", "oscillates") else ""
    )
    names = reading.loop.split(", ")
    short = f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return replace(
        reading, loop=short if len(names) > MOST_NAMES else reading.loop, reason=reason or reading.reason
    ).render_line()
