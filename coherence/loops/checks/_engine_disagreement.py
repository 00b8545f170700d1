"""Answers of `engine-disagreement`: roots beside runs, and proofs beside runs, of the same loops."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.findings.finding import Evidence, Finding, Grade, Step, Verdict
from coherence.findings.promise_answers import promise_answers
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._groups import breaks, groups, linear_at, tried
from coherence.loops.designs.disagreements import (
    STABLE,
    UNSTABLE,
    Disagreement,
    LinearAnswer,
    Statement,
    beside_a_point,
)
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.groups import Group
from coherence.loops.designs.linear import Linear, skeleton
from coherence.loops.designs.nearby_runs import RunAllowance
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import hyperperiod
from coherence.simulate.execute.starts import corners

ABOUT_REST = ("COH301", "COH305")  # what they prove settles, what they refute never does
LAPS, MOST_INSTANTS = 40, 400  # of a run that a proved promise is held against
MOST_BESIDE = 6_000  # instants of all runs beside points of one design


def beside_points(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one conflict per group whose roots say one thing, and runs from beside the point another."""
    deadline, allowed = Deadline(subject.time_limit), RunAllowance(MOST_BESIDE)
    for group in groups(subject):
        linear = linear_at(subject, group)
        answer = None if linear is None else _answer(group, linear)
        if answer is None:
            continue
        differing = beside_a_point(group.names, answer, _command(subject, "COH301"), deadline, allowed)
        if differing is not None:
            yield _conflict(question, subject, differing)


def _answer(group: Group, linear: Linear) -> LinearAnswer | None:
    """Returns the verdict at the point; None where branches meet there, others write too, or it decides nothing."""
    others = any(loop.name not in group.names for loop in group.model.loops)
    if others or len(linear.branches) != 1 or linear.verdict.stable is None:
        return None
    smooth, _ = skeleton(group.model)
    word = STABLE if linear.verdict.stable else UNSTABLE
    return LinearAnswer(smooth, linear.point, (*smooth.states, *smooth.commands), word, float(linear.verdict.modulus))


def against_proofs(question: Question, subject: Subject, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yields one conflict per proof that another finding, or an exact run, contradicts."""
    settling = [f for f in findings if f.code in ABOUT_REST and f.verdict is Verdict.PROVED]
    for proof in settling:
        for other in findings:
            if other.code in ABOUT_REST and other.verdict is Verdict.CONFLICT and other.of == proof.of:
                first, second = (Statement(f.message, _command(subject, f.code)) for f in (proof, other))
                yield _conflict(question, subject, Disagreement(proof.of, first, second))
    yield from _broken_promises(question, subject, findings)


def _broken_promises(question: Question, subject: Subject, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yields one conflict per proved promise that an exact run of the loops breaks."""
    answers = promise_answers(subject.design, findings)
    proofs = {name: finding for name, finding in answers.items() if finding.verdict is Verdict.PROVED}
    for group in groups(subject) if proofs else ():
        until = _until(group.model)
        for choices in tried(_ends, group.model) or ():
            broken = tried(breaks, subject, group.model, choices, until)
            proof = None if broken is None else proofs.get(broken.promise.name)
            if broken is not None and proof is not None:
                time = float(broken.instants[-1].time)
                shown = f"coherence simulate {subject.design.file} --for '{time:g} s'"
                run = Statement(f"an exact run breaks `{broken.promise.text}` at {time:g} s", shown)
                proved = Statement(proof.message, _command(subject, proof.code))
                yield _conflict(question, subject, Disagreement((broken.promise.name, *group.names), proved, run))


def _ends(model: Model) -> tuple[Choices, ...]:
    """Returns the lower and the upper ends of all ranges.  Raises MissingValueError."""
    return tuple(itertools.islice(corners(model), 2))


def _until(model: Model) -> Fraction:
    """Returns the end of LAPS laps, or of MOST_INSTANTS instants."""
    periods = [*(loop.period for loop in model.loops), *(s.step for s in model.states.values() if s.step)]
    return min(hyperperiod(model) * LAPS, MOST_INSTANTS / sum((1 / period for period in periods), Fraction(0)))


def _command(subject: Subject, code: str) -> str:
    return f"coherence check --select {code} {subject.design.file}"


def _conflict(question: Question, subject: Subject, differing: Disagreement) -> Finding:
    written = {name: loop.place for name, loop in subject.design.loops.items()}
    written |= {name: promise.place for name, promise in subject.design.promises.items()}
    places = [written[name].labelled("two answers about this") for name in differing.of if name in written]
    steps = (Step(None, differing.first.render()), Step(None, differing.second.render()))
    evidence = Evidence(Grade.SIMULATED, "two engines beside each other", steps)
    return question.conflict(differing.render(), places, differing.of, evidence)
