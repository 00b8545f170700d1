"""Asks the questions of `check` about a point at which every loop comes to rest, until one of them says conflict.

A run from the stated start sees neither other starts and orders, nor promises, nor requests that keep an overload up.
Retries of which COH224 cannot say that they do not are open as well: a run of requests may collapse there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from coherence.base.errors import InputError
from coherence.base.reads import recorded, unnoted
from coherence.checking.answers import ask_all
from coherence.checking.design_check import Options
from coherence.findings.finding import Finding, Verdict
from coherence.findings.not_read import Basis, basis
from coherence.findings.question_input import Question, Subject, details_unasked
from coherence.language.design import Design
from coherence.loops.designs.feedback_groups import Deadline
from coherence.verify.patterns.calls.metastable_retries import QUESTION as RETRIES

CONFLICT = "its loops settle, but check says conflict: {} of {}"
RETRIES_OPEN = "its loops settle, but whether retries keep an overload up is open ({} of {}): {}"
LATE = "its loops settle, but the time limit came before {} was asked"


def standing_against(
    design: Design, sources: Mapping[str, str], options: Options, deadline: Deadline
) -> tuple[str, str] | None:
    """Returns what a point is instead of settled (conflict, undecided or refused) with the reason; None if nothing."""
    open_retries = None
    try:
        for question, findings, _ in _answers(design, sources, options, deadline):
            if findings is None:
                return "undecided", LATE.format(question.code)
            conflict = _first(findings, Verdict.CONFLICT)
            if conflict is not None:
                return "conflict", CONFLICT.format(conflict.code, ", ".join(conflict.of))
            if question == RETRIES:
                open_retries = _first(findings, Verdict.UNDECIDED)
    except InputError as error:
        return "refused", error.problems[0].message
    if open_retries is None:
        return None
    words = open_retries.code, ", ".join(open_retries.of), open_retries.message
    return "undecided", RETRIES_OPEN.format(*words)


def bases_of(design: Design, sources: Mapping[str, str], options: Options, deadline: Deadline) -> tuple[Basis, ...]:
    """Returns what the answers of all these questions were computed from; nothing of a design that is refused."""
    try:
        return tuple(own for _, findings, own in _answers(design, sources, options, deadline) if findings)
    except InputError:
        return ()


def _answers(
    design: Design, sources: Mapping[str, str], options: Options, deadline: Deadline
) -> Iterator[tuple[Question, list[Finding] | None, Basis]]:
    """Yields each question with its answers (None: no time was left) and what they were computed from."""
    for module in options.modules():
        question = module.questions[0]
        if question.fires is None:  # a fault of an engine, not of the design
            continue
        findings = None
        with unnoted(), recorded() as reads, details_unasked():
            if not deadline.over:
                every = ask_all(Subject(design, sources, deadline.left), (module,))
                findings = [finding for finding in every if options.wants(finding.code)]
        yield question, findings, basis(reads, findings or ())


def _first(findings: Iterable[Finding], verdict: Verdict) -> Finding | None:
    return next((finding for finding in findings if finding.verdict is verdict), None)
