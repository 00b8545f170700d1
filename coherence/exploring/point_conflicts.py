"""Asks the questions of `check` about a point at which every loop comes to rest, until one of them says conflict.

A run from the stated start sees neither other starts and orders, nor promises, nor requests that keep an overload up.
What COH224 and COH245 leave open of retries, second copies and load is open as well: a run of requests may collapse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherence.base.errors import InputError
from coherence.base.reads import recorded, unnoted
from coherence.checking.answers import ask_all
from coherence.checking.design_check import Options
from coherence.checking.weighing import ask_weighed
from coherence.findings.finding import Finding, Verdict
from coherence.findings.not_read import Basis, basis
from coherence.findings.question_input import Question, Subject, details_unasked
from coherence.language.design import Design
from coherence.loops.designs.feedback_groups import Deadline
from coherence.verify.patterns.calls.metastable_retries import QUESTION as RETRIES
from coherence.verify.patterns.limits.overload import QUESTION as OVERLOAD

CONFLICT = "its loops settle, but check says conflict: {} of {}"
REQUESTS_OPEN = "its loops settle, but whether its requests overload it is open ({} of {}): {}"
LATE = "its loops settle, but the time limit came before {} was asked"


def standing_against(
    design: Design, sources: Mapping[str, str], options: Options, deadline: Deadline
) -> tuple[str, str] | None:
    """Returns what a point is instead of settled (conflict, undecided or refused) with the reason; None if nothing."""
    try:
        for question, findings, _ in _answers(design, sources, options, deadline):
            if findings is None:
                return "undecided", LATE.format(question.code)
            conflict = next((finding for finding in findings if finding.verdict is Verdict.CONFLICT), None)
            if conflict is not None:
                return "conflict", CONFLICT.format(conflict.code, ", ".join(conflict.of))
        left_open = next(_left_open(design, sources, options, deadline), None)
    except InputError as error:
        return "refused", error.problems[0].message
    if left_open is None:
        return None
    return "undecided", REQUESTS_OPEN.format(left_open.code, ", ".join(left_open.of), left_open.message)


def _left_open(design: Design, sources: Mapping[str, str], options: Options, deadline: Deadline) -> Iterator[Finding]:
    """Yields what is not decided of requests: their proofs are weighed against what they did not read."""
    if design.calls and design.workload:
        modules = [module for module in options.modules() if module.questions[0] in (RETRIES, OVERLOAD)]
        alone = Subject(design.replace(), sources, deadline.left)  # answers without details are not to be met again
        with unnoted(), details_unasked():
            for finding in ask_weighed(alone, modules):
                if finding.verdict is Verdict.UNDECIDED and not finding.lacks_number:
                    yield finding


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
        yield question, findings, basis(design, reads, findings or ())
