"""Tells what the telemetry says against the design: undeclared couplings, contradicted and unseen influences."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.causal import checks
from coherence.causal.answers.answer import Section
from coherence.causal.session.context import Context
from coherence.causal.session.couplings import Tested
from coherence.findings.finding import Finding

ORDER = 60


def answer(context: Context) -> Section | None:
    """The findings by code, and how many statements of the design were tested."""
    findings = tuple(checks.findings(context))
    tested = context.couplings.tests
    nothing = (
        "not tested on streamed telemetry"
        if context.chunks is not None
        else "the design states none that can be tested"
    )
    parts = [_held(context.couplings) if tested else f"statements of independence: {nothing}"]
    moved = context.couplings.placebo
    if tested and moved is not None:
        parts.append(f"the same with every other signal moved by half the record, where nothing can act: {moved} found")
    counts = context.couplings.accounts
    untested = (
        [f"{counts} pairs count requests at one end of one call: they follow from each other and are not tested"]
        if counts
        else []
    )
    parts += [*untested, *_form(context)]
    data = {
        "form": {"tests": context.specification.tests, "not_tested": list(context.specification.untested)},
        "tested": tested, "hold": tested - context.couplings.broken, "placebo": moved, "accounts": counts,
        "findings": [_data(f) for f in findings],
    }  # fmt: skip
    held = (*parts[: bool(tested)], *untested)
    return Section("Design against telemetry", tuple(parts), data, findings, brief=held)


def _form(context: Context) -> Iterator[str]:
    """What was tested of the form of the equations, and what was not."""
    form = context.specification
    if context.chunks is not None:
        yield "delays and lines of the influences: not tested on streamed telemetry"
    elif form.tests:
        lacking = f"{len(form.misfits)} lacking" if form.misfits else "none is lacking"
        yield f"{form.tests} other terms (delays, bends, products) laid beside the influences: {lacking}"
    if form.untested:
        yield f"not tested, for they are bent, in a circle or refused: {', '.join(form.untested)}"


def _held(tested: Tested) -> str:
    return f"{tested.tests} statements of independence tested: {tested.tests - tested.broken} hold"


def _data(finding: Finding) -> dict[str, object]:
    places = [{"file": p.file, "line": p.line, "column": p.column, "label": p.label} for p in finding.places]
    numbers = {
        name: {"value": float(amount), "unit": unit} for name, (amount, unit) in finding.evidence.numbers.items()
    }
    return {
        "code": finding.code, "slug": finding.slug, "verdict": str(finding.verdict), "severity": str(finding.severity),
        "message": finding.message, "of": list(finding.of), "places": places, "numbers": numbers,
        "assumptions": list(finding.assumptions),
    }  # fmt: skip
