"""Tells cycles of loops that are meant to go on for ever (`intended: why`) as notes."""

from __future__ import annotations

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Question
from coherence.language.design import Design


def as_intended(question: Question, design: Design, finding: Finding) -> Finding:
    """Returns the conflict of a cycle as a note where each of its loops is meant to go on for ever."""
    loops = [design.loops[name] for name in finding.of if name in design.loops]
    reasons = [loop.intended for loop in loops if loop.intended is not None]
    if finding.verdict is not Verdict.CONFLICT or not loops or len(reasons) < len(loops):
        return finding
    why = "; ".join(dict.fromkeys(reason.text for reason in reasons))
    places = (*finding.places, *(reason.place.labelled("as intended") for reason in reasons))
    return question.note(f"{finding.message}, as intended: {why}", places, finding.of, finding.evidence)
