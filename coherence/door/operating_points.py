"""Finds the operating points of retrying calls (COH224), for the page of `coherence analyze`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherence.findings.finding import Finding
from coherence.findings.question_input import Subject

CODE = "COH224"


def loads(subject: Subject) -> tuple[Finding, ...]:
    """Returns one finding for each callee that is retried: every load that reproduces itself, where decidable."""
    from coherence.checking.weighing import ask_weighed
    from coherence.findings.registry import question_modules

    chosen = [module for module in question_modules() if any(question.code == CODE for question in module.questions)]
    return tuple(ask_weighed(subject, chosen))


def text(findings: Sequence[Finding]) -> Iterator[str]:
    """Yields lines with verdict and message of each finding, its numbers in columns."""
    from coherence.base.number_text import render_figure

    if findings:
        yield "\nOperating points of retries (the whole answer: coherence check --select COH224):"
    for finding in findings:
        yield f"  {finding.verdict}: {finding.message}"
        width = max((len(name) for name in finding.evidence.numbers), default=0)
        for name, (number, unit) in finding.evidence.numbers.items():
            yield f"    {name:<{width}}  {render_figure(number, unit)}"


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Returns the findings as data for JSON."""
    return [
        {
            "of": list(finding.of),
            "verdict": str(finding.verdict),
            "message": finding.message,
            "numbers": {
                name: {"value": float(v), "unit": unit} for name, (v, unit) in finding.evidence.numbers.items()
            },
        }
        for finding in findings
    ]
