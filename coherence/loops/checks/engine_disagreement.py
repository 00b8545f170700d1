"""engine disagreement: two engines have answered about the same loop, and contradict each other.

## What
Lays the answers of this run beside each other where they speak of the same runs: the roots of a loop's linearised lap
beside a run of the same laws from beside the operating point; a proof that a loop settles beside a run of it that never
does; the proof of an `always` or `never` promise beside an exact run of its loops.  Where two contradict each other it
names both, each with the command that repeats it.  Neither is preferred: at least one is wrong, and until it is known
which, neither is an answer.  `coherence analyze` and `coherence sweep` lay their answers beside each other likewise.

A limit cycle by rounding, a dead band, a bound or a window beside roots of the laws alone is no disagreement, nor are
runs that begin elsewhere, in another phase or order.

## Why it hurts
One of the two answers is a fault of this program, and a design would be built upon it.

## Example
None that is known: each one that is found is a defect of an engine, and is mended.

## Instead
Report the design with both commands.  Until then take the run that can be repeated step by step for what it shows, and
no proof that it contradicts.

## Source
N-version programming: Avizienis, The N-version approach to fault-tolerant software, IEEE TSE 11 (1985).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject
from coherence.loops.checks._coupling import feeds_back

QUESTION = Question("COH107", "engine-disagreement", slow=True, fires=None, proves=False)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one conflict per group of loops whose roots and runs contradict each other."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._engine_disagreement import beside_points  # the engines, only where loops feed back

    yield from beside_points(QUESTION, subject)


def review(subject: Subject, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yields one conflict per proof that a run or another finding contradicts."""
    if not feeds_back(subject.design):
        return
    from coherence.loops.checks._engine_disagreement import against_proofs

    yield from against_proofs(QUESTION, subject, findings)
