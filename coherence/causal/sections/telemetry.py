"""Tells what was read, on which clock, and everything that was missing or left out."""

from __future__ import annotations

from coherence.causal.answers.answer import Section
from coherence.causal.answers.one_screen import first_lines
from coherence.causal.session.context import Context
from coherence.causal.telemetry import render_brief, render_report, report_to_dict

ORDER = 10


def answer(context: Context) -> Section | None:
    """The report of reading; nothing where the series was given directly."""
    if context.telemetry_report is None:
        return None
    out = [f"left out: {one.what}: {one.why}" + (f"; {one.remedy}" if one.remedy else "") for one in context.usable[1]]
    left = [{"what": one.what, "why": one.why, "remedy": one.remedy} for one in context.usable[1]]
    return Section(
        "Telemetry",
        (*render_report(context.telemetry_report), *out),
        {**report_to_dict(context.telemetry_report), "not_fitted": left},
        brief=(*render_brief(context.telemetry_report), *first_lines(out)),
    )
