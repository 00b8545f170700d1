"""Repairs promises of interacting loops: moves a threshold until the promise is proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from coherence.base.clock import is_over, left_until, now
from coherence.base.errors import CoherenceError
from coherence.findings import repairs
from coherence.findings.edited_designs import edited_subject
from coherence.findings.finding import Repair
from coherence.findings.question_input import Subject, details_unasked
from coherence.language.design import Design, Loop
from coherence.language.expressions.tree import Compare, Number, walk
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Promise

FACTORS = tuple(Fraction(n, 20) for n in (19, 18, 16, 14, 12, 10, 8, 6, 4))


def lowered(subject: Subject, promise: Promise, names: tuple[str, ...]) -> Iterator[Repair]:
    """Yields, for each loop with a plain condition, the nearest lower threshold at which the promise is proved."""
    if subject.design.file not in subject.sources:
        return
    end = now() + subject.time_limit
    for name in reversed(names):
        for formula, number in _thresholds(subject.design.loops[name]):
            repair = _search(subject, promise, formula, number, end)
            if repair is not None:
                yield repair
                break


def _thresholds(loop: Loop) -> Iterator[tuple[Formula, Number]]:
    """Yields literals in conditions under which the loop raises its signal."""
    conditions = [loop.trigger] if isinstance(loop.trigger, Formula) else []
    conditions += [rule.when for rule in loop.rules if rule.when is not None]
    for formula in conditions:
        for node in walk(formula.tree):
            if isinstance(node, Compare) and isinstance(node.right, Number) and node.right.value > 0:
                yield formula, node.right


def _search(subject: Subject, promise: Promise, formula: Formula, number: Number, end: float) -> Repair | None:
    """Returns the nearest of the FACTORS at which the promise is proved, of those that were asked in time."""
    from coherence.language.environments.overlay import read_in_environment
    from coherence.verify.promises.decisions import Proved, decide

    def rebuild(sources: Mapping[str, str]) -> Design:
        design = subject.design
        return read_in_environment(sources[design.file], design.file, design.environment)

    nearest, near, far = None, 0, len(FACTORS)  # the lower, the easier to prove: halved, not tried one after the other
    while near < far and not is_over(end):
        middle = (near + far) // 2
        value = repairs.downward_round(number.value * FACTORS[middle])
        edit = repairs.rewrite(subject, formula.at(number.span), value, number.dimension)
        try:
            changed = edited_subject(subject, [edit], rebuild) if edit else None
            if edit is None or changed is None:
                return nearest
            again = changed.design.promises[promise.name]
            with details_unasked():  # whether one run breaks it decides
                outcome = decide(changed.model, again, time_limit=left_until(end) / 2)
        except CoherenceError:
            return nearest
        if isinstance(outcome, Proved) and not outcome.touching:
            nearest, far = repairs.proposal(edit), middle
        else:
            near = middle + 1
    return nearest
