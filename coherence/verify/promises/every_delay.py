"""Answers a question for every delay in open ranges: asks it at the delays that stand for all, and joins the answers.

All proved is proved for the whole range.  A conflict at some delays is possible, and says from which one on; where a
part alone states the range, it is undecided and asks for the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.clock import is_over, left_until, now
from coherence.findings.finding import Finding, Severity, Verdict
from coherence.findings.question_input import Question, Subject, details_are_asked, details_unasked
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.model.model import Model
from coherence.simulate.execute.delay_cases import DelayCase, OpenDelay, delay_cases, open_delays, render_values, where
from coherence.simulate.execute.schedules import NotCommensurateError

Ask = Callable[[Subject], Finding]


@dataclass(frozen=True)
class _Answers:
    """What is answered at each delay that stands for others; `whole`: of all of them."""

    delays: Sequence[OpenDelay]
    cases: Sequence[DelayCase]
    findings: Sequence[Finding]

    @property
    def whole(self) -> bool:
        return len(self.findings) == len(self.cases)

    def first(self, *verdicts: Verdict) -> int | None:
        """Returns the first case with one of these verdicts."""
        return next((n for n, finding in enumerate(self.findings) if finding.verdict in verdicts), None)

    @property
    def ranges(self) -> str:
        """Returns the open ranges in words."""
        return " and ".join(f"{delay.name} = {delay.value}" for delay in self.delays)


def for_every_delay(
    question: Question, subject: Subject, of: Callable[[Design], Model], ask: Ask, waits: tuple[Fraction, ...] = ()
) -> Finding | None:
    """Returns the answer for every delay that is open in a part of the model; None where none is.

    `of`: that part, of a design.  `ask`: asks about one design.  `waits`: spans with which times are compared.
    """
    delays = open_delays(of(subject.design))
    if not delays:
        return None
    try:
        cases = delay_cases(of(subject.design), delays, of, waits)
    except (NotExactError, NotCommensurateError) as error:
        finding = ask(subject)
        known = "; ".join(filter(None, (finding.evidence.bound, f"not every delay: {error}")))
        return replace(finding, evidence=replace(finding.evidence, bound=known)) if _is_open(finding) else finding
    return _joined(question, subject, _answers_at(subject, delays, cases, ask), ask)


def _is_open(finding: Finding) -> bool:
    return finding.verdict is Verdict.UNDECIDED


def _answers_at(subject: Subject, delays: Sequence[OpenDelay], cases: Sequence[DelayCase], ask: Ask) -> _Answers:
    """Asks at each delay, as many as the time limit allows and at least one."""
    deadline, findings = now() + subject.time_limit, list[Finding]()
    with details_unasked():
        for case in cases:
            if findings and is_over(deadline):
                break
            left = max(left_until(deadline), subject.time_limit / len(cases))
            findings.append(ask(replace(subject, design=case.design, time_limit=left)))
    return _Answers(delays, cases, findings)


def _joined(question: Question, subject: Subject, answers: _Answers, ask: Ask) -> Finding:
    broken, left_open = answers.first(Verdict.CONFLICT), answers.first(Verdict.UNDECIDED)
    if broken is not None:
        return _conflict(question, subject, answers, broken, ask)
    if left_open is not None:
        finding = answers.findings[left_open]
        at = ", ".join(render_values(answers.delays, answers.cases[left_open].values))
        return replace(finding, message=f"{finding.message} ({at})")
    if not answers.whole:
        finding = answers.findings[0]
        bound = f"the time limit: {len(answers.findings)} of {len(answers.cases)} delays that stand for all were asked"
        return question.undecided(f"needs one value of {answers.ranges}", finding.places, finding.of, bound=bound)
    return _proved(answers)


def _proved(answers: _Answers) -> Finding:
    """Returns the proof for all delays: the first one, with the certificates of all."""
    finding = answers.findings[answers.first(Verdict.PROVED) or 0]
    scripts = [f.evidence.certificate for f in answers.findings if f.evidence.certificate is not None]
    method = f"{finding.evidence.method}, at {len(answers.cases)} delays that stand for all"
    script = "(reset)\n".join(scripts) if len(scripts) == len(answers.findings) else None
    assumptions = dict.fromkeys(words for f in answers.findings for words in f.assumptions)
    stated = f"{answers.ranges}: one unknown constant each"
    return replace(
        finding, evidence=replace(finding.evidence, method=method, certificate=script, numbers={}),
        assumptions=(*assumptions, stated),
    )  # fmt: skip


def _conflict(question: Question, subject: Subject, answers: _Answers, broken: int, ask: Ask) -> Finding:
    everywhere = answers.whole and all(finding.verdict is Verdict.CONFLICT for finding in answers.findings)
    hits = [finding.verdict is Verdict.CONFLICT for finding in answers.findings]
    case, delays = answers.cases[broken], answers.delays
    chosen = render_values(delays, case.values)
    at = ", ".join(chosen)
    if len(delays) == 1 and answers.whole:
        stretch = where([case.values[0] for case in answers.cases], hits)
        at = f"{delays[0].name} {stretch}"
    finding = answers.findings[broken]
    if details_are_asked():
        finding = ask(replace(subject, design=case.design))
    if everywhere:
        certain = details_are_asked() and all(_certain(subject, case, ask) for case in answers.cases)
        known = tuple(dict.fromkeys((*finding.assumptions, *chosen)))
        return replace(finding, assumptions=known) if certain else _possible(finding, finding.message, chosen)
    guessed = [delay for delay in delays if delay.assumed]
    if guessed:
        needs = " and ".join(f"needs {d.name}, of which a part only says {d.value}" for d in guessed)
        places = (*finding.places, *(delay.value.place.labelled("only assumed") for delay in guessed))
        return question.undecided(f"{needs} ({at}: {finding.message})", places, finding.of)
    return _possible(finding, f"{finding.message} ({at})", chosen)


def _certain(subject: Subject, case: DelayCase, ask: Ask) -> bool:
    return ask(replace(subject, design=case.design)).certainty == "certain"


def _possible(finding: Finding, message: str, chosen: Sequence[str]) -> Finding:
    assumptions = tuple(dict.fromkeys((*finding.assumptions, *chosen)))
    return replace(
        finding, message=message, severity=Severity.WARNING, certainty="possible", assumptions=assumptions
    )  # fmt: skip
