"""What was read, on which clock, and everything that was missing or left out."""

from __future__ import annotations

from coherence.causal.answers.answer import Answer
from coherence.causal.session.context import Context
from coherence.causal.telemetry import as_json, lines

ORDER = 10


def answer(context: Context) -> Answer | None:
    """The report of reading; nothing where the series was given directly."""
    if context.telemetry_report is None:
        return None
    out = [f"left out: {one.what}: {one.why}" + (f"; {one.remedy}" if one.remedy else "") for one in context.usable[1]]
    left = [{"what": one.what, "why": one.why, "remedy": one.remedy} for one in context.usable[1]]
    return Answer(
        "Telemetry", (*lines(context.telemetry_report), *out), {**as_json(context.telemetry_report), "not_fitted": left}
    )
