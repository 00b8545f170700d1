"""The operating points of retrying calls, as metastable-retries finds them, for the page of `coherence analyze`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coherence.findings.finding import Finding
from coherence.findings.question_input import Subject

CODE = "COH224"


def loads(subject: Subject) -> tuple[Finding, ...]:
    """One answer for each callee that is retried: every load that reproduces itself, where it can be told."""
    from coherence.checking.design_check import ask_all
    from coherence.findings.registry import question_modules

    chosen = [module for module in question_modules() if any(question.code == CODE for question in module.questions)]
    return tuple(ask_all(subject, chosen))


def text(found: Sequence[Finding]) -> Iterator[str]:
    """Verdict and message of each, its numbers in columns."""
    from coherence.base.number_text import render_figure

    if found:
        yield "\nOperating points of retries (the whole answer: coherence check --select COH224):"
    for one in found:
        yield f"  {one.verdict}: {one.message}"
        width = max((len(name) for name in one.evidence.numbers), default=0)
        for name, (number, unit) in one.evidence.numbers.items():
            yield f"    {name:<{width}}  {render_figure(number, unit)}"


def as_json(found: Sequence[Finding]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "of": list(one.of),
            "verdict": str(one.verdict),
            "message": one.message,
            "numbers": {name: {"value": float(v), "unit": unit} for name, (v, unit) in one.evidence.numbers.items()},
        }
        for one in found
    ]
