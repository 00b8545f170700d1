"""Lists who decides what, when and on what, with all clocks on one scale."""

from __future__ import annotations

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, pictured, reproduced, table
from coherence.base import units
from coherence.language.design import Design
from coherence.language.entries.leaves import leaves
from coherence.reporting.pictures.ladder import Span, ladder
from coherence.reporting.pictures.markup import Child

ORDER, TITLE = 20, "Control plane inventory"
SHOWN = ("name", "kind", "layer", "objective", "target", "timescale", "trigger", "actuation")
POLICIES = ("loops", "calls", "timers", "limits")


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the table of policies and the ladder of their times."""
    rows = assessment.rows
    if not rows:
        return (note("The design declares no policy: no loop, call, timer or limit."),)
    times = policy_times(assessment.design)
    drawn = ladder(assessment.system, times)
    listed = [(name, key, text_of(low, high)) for name, spans in times.items() for key, low, high in spans]
    inventory = table("Every policy; ? = not stated", SHOWN, [tuple(row[column] for column in SHOWN) for row in rows])
    if drawn is None:
        return (inventory, note("No policy states a time."), reproduced("inventory", assessment.path))
    return (
        inventory,
        pictured(drawn, "Times that the policies state or take from a part. A line is a range."),
        table("The times of the picture", ("policy", "key", "time"), listed, numbers="2"),
        reproduced("inventory", assessment.path),
    )


def policy_times(design: Design) -> dict[str, list[Span]]:
    """Returns the times of each policy that has some: key, least and largest, in s."""
    times: dict[str, list[Span]] = {}
    for leaf in leaves(design):
        ends = _seconds(leaf.text) if leaf.section in POLICIES else None
        if ends is not None:
            times.setdefault(leaf.entry, []).append((leaf.key, *ends))
    return times


def _seconds(text: str) -> tuple[float, float] | None:
    """Returns the ends of a time or of a range of times; None for anything else."""
    low, _, high = text.partition("..")
    try:
        ends = [units.quantity(part.strip()) for part in (low, high or low)]
    except (ValueError, units.UnitError):
        return None
    if any(dimension != units.SECOND for _, dimension in ends):
        return None
    return float(ends[0][0]), float(ends[1][0])


def text_of(low: float, high: float) -> str:
    """Returns `30 s`, or `30 s .. 1 min`."""
    from coherence.base.number_text import render_seconds

    return render_seconds(low) if low == high else f"{render_seconds(low)} .. {render_seconds(high)}"
