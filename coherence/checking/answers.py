"""Asks the question modules about a design, and carries their findings over to an edited design.

The findings of a module stand in the query table of the design that it was asked about, with the sections of the
design that it read.  After an edit those stand whose sections have the same entries as before; the others are asked
again.  What is looked at for every answer, the omissions of parts and budgets that let nobody go, is put to what the
module said afterwards, so that its own answer stands wherever that differs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import is_
from typing import Any

from coherence.base.clock import record_cut, recorded_cuts
from coherence.base.errors import CoherenceError, InputError, UsageError
from coherence.base.watchdog import GRACE, RunLimit, TimeOverError, at_most, current_run, is_interruptible
from coherence.checking.departures import held_back, taken_back
from coherence.checking.omissions import with_omissions
from coherence.checking.placements import on_every_side
from coherence.findings.accounting import policies
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.not_read import Basis, basis
from coherence.findings.question_input import Subject, repairs_are_asked
from coherence.findings.registry import QuestionModule
from coherence.findings.standing_proofs import Prover, spot
from coherence.language.design import Design
from coherence.model.caps import lowered

MOST_ANSWERS = 5_000  # of one module about one piece: nobody reads more, and pairs of thousands are millions
SHARE = 1.5  # of its limit that a question may take which does not look at the clock


@dataclass(frozen=True)
class ModuleAnswer:
    """The findings of a question module about a design, and whether a time limit left some of them open.

    `repairs`: whether repairs were searched for.
    """

    findings: tuple[Finding, ...]
    cut_short: bool = False
    repairs: bool = True


def ask_all(subject: Subject, modules: Iterable[QuestionModule]) -> list[Finding]:
    """Returns every finding; a question that cannot be carried out answers `undecided` with its reason."""
    return [finding for module in modules for finding in _ask(module, subject).findings]


def absences(subject: Subject, modules: Iterable[QuestionModule]) -> list[Finding]:
    """Returns the proofs of these modules that what they look for is not there; none of what cannot be carried out."""
    answers = (_absences(module, subject) for module in modules if module.absences is not None)
    return [finding for answer in answers for finding in answer.findings if finding.verdict is Verdict.PROVED]


def _absences(module: QuestionModule, subject: Subject) -> ModuleAnswer:
    asking = replace(module, ask=module.absences or module.ask)
    return subject.queries.get((absences, module.name), lambda: _ask(asking, subject))


def ask_once(subject: Subject, module: QuestionModule) -> ModuleAnswer:
    """Returns the findings of a module about a design, asked where they are not known.  Raises InputError."""
    by_itself, rows = (_own_answer, module.name), subject.queries.rows
    if by_itself in rows and repairs_are_asked() and not rows[by_itself].value.repairs:
        rows.clear()  # what it was computed from may hold conflicts without repairs as well

    def completed() -> ModuleAnswer:
        return _completed(subject.queries.get(by_itself, lambda: _own_answer(module, subject)), subject.design)

    return subject.queries.get((ask_once, module.name), completed)


def bases(design: Design, modules: Iterable[QuestionModule]) -> Iterator[Basis]:
    """Yields what the findings of each code about a design were computed from; nothing of one without findings."""
    for module in modules:
        row = design.queries.rows.get((ask_once, module.name))
        if row is not None and row.value.findings:
            for code in dict.fromkeys(finding.code for finding in row.value.findings):
                yield basis(design, row.reads, [finding for finding in row.value.findings if finding.code == code])


def provers(
    design: Design, modules: Iterable[QuestionModule], query: Callable[..., object] = ask_once
) -> dict[str, Prover]:
    """Returns for each code what its question has read of a design, and what its proofs hold regardless of.

    `query`: by what the proofs were given, `ask_once` or `absences`.
    """
    by_code: dict[str, Prover] = {}
    for module in modules:
        row = design.queries.rows.get((query, module.name))
        if row is not None and any(finding.verdict is Verdict.PROVED for finding in row.value.findings):
            read = row.reads.all()
            within = lowered(design, read)
            for question in module.questions:
                own = [finding for finding in row.value.findings if finding.code == question.code]
                named = within.union(name for finding in own for name in _settled_names(design, finding))
                places = (p for finding in own if finding.verdict is not Verdict.CONFLICT for p in finding.places)
                spots = frozenset(map(spot, places))
                by_code[question.code] = Prover(read, question.regardless, named, spots)
    return by_code


def _settled_names(design: Design, finding: Finding) -> Iterator[str]:
    """Yields the entries that a finding speaks of; of a conflict no timer: what it does in the midst of something, no
    proof about that beside it has counted.
    """
    fires = finding.verdict is Verdict.CONFLICT
    yield from (name for name in finding.of if not (fires and name in design.timers))


def carry_over(previous: Design, edited: Design) -> None:
    """Gives an edited design the findings about the previous one whose modules read nothing that differs.

    With them the model and the calls, which many modules look at.
    """
    changed = changed_fields(previous, edited)
    for query, row in previous.queries.rows.items():
        if isinstance(query, tuple) and query[0] in (ask_once, _own_answer) and not row.fields & changed:
            edited.queries.carry(previous.queries, query)
    edited.queries.carry_unchanged(previous.queries, edited, changed)


def changed_fields(design: Design, other: Design) -> frozenset[str]:
    """Returns the fields of which some entry is another object."""
    mine, others = design.__dict__, other.__dict__
    return frozenset(name for name in Design.fields if not _same(mine[name], others[name]))


def _same(section: Any, other: Any) -> bool:
    """Returns whether two sections are one object, or have the same objects as entries."""
    if isinstance(section, dict) and isinstance(other, dict):
        return list(section) == list(other) and all(section[name] is other[name] for name in section)
    if isinstance(section, tuple) and isinstance(other, tuple):
        return len(section) == len(other) and all(map(is_, section, other))
    return section is other


def _ask(module: QuestionModule, subject: Subject) -> ModuleAnswer:
    return _completed(_own_answer(module, subject), subject.design)


def _completed(answer: ModuleAnswer, design: Design) -> ModuleAnswer:
    """Returns what a module said with the omissions of parts, and without answers about what evicts nobody."""
    possible = (held_back(finding, design) for finding in answer.findings)
    return replace(answer, findings=tuple(with_omissions(finding, design) for finding in possible))


def _own_answer(module: QuestionModule, subject: Subject) -> ModuleAnswer:
    with recorded_cuts() as cuts:
        findings = _findings(module, subject)
    unclear = cuts.happened and not (findings and all(f.verdict.decides for f in findings))
    answered = tuple(marked(f) for f in findings) if unclear else tuple(findings)
    return ModuleAnswer(answered, cut_short=unclear, repairs=repairs_are_asked())


def marked(finding: Finding) -> Finding:
    """Returns the finding with a sign that a time limit cut its search short; what is decided stays as it is."""
    if finding.verdict.decides:
        return finding
    return replace(finding, evidence=replace(finding.evidence, cut_short=True))


def _findings(module: QuestionModule, subject: Subject) -> list[Finding]:
    run = current_run()
    if subject.time_limit <= 0 or not run.left:
        record_cut()
        whose = "this question" if run.left else "the whole run"
        return [_undecided(module, subject, TimeoutError(f"the time limit of {whose} is over"))]
    findings: list[Finding] = []
    try:
        runs = module.questions[0].slow
        with at_most(min(run.left, SHARE * subject.time_limit) + GRACE, processor=True):
            answers = itertools.islice(_in_time(on_every_side(module.ask, subject), run), MOST_ANSWERS)
            findings.extend(taken_back(answer, subject.design) if runs else answer for answer in answers)
        if len(findings) == MOST_ANSWERS:
            findings.append(_undecided(module, subject, UsageError(f"{MOST_ANSWERS} answers are given, and no more")))
    except InputError:
        raise
    except TimeOverError:
        record_cut()
        whose = "this question" if run.left else "the whole run"
        findings.append(_undecided(module, subject, TimeoutError(f"the time limit of {whose} is over")))
    except KeyboardInterrupt:
        if not is_interruptible():
            raise
        record_cut()
        run.stopped = True
        findings.append(_undecided(module, subject, TimeoutError("stopped by Ctrl-C while it was asked")))
    except MemoryError:
        record_cut()
        findings = [*findings, _undecided(module, subject, UsageError("it needs more memory than there is (--memory)"))]
    except ZeroDivisionError:
        raise  # a fault of an engine; the other errors of arithmetic say what an engine cannot carry out
    except (CoherenceError, RecursionError, ArithmeticError) as error:
        findings.append(_undecided(module, subject, error))
    return findings


def _in_time(answers: Iterable[Finding], run: RunLimit) -> Iterator[Finding]:
    """Yields answers while the run has time.  Raises TimeOverError."""
    for answer in answers:
        if not run.left:
            raise TimeOverError
        yield answer


def not_asked(modules: Sequence[QuestionModule], subjects: Sequence[Subject]) -> ModuleAnswer:
    """Returns one answer about all pieces: the questions for which no time was left, or that Ctrl-C came before.

    Every policy of the pieces is named in it, so that each of their pairs counts as undecided.
    """
    why = "stopped by Ctrl-C" if current_run().stopped else "the time limit of the whole run is over"
    codes = ", ".join(question.code for module in modules for question in module.questions)
    own = [policies(subject.design) for subject in subjects]
    pairs = sum(len(names) * (len(names) - 1) // 2 for names in own)
    number = "1 pair of policies is" if pairs == 1 else f"{pairs} pairs of policies are"
    record_cut()
    answer = _undecided(modules[0], subjects[0], TimeoutError(f"{why}; {number} not asked: {codes}"))
    of = (*chain(*own), *chain(*(subject.design.promises for subject in subjects)))
    return ModuleAnswer((marked(replace(answer, of=of)),), cut_short=True)


def _undecided(module: QuestionModule, subject: Subject, error: Exception) -> Finding:
    question = module.questions[0]
    places = tuple(loop.place for loop in list(subject.design.loops.values())[:1])
    reason = str(error) or type(error).__name__
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=reason)
    return Finding(
        question.code,
        question.slug,
        Verdict.UNDECIDED,
        Severity.INFO,
        f"not decided: {reason}",
        places,
        (*subject.design.loops, *subject.design.promises),
        evidence,
    )
